"""The area library."""

from textual.app import ComposeResult
from textual.widgets import Static

from assistant.tui.pane import Pane


class LibraryPane(Pane):
    """The area library."""

    AREA = "library"

    def compose(self) -> ComposeResult:
        """Lay out the area."""
        yield Static(self.say("title"), id="library-title", markup=False)

    def relabel(self) -> None:
        """Set every label again."""
        self.query_one("#library-title", Static).update(self.say("title"))
