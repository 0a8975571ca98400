"""What the window remembers: language, theme, area, and what each area keeps."""

import json
from pathlib import Path
from typing import Any

from assistant import paths

__all__ = ["load", "save"]

VERSION = 1


def _file() -> Path:
    return paths.home() / "window.json"


def load() -> dict[str, Any]:
    """Return what was saved; empty if there is nothing, or nothing that can be read."""
    try:
        data = json.loads(_file().read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) and data.get("version") == VERSION else {}


def save(data: dict[str, Any]) -> None:
    """Save for the next start, all or nothing; a directory that cannot be written is left alone."""
    path = _file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps({"version": VERSION, **data}, ensure_ascii=False), "utf-8")
        new.replace(path)
    except OSError:
        return
