"""The area logs."""

from textual.app import ComposeResult
from textual.widgets import Static

from assistant.tui.pane import Pane


class LogsPane(Pane):
    """The area logs."""

    AREA = "logs"

    def compose(self) -> ComposeResult:
        """Lay out the area."""
        yield Static(self.say("title"), id="logs-title", markup=False)

    def relabel(self) -> None:
        """Set every label again."""
        self.query_one("#logs-title", Static).update(self.say("title"))
