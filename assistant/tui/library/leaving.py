"""What leaves the window: an entry for the clipboard, its source in the user's editor."""

import subprocess
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from assistant.tui.library.editor import command
from assistant.tui.words import Words
from kb.parse import without_checks
from kb.types import Entry

__all__ = ["citation", "edit", "place"]


def place(entry: Entry) -> str:
    """Return where an entry stands, for people and for `grep`."""
    return f"corpus/{entry.span.file}:{entry.line}"


def citation(entry: Entry, say: Words) -> str:
    """Return an entry as Markdown with its sources and its place."""
    source = f"{say('source')}: {'; '.join(entry.sources)} ({place(entry)}, {entry.id})"
    return f"## {entry.title}\n\n{without_checks(entry.text)}\n\n{source}\n"


def edit(app: App[Any], file: Path, line: int, say: Words) -> str:
    """Open a file at a line, wait for the editor, and return what went wrong as a sentence; empty if nothing did."""
    asked = command(file, line)
    if not asked:
        return say("no_editor", file=file, line=line)
    try:
        with app.suspend():
            code = subprocess.run(asked, check=False).returncode
    except SuspendNotSupported:
        return say("no_suspend", file=file, line=line)
    except OSError as error:
        return say("editor_failed", editor=asked[0], error=error.strerror or str(error))
    app.refresh(layout=True)
    return say("editor_failed", editor=asked[0], error=code) if code else ""
