"""The line below: what helps now, and the box for finding in the text."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from assistant.tui.safe import plain

__all__ = ["Bottom", "clickable"]

_BETWEEN = " · "


def clickable(sentence: str, keys: Mapping[str, str], **values: object) -> Content:
    """Return a hint in which every piece can be clicked instead of the key that it names.

    Args:
        sentence: pieces with " · " between them and blanks for keys and values.
        keys: name of a key -> how it is shown.
        values: what the other blanks stand for.
    """
    pieces = []
    for piece in sentence.split(_BETWEEN):
        parsed = [(text, name or "") for text, name, _, _ in Formatter().parse(piece)]
        actions = [name for _, name in parsed if name in keys]
        parts = []
        for text, name in parsed:
            # Words belong to the key before them, or to the first one.
            parts.append(_pressing(plain(text), actions[0] if actions else ""))
            if name in keys:
                actions = [*actions[1:], name] if len(actions) > 1 else actions
                parts.append(_pressing(plain(keys[name], "bold"), name))
            elif name:
                parts.append(plain(str(values[name])))
        pieces.append(Content("").join(parts))
    return plain(_BETWEEN).join(pieces)


def _pressing(content: Content, action: str) -> Content:
    return content.stylize(f"@click=press('{action}')") if action and content.plain else content


class Hint(Static):
    """One line; what is clicked in it is told."""

    @dataclass
    class Pressed(Message):
        """The key of this name is wanted."""

        name: str

    def action_press(self, name: str) -> None:
        """Tell what was clicked."""
        self.post_message(self.Pressed(name))


class Bottom(Horizontal):
    """Shows a hint; the box opens in front of it."""

    DEFAULT_CSS = """
    Bottom { height: 1; }
    Bottom #library-hint { height: 1; width: 1fr; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis;
                           color: $text-muted; background: $surface; link-style: none; link-color: $text-muted; }
    Bottom #library-find { height: 1; border: none; padding: 0 1; background: $panel; width: 36; display: none; }
    Bottom #library-find.open { display: block; }
    """

    @dataclass
    class Wanted(Message):
        """A text to find; `is_done` when Enter was pressed."""

        text: str
        is_done: bool

    def __init__(self) -> None:
        super().__init__()
        self.box = Input(id="library-find", compact=True, select_on_focus=True)
        self.hint = Hint(id="library-hint", markup=False)

    def compose(self) -> ComposeResult:
        """Lay out box and hint."""
        yield self.box
        yield self.hint

    @property
    def is_open(self) -> bool:
        """Whether the box is open."""
        return self.box.has_class("open")

    def open(self) -> None:
        """Open the box."""
        self.box.add_class("open")
        self.box.focus()

    def close(self) -> None:
        """Close the box and empty it."""
        self.box.remove_class("open")
        self.box.value = ""

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_open:
            self.post_message(self.Wanted(event.value, is_done=False))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.box.remove_class("open")
        self.post_message(self.Wanted(event.value, is_done=True))
