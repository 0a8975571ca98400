"""From the bytes of the logs of one incident to the root cause.

bytes -> decode -> scan (hits) -> facts -> rules (matches) -> findings, the earliest cause of each task first

Nothing is concluded that no rule says: a log without a cause is "undecided" and names what would decide, or "clean".
"""

import copy
import functools
import re
from collections.abc import Iterable, Sequence

from assistant.logs.decode import Decoder
from assistant.logs.facts import Fact, codes_of, evidence, facts, fits, is_same_task
from assistant.logs.keywords import Keywords
from assistant.logs.match import Match, matches
from assistant.logs.rules import Condition, Rule, rules
from assistant.logs.scan import Scanner
from assistant.logs.store import Store, hits_of
from assistant.logs.table import table
from assistant.logs.types import CodeLine, Diagnosis, Finding, Need, Verdict
from assistant.logs.unknown import ALARMS, looks_bad, unknown_lines
from assistant.logs.unpack import unpack

__all__ = ["Diagnoser", "diagnose"]

#: Words beside which logs print codes.
CODE_WORDS = (
    "rrorNo", "error code", "Error code", "errorCode", "error_code", "errcode", "errCode", "ErrCode", "retCode",
    "RetCode", "ret[", "ret =", "ret=", "ret:", "ret(", "ret ", "Ret [", "Ret ->", "errNo", "return[", "return code",
    "result[", "result =", "InnerCode", "error no", "errno",
    "with code", "failed: ", "错误码", "返回码", "返回值",
)  # fmt: skip

#: So many lines with each of these words are read for their codes.
CODE_LINES_MOST = 16

_SURE = {"documented": 0.95, "confirmed": 0.9, "inferred": 0.7}
_SHARED = 0.1
_CAPTURED = re.compile(r"\{([a-z_]{1,40})\}")
_STAMP = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})[-T ](\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}(?:\.\d{1,3})?))?")
#: Grammar -> platform whose software writes it.
_PLATFORMS = {
    "nano": "nano", "cann": "ascend", "torch": "ascend", "mindspore": "ascend", "horizon": "horizon", "rknn": "rknn",
    "cambricon": "cambricon",
}  # fmt: skip
_NEEDS = {
    "nano": Need(
        "把日志级别调到 debug（uapi_npu_dlog_setlevel(0x10, 0, 0)）后重现，给出报错之前的 [NDRV]、[NFS]、[NOS] 行",
        "reproduce with the log level at debug (uapi_npu_dlog_setlevel(0x10, 0, 0)) and give the [NDRV], [NFS], [NOS]"
        " lines before the error",
    ),
    "ascend": Need(
        "给出 ~/ascend/log 下同一时刻的 plog（多卡时所有 rank 的），级别 info（ASCEND_GLOBAL_LOG_LEVEL=1）",
        "give the plog of the same moment under ~/ascend/log (of all ranks if there are several), at level info"
        " (ASCEND_GLOBAL_LOG_LEVEL=1)",
    ),
    "": Need(
        "给出第一条报错之前的完整日志，级别调到最详细",
        "give the whole log before the first error, at the most detailed level",
    ),
}


class _Wanted:
    """Rules with the texts that they look for."""

    def __init__(self, given: tuple[Rule, ...]) -> None:
        self.rules = given
        texts: dict[str, int] = {}
        for rule in given:
            for condition in (*rule.all, *rule.any, *rule.none):
                for text in condition.anchors():
                    texts.setdefault(text, len(texts))
        words = [*CODE_WORDS, *sorted({code[:5] for code in table().meanings if code[:1] in ("E", "W")})]
        for word in words:
            texts.setdefault(word, len(texts))
        self.numbers = texts
        self.code_numbers = tuple(texts[word] for word in words)
        self.keywords = Keywords(tuple(texts), ALARMS)


@functools.lru_cache(maxsize=8)
def _wanted(given: tuple[Rule, ...]) -> _Wanted:
    return _Wanted(given)


class Diagnoser:
    """Reads the logs of one incident in portions and says at any time what they show."""

    def __init__(self, given: tuple[Rule, ...] | None = None) -> None:
        """Start without logs.

        Args:
            given: the rules; None for those of the corpus in use.

        Raises:
            BadInput: the rules of the corpus are broken.
        """
        self._wanted = _wanted(rules() if given is None else given)
        self._store = Store()
        self._logs: dict[int, tuple[Decoder, Scanner]] = {}
        self._count = 0

    def add(self) -> int:
        """Begin another log and return its number."""
        log = self._count
        self._count += 1
        self._logs[log] = (Decoder(), Scanner(log, self._wanted.keywords, self._store))
        return log

    def feed(self, log: int, data: bytes) -> None:
        """Read the next bytes of a log, unpacked ones."""
        decoder, scanner = self._logs[log]
        for block in decoder.feed(data):
            scanner.scan(block)

    def end(self, log: int) -> None:
        """Say that no more bytes of a log come; what it showed is kept."""
        decoder, scanner = self._logs.pop(log)
        for block in decoder.finish():
            scanner.scan(block)
        scanner.finish()

    @property
    def found_lines(self) -> int:
        """Lines so far in which something was found; a diagnosis can only change when it grows, or `pending_bytes`."""
        return self._store.matched_lines + self._store.alarm_lines

    @property
    def pending_bytes(self) -> int:
        """Bytes of lines that have not ended yet."""
        return sum(decoder.pending for decoder, _ in self._logs.values())

    def diagnosis(self) -> Diagnosis:
        """Return what the logs show so far, lines that are not ended yet included."""
        store = self._store.copy()
        for decoder, scanner in self._logs.values():
            twin = scanner.copy(store)
            for block in copy.deepcopy(decoder).finish():
                twin.scan(block)
            twin.finish()
        return _diagnosis(self._wanted, store)


