"""Words that are clicked: each is an action of the area, so that whatever a key does the mouse does, too."""

from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from assistant.tui.safe import plain

__all__ = ["Clickable", "Do", "word"]


class Do(Message):
    """An action of the area was clicked."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self.action = action


class Clickable(Static):
    """A text some of whose words are actions."""

    DEFAULT_CSS = """
    Clickable { link-style: none; link-style-hover: bold underline; link-background-hover: $panel;
                link-color-hover: $text; }
    """

    def action_do(self, action: str) -> None:
        """Tell that a word was clicked."""
        self.post_message(Do(action))


def word(text: str, action: str, style: str = "") -> Content:
    """Return a word that does an action when it is clicked."""
    return plain(text, style).stylize(f"@click=do('{action}')")
