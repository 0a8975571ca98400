"""Which logs to read, and their bytes: files, directories, archives and standard input -> sources.

paths -> files (directories and archives walked) -> rotated files joined to one source -> portions of bytes
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby

from assistant.errors import BadInput
from assistant.logs.decode import Block, Decoder
from assistant.logs.gathering.found import Found, found, name_shown
from assistant.logs.gathering.rotation import rotation
from assistant.logs.unpack import ENDINGS, name_unpacked, unpack

__all__ = ["Gathered", "Place", "Skipped", "Source", "Start", "gather", "gather_some", "refuse_damaged", "sources"]


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a source."""

    name: str
    """As shown to the user."""
    size: int | None
    """In bytes as stored (of a member of an archive: unpacked from it); None if unknown."""
    read: Callable[[], Iterator[bytes]]
    """Returns the bytes as stored, in portions."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where a part begins in its source."""

    part: str
    offset: int
    """Of its first byte, in the unpacked bytes of the source."""
    line: int
    """Number, in the source, of the line that its first byte is in; 0 until that line is complete."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place as the user finds it in a file."""

    part: str
    offset: int
    """In the unpacked bytes of the part."""
    line: int
    """In the part, from 1."""


@dataclass(frozen=True, slots=True)
class Source:
    """One log. It is read by one reader at a time."""

    name: str
    """That of its newest part."""
    parts: tuple[Part, ...]
    """Oldest first."""
    starts: list[Start] = field(default_factory=list, compare=False, repr=False)
    """One for each part that reading has reached."""
    damaged: list[str] = field(default_factory=list, compare=False, repr=False)
    """Names of the parts that reading has found to be damaged: it ended where the damage begins."""

    @property
    def size(self) -> int | None:
        """Bytes as stored; None if unknown."""
        sizes = [part.size for part in self.parts if part.size is not None]
        return sum(sizes) if len(sizes) == len(self.parts) else None

    def portions(self, on_read: Callable[[int], object] | None = None) -> Iterator[bytes]:
        """Return the unpacked bytes of all parts, and fill `starts` and `damaged`; each call begins again.

        Args:
            on_read: is told how many of the `size` bytes have been read.

        Raises:
            BadInput: A part cannot be read (any more).
        """
        self.starts.clear()
        self.damaged.clear()
        tally = Decoder() if len(self.parts) > 1 else None
        at = before = 0
        for part in self.parts:
            self.starts.append(Start(part.name, at, 0 if tally else 1))
            try:
                stored = _counted(part.read(), before, on_read)
                for portion in unpack(stored, on_damage=partial(self.damaged.append, part.name)):
                    if tally:
                        self._number(tally.feed(portion))
                    at += len(portion)
                    yield portion
            except OSError as error:
                raise BadInput(f"{part.name}: cannot be read: {error.strerror or error}") from None
            before += part.size or 0
            if on_read and part.size is not None:
                on_read(before)
        if tally:
            self._number(tally.finish())

    def place(self, offset: int, line: int = 1) -> Place:
        """Return where in its part a byte is that has been read and decoded.

        Args:
            offset: of the byte in the source.
            line: number of its line in the source, as a decoder that was given all portions counts.
        """
        index = bisect_right(self.starts, offset, key=lambda start: start.offset) - 1
        if index < 0:
            return Place(self.parts[0].name, offset, line)
        start = self.starts[index]
        return Place(start.part, offset - start.offset, line - start.line + 1 if start.line else line)

    def _number(self, blocks: Iterable[Block]) -> None:
        """Fill in the lines of the starts that lie in `blocks`."""
        for block in blocks:
            end = block.start + len(block.data)
            index = len(self.starts) - 1
            while index >= 0 and not self.starts[index].line:
                start = self.starts[index]
                if start.offset < end:
                    # Only the place before the block's first, a byte order mark, lies in no block.
                    line = next(block.at([max(start.offset - block.start, 0)])).number
                    self.starts[index] = replace(start, line=line)
                index -= 1


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that a directory or archive holds and that is not read."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the paths of the user lead to."""

    sources: tuple[Source, ...]
    skipped: tuple[Skipped, ...]


