"""What leaves the window: an entry for the clipboard, with its place."""

from assistant.tui.words import Words
from kb.parse import without_checks
from kb.types import Entry

__all__ = ["citation", "place"]


def place(entry: Entry) -> str:
    """Return where an entry stands, for people and for `grep`."""
    return f"corpus/{entry.span.file}:{entry.line}"


def citation(entry: Entry, say: Words) -> str:
    """Return an entry as Markdown with its sources and its place."""
    source = f"{say('source')}: {'; '.join(entry.sources)} ({place(entry)}, {entry.id})"
    return f"## {entry.title}\n\n{without_checks(entry.text)}\n\n{source}\n"
