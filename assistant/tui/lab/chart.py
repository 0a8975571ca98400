"""Curves and bars as lines of text: braille dots and blocks, labelled axes, as wide as asked for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, set_cell_size

from assistant.tui.cells import bar

__all__ = ["Bars", "Curve", "Curves", "bars", "curves", "number"]

#: A braille cell is 2 dots wide and 4 high: the bit of each, by row and column.
_BITS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
#: Longer bars say no more.
_LONGEST: Final = 60
#: A dotted curve has one dot of this many, so that no colour is needed to tell it from a line.
DOTTED: Final = 4


@dataclass(frozen=True, slots=True)
class Curve:
    """Points joined by a line; one that is not finite leaves a gap."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    is_dotted: bool = False


@dataclass(frozen=True, slots=True)
class Curves:
    """A plot of y over x."""

    curves: tuple[Curve, ...]
    x: str
    """What lies along, with its unit."""
    y: str


@dataclass(frozen=True, slots=True)
class Bars:
    """A number for each of some names."""

    rows: tuple[tuple[str, float], ...]
    name: str
    """What the names are."""


def number(value: float) -> str:
    """Return a number as an axis shows it: at most four significant digits."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 100_000:
        return str(int(value))
    return f"{value:.4g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def curves(plot: Curves, width: int, height: int) -> list[str]:
    """Return a plot as height + 3 lines: what y is, the rows with the axis of y, the axis of x and its ends.

    Args:
        plot: the curves.
        width: cells.
        height: lines of the curves themselves.
    """
    points = [
        (x, y)
        for curve in plot.curves
        for x, y in zip(curve.xs, curve.ys, strict=True)
        if math.isfinite(x) and math.isfinite(y)
    ]
    if not points:
        return []
    left, right = _span([x for x, _ in points])
    low, high = _span([y for _, y in points])
    shown = _ticks(low, high, height)
    margin = max(len(text) for text in shown.values())
    columns = max(width - margin - 2, 8)
    grid = [[0] * columns for _ in range(height)]

    def place(x: float, y: float) -> tuple[int, int]:
        across = (x - left) / (right - left) * (columns * 2 - 1)
        down = (high - y) / (high - low) * (height * 4 - 1)
        return round(across), round(down)

    for curve in plot.curves:
        before: tuple[int, int] | None = None
        for x, y in zip(curve.xs, curve.ys, strict=True):
            if not (math.isfinite(x) and math.isfinite(y)):
                before = None
                continue
            here = place(x, y)
            _line(grid, before or here, here, DOTTED if curve.is_dotted else 1)
            before = here
    lines = [_legend(plot, width)]
    for row in range(height):
        cells = "".join(chr(0x2800 + dots) if dots else " " for dots in grid[row])
        lines.append(f"{shown.get(row, ''):>{margin}} {'┤' if row in shown else '│'}{cells}".rstrip())
    lines.append(f"{'':>{margin}} └{'─' * columns}")
    first, last = number(left), number(right)
    room = max(columns - len(first) - len(last) - 2, 0)
    middle = _cut(plot.x, room)
    pad = room - cell_len(middle)
    lines.append(f"{'':>{margin}}  {first} {' ' * (pad // 2)}{middle}{' ' * (pad - pad // 2)} {last}")
    return lines


def _legend(plot: Curves, width: int) -> str:
    parts = [plot.y]
    if len(plot.curves) > 1:
        parts += [f"{'⠂⠂' if curve.is_dotted else '⠒⠒'} {curve.name}" for curve in plot.curves]
    return _cut("   ".join(parts), width)


def _ticks(low: float, high: float, height: int) -> dict[int, str]:
    """Return the numbers of the axis of y by their row: both ends, and zero or the middle."""
    middle = 0.0 if low < 0 < high else high / 2 + low / 2
    row = round((high / 2 - middle / 2) / (high / 2 - low / 2) * (height - 1))
    return {row: number(middle), 0: number(high), height - 1: number(low)}


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    if low == high:
        room = abs(low) / 2 or 1.0
        return low - room, high + room
    if not math.isfinite(high - low):
        return low / 2, high / 2
    return low, high


def _line(grid: list[list[int]], start: tuple[int, int], end: tuple[int, int], every: int) -> None:
    steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
    for step in range(steps + 1):
        x = round(start[0] + (end[0] - start[0]) * step / steps)
        y = round(start[1] + (end[1] - start[1]) * step / steps)
        row, column = y // 4, x // 2
        if (x if abs(end[0] - start[0]) >= abs(end[1] - start[1]) else y) % every:
            continue
        if 0 <= row < len(grid) and 0 <= column < len(grid[0]):
            grid[row][column] |= _BITS[y % 4][x % 2]


def bars(plot: Bars, width: int) -> list[str]:
    """Return a line for each row: name, bar and number; bars of negative numbers grow to the left of the zero line.

    Args:
        plot: the rows.
        width: cells.
    """
    values = [value for _, value in plot.rows if math.isfinite(value)]
    top, bottom = max([*values, 0.0]), min([*values, 0.0])
    names = [_cut(name, max(width // 3, 4)) for name, _ in plot.rows]
    texts = [number(value) for _, value in plot.rows]
    margin = max((cell_len(name) for name in names), default=0)
    tail = max((len(text) for text in texts), default=0)
    room = min(max(width - margin - tail - 3, 4), _LONGEST)
    extent = top / 2 - bottom / 2  # halves: the difference itself may overflow
    below = 0 if bottom == 0 else max(1, round(room * (-bottom / 2) / extent))
    below = min(below, room - 1) if top > 0 else below
    lines = []
    for name, text, (_, value) in zip(names, texts, plot.rows, strict=True):
        drawn = " " * room
        if math.isfinite(value) and value > 0:
            # A share may be too small for a number.
            drawn = " " * below + bar(max(value / top * (room - below), 1 / 8))
        elif math.isfinite(value) and value < 0:
            length = max(round(value / bottom * below), 1)
            drawn = " " * (below - length) + "█" * length
        pad = " " * (margin - cell_len(name))
        lines.append(f"{pad}{name} │{drawn:<{room}} {text:>{tail}}")
    return lines


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, max(width - 1, 0)).rstrip() + "…"
