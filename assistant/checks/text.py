"""Outcomes of checks as Markdown: a line with its badge below an answer, a section for a calculation asked for."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from assistant import reasons
from assistant.checks import show
from assistant.checks.table import CHECKS
from assistant.checks.types import REQUIRED, Check, Outcome, Value
from assistant.plain import printable
from assistant.texts import texts
from assistant.types import Computed, EntryCheck
from kb.types import Lang

__all__ = ["command", "computed", "described", "entry_checks", "outcome_text"]

#: What Markdown would read as a mark: an underscore only at the edge of a word, a bracket only of a link.
_MARKS: Final = re.compile(r"[\\`*<>|#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|(?<=\])\(")

_BADGES: Final = {"pass": "✓", "done": "✓", "fail": "✗", "skip": "–"}


def entry_checks(checks: Sequence[EntryCheck], lang: Lang) -> str:
    """Return the check blocks of one entry as a list, each with its badge, sentence and the command that repeats it."""
    say = texts(lang)
    lines = [f"{say['checks']}:", ""]
    lines += [f"- {_line(check.outcome, lang)}" for check in checks]
    return "\n".join(lines)


def _line(outcome: Outcome, lang: Lang) -> str:
    say = texts(lang)
    badge = f"{_BADGES[outcome.status]} {say[f'check_{outcome.status}']}"
    if not outcome.result:
        name = f"{outcome.check}: " if outcome.check in CHECKS else ""
        return f"{badge} · {name}{_plain(reasons.shown(outcome.reason, lang))}"
    told = _plain(show.sentence(CHECKS[outcome.check], outcome, lang))
    reason = f" · **{_plain(reasons.shown(outcome.reason, lang))}**" if outcome.reason else ""
    return f"{badge} · {told}{reason} · `{command(outcome.check, outcome.arguments)}`"


def computed(found: Computed, lang: Lang, *, with_sentence: bool = True) -> str:
    """Return what the question asked to compute: the outcome and what was read, or what is missing.

    Args:
        found: the calculation.
        lang: language.
        with_sentence: whether the outcome or the refusal is told as a sentence, too; False where that stands already.
    """
    say = texts(lang)
    check = CHECKS[found.check]
    title = check.zh if lang == "zh" else check.en
    parts = []
    done = [outcome for outcome in found.outcomes if outcome.result]
    if done:
        parts.append(f"## {say['computed']}: {title}")
        if with_sentence or len(done) > 1:
            parts += [f"**{_plain(show.sentence(check, outcome, lang))}**" for outcome in done]
    if len(done) == 1:
        parts.append(_details(check, done[0], lang))
    for outcome in found.outcomes:
        if not outcome.result and (with_sentence or len(found.outcomes) > 1):
            parts.append(f"{say['computed_refused']} ({title}): {_plain(reasons.shown(outcome.reason, lang))}")
    if found.missing:
        needed = "; ".join(_needed(check, name, lang) for name in found.missing)
        parts.append(say["computed_missing"].format(title=title, missing=needed))
    for name, values in found.ambiguous:
        shown = " / ".join(f"`{printable(value).replace('`', '')}`" for value in values)
        parts.append(
            say["computed_all" if len(done) > 1 else "computed_ambiguous"].format(name=f"`{name}`", values=shown)
        )
    if found.read:
        read = "; ".join(f"`{name}` ← {_plain(words)}" for name, words in found.read)
        parts.append(say["computed_read"].format(read=read))
    again = command(found.check, {**found.given, **{name: "..." for name in found.missing}})
    parts.append(say["computed_edit"].format(command=f"`{again}`"))
    return "\n\n".join(parts)


def outcome_text(outcome: Outcome, lang: Lang) -> str:
    """Return one outcome in full: sentence, results with units, arguments, assumptions."""
    check = CHECKS[outcome.check]
    if not outcome.result:
        return _plain(reasons.shown(outcome.reason, lang))
    return f"**{_plain(show.sentence(check, outcome, lang))}**\n\n{_details(check, outcome, lang)}"


def _details(check: Check, outcome: Outcome, lang: Lang) -> str:
    say = texts(lang)
    rows = [f"| {_plain(label)} | {_plain(value)} |" for label, value in show.rows(check, outcome, lang)]
    parts = ["\n".join([f"| {say['result']} | |", "|---|---|", *rows])]
    used = ", ".join(f"{name}={_written(value)}" for name, value in outcome.arguments.items() if value is not None)
    parts.append(f"{say['arguments']}: `{used}`")
    parts += [f"{say['assumption']}: {zh if lang == 'zh' else en}" for zh, en in check.assumptions]
    parts.append(f"{say['source']}: {check.source}")
    return "\n\n".join(parts)


def described(check: Check, lang: Lang) -> str:
    """Return what a check computes and takes, as Markdown."""
    say = texts(lang)
    head = (check.zh, check.help_zh) if lang == "zh" else (check.en, check.help_en)
    lines = [f"- {_needed(check, parameter.name, lang)}" for parameter in check.parameters]
    results = ", ".join(f"`{r.name}` {r.zh if lang == 'zh' else r.en}" for r in check.results)
    example = command(check.name, show.example(check))
    return "\n\n".join(
        (f"## {check.name}: {head[0]}", head[1], "\n".join(lines), f"{say['result']}: {results}", f"`{example}`")
    )


def _needed(check: Check, name: str, lang: Lang) -> str:
    """Return one parameter: name, what it is, its range and default, an example."""
    say = texts(lang)
    parameter = next(p for p in check.parameters if p.name == name)
    told = [parameter.zh if lang == "zh" else parameter.en]
    if parameter.choices:
        told.append("|".join(parameter.choices))
    if parameter.unit:
        told.append(parameter.unit)
    if parameter.low is not None or parameter.high is not None:
        low = "" if parameter.low is None else f"{parameter.low:g}"
        high = "" if parameter.high is None else f"{parameter.high:g}"
        told.append(f"{low}..{high}")
    if parameter.default is not REQUIRED and parameter.default is not None:
        told.append(f"{say['default']} {_written(parameter.default)}")
    return f"`{name}={parameter.example}` ({'; '.join(told)})"


def command(name: str, arguments: Mapping[str, Value]) -> str:
    """Return the command line that computes a check with these arguments, defaults left out."""
    check = CHECKS.get(name)
    defaults = {} if check is None else {parameter.name: parameter.default for parameter in check.parameters}
    given = [
        shlex.quote(f"{key}={_written(value)}")
        for key, value in arguments.items()
        if value is not None and value != defaults.get(key)
    ]
    return " ".join(("asknpu run", name, *given))


def _written(value: Value) -> str:
    """Return an argument as `asknpu run` takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return ",".join(_written(item) for item in value)
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def _plain(text: str) -> str:
    """Return text from a document or a question so that Markdown shows it as it is, on one line."""
    one_line = " ".join(printable(text).split())
    return _MARKS.sub(lambda match: f"\\{match[0]}", one_line)
