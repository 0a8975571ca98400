"""Open a file in the user's editor at a line."""

import os
import shlex
from pathlib import Path

__all__ = ["command"]

_WITH_COLON = frozenset({"code", "codium", "code-insiders", "cursor", "subl", "hx", "helix", "zed"})
_NEEDS_WAIT = {"code": ["--wait", "--goto"], "codium": ["--wait", "--goto"], "code-insiders": ["--wait", "--goto"]}


def command(file: Path, line: int) -> list[str]:
    """Return the command that opens a file at a line; empty if neither VISUAL nor EDITOR names an editor."""
    try:
        editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    except ValueError:
        return []
    if not editor:
        return []
    name = Path(editor[0]).name
    if name in _WITH_COLON:
        extra = [one for one in _NEEDS_WAIT.get(name, []) if one not in editor]
        return [*editor, *extra, f"{file}:{line}"]
    return [*editor, f"+{line}", str(file)]
