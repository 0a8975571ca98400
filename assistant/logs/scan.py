"""Finds the few lines of a log that matter: those with a text that some rule looks for, a code or a word of alarm.

blocks of bytes -> one pass of an engine for all texts at once -> hits, kept as bytes until asked for

What is kept is bounded however long the log is: of each text the first `FIRST` lines and then `LATER` in each cell of
the log. A cell is a MiB in the first 8 MiB; then each doubling of the log has 4, so that 10 GB have 50. The grid of
cells belongs to the log, not to the portions in which it arrives, so portions change nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from assistant.logs.decode import ESCAPE, LINE_MOST, Block, Form, reads_otherwise
from assistant.logs.keywords import Keywords
from assistant.logs.records import WIDTHS
from assistant.logs.store import Hit, Store, Suspect

__all__ = ["FIRST", "LATER", "SUSPECTS_MOST", "Scanner"]

FIRST = 64
LATER = 2
#: So many suspicious lines of each MiB are counted by their form (fewer from where cells grow), and so many forms are
#: told apart.
SUSPECTS_MOST = 128
LATER_SUSPECTS_MOST = 32
FORMS_MOST = 512
_MIB = 20
#: From so many MiB on, cells grow; so many bits of the number of a MiB tell its cell.
_CELLS_GROW = 8
_CELL_BITS = 3
#: In so many bytes of a log a terminal may have broken lines; longer logs come from no terminal.
WRAPPED_MOST = 4 << 20
_WRAPPED_LINES = 8
_TERMINAL_MOST = max(WIDTHS)
#: Bytes before an indented line that are kept, to find the head that it belongs to.
CONTEXT = 1024
_SEAM = 2048
#: Of a long line so many bytes before a text are kept, and three times as many behind it.
_AROUND = 512
# A container's JSON whose text has no escapes but its line end, so that it can be searched as it stands.
_PLAIN_JSON = re.compile(rb'\{"log": ?"[^\\\0 ][^\\\0\r]*+(?:\\r)?\\n"[^\\\0\r]*+\r?')
_DIGITS = b"0123456789"
#: What an indented line begins with; one in a container's JSON may be indented, too.
_STARTS = (b" ", b"\t", b"{")
_ESCAPES = re.compile(ESCAPE.encode())


_Scan = Callable[[Block, int, int, int], int]
"""Scans lines of a block: (block, begin, end, number of the first) -> number of the line behind them."""


class Scanner:
    """Scans the blocks of one log, in order."""

    def __init__(self, log: int, keywords: Keywords, store: Store) -> None:
        self.log = log
        self.keywords = keywords
        self.store = store
        self._segment = -1
        self._cell = -1
        self._seen: dict[int, int] = {}
        """Lines of this cell that were kept, per text."""
        self._spent = bytearray(len(keywords.patterns))
        """Per pattern, 1 if this cell, or this MiB for an alarm, has given enough lines with its text."""
        self._are_alarms_spent = False
        self._suspects = 0
        self._suspect_at = -1
        self._is_unended = False
        """Whether the last line has no end yet."""
        self._is_counted = False
        """Whether the line that is still open counts as a matched one."""
        self._tail = b""
        """The last bytes before the block that comes next."""
        self._piece_tail = b""
        """Likewise, if that block goes on with the same line."""
        self._open: list[tuple[int, int, bytes, bytes]] = []
        """(start, number, bytes, lines before) of lines at the end that may go on in the next line."""
        self._widest = 0
        """Length of the longest line so far."""

    def copy(self, store: Store) -> "Scanner":
        """Return a scanner that goes on from here on its own, into another store."""
        twin = Scanner(self.log, self.keywords, store)
        twin._segment, twin._cell = self._segment, self._cell
        twin._seen, twin._spent, twin._are_alarms_spent = dict(self._seen), self._spent[:], self._are_alarms_spent
        twin._suspects, twin._suspect_at, twin._is_counted = self._suspects, self._suspect_at, self._is_counted
        twin._tail, twin._piece_tail, twin._open = self._tail, self._piece_tail, list(self._open)
        twin._widest, twin._is_unended = self._widest, self._is_unended
        return twin

    def scan(self, block: Block) -> None:
        """Add what a block shows to the store."""
        data = block.data
        self.store.bytes += len(data)
        self.store.lines += block.ended
        self._is_unended = data[-1:] not in (b"\n", b"\r", b"\0") if block.form == "8-bit" else not block.ended
        if not block.piece:
            self._is_counted = False
        if block.form == "8-bit":
            self._scan_bytes(block)
        else:
            self._close()
            self._scan_text(block, 0, len(data), block.number)
        self._tail = (self._tail + data)[-CONTEXT:]

    def finish(self) -> None:
        """Add what only waited for a next line."""
        self.store.lines += self._is_unended
        self._is_unended = False
        self._close()

    def _scan_bytes(self, block: Block) -> None:
        """Scan a block in parts: most lines as they are, broken ones together, odd ones decoded."""
        data, first = block.data, 0
        if block.piece:
            end = data.find(b"\n") if b"\n" in data else len(data)
            if self._long(block, 0, end, block.number, block.piece) and not self._is_counted:
                self._is_counted = True
                self.store.matched_lines += 1
            first = min(end + 1, len(data))
        begin, number = first, block.number + (first > 0 and data[first - 1 : first] == b"\n")
        for scan, start, stop in self._parts(block, first):
            number = self._plain(block, begin, start, number)
            number = scan(block, start, stop, number)
            begin = stop
        self._plain(block, begin, len(data), number)
        if not data.endswith(b"\n"):
            self._piece_tail = data[data.rfind(b"\n") + 1 :][-_SEAM:] if not block.piece else self._piece_tail
        else:
            self._piece_tail = b""

    def _plain(self, block: Block, begin: int, end: int, number: int) -> int:
        """Scan whole lines that no terminal broke; return the number of the line behind them, if any is."""
        data = block.data
        while begin < end:
            # Up to the first line that begins in the next MiB of the log.
            border = (((block.start + begin) >> _MIB) + 1 << _MIB) - block.start
            stop = end if border >= end else min(data.find(b"\n", border - 1) + 1 or end, end)
            counted = begin
            if data.find(b"\x1b", begin, stop) >= 0:
                self._scan_clean(block, begin, stop, number)
            else:
                number, counted = self._loop(block, begin, stop, number)
            if stop < len(data):
                number += data.count(b"\n", counted, stop)
            begin = stop
        return number

    def _loop(self, block: Block, first: int, last: int, number: int) -> tuple[int, int]:
        """Go through the occurrences in lines of one MiB; this is the place where all the time goes.

        Returns:
            The number of a line and where it begins in the block.
        """
        data = block.data
        self._enter(block.start + first)
        keywords, spent, keep = self.keywords, self._spent, self._keep
        numbers, alarms = keywords.numbers, keywords.alarm_patterns.start
        log, form, base = self.log, block.form, block.start + first
        text = data if first == 0 and last == len(data) else data[first:last]
        find, behind = text.find, len(text) + 1
        lines = after = counted = long_to = 0
        is_matched = False
        hit: Hit | None = None
        for pattern, start, _ in keywords.find_anchors(text) if self._are_alarms_spent else keywords.find(text):
            if start >= after:
                after = find(b"\n", start) + 1 or behind
                is_matched, hit = False, None
            if not is_matched and pattern < alarms:
                is_matched = True
                lines += 1
            if spent[pattern] or start < long_to:
                continue
            if hit is None:
                begin = text.rfind(b"\n", 0, start) + 1
                number += text.count(b"\n", counted, begin)
                counted = begin
                if after - 1 - begin > LINE_MOST:
                    self._long(block, first + begin, first + after - 1, number, 0)
                    long_to = after
                    continue
                raw = text[begin : after - 1]
                raw = raw[:-1] if raw.endswith(b"\r") else raw
                hit = Hit(log, number, base + begin, raw, 0, form, self._before(block, first + begin))
            keep(numbers[pattern], hit)
        self.store.matched_lines += lines
        self._is_counted = is_matched and after > len(text)
        return number, first + counted

    def _enter(self, place: int) -> None:
        """Begin another MiB of the log, in which alarms, or another cell, in which all texts are worth lines again."""
        segment = place >> _MIB
        if segment == self._segment:
            return
        self._segment, self._suspects, self._suspect_at = segment, 0, -1
        grown = segment.bit_length() - _CELL_BITS if segment >= _CELLS_GROW else 0
        cell = segment >> grown << grown
        if cell != self._cell:
            self._cell, self._seen = cell, {}
            self._spent[:] = bytes(len(self._spent))
        self._spend(self.keywords.alarm_patterns, is_spent=False)
        self._are_alarms_spent = False

    def _spend(self, patterns: slice, *, is_spent: bool = True) -> None:
        count = len(self._spent[patterns])
        self._spent[patterns] = b"\1" * count if is_spent else bytes(count)

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
            self._spend(self.keywords.places[which])

    def _suspect(self, hit: Hit) -> None:
        self._suspects += 1
        self.store.alarm_lines += 1
        form = hit.raw.translate(None, _DIGITS)[:400]
        if (known := self.store.suspects.get(form)) is not None:
            known.count += 1
        elif len(self.store.suspects) < FORMS_MOST:
            self.store.suspects[form] = Suspect(1, hit)
        else:
            self.store.others += 1
        if self._suspects >= (SUSPECTS_MOST if self._segment < _CELLS_GROW else LATER_SUSPECTS_MOST):
            self._are_alarms_spent = True
            self._spend(self.keywords.alarm_patterns)
            self.store.are_alarms_cut = True

    def _before(self, block: Block, begin: int) -> bytes:
        """Return whole lines before a line that may continue a record."""
        if block.data[begin : begin + 2].strip(b"\0")[:1] not in _STARTS:
            return b""
        before = block.data[max(0, begin - CONTEXT) : begin]
        if len(before) < CONTEXT:
            before = (self._tail + before)[-CONTEXT:]
        if len(before) < CONTEXT:
            return before
        end = b"\n\0" if block.form == "utf-16-le" else b"\0\n" if block.form == "utf-16-be" else b"\n"
        cut = before.find(end)
        while cut >= 0 and cut % len(end):
            cut = before.find(end, cut + 1)
        return before[cut + len(end) :] if cut >= 0 else b""

    def _add(self, data: bytes, hit: Hit) -> bool:
        """Keep a hit for every text in `data`; return whether there is any but alarms."""
        found = self.keywords.find(data)
        self._add_all(dict.fromkeys(self.keywords.numbers[pattern] for pattern, _, _ in found), hit)
        return self.keywords.are_anchors(found)

    def _add_all(self, which: Iterable[int], hit: Hit) -> None:
        self._enter(hit.start)
        for number in which:
            if not self._spent[self.keywords.places[number].start]:
                self._keep(number, hit)

    def _long(self, block: Block, begin: int, end: int, number: int, piece: int) -> bool:
        """Scan a very long line by pieces, and the seams between them; return whether it has a text but alarms."""
        data, matched = block.data, False
        tail = self._piece_tail if piece else b""
        for start, stop, _, which in block._pieces(begin, end, number, piece):
            raw = data[start:stop]
            if tail:
                most = self.keywords.longest - 1
                around = tail[-most:] + raw[:most]
                border = min(len(tail), most)
                crossing = [one for one in self.keywords.find(around) if one[1] < border < one[2]]
                if crossing:
                    matched |= self.keywords.are_anchors(crossing)
                    whole = tail + raw[:_SEAM]
                    at = block.start + start - len(tail)
                    numbers = dict.fromkeys(self.keywords.numbers[pattern] for pattern, _, _ in crossing)
                    self._add_all(numbers, Hit(self.log, number, at, whole, which, block.form, b""))
            matched |= self._add_piece(raw, block.start + start, number, which, block.form)
            tail = raw[-_SEAM:]
        self._piece_tail = tail
        return matched

    def _add_piece(self, raw: bytes, start: int, number: int, piece: int, form: Form) -> bool:
        """Keep for every text in a piece of a long line what is around its first occurrence.

        Returns:
            Whether there is any text but alarms.
        """
        numbers, found = self.keywords.numbers, dict[int, int]()
        occurrences = self.keywords.find(raw)
        for pattern, first, _ in occurrences:
            found.setdefault(numbers[pattern], first)
        self._enter(start)
        begin = end = 0
        hit: Hit | None = None
        for which, first in found.items():
            if self._spent[self.keywords.places[which].start]:
                continue
            if hit is None or not begin <= first <= end - self.keywords.longest:
                # At blanks, which are never part of a longer character.
                begin, end = max(0, first - _AROUND), min(first + 3 * _AROUND, len(raw))
                begin = raw.find(b" ", begin, first) + 1 or begin if begin else 0
                end = raw.rfind(b" ", first + self.keywords.longest, end) + 1 or end if end < len(raw) else end
                hit = Hit(self.log, number, start + begin, raw[begin:end], piece or int(begin > 0), form, b"")
            self._keep(which, hit)
        return self.keywords.are_anchors(occurrences)

    def _scan_clean(self, block: Block, first: int, last: int, number: int) -> None:
        """Scan lines without their colours; lines stay lines."""
        data = block.data
        clean = _ESCAPES.sub(b"", data[first:last])
        found: dict[int, dict[int, None]] = {}
        matched: set[int] = set()
        line = place = 0
        for pattern, start, _ in self.keywords.find(clean):
            if start >= place:
                line += clean.count(b"\n", place, start)
                place = start
            found.setdefault(line, {})[self.keywords.numbers[pattern]] = None
            if pattern < self.keywords.alarm_patterns.start:
                matched.add(line)
        if not found:
            return
        self.store.matched_lines += len(matched)
        self._is_counted = line in matched and place > clean.rfind(b"\n")
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
                      self._before(block, begin))  # fmt: skip
            self._add_all(which, hit)

    def _scan_text(self, block: Block, begin: int, end: int, number: int) -> int:
        """Scan lines decoded, slow and right for every encoding and line end; return the next line's number."""
        part = block if end - begin == len(block.data) else self._part(block, begin, end, number)
        for line in part.lines():
            number = line.number
            text = line.text.encode("utf-8", "replace")
            before = b"" if line.piece else self._before(block, line.start - block.start)
            if self._add(text, Hit(self.log, line.number, line.start, line.raw, line.piece, block.form, before)):
                self.store.matched_lines += not line.piece or not self._is_counted
                self._is_counted = True
            elif not line.piece:
                self._is_counted = False
        self._piece_tail = b""
        return number + 1

    @staticmethod
    def _part(block: Block, begin: int, end: int, number: int) -> Block:
        return Block(block.data[begin:end], block.start + begin, number, 0, block.form)

    def _parts(self, block: Block, first: int) -> "Iterator[tuple[_Scan, int, int]]":
        """Yield the lines that are not scanned as they are: how, begin and end.

        Lines may belong together as a terminal of fixed width breaks them. No line of such a log is wider than the
        terminal: after a wider one, no line is taken for broken. Odd lines (zeros, JSON, CR inside) are decoded first.
        """
        data, size = block.data, len(block.data)
        has_odd = _has_odd(data)
        if not has_odd and not self._open and (block.start >= WRAPPED_MOST or self._widest > _TERMINAL_MOST):
            return
        begin, chain, length = first, first if self._open else -1, len(self._open)
        for line in data[first:].split(b"\n"):
            end = min(begin + len(line) + 1, size)
            if begin >= size:
                break
            is_json = has_odd and _PLAIN_JSON.fullmatch(line) is not None
            is_odd = has_odd and not is_json and _is_odd(line, end == size)
            if is_json or is_odd or self._widen(line, block.start + begin) > _TERMINAL_MOST:
                yield from self._ended(chain, begin)
                self._close(block.form)
                chain = -1
                if is_odd:
                    yield self._scan_text, begin, end
                elif not has_odd:
                    return
            elif chain >= 0 or len(line) in WIDTHS or line.rfind(b"[") > line.rfind(b"]") or end - begin == len(line):
                chain, length = (begin, 1) if chain < 0 else (chain, length + 1)
                if (not _may_go_on(line, self._widest) and end - begin > len(line)) or length >= _WRAPPED_LINES:
                    if length > 1:
                        yield self._chain, chain, end
                    chain = -1
            begin = end
        yield from self._ended(chain, size)

    def _ended(self, chain: int, end: int) -> "list[tuple[_Scan, int, int]]":
        return [(self._chain, chain, end)] if 0 <= chain < end else []

    def _widen(self, line: bytes, start: int) -> int:
        """Return the length of a line, and keep the longest; behind `WRAPPED_MOST` every line is too long."""
        if start >= WRAPPED_MOST:
            self._widest = max(self._widest, _TERMINAL_MOST + 1)
        if self._widest > _TERMINAL_MOST:
            return _TERMINAL_MOST + 1
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
            self._open.append((block.start + begin, number, line, self._before(block, begin)))
            begin, number = begin + len(line) + 1, number + 1
        last = self._open[-1][2]
        self._widen(last, self._open[-1][0])
        if end < len(data) or not _may_go_on(last, self._widest) or len(self._open) >= _WRAPPED_LINES:
            self._close(block.form)
        return number

    def _close(self, form: Form = "8-bit") -> None:
        """Add the lines that may belong together."""
        if not self._open:
            return
        lines, self._open = self._open, []
        start, number, _, before = lines[0]
        raw = b"\n".join(line for _, _, line, _ in lines)
        raw = raw[:-1] if raw.endswith(b"\r") else raw
        parts = [_ESCAPES.sub(b"", line).rstrip(b"\r") for _, _, line, _ in lines]
        which = dict.fromkeys(
            self.keywords.numbers[pattern]
            for text in dict.fromkeys([b"\n".join(parts), b"".join(parts)])
            for pattern, _, _ in self.keywords.find(text)
        )
        if which:
            self._add_all(which, Hit(self.log, number, start, raw, 0, form, before))
            self.store.matched_lines += sum(self.keywords.are_anchors(self.keywords.find(part)) for part in parts)


def _ends_in_lf(data: bytes) -> bool:
    return b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")


def _has_odd(data: bytes) -> bool:
    return reads_otherwise(data) or not _ends_in_lf(data)


def _is_odd(line: bytes, is_last: bool) -> bool:
    """Return whether a line must be decoded before it is searched: zeros, a container's JSON, a CR that ends a line."""
    if reads_otherwise(line):
        return True
    return b"\r" in line and (is_last or line.find(b"\r") < len(line) - 1)


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
