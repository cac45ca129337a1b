"""docs/live.svg: what a recorder has written, and what the server has, over time."""

from __future__ import annotations

from diagram import LEFT, Diagram

from .measure import SETTLE_SECONDS, Timeline


def draw(timeline: Timeline, name: str, length: int) -> str:
    diagram = Diagram(f"{name}, sent while it is recorded", 400, 108, 336, timeline.delivered * 1.04, length * 1.08)
    x, y, bottom = diagram.x, diagram.y, diagram.bottom
    written = [*timeline.written, (timeline.ended, length), (timeline.delivered, length)]
    rising = "".join(f"L{x(seconds):.1f} {y(size):.1f}" for seconds, size in written)
    steps = "".join(f"H{x(seconds):.1f}V{y(size):.1f}" for seconds, size in timeline.arrived) + f"H{x(timeline.delivered):.1f}"
    parts = diagram.axes("length", 20, "seconds since the recorder began", 2)
    parts += [
        f'<path class="ours-area" d="M{LEFT} {bottom}{steps}V{bottom}Z"/>',
        f'<path class="theirs" d="M{LEFT} {bottom}{rising}"/>',
        f'<path class="ours" d="M{LEFT} {bottom}{steps}"/>',
    ]
    # The last one stands highest, so that no line crosses a text.
    for row, (seconds, text) in enumerate([
            (timeline.delivered, "the server has joined the parts"),
            (timeline.ended + SETTLE_SECONDS, f"--settle {SETTLE_SECONDS:g}s is over: the rest and the first part follow"),
            (timeline.ended, "the recorder closes the file")]):
        line = 52 + 22 * row
        parts.append(f'<path class="mark" d="M{x(seconds):.1f} {line - 10}V{bottom}"/>')
        parts.append(f'<text class="mark-text" x="{x(seconds) - 8:.1f}" y="{line}" text-anchor="end">{text}</text>')
    middle = x(timeline.ended * 0.45)
    parts += [
        f'<text class="theirs-text" x="{middle - 60:.1f}" y="{y(length * 0.62):.1f}" text-anchor="end">written by the recorder</text>',
        f'<text class="ours-text" x="{middle + 70:.1f}" y="{y(length * 0.14):.1f}">on the server, in parts of 8 MiB</text>',
    ]
    return diagram.document(parts)
