"""What a hit says: its line decoded, with the head of the record that it belongs to."""

from dataclasses import dataclass
from functools import lru_cache

from assistant.logs.codes import find_codes
from assistant.logs.decode import Block, Line
from assistant.logs.records import Record, Recorder
from assistant.logs.rules import Condition
from assistant.logs.store import Hit
from assistant.logs.table import table
from assistant.logs.types import Evidence

__all__ = ["TEXT_MOST", "Fact", "Stream", "evidence", "facts", "fits", "is_same_task", "joined_task"]

#: (container or rank of the prefix, process or rank of the head); an empty part is unknown and fits any.
Stream = tuple[str, str]

#: Characters of a line that are shown.
TEXT_MOST = 600


@dataclass(frozen=True, slots=True)
class Fact:
    """One line, or lines that a terminal broke, as a rule sees it."""

    log: int
    line: int
    text: str
    """Without prefixes and colours, head included."""
    stream: Stream
    level: str
    module: str
    file: str
    time: str
    grammar: str
    parts: tuple[Line, ...]

    @property
    def place(self) -> tuple[int, int, int]:
        """Where it stands: log, line, offset."""
        return self.log, self.line, self.parts[0].start


@lru_cache(maxsize=8192)
def facts(hit: Hit) -> tuple[Fact, ...]:
    """Return the records of a hit's lines, in order."""
    recorder = Recorder(is_terminal=b"\n" in hit.raw)
    records: list[Record] = []
    for line in [*_before(hit), *Block(hit.raw, hit.start, hit.number, hit.piece, hit.form).lines()]:
        records += recorder.feed(line)
    records += recorder.finish()
    return tuple(fact for record in records for fact in _facts(record, hit))


def _before(hit: Hit) -> list[Line]:
    if not hit.before:
        return []
    lines = list(Block(hit.before, hit.start - len(hit.before), 1, 0, hit.form).lines())
    # Only the record that the hit may continue: from the last line that is not indented.
    first = max((i for i, line in enumerate(lines) if line.text[:1] not in (" ", "\t", "")), default=0)
    return lines[first:]


def _facts(record: Record, hit: Hit) -> list[Fact]:
    own = [line for line in record.lines if line.start >= hit.start]
    groups: list[list[Line]] = []
    for line in own:
        if groups and "\n" + line.text not in record.message:
            groups[-1].append(line)
        else:
            groups.append([line])
    return [_fact(record, group, hit.log) for group in groups]


def _fact(record: Record, lines: list[Line], log: int) -> Fact:
    rank = "" if record.stream == lines[0].stream else record.stream
    return Fact(
        log=log,
        line=lines[0].number,
        text="".join(line.text for line in lines),
        stream=(lines[0].stream, f"pid {record.pid}" if record.pid else rank),
        level=record.level,
        module=record.module,
        file=record.file,
        time=record.timestamp or lines[0].time,
        grammar=record.grammar,
        parts=tuple(lines),
    )


def is_same_task(one: Stream, other: Stream) -> bool:
    """Return whether two lines may come from one task."""
    return all(a == b or not a or not b for a, b in zip(one, other, strict=True))


def joined_task(one: Stream, other: Stream) -> Stream:
    """Return what is known of the task of two lines."""
    return one[0] or other[0], one[1] or other[1]


def fits(condition: Condition, fact: Fact) -> dict[str, str] | None:
    """Return what a condition captures of a fact, None if the fact does not meet it."""
    if condition.texts and not any(text in fact.text for text in condition.texts):
        return None
    if condition.module and fact.module and fact.module != condition.module:
        return None
    if condition.file and fact.file and fact.file.rpartition("/")[2] != condition.file:
        return None
    if condition.codes and not codes_of(fact.text).intersection(condition.codes):
        return None
    if condition.match is None:
        return {}
    found = condition.match.search(fact.text)
    return None if found is None else {name: value for name, value in found.groupdict().items() if value}


@lru_cache(maxsize=4096)
def codes_of(text: str) -> frozenset[str]:
    """Return the keys of the codes in a text, and of those packed into them."""
    known = table()
    found: set[str] = set()
    for one in find_codes(text):
        found.add(one.code)
        found.update(meaning.code for meaning in known.of(one.code))
    return frozenset(found)


def evidence(fact: Fact, around: str = "") -> Evidence:
    """Return a fact as evidence: the whole line, or of a very long one the part with the text `around`."""
    first, last = fact.parts[0], fact.parts[-1]
    if len(fact.text) <= TEXT_MOST or len(fact.parts) > 1:
        return Evidence(fact.log, fact.line, first.start, last.end, fact.text[:TEXT_MOST], fact.time)
    place = max(0, fact.text.find(around))
    begin = max(0, min(place - TEXT_MOST // 4, len(fact.text) - TEXT_MOST))
    start, end = first.span(begin, begin + TEXT_MOST)
    return Evidence(fact.log, fact.line, start, end, fact.text[begin : begin + TEXT_MOST], fact.time)
