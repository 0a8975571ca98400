"""The numbers of an outcome: a label and a value each, values below each other."""

from collections.abc import Sequence
from itertools import pairwise

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.content import Content
from textual.widgets import Static

from assistant.tui.safe import plain
from assistant.tui.wrapping import breaks

__all__ = ["Numbers", "number_lines"]

_GAP = 2


def number_lines(rows: Sequence[tuple[str, str]], width: int) -> list[tuple[str, str]]:
    """Return (label, value) of each line; both are broken where they are too long, and the values begin in one column.

    Args:
        rows: (label, value).
        width: cells.
    """
    room = max(min(max((cell_len(label) for label, _ in rows), default=0), (width - _GAP) // 2), 1)
    lines = []
    for label, value in rows:
        labels, values = _broken(label, room), _broken(value, max(width - room - _GAP, 1))
        for at in range(max(len(labels), len(values))):
            left = labels[at] if at < len(labels) else ""
            lines.append((set_cell_size(left, room + _GAP), values[at] if at < len(values) else ""))
    return lines


def _broken(text: str, width: int) -> list[str]:
    return [text[start:end].rstrip(" ") for start, end in pairwise([0, *breaks(text, width), len(text)])]


class Numbers(Static):
    """A table as wide as it is given."""

    def __init__(self, rows: Sequence[tuple[str, str]]) -> None:
        super().__init__(classes="numbers")
        self._rows = [(plain(label).plain, plain(value).plain) for label, value in rows]

    def on_resize(self, event: events.Resize) -> None:
        """Lay out for the width."""
        lines = number_lines(self._rows, event.size.width)
        self.update(
            Content("\n").join(Content.styled(label, "$foreground 60%") + Content(value) for label, value in lines)
        )
