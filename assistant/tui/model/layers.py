"""The layers of a model as a table, searched and sorted."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from time import monotonic
from typing import Any, ClassVar, Final, TypeVar

from rich.cells import cell_len
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from assistant.models.numbers import count
from assistant.texts import texts
from assistant.tui.model import figures
from assistant.tui.model.names import cut
from assistant.tui.model.rowtable import RowTable
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Layers"]

_Item = TypeVar("_Item")
_NAME: Final = 22
_OTHERS: Final = 114
"""Cells of all columns but the names, about."""
TURN_S: Final = 0.015
"""Seconds in which cells are made before the loop gets its turn."""


class LayerLine(Static):
    """One line; what is clicked in it is done by the table."""

    def action_find(self) -> None:
        """Ask for a text."""
        self.query_ancestor(Layers).open()

    def action_clear(self) -> None:
        """Show all layers."""
        self.query_ancestor(Layers).clear()


class Layers(Vertical):
    """The layers as a table, searched and sorted; below it the whole name of the layer at the cursor."""

    DEFAULT_CSS = """
    Layers RowTable { height: 1fr; }
    Layers Horizontal { height: 1; }
    Layers Static { height: 1; width: 1fr; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis;
                    link-style: none; link-color: $text-muted; }
    Layers Input { height: 1; border: none; padding: 0 1; background: $panel; width: 28; display: none; }
    Layers Input.open { display: block; }
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
        self._widths = [0] * len(self.COLUMNS)
        self._room = _NAME
        self.order: list[int] = []
        """Numbers of the rows as they are shown."""
        self.by: int | None = None
        """The column they are sorted by; None: as they run."""
        self.is_reversed = False
        self.query_text = ""
        """Only layers whose name or operator has each of these words are shown, in any case."""
        self.lang: Lang = "en"
        self.say: Words | None = None
        self._names: list[str] = []
        """What is searched of each row."""
        self._current: int | None = None
        """Number of the row at the cursor; it keeps the cursor when others are found."""

    def compose(self) -> ComposeResult:
        """Lay out table and line."""
        yield RowTable(id="layers")
        with Horizontal():
            yield Input(id="layer-find", compact=True)
            yield LayerLine(id="layer-line", markup=False)

    def show(self, one: dict[str, Any], lang: Lang, say: Words) -> None:
        """Show the layers of an estimate, sorted as before."""
        rows = figures.layer_rows(one)
        if rows != self.rows:
            self._current = None
        self.rows, self._cells, self.lang, self.say = rows, [], lang, say
        self._widths = [0] * len(self.COLUMNS)
        self._names = [f"{row[0]} {row[1]}".lower() for row in rows]
        self._box.placeholder = say("layer_find")
        self._sort()

    # Searching

    @property
    def _box(self) -> Input:
        return self.query_one("#layer-find", Input)

    def open(self) -> None:
        """Ask for a text."""
        self._box.add_class("open")
        self._box.focus()

    def clear(self) -> bool:
        """Show all layers again; return whether some were not shown, or the box was open."""
        is_open = self._box.has_class("open") or bool(self.query_text)
        if is_open:
            self._box.value = ""
            self._search("")
            self._leave()
        return is_open

    def _leave(self) -> None:
        """Close the box, which stays open beside what it found."""
        self._box.set_class(bool(self.query_text), "open")
        self.query_one(RowTable).focus()

    def _search(self, text: str) -> None:
        if text != self.query_text:
            self.query_text = text
            self._sort()

    @on(Input.Changed, "#layer-find")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._search(event.value)

    @on(Input.Submitted, "#layer-find")
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._leave()

    # Sorting

    def sort(self, column: int | None, *, reverse: bool | None = None) -> None:
        """Sort by a column (None: as they run); by the same again, the other way round."""
        largest_first = column in self.NUMBERS
        self.is_reversed = (
            (not self.is_reversed if column == self.by else largest_first) if reverse is None else reverse
        )
        self.by = column
        # What comes first is what was asked for.
        self._current = None
        self._sort()

    def sort_next(self) -> None:
        """Sort by the next column; after the last one, as they run."""
        cycle: list[int | None] = [None, *self.NUMBERS, 0, 1, 8]
        self.sort(cycle[(cycle.index(self.by) + 1) % len(cycle)])

    def _sort(self) -> None:
        words = self.query_text.lower().split()
        numbers = [i for i, name in enumerate(self._names) if all(word in name for word in words)]
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
        """Show what is to be shown; cells and widths of many layers take more than one turn of the loop."""
        async for row in _in_turns(self.rows[len(self._cells) :]):
            self._cells.append(_cells(row))
            self._widths = [max(*both) for both in zip(self._widths, map(cell_len, self._cells[-1]), strict=True)]
        say, order, cells, self._room = texts(self.lang), self.order, self._cells, self._name_room()
        columns = []
        for i, name in enumerate(self.COLUMNS):
            title = say.get(f"col_{name}", name) + (("▼" if self.is_reversed else "▲") if i == self.by else "")
            columns.append((title, max(cell_len(title), min(self._widths[i], self._room)), i in self.NUMBERS))
        if not order:
            self._tell(None)
        place = order.index(self._current) if self._current in order else 0
        self.query_one(RowTable).show(columns, len(order), lambda i: cells[order[i]], row=place)

    def _name_room(self) -> int:
        """Return the cells of a name: what the other columns leave, within limits."""
        return min(max(self.size.width - _OTHERS, _NAME), 3 * _NAME)

    def on_resize(self) -> None:
        """Give the names the room there is."""
        if self.rows and self._name_room() != self._room:
            self._fill()

    @on(RowTable.HeadClicked)
    def _header(self, event: RowTable.HeadClicked) -> None:
        event.stop()
        self.sort(event.column)

    @on(RowTable.Moved)
    def _line(self, event: RowTable.Moved) -> None:
        event.stop()
        if event.row < len(self.order):
            self._current = self.order[event.row]
            self._tell(self._current)

    def _tell(self, number: int | None) -> None:
        """Say how many layers were found, and which one is at the cursor."""
        if self.say is None:
            return
        parts = []
        if self.query_text:
            found = self.say("layer_found", count=f"{len(self.order):,}", all=f"{len(self.rows):,}")
            parts += [plain(found, "bold"), plain(" · "), plain(self.say("layer_all")).stylize("@click=clear")]
        if number is not None:
            row = self.rows[number]
            parts += [plain(" · ")] * bool(parts)
            parts.append(plain(self.say("layer_line", number=number + 1, all=len(self.rows), name=row[0], op=row[1])))
        if not self.query_text:
            parts += [plain(" · ")] * bool(parts) + [plain(self.say("layer_hint")).stylize("@click=find")]
        self.query_one("#layer-line", LayerLine).update(Content("").join(parts))


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
