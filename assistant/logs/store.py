"""What a scan of logs keeps: lines as bytes, by the text that was found in them."""

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from assistant.logs.decode import Form

__all__ = ["Hit", "Store", "Suspect", "hits_of"]


class Hit(NamedTuple):
    """A line with a text that is looked for, or a few lines that a terminal may have broken."""

    log: int
    number: int
    """Of the first line."""
    start: int
    """Offset of the first byte in the log."""
    raw: bytes
    """The bytes of the line or lines, without the last line end."""
    piece: int
    """As in `Line`."""
    form: Form
    before: bytes
    """Whole lines before it, for a line that may continue a record."""


@dataclass(slots=True)
class Suspect:
    """Lines of alarm of one form."""

    count: int
    first: Hit


@dataclass(slots=True)
class Store:
    """What was found in all logs of an incident."""

    hits: dict[int, list[Hit]] = field(default_factory=dict)
    """Per number of a text."""
    suspects: dict[bytes, Suspect] = field(default_factory=dict)
    """Per form: the bytes of the line without digits."""
    others: int = 0
    """Lines of alarm of further forms."""
    matched_lines: int = 0
    """With a text that is no alarm."""
    alarm_lines: int = 0
    """Lines of alarm that were counted by their form."""
    are_alarms_cut: bool = False
    """Whether there may be more of them, of any form."""
    lines: int = 0
    bytes: int = 0

    def copy(self) -> "Store":
        """Return a copy that can grow on its own."""
        return Store(
            {number: list(hits) for number, hits in self.hits.items()},
            {form: copy.copy(suspect) for form, suspect in self.suspects.items()},
            self.others,
            self.matched_lines,
            self.alarm_lines,
            self.are_alarms_cut,
            self.lines,
            self.bytes,
        )


def hits_of(store: Store, numbers: Iterable[int], most: int | None = None) -> Iterator[Hit]:
    """Return the hits of several texts, at most the first so many of each, in the order of the logs, each once."""
    found = {(hit.log, hit.start): hit for number in numbers for hit in store.hits.get(number, [])[:most]}
    return (found[place] for place in sorted(found))
