"""Log bytes as lines of text that remember which original bytes they are.

bytes or file -> chunks (unpacked) -> blocks (cut at line ends) -> lines (decoded, colours and prefixes set aside)

The form (8 or 16 bits a unit) is chosen once, from a byte order mark or the first bytes. In the 8-bit form each line
is UTF-8 or GB18030 by its own evidence: a log of mixed encodings reads well, and how the bytes arrive changes nothing.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assistant.logs.prefixes import json_line, prefix_of
from assistant.logs.unpack import chunks, unpack

__all__ = [
    "ESCAPE",
    "LINE_MOST",
    "Block",
    "Decoder",
    "Decoding",
    "Form",
    "Line",
    "decoding",
    "lines",
    "reads_otherwise",
]

Form = Literal["8-bit", "utf-16-le", "utf-16-be"]
Encoding = Literal["ascii", "utf-8", "gb18030", "utf-16-le", "utf-16-be"]

#: A longer line comes in pieces of at most so many bytes, all with the same number.
LINE_MOST = 1 << 16
#: So many bytes decide the form.
HEAD = 64
#: Prefixes taken off one line: a launcher's within a container's within a serial tool's.
PREFIXES_MOST = 4

# Up to eight CR in a row end one line: serial tools turn CRLF into CR CR LF, and an endless run must not be kept.
_ENDS: dict[Form, re.Pattern[bytes]] = {
    "8-bit": re.compile(rb"\r{1,8}+\n?|\n"),
    "utf-16-le": re.compile(rb"(?:\r\0){1,8}+(?:\n\0)?|\n\0", re.DOTALL),
    "utf-16-be": re.compile(rb"(?:\0\r){1,8}+(?:\0\n)?|\0\n", re.DOTALL),
}
_BOMS: tuple[tuple[bytes, Form], ...] = (
    (b"\xef\xbb\xbf", "8-bit"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_SURROGATE = re.compile("[\ud800-\udfff]")
#: Colour and cursor sequences, titles and clipboard writes, other escapes, a lone ESC. Each stops at the next ESC.
ESCAPE = r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|[\]PX^_][^\x07\x1b\n]*+(?:\x07|\x1b\\)|[ -/]{1,2}[0-~]|[0-OQ-WYZ\\`-~])?+"
_DROPPED = re.compile(rf"{ESCAPE}|[\0\ufeff]")


def reads_otherwise(data: bytes) -> bool:
    """Return whether lines may read otherwise than their 8-bit bytes: by zeros, or escapes in a container's JSON."""
    return b"\0" in data or (b"\\" in data and b'{"' in data)


