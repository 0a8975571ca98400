"""Entries to choose from."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from assistant.tui.ask.values import Row
from assistant.tui.safe import plain

__all__ = ["Listing"]

_MARKS = {"answer": ("★", "$accent"), "related": ("≈", "bold"), "hit": ("·", ""), "ask": ("›", "$accent")}


class Listing(OptionList, inherit_bindings=False):
    """One line an entry: ★ the answer, ≈ related to it, · found as well. Pages are those of the answer beside it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor_up", "up", show=False),
        Binding("down", "cursor_down", "down", show=False),
        Binding("home", "first", "first", show=False),
        Binding("end", "last", "last", show=False),
        Binding("enter,space", "select", "open", show=False),
    ]

    DEFAULT_CSS = """
    Listing { height: auto; border: none; padding: 0; background: transparent; scrollbar-size-vertical: 1;
              text-wrap: nowrap; text-overflow: ellipsis; }
    Listing:focus { border: none; background: $surface; }
    """

    def show(self, rows: Sequence[Row]) -> None:
        """Show rows; the cursor stays on the entry it is on."""
        new = [row.id for row in rows]
        held = self.chosen
        if new == [option.id for option in self.options]:
            for row in rows:
                self.replace_option_prompt(row.id, _prompt(row))
            return
        self.clear_options()
        self.add_options([Option(_prompt(row), id=row.id) for row in rows])
        if held in new:
            with self.prevent(OptionList.OptionHighlighted):
                self.highlighted = new.index(held)

    @property
    def chosen(self) -> str:
        """Id of the entry that the cursor is on, or ''."""
        option = None if self.highlighted is None else self.get_option_at_index(self.highlighted)
        return (option.id or "") if option is not None else ""


def _prompt(row: Row) -> Content:
    sign, style = _MARKS[row.mark]
    title = " ".join(row.title.split())
    parts = [Content.styled(f"{sign} ", style), plain(title, "bold" if row.mark == "answer" else "")]
    if row.platform:
        parts.append(plain(f"  {row.platform}", "$text-muted"))
    return Content("").join(parts)
