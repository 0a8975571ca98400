"""Which rules the facts of a log meet."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assistant.logs.facts import Fact, Stream, fits, is_same_task, joined_task
from assistant.logs.rules import Condition, Rule

__all__ = ["Match", "matches"]

#: So many lines are tried as the first evidence of a rule.
ANCHORS_MOST = 512


@dataclass(frozen=True, slots=True)
class Match:
    """A rule, and the facts that meet it."""

    rule: Rule
    facts: tuple[Fact, ...]
    """One per condition of `all`, then one of `any`; in the order of the log, each once."""
    stream: Stream
    captures: tuple[tuple[str, str], ...]
    count: int
    is_shared: bool
    """Whether the evidence is spread over several logs."""


FactsOf = Callable[[Condition], Sequence[Fact]]


def matches(rule: Rule, facts_of: FactsOf) -> list[Match]:
    """Return where a rule is met, at most once per task, in order.

    Args:
        rule: the rule.
        facts_of: gives the facts that meet a condition, in order.
    """
    wanted = [facts_of(condition) for condition in rule.all]
    if not all(wanted):
        return []
    options = [fact for condition in rule.any for fact in facts_of(condition)]
    options.sort(key=lambda fact: fact.place)
    if rule.any and not options:
        return []
    against = [fact for condition in rule.none for fact in facts_of(condition)]
    logs = sorted({fact.log for facts in [*wanted, options] for fact in facts})
    found: list[Match] = []
    for log in logs:
        own = [[fact for fact in facts if fact.log == log] for facts in wanted]
        found += _in_log(rule, own, [fact for fact in options if fact.log == log], against)
    if not found and len(logs) > 1:
        found = _over_logs(rule, wanted, options, against)
    return found


def _in_log(rule: Rule, wanted: list[list[Fact]], options: list[Fact], against: Sequence[Fact]) -> list[Match]:
    """Find evidence within the window of one log."""
    found: list[Match] = []
    anchors = wanted[0] if wanted else options
    lines = [[fact.line for fact in facts] for facts in wanted]
    option_lines = [fact.line for fact in options]
    counts: dict[int, int] = {}
    for anchor in anchors[:ANCHORS_MOST]:
        known = next((i for i, match in enumerate(found) if is_same_task(match.stream, anchor.stream)), None)
        if known is not None:
            counts[known] = counts.get(known, 1) + 1
            continue
        chosen, stream = [anchor], anchor.stream
        for facts, places in zip(wanted[1:], lines[1:], strict=True):
            nearest = _nearest(facts, places, anchor, chosen[-1] if rule.order else None, stream, rule.window)
            if nearest is None:
                break
            chosen.append(nearest)
            stream = joined_task(stream, nearest.stream)
        else:
            if rule.any and wanted:
                nearest = _nearest(options, option_lines, anchor, None, stream, rule.window)
                if nearest is None:
                    continue
                chosen.append(nearest)
                stream = joined_task(stream, nearest.stream)
            if _spans(chosen) < rule.window and not _speaks_against(against, chosen, stream, rule.window):
                found.append(_match(rule, chosen, stream, is_shared=False))
    return [_counted(match, counts.get(i, 1)) for i, match in enumerate(found)]


def _nearest(
    facts: list[Fact], lines: list[int], anchor: Fact, after: Fact | None, stream: Stream, window: int
) -> Fact | None:
    """Return the fact of the same task nearest to the anchor, or the first one after another."""
    first = bisect_left(lines, anchor.line - window + 1 if after is None else after.line)
    best: Fact | None = None
    for fact in facts[first:]:
        if fact.line >= anchor.line + window:
            break
        if not is_same_task(fact.stream, stream) or (after is not None and fact.place < after.place):
            continue
        if after is not None:
            return fact
        if best is not None and abs(fact.line - anchor.line) >= abs(best.line - anchor.line):
            if fact.line > anchor.line:
                break
            continue
        best = fact
    return best


def _spans(chosen: list[Fact]) -> int:
    places = [fact.line for fact in chosen]
    return max(places) - min(places)


def _speaks_against(against: Sequence[Fact], chosen: list[Fact], stream: Stream, window: int) -> bool:
    first, last = min(fact.line for fact in chosen), max(fact.line for fact in chosen)
    log = chosen[0].log
    return any(
        is_same_task(fact.stream, stream) and (fact.log != log or first - window < fact.line < last + window)
        for fact in against
    )


def _over_logs(rule: Rule, wanted: list[Sequence[Fact]], options: list[Fact], against: Sequence[Fact]) -> list[Match]:
    """Find evidence that several logs of one incident share; order and distance mean nothing there."""
    chosen: list[Fact] = []
    stream: Stream = ("", "")
    for facts in [*wanted, *([options] if rule.any else [])]:
        fact = next((one for one in facts if is_same_task(one.stream, stream)), None)
        if fact is None:
            return []
        chosen.append(fact)
        stream = joined_task(stream, fact.stream)
    if any(is_same_task(fact.stream, stream) for fact in against):
        return []
    return [_match(rule, chosen, stream, is_shared=True)]


def _match(rule: Rule, chosen: list[Fact], stream: Stream, *, is_shared: bool) -> Match:
    captures: dict[str, str] = {}
    for condition in [*rule.all, *rule.any]:
        for fact in chosen:
            captures.update(fits(condition, fact) or {})
    ordered = tuple(dict.fromkeys(sorted(chosen, key=lambda fact: fact.place)))
    return Match(rule, ordered, stream, tuple(captures.items()), 1, is_shared)


def _counted(match: Match, count: int) -> Match:
    return Match(match.rule, match.facts, match.stream, match.captures, count, match.is_shared)
