"""docs/live.svg: what a recorder has written, and what the server has, over time."""

from __future__ import annotations

from .measure import SETTLE_SECONDS, Timeline

WIDTH, HEIGHT = 800, 400
LEFT, RIGHT, TOP, BOTTOM = 66, 776, 108, 336

# As in docs/measured/memory.svg: for light and for dark pages.
STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #57606a }
  .title { font-size: 17px; font-weight: 600; fill: #24292f }
  .grid { stroke: #8c959f; stroke-opacity: .28 }
  .axis { stroke: #8c959f; fill: none }
  .written { stroke: #c2571a; fill: none; stroke-width: 2; stroke-linejoin: round }
  .written-text { fill: #c2571a; font-weight: 600 }
  .arrived { stroke: #0a7d55; fill: none; stroke-width: 2.5; stroke-linejoin: round }
  .arrived-text { fill: #0a7d55; font-weight: 600 }
  .area { fill: #0a7d55; fill-opacity: .13 }
  .moment { stroke: #6e5dc6; stroke-dasharray: 2 5; stroke-linecap: round; stroke-width: 2 }
  .moment-text { fill: #6e5dc6 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 }
    .title { fill: #e6edf3 }
    .written { stroke: #f0883e } .written-text { fill: #f0883e }
    .arrived { stroke: #3fb984 } .arrived-text { fill: #3fb984 } .area { fill: #3fb984 }
    .moment { stroke: #a99cf0 } .moment-text { fill: #a99cf0 }
  }
"""


def draw(timeline: Timeline, name: str, length: int) -> str:
    end = timeline.delivered * 1.04
    top = length * 1.08

    def x(seconds: float) -> float:
        return LEFT + (RIGHT - LEFT) * seconds / end

    def y(size: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * size / top

    written = [*timeline.written, (timeline.ended, length), (timeline.delivered, length)]
    rising = "".join(f"L{x(seconds):.1f} {y(size):.1f}" for seconds, size in written)
    steps = "".join(f"H{x(seconds):.1f}V{y(size):.1f}" for seconds, size in timeline.arrived)
    title = f"{name}, sent while it is recorded"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">',
        f"<style>{STYLE}</style>",
        f'<text class="title" x="{LEFT}" y="30">{title}</text>',
    ]
    for size in range(0, int(top / 1e6) + 1, 20):
        parts.append(f'<path class="grid" d="M{LEFT} {y(size * 1e6):.1f}H{RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 9}" y="{y(size * 1e6) + 4.5:.1f}" text-anchor="end">{size}</text>')
    for seconds in range(0, int(end) + 1, 2):
        parts.append(f'<path class="axis" d="M{x(seconds):.1f} {BOTTOM}v5"/>')
        parts.append(f'<text x="{x(seconds):.1f}" y="{BOTTOM + 22}" text-anchor="middle">{seconds}</text>')
    parts += [
        f'<path class="axis" d="M{LEFT} {BOTTOM}H{RIGHT}"/>',
        f'<text x="{(LEFT + RIGHT) / 2}" y="{BOTTOM + 48}" text-anchor="middle">seconds since the recorder began</text>',
        f'<text transform="translate(20 {(TOP + BOTTOM) / 2}) rotate(-90)" text-anchor="middle">MB (10⁶ bytes)</text>',
        f'<path class="area" d="M{LEFT} {BOTTOM}{steps}H{x(timeline.delivered):.1f}V{BOTTOM}Z"/>',
        f'<path class="written" d="M{LEFT} {BOTTOM}{rising}"/>',
        f'<path class="arrived" d="M{LEFT} {BOTTOM}{steps}H{x(timeline.delivered):.1f}"/>',
    ]
    # The last one stands highest, so that no line crosses a text.
    for row, (seconds, text) in enumerate([
            (timeline.delivered, "the server has joined the parts"),
            (timeline.ended + SETTLE_SECONDS, f"--settle {SETTLE_SECONDS:g}s is over: the rest and the first part follow"),
            (timeline.ended, "the recorder closes the file")]):
        line = 52 + 22 * row
        parts.append(f'<path class="moment" d="M{x(seconds):.1f} {line - 10}V{BOTTOM}"/>')
        parts.append(f'<text class="moment-text" x="{x(seconds) - 8:.1f}" y="{line}" text-anchor="end">{text}</text>')
    middle = timeline.ended * 0.45
    parts += [
        f'<text class="written-text" x="{x(middle) - 60:.1f}" y="{y(length * 0.62):.1f}" text-anchor="end">written by the recorder</text>',
        f'<text class="arrived-text" x="{x(middle) + 70:.1f}" y="{y(length * 0.14):.1f}">on the server, in parts of 8 MiB</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"
