"""The next row with a text, from a row on, forwards or backwards, block by block and round the end."""

import re
from collections.abc import Callable

from assistant.logs.decode import Block
from assistant.plain import printable
from assistant.tui.logs.rows import Rows

__all__ = ["find", "found_in", "shown"]

_TAB = "    "
_FOREIGN = re.compile(r"[^\x00-\x7f]+")


def shown(text: str) -> str:
    """Return a row as the view shows it: nothing in it drives a terminal, and tabs have a width."""
    return printable(text.replace("\t", _TAB))


def found_in(text: str, query: str) -> list[tuple[int, int]]:
    """Return where a text has the query, in any case; places of the text as it is shown."""
    low, wanted = text.lower(), query.lower()
    if not wanted or len(low) != len(text):
        low, wanted = text, query
    places, at = [], low.find(wanted) if wanted else -1
    while at >= 0:
        places.append((at, at + len(wanted)))
        at = low.find(wanted, at + len(wanted))
    return places


def find(
    rows: Rows, query: str, row: int, *, back: bool, stop: Callable[[], bool], on_block: Callable[[int], object]
) -> int | None:
    """Return the nearest row behind (or before) `row` that has a text, going round; None if there is none.

    Args:
        rows: of the log.
        query: what to find, in any case.
        row: where to begin; it is looked at last.
        back: upwards.
        stop: is asked before each block; the answer is None then.
        on_block: is told how many blocks have been looked at.
    """
    total = rows.blocks
    begin = rows.place(row)
    wanted = _wanted(query)
    for step in range(total + 1):
        if stop():
            return None
        place = (begin - step if back else begin + step) % total if total else 0
        on_block(step)
        block = rows.bytes_of(place)
        if not _may_have(block, wanted):
            continue
        first = rows.first(place)
        found = [first + i for i, line in enumerate(block.lines()) if found_in(shown(line.text), query)]
        if step == 0:
            found = [one for one in found if (one < row if back else one > row)]
        elif step == total:
            found = [one for one in found if (one >= row if back else one <= row)]
        if found:
            return found[-1] if back else found[0]
    return None


def _wanted(query: str) -> tuple[bytes, ...]:
    """Return bytes of which a plain block with the query has some; empty if only decoding can tell."""
    foreign = _FOREIGN.findall(query)
    if any(mark in query for mark in ("\\", "  ", "\ufffd")) or query.lower() != query.upper().lower():
        return ()
    if not foreign:
        return (query.lower().encode(),)
    longest = max(foreign, key=len)
    if longest.lower() != longest.upper():
        return ()
    return longest.encode("utf-8", "replace"), longest.encode("gb18030", "replace")


def _may_have(block: Block, wanted: tuple[bytes, ...]) -> bool:
    if not wanted or not block.is_plain:
        return bool(block.data)
    data = block.data.lower() if wanted[0].isascii() else block.data
    return any(one in data for one in wanted)
