"""A file at its line in the user's editor."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from assistant.tui.words import Words, explained

__all__ = ["command", "edit"]

#: Editors that take `--goto FILE:LINE`, and those that take `FILE:LINE`; all others take `+LINE FILE`.
_GOTO = frozenset({"code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"})
_COLON = frozenset({"subl", "hx", "helix", "zed"})


def command(file: Path, line: int) -> list[str]:
    """Return the command that opens a file at a line by `VISUAL` or else `EDITOR`; empty if neither names an editor."""
    words = _words(os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip())
    if not words:
        return []
    name = Path(words[0]).name
    if name in _GOTO:
        return [*words, "--goto", f"{file}:{line}"]
    if name in _COLON:
        return [*words, f"{file}:{line}"]
    return [*words, f"+{line}", str(file)]


def _words(chosen: str) -> list[str]:
    """Return an editor and its arguments; a path with spaces that nobody quoted is one word."""
    if shutil.which(chosen):
        return [chosen]
    try:
        return shlex.split(chosen)
    except ValueError:
        return [chosen]


def edit(app: App[Any], file: Path, line: int, say: Words) -> str:
    """Open a file at a line, wait for the editor, and return what went wrong as a sentence; empty if nothing did."""
    words = command(file, line)
    if not words:
        return say("no_editor", file=file, line=line)
    try:
        with app.suspend():
            code = subprocess.run(words, check=False).returncode
    except SuspendNotSupported:
        return say("no_suspend", file=file, line=line)
    except OSError as error:
        return say("editor_failed", editor=words[0], error=explained(error.strerror or str(error), say))
    return say("editor_failed", editor=words[0], error=code) if code else ""
