"""The members of a tar or zip archive as byte streams; nothing is written to disk, and no member names a file there.

A packed tar file can be read only forward. Its members are cheap in their order, whoever reads them; going back starts
again from the beginning.
"""

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from assistant.logs.gathering.binary import HEAD
from assistant.logs.unpack import CHUNK, ENDINGS, chunks

__all__ = ["Member", "NotAnArchive", "is_archive", "members", "shown"]

_ENDINGS = (".tar", *(f".tar{one}" for one in ENDINGS), ".tgz", ".tbz2", ".txz", ".zip")
# A header asks for its own size; a hostile one for any.
_HEADER_MOST = 1 << 24
_ENCRYPTED, _UTF8 = 0x1, 0x800
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA})
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
# What the headers of a damaged or hostile tar file make the standard library raise.
_BAD_HEADER = (tarfile.TarError, ValueError, OverflowError, IndexError, RecursionError)


class NotAnArchive(Exception):
    """A file is not what its name says; the message says why."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive."""

    name: str
    """With the directories in the archive."""
    size: int
    """As the archive says, in bytes, unpacked."""
    head: bytes
    """Its first bytes; of a packed member packed."""
    why_not: str
    """Why it cannot be read; empty if it can."""
    read: Callable[[], Iterator[bytes]]
    """Returns its bytes in portions, to the end or to where the archive is damaged."""


def is_archive(name: str) -> bool:
    """Return whether a file name is one of an archive."""
    return name.lower().endswith(_ENDINGS)


def members(path: Path) -> tuple[Member, ...]:
    """Return the files in an archive, in its order; of a damaged one those before the damage.

    Raises:
        OSError: The archive cannot be read.
        NotAnArchive: It is none, or too damaged.
    """
    return tuple(_zip_members(path) if path.name.lower().endswith(".zip") else _tar_members(path))


def shown(name: bytes) -> str:
    """Return a file name as text: UTF-8, else GB18030, else with escapes."""
    for encoding in ("utf-8", "gb18030"):
        try:
            return name.decode(encoding)
        except UnicodeDecodeError:
            continue
    return name.decode("utf-8", "backslashreplace")


class _Tape:
    """The unpacked bytes of a tar file, by offset; holds one portion."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begin = 0
        self._kept = b""
        self._portions = chunks(path)

    def take(self, offset: int, most: int) -> bytes:
        """Return at least one and up to `most` bytes from `offset`; none after the end."""
        if offset < self._begin:
            self._begin, self._kept, self._portions = 0, b"", chunks(self._path)
        while offset >= self._begin + len(self._kept):
            portion = next(self._portions, None)
            if portion is None:
                return b""
            self._begin += len(self._kept)
            self._kept = portion
        cut = offset - self._begin
        return self._kept[cut : cut + most]


class _Headers:
    """The tape as the file that `tarfile` reads headers from; only forward, so that no header can make it loop."""

    def __init__(self, tape: _Tape) -> None:
        self._tape = tape
        self._at = 0

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int) -> int:
        if offset < self._at:
            raise tarfile.ReadError("a header leads back")
        self._at = offset
        return offset

    def read(self, size: int) -> bytes:
        if size > _HEADER_MOST:
            raise tarfile.ReadError("a header is too long")
        data = b""
        while len(data) < size and (more := self._tape.take(self._at, size - len(data))):
            data += more
            self._at += len(more)
        return data


def _tar_members(path: Path) -> Iterator[Member]:
    key = _key(path)
    tape = _tape(path, key)
    try:
        tar = tarfile.TarFile(fileobj=_Headers(tape), errorlevel=0)  # type: ignore[arg-type]
    except _BAD_HEADER as error:
        raise NotAnArchive(f"it is no tar archive ({error})") from None
    while True:
        try:
            info = tar.next()
        except _BAD_HEADER:
            return
        if info is None:
            return
        if info.isdir():
            continue
        why = "" if info.isreg() else "a link" if info.issym() or info.islnk() else "no file"
        why = "stored with holes" if info.issparse() else why
        name = shown(info.name.encode("utf-8", "surrogateescape"))
        head = b"" if why else b"".join(_of_tape(path, key, info.offset_data, min(info.size, HEAD)))
        yield Member(name, info.size, head, why, partial(_of_tape, path, key, info.offset_data, info.size))


def _of_tape(path: Path, key: tuple[int, ...], offset: int, size: int) -> Iterator[bytes]:
    end = offset + size
    while offset < end and (data := _tape(path, key).take(offset, min(CHUNK, end - offset))):
        yield data
        offset += len(data)


def _zip_members(path: Path) -> Iterator[Member]:
    key = _key(path)
    try:
        infos = _zip(path, key).infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise NotAnArchive(f"it is no zip archive ({error})") from None
    for info in infos:
        if info.is_dir():
            continue
        why = "a link" if stat.S_ISLNK(info.external_attr >> 16) else ""
        why = "encrypted" if info.flag_bits & _ENCRYPTED else why
        why = why if info.compress_type in _METHODS else "packed in an unknown way"
        name = info.filename if info.flag_bits & _UTF8 else shown(info.filename.encode("cp437", "replace"))
        read = partial(_of_zip, path, key, info)
        yield Member(name, info.file_size, b"" if why else next(read(HEAD), b""), why, read)


def _of_zip(path: Path, key: tuple[int, ...], info: zipfile.ZipInfo, size: int = CHUNK) -> Iterator[bytes]:
    archive = _zip(path, key)
    try:
        with archive.open(info) as file:
            while data := file.read(size):
                yield data
    except _DAMAGE:
        return


# Few stay open, however many archives there are; the key makes a changed archive another one.
@lru_cache(maxsize=4)
def _tape(path: Path, key: tuple[int, ...]) -> _Tape:
    return _Tape(path)


@lru_cache(maxsize=4)
def _zip(path: Path, key: tuple[int, ...]) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


def _key(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
