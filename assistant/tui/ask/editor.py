"""The source at its line in the user's editor."""

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from assistant import paths
from assistant.types import AnswerEntry

__all__ = ["command", "open_source"]

#: Editors that take the line as `-g FILE:LINE`, and as `FILE:LINE`; most others take `+LINE FILE`.
_GOTO = frozenset({"code", "code-insiders", "codium", "cursor"})
_COLON = frozenset({"subl", "hx", "helix", "zed", "micro"})


def command(path: Path, line: int) -> list[str] | None:
    """Return the command that opens a file at a line by `VISUAL` or `EDITOR`; None if neither is set."""
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        words = shlex.split(chosen)
    except ValueError:
        words = chosen.split()
    if not words:
        return None
    name = Path(words[0]).name
    if name in _GOTO:
        return [*words, "-g", f"{path}:{line}"]
    if name in _COLON:
        return [*words, f"{path}:{line}"]
    return [*words, f"+{line}", str(path)]


def open_source(app: App[Any], entry: AnswerEntry) -> tuple[str, dict[str, str]] | None:
    """Open an entry at its line; return the sentence that says why not, as its key and the values of its blanks."""
    path = paths.corpus_root() / entry.source.file
    place = f"{path}:{entry.line}"
    words = command(path, entry.line)
    if words is None:
        return "no_editor", {"path": place}
    try:
        with app.suspend():
            subprocess.run(words, check=False)
    except SuspendNotSupported:
        return "no_suspend", {"path": place}
    except OSError as error:
        return "editor_failed", {"command": words[0], "error": error.strerror or str(error)}
    return None
