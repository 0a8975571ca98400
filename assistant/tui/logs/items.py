"""A diagnosis as the list at the left: groups of items, and the lines that each speaks for."""

from dataclasses import dataclass

from textual.content import Content
from textual.widgets.option_list import Option

from assistant.logs.report import cause_of
from assistant.logs.types import CodeLine, Diagnosis, Evidence, Finding, Need, UnknownLines
from assistant.tui.logs.painting import MARKS
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Item", "items", "marks", "options", "places"]

_LONG = 200
#: A blank cell at which no line is broken: a space, also a no-break one, would leave the mark alone on its line.
_STUCK = "\u2800"


@dataclass(frozen=True, slots=True)
class Item:
    """One row of the list."""

    key: str
    """Stays the same while the log grows and when the language changes."""
    group: str
    """answer, cause, later, symptom, benign, unknown, needed or codes."""
    value: Finding | UnknownLines | CodeLine | Need
    evidence: tuple[Evidence, ...]


def items(diagnosis: Diagnosis) -> tuple[Item, ...]:
    """Return what the list shows, in its order."""
    found = [_of_finding(one) for one in diagnosis.findings]
    order = ("answer", "cause", "later", "symptom", "benign")
    return (
        *(item for group in order for item in found if item.group == group),
        *(Item(f"unknown {one.template}", "unknown", one, (one.first,)) for one in diagnosis.unknown),
        *(Item(f"needed {one.en}", "needed", one, ()) for one in diagnosis.needed),
        *(Item(f"code {one.code}", "codes", one, (one.first,)) for one in diagnosis.codes),
    )


def _of_finding(one: Finding) -> Item:
    if one.primary:
        group = "answer"
    elif one.explained_by:
        group = "later"
    else:
        group = one.role
    first = one.evidence[0]
    return Item(f"{one.rule} {first.log} {first.start}", group, one, one.evidence)


def marks(shown: tuple[Item, ...]) -> dict[int, dict[int, str]]:
    """Return, for each log, the offsets of the lines that are evidence and what for; the foremost group counts."""
    found: dict[int, dict[int, str]] = {}
    for item in shown:
        if item.group in MARKS:
            for one in item.evidence:
                found.setdefault(one.log, {}).setdefault(one.start, item.group)
    return found


def places(shown: tuple[Item, ...]) -> tuple[tuple[int, int], ...]:
    """Return log and offset of every line that is evidence, in order."""
    return tuple(sorted({(one.log, one.start) for item in shown if item.group in MARKS for one in item.evidence}))


def told(item: Item, lang: Lang) -> str:
    """Return what the list says about an item."""
    value = item.value
    if isinstance(value, Finding):
        return cause_of(value, lang)
    if isinstance(value, UnknownLines):
        return value.template
    if isinstance(value, Need):
        return value.zh if lang == "zh" else value.en
    meaning = value.meanings[0]
    return f"{value.code} {meaning.name or (meaning.meaning_zh if lang == 'zh' else meaning.meaning_en)}"


def _count(item: Item) -> str:
    value = item.value
    if isinstance(value, UnknownLines) and value.at_least:
        return f" ≥{value.count}×"
    return "" if isinstance(value, Need) or value.count < 2 else f" {value.count}×"


_STYLES = {
    "answer": "bold $error", "cause": "$warning", "later": "$text-muted", "symptom": "$warning", "benign": "$success",
    "unknown": "$secondary", "needed": "$primary", "codes": "$text-muted",
}  # fmt: skip
_SIGNS = {**MARKS, "needed": "→", "codes": "#"}


def options(shown: tuple[Item, ...], lang: Lang, say: Words) -> list[Option]:
    """Return the rows of the list, with a head above each group."""
    rows: list[Option] = []
    group = ""
    for index, item in enumerate(shown):
        if item.group != group:
            group = item.group
            count = sum(one.group == group for one in shown)
            head = say(f"group_{group}") + (f" {count}" if count > 1 else "")
            rows.append(Option(plain(head, f"bold {_STYLES[group].removeprefix('bold ')}"), disabled=True))
        text = told(item, lang)
        text = text if len(text) <= _LONG else text[:_LONG] + "…"
        style = "bold" if group == "answer" else "$text-muted" if group in ("later", "codes") else ""
        rows.append(
            Option(
                Content("").join(
                    [
                        plain(f"{_SIGNS[group]}{_STUCK}", _STYLES[group]),
                        plain(text, style),
                        plain(_count(item), "$text-muted"),
                    ]
                ),
                id=f"item-{index}",
            )
        )
    return rows
