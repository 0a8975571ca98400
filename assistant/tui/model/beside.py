"""Two models side by side."""

from typing import Any

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import DataTable, Static

from assistant.texts import texts
from assistant.tui.model import figures
from assistant.tui.model.names import cut
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Beside"]


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

    def show(self, models: list[dict[str, Any]], lang: Lang, say: Words) -> None:
        """Show two estimates; of a single one, how to get there."""
        self.pair, self.lang, self.say = (models[0], models[1]) if len(models) > 1 else None, lang, say
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
        each = min(max((self.size.width - 50) // 2, 13), 40)
        names = [cut(one["model"].rpartition("/")[2], each - 2) for one in self.pair]
        titles = (texts(self.lang)["figure"], f"A {names[0]}", f"B {names[1]}", "B - A")
        widths = (20, each, each, 22)
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
