"""The layers of a model as a table."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from time import monotonic
from typing import Any, ClassVar, Final, TypeVar

from rich.cells import cell_len
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import DataTable, Static

from assistant.models.numbers import count
from assistant.texts import texts
from assistant.tui.model import figures
from assistant.tui.model.names import cut
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Layers"]

_Item = TypeVar("_Item")
_NAME: Final = 22
_OTHERS: Final = 114
"""Cells of all columns but the names, about."""
TURN_S: Final = 0.015
"""Seconds in which rows are added before the loop gets its turn."""


class Layers(Vertical):
    """The layers as a table, sorted by any column; the whole name of the layer at the cursor below."""

    DEFAULT_CSS = """
    Layers DataTable { height: 1fr; }
    Layers Static { height: 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    """
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "layer", "op", "MACs", "weights_b", "output_b", "live_b", "cycles_bound", "cycles_estimate", "shape",
    )  # fmt: skip
    NUMBERS: ClassVar[range] = range(2, 8)
    """Columns of numbers: the largest first."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[Any, ...]] = []
        self._cells: list[tuple[str, ...]] = []
        """The rows as they are shown, as far as they were needed."""
        self._room = _NAME
        self.order: list[int] = []
        """Numbers of the rows as they are shown."""
        self.by: int | None = None
        """The column they are sorted by; None: as they run."""
        self.is_reversed = False
        self.lang: Lang = "en"
        self.say: Words | None = None

    def compose(self) -> ComposeResult:
        """Lay out table and line."""
        yield DataTable(cursor_type="row", zebra_stripes=True, fixed_columns=1, id="layers")
        yield Static(id="layer-line", markup=False)

    def show(self, one: dict[str, Any], lang: Lang, say: Words) -> None:
        """Show the layers of an estimate, sorted as before."""
        self.rows, self._cells, self.lang, self.say = figures.layer_rows(one), [], lang, say
        self._sort()

    def sort(self, column: int | None, *, reverse: bool | None = None) -> None:
        """Sort by a column (None: as they run); by the same again, the other way round."""
        largest_first = column in self.NUMBERS
        self.is_reversed = (
            (not self.is_reversed if column == self.by else largest_first) if reverse is None else reverse
        )
        self.by = column
        self._sort()

    def sort_next(self) -> None:
        """Sort by the next column; after the last one, as they run."""
        cycle: list[int | None] = [None, *self.NUMBERS, 0, 1, 8]
        self.sort(cycle[(cycle.index(self.by) + 1) % len(cycle)])

    def _sort(self) -> None:
        numbers = range(len(self.rows))
        if self.by is None:
            self.order = sorted(numbers, reverse=self.is_reversed)
        else:
            by = self.by
            known = [i for i in numbers if self.rows[i][by] not in (None, "")]
            self.order = sorted(known, key=lambda i: self.rows[i][by], reverse=self.is_reversed)
            self.order += [i for i in numbers if self.rows[i][by] in (None, "")]
        self._fill()

    @work(exclusive=True, group="model-layers")
    async def _fill(self) -> None:
        table, say = self.query_one("#layers", DataTable), texts(self.lang)
        self._room = room = self._name_room()
        table.clear(columns=True)
        async for row in _in_turns(self.rows[len(self._cells) :]):
            self._cells.append(_cells(row))
        for i, name in enumerate(self.COLUMNS):
            arrow = ("▼" if self.is_reversed else "▲") if i == self.by else ""
            title = Text(f"{say.get(f'col_{name}', name)}{arrow}", justify="right" if i in self.NUMBERS else "left")
            width = max([title.cell_len, *(min(cell_len(cells[i]), room) for cells in self._cells)])
            table.add_column(title, width=width, key=str(i))
        async for i in _in_turns(self.order):
            name, *cells = self._cells[i]
            shown = [Text(cell, justify="right" if at in self.NUMBERS else "left") for at, cell in enumerate(cells, 1)]
            table.add_row(Text(cut(name, room)), *shown, key=str(i))

    def _name_room(self) -> int:
        """Return the cells of a name: what the other columns leave, within limits."""
        return min(max(self.size.width - _OTHERS, _NAME), 3 * _NAME)

    def on_resize(self) -> None:
        """Give the names the room there is."""
        if self.rows and self._name_room() != self._room:
            self._fill()

    @on(DataTable.HeaderSelected)
    def _header(self, event: DataTable.HeaderSelected) -> None:
        event.stop()
        self.sort(event.column_index)

    @on(DataTable.RowHighlighted)
    def _line(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        key = event.row_key.value
        if key is not None and self.say is not None and int(key) < len(self.rows):
            row = self.rows[int(key)]
            self.query_one("#layer-line", Static).update(
                plain(self.say("layer_line", number=int(key) + 1, all=len(self.rows), name=row[0], op=row[1]))
            )


def _cells(row: tuple[Any, ...]) -> tuple[str, ...]:
    return (row[0], cut(row[1], 14), *(count(number) for number in row[2:8]), cut(row[8], 20))


async def _in_turns(items: Sequence[_Item]) -> AsyncIterator[_Item]:
    """Yield items; the loop gets its turn every few milliseconds, however many there are."""
    started = monotonic()
    for item in items:
        yield item
        if monotonic() - started > TURN_S:
            await asyncio.sleep(0)
            started = monotonic()
