"""The area ask."""

from textual.app import ComposeResult
from textual.widgets import Static

from assistant.tui.pane import Pane


class AskPane(Pane):
    """The area ask."""

    AREA = "ask"

    def compose(self) -> ComposeResult:
        """Lay out the area."""
        yield Static(self.say("title"), id="ask-title", markup=False)

    def relabel(self) -> None:
        """Set every label again."""
        self.query_one("#ask-title", Static).update(self.say("title"))
