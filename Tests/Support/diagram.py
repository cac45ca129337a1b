"""A picture of sizes over time, for light and for dark pages (SVG)."""

from __future__ import annotations

from dataclasses import dataclass

WIDTH, LEFT, RIGHT = 800, 66, 776

STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #57606a }
  .title { font-size: 17px; font-weight: 600; fill: #24292f }
  .grid { stroke: #8c959f; stroke-opacity: .28 }
  .axis { stroke: #8c959f; fill: none }
  .ours { stroke: #0a7d55; fill: none; stroke-width: 2.5; stroke-linejoin: round }
  .ours.dashed { stroke-dasharray: 7 4; stroke-width: 2 }
  .ours-area { fill: #0a7d55; fill-opacity: .13 }
  .theirs { stroke: #c2571a; fill: none; stroke-width: 2; stroke-linejoin: round }
  .ours-text { fill: #0a7d55; font-weight: 600 }
  .theirs-text { fill: #c2571a; font-weight: 600 }
  .goal { stroke: #0a7d55; stroke-dasharray: 6 5; stroke-opacity: .8 }
  .mark { stroke: #6e5dc6; stroke-dasharray: 2 5; stroke-linecap: round; stroke-width: 2 }
  .mark-text { fill: #6e5dc6 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 }
    .title { fill: #e6edf3 }
    .ours { stroke: #3fb984 } .ours-area { fill: #3fb984 } .ours-text { fill: #3fb984 }
    .theirs { stroke: #f0883e } .theirs-text { fill: #f0883e }
    .goal { stroke: #3fb984 }
    .mark { stroke: #a99cf0 } .mark-text { fill: #a99cf0 }
  }
"""


@dataclass(frozen=True)
class Diagram:
    title: str
    height: int
    top: int
    """Where the axis of sizes ends."""
    bottom: int
    """Where that of the time is."""
    seconds: float
    size: float
    """In bytes, as `seconds` at the end of its axis."""

    def x(self, seconds: float) -> float:
        return LEFT + (RIGHT - LEFT) * seconds / self.seconds

    def y(self, size: float) -> float:
        return self.bottom - (self.bottom - self.top) * size / self.size

    def axes(self, sizes: str, size_step: int, times: str, second_step: float) -> list[str]:
        """With what they are called, a line for each step of 10⁶ bytes, and a tick for each step of the time."""
        parts = []
        for size in range(0, int(self.size / 1e6) + 1, size_step):
            y = self.y(size * 1e6)
            parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{RIGHT}"/>')
            parts.append(f'<text x="{LEFT - 9}" y="{y + 4.5:.1f}" text-anchor="end">{size}</text>')
        for tick in range(int(self.seconds / second_step + 1e-6) + 1):
            x = self.x(tick * second_step)
            parts.append(f'<path class="axis" d="M{x:.1f} {self.bottom}v5"/>')
            parts.append(f'<text x="{x:.1f}" y="{self.bottom + 22}" text-anchor="middle">{tick * second_step:g}</text>')
        rotation = f'transform="translate(20 {(self.top + self.bottom) / 2}) rotate(-90)"'
        parts += [
            f'<path class="axis" d="M{LEFT} {self.bottom}H{RIGHT}"/>',
            f'<text x="{(LEFT + RIGHT) / 2}" y="{self.bottom + 48}" text-anchor="middle">{times}</text>',
            f'<text {rotation} text-anchor="middle">{sizes}, MB (10⁶ bytes)</text>',
        ]
        return parts

    def document(self, parts: list[str]) -> str:
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{self.title}">',
            f"<style>{STYLE}</style>",
            f'<text class="title" x="{LEFT}" y="30">{self.title}</text>',
            *parts, "</svg>", ""])
