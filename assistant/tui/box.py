"""What all boxes share: a title, a hint, a complaint; Escape leaves."""

from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from assistant.tui.safe import plain
from assistant.tui.words import Words

__all__ = ["Box"]

T = TypeVar("T")


class Box(ModalScreen[T]):
    """A box with a title and a hint."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]
    DEFAULT_CSS = """
    Box { align: center middle; }
    Box > #box { width: 90%; max-width: 110; height: auto; max-height: 90%; background: $surface;
        border: round $primary; padding: 0 1; }
    Box #title { text-style: bold; color: $primary; }
    Box #hint { color: $text-muted; }
    Box #problem { color: $error; display: none; }
    Box #problem.shown { display: block; }
    Box #files { height: 1fr; min-height: 5; background: $surface; }
    Box #text { height: 1fr; min-height: 5; }
    Box.tall > #box { height: 90%; }
    Box Input, Box TextArea { margin: 0; }
    Box #buttons { height: 1; margin: 0; }
    Box #buttons Button { margin: 0 1 0 0; }
    Box #body { height: auto; max-height: 100%; }
    """

    def __init__(self, say: Words, name: str, **values: object) -> None:
        """Make a box.

        Args:
            say: the sentences of the area.
            name: of what is asked for; its title and hint are called after it.
            values: for the blanks of the hint.
        """
        super().__init__()
        self.say = say
        self.heading = say(f"{name}_title")
        self.hint = say(f"{name}_hint", **values)

    def compose(self) -> ComposeResult:
        """Lay out title, body and hint."""
        with Vertical(id="box"):
            yield Static(self.heading, id="title", markup=False)
            yield from self.body()
            yield Static("", id="problem", markup=False)
            yield Static(self.hint, id="hint", markup=False)

    def body(self) -> ComposeResult:
        """Lay out what the box asks for."""
        raise NotImplementedError

    def complain(self, text: str) -> None:
        """Say what is wrong."""
        problem = self.query_one("#problem", Static)
        problem.update(plain(text))
        problem.set_class(bool(text), "shown")

    def action_leave(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)
