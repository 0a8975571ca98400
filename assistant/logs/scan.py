"""Finds the few lines of a log that matter: those with a text that some rule looks for, a code or a word of alarm.

blocks of bytes -> one pass of an automaton (Aho-Corasick) over all texts at once -> hits, kept as bytes until asked for

What is kept is bounded however long the log is: of each text the first `FIRST` lines and then `LATER` in each MiB of
the log. The grid of MiB belongs to the log, not to the portions in which it arrives, so portions change nothing.
"""

import copy
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assistant.logs.decode import LINE_MOST, Block, Form
from assistant.logs.records import WIDTHS

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

__all__ = ["FIRST", "LATER", "Hit", "Keywords", "Scanner", "Store", "Suspect"]

FIRST = 64
LATER = 2
#: So many suspicious lines of each MiB are counted by their form, and so many forms are told apart.
SUSPECTS_MOST = 512
FORMS_MOST = 4096
_MIB = 20
#: In so many bytes of a log a terminal may have broken lines; longer logs come from no terminal.
WRAPPED_MOST = 16 << 20
_WRAPPED_LINES = 8
#: Bytes before an indented line that are kept, to find the head that it belongs to.
CONTEXT = 2048
_CONTEXTS_MOST = 16
_SEAM = 2048
_DIGITS = b"0123456789"
_ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|[\]PX^_][^\x07\x1b\n]*+(?:\x07|\x1b\\)|[ -/]{1,2}[0-~]|[0-OQ-WYZ\\`-~])?+"
)


@dataclass(frozen=True, slots=True)
class Hit:
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
        self._suspects = 0
        self._tail = b""
        """The last bytes before the block that comes next."""
        self._piece_tail = b""
        """Likewise, if that block goes on with the same line."""
        self._open: list[tuple[int, int, bytes]] = []
        """(start, number, bytes) of lines at the end that may go on in the next line."""

    def copy(self, store: Store) -> "Scanner":
        """Return a scanner that goes on from here on its own, into another store."""
        twin = Scanner(self.log, self.keywords, store)
        twin._segment, twin._seen, twin._suspects = self._segment, dict(self._seen), self._suspects
        twin._tail, twin._piece_tail, twin._open = self._tail, self._piece_tail, list(self._open)
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
        self.store.lines += data.count(b"\n") + (not data.endswith(b"\n") and not block.piece)
        if block.piece:
            end = data.find(b"\n") if b"\n" in data else len(data)
            self._long(block, 0, end, block.number, block.piece)
            first = end + 1
        elif self._open or block.start < WRAPPED_MOST:
            if self._has_wrapped(data):
                self._scan_lines(block)
                return
            self._close()
        has_escapes = b"\x1b" in data
        if has_escapes:
            self._scan_clean(block, first)
        else:
            self._loop(block, data, first)
        if not data.endswith(b"\n"):
            self._piece_tail = data[data.rfind(b"\n") + 1 :][-_SEAM:] if not block.piece else self._piece_tail
        else:
            self._piece_tail = b""

    def _loop(self, block: Block, data: bytes, first: int) -> None:
        """Go through the occurrences; this is the place where all the time goes."""
        store, numbers, alarm_from = self.store, self.keywords.numbers, self.keywords.alarm_from
        seen, base = self._seen, block.start
        number, counted = block.number, 0
        after = first
        for pattern, start, _ in self.keywords.find(data):
            if start < first:
                continue
            if start >= after:
                begin = data.rfind(b"\n", after, start) + 1 or after
                end = data.find(b"\n", start)
                end = len(data) if end < 0 else end
                after = end + 1
                if end - begin > LINE_MOST:
                    number += data.count(b"\n", counted, begin)
                    counted = begin
                    self._long(block, begin, end, number, 0)
                    first = after
                    continue
                store.matched_lines += 1
                suspicious = False
                hit = None
                if (base + begin) >> _MIB != self._segment:
                    self._next_segment((base + begin) >> _MIB)
                    seen = self._seen
            which = numbers[pattern]
            if which >= alarm_from:
                if suspicious or self._suspects >= SUSPECTS_MOST:
                    continue
                suspicious = True
            elif (count := seen.get(which, 0)) >= LATER and len(store.hits.get(which, ())) >= FIRST:
                continue
            else:
                seen[which] = count + 1
            if hit is None:
                raw = data[begin : end - (data[end - 1 : end] == b"\r")]
                number += data.count(b"\n", counted, begin)
                counted = begin
                hit = Hit(self.log, number, base + begin, raw, 0, block.form, self._before(data, begin, which))
            self._keep(which, hit)

    def _keep(self, which: int, hit: Hit) -> None:
        if which >= self.keywords.alarm_from:
            self._suspect(hit)
            return
        hits = self.store.hits.setdefault(which, [])
        # A line with the same text twice is one.
        if not hits or hits[-1] is not hit:
            hits.append(hit)
            self.store.counts[which] = self.store.counts.get(which, 0) + 1

    def _suspect(self, hit: Hit) -> None:
        self._suspects += 1
        form = hit.raw.translate(None, _DIGITS)[:400]
        if (known := self.store.suspects.get(form)) is not None:
            known.count += 1
        elif len(self.store.suspects) < FORMS_MOST:
            self.store.suspects[form] = Suspect(1, hit)
        else:
            self.store.others += 1

    def _next_segment(self, segment: int) -> None:
        if self._suspects >= SUSPECTS_MOST:
            for suspect in self.store.suspects.values():
                suspect.at_least = True
        self._segment = segment
        self._seen = {}
        self._suspects = 0

    def _admits(self, which: int, start: int) -> bool:
        """Return whether one more line with this text is kept; as in `_loop`, for the slower ways."""
        if start >> _MIB != self._segment:
            self._next_segment(start >> _MIB)
        if which >= self.keywords.alarm_from:
            return self._suspects < SUSPECTS_MOST
        count = self._seen.get(which, 0)
        if count >= LATER and len(self.store.hits.get(which, ())) >= FIRST:
            return False
        self._seen[which] = count + 1
        return True

    def _before(self, data: bytes, begin: int, which: int) -> bytes:
        """Return whole lines before an indented line."""
        if data[begin : begin + 1] not in (b" ", b"\t") or len(self.store.hits.get(which, ())) >= _CONTEXTS_MOST:
            return b""
        before = data[max(0, begin - CONTEXT) : begin]
        if len(before) < CONTEXT:
            before = (self._tail + before)[-CONTEXT:]
        return before if len(before) < CONTEXT else before[before.find(b"\n") + 1 :]

    def _add(self, data: bytes, hit: Hit) -> None:
        """Keep a hit for every text in `data`."""
        which = dict.fromkeys(self.keywords.numbers[pattern] for pattern, _, _ in self.keywords.find(data))
        self._add_all(list(which), hit)

    def _add_all(self, which: Iterable[int], hit: Hit) -> None:
        is_suspect = False
        matched = False
        for number in which:
            matched = True
            if number >= self.keywords.alarm_from:
                if is_suspect:
                    continue
                is_suspect = True
            if self._admits(number, hit.start):
                self._keep(number, hit)
        self.store.matched_lines += matched

    def _long(self, block: Block, begin: int, end: int, number: int, piece: int) -> None:
        """Scan a very long line by pieces, and the seams between them."""
        data = block.data
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
                    whole = tail + raw[:_SEAM]
                    at = block.start + start - len(tail)
                    self._add_all(crossing, Hit(self.log, number, at, whole, which, block.form, b""))
            self._add(raw, Hit(self.log, number, block.start + start, raw, which, block.form, b""))
            tail = raw[-_SEAM:]
        self._piece_tail = tail

    def _scan_clean(self, block: Block, first: int) -> None:
        """Scan a block without its colours; lines stay lines."""
        data = block.data
        clean = _ESCAPES.sub(b"", data[first:])
        found: dict[int, dict[int, None]] = {}
        line = place = 0
        for pattern, start, _ in self.keywords.find(clean):
            if start >= place:
                line += clean.count(b"\n", place, start)
                place = start
            found.setdefault(line, {})[self.keywords.numbers[pattern]] = None
        if not found:
            return
        begin, at = first, 0
        offset = data.count(b"\n", 0, first)
        for wanted, which in found.items():
            while at < wanted:
                begin = data.find(b"\n", begin) + 1
                at += 1
            end = data.find(b"\n", begin)
            end = len(data) if end < 0 else end
            if end - begin > LINE_MOST:
                self._long(block, begin, end, block.number + offset + at, 0)
                continue
            raw = data[begin : end - (data[end - 1 : end] == b"\r")]
            hit = Hit(self.log, block.number + offset + at, block.start + begin, raw, 0, block.form,
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
            self._add(text, Hit(self.log, line.number, line.start, line.raw, line.piece, block.form, context))
            before = [*before[-3:], line.raw[:512] + "\n".encode(_CODEC[block.form])]
        self._piece_tail = b""

    def _has_wrapped(self, data: bytes) -> bool:
        if self._open:
            return True
        return any(_may_go_on(line) for line in data.split(b"\n"))

    def _scan_lines(self, block: Block) -> None:
        """Scan a block in which a terminal may have broken lines: those that may belong together are one hit."""
        data = block.data
        begin, number = 0, block.number
        while begin < len(data):
            end = data.find(b"\n", begin)
            end = len(data) if end < 0 else end
            if end - begin > LINE_MOST:
                self._close()
                self._long(block, begin, end, number, 0)
            else:
                raw = data[begin : end - (data[end - 1 : end] == b"\r")]
                self._open.append((block.start + begin, number, data[begin:end]))
                if not _may_go_on(_ESCAPES.sub(b"", raw)) or len(self._open) >= _WRAPPED_LINES:
                    self._close(block.form, data, begin)
            begin, number = end + 1, number + 1
        if not data.endswith(b"\n"):
            self._piece_tail = data[data.rfind(b"\n") + 1 :][-_SEAM:]

    def _close(self, form: Form = "8-bit", data: bytes = b"", begin: int = 0) -> None:
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
            before = self._before(data, begin, next(iter(which))) if len(lines) == 1 else b""
            self._add_all(which, Hit(self.log, number, start, raw, 0, form, before))


_CODEC: dict[Form, str] = {"8-bit": "ascii", "utf-16-le": "utf-16-le", "utf-16-be": "utf-16-be"}


def _ends_in_lf(data: bytes) -> bool:
    return b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")


def _may_go_on(line: bytes) -> bool:
    """Return whether a terminal may have broken a line here: it is as wide as one, or a bracket is open."""
    size = len(line) - line.endswith(b"\r")
    return size in WIDTHS or (size < max(WIDTHS) and line.rfind(b"[") > line.rfind(b"]"))


def hits_of(store: Store, numbers: Iterable[int]) -> Iterator[Hit]:
    """Return the hits of several texts in the order of the logs, each once."""
    found = {(hit.log, hit.start): hit for number in numbers for hit in store.hits.get(number, ())}
    return (found[place] for place in sorted(found))
