"""The widget of a plot: as wide as it is given, drawn again when that changes."""

import re
from typing import Final

from textual import events
from textual.content import Content
from textual.widgets import Static

from assistant.tui.lab.chart import Bars, Curves, bars, curves
from assistant.tui.safe import plain

__all__ = ["Plot"]

#: Blocks and braille: what is drawn, not written.
_DRAWN: Final = re.compile("[\u2588-\u258f\u2800-\u28ff]+")


class Plot(Static):
    """A titled plot as text."""

    DEFAULT_CSS = """
    Plot { height: auto; margin: 1 0 0 0; }
    """

    def __init__(self, title: str, drawn: Bars | Curves) -> None:
        super().__init__(classes="plot")
        self.title = title
        self.drawn = drawn

    def on_resize(self, event: events.Resize) -> None:
        """Draw to the width."""
        self.draw(event.size.width)

    def draw(self, width: int) -> None:
        """Draw to a width in cells."""
        if width < 12:
            return
        if isinstance(self.drawn, Bars):
            lines = bars(self.drawn, width)
        else:
            lines = curves(self.drawn, width, 12 if width >= 80 else 8)
        self.update(Content("\n").join([plain(self.title, "bold"), *(_coloured(line) for line in lines)]))


def _coloured(line: str) -> Content:
    shown = plain(line)
    for found in _DRAWN.finditer(shown.plain):
        shown = shown.stylize("$primary", *found.span())
    return shown
