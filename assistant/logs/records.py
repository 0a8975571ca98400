"""Log lines as records: the head read by its grammar, and the lines that belong to it kept together.

Lines of different streams (task, rank, container) may interleave: each continues the record of its own stream. Records
come out in the order in which they begin, whatever the portions in which the lines arrive.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from assistant.logs.decode import Line
from assistant.logs.grammars import GRAMMARS, TEXT, Grammar, level_of

__all__ = ["IDLE_MOST", "LINES_MOST", "WIDTHS", "Record", "Recorder", "head", "records"]

#: A record holds at most so many lines; what follows begins another.
LINES_MOST = 400
#: A record ends when so many lines of other streams have come since its last.
IDLE_MOST = 64

#: Columns of the terminals that break long lines.
WIDTHS = frozenset({80, 100, 120, 128, 132, 160})
_TRACE_END = re.compile(r"[\w.]{1,200}(?::|$)")
_TRACE_LINK = re.compile(r"(?:During handling of the above|The above exception was the direct cause)")
_CLOSED = re.compile(r"[^\[\]\n]{0,40}\]")
_INDENTED = re.compile(r"[ \t]{2,}\S|\t")
_CUTS = frozenset(grammar.cut for grammar in GRAMMARS if grammar.cut)
_TEXT = Grammar(TEXT, re.compile(r"(?P<message>.*)", re.DOTALL))


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of a log, of one or more lines."""

    level: str
    """debug, info, warning, error, critical, or empty if the record does not say."""
    module: str
    file: str
    line_in_source: int | None
    pid: str
    tid: str
    timestamp: str
    """As written in the record, else in the prefix of its first line."""
    code: str
    """Code that the head names in a place of its own, as written."""
    message: str
    """Text behind the head, lines joined by LF; a line that a terminal broke is joined without."""
    stream: str
    """Container, process or rank; empty if unknown."""
    start: int
    """Offset of the first byte in the log."""
    end: int
    """Offset after the last byte; lines of other streams may lie between."""
    line: int
    """Number of the first line."""
    grammar: str
    lines: tuple[Line, ...]


@dataclass(slots=True)
class _Open:
    grammar: Grammar
    fields: dict[str, str]
    parts: list[str]
    lines: list[Line]
    seen: int
    """Count of lines when the last one came."""
    is_trace: bool
    """Whether the exception of a traceback is still to come."""
    is_closed: bool = False


def head(text: str) -> tuple[Grammar, dict[str, str]]:
    """Return the grammar that reads the head of a line, and its fields."""
    for grammar in GRAMMARS:
        for word in grammar.needs:
            if word in text:
                break
        else:
            if grammar.needs:
                continue
        if found := grammar.pattern.match(text):
            fields: dict[str, str] = {}
            for name, value in found.groupdict().items():
                if value and not fields.get(plain := name.rstrip("2345")):
                    fields[plain] = value
            return grammar, fields
    return _TEXT, {"message": text}


