"""What is shown of an estimate, a tab each: totals, layers, unsupported, charts, two models side by side."""

from typing import Any, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import DataTable, Static

from assistant.models.numbers import count, short_size
from assistant.texts import texts
from assistant.tui.model import figures
from assistant.tui.model.graphics import Bars, MemoryChart
from assistant.tui.model.names import cut, padded, wrapped
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Beside", "Charts", "Layers", "Totals", "Unsupported"]

_NAME = 22
_SHOWN = 12


class _Lines(Widget):
    """Lines that are laid out for the width there is."""

    DEFAULT_CSS = "_Lines { height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self.one: dict[str, Any] | None = None
        self.lang: Lang = "en"
        self.say: Words | None = None

    def show(self, one: dict[str, Any], lang: Lang, say: Words) -> None:
        self.one, self.lang, self.say = one, lang, say
        self.refresh(layout=True)

    def render(self) -> Content:
        if self.one is None or self.say is None:
            return Content("")
        return Content("\n").join(_total_lines(self.one, self.lang, self.say, max(self.size.width, 30)))


def _total_lines(one: dict[str, Any], lang: Lang, say: Words, width: int) -> list[Content]:
    texts_of, room = texts(lang), width - _NAME - 1
    lines: list[Content] = []
    for figure in figures.figures(one, lang):
        is_bad = figure.name == "NOT_SUPPORT_OP_TYPE" and bool(one["unsupported"])
        for i, part in enumerate(wrapped(figure.value, room - 2)):
            head = plain(f"{padded(figure.name, _NAME) if i == 0 else ' ' * _NAME} ", "$text-muted")
            value = plain(("✗ " if is_bad and i == 0 else "") + part, "$error bold" if is_bad else "bold")
            lines.append(
                head + value + (plain(f" {figure.mark}", "$warning") if figure.mark and i == 0 else Content(""))
            )
        if figure.parts:
            lines += [plain(f"{' ' * _NAME} {part}", "$text-muted") for part in wrapped("= " + figure.parts, room)]
    lines.append(Content(""))
    notes = [figures.typical_line(one, lang)]
    if one["unknown"]:
        notes.append(f"{texts_of['unknown_parts']}: {', '.join(one['unknown'][:10])}")
    notes += [f"{figures.MARK} {text[lang]}" for text in one["assumptions"]]
    for note in filter(None, notes):
        lines += [
            plain(("" if i == 0 else "  ") + part, "$text-muted") for i, part in enumerate(wrapped(note, width - 2))
        ]
    return lines


