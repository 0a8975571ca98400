"""Text that breaks where Chinese text does, too: a long word of it does not move to the next line as a whole."""

from textual import events
from textual.content import Content
from textual.widgets import Static

from assistant.tui.wrapping import breaks

__all__ = ["Sentence"]


class Sentence(Static):
    """Text as wide as it is given, broken again when that changes."""

    DEFAULT_CSS = "Sentence { height: auto; }"

    def __init__(self, text: Content, classes: str) -> None:
        super().__init__(text, classes=classes)
        self.text = text
        """What is shown, before it is broken."""
        self._most = 0
        self._width = 0

    def show(self, text: Content, most: int = 0) -> None:
        """Show another text, at most some lines of it; 0: all."""
        self.text, self._most = text, most
        self._break()

    def on_resize(self, event: events.Resize) -> None:
        """Break to the width."""
        if event.size.width != self._width:
            self._width = event.size.width
            self._break()

    def _break(self) -> None:
        text, width = self.text, self._width
        if width > 0:
            lines = [part for line in text.split("\n") for part in line.divide(breaks(line.plain, width))]
            lines = [line.rstrip() for line in lines]
            if 0 < self._most < len(lines):
                lines = lines[: self._most]
                lines[-1] = lines[-1].truncate(width - 1) + Content("…")
            text = Content("\n").join(lines)
        self.update(text)
