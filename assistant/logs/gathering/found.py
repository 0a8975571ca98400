"""The files that the user's paths lead to: each with its name and how to read it, or why it is not read."""

import errno
import io
import os
import stat
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from assistant.errors import BadInput
from assistant.logs.gathering.archives import Member, NotAnArchive, is_archive, members, shown
from assistant.logs.gathering.binary import HEAD, not_a_log, unreadable
from assistant.logs.unpack import CHUNK, unpack

__all__ = ["STANDARD_INPUT", "Found", "found", "name_shown"]

STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class Found:
    """A file on disk or in an archive, or standard input."""

    name: str
    """As shown to the user."""
    folder: str
    """Directory, with links resolved, or archive and directory in it: where files rotated together lie."""
    file: str
    """Name without directory."""
    key: Hashable
    """Tells it from every other file, by whatever path it is reached."""
    size: int | None
    why_not: str
    """Why it is not read; empty if it is."""
    read: Callable[[], Iterator[bytes]]


def found(paths: Sequence[str]) -> Iterator[Found]:
    """Return the files in the order of the paths, those of a directory sorted; one may come more than once.

    Raises:
        BadInput: A path is missing or cannot be read, or an archive is none.
    """
    listed: set[Hashable] = set()
    for path in paths:
        if path == STANDARD_INPUT:
            yield Found("standard input", "", "", STANDARD_INPUT, None, "", _standard_input)
            continue
        if not path:
            raise BadInput("an empty path names no file; give a file, a directory or '-'")
        try:
            yield from _given(path, listed)
        except FileNotFoundError:
            raise BadInput(f"{name_shown(path)}: there is no such file; check the name and the directory") from None
        except PermissionError as error:
            cure = "ask for the right to read it, or copy it as its owner"
            raise BadInput(f"{name_shown(path)}: cannot be read: {error.strerror}; {cure}") from None
        except OSError as error:
            cure = "give a file, a directory or '-'"
            raise BadInput(f"{name_shown(path)}: cannot be read: {error.strerror or error}; {cure}") from None
        except NotAnArchive as error:
            raise BadInput(f"{name_shown(path)}: cannot be read: {error}; unpack it, or give another file") from None


def _given(path: str, listed: set[Hashable]) -> Iterator[Found]:
    """Return the files of a path that the user gave."""
    if "\0" in path:
        raise FileNotFoundError
    status = Path(path).stat()
    if stat.S_ISDIR(status.st_mode):
        next(Path(path).iterdir(), None)
        yield from _walk(Path(path), listed)
    else:
        _check_readable(path, status)
        yield from _file(Path(path), status, listed)


def _check_readable(path: str, status: os.stat_result) -> None:
    """Raise if a file cannot be opened; a pipe is not, as that would wait for its writer and could eat its bytes.

    A file that the user gave is read whatever it is; but packed bytes taken for text would look clean.
    """
    if stat.S_ISREG(status.st_mode):
        if what := unreadable(_stored_at(Path(path), 0)):
            raise NotAnArchive(what)
    elif stat.S_ISSOCK(status.st_mode):
        raise OSError("it is a socket")
    elif not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _walk(top: Path, listed: set[Hashable]) -> Iterator[Found]:
    """Return the files below a directory. Links to files are followed, links to directories are not."""
    pending = [top]
    while pending:
        path = pending.pop()
        try:
            if path is not top and path.name.startswith("."):
                status = path.stat()
                yield _skipped(path, "hidden", (status.st_dev, status.st_ino))
            elif path.is_symlink() and path is not top and path.is_dir():
                yield _skipped(path, "a link to a directory; give it by itself to read it")
            elif path.is_dir():
                pending += sorted(path.iterdir(), reverse=True)
            else:
                yield from _met(path, listed)
        except OSError as error:
            yield _skipped(path, error.strerror or str(error))


def _met(path: Path, listed: set[Hashable]) -> Iterator[Found]:
    """Return a file that was met in a directory."""
    try:
        status = path.stat()
    except FileNotFoundError:
        yield _skipped(path, "a link to nothing")
        return
    if not stat.S_ISREG(status.st_mode):
        yield _skipped(path, "a pipe, socket or device", (status.st_dev, status.st_ino))
        return
    if is_archive(path.name):
        try:
            yield from _file(path, status, listed)
        except NotAnArchive as error:
            yield _skipped(path, str(error))
        return
    head = _head(_stored_at(path, 0))
    # A log that was truncated under its writer begins with a hole.
    if status.st_size > HEAD and head and not head.strip(b"\0"):
        head = _stored_at(path, status.st_size - HEAD)
    why = not_a_log(path.name, head)
    yield from _file(path, status, listed) if not why else [_skipped(path, why, (status.st_dev, status.st_ino))]


def _file(path: Path, status: os.stat_result, listed: set[Hashable]) -> Iterator[Found]:
    key = (status.st_dev, status.st_ino)
    if stat.S_ISREG(status.st_mode) and is_archive(path.name):
        if key not in listed:
            listed.add(key)
            yield from (_member(path, key, member, number) for number, member in enumerate(members(path)))
        return
    size = status.st_size if stat.S_ISREG(status.st_mode) else None
    folder = os.path.realpath(path.parent)
    yield Found(name_shown(path), folder, name_shown(path.name), key, size, "", partial(_stored, path, key))


def _member(path: Path, key: Hashable, member: Member, number: int) -> Found:
    folder, _, file = member.name.rpartition("/")
    why = member.why_not
    if any(step.startswith(".") and step.strip(".") for step in member.name.split("/")):
        why = "hidden"
    elif not why and is_archive(file):
        why = "an archive within an archive; unpack that and give its directory"
    why = why or not_a_log(file, _head(member.head))
    name = f"{name_shown(path)}/{member.name}"
    return Found(name, f"{os.path.realpath(path)}/{folder}", file, (key, number), member.size, why, member.read)


def _skipped(path: Path, why: str, key: Hashable = None) -> Found:
    return Found(name_shown(path), "", path.name, key or name_shown(path), None, why, _nothing)


def name_shown(path: str | Path) -> str:
    """Return a path as it is shown to the user."""
    return shown(os.fsencode(path))


def _head(data: bytes) -> bytes:
    """Return the first bytes, unpacked, of what begins with `data`."""
    return b"".join(unpack([data], HEAD))[:HEAD]


def _stored_at(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(HEAD)


def _stored(path: Path, key: tuple[int, int]) -> Iterator[bytes]:
    """Return the bytes of a file; if it was rotated since it was found, those under its new name."""
    # Unbuffered: a pipe gives what it has.
    with path.open("rb", buffering=0) as file:
        moved = None if _identity(os.fstat(file.fileno())) == key else _moved(path, key)
        if moved is None:
            yield from iter(lambda: file.read(CHUNK), b"")
            return
    with moved.open("rb", buffering=0) as file:
        yield from iter(lambda: file.read(CHUNK), b"")


def _moved(path: Path, key: tuple[int, int]) -> Path | None:
    with os.scandir(path.parent) as entries:
        return next((path.parent / entry.name for entry in entries if entry.inode() == key[1]), None)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _standard_input() -> Iterator[bytes]:
    stream = sys.stdin.buffer
    # `read` would wait until a whole portion has come.
    read = stream.read1 if isinstance(stream, io.BufferedIOBase) else stream.read
    yield from iter(lambda: read(CHUNK), b"")


def _nothing() -> Iterator[bytes]:
    return iter(())
