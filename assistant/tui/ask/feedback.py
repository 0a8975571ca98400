"""Thumbs up and down: a line of JSON each, in a file of the user's that can be read and sent on by hand."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from assistant import paths

__all__ = ["file", "record"]

Verdict = Literal["up", "down"]


def file() -> Path:
    """Return the file that verdicts are added to."""
    return paths.home() / "feedback.jsonl"


def record(question: str, entry: str, verdict: Verdict) -> Path:
    """Add a verdict; return the file. Nothing leaves the machine.

    Args:
        question: as asked.
        entry: id of the entry that was shown; '' for an abstention or a calculation.
        verdict: thumb.

    Raises:
        OSError: the file cannot be written.
    """
    path = file()
    path.parent.mkdir(parents=True, exist_ok=True)
    row = {
        "question": question,
        "entry": entry,
        "verdict": verdict,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path
