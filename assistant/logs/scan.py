"""Finds the few lines of a log that matter: those with a text that some rule looks for, a code or a word of alarm.

blocks of bytes -> one pass of an automaton (Aho-Corasick) over all texts at once -> hits, kept as bytes until asked for

What is kept is bounded however long the log is: of each text the first `FIRST` lines and then `LATER` in each MiB of
the log. The grid of MiB belongs to the log, not to the portions in which it arrives, so portions change nothing.
"""

import copy
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from assistant.logs.decode import LINE_MOST, Block, Form
from assistant.logs.records import WIDTHS

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

__all__ = ["FIRST", "LATER", "Hit", "Keywords", "Scanner", "Store", "Suspect"]

FIRST = 64
LATER = 2
#: So many suspicious lines of each MiB are counted by their form, and so many forms are told apart.
SUSPECTS_MOST = 256
FORMS_MOST = 4096
_MIB = 20
#: In so many bytes of a log a terminal may have broken lines; longer logs come from no terminal.
WRAPPED_MOST = 4 << 20
_WRAPPED_LINES = 8
_TERMINAL_MOST = max(WIDTHS)
#: Bytes before an indented line that are kept, to find the head that it belongs to.
CONTEXT = 2048
_CONTEXTS_MOST = 16
_SEAM = 2048
_DIGITS = b"0123456789"
_BLANKS = b" \t"
_ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|[\]PX^_][^\x07\x1b\n]*+(?:\x07|\x1b\\)|[ -/]{1,2}[0-~]|[0-OQ-WYZ\\`-~])?+"
)


class Hit(NamedTuple):
    """A line with a text that is looked for, or a few lines that a terminal may have broken."""

    log: int
    number: int
    """Of the first line."""
    start: int
    """Offset of the first byte in the log."""
    raw: bytes
    """The bytes of the line or lines, without the last line end."""
    piece: int
    """As in `Line`."""
    form: Form
    before: bytes
    """Whole lines before it, for a line that may continue a record."""


@dataclass(slots=True)
class Suspect:
    """Lines of alarm of one form."""

    count: int
    first: Hit
    at_least: bool = False


class Keywords:
    """The texts that are looked for, as one automaton over bytes."""

    def __init__(self, anchors: Sequence[str], alarms: Sequence[str]) -> None:
        """Build the automaton.

        Args:
            anchors: texts whose lines are kept; the number of a text is its place here.
            alarms: words whose lines are counted by their form.
        """
        self.alarm_from = len(anchors)
        """Numbers from here are alarms."""
        self.patterns: list[bytes] = []
        self.numbers: list[int] = []
        """Per pattern the number of its text."""
        for number, text in enumerate([*anchors, *alarms]):
            for form in dict.fromkeys([text.encode(), text.encode("gb18030")]):
                self.patterns.append(form)
                self.numbers.append(number)
        self.count = len(anchors) + len(alarms)
        self.longest = max(map(len, self.patterns), default=1)
        self._automaton: BytesAhoCorasick | None = None

    def find(self, data: bytes) -> list[tuple[int, int, int]]:
        """Return (pattern, start, end) of every occurrence, by end."""
        if self._automaton is None:
            from ahocorasick_rs import BytesAhoCorasick, Implementation

            self._automaton = BytesAhoCorasick(self.patterns, implementation=Implementation.DFA)
        return self._automaton.find_matches_as_indexes(data, overlapping=True)


@dataclass(slots=True)
class Store:
    """What was found in all logs of an incident."""

    hits: dict[int, list[Hit]] = field(default_factory=dict)
    """Per number of a text."""
    counts: dict[int, int] = field(default_factory=dict)
    """Per number of a text its lines that were seen, all of them for texts that are not very frequent."""
    suspects: dict[bytes, Suspect] = field(default_factory=dict)
    """Per form: the bytes of the line without digits."""
    others: int = 0
    """Lines of alarm of further forms."""
    matched_lines: int = 0
    lines: int = 0
    bytes: int = 0

    def copy(self) -> "Store":
        """Return a copy that can grow on its own."""
        return Store(
            {number: list(hits) for number, hits in self.hits.items()},
            dict(self.counts),
            {form: copy.copy(suspect) for form, suspect in self.suspects.items()},
            self.others,
            self.matched_lines,
            self.lines,
            self.bytes,
        )


class Scanner:
    """Scans the blocks of one log, in order."""

    def __init__(self, log: int, keywords: Keywords, store: Store) -> None:
        self.log = log
        self.keywords = keywords
        self.store = store
        self._segment = -1
        self._seen: dict[int, int] = {}
        self._spent: set[int] = set()
        """Texts of which this MiB has given enough lines."""
        self._suspects = 0
        self._suspect_at = -1
        self._is_counted = False
        """Whether the line that is still open counts as a matched one."""
        self._tail = b""
        """The last bytes before the block that comes next."""
        self._piece_tail = b""
        """Likewise, if that block goes on with the same line."""
        self._open: list[tuple[int, int, bytes]] = []
        """(start, number, bytes) of lines at the end that may go on in the next line."""
        self._widest = 0
        """Length of the longest line so far."""

    def copy(self, store: Store) -> "Scanner":
        """Return a scanner that goes on from here on its own, into another store."""
        twin = Scanner(self.log, self.keywords, store)
        twin._segment, twin._seen, twin._spent = self._segment, dict(self._seen), set(self._spent)
        twin._suspects, twin._suspect_at, twin._is_counted = self._suspects, self._suspect_at, self._is_counted
        twin._tail, twin._piece_tail, twin._open = self._tail, self._piece_tail, list(self._open)
        twin._widest = self._widest
        return twin

    def scan(self, block: Block) -> None:
        """Add what a block shows to the store."""
        data = block.data
        self.store.bytes += len(data)
        if block.form == "8-bit" and b"\0" not in data and not (b"\\" in data and b'{"' in data) and _ends_in_lf(data):
            self._scan_bytes(block)
        else:
            self._scan_text(block)
        self._tail = (self._tail + data)[-CONTEXT:]

    def finish(self) -> None:
        """Add what only waited for a next line."""
        self._close()

    def _scan_bytes(self, block: Block) -> None:
        """Scan a block whose lines end in LF or CRLF, where what is looked for stands as it is."""
        data, first = block.data, 0
        self.store.lines += block.ended + (not data.endswith(b"\n") and not block.piece)
        if not block.piece:
            self._is_counted = False
        else:
            end = data.find(b"\n") if b"\n" in data else len(data)
            if self._long(block, 0, end, block.number, block.piece) and not self._is_counted:
                self._is_counted = True
                self.store.matched_lines += 1
            first = min(end + 1, len(data))
        begin, number = first, block.number + (first > 0 and block.ended > 0)
        for start, stop in self._chains(block, first):
            number = self._plain(block, begin, start, number)
            number = self._chain(block, start, stop, number)
            begin = stop
        self._plain(block, begin, len(data), number)
        if not data.endswith(b"\n"):
            self._piece_tail = data[data.rfind(b"\n") + 1 :][-_SEAM:] if not block.piece else self._piece_tail
        else:
            self._piece_tail = b""

    def _plain(self, block: Block, begin: int, end: int, number: int) -> int:
        """Scan whole lines that no terminal broke; return the number of the line behind them."""
        data = block.data
        while begin < end:
            # Up to the first line that begins in the next MiB of the log.
            border = (((block.start + begin) >> _MIB) + 1 << _MIB) - block.start
            stop = end if border >= end else data.find(b"\n", border - 1) + 1 or end
            stop = min(stop, end)
            if data.find(b"\x1b", begin, stop) >= 0:
                self._scan_clean(block, begin, stop, number)
            else:
                self._loop(block, begin, stop, number)
            if stop < len(data):
                number += data.count(b"\n", begin, stop)
            begin = stop
        return number

    def _loop(self, block: Block, first: int, last: int, number: int) -> None:
        """Go through the occurrences in lines of one MiB; this is the place where all the time goes."""
        data = block.data
        self._enter((block.start + first) >> _MIB)
        numbers, spent, keep = self.keywords.numbers, self._spent, self._keep
        log, form, base = self.log, block.form, block.start + first
        text = data if first == 0 and last == len(data) else data[first:last]
        lines = after = counted = 0
        hit: Hit | None = None
        is_long = False
        for pattern, start, _ in self.keywords.find(text):
            if start >= after:
                lines += 1
                after = text.find(b"\n", start) + 1 or len(text) + 1
                hit, is_long = None, False
            which = numbers[pattern]
            if which in spent or is_long:
                continue
            if hit is None:
                begin = text.rfind(b"\n", 0, start) + 1
                number += text.count(b"\n", counted, begin)
                counted = begin
                is_long = after - 1 - begin > LINE_MOST
                if is_long:
                    self._long(block, first + begin, first + after - 1, number, 0)
                    continue
                raw = text[begin : after - 1]
                raw = raw[:-1] if raw.endswith(b"\r") else raw
                before = self._before(data, first + begin, which) if text[begin] in _BLANKS else b""
                hit = Hit(log, number, base + begin, raw, 0, form, before)
            keep(which, hit)
        self.store.matched_lines += lines
        self._is_counted = after > len(text)

    def _enter(self, segment: int) -> None:
        """Begin another MiB of the log, in which every text is worth a few lines again."""
        if segment != self._segment:
            if self._suspects >= SUSPECTS_MOST:
                for suspect in self.store.suspects.values():
                    suspect.at_least = True
            self._segment, self._seen, self._spent = segment, {}, set()
            self._suspects, self._suspect_at = 0, -1

    def _keep(self, which: int, hit: Hit) -> None:
        """Keep a line for a text that is not spent in this MiB; a line with the same text twice is one."""
        if which >= self.keywords.alarm_from:
            if hit.start != self._suspect_at:
                self._suspect_at = hit.start
                self._suspect(hit)
            return
        hits = self.store.hits.setdefault(which, [])
        if hits and hits[-1].start == hit.start and hits[-1].log == hit.log:
            return
        hits.append(hit)
        count = self._seen[which] = self._seen.get(which, 0) + 1
        if count >= LATER and len(hits) >= FIRST:
            self._spent.add(which)

    def _suspect(self, hit: Hit) -> None:
        self._suspects += 1
        form = hit.raw.translate(None, _DIGITS)[:400]
        if (known := self.store.suspects.get(form)) is not None:
            known.count += 1
        elif len(self.store.suspects) < FORMS_MOST:
            self.store.suspects[form] = Suspect(1, hit)
        else:
            self.store.others += 1
        if self._suspects >= SUSPECTS_MOST:
            self._spent.update(range(self.keywords.alarm_from, self.keywords.count))

    def _before(self, data: bytes, begin: int, which: int) -> bytes:
        """Return whole lines before an indented line."""
        if data[begin] not in _BLANKS or len(self.store.hits.get(which, ())) >= _CONTEXTS_MOST:
            return b""
        before = data[max(0, begin - CONTEXT) : begin]
        if len(before) < CONTEXT:
            before = (self._tail + before)[-CONTEXT:]
        return before if len(before) < CONTEXT else before[before.find(b"\n") + 1 :]

    def _add(self, data: bytes, hit: Hit) -> bool:
        """Keep a hit for every text in `data`; return whether there is any."""
        which = dict.fromkeys(self.keywords.numbers[pattern] for pattern, _, _ in self.keywords.find(data))
        self._add_all(which, hit)
        return bool(which)

    def _add_all(self, which: Iterable[int], hit: Hit) -> None:
        self._enter(hit.start >> _MIB)
        for number in which:
            if number not in self._spent:
                self._keep(number, hit)

    def _long(self, block: Block, begin: int, end: int, number: int, piece: int) -> bool:
        """Scan a very long line by pieces, and the seams between them; return whether there is anything in it."""
        data, matched = block.data, False
        tail = self._piece_tail if piece else b""
        for start, stop, _, which in block._pieces(begin, end, number, piece):
            raw = data[start:stop]
            if tail:
                most = self.keywords.longest - 1
                around = tail[-most:] + raw[:most]
                border = min(len(tail), most)
                crossing = dict.fromkeys(
                    self.keywords.numbers[pattern]
                    for pattern, first, last in self.keywords.find(around)
                    if first < border < last
                )
                if crossing:
                    matched = True
                    whole = tail + raw[:_SEAM]
                    at = block.start + start - len(tail)
                    self._add_all(crossing, Hit(self.log, number, at, whole, which, block.form, b""))
            matched |= self._add(raw, Hit(self.log, number, block.start + start, raw, which, block.form, b""))
            tail = raw[-_SEAM:]
        self._piece_tail = tail
        return matched

    def _scan_clean(self, block: Block, first: int, last: int, number: int) -> None:
        """Scan lines without their colours; lines stay lines."""
        data = block.data
        clean = _ESCAPES.sub(b"", data[first:last])
        found: dict[int, dict[int, None]] = {}
        line = place = 0
        for pattern, start, _ in self.keywords.find(clean):
            if start >= place:
                line += clean.count(b"\n", place, start)
                place = start
            found.setdefault(line, {})[self.keywords.numbers[pattern]] = None
        if not found:
            return
        self.store.matched_lines += len(found)
        self._is_counted = place > clean.rfind(b"\n")
        begin, at = first, 0
        for wanted, which in found.items():
            while at < wanted:
                begin = data.find(b"\n", begin) + 1
                at += 1
            end = data.find(b"\n", begin)
            end = len(data) if end < 0 else end
            if end - begin > LINE_MOST:
                self._long(block, begin, end, number + at, 0)
                continue
            raw = data[begin : end - (data[end - 1 : end] == b"\r")]
            hit = Hit(self.log, number + at, block.start + begin, raw, 0, block.form,
                      self._before(data, begin, next(iter(which))))  # fmt: skip
            self._add_all(which, hit)

    def _scan_text(self, block: Block) -> None:
        """Scan a block by its decoded lines; slow, and right for every encoding and line end."""
        self._close()
        number = 0
        before: list[bytes] = []
        for line in block.lines():
            self.store.lines += line.number != number and not (line.piece and line.number == block.number)
            number = line.number
            text = line.text.encode("utf-8", "replace")
            context = b"".join(before) if line.text[:1] in (" ", "\t") else b""
            if self._add(text, Hit(self.log, line.number, line.start, line.raw, line.piece, block.form, context)):
                self.store.matched_lines += not line.piece or not self._is_counted
                self._is_counted = True
            elif not line.piece:
                self._is_counted = False
            before = [*before[-3:], line.raw[:512] + "\n".encode(_CODEC[block.form])]
        self._piece_tail = b""

    def _chains(self, block: Block, first: int) -> Iterator[tuple[int, int]]:
        """Yield where lines begin and end that may belong together, as a terminal of fixed width breaks them.

        No line of such a log is wider than the terminal: after a wider one, no line is taken for broken.
        """
        if not self._open and (block.start >= WRAPPED_MOST or self._widest > _TERMINAL_MOST):
            return
        size = len(block.data)
        begin, chain, length = first, first if self._open else -1, len(self._open)
        for line in block.data[first:].split(b"\n"):
            end = begin + len(line) + 1
            if end > size:
                break
            width = self._widen(line)
            if width > _TERMINAL_MOST:
                if 0 <= chain < begin:
                    yield chain, begin
                self._close(block.form)
                return
            if chain >= 0 or width in WIDTHS or line.rfind(b"[") > line.rfind(b"]"):
                chain, length = (begin, 1) if chain < 0 else (chain, length + 1)
                if not _may_go_on(line, self._widest) or length >= _WRAPPED_LINES:
                    if length > 1:
                        yield chain, end
                    chain = -1
            begin = end
        # Bytes without a line end: the last line, or a piece of a long one.
        if chain >= 0 or begin < size:
            yield chain if chain >= 0 else begin, size

    def _widen(self, line: bytes) -> int:
        """Return the length of a line, and keep the longest."""
        width = len(line)
        if width > self._widest or b"\x1b" in line:
            width = _width(line)
            self._widest = max(self._widest, width)
        return width

    def _chain(self, block: Block, begin: int, end: int, number: int) -> int:
        """Scan lines that may belong together, the last may go on in the next block; return the next line's number."""
        data = block.data
        for line in data[begin:end].split(b"\n"):
            if begin >= end:
                break
            self._open.append((block.start + begin, number, line))
            begin, number = begin + len(line) + 1, number + 1
        last = self._open[-1][2]
        self._widen(last)
        if end < len(data) or not _may_go_on(last, self._widest) or len(self._open) >= _WRAPPED_LINES:
            self._close(block.form)
        return number

    def _close(self, form: Form = "8-bit") -> None:
        """Add the lines that may belong together."""
        if not self._open:
            return
        lines, self._open = self._open, []
        start, number, _ = lines[0]
        raw = b"\n".join(line for _, _, line in lines)
        raw = raw[:-1] if raw.endswith(b"\r") else raw
        parts = [_ESCAPES.sub(b"", line).rstrip(b"\r") for _, _, line in lines]
        which = dict.fromkeys(
            self.keywords.numbers[pattern]
            for text in dict.fromkeys([b"\n".join(parts), b"".join(parts)])
            for pattern, _, _ in self.keywords.find(text)
        )
        if which:
            self._add_all(which, Hit(self.log, number, start, raw, 0, form, b""))
            self.store.matched_lines += sum(bool(self.keywords.find(part)) for part in parts)


_CODEC: dict[Form, str] = {"8-bit": "ascii", "utf-16-le": "utf-16-le", "utf-16-be": "utf-16-be"}


def _ends_in_lf(data: bytes) -> bool:
    return b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")


def _width(line: bytes) -> int:
    """Return the length of a line without its colours and its CR."""
    clean = _ESCAPES.sub(b"", line) if b"\x1b" in line else line
    return len(clean) - clean.endswith(b"\r")


def _may_go_on(line: bytes, widest: int) -> bool:
    """Return whether a terminal may have broken a line here: it is as wide as one, or a bracket is open."""
    size = _width(line)
    if size in WIDTHS:
        return size == widest
    return 0 < size < widest <= _TERMINAL_MOST and line.rfind(b"[") > line.rfind(b"]")


def hits_of(store: Store, numbers: Iterable[int], most: int | None = None) -> Iterator[Hit]:
    """Return the hits of several texts, at most the first so many of each, in the order of the logs, each once."""
    found = {(hit.log, hit.start): hit for number in numbers for hit in store.hits.get(number, [])[:most]}
    return (found[place] for place in sorted(found))