def diagnose(
    logs: bytes | Iterable[bytes] | Sequence[Iterable[bytes]], given: tuple[Rule, ...] | None = None
) -> Diagnosis:
    """Return what logs show.

    Args:
        logs: one log as bytes, or several as portions of bytes each; gzip is unpacked.
        given: the rules; None for those of the corpus in use.

    Raises:
        BadInput: the rules of the corpus are broken.
    """
    diagnoser = Diagnoser(given)
    several: list[Iterable[bytes]] = [[logs]] if isinstance(logs, bytes) else [
        [one] if isinstance(one, bytes) else one for one in logs
    ]  # fmt: skip
    for portions in several:
        log = diagnoser.add()
        for portion in unpack(portions):
            diagnoser.feed(log, portion)
    return diagnoser.diagnosis()


def _diagnosis(wanted: _Wanted, store: Store) -> Diagnosis:
    cache: dict[int, list[Fact]] = {}

    def facts_of(condition: Condition) -> list[Fact]:
        if (known := cache.get(id(condition))) is None:
            numbers = [wanted.numbers[text] for text in condition.anchors()]
            known = [
                fact for hit in hits_of(store, numbers) for fact in facts(hit) if fits(condition, fact) is not None
            ]
            known = cache[id(condition)] = list({fact.place: fact for fact in known}.values())
        return known

    found: list[Match] = []
    for rule in wanted.rules:
        if all(any(wanted.numbers[text] in store.hits for text in one.anchors()) for one in rule.all):
            found += matches(rule, facts_of)
    coded = [fact for hit in hits_of(store, wanted.code_numbers, CODE_LINES_MOST) for fact in facts(hit)]
    written = _written([*coded, *(fact for match in found for fact in match.facts)])
    # A rule for one platform says nothing about a log that only another one's software wrote.
    found = [match for match in found if not written or match.rule.platform in written]
    met = {match.rule.id: match.rule for match in found}.values()
    known = [fact for rule in met for condition in (*rule.all, *rule.any) for fact in facts_of(condition)]
    unknown = unknown_lines(store, known)
    findings = _ranked(found)
    verdict: Verdict = "clean"
    if any(finding.primary for finding in findings):
        verdict = "cause"
    elif unknown or any(finding.role == "symptom" for finding in findings):
        verdict = "undecided"
    told = {fact.place for fact in known}
    platforms = _platforms(found, coded + known)
    return Diagnosis(
        verdict=verdict,
        findings=findings,
        codes=_codes([fact for fact in coded if fact.place in told or looks_bad(fact)], platforms),
        unknown=unknown,
        needed=_needed(findings, wanted.rules, platforms) if verdict == "undecided" else (),
        lines=store.lines,
        bytes=store.bytes,
        matched_lines=store.matched_lines,
    )


def _ranked(found: list[Match]) -> tuple[Finding, ...]:
    """Return the matches as findings, answers first."""
    order = sorted(found, key=_beginning(found))
    explained: dict[int, list[str]] = {i: [] for i in range(len(order))}
    explains: dict[int, list[str]] = {i: [] for i in range(len(order))}
    for i, one in enumerate(order):
        for j, other in enumerate(order):
            if i != j and _explains(one, other):
                explained[j].append(one.rule.id)
                explains[i].append(other.rule.id)
    primary: list[int] = []
    ties: dict[int, int] = {}
    for i, one in enumerate(order):
        if one.rule.role != "cause" or explained[i]:
            continue
        same = [j for j in primary if is_same_task(order[j].stream, one.stream)]
        tied = [j for j in same if {f.place for f in order[j].facts} & {f.place for f in one.facts}]
        if not same or tied:
            primary.append(i)
            for j in [i, *tied] if tied else []:
                ties[j] = len(tied) + 1
    findings = [_finding(one, i in primary, ties.get(i, 1), explains[i], explained[i]) for i, one in enumerate(order)]
    roles = {"cause": 0, "symptom": 1, "benign": 2}
    findings.sort(key=lambda finding: (not finding.primary, roles[finding.role], bool(finding.explained_by)))
    return tuple(_by_task(findings))


