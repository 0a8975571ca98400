"""The help screen: what the area is for, and all its keys."""

from collections.abc import Mapping
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Click
from textual.screen import ModalScreen
from textual.widgets import Static

from assistant.tui.ask.prose import Prose
from assistant.tui.keys import keys_file
from assistant.tui.pane import Pane
from assistant.tui.safe import plain
from assistant.tui.words import Words

__all__ = ["HelpScreen"]


class HelpScreen(ModalScreen[None]):
    """Shows the help of an area above it; Escape or F1 closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "app.pop_screen", "close", show=False)]

    def __init__(self, pane: Pane | None, say: Words, bindings: Mapping[str, ActiveBinding]) -> None:
        super().__init__()
        self.pane = pane
        self.say = say
        self.bindings = bindings

    def compose(self) -> ComposeResult:
        """Lay out text and table of keys."""
        with VerticalScroll(id="help"):
            yield Static(self.say("help_title"), classes="title", markup=False)
            if self.pane is not None:
                yield Prose("help-text")
            yield Static(self._keys(), id="help-keys")
            yield Static(plain(self.say("other_keys", path=keys_file())), classes="hint")

    def on_mount(self) -> None:
        """Let the text be laid out."""
        if self.pane is not None:
            self.query_one(Prose).show(self.pane.help())

    def on_click(self, event: Click) -> None:
        """Close by a click beside the help."""
        if event.widget is self:
            self.app.pop_screen()

    def _keys(self) -> Content:
        """Return a line for each action: its keys, and what it does."""
        rows: dict[str, list[str]] = {}
        for key, active in self.bindings.items():
            name = active.binding.id
            if not name:
                continue
            area = name.partition(".")[0]
            say = self.pane.say if self.pane is not None and area == self.pane.AREA else self.say
            label = name.replace(".", "_") if area != "window" else name.removeprefix("window.")
            try:
                told = say(f"about_{label}")
            except KeyError:
                told = active.binding.description
            rows.setdefault(told, []).append(self.app.get_key_display(active.binding.with_key(key=key)))
        shown = {told: ", ".join(dict.fromkeys(keys)) for told, keys in rows.items()}
        width = max(map(cell_len, shown.values()), default=0)
        lines = [
            plain(keys, "bold $accent") + plain(f"{' ' * (width - cell_len(keys))}  {told}")
            for told, keys in shown.items()
        ]
        return Content("\n").join(lines)
