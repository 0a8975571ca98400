"""The area model."""

from textual.app import ComposeResult
from textual.widgets import Static

from assistant.tui.pane import Pane


class ModelPane(Pane):
    """The area model."""

    AREA = "model"

    def compose(self) -> ComposeResult:
        """Lay out the area."""
        yield Static(self.say("title"), id="model-title", markup=False)

    def relabel(self) -> None:
        """Set every label again."""
        self.query_one("#model-title", Static).update(self.say("title"))
