"""One item of a diagnosis in full: what it is, how sure, its lines, what to do, what to read."""

from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from assistant.logs.report import cause_of
from assistant.logs.types import CodeLine, Evidence, Explained, Finding, Need, UnknownLines
from assistant.texts import texts
from assistant.tui.logs.codes import in_full
from assistant.tui.logs.items import Item
from assistant.tui.logs.reading import Reading
from assistant.tui.safe import plain
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
        """The entry that an item names is wanted."""

    def action_entry(self) -> None:
        """Ask for the entry."""
        self.post_message(self.EntryWanted())

    def action_line(self, log: int, start: int) -> None:
        """Ask for a line."""
        self.post_message(self.Wanted(log, start))


def details(item: Item, reading: Reading, lang: Lang, entry: str) -> Content:
    """Return an item in full.

    Args:
        item: of the list.
        reading: says where its lines are.
        lang: of the text.
        entry: title and checks of the entry to read; empty if there is none, or it is not known yet.
    """
    say = texts(lang)
    value = item.value
    if isinstance(value, Finding):
        return _finding(value, item, reading, lang, entry)
    if isinstance(value, Need):
        return plain(value.zh if lang == "zh" else value.en)
    if isinstance(value, CodeLine):
        parts = [in_full((Explained(value.code, value.meanings),), lang, say["source"])]
    else:
        parts = [plain(f"{value.template}\n", "bold"), plain(f"{say['log_unknown']}\n", _MUTED)]
        parts += _times(value, lang)
    return Content("").join([*parts, *_lines(item.evidence, reading, lang)])


def _finding(one: Finding, item: Item, reading: Reading, lang: Lang, entry: str) -> Content:
    say = texts(lang)
    filled = round(one.confidence * 5)
    sure = f"{'■' * filled}{'□' * (5 - filled)} {one.confidence:.0%}"
    told = f" · {say[f'log_{one.certainty}']} · {one.platform}" + (f" · {one.stream}" if one.stream else "")
    parts = [plain(cause_of(one, lang), "bold"), plain(f"\n{sure}", "$accent"), plain(f"{told}\n", _MUTED)]
    steps = one.steps_zh if lang == "zh" else one.steps_en
    if steps:
        parts.append(plain(f"{say['log_steps']}\n", _HEAD))
        parts += [plain(f"  {i}. {step}\n") for i, step in enumerate(steps, start=1)]
    parts += _lines(item.evidence, reading, lang)
    if one.count > 1:
        parts.append(plain(f"  {say['log_count'].format(count=one.count)}\n", _MUTED))
    if one.entry:
        parts += [plain(f"{say['log_entry']} ", _HEAD), plain(f"{entry or one.entry}\n", "underline")]
        parts[-1] = parts[-1].stylize("@click=entry()")
    for title, rules in ((say["log_later"], one.explains), ("←", one.explained_by)):
        if rules:
            parts.append(plain(f"{title}: {', '.join(rules)}\n", _MUTED))
    parts.append(plain(f"{say['source']}: {one.source}  [{one.rule}]", _MUTED))
    return Content("").join(parts)


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
