"""The rotated files beside a log that is being followed, and what tells their contents apart."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from assistant.logs.gathering.rotation import rotation
from assistant.logs.unpack import CHUNK, unpack

__all__ = ["HEAD", "Key", "Mark", "Sibling", "content", "current", "key_of", "siblings"]

Key = tuple[int, int]
#: Unpacked size and first bytes: stays the same when a file is renamed, copied or packed.
Mark = tuple[int, bytes]

#: So many first bytes are in a mark.
HEAD = 4096
_GZIP = b"\x1f\x8b"
_SIZE_MODULUS = 1 << 32


@dataclass(frozen=True, slots=True)
class Sibling:
    """A file of the log: a rotated one, or the current one."""

    path: Path
    order: tuple[int, ...]
    """Oldest first."""
    key: Key
    mark: Mark
    is_packed: bool

    @property
    def size(self) -> int:
        """Unpacked, in bytes; of gzip as its last member says."""
        return self.mark[0]


def siblings(path: Path) -> tuple[Sibling, ...]:
    """Return the rotated files of the log `path`, oldest first; of a file and its packed copy the file.

    Raises:
        OSError: The directory cannot be read.
    """
    found: dict[tuple[int, ...], Sibling] = {}
    for name in os.listdir(path.parent):  # noqa: PTH208
        if not name.startswith(path.name.partition(".")[0]) or name == path.name:
            continue
        turn = _rotation(name)
        # Of gzip the last bytes tell the size; the others would have to be unpacked for it.
        if turn.base != path.name or turn.order == (2,) or name.endswith((".bz2", ".xz")):
            continue
        one = _sibling(path.parent / name, turn.order)
        if one and (turn.order not in found or not one.is_packed):
            found[turn.order] = one
    return tuple(found[order] for order in sorted(found))


def current(path: Path) -> Sibling | None:
    """Return the current file of a log; None if there is none or it cannot be read."""
    return _sibling(path, (2,))


def key_of(status: os.stat_result) -> Key:
    """Return what tells a file from all others while it exists."""
    return status.st_dev, status.st_ino


def content(fd: int, is_packed: bool, offset: int = 0) -> Iterator[bytes]:
    """Return the bytes of an open file from `offset` of its unpacked bytes; the place of the descriptor stays."""
    if not is_packed:
        while data := os.pread(fd, CHUNK, offset):
            yield data
            offset += len(data)
        return
    for portion in unpack(content(fd, False)):
        if offset < len(portion):
            yield portion[offset:]
        offset = max(offset - len(portion), 0)


def _sibling(path: Path, order: tuple[int, ...]) -> Sibling | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            return None
        head = os.pread(fd, HEAD, 0)
        is_packed = path.name.endswith(".gz") and head.startswith(_GZIP)
        mark = (status.st_size, head)
        if is_packed:
            mark = _packed_mark(path, key_of(status), status.st_size, status.st_mtime_ns)
        return Sibling(path, order, key_of(status), mark, is_packed)
    except OSError:
        return None
    finally:
        os.close(fd)


_rotation = lru_cache(maxsize=4096)(rotation)


# Unpacking costs more than a look; key, size and time make a changed file another one.
@lru_cache(maxsize=1024)
def _packed_mark(path: Path, key: Key, size: int, time_ns: int) -> Mark:
    with path.open("rb") as file:
        head = b""
        for portion in unpack(iter(lambda: file.read(HEAD), b"")):
            head += portion
            if len(head) >= HEAD:
                break
        file.seek(max(size - 4, 0))
        return int.from_bytes(file.read(4), "little") % _SIZE_MODULUS, head[:HEAD]