@dataclass(slots=True)
class Recorder:
    """Groups lines that arrive one by one into records."""

    is_terminal: bool = False
    """Whether a terminal may have broken lines of every grammar, not only of those that are read from terminals."""
    _open: dict[str, _Open] = field(default_factory=dict)
    _waiting: list[_Open] = field(default_factory=list)
    _seen: int = 0

    def feed(self, line: Line) -> list[Record]:
        """Return the records that are complete now."""
        self._seen += 1
        current = self._open.get(line.stream)
        found = head(line.text)
        if current is None or not self._joins(current, line, found):
            if current is not None:
                current.is_closed = True
            self._begin(line, *found)
        return self._ready()

    def pending(self) -> tuple[Record, ...]:
        """Return the records so far that later lines may still lengthen."""
        return tuple(_record(record) for record in self._waiting)

    def finish(self) -> list[Record]:
        """Return the records that are left."""
        left = [_record(record) for record in self._waiting]
        self._waiting.clear()
        self._open.clear()
        return left

    def _begin(self, line: Line, grammar: Grammar, fields: dict[str, str]) -> None:
        message = fields.get("whole") or fields.get("message", "")
        is_trace = grammar.traces or message.startswith("Traceback (most recent call last)")
        record = _Open(grammar, fields, [message], [line], self._seen, is_trace)
        self._open[line.stream] = record
        self._waiting.append(record)

    def _ready(self) -> list[Record]:
        """Close what has been idle; give away what is closed, in order."""
        done = 0
        for record in self._waiting:
            if not record.is_closed and self._seen - record.seen < IDLE_MOST:
                break
            done += 1
            stream = record.lines[0].stream
            if self._open.get(stream) is record:
                del self._open[stream]
        ready = [_record(record) for record in self._waiting[:done]]
        del self._waiting[:done]
        return ready

    def _joins(self, record: _Open, line: Line, found: tuple[Grammar, dict[str, str]]) -> bool:
        """Add the line to the record if it continues it."""
        joined = self._joined(record, line, *found)
        if joined is None or len(record.lines) >= LINES_MOST:
            return False
        record.parts.append(joined)
        record.lines.append(line)
        record.seen = self._seen
        return True

    def _joined(self, record: _Open, line: Line, grammar: Grammar, fields: dict[str, str]) -> str | None:
        """Return the text by which the line continues the record, None if it does not."""
        last = record.lines[-1]
        if line.piece:
            return line.text if line.number == last.number else None
        if rest := _mended(record, line, grammar):
            return rest
        if grammar is not _TEXT:
            return _same_head(record, grammar, fields)
        if (record.grammar.wraps or self.is_terminal) and last.text and _is_wrapped(record, last, line):
            return line.text
        if _INDENTED.match(line.text) or (record.grammar.more and record.grammar.more.match(line.text)):
            return "\n" + line.text if line.text.strip() and (record.grammar is not _TEXT) else None
        if record.is_trace and line.text.strip():
            record.is_trace = not _TRACE_END.match(line.text) and len(record.lines) < LINES_MOST
            return "\n" + line.text
        return None


def records(lines: Iterable[Line]) -> Iterator[Record]:
    """Return the records of a log in the order in which they begin."""
    recorder = Recorder()
    for line in lines:
        yield from recorder.feed(line)
    yield from recorder.finish()


def _mended(record: _Open, line: Line, own: Grammar) -> str | None:
    """Read anew a head that a terminal broke in two; None if it is whole, or the two lines make no head."""
    first = record.lines[0].text
    if len(record.lines) > 1 or not first.startswith("[") or not any(cut.match(first[:300]) for cut in _CUTS):
        return None
    whole, fields = head(first + line.text)
    if not whole.wraps or (own is whole and line.text.startswith("[")):
        return None
    record.grammar, record.fields = whole, fields
    record.parts = []
    return fields.get("whole") or fields.get("message", "") or " "


def _same_head(record: _Open, grammar: Grammar, fields: dict[str, str]) -> str | None:
    """Return the message of a line with a head that repeats the record's, as launchers print tracebacks."""
    message = fields.get("message", "")
    if grammar is not record.grammar or "file" not in fields or grammar.wraps:
        return None
    if any(fields.get(name) != record.fields.get(name) for name in ("level", "file", "line")):
        return None
    if record.is_trace:
        record.is_trace = message[:1].isspace() or not _TRACE_END.match(message)
        return "\n" + message
    return "\n" + message if message[:2].isspace() and message.strip() else None


def _is_wrapped(record: _Open, last: Line, line: Line) -> bool:
    """Whether a terminal broke the record's last line: its width is a terminal's, or a bracket is closed only here."""
    if not line.text or _INDENTED.match(line.text):
        return False
    if len(last.text) in WIDTHS or len(last.raw.rstrip(b"\r")) in WIDTHS:
        return True
    text = "".join(record.parts[-1:])
    return text.rfind("[") > text.rfind("]") and _CLOSED.match(line.text) is not None


def _record(record: _Open) -> Record:
    fields, first = record.fields, record.lines[0]
    number = fields.get("line", "")
    card, rank = fields.get("card"), fields.get("rank")
    stream = first.stream or (f"rank {rank}" if rank and rank != "-1" else "") or (f"card {card}" if card else "")
    return Record(
        level=level_of(fields.get("level", "")) or record.grammar.level,
        module=fields.get("module", "").strip("[]"),
        file=fields.get("file", ""),
        line_in_source=int(number) if number else None,
        pid=fields.get("pid", ""),
        tid=fields.get("tid", ""),
        timestamp=fields.get("time", "") or first.time,
        code=fields.get("code", ""),
        message="".join(record.parts),
        stream=stream,
        start=first.start,
        end=record.lines[-1].end,
        line=first.number,
        grammar=record.grammar.name,
        lines=tuple(record.lines),
    )
