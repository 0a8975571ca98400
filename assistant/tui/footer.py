"""The keys of the footer that have room: what is left out stays in the help and the palette."""

from collections.abc import Iterable

from rich.cells import cell_len
from textual.widget import Widget
from textual.widgets._footer import FooterKey

__all__ = ["fitting"]

_FIRST_TO_GO = "jump"
_LAST_TO_GO = frozenset({"help", "quit"})
_PALETTE = "-command-palette"


def fitting(keys: Iterable[Widget], room: int) -> list[Widget]:
    """Return the keys that fit into a line; jumping gives way, then the last ones of the area, then help and leaving.

    Args:
        keys: of the area, then of the window.
        room: cells.
    """
    found = [*keys]
    while sum(map(_width, found)) > room and (loser := _loser(found)) is not None:
        found.remove(loser)
    return found


def _loser(keys: Iterable[Widget]) -> Widget | None:
    named = [one for one in keys if isinstance(one, FooterKey) and not one.has_class(_PALETTE)]
    of_area = [one for one in named if one.action not in _LAST_TO_GO]
    first = next((one for one in named if one.action == _FIRST_TO_GO), None)
    return first or next(reversed(of_area or named), None)


def _width(key: Widget) -> int:
    if not isinstance(key, FooterKey):
        return 0
    # A space before and after the key, one after its name; the palette has a border.
    return cell_len(key.key_display) + cell_len(key.description) + 3 + key.has_class(_PALETTE)