def sources(paths: Sequence[str]) -> tuple[Source, ...]:
    """Return the logs that `gather` finds."""
    return gather(paths).sources


def gather(paths: Sequence[str]) -> Gathered:
    """Return the logs in files, directories and archives, each file once, in the order in which they are met.

    A file given by name is read whatever it holds; one met in a directory only if it may be a log. Files that were
    rotated are one log if they lie in the same directory.

    Args:
        paths: of files and directories; `-` is standard input.

    Raises:
        BadInput: A path is missing or cannot be read, or an archive is none.
    """
    read: dict[object, Found] = {}
    skipped: dict[object, Found] = {}
    for item in found(paths):
        (skipped if item.why_not else read).setdefault(item.key, item)
    return Gathered(
        tuple(_source(files) for files in _logs(list(read.values()))),
        tuple(Skipped(item.name, item.why_not) for key, item in skipped.items() if key not in read),
    )


def gather_some(paths: Sequence[str]) -> Gathered:
    """Return what `gather` does, at least one log.

    Raises:
        BadInput: Also if there is no log.
    """
    gathered = gather(paths)
    if not gathered.sources:
        why = "; ".join(f"{one.name}: {one.why}" for one in gathered.skipped[:3])
        raise BadInput(f"{', '.join(map(name_shown, paths))}: no log in it" + (f" ({why})" if why else ""))
    return gathered


def refuse_damaged(read: Iterable[Source], size: int) -> None:
    """Raise if nothing could be read because of damage; one damaged log of several is no reason to give up the others.

    Args:
        read: all logs, read to their end.
        size: how many bytes they gave.

    Raises:
        BadInput: names the damaged ones.
    """
    damaged = [name for source in read for name in source.damaged]
    if damaged and not size:
        raise BadInput(f"{', '.join(damaged)}: nothing of it can be unpacked, it is damaged; copy it again")


def _source(files: Sequence[Found]) -> Source:
    return Source(files[-1].name, tuple(Part(file.name, file.size, file.read) for file in files))


def _logs(files: Sequence[Found]) -> list[list[Found]]:
    """Return the files of each log, oldest first; the logs in the order of their first file."""
    names = {(file.folder, name_unpacked(file.file)) for file in files}
    logs: dict[tuple[str, str], list[tuple[tuple[int, ...], Found]]] = {}
    for file in files:
        turn = rotation(file.file)
        if turn.is_sure or (file.folder, turn.base) in names:
            base, order = turn.base, turn.order
        else:
            base, order = name_unpacked(file.file), (2,)
        logs.setdefault((file.folder, base), []).append((order, file))
    result = []
    for ordered in logs.values():
        log, alone = [], []
        for _, same in groupby(sorted(ordered, key=lambda pair: pair[0]), key=lambda pair: pair[0]):
            first, *others = sorted((file for _, file in same), key=lambda file: file.file.endswith(ENDINGS))
            log.append(first)
            alone += [[other] for other in others if not _is_copy(other, first)]
        result += [log, *alone]
    return result


def _is_copy(packed: Found, plain: Found) -> bool:
    """Return whether a file is the packed form of the other, or what there is of it while it is being packed."""
    if not packed.file.endswith(ENDINGS) or name_unpacked(packed.file) != plain.file:
        return False
    try:
        mine, theirs = unpack(packed.read()), unpack(plain.read())
        expected = b""
        for portion in mine:
            while len(expected) < len(portion) and (more := next(theirs, b"")):
                expected += more
            if not expected.startswith(portion):
                return False
            expected = expected[len(portion) :]
    except OSError:
        return False
    return True


def _counted(portions: Iterable[bytes], before: int, on_read: Callable[[int], object] | None) -> Iterator[bytes]:
    for portion in portions:
        before += len(portion)
        if on_read:
            on_read(before)
        yield portion
