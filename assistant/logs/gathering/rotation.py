"""A file name -> which log it belongs to, and how old it is among the files of that log.

app.log.2.gz, app.log.1, app.2.log   numbers: the higher, the older
app.log-20260101, app.log.2026-01-01 dates: the later, the newer; a number after the date counts upwards
worker-1234_20260101010101.log       one file for each start: of the same process the later, the newer
app.log                              the newest
"""

import re
from dataclasses import dataclass

from assistant.logs.unpack import name_unpacked

__all__ = ["Turn", "rotation"]

_DATE = r"(?P<date>(?:19|20)\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01]))(?P<more>\d{0,9}(?:[-_.T:]\d{1,10}){0,6})"
_ENDING = r"\.(?:log|txt|out|err)"
_STARTED = re.compile(rf"(?P<base>.+[-_]\d+)_(?P<time>\d{{14,17}})(?P<ending>{_ENDING})")
_DATED = re.compile(rf"(?P<base>.+?)[-._]{_DATE}")
_NUMBERED = re.compile(r"(?P<base>.+)\.(?P<number>\d{1,4})")
_DATED_WITHIN = re.compile(rf"(?P<base>.+?)[-._]{_DATE}(?P<ending>{_ENDING})")
_NUMBERED_WITHIN = re.compile(rf"(?P<base>.+)\.(?P<number>\d{{1,4}})(?P<ending>{_ENDING})")
_LOG = re.compile(rf".+{_ENDING}", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Turn:
    """The place of a file in its log."""

    base: str
    """Name of the newest file of the log, as if it were there."""
    order: tuple[int, ...]
    """Oldest first; the same for `app.log.1` and `app.log.1.gz`."""
    is_sure: bool
    """Whether the name alone says so; otherwise only together with a file named `base`."""


def rotation(name: str) -> Turn:
    """Return the place of a file, given by its name without directory; one that is not rotated is its own newest."""
    name = name_unpacked(name)
    if found := _STARTED.fullmatch(name):
        return Turn(found["base"] + found["ending"], (0, int(found["time"].ljust(17, "0"))), True)
    # The ending tells `app.2026-01-01.log` from the rotated file of a log called `app.2026-01-01`.
    for pattern in (_DATED_WITHIN, _NUMBERED_WITHIN):
        if found := pattern.fullmatch(name):
            return Turn(found["base"] + found["ending"], _order(found.groupdict()), False)
    for pattern in (_DATED, _NUMBERED):
        if found := pattern.fullmatch(name):
            return Turn(found["base"], _order(found.groupdict()), _LOG.fullmatch(found["base"]) is not None)
    return Turn(name, (2,), True)


def _order(fields: dict[str, str]) -> tuple[int, ...]:
    if "number" in fields:
        return (1, -int(fields["number"]))
    return (0, int(fields["date"].replace("-", "")), *map(int, _DIGITS.findall(fields["more"])))
