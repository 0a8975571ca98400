"""The bytes of a log in portions, unpacked if it is gzip, bzip2 or xz: told by its first bytes, not by its name."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

__all__ = ["CHUNK", "ENDINGS", "chunks", "is_packed", "name_unpacked", "unpack"]

#: Small enough for all passes over a portion to find it in the cache of the processor.
CHUNK: Final = 1 << 17
#: What the name of a packed file ends with.
ENDINGS: Final = (".gz", ".bz2", ".xz")
_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ\0"
# Size of the blocks, then the begin of a block, or of the end where there is none.
_BZIP2 = tuple(b"BZh%d%s" % (size, mark) for size in range(1, 10) for mark in (b"1AY&SY", b"\x17rE8P\x90"))
_MAGIC = (_GZIP, _XZ, *_BZIP2)
# What xz may take for its dictionary; its strongest setting takes 65 MB.
_XZ_MEMORY_MOST = 1 << 28


def is_packed(head: bytes) -> bool:
    """Return whether a file that begins so is packed in one of the ways that are read."""
    return head.startswith(_MAGIC)


def name_unpacked(name: str) -> str:
    """Return the name of a file without the ending of a packed one; one that is nothing else keeps it."""
    return next((name.removesuffix(one) for one in ENDINGS if name.endswith(one)), "") or name


def chunks(path: Path, size: int = CHUNK) -> Iterator[bytes]:
    """Return the bytes of a file in portions of about `size`, unpacked.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        yield from unpack(iter(lambda: file.read(size), b""), size)


def unpack(data: Iterable[bytes], size: int = CHUNK, on_damage: Callable[[], object] | None = None) -> Iterator[bytes]:
    """Return the bytes as they are, or of all members if packed; a damaged one ends where the damage begins.

    Args:
        data: the bytes as stored, in portions.
        size: of the portions that come out.
        on_damage: is called if packed bytes are damaged; one that only ends early is not, it may still be written.
    """
    portions = iter(data)
    head = b""
    for portion in portions:
        head += portion
        if not any(magic.startswith(head) for magic in _MAGIC):
            break
    if head.startswith(_GZIP):
        yield from _members(_chain(head, portions), size, on_damage)
    elif is_packed(head):
        yield from _streams(_chain(head, portions), size, _new_stream(head), on_damage)
    else:
        yield from (head[i : i + size] for i in range(0, len(head), size))
        yield from portions


def _chain(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from rest


def _members(portions: Iterable[bytes], size: int, on_damage: Callable[[], object] | None) -> Iterator[bytes]:
    member = zlib.decompressobj(wbits=31)
    # Small bites: zlib gives nothing of the bite in which it meets the damage.
    for bite in (portion[i : i + 4096] for portion in portions for i in range(0, len(portion), 4096)):
        rest = bite
        while rest:
            if member.eof:
                member = zlib.decompressobj(wbits=31)
            try:
                out = member.decompress(rest, size)
            except zlib.error:
                if on_damage:
                    on_damage()
                return
            if out:
                yield out
            rest = member.unused_data if member.eof else member.unconsumed_tail
    while not member.eof and (out := member.decompress(b"", size)):
        yield out


def _new_stream(head: bytes) -> Callable[[], Any]:
    """Return what makes a decompressor for a file that begins so; both modules have the same one."""
    if head.startswith(_XZ):
        import lzma

        return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_MOST)
    import bz2

    return bz2.BZ2Decompressor


def _streams(
    portions: Iterable[bytes], size: int, new_stream: Callable[[], Any], on_damage: Callable[[], object] | None
) -> Iterator[bytes]:
    from lzma import LZMAError

    stream = new_stream()
    for portion in portions:
        rest = portion
        while rest or not (stream.eof or stream.needs_input):
            if stream.eof:
                stream = new_stream()
            try:
                out = stream.decompress(rest, size)
            except (LZMAError, OSError, EOFError):
                if on_damage:
                    on_damage()
                return
            if out:
                yield out
            rest = stream.unused_data if stream.eof else b""