def _by_task(findings: list[Finding]) -> list[Finding]:
    """Order answers by where they begin, those of one line by confidence; the others stay as they are."""
    answers = [finding for finding in findings if finding.primary]
    first = min((finding.evidence[0].log for finding in answers), default=0)
    if all(finding.evidence[0].log == first for finding in answers):
        answers.sort(key=lambda finding: (finding.evidence[0].line, -finding.confidence))
    return [*answers, *(finding for finding in findings if not finding.primary)]


def _beginning(found: list[Match]) -> "functools.partial[tuple[object, ...]]":
    """Return a sort key: the time of the first evidence if all have one and there are several logs, else its place."""
    is_timed = len({match.facts[0].log for match in found}) > 1 and all(_time(m.facts[0].time) for m in found)
    return functools.partial(_key, is_timed)


def _key(is_timed: bool, match: Match) -> tuple[object, ...]:
    first = match.facts[0]
    return (*(_time(first.time) if is_timed else ()), first.log, first.line, -len(match.facts))


def _time(text: str) -> tuple[int, ...]:
    found = _STAMP.search(text)
    if found is None:
        return ()
    return (*(int(part) for part in found.groups()[:6]), int((found[7] or "0").replace(".", "").ljust(9, "0")[:9]))


def _explains(one: Match, other: Match) -> bool:
    """Return whether the second is only a consequence of the first."""
    if one.rule.id == other.rule.id:
        return False
    if one.rule.role == "cause" and other.rule.spreads and not one.rule.spreads:
        return True
    if other.rule.id in one.rule.explains:
        return is_same_task(one.stream, other.stream) or one.facts[0].log != other.facts[0].log
    if one.rule.role != "cause" or other.rule.role == "benign":
        return False
    if not is_same_task(one.stream, other.stream):
        return False
    if other.rule.role == "symptom":
        return True
    if one.rule.id in other.rule.explains:
        return False
    places, others = {fact.place for fact in one.facts}, {fact.place for fact in other.facts}
    return others < places


def _finding(match: Match, primary: bool, ties: int, explains: list[str], explained: list[str]) -> Finding:
    rule, captures = match.rule, dict(match.captures)

    def filled(text: str) -> str:
        return _CAPTURED.sub(lambda name: captures.get(name[1], "?"), text)

    texts = [text for condition in (*rule.all, *rule.any) for text in condition.texts]
    return Finding(
        rule=rule.id,
        platform=rule.platform,
        role=rule.role,
        cause_zh=filled(rule.cause_zh),
        cause_en=filled(rule.cause_en),
        steps_zh=tuple(map(filled, rule.steps_zh)),
        steps_en=tuple(map(filled, rule.steps_en)),
        confidence=round((_SURE[rule.certainty] - _SHARED * match.is_shared) / ties, 3),
        certainty=rule.certainty,
        primary=primary,
        stream=" ".join(filter(None, match.stream)),
        evidence=tuple(evidence(f, next((text for text in texts if text in f.text), "")) for f in match.facts),
        count=match.count,
        entry=rule.entry,
        source=rule.source,
        explains=tuple(dict.fromkeys(explains)),
        explained_by=tuple(dict.fromkeys(explained)),
    )


def _platforms(found: list[Match], lines: list[Fact]) -> frozenset[str]:
    """Return the platforms in evidence: those of the rules met, else those whose software wrote the lines."""
    named = {match.rule.platform for match in found if match.rule.role != "benign"}
    return _written(lines) | named


def _written(lines: Iterable[Fact]) -> frozenset[str]:
    """Return the platforms whose software wrote the lines, as their heads say."""
    named = ((fact.grammar.partition("-")[0], fact) for fact in lines)
    # The head of a CANN line that lost its front looks like one of the Nano runtime, but names a C++ file.
    return frozenset(
        _PLATFORMS[name]
        for name, fact in named
        if name in _PLATFORMS and (name != "nano" or fact.file[-2:] in (".c", ""))
    )


def _codes(lines: list[Fact], platforms: frozenset[str]) -> tuple[CodeLine, ...]:
    """Return the codes in the lines, for the platforms in evidence, or all candidates."""
    known = table()
    first: dict[str, Fact] = {}
    counts: dict[str, int] = {}
    for fact in sorted(lines, key=lambda fact: fact.place):
        for code in codes_of(fact.text):
            first.setdefault(code, fact)
            counts[code] = counts.get(code, 0) + 1

    rows = []
    for code, fact in first.items():
        if meanings := known.told(code, platforms):
            rows.append(CodeLine(code, meanings, evidence(fact, code), counts[code]))
    return tuple(rows)


def _needed(findings: Sequence[Finding], given: Sequence[Rule], platforms: frozenset[str]) -> tuple[Need, ...]:
    """Return what would decide, as the symptoms say, else what is always asked for on the platform."""
    seen = {finding.rule for finding in findings if finding.role == "symptom" and not finding.explained_by}
    needs = [
        Need(zh, en) for rule in given if rule.id in seen for zh, en in zip(rule.needs_zh, rule.needs_en, strict=True)
    ]
    if not needs:
        needs = [_NEEDS[platform] for platform in sorted(platforms) if platform in _NEEDS] or [_NEEDS[""]]
    return tuple(dict.fromkeys(needs))
