"""docs/measured/memory.svg: memory over time of one upload, by gighive-upload and by curl, for light and for dark pages.

curl computes no SHA-256. gighive-upload is shown without one, which is the same work, and with one, as GigHive's are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from diagram import LEFT, RIGHT, Diagram

from .measure import Measurement, Sample
from .rows import FAST, HTTPS, HUGE, PROMISE_BYTES, Row, size_text
from .workbench import Workbench

ROW = Row(HTTPS, HUGE, FAST)

HEIGHT, TOP, BOTTOM = 440, 112, 374
"""The part of the axis that is to diagram. The promise is far above it, beyond a break."""
PROMISE_Y = 76
AXIS_TOP_MB = 16
MOST_POINTS = 400


@dataclass(frozen=True)
class Traces:
    """The uploads that the picture shows."""

    ours: Measurement
    """With the SHA-256."""
    plain: Measurement
    """Without it."""
    curl: Measurement


def record(workbench: Workbench, binary: Path) -> Traces:
    """No breakpoints for any; the kernel's limit for ours, which curl could not bear."""
    launcher = workbench.launcher({}, None)
    workbench.digests(ROW)  # reads the file, so that all find it in the page cache
    ours = workbench.run(launcher, ROW, lambda port: workbench.uploader_command(binary, ROW, port))[0]
    plain = workbench.run(launcher, ROW, lambda port: workbench.plain_command(binary, ROW, port))[0]
    curl = workbench.run(launcher, ROW, lambda port: workbench.curl_command(ROW, port), is_limited=False)[0]
    for run in (ours, plain, curl):
        if run.exit_code != 0:
            raise RuntimeError(f"no picture: exit code {run.exit_code}: {run.output}")
    return Traces(ours, plain, curl)


def draw(traces: Traces) -> str:
    runs = (traces.ours, traces.plain, traces.curl)
    seconds = max(_seconds(run) for run in runs)
    step = next((step for step in (0.5, 1, 2, 5, 10, 20, 60) if seconds / step <= 10), 300)
    title = f"Resident memory while {size_text(ROW.size)} are uploaded over {ROW.protocol.name}"
    diagram = Diagram(title, HEIGHT, TOP, BOTTOM, step * (int(seconds / step) + 1), AXIS_TOP_MB * 1e6)
    ours, plain, curl = (_path(run.samples, diagram) for run in runs)
    area = f"{plain} L{diagram.x(_seconds(traces.plain)):.1f} {BOTTOM} L{LEFT} {BOTTOM} Z"
    return diagram.document([
        *diagram.axes("resident memory", 4, "seconds since the start", step),
        *_promise(),
        *_goal(diagram),
        f'<path class="ours-area" d="{area}"/>',
        f'<path class="theirs" d="{curl}"/>',
        f'<path class="ours dashed" d="{ours}"/>',
        f'<path class="ours" d="{plain}"/>',
        _label(traces.curl, diagram, "theirs-text", "curl -F"),
        _label(traces.plain, diagram, "ours-text", "gighive-upload"),
        _label(traces.ours, diagram, "ours-text", "- - with SHA-256", below=True),
    ])


def _promise() -> list[str]:
    """Beyond a break in the axis: a line to scale would press everything else against the floor."""
    middle = (PROMISE_Y + TOP) / 2
    zigzag = f"M{LEFT} {BOTTOM}V{middle + 5}l-5 -3l10 -4l-5 -3V{PROMISE_Y - 8}"
    promise = f"{PROMISE_BYTES // 1_000_000}"
    text = f"the promise: never over {promise} MB"
    return [
        f'<path class="axis" d="{zigzag}"/>',
        f'<path class="mark" d="M{LEFT} {PROMISE_Y}H{RIGHT}"/>',
        f'<text x="{LEFT - 9}" y="{PROMISE_Y + 4.5}" text-anchor="end">{promise}</text>',
        f'<text class="mark-text" x="{RIGHT}" y="{PROMISE_Y - 8}" text-anchor="end">{text}</text>',
    ]


def _goal(diagram: Diagram) -> list[str]:
    y = diagram.y(ROW.protocol.budget_bytes)
    text = f"the goal: {ROW.protocol.budget_bytes / 1e6:g} MB"
    return [
        f'<path class="goal" d="M{LEFT} {y:.1f}H{RIGHT}"/>',
        f'<text class="ours-text" x="{RIGHT}" y="{y - 7:.1f}" text-anchor="end" style="font-weight:400">{text}</text>',
    ]


def _path(samples: list[Sample], diagram: Diagram) -> str:
    """A polyline with steps, without points that change nothing."""
    step = max(1, len(samples) // MOST_POINTS)
    kept = [max(samples[i : i + step], key=lambda sample: sample.resident) for i in range(0, len(samples), step)]
    points = [f"M{diagram.x(0):.1f} {BOTTOM}"]
    points += [f"L{diagram.x(sample.seconds):.1f} {diagram.y(sample.resident):.1f}" for sample in kept]
    return " ".join(points)


def _seconds(measured: Measurement) -> float:
    return measured.samples[-1].seconds


def _label(measured: Measurement, diagram: Diagram, style: str, name: str, below: bool = False) -> str:
    middle = measured.samples[len(measured.samples) // 2]
    x, y = diagram.x(diagram.seconds * 0.25), diagram.y(middle.resident) + (22 if below else -9)
    figures = f"{measured.peak / 1e6:.1f} MB at its peak, {_seconds(measured):.1f} s"
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{name}: {figures}</text>'
