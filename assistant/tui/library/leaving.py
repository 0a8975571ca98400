"""What leaves the window: an entry for the clipboard with its place, and its source for the editor."""

from typing import TYPE_CHECKING

from assistant.plain import printable
from assistant.tui.editor import edit
from assistant.tui.words import Words
from kb.parse import without_checks
from kb.types import Entry

if TYPE_CHECKING:
    from assistant.tui.library.pane import LibraryPane

__all__ = ["citation", "copy", "open_source", "place"]


def place(entry: Entry) -> str:
    """Return where an entry stands, for people and for `grep`."""
    return f"corpus/{entry.span.file}:{entry.line}"


def citation(entry: Entry, say: Words) -> str:
    """Return an entry as Markdown with its sources and its place."""
    source = f"{say('source')}: {'; '.join(entry.sources)} ({place(entry)}, {entry.id})"
    return f"## {entry.title}\n\n{without_checks(entry.text)}\n\n{source}\n"


def copy(pane: "LibraryPane") -> None:
    """Copy the shown entry with its source."""
    if (entry := pane.desk.entry()) is not None:
        pane.app.copy_to_clipboard(citation(entry, pane.say))
        pane.notify(pane.say("copied", place=place(entry)), markup=False)


def open_source(pane: "LibraryPane") -> None:
    """Open the source of the shown entry at its line in the user's editor."""
    shelf, entry = pane.desk.shelf, pane.desk.entry()
    if shelf is not None and entry is not None:
        problem = edit(pane.app, shelf.root / entry.span.file, entry.line, pane.say)
        if problem:
            pane.notify(printable(problem), severity="warning", markup=False)
