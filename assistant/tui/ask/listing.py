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

    _rows: Sequence[Row] = ()

    def show(self, rows: Sequence[Row]) -> None:
        """Show rows; the cursor stays on the entry it is on."""
        new = [row.id for row in rows]
        held = self.chosen
        self._rows = rows
        if new == [option.id for option in self.options]:
            self._fit()
            return
        self.clear_options()
        self.add_options([Option(_prompt(row, self._room), id=row.id) for row in rows])
        if held in new:
            with self.prevent(OptionList.OptionHighlighted):
                self.highlighted = new.index(held)

    def on_resize(self) -> None:
        """Fit into the new width."""
        self._fit()

    def _fit(self) -> None:
        for row in self._rows:
            self.replace_option_prompt(row.id, _prompt(row, self._room))

    @property
    def _room(self) -> int | None:
        """Cells of a line; None where a line may go on below itself, or nothing is laid out yet."""
        # With room for the scroll bar, whether it is there or not.
        width = self.outer_size.width - self.styles.gutter.width - self.styles.scrollbar_size_vertical
        padding = self.get_component_styles("option-list--option").padding.width
        return width - padding if width > padding and self.styles.text_wrap == "nowrap" else None

    @property
    def chosen(self) -> str:
        """Id of the entry that the cursor is on, or ''."""
        option = None if self.highlighted is None else self.get_option_at_index(self.highlighted)
        return (option.id or "") if option is not None else ""


def _prompt(row: Row, room: int | None) -> Content:
    """Return a row as a line: where there is little room, the title loses its end, never the platform."""
    sign, style = _MARKS[row.mark]
    head = Content.styled(f"{sign} ", style)
    title = plain(" ".join(row.title.split()), "bold" if row.mark == "answer" else "")
    platform = plain(f"  {row.platform}", "$text-muted") if row.platform else Content("")
    if room is not None:
        title = title.truncate(max(1, room - head.cell_length - platform.cell_length), ellipsis=True)
    return Content("").join([head, title, platform])
