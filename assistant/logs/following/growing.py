"""Reads a file that grows, through its rotations; each byte once.

look: list the rotated files -> read on -> is the file still what was read before? -> is it still the one of that name?
move on: find what was read among the files of the log -> read the rest of it -> read every newer one -> the new file

The descriptor of the file stays open, so a renamed, packed or deleted file is read to its end. A truncated one is
known by its size or by other bytes before the place that was reached; its rest is in a copy, if there is one. Files are
known by their inode, copies and packed ones by their first bytes and unpacked size.
"""

import os
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from assistant.logs.following.events import Data, Event, Lost, Restarted, Waiting
from assistant.logs.following.route import FLAGS, Reader, Route, is_ahead, marks, route
from assistant.logs.following.siblings import Mark, Sibling, content, current, key_of, siblings

__all__ = ["Growing"]

# A file changed again within so long may show the same time.
_TICK_NS = 50_000_000
_TRIES = 10
# So many looks a rotation may take to show all its files.
_SETTLE_LOOKS = 4
# A replaced file stays open for so many looks.
_LATE_LOOKS = 200


class Growing:
    """Owns the descriptors of a followed file."""

    def __init__(self, path: Path, from_end: bool) -> None:
        self._path = path
        self._from_end = from_end
        self._reader: Reader | None = None
        self._late: Reader | None = None
        self._late_looks = 0
        self._known: frozenset[Mark] = frozenset()
        self._seen: tuple[int, ...] = ()
        self._reason = ""
        self._unsettled = 0

    def close(self) -> None:
        """Close all descriptors."""
        self._drop_late()
        if self._reader:
            os.close(self._reader.fd)
        self._reader = None

    def look(self) -> Iterator[Event]:
        """Return what happened since the last look; nothing if nothing did."""
        try:
            if self._reader is None:
                yield from self._begin()
            elif not self._is_unchanged():
                yield from self._read_on(self._reader)
            yield from self._read_late()
        except OSError as error:
            yield from self._wait(error.strerror or str(error))

    def _wait(self, reason: str) -> Iterator[Event]:
        if reason and reason != self._reason:
            yield Waiting(f"{self._path}: {reason}")
        self._reason = reason

    def _begin(self) -> Iterator[Event]:
        self._real = Path(os.path.realpath(self._path))
        self._known = marks(siblings(self._real))
        self._reader = reader = _open(self._path)
        if self._from_end:
            reader.skip()
        yield from self._wait("")
        yield from self._read_on(reader)

    def _is_unchanged(self) -> bool:
        """Return whether the file is as it was when its end was reached, for certain."""
        assert self._reader is not None
        return bool(self._seen) and self._seen == self._status()

    def _status(self) -> tuple[int, ...]:
        """Return size and times of the file, and which file has its name; empty if that may not show a change."""
        assert self._reader is not None
        status = os.fstat(self._reader.fd)
        changed_ns = max(status.st_mtime_ns, status.st_ctime_ns)
        if time.time_ns() - changed_ns < _TICK_NS:
            return ()
        try:
            key = key_of(self._path.stat())
        except OSError:
            return ()
        return status.st_size, status.st_mtime_ns, status.st_ctime_ns, *key

    def _read_on(self, reader: Reader) -> Iterator[Event]:
        while True:
            # Before the listing: what changes behind it is looked at again.
            seen = self._status()
            listed = siblings(self._real)
            data = reader.read()
            if not reader.is_intact(len(data)) or is_ahead(reader, listed, self._known, data):
                yield from self._move_on(reader, is_intact=False)
                return
            if not data:
                break
            reader.advance(data)
            yield Data(data)
        try:
            status = self._path.stat()
        except OSError as error:
            yield from self._wait(error.strerror or str(error))
            return
        if key_of(status) == reader.key:
            self._known, self._seen = marks(listed), seen
            reader.time_ns = seen[1] if seen else None
            yield from self._wait("")
        elif not stat.S_ISREG(status.st_mode):
            yield from self._wait("is no file any more")
        else:
            yield from self._move_on(reader, is_intact=True)

    def _move_on(self, reader: Reader, is_intact: bool) -> Iterator[Event]:
        """Read the rest of what was being read, and every file since then."""
        for _ in range(_TRIES):
            real = Path(os.path.realpath(self._path))
            files = self._files(reader, real)
            if not files:
                # Says why, if it can.
                os.close(_open(self._path).fd)
                return
            way = route(reader, files, self._known, is_intact)
            if is_intact and not any(one.size and not reader.is_at(one) for one in way.chain):
                # Its writer may not have turned to the new file yet.
                return
            if way.may_settle and self._unsettled < _SETTLE_LOOKS:
                self._unsettled += 1
                return
            opened = _open_all(way.chain)
            again = self._files(reader, real)
            if opened and [(one.path, one.key) for one in again] == [(one.path, one.key) for one in files]:
                self._real = real
                yield from self._take(reader, way, opened, is_intact)
                return
            for fd in opened:
                os.close(fd)

    def _files(self, reader: Reader, real: Path) -> tuple[Sibling, ...]:
        """Return the files of the log, oldest first, with the current one; none if that cannot be read."""
        before = current(self._real)
        listed = (before,) if real != self._real and before and before.key == reader.key else siblings(real)
        newest = current(real)
        return (*listed, newest) if newest else ()

    def _take(self, reader: Reader, way: Route, opened: list[int], is_intact: bool) -> Iterator[Event]:
        """Read the files of a route and turn to its last, whatever happens to the files from here on."""
        newest = Reader(opened[-1], way.chain[-1].key)
        self._drop_late()
        self._unsettled = 0
        self._known, self._reader, self._late, self._seen, self._reason = way.known, newest, reader, (), ""
        is_own = [is_intact and reader.is_at(one) for one in way.chain]
        why = "truncated" if newest.key == reader.key else "replaced by a new file"
        try:
            if is_intact and not way.is_ours:
                yield from _rest(reader)
            is_first, doubt = way.is_ours, way.doubt
            for one, fd, own in zip(way.chain, opened, is_own, strict=True):
                if not is_first:
                    if doubt:
                        yield Lost(f"{self._path}: {doubt}")
                    yield Restarted(f"{self._path}: {why}")
                    doubt = ""
                if own:
                    yield from _rest(reader)
                elif fd != newest.fd:
                    yield from map(Data, content(fd, one.is_packed, reader.position if is_first else 0))
                is_first = False
        finally:
            for fd in opened[:-1]:
                os.close(fd)
        if not is_intact:
            self._drop_late()

    def _read_late(self) -> Iterator[Event]:
        """Return what a writer that did not notice the rotation still writes to the old file."""
        reader = self._late
        if reader is None:
            return
        self._late_looks += 1
        if self._late_looks > _LATE_LOOKS or not reader.is_intact():
            self._drop_late()
        elif data := reader.read():
            reader.advance(data)
            yield Restarted(f"{self._path}: late lines in the file before")
            yield Data(data)
            yield Restarted(f"{self._path}: back in the current file")

    def _drop_late(self) -> None:
        if self._late:
            os.close(self._late.fd)
        self._late, self._late_looks = None, 0


def _rest(reader: Reader) -> Iterator[Data]:
    while data := reader.read():
        reader.advance(data)
        yield Data(data)


def _open(path: Path) -> Reader:
    fd = os.open(path, FLAGS)
    return Reader(fd, key_of(os.fstat(fd)))


def _open_all(chain: Sequence[Sibling]) -> list[int]:
    """Return a descriptor for each file; none if one is not what it was any more."""
    opened: list[int] = []
    for one in chain:
        try:
            reader = _open(one.path)
        except OSError:
            break
        opened.append(reader.fd)
        if reader.key != one.key:
            break
    else:
        return opened
    for fd in opened:
        os.close(fd)
    return []
