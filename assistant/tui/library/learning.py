"""Learning with cards: see the answer, mark yourself, go on."""

from typing import TYPE_CHECKING

from assistant.tui.library.place import Mark

if TYPE_CHECKING:
    from assistant.tui.library.pane import LibraryPane

__all__ = ["mark", "reveal"]


def reveal(pane: "LibraryPane") -> None:
    """Show the answer of a card."""
    if pane.check_action("reveal", ()):
        pane.desk.reveal()
        pane.tell()


def mark(pane: "LibraryPane", given: Mark) -> None:
    """Mark an open card, and go on."""
    if pane.desk.place is None or not pane.check_action("mark", ()):
        return
    pane.notes.marks[pane.desk.place.key] = given
    pane.side.tree_of_shelf.remark(pane.notes.marks)
    pane.action_step(1)
    pane.tell()
    # What was learnt survives even a crash.
    if (save := getattr(pane.app, "save_state", None)) is not None:
        save()