@dataclass(frozen=True, slots=True)
class Decoding:
    """How a log is encoded, and why that was chosen."""

    name: Literal["ascii", "utf-8", "utf-8-sig", "gb18030", "utf-16-le", "utf-16-be", "mixed"]
    evidence: Literal["byte order mark", "zero bytes", "well-formed", "damaged", "lines differ"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a log, or one piece of a very long line."""

    text: str
    """Without line end, colours, NUL bytes and prefixes; a byte that is no character is U+FFFD."""
    start: int
    """Offset of the first byte in the log, prefixes included."""
    end: int
    """Offset after the last byte, without the line end."""
    number: int
    """From 1."""
    piece: int
    """0, or how many pieces of the same line come before."""
    encoding: Encoding
    time: str
    """As the outermost prefix that has one gives it."""
    stream: str
    """Container, process or rank of the prefixes, outermost first; empty if there is none."""
    raw: bytes
    """The bytes of the log from `start` to `end`."""
    skipped: int
    """Characters of the prefixes, if `places` is None."""
    places: tuple[tuple[int, int], ...] | None
    """Where each character of `text` begins and ends in the characters of `raw`; None: side by side."""

    def span(self, begin: int, end: int) -> tuple[int, int]:
        """Return the byte offsets in the log of the characters `text[begin:end]`."""
        begin = min(max(begin, 0), len(self.text))
        end = min(max(end, begin), len(self.text))
        if self.places is None:
            first, last = begin + self.skipped, end + self.skipped
        elif not self.places:
            first = last = 0
        else:
            first = self.places[begin][0] if begin < len(self.places) else self.places[-1][1]
            last = self.places[end - 1][1] if end > begin else first
        chars = _decode(self.raw, self.encoding)
        return self.start + _width(self.raw, chars, first, self.encoding), self.start + _width(
            self.raw, chars, last, self.encoding
        )


@dataclass(frozen=True, slots=True)
class Block:
    """A run of whole lines as they are in the log; the bytes to scan before any line is decoded."""

    data: bytes
    start: int
    """Offset of the first byte in the log."""
    number: int
    """Number of the first line."""
    piece: int
    """As in `Line`, of the first line."""
    form: Form
    ended: int = 0
    """How many line ends it has; a decoder knows."""

    @property
    def is_plain(self) -> bool:
        """Whether a search for ASCII text in `data` finds what a search in the decoded lines finds."""
        return self.form == "8-bit" and b"\x1b" not in self.data and not reads_otherwise(self.data)

    def lines(self) -> Iterator[Line]:
        """Return the lines in order."""
        for start, end, number, piece in self._bounds():
            yield _line(self.data[start:end], self.start + start, number, piece, self.form)

    def at(self, places: Iterable[int]) -> Iterator[Line]:
        """Return the lines in which the ascending `places` of `data` lie, each once, without decoding any other."""
        start, number = 0, self.number
        end = after = 0
        for place in places:
            if place < after:
                continue
            if self.form == "8-bit" and b"\r" not in self.data:
                start = self.data.rfind(b"\n", after, place) + 1 or after
                number += self.data.count(b"\n", end, start)
                end = self.data.find(b"\n", place)
                end = len(self.data) if end < 0 else end
                after = min(end + 1, len(self.data))
                for begin, stop, _, piece in self._pieces(start, end, number, 0 if start else self.piece):
                    yield _line(self.data[begin:stop], self.start + begin, number, piece, self.form)
            else:
                yield from self._slowly_at([place, *places])
                return

    def _slowly_at(self, places: list[int]) -> Iterator[Line]:
        ascending = iter(places)
        place = next(ascending, None)
        bounds = list(self._bounds())
        for i, (start, end, number, piece) in enumerate(bounds):
            after = bounds[i + 1][0] if i + 1 < len(bounds) else len(self.data)
            if place is not None and place < after:
                yield _line(self.data[start:end], self.start + start, number, piece, self.form)
            while place is not None and place < after:
                place = next(ascending, None)

    def _bounds(self) -> Iterator[tuple[int, int, int, int]]:
        start, number, piece = 0, self.number, self.piece
        for begin, after in _ends(self.data, self.form):
            yield from self._pieces(start, begin, number, piece)
            start, number, piece = after, number + 1, 0
        if start < len(self.data):
            yield from self._pieces(start, len(self.data), number, piece)

    def _pieces(self, start: int, end: int, number: int, piece: int) -> Iterator[tuple[int, int, int, int]]:
        while end - start > LINE_MOST:
            cut = start + _cut(self.data[start : start + LINE_MOST], self.form)
            yield start, cut, number, piece
            start, piece = cut, piece + 1
        if end > start or not piece:
            yield start, end, number, piece


class Decoder:
    """Cuts bytes that arrive in any portions into blocks; keeps at most one line (or `LINE_MOST` bytes) of them."""

    def __init__(self) -> None:
        self.form: Form | None = None
        """None until the first `HEAD` bytes have decided."""
        self._kept = bytearray()
        self._start = 0
        self._number = 1
        self._piece = 0

    @property
    def pending(self) -> int:
        """Bytes that are kept because their line has not ended yet."""
        return len(self._kept)

    def feed(self, data: bytes) -> list[Block]:
        """Return the blocks that `data` completes."""
        old = self._kept[-4:]
        self._kept += data
        if self.form is None:
            if len(self._kept) < HEAD:
                return []
            self._choose()
        elif b"\n" not in data and b"\r" not in data and b"\r" not in old and b"\n" not in old:
            return self._long()
        return self._complete() + self._long()

    def finish(self) -> list[Block]:
        """Return what is left: the bytes after the last line end."""
        if self.form is None:
            self._choose()
        rest = self._block(len(self._kept))
        return [rest] if rest.data else []

    def _choose(self) -> None:
        self.form, skipped = _form(bytes(self._kept[:HEAD]))
        del self._kept[:skipped]
        self._start += skipped

    def _complete(self) -> list[Block]:
        """Cut after the last line end that no later byte can lengthen."""
        assert self.form is not None
        kept, cut = self._kept, 0
        unit = 1 if self.form == "8-bit" else 2
        if self.form == "8-bit":
            cut = kept.rfind(b"\n") + 1
            if kept.find(b"\r", cut) < 0:
                return [self._block(cut)] if cut else []
        for _, after in _ends(bytes(kept[cut:]), self.form, cut):
            if after + unit <= len(kept) or bytes(kept[after - unit : after]).strip(b"\0") == b"\n":
                cut = after
        return [self._block(cut)] if cut else []

    def _long(self) -> list[Block]:
        """Cut pieces from a line that grows too long before it ends."""
        assert self.form is not None
        blocks = []
        # Up to 17 trailing bytes may be a line end that is still growing.
        while len(self._kept) > LINE_MOST + 17:
            blocks.append(self._block(_cut(bytes(self._kept[:LINE_MOST]), self.form)))
        return blocks

    def _block(self, size: int) -> Block:
        assert self.form is not None
        data = bytes(memoryview(self._kept)[:size])
        ended = _count(data, self.form)
        block = Block(data, self._start, self._number, self._piece, self.form, ended)
        del self._kept[:size]
        self._start += size
        self._number += ended
        self._piece = 0 if ended else self._piece + 1
        return block


def lines(source: bytes | Path | Iterable[bytes]) -> Iterator[Line]:
    """Return the lines of a log: bytes, a file, or portions of bytes as they come. Of gzip the unpacked bytes count.

    Raises:
        OSError: The file cannot be read.
    """
    if isinstance(source, Path):
        portions: Iterable[bytes] = chunks(source)
    elif isinstance(source, bytes):
        portions = unpack([source])
    else:
        portions = unpack(source)
    decoder = Decoder()
    for portion in portions:
        for block in decoder.feed(portion):
            yield from block.lines()
    for block in decoder.finish():
        yield from block.lines()


def decoding(sample: bytes) -> Decoding:
    """Return how a log is encoded, from its beginning."""
    form, skipped = _form(sample[:HEAD])
    if form != "8-bit":
        return Decoding(form, "byte order mark" if skipped else "zero bytes")
    rows = [row for row in _ENDS[form].split(sample[skipped:]) if row]
    found = {encoding for row in rows if (encoding := _encoding(row)) != "ascii"}
    if len(found) > 1:
        return Decoding("mixed", "lines differ")
    if skipped:
        return Decoding("utf-8-sig", "byte order mark")
    if not found:
        return Decoding("ascii", "well-formed")
    name = found.pop()
    damaged = any(_SURROGATE.search(_decode(row, name)) for row in rows[:-1] or rows)
    return Decoding(name, "damaged" if damaged else "well-formed")


def _form(head: bytes) -> tuple[Form, int]:
    """Return the form and the size of the byte order mark."""
    for bom, form in _BOMS:
        if head.startswith(bom):
            return form, len(bom)
    # A block of zeros at the start (a rotated file) says nothing.
    first = (len(head) - len(head.lstrip(b"\0"))) & ~1
    even, odd = head[first::2].count(0), head[first + 1 :: 2].count(0)
    enough = (len(head) - first) // 8
    if odd > max(enough, 1) and even * 8 <= odd:
        return "utf-16-le", 0
    if even > max(enough, 1) and odd * 8 <= even:
        return "utf-16-be", 0
    return "8-bit", 0


def _ends(data: bytes, form: Form, offset: int = 0) -> Iterator[tuple[int, int]]:
    """Return begin and end of each line end; a 16-bit one counts only at an even place."""
    for found in _ENDS[form].finditer(data):
        if form == "8-bit" or not found.start() & 1:
            yield offset + found.start(), offset + found.end()


def _count(data: bytes, form: Form) -> int:
    """Return how many line ends there are; fast where every CR belongs to a CRLF."""
    if form == "8-bit" and (b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")):
        return data.count(b"\n")
    return sum(1 for _ in _ends(data, form))


def _cut(data: bytes, form: Form) -> int:
    """Return where to cut a line that begins with `data`: after a late blank, else between two characters."""
    if form != "8-bit":
        size = len(data) & ~1
        high = data[size - 1] if form == "utf-16-le" else data[size - 2]
        return size - 2 if 0xD8 <= high < 0xDC else size
    # A blank is never part of a longer character, in UTF-8 and in GB18030.
    if blank := data.rfind(b" ", len(data) - 4096) + 1:
        return blank
    for back in range(1, 4):
        byte = data[-back]
        if byte >= 0xC0:
            return len(data) - back
        if byte < 0x80:
            break
    return len(data)


def _line(raw: bytes, start: int, number: int, piece: int, form: Form) -> Line:
    encoding = _encoding(raw) if form == "8-bit" else form
    text = _decode(raw, encoding)
    if encoding != "ascii":
        text = _SURROGATE.sub("\ufffd", text)
    places: list[tuple[int, int]] | None = None
    times, streams = [], []
    if "\x1b" in text or "\0" in text or "\ufeff" in text:
        text, places = _kept(text, [(i, i + 1) for i in range(len(text))])
    if (inner := json_line(text)) is not None:
        chars, time, stream = inner
        times.append(time)
        streams.append(stream)
        outer = places
        places = [(a, b) if outer is None else (outer[a][0], outer[b - 1][1]) for _, a, b in chars]
        text, places = _kept("".join(char for char, _, _ in chars), places)
    skipped = 0
    for _ in range(0 if piece else PREFIXES_MOST):
        after, time, stream = prefix_of(text, skipped)
        if after == skipped:
            break
        skipped = after
        times.append(time)
        streams.append(stream)
    return Line(
        text=text[skipped:],
        start=start,
        end=start + len(raw),
        number=number,
        piece=piece,
        encoding=encoding,
        time=next(filter(None, times), ""),
        stream=" ".join(filter(None, streams)),
        raw=raw,
        skipped=skipped,
        places=None if places is None else tuple(places[skipped:]),
    )


def _kept(text: str, places: list[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """Return text and places without colours and NUL."""
    parts: list[str] = []
    kept: list[tuple[int, int]] = []
    last = 0
    for found in _DROPPED.finditer(text):
        parts.append(text[last : found.start()])
        kept += places[last : found.start()]
        last = found.end()
    return "".join([*parts, text[last:]]), kept + places[last:]


def _encoding(raw: bytes) -> Encoding:
    """Return the encoding of one 8-bit line: UTF-8 if it is or mostly is, GB18030 if that reads clearly better."""
    if raw.isascii():
        return "ascii"
    text = raw.decode("utf-8", "surrogateescape")
    bad = len(_SURROGATE.findall(text))
    if not bad or 3 * sum("\u0800" <= char < "\ud800" for char in text) >= bad:
        return "utf-8"
    other = raw.decode("gb18030", "surrogateescape")
    foreign = _SURROGATE.sub("", "".join(char for char in other if char > "\x7f"))
    common = len(foreign.encode("gb2312", "ignore")) // 2
    wrong = len(_SURROGATE.findall(other))
    return "gb18030" if wrong * 4 < bad and common * 2 > len(foreign) else "utf-8"


def _decode(raw: bytes, encoding: Encoding) -> str:
    """Return the characters; each byte that is none becomes one lone surrogate, so that none is lost from the count."""
    if encoding in ("utf-16-le", "utf-16-be"):
        whole = len(raw) & ~1
        return raw[:whole].decode(encoding, "surrogatepass") + "\ufffd" * (len(raw) - whole)
    return raw.decode(encoding, "surrogateescape")


def _width(raw: bytes, chars: str, count: int, encoding: Encoding) -> int:
    """Return how many bytes the first `count` characters take."""
    if encoding == "ascii":
        return count
    if encoding == "utf-8":
        return len(chars[:count].encode("utf-8", "surrogateescape"))
    if encoding == "gb18030":
        at = 0
        for char in chars[:count]:
            if char < "\x80" or "\udc80" <= char <= "\udcff":
                at += 1
            else:
                at += 4 if 0x30 <= raw[at + 1] <= 0x39 else 2
        return at
    return min(len(chars[:count].encode(encoding, "surrogatepass")), len(raw))
