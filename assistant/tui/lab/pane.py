"""The area lab."""

from textual.app import ComposeResult
from textual.widgets import Static

from assistant.tui.pane import Pane


class LabPane(Pane):
    """The area lab."""

    AREA = "lab"

    def compose(self) -> ComposeResult:
        """Lay out the area."""
        yield Static(self.say("title"), id="lab-title", markup=False)

    def relabel(self) -> None:
        """Set every label again."""
        self.query_one("#lab-title", Static).update(self.say("title"))
