"""The bytes of a log in portions, unpacked if it is gzip."""

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["CHUNK", "chunks", "unpack"]

#: Small enough for all passes over a portion to find it in the cache of the processor.
CHUNK = 1 << 17
_GZIP = b"\x1f\x8b"


def chunks(path: Path, size: int = CHUNK) -> Iterator[bytes]:
    """Return the bytes of a file in portions of about `size`, unpacked if it is gzip.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        yield from unpack(iter(lambda: file.read(size), b""), size)


def unpack(data: Iterable[bytes], size: int = CHUNK) -> Iterator[bytes]:
    """Return the bytes as they are, or of all members if they are gzip; a damaged one ends where the damage begins."""
    portions = iter(data)
    head = b""
    for portion in portions:
        head += portion
        if len(head) >= len(_GZIP):
            break
    if not head.startswith(_GZIP):
        yield from (head[i : i + size] for i in range(0, len(head), size))
        yield from portions
        return
    yield from _members(_chain(head, portions), size)


def _chain(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from rest


def _members(portions: Iterable[bytes], size: int) -> Iterator[bytes]:
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
                return
            if out:
                yield out
            rest = member.unused_data if member.eof else member.unconsumed_tail
    while not member.eof and (out := member.decompress(b"", size)):
        yield out
