"""Charts of block characters, as wide as their widget: memory over time, and bars per layer."""

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from textual.content import Content

from assistant.models.numbers import short_size
from assistant.tui.cells import bar
from assistant.tui.model.drawn import Drawn
from assistant.tui.model.names import cut, padded
from assistant.tui.safe import one_line, plain

__all__ = ["Bars", "MemoryChart", "columns"]

_UP: Final = " ▁▂▃▄▅▆▇█"
_AXIS: Final = 10


def columns(values: Sequence[float], width: int) -> list[float]:
    """Return `width` values over the same time: the largest of those that fall on a column."""
    n = len(values)
    if not n or width <= 0:
        return []
    return [max(values[i * n // width : max((i + 1) * n // width, i * n // width + 1)]) for i in range(width)]


class MemoryChart(Drawn):
    """Bytes of intermediate tensors alive at each layer, the peak marked; its tensors below."""

    ROWS: Final = 7
    TALL_ROWS: Final = 12
    """Rows of the curve on a screen of at least `TALL` lines."""
    TALL: Final = 36

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._title = ""
        self._peak_line = ""
        self._values: list[float] = []
        self._tensors: list[tuple[str, int]] = []

    def show(self, title: str, peak_line: str, values: Sequence[float], tensors: Sequence[tuple[str, int]]) -> None:
        """Show values.

        Args:
            title: stands above.
            peak_line: what is said of the peak, below the curve.
            values: bytes in the order of the layers.
            tensors: (name, bytes) alive at the peak, largest first.
        """
        self._title, self._peak_line, self._values, self._tensors = title, peak_line, list(values), list(tensors)
        self.refresh(layout=True)

    def drawn(self, width: int) -> Content:
        """Return the lines for a width."""
        width = max(width, 20)
        rows = self.TALL_ROWS if self.app.size.height >= self.TALL else self.ROWS
        lines = [plain(cut(self._title, width), "bold")]
        if not self._values or max(self._values) <= 0:
            return Content("\n").join([*lines, plain(self._peak_line, "$text-muted")])
        top = max(self._values)
        drawn = columns(self._values, width - _AXIS)
        peak = drawn.index(top)
        end = next((i for i in range(peak, len(drawn)) if drawn[i] != top), len(drawn))
        for row in reversed(range(rows)):
            label = short_size(top) if row == rows - 1 else short_size(top / 2) if row == rows // 2 - 1 else ""
            cells = [_cell(value / top * rows * 8 - row * 8) for value in drawn]
            line = Content.styled(f"{label:>{_AXIS - 2}} │", "$text-muted")
            line += Content.styled("".join(cells[:peak]), "$primary")
            line += Content.styled("".join(cells[peak:end]), "$warning")
            lines.append(line + Content.styled("".join(cells[end:]), "$primary"))
        lines.append(
            Content.styled(
                f"{'0':>{_AXIS - 2}} └{'─' * peak}{'▲' * (end - peak)}{'─' * (len(drawn) - end)}", "$text-muted"
            )
        )
        lines.append(plain("▲ " + one_line(self._peak_line), "$warning"))
        return Content("\n").join([*lines, *self._tensor_lines(width)])

    def _tensor_lines(self, width: int) -> list[Content]:
        largest = max((size for _, size in self._tensors), default=0) or 1
        names = min(max((cell_len(one_line(name)) for name, _ in self._tensors), default=0), (width - 14) // 2)
        room = max(width - names - 16, 4)
        lines = []
        for name, size in self._tensors:
            told = plain(f"  {padded(name, names)} {short_size(size):>10} ")
            lines.append(told + Content.styled(bar(size / largest * room), "$primary"))
        return lines


def _cell(eighths: float) -> str:
    return _UP[min(max(round(eighths), 0), 8)]


class Bars(Drawn):
    """A bar for each of the largest layers."""

    DEFAULT_CSS = "Bars { margin-top: 1; }"

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._title = ""
        self._rest = ""
        self._items: list[tuple[str, float, str]] = []

    def show(self, title: str, items: Sequence[tuple[str, float, str]], rest: str) -> None:
        """Show values.

        Args:
            title: stands above.
            items: (layer, value, the value in words), largest first.
            rest: what is said of the layers that are not shown; may be empty.
        """
        self._title, self._items, self._rest = title, list(items), rest
        self.refresh(layout=True)

    def drawn(self, width: int) -> Content:
        """Return the lines for a width."""
        width = max(width, 20)
        lines = [plain(cut(self._title, width), "bold")]
        largest = max((value for _, value, _ in self._items), default=0.0) or 1.0
        names = min(max((cell_len(one_line(name)) for name, _, _ in self._items), default=0), width // 3)
        words = max((cell_len(word) for _, _, word in self._items), default=0)
        room = max(width - names - words - 4, 4)
        for name, value, word in self._items:
            line = plain(f"  {padded(name, names)} ") + Content.styled(bar(value / largest * room), "$primary")
            lines.append(line + plain(f" {word}", "$text-muted"))
        if self._rest:
            lines.append(plain(f"  {self._rest}", "$text-muted"))
        return Content("\n").join(lines)
