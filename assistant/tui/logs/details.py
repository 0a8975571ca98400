"""One item of a diagnosis in full: what it is, how sure, its lines, what to do, what to read, what is near."""

from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from assistant.logs.report import cause_of
from assistant.logs.types import CodeLine, Evidence, Explained, Finding, Need, UnknownLines
from assistant.texts import texts
from assistant.tui.logs.codes import in_full
from assistant.tui.logs.items import Item
from assistant.tui.logs.lookups import Told
from assistant.tui.logs.reading import Reading
from assistant.tui.safe import plain
from assistant.tui.words import Words, explained
from kb.types import Lang

__all__ = ["Details", "details"]

_LINES = 12
_CUT = 300
_MUTED, _HEAD = "$text-muted", "bold $primary"


class Details(Static):
    """Shows an item; a click on one of its lines goes there."""

    class Wanted(Message):
        """A line is wanted."""

        def __init__(self, log: int, start: int) -> None:
            super().__init__()
            self.log = log
            self.start = start

    class EntryWanted(Message):
        """An entry is wanted."""

        def __init__(self, entry: str) -> None:
            super().__init__()
            self.entry = entry

    class AskWanted(Message):
        """The item is wanted as a question."""

    def action_entry(self, entry: str) -> None:
        """Ask for an entry."""
        self.post_message(self.EntryWanted(entry))

    def action_ask(self) -> None:
        """Ask for the question."""
        self.post_message(self.AskWanted())

    def action_line(self, log: int, start: int) -> None:
        """Ask for a line."""
        self.post_message(self.Wanted(log, start))


def details(item: Item, reading: Reading, lang: Lang, told: Told, say: Words) -> Content:
    """Return an item in full.

    Args:
        item: of the list.
        reading: says where its lines are.
        lang: of the text.
        told: what the corpus says about it by now.
        say: the sentences of the area.
    """
    value = item.value
    if isinstance(value, Need):
        return plain(value.zh if lang == "zh" else value.en)
    if isinstance(value, Finding):
        parts = _finding(value, item, reading, lang, told)
    elif isinstance(value, CodeLine):
        parts = [in_full((Explained(value.code, value.meanings),), lang)]
        parts += _lines(item.evidence, reading, lang)
    else:
        parts = [plain(f"{value.template}\n", "bold"), plain(f"{texts(lang)['log_unknown']}\n", _MUTED)]
        parts += [*_times(value, lang), *_near(told, say), *_lines(item.evidence, reading, lang)]
    return Content("").join(parts)


def _near(told: Told, say: Words) -> list[Content]:
    """Return the entries that are nearest to unknown lines, each to be clicked, and how to ask about them."""
    near = told.near
    if near is None:
        parts = [plain(f"{explained(told.problem, say) if told.problem else say('near_searching')}\n", _MUTED)]
    elif not near.entries:
        parts = [plain(f"{say('near_none')}\n", _MUTED)]
    else:
        sure = say("near_sure" if near.is_sure else "near_unsure", confidence=f"{near.confidence:.0%}")
        parts = [plain(say("near_title"), _HEAD), plain(f" {sure}\n", _MUTED)]
        for entry, title, platform in near.entries:
            parts.append(plain("  · "))
            parts.append(plain(title, "underline").stylize(f"@click=entry({entry!r})"))
            parts.append(plain(f"  {platform}\n", _MUTED))
    return [*parts, plain(say("near_ask"), "underline $accent").stylize("@click=ask()"), plain("\n")]


def _finding(one: Finding, item: Item, reading: Reading, lang: Lang, told: Told) -> list[Content]:
    say = texts(lang)
    filled = round(one.confidence * 5)
    sure = f"{'■' * filled}{'□' * (5 - filled)} {one.confidence:.0%}"
    about = f" · {say[f'log_{one.certainty}']} · {one.platform}" + (f" · {one.stream}" if one.stream else "")
    parts = [plain(cause_of(one, lang), "bold"), plain(f"\n{sure}", "$accent"), plain(f"{about}\n", _MUTED)]
    steps = one.steps_zh if lang == "zh" else one.steps_en
    if steps:
        parts.append(plain(f"{say['log_steps']}\n", _HEAD))
        parts += [plain(f"  {i}. {step}\n") for i, step in enumerate(steps, start=1)]
    parts += _lines(item.evidence, reading, lang)
    if one.count > 1:
        parts.append(plain(f"  {say['log_count'].format(count=one.count)}\n", _MUTED))
    if one.entry:
        entry = told.entry or (f"{one.entry} ({told.problem})" if told.problem else one.entry)
        parts += [plain(f"{say['log_entry']} ", _HEAD), plain(f"{entry}\n", "underline")]
        parts[-1] = parts[-1].stylize(f"@click=entry({one.entry!r})")
    for title, rules in ((say["log_later"], one.explains), ("←", one.explained_by)):
        if rules:
            parts.append(plain(f"{title}: {', '.join(rules)}\n", _MUTED))
    return [*parts, plain(f"{say['source']}: {one.source}  [{one.rule}]", _MUTED)]


def _times(one: UnknownLines, lang: Lang) -> list[Content]:
    text = texts(lang)["log_count"].format(count=f"≥{one.count}" if one.at_least else one.count)
    return [plain(f"{text}\n", _MUTED)]


def _lines(evidence: tuple[Evidence, ...], reading: Reading, lang: Lang) -> list[Content]:
    """Return the lines, each to be clicked."""
    if not evidence:
        return []
    parts = [plain(f"{texts(lang)['log_evidence']}\n", _HEAD)]
    for one in evidence[:_LINES]:
        named = reading.place(one)
        where = f"{named.file.rpartition('/')[2]}:{named.line}" if len(reading.logs) > 1 else f"{named.line}"
        click = f"@click=line({one.log},{one.start})"
        text = one.text if len(one.text) <= _CUT else one.text[:_CUT] + "…"
        parts += [plain(f"  {where}", "underline").stylize(click), plain(f"  {text}\n")]
    if len(evidence) > _LINES:
        parts.append(plain(f"  +{len(evidence) - _LINES}\n", _MUTED))
    return parts
