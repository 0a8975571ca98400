"""Charts as SVG text: bars per layer, memory over time. Labels are data and are escaped."""

from collections.abc import Sequence
from html import escape as html_escape
from typing import Final

from assistant.plain import printable

__all__ = ["bars", "escape", "steps"]

_WIDTH: Final = 860
_BAR: Final = 18
_LABEL: Final = 260
_STYLE: Final = (
    "<style>text{font:12px system-ui,sans-serif;fill:currentColor}.b{fill:#3b82c4}.p{fill:#d1495b}"
    ".a{fill:#3b82c455;stroke:#3b82c4}.l{stroke:#d1495b;stroke-dasharray:4 3}</style>"
)


def bars(items: Sequence[tuple[str, float]], title: str, unit: str) -> str:
    """Return a horizontal bar for each (label, value), in the order given."""
    largest = max((value for _, value in items), default=0.0) or 1.0
    height = _BAR * len(items) + 30
    rows = [f'<text x="0" y="14" font-weight="bold">{escape(title)}</text>']
    for i, (label, value) in enumerate(items):
        y = 26 + i * _BAR
        length = (_WIDTH - _LABEL - 120) * value / largest
        short = label if len(label) <= 38 else f"{label[:18]}…{label[-18:]}"
        rows.append(
            f"<g><title>{escape(label)}: {value:,.0f} {escape(unit)}</title>"
            f'<text x="0" y="{y + 12}">{escape(short)}</text>'
            f'<rect class="b" x="{_LABEL}" y="{y + 2}" width="{length:.1f}" height="{_BAR - 5}"/>'
            f'<text x="{_LABEL + length + 6:.1f}" y="{y + 12}">{value:,.0f} {escape(unit)}</text></g>'
        )
    return _svg(height, rows)


def steps(items: Sequence[tuple[str, float]], title: str, unit: str, bound: float | None = None) -> str:
    """Return a filled step curve over (label, value), the largest step marked, `bound` as a dashed line."""
    height = 240
    largest = max([value for _, value in items] + [bound or 0.0], default=0.0) or 1.0
    width = _WIDTH - 20
    each = width / max(len(items), 1)
    base, top = height - 24, 30
    points = [f"0,{base}"]
    for i, (_, value) in enumerate(items):
        y = base - (base - top) * value / largest
        points += [f"{i * each:.1f},{y:.1f}", f"{(i + 1) * each:.1f},{y:.1f}"]
    points.append(f"{len(items) * each:.1f},{base}")
    rows = [f'<text x="0" y="14" font-weight="bold">{escape(title)}</text>']
    rows.append(f'<polygon class="a" points="{" ".join(points)}"/>')
    if items:
        peak = max(range(len(items)), key=lambda i: items[i][1])
        label, value = items[peak]
        x, y = (peak + 0.5) * each, base - (base - top) * value / largest
        anchor = "end" if x > width / 2 else "start"
        rows.append(f'<circle class="p" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
        rows.append(
            f'<text x="{x:.1f}" y="{y - 7:.1f}" text-anchor="{anchor}">'
            f"{escape(label)}: {value:,.0f} {escape(unit)}</text>"
        )
    if bound is not None:
        y = base - (base - top) * bound / largest
        rows.append(f'<line class="l" x1="0" x2="{width}" y1="{y:.1f}" y2="{y:.1f}"/>')
    return _svg(height, rows)


def escape(text: str) -> str:
    """Return data as text of an SVG or HTML file, control characters made visible."""
    return html_escape(printable(text))


def _svg(height: int, rows: Sequence[str]) -> str:
    inside = "\n".join(rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img">\n{_STYLE}\n{inside}\n</svg>'
    )