class Totals(VerticalScroll):
    """The totals with what they are made of, and every assumption."""

    def compose(self) -> ComposeResult:
        """Lay out the lines."""
        yield _Lines()

    def show(self, one: dict[str, Any], lang: Lang, say: Words) -> None:
        """Show an estimate."""
        self.query_one(_Lines).show(one, lang, say)


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
    CHUNK = 200
    """Rows that are added before the loop gets its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[Any, ...]] = []
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
        self.rows, self.lang, self.say = figures.layer_rows(one), lang, say
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
        import asyncio

        table, say = self.query_one("#layers", DataTable), texts(self.lang)
        table.clear(columns=True)
        cells = [_cells(row) for row in self.rows]
        for i, name in enumerate(self.COLUMNS):
            arrow = ("▼" if self.is_reversed else "▲") if i == self.by else ""
            title = Text(f"{say.get(f'col_{name}', name)}{arrow}", justify="right" if i in self.NUMBERS else "left")
            width = max([title.cell_len, *(cell[i].cell_len for cell in cells)])
            table.add_column(title, width=width, key=str(i))
        for start in range(0, len(self.order), self.CHUNK):
            for i in self.order[start : start + self.CHUNK]:
                table.add_row(*cells[i], key=str(i))
            await asyncio.sleep(0)

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


def _cells(row: tuple[Any, ...]) -> list[Text]:
    numbers = [Text(count(number), justify="right") for number in row[2:8]]
    return [Text(cut(row[0], 22)), Text(cut(row[1], 14)), *numbers, Text(cut(row[8], 20))]


class Unsupported(Vertical):
    """What the device does not run, or limits: a table, and below it what to do about the one at the cursor."""

    DEFAULT_CSS = """
    Unsupported DataTable { height: auto; max-height: 50%; }
    Unsupported VerticalScroll { height: 1fr; border-top: solid $panel; }
    Unsupported .-empty { display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.groups: list[figures.Group] = []
        self.say: Words | None = None

    def compose(self) -> ComposeResult:
        """Lay out table and details."""
        yield DataTable(cursor_type="row", zebra_stripes=True, id="unsupported")
        with VerticalScroll():
            yield Static(id="unsupported-detail", markup=False)

    def show(self, one: dict[str, Any], lang: Lang, say: Words) -> None:
        """Show the findings of an estimate."""
        self.groups, self.say = figures.groups(one, lang), say
        table = self.query_one("#unsupported", DataTable)
        table.clear(columns=True)
        for name in ("mark", "op", "nodes", "rule", "first"):
            table.add_column(Text("" if name == "mark" else say(f"unsupported_{name}")), key=name)
        for i, group in enumerate(self.groups[:500]):
            mark = Text("! ", style="bold") if group.is_limit else Text("✗ ", style="bold")
            table.add_row(
                mark, Text(cut(group.op_type or "-", 24)), Text(count(len(group.nodes)), justify="right"),
                Text(cut(group.rule, 24)), Text(cut(group.nodes[0], 30)), key=str(i),
            )  # fmt: skip
        table.set_class(not self.groups, "-empty")
        if not self.groups:
            self.query_one("#unsupported-detail", Static).update(
                plain("✓ " + say("all_supported", device=one["device"]), "$success")
            )

    @on(DataTable.RowHighlighted)
    def _detail(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        key, say = event.row_key.value, self.say
        if key is None or say is None or int(key) >= len(self.groups):
            return
        group = self.groups[int(key)]
        mark, style = ("!", "$warning bold") if group.is_limit else ("✗", "$error bold")
        parts = [plain(f"{mark} {group.op_type}: {group.found}" if group.op_type else f"{mark} {group.found}", style)]
        if group.fix:
            parts.append(plain(f"→ {say('to_do')}: ", "$success bold") + plain(group.fix))
        nodes = ", ".join(cut(node, 60) for node in group.nodes[:40] if node)
        more = f" … ({len(group.nodes)})" if len(group.nodes) > 40 else ""
        if nodes:
            parts.append(plain(f"{say('unsupported_nodes')}: ", "$text-muted") + plain(nodes + more))
        parts.append(plain(f"{say('source')}: {group.source} · {group.rule}", "$text-muted"))
        self.query_one("#unsupported-detail", Static).update(Content("\n").join(parts))


class Charts(VerticalScroll):
    """Memory over time, then bytes and cycles of the largest layers."""

    def compose(self) -> ComposeResult:
        """Lay out the charts."""
        yield MemoryChart("chart-memory")
        yield Bars("chart-bytes")
        yield Bars("chart-cycles")

    def show(self, one: dict[str, Any], lang: Lang, say: Words) -> None:
        """Show an estimate."""
        layers, texts_of = one["layers"], texts(lang)
        self.query_one("#chart-memory", MemoryChart).show(
            say("chart_memory", count=len(layers)),
            figures.peak_line(one, lang),
            [layer["live_bytes"] for layer in layers],
            [(tensor["name"], tensor["bytes"]) for tensor in one["peak"]["tensors"][:8]],
        )
        sized = [(layer["name"], layer["weight_bytes"] + (layer["output_bytes"] or 0)) for layer in layers]
        timed = [(layer["name"], layer["cycles_estimate"] or 0) for layer in layers]
        for chart, items, words in (("bytes", sized, short_size), ("cycles", timed, count)):
            first = sorted(items, key=lambda item: -item[1])
            rest = say("chart_rest", count=len(first) - _SHOWN, sum=words(sum(v for _, v in first[_SHOWN:])))
            self.query_one(f"#chart-{chart}", Bars).show(
                texts_of[f"chart_{chart}"],
                [(name, value, words(value)) for name, value in first[:_SHOWN]],
                rest if len(first) > _SHOWN else "",
            )


class Beside(Vertical):
    """The totals of two models in two columns, with the difference."""

    DEFAULT_CSS = """
    Beside DataTable { height: auto; max-height: 12; }
    Beside VerticalScroll { height: 1fr; }
    Beside Static { height: auto; color: $text-muted; }
    Beside .-empty { display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.pair: tuple[dict[str, Any], dict[str, Any]] | None = None
        self.lang: Lang = "en"
        self.say: Words | None = None

    def compose(self) -> ComposeResult:
        """Lay out the table and what stands below."""
        yield DataTable(cursor_type="row", zebra_stripes=True, id="beside", classes="-empty")
        with VerticalScroll():
            yield Static(id="beside-line", markup=False)

    def show(self, first: dict[str, Any], second: dict[str, Any] | None, lang: Lang, say: Words) -> None:
        """Show two estimates, or how to get there."""
        self.pair, self.lang, self.say = (first, second) if second is not None else None, lang, say
        self._lay_out()

    def on_resize(self) -> None:
        """Fit the columns into the width."""
        self._lay_out()

    def _lay_out(self) -> None:
        if self.say is None:
            return
        table, line = self.query_one("#beside", DataTable), self.query_one("#beside-line", Static)
        row = table.cursor_row
        table.clear(columns=True)
        table.set_class(self.pair is None, "-empty")
        if self.pair is None:
            line.update(plain(self.say("beside_hint")))
            return
        each = min(max((self.size.width - 48) // 2, 13), 40)
        names = [cut(one["model"].rpartition("/")[2], each - 2) for one in self.pair]
        titles = (texts(self.lang)["figure"], f"A {names[0]}", f"B {names[1]}", "B - A")
        widths = (19, each, each, 20)
        for i, (title, width) in enumerate(zip(titles, widths, strict=True)):
            table.add_column(Text(title, justify="right" if i else "left"), width=width, key=str(i))
        for cells in figures.beside(*self.pair, self.lang):
            # The exact bytes stand in the totals; side by side the unit that people read is enough.
            shown = [cut(_brief(cell), width) for cell, width in zip(cells, widths, strict=True)]
            table.add_row(*(Text(cell, justify="right" if i else "left") for i, cell in enumerate(shown)))
        table.move_cursor(row=row)
        assumed = dict.fromkeys(f"{figures.MARK} {text[self.lang]}" for one in self.pair for text in one["assumptions"])
        line.update(plain("\n" + "\n".join(assumed)))


def _brief(cell: str) -> str:
    """Return `1,234 B (1.2 KiB) *` as `1.2 KiB *`."""
    head, paren, tail = cell.partition(" B (")
    return tail.replace(")", "", 1) if paren and head.replace(",", "").isdigit() else cell
