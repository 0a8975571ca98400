"""Whether log rules make sense: complete, tested by their samples, without a condition that no sample needs."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assistant.logs.decode import Block
from assistant.logs.diagnose import diagnose
from assistant.logs.facts import Fact, facts, fits
from assistant.logs.match import matches
from assistant.logs.rules import WINDOW, Condition, Rule
from assistant.logs.store import Hit

__all__ = ["form_problems", "mutation_problems", "sample_problems"]

SAMPLES_LEAST = 2
CAUSE_MOST = 200
_FILLER = re.compile(r"(?m)^@@ (\d{1,5})$")
_NAMES = re.compile(r"\{([a-z_]{1,40})\}")
_SLOW_S = 0.05


def form_problems(rules: Sequence[Rule], entries: frozenset[str] | None = None) -> list[str]:
    """Return what is wrong with the form of rules, a sentence each.

    Args:
        rules: all rules.
        entries: ids of the corpus; None to leave `entry` unchecked.
    """
    roles = {rule.id: rule.role for rule in rules}
    return [f"{rule.place}: {problem}" for rule in rules for problem in _form(rule, roles, entries)]


def _form(rule: Rule, roles: Mapping[str, str], entries: frozenset[str] | None) -> Iterator[str]:
    for name, samples in (("positive", rule.positive), ("negative", rule.negative)):
        if len(samples) < SAMPLES_LEAST:
            yield f"untested: {len(samples)} {name} samples, expected at least {SAMPLES_LEAST}"
        if len({sample.strip() for sample in samples}) < len(samples):
            yield f"two {name} samples are the same"
    yield from _text_form(rule)
    for other in rule.explains:
        if other not in roles:
            yield f"explains {other!r}, which does not exist"
    if entries is not None and rule.entry and rule.entry not in entries:
        yield f"the entry {rule.entry!r} does not exist"
    yield from _condition_form(rule)


def _text_form(rule: Rule) -> Iterator[str]:
    if len(rule.steps_zh) != len(rule.steps_en) or len(rule.needs_zh) != len(rule.needs_en):
        yield "steps or needs differ in number between the languages"
    if rule.role == "cause" and not rule.steps_en:
        yield "a cause without steps"
    if (rule.role == "symptom") != bool(rule.needs_en):
        yield "'needs_zh' and 'needs_en' belong to symptoms, and every symptom has them"
    if max(len(rule.cause_zh), len(rule.cause_en)) > CAUSE_MOST:
        yield f"the cause is longer than {CAUSE_MOST} characters"
    captured = {name for one in (*rule.all, *rule.any) if one.match for name in one.match.groupindex}
    for text in (rule.cause_zh, rule.cause_en, *rule.steps_zh, *rule.steps_en):
        for name in _NAMES.findall(text):
            if name not in captured:
                yield f"{{{name}}} is not captured by any condition"


def _condition_form(rule: Rule) -> Iterator[str]:
    if not rule.all and not rule.any:
        yield "no condition in 'all' or 'any'"
    conditions = [*rule.all, *rule.any, *rule.none]
    if len(set(conditions)) < len(conditions):
        yield "a condition is there twice"
    for condition in conditions:
        if condition.match is not None and (slow := _slowest(condition.match)) > _SLOW_S:
            yield f"{condition.match.pattern!r} takes {slow:.2f} s on a hostile line; bound its repetitions"


def _slowest(pattern: re.Pattern[str]) -> float:
    slowest = 0.0
    for text in ("a" * 8000, "1" * 8000, " " * 8000, "[" * 8000, "a1_ :=[]" * 1000):
        started = time.perf_counter()
        pattern.search(text)
        slowest = max(slowest, time.perf_counter() - started)
    return slowest


def sample_problems(rule: Rule, rules: Sequence[Rule]) -> list[str]:
    """Return which samples of a rule have another answer than they must, with all rules at work."""
    every = tuple(rules)
    problems = []
    for number, sample in enumerate(rule.positive, start=1):
        diagnosis = diagnose(expanded(sample).encode(), every)
        answers = [finding.rule for finding in diagnosis.findings if finding.primary]
        fired = [finding.rule for finding in diagnosis.findings]
        place = f"{rule.place}: positive sample {number}"
        if rule.id not in fired:
            problems.append(f"{place}: the rule does not fire; found: {', '.join(fired) or 'nothing'}")
        elif rule.role == "cause" and answers[:1] != [rule.id]:
            problems.append(f"{place}: the answer is {', '.join(answers) or 'none'}")
        elif rule.role == "cause" and len(answers) > 1:
            problems.append(f"{place}: conflict: {', '.join(answers[1:])} is an answer, too")
        elif rule.role == "symptom" and diagnosis.verdict != "undecided":
            problems.append(f"{place}: the verdict is {diagnosis.verdict}: {', '.join(answers)}")
        elif rule.role == "benign" and diagnosis.verdict != "clean":
            reasons = [*answers, *(one.template for one in diagnosis.unknown), *fired]
            problems.append(f"{place}: the verdict is {diagnosis.verdict}: {'; '.join(reasons)}")
    for number, sample in enumerate(rule.negative, start=1):
        if _fires(rule, _all_facts(sample)):
            problems.append(f"{rule.place}: negative sample {number}: the rule fires")
    return problems


def mutation_problems(rule: Rule) -> list[str]:
    """Return which parts of a rule could be dropped without any of its samples noticing."""
    positive, negative = map(_all_facts, rule.positive), map(_all_facts, rule.negative)
    samples = [*((facts, True) for facts in positive), *((facts, False) for facts in negative)]
    return [
        f"{rule.place}: no sample notices when {what} is dropped"
        for what, changed in mutants(rule)
        if all(_fires(changed, facts) == fires for facts, fires in samples)
    ]


def mutants(rule: Rule) -> Iterator[tuple[str, Rule]]:
    """Return the rule with one part dropped, for each part."""
    for name, conditions, needs_company in (
        ("all", rule.all, not rule.any), ("any", rule.any, not rule.all), ("none", rule.none, False)
    ):  # fmt: skip
        for i, condition in enumerate(conditions):
            # The only condition of a rule cannot be dropped: nothing would be left to look for.
            if len(conditions) > 1 or not needs_company:
                yield f"{name}[{i}]", _with(rule, name, conditions[:i] + conditions[i + 1 :])
            for what, less in _weakened(condition):
                yield f"{what} of {name}[{i}]", _with(rule, name, (*conditions[:i], less, *conditions[i + 1 :]))
    if rule.all and len(rule.any) > 1:
        yield "any", replace(rule, any=())
    if rule.order:
        yield "order", replace(rule, order=False)
    if rule.window != WINDOW:
        yield "window", replace(rule, window=1 << 40)


def _with(rule: Rule, name: str, conditions: tuple[Condition, ...]) -> Rule:
    if name == "all":
        return replace(rule, all=conditions)
    return replace(rule, any=conditions) if name == "any" else replace(rule, none=conditions)


def _weakened(condition: Condition) -> Iterator[tuple[str, Condition]]:
    texts, codes = condition.texts, condition.codes
    if len(texts) > 1:
        for i, text in enumerate(texts):
            yield f"the text {text!r}", replace(condition, texts=texts[:i] + texts[i + 1 :])
    if len(codes) > 1:
        for i, code in enumerate(codes):
            yield f"the code {code}", replace(condition, codes=codes[:i] + codes[i + 1 :])
    if texts and codes:
        yield "'code'", replace(condition, codes=())
    if condition.match is not None:
        yield "'match'", replace(condition, match=None)
    if condition.module:
        yield "'module'", replace(condition, module="")
    if condition.file:
        yield "'file'", replace(condition, file="")


def expanded(sample: str) -> str:
    """Return a sample with its harmless lines written out."""
    return _FILLER.sub(lambda found: "\n".join(["[INFO] step done"] * int(found[1])), sample.strip("\n")) + "\n"


def _all_facts(sample: str) -> list[Fact]:
    """Return every line of a sample as a fact, read as `diagnose` reads those that it scans for."""
    data = expanded(sample).encode()
    found: list[Fact] = []
    before = b""
    units: list[Hit] = []
    for line in Block(data, 0, 1, 0, "8-bit").lines():
        context = before[-2048:] if line.text[:1] in (" ", "\t") else b""
        units.append(Hit(0, line.number, line.start, line.raw, 0, "8-bit", context))
        before += line.raw + b"\n"
    for unit in units:
        found += facts(unit)
    return found


def _fires(rule: Rule, lines: Sequence[Fact]) -> bool:
    def facts_of(condition: Condition) -> list[Fact]:
        return [fact for fact in lines if fits(condition, fact) is not None]

    return bool(matches(rule, facts_of))
