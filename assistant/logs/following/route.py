"""Where the bytes of a followed log lie after rotations: what was read is found, what is newer has to be read.

A file that is as it was is found by its inode, or packed by its mark. The copy of a truncated one is found by the bytes
that were read of it. Everything newer than that is unread, and as rotation deletes the oldest first, all of it is
there. If too little was read to tell one file from another, the newest file that was known before is the landmark.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from assistant.logs.following.siblings import HEAD, Key, Mark, Sibling, content
from assistant.logs.unpack import CHUNK

__all__ = ["FLAGS", "Reader", "Route", "is_ahead", "marks", "route"]

FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
# So many bytes before the place that was reached must be the same again.
_TAIL = 4096
# So many bytes that were read tell one file from every other.
_TELLING = 256


@dataclass(slots=True)
class Reader:
    """An open file and how far it was read."""

    fd: int
    key: Key
    position: int = 0
    head: bytes = b""
    """The first bytes that were read."""
    tail: bytes = b""
    """The last bytes that were read."""
    time_ns: int | None = None
    """Of the last change that was seen, once it was so long ago that any further change shows another time."""

    def read(self) -> bytes:
        """Return the next bytes without passing them."""
        return os.pread(self.fd, CHUNK, self.position)

    def advance(self, data: bytes) -> None:
        """Pass the bytes that were read."""
        self.position += len(data)
        self.head += data[: HEAD - len(self.head)]
        self.tail = (self.tail + data)[-_TAIL:]

    def skip(self) -> None:
        """Pass all that is there."""
        self.head = os.pread(self.fd, HEAD, 0)
        start = max(os.fstat(self.fd).st_size - _TAIL, 0)
        self.tail = os.pread(self.fd, _TAIL, start)
        self.position = start + len(self.tail)
        self.head = self.head[: self.position]

    def is_intact(self, more: int = 0) -> bool:
        """Return whether what was read, and `more` bytes, are still there."""
        if os.fstat(self.fd).st_size < self.position + more:
            return False
        tail = os.pread(self.fd, len(self.tail), self.position - len(self.tail))
        return tail == self.tail and os.pread(self.fd, len(self.head), 0) == self.head

    def is_at(self, one: Sibling) -> bool:
        """Return whether a file is the one that is read, or the packed form of it, as long as it is intact."""
        if one.is_packed:
            return one.size > 0 and one.mark == (os.fstat(self.fd).st_size, os.pread(self.fd, HEAD, 0))
        return one.key == self.key

    def is_held_by(self, one: Sibling) -> bool:
        """Return whether a file begins with what was read, or is the beginning of that."""
        shared = min(len(self.head), len(one.mark[1]))
        if one.mark[1][:shared] != self.head[:shared]:
            return False
        if self.position <= HEAD or one.size < self.position:
            return True
        return _bytes_of(one, self.position - len(self.tail), len(self.tail)) == self.tail


@dataclass(frozen=True, slots=True)
class Route:
    """What is to be read."""

    chain: tuple[Sibling, ...]
    """Oldest first; the last is the current file."""
    is_ours: bool
    """Whether the first of the chain holds what was read before."""
    doubt: str
    """Why bytes may be missing; empty if none can be."""
    known: frozenset[Mark]
    """The marks of the rotated files."""

    @property
    def may_settle(self) -> bool:
        """Whether the doubt may come from a rotation that is just going on."""
        return self.doubt in (_UNTOLD, _MISSING)


def marks(listed: Iterable[Sibling]) -> frozenset[Mark]:
    """Return what to know rotated files by."""
    return frozenset(one.mark for one in listed if one.size)


def is_ahead(reader: Reader, listed: Sequence[Sibling], known: frozenset[Mark], data: bytes) -> bool:
    """Return whether a new copy holds bytes behind those read that the file does not have: it was truncated.

    Args:
        reader: of the file; if enough of it was read, `is_intact` tells it without copies.
        listed: the rotated files before `data` was read: a copy that was just being made held no more than the file.
        known: the rotated files that are no new copies.
        data: what the file has behind the bytes read.
    """
    if reader.position >= _TELLING:
        return False
    for one in listed:
        if one.key == reader.key:
            return False
        ahead = one.mark[1][reader.position :]
        if one.mark not in known and reader.is_held_by(one) and data[: len(ahead)] != ahead:
            return True
    return False


def route(reader: Reader, files: Sequence[Sibling], known: frozenset[Mark], is_intact: bool) -> Route:
    """Return what is to be read after a file was replaced or truncated.

    Args:
        reader: of the file that was being read.
        files: of the log, oldest first; the last is the current one.
        known: the marks of the rotated files that were there while it was the current one.
        is_intact: whether the file is as it was, but for bytes behind those read.
    """
    newest = files[-1]
    later = (*files[1:], newest)
    kept = tuple(
        one
        for one, after in zip(files, later, strict=True)
        if one is newest or reader.is_at(one) or (one.size and (one.mark in known or not _begins(after, one)))
    )
    landmark = max((i for i, one in enumerate(kept[:-1]) if one.mark in known and one.key != reader.key), default=None)
    first, is_ours, doubt = _first(reader, kept, known, is_intact, landmark)
    if first is None:
        after = 0 if landmark is None else landmark + 1
        chain = tuple(one for one in kept[after:-1] if one.mark not in known and not reader.is_at(one))
    else:
        chain = kept[first:-1]
        doubt = doubt or _gap(files[files.index(kept[first]) : -1])
    dropped = marks(one for one in files if one not in kept)
    return Route((*chain, newest), is_ours and bool(chain), doubt, marks(files[:-1]) - dropped)


def _first(
    reader: Reader, files: Sequence[Sibling], known: frozenset[Mark], is_intact: bool, landmark: int | None
) -> tuple[int | None, bool, str]:
    """Return the index of the first file to read, whether it holds what was read, and why bytes may be missing."""
    if is_intact:
        return _first_after_intact(reader, files, known, landmark)
    is_telling = reader.position >= _TELLING
    found = [i for i, one in enumerate(files[:-1]) if one.size and reader.is_held_by(one)]
    if is_telling and found:
        whole = [i for i in found if files[i].size >= reader.position]
        return (whole or found)[-1], True, "" if whole else _SHORT
    found = [i for i in found if files[i].mark not in known]
    if is_telling or (landmark is None and not found):
        return None, False, _TRUNCATED
    if landmark is None:
        return found[0], True, _UNTOLD
    if reader.position and _holds_all(reader, files[landmark]):
        return landmark, True, ""
    is_ours = _holds_all(reader, files[landmark + 1])
    return landmark + 1, is_ours, "" if is_ours else _TRUNCATED


def _first_after_intact(
    reader: Reader, files: Sequence[Sibling], known: frozenset[Mark], landmark: int | None
) -> tuple[int | None, bool, str]:
    own = max((i for i, one in enumerate(files) if reader.is_at(one)), default=None)
    if own is None:
        is_empty = not os.fstat(reader.fd).st_size
        return (None, False, _GONE) if landmark is None or not is_empty else (landmark + 1, True, "")
    if reader.position or (landmark is not None and landmark > own):
        return own, True, ""
    # Nothing was read of it: a copy may hold bytes that were cut off before.
    if landmark is not None:
        return landmark + 1, True, ""
    if os.fstat(reader.fd).st_mtime_ns == reader.time_ns:
        return own, True, ""
    first = own
    while first and files[first - 1].mark not in known:
        first -= 1
    return first, True, _UNTOLD if known or first < own else ""


_GONE = "the file that was being read has gone, and others may have come and gone since"
_TRUNCATED = "the file was truncated, and no copy holds what may have been written before that"
_SHORT = "the file was truncated after more had been written than its copy holds"
_UNTOLD = "too little had been read to find the place again for certain"
_MISSING = "a rotated file is missing"


def _holds_all(reader: Reader, one: Sibling) -> bool:
    return one.size >= reader.position and reader.is_held_by(one)


def _gap(chain: Sequence[Sibling]) -> str:
    """Return why a file may be missing: the numbers do not go down to 1 (or 0) one by one."""
    numbers = [-one.order[1] for one in chain if one.order[0] == 1]
    is_whole = not numbers or (numbers[-1] in (0, 1) and all(a - b == 1 for a, b in pairwise(numbers)))
    return "" if is_whole else _MISSING


def _begins(after: Sibling, one: Sibling) -> bool:
    """Return whether a file begins with all of another: that is a copy, and it was not truncated since."""
    if after.size < one.size or not after.mark[1].startswith(one.mark[1]):
        return False
    if one.size <= HEAD:
        return True
    place = one.size - _TAIL
    end = _bytes_of(one, place, _TAIL)
    return bool(end) and end == _bytes_of(after, place, _TAIL)


def _bytes_of(one: Sibling, offset: int, size: int) -> bytes:
    """Return bytes of a file; none if it is not the same file any more."""
    try:
        fd = os.open(one.path, FLAGS)
    except OSError:
        return b""
    try:
        data = b""
        for portion in content(fd, one.is_packed, offset):
            data += portion
            if len(data) >= size:
                break
        return data[:size]
    finally:
        os.close(fd)
