"""Chinese lines break between any two characters in every widget: Textual breaks lines at spaces only."""

from rich._wrap import divide_line
from textual import content

from assistant.tui.wrapping import breaks

__all__ = ["break_chinese"]


def break_chinese() -> None:
    """Let all widgets of this process break lines so."""
    content.divide_line = _offsets  # type: ignore[attr-defined]


def _offsets(text: str, width: int, fold: bool = True) -> list[int]:
    """Return the offsets at which a line is cut, as `divide_line` does.

    Args:
        text: one line.
        width: cells.
        fold: whether a word that is too long is cut, too.
    """
    return breaks(text, max(1, width)) if fold and not text.isascii() else divide_line(text, width, fold)
