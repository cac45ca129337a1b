"""An SVG of horizontal bars, readable on light and on dark pages."""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, LABEL_END, BAR_START, BAR_END = 760, 196, 208, 640
ROW, BAR, GROUP_GAP, TITLE = 26, 16, 30, 34
SHORTEST_OWN, BROKEN_BAR_FACTOR = 0.1, 1.25

# Middle tones, which contrast with a white page and with a nearly black one: a picture cannot know which it is on, as a
# site's theme need not be the system's.
STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #717b87 }
  .title { font-weight: 600; font-size: 15px } .unit, .times { font-size: 12px }
  .own { font-weight: 600; fill: #0f967c }
  .bar { fill: #98a2ad } .bar.own { fill: #12a388 }
  .bar.limit { fill: none; stroke: #98a2ad; stroke-dasharray: 3 2 }
  .spread { stroke: #5f6975; stroke-width: 1.2 } .axis { stroke: #8c959f; stroke-width: 1 }
"""


@dataclass(frozen=True)
class Bar:
    label: str
    low: float
    value: float
    high: float
    kind: str = ""
    """"own" for the product, "limit" for what no client can beat."""


@dataclass(frozen=True)
class Group:
    title: str
    unit: str
    bars: list[Bar]
    digits: int = 2


def draw(groups: list[Group]) -> str:
    """Each group has its own scale, from zero to the end of its longest bar; a bar that would dwarf all others is
    broken."""
    parts: list[str] = []
    y = 8
    for group in groups:
        y = _draw_group(group, y, parts) + GROUP_GAP
    height = y - GROUP_GAP + 10
    names = ", ".join(group.title for group in groups)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape("Bar charts: " + names)}">',
        f"<style>{STYLE}</style>", *parts, "</svg>", ""])


def _draw_group(group: Group, y: int, parts: list[str]) -> int:
    parts.append(f'<text class="title" x="16" y="{y + 18}">{escape(group.title)}'
                 f'<tspan class="unit" dx="10" font-weight="400">{escape(group.unit)}</tspan></text>')
    y += TITLE
    scale = (BAR_END - BAR_START) / _full_scale(group)
    own = next(bar.value for bar in group.bars if bar.kind == "own")
    top = y
    for bar in group.bars:
        _draw_bar(bar, y, scale, own, group.digits, parts)
        y += ROW
    parts.append(f'<line class="axis" x1="{BAR_START}" y1="{top - 4}" x2="{BAR_START}" y2="{y - ROW + BAR + 6}"/>')
    return y


def _full_scale(group: Group) -> float:
    *_, second, longest = sorted(bar.high for bar in group.bars)
    own = next(bar.value for bar in group.bars if bar.kind == "own")
    return longest if own >= SHORTEST_OWN * longest else second * BROKEN_BAR_FACTOR


def _draw_bar(bar: Bar, y: int, scale: float, own: float, digits: int, parts: list[str]) -> None:
    middle, end = y + BAR / 2, min(BAR_START + bar.value * scale, BAR_END)
    low, high = BAR_START + bar.low * scale, BAR_START + bar.high * scale
    is_broken = high > BAR_END + 1
    if is_broken:
        low = high = end
    label_class = ' class="own"' if bar.kind == "own" else ""
    parts.append(f'<text{label_class} x="{LABEL_END}" y="{y + 13}" text-anchor="end">{escape(bar.label)}</text>')
    bar_class = f"bar {bar.kind}".strip()
    if is_broken:
        x, slant = BAR_END - 40, 5
        parts.append(f'<path class="{bar_class}" d="M{BAR_START} {y}H{x + slant}l{-2 * slant} {BAR}H{BAR_START}z'
                     f'M{x + slant + 6} {y}H{end:.1f}v{BAR}H{x - slant + 6}z"/>')
    else:
        parts.append(f'<rect class="{bar_class}" x="{BAR_START}" y="{y}" width="{end - BAR_START:.1f}" '
                     f'height="{BAR}" rx="2"/>')
    if high - low > 2:
        parts.append(f'<path class="spread" d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 4}v8'
                     f'M{high:.1f} {middle - 4}v8" fill="none"/>')
    times = "" if bar.kind == "own" else f'<tspan class="times" dx="8">{bar.value / own:.2g} ×</tspan>'
    parts.append(f'<text{label_class} x="{max(end, high) + 8:.1f}" y="{y + 13}">{bar.value:.{digits}f}{times}</text>')
