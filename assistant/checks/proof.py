"""The check blocks of entries, run for an answer: each within its limit, all within a common one."""

import time
from collections.abc import Iterable
from typing import Final

from assistant.checks.types import Outcome
from kb.types import Entry

__all__ = ["outcomes"]

#: Seconds for one block, and for all blocks of an answer; what does not fit is skipped and says so.
ONE: Final = 1.0
ALL: Final = 2.0


def outcomes(entries: Iterable[Entry]) -> tuple[tuple[str, Outcome], ...]:
    """Return (entry id, outcome) of every check block of the entries, in order."""
    found: list[tuple[str, Outcome]] = []
    asked = [entry for entry in entries if "```toml check" in entry.text]
    if not asked:
        return ()
    # simcore and the table load only for answers that have something to compute; loading takes none of their time.
    from assistant.checks.fence import fences, run_fence

    until = time.monotonic() + ALL
    for entry in asked:
        for fence in fences(entry):
            left = until - time.monotonic()
            if left <= 0:
                found.append((entry.id, Outcome("?", {}, "skip", {}, {}, 0.0, f"the limit of {ALL:g} s was used up")))
            else:
                found.append((entry.id, run_fence(fence, limit=min(ONE, left))))
    return tuple(found)
