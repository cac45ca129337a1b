"""docs/measured/memory.svg: memory over time of one upload, by gighive-upload and by curl, for light and for dark pages.

curl computes no SHA-256. gighive-upload is shown without one, which is the same work, and with one, as GigHive's are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .measure import Measurement, Sample
from .rows import FAST, HTTPS, HUGE, PROMISE_BYTES, Row, size_text
from .workbench import Workbench

ROW = Row(HTTPS, HUGE, FAST)

WIDTH, HEIGHT = 800, 440
LEFT, RIGHT, TOP, BOTTOM = 66, 776, 112, 374
"""The part of the axis that is to scale. The promise is far above it, beyond a break."""
PROMISE_Y = 76
AXIS_TOP_MB = 16
MOST_POINTS = 400

STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #57606a }
  .title { font-size: 17px; font-weight: 600; fill: #24292f }
  .grid { stroke: #8c959f; stroke-opacity: .28 }
  .axis { stroke: #8c959f; fill: none }
  .ours { stroke: #0a7d55; fill: none; stroke-width: 2.5; stroke-linejoin: round }
  .verified { stroke-dasharray: 7 4; stroke-width: 2 }
  .ours-area { fill: #0a7d55; fill-opacity: .13 }
  .theirs { stroke: #c2571a; fill: none; stroke-width: 2; stroke-linejoin: round }
  .ours-text { fill: #0a7d55; font-weight: 600 }
  .theirs-text { fill: #c2571a; font-weight: 600 }
  .goal { stroke: #0a7d55; stroke-dasharray: 6 5; stroke-opacity: .8 }
  .promise { stroke: #6e5dc6; stroke-dasharray: 2 5; stroke-linecap: round; stroke-width: 2 }
  .promise-text { fill: #6e5dc6 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 }
    .title { fill: #e6edf3 }
    .ours { stroke: #3fb984 } .ours-area { fill: #3fb984 } .ours-text { fill: #3fb984 }
    .theirs { stroke: #f0883e } .theirs-text { fill: #f0883e }
    .goal { stroke: #3fb984 }
    .promise { stroke: #a99cf0 } .promise-text { fill: #a99cf0 }
  }
"""


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
    scale = Scale(_axis_end(max(_seconds(run) for run in runs)))
    ours, plain, curl = (_path(run.samples, scale) for run in runs)
    area = f"{plain} L{scale.x(_seconds(traces.plain)):.1f} {BOTTOM} L{LEFT} {BOTTOM} Z"
    title = f"Resident memory while {size_text(ROW.size)} are uploaded over {ROW.protocol.name}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">',
        f"<style>{STYLE}</style>",
        f'<text class="title" x="{LEFT}" y="30">{title}</text>',
        *_axes(scale),
        *_promise(),
        *_goal(scale),
        f'<path class="ours-area" d="{area}"/>',
        f'<path class="theirs" d="{curl}"/>',
        f'<path class="ours verified" d="{ours}"/>',
        f'<path class="ours" d="{plain}"/>',
        _label(traces.curl, scale, "theirs-text", "curl -F"),
        _label(traces.plain, scale, "ours-text", "gighive-upload"),
        _label(traces.ours, scale, "ours-text", "- - with SHA-256", below=True),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


@dataclass(frozen=True)
class Scale:
    seconds: float

    def x(self, seconds: float) -> float:
        return LEFT + (RIGHT - LEFT) * seconds / self.seconds

    def y(self, size: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * size / (AXIS_TOP_MB * 1e6)


def _axis_end(seconds: float) -> float:
    step = _step(seconds)
    return step * (int(seconds / step) + 1)


def _step(seconds: float) -> float:
    return next((step for step in (0.5, 1, 2, 5, 10, 20, 60) if seconds / step <= 10), 300)


def _axes(scale: Scale) -> list[str]:
    parts = []
    for size in range(0, AXIS_TOP_MB + 1, 4):
        y = scale.y(size * 1e6)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 9}" y="{y + 4.5:.1f}" text-anchor="end">{size}</text>')
    step = _step(scale.seconds * 0.99)
    for tick in range(int(scale.seconds / step + 1e-6) + 1):
        x = scale.x(tick * step)
        parts.append(f'<path class="axis" d="M{x:.1f} {BOTTOM}v5"/>')
        parts.append(f'<text x="{x:.1f}" y="{BOTTOM + 22}" text-anchor="middle">{tick * step:g}</text>')
    middle = (TOP + BOTTOM) / 2
    parts.append(f'<path class="axis" d="M{LEFT} {BOTTOM}H{RIGHT}"/>')
    centre = (LEFT + RIGHT) / 2
    parts.append(f'<text x="{centre}" y="{BOTTOM + 48}" text-anchor="middle">seconds since the start</text>')
    rotation = f'transform="translate(20 {middle}) rotate(-90)"'
    parts.append(f'<text {rotation} text-anchor="middle">resident memory, MB (10⁶ bytes)</text>')
    return parts


def _promise() -> list[str]:
    """Beyond a break in the axis: a line to scale would press everything else against the floor."""
    middle = (PROMISE_Y + TOP) / 2
    zigzag = f"M{LEFT} {BOTTOM}V{middle + 5}l-5 -3l10 -4l-5 -3V{PROMISE_Y - 8}"
    promise = f"{PROMISE_BYTES // 1_000_000}"
    text = f"the promise: never over {promise} MB"
    return [
        f'<path class="axis" d="{zigzag}"/>',
        f'<path class="promise" d="M{LEFT} {PROMISE_Y}H{RIGHT}"/>',
        f'<text x="{LEFT - 9}" y="{PROMISE_Y + 4.5}" text-anchor="end">{promise}</text>',
        f'<text class="promise-text" x="{RIGHT}" y="{PROMISE_Y - 8}" text-anchor="end">{text}</text>',
    ]


def _goal(scale: Scale) -> list[str]:
    y = scale.y(ROW.protocol.budget_bytes)
    text = f"the goal: {ROW.protocol.budget_bytes / 1e6:g} MB"
    return [
        f'<path class="goal" d="M{LEFT} {y:.1f}H{RIGHT}"/>',
        f'<text class="ours-text" x="{RIGHT}" y="{y - 7:.1f}" text-anchor="end" style="font-weight:400">{text}</text>',
    ]


def _path(samples: list[Sample], scale: Scale) -> str:
    """A polyline with steps, without points that change nothing."""
    step = max(1, len(samples) // MOST_POINTS)
    kept = [max(samples[i : i + step], key=lambda sample: sample.resident) for i in range(0, len(samples), step)]
    points = [f"M{scale.x(0):.1f} {BOTTOM}"]
    points += [f"L{scale.x(sample.seconds):.1f} {scale.y(sample.resident):.1f}" for sample in kept]
    return " ".join(points)


def _seconds(measured: Measurement) -> float:
    return measured.samples[-1].seconds


def _label(measured: Measurement, scale: Scale, style: str, name: str, below: bool = False) -> str:
    middle = measured.samples[len(measured.samples) // 2]
    x, y = scale.x(scale.seconds * 0.25), scale.y(middle.resident) + (22 if below else -9)
    figures = f"{measured.peak / 1e6:.1f} MB at its peak, {_seconds(measured):.1f} s"
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{name}: {figures}</text>'
