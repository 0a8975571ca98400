"""Lists above the pane: contents, bookmarks, glossary. Each gives back what was chosen."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from assistant.tui.library.hanging import Hanging
from assistant.tui.safe import plain

__all__ = ["Choice"]


class Choice(ModalScreen[str | None]):
    """A list at the right side; Enter chooses a line, Escape closes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", show=False),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
    ]
    DEFAULT_CSS = """
    Choice { align: right top; background: $background 40%; }
    Choice > Vertical { width: 64; max-width: 92%; height: 100%; background: $surface; border-left: heavy $primary;
                        padding: 0 1; }
    Choice .title { text-style: bold; color: $primary; height: auto; }
    Choice .hint { color: $text-muted; height: auto; }
    Choice OptionList, Choice OptionList:focus { height: 1fr; border: none; padding: 0; background: $surface;
                                                 background-tint: $foreground 0%;
                                                 scrollbar-size-vertical: 1; }
    Choice OptionList > .option-list--option-disabled { color: $foreground; }
    """

    def __init__(self, title: str, hint: str, lines: Sequence[tuple[str, Hanging]], chosen: str = "") -> None:
        super().__init__()
        self._title, self._hint, self._lines, self._chosen = title, hint, lines, chosen

    def compose(self) -> ComposeResult:
        """Lay out title, lines and hint."""
        with Vertical():
            yield Static(plain(self._title), classes="title")
            # Ids of options may not repeat and need not be valid names; the place in the list stands for them.
            yield OptionList(*(Option(content, disabled=not key) for key, content in self._lines), markup=False)
            yield Static(plain(self._hint), classes="hint")

    def on_mount(self) -> None:
        """Put the cursor on what is shown, or on the first line that can be chosen."""
        options = self.query_one(OptionList)
        keys = [key for key, _ in self._lines]
        options.highlighted = (
            keys.index(self._chosen)
            if self._chosen and self._chosen in keys
            else next((i for i, key in enumerate(keys) if key), None)
        )
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give back the chosen line."""
        self.dismiss(self._lines[event.option_index][0])

    def on_click(self, event: Click) -> None:
        """Close by a click beside the list."""
        if event.widget is self:
            self.dismiss(None)

    def action_down(self) -> None:
        """Move down."""
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        """Move up."""
        self.query_one(OptionList).action_cursor_up()
