"""The totals of a model: each figure with what it is made of, and every assumption."""

from typing import Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from assistant.texts import texts
from assistant.tui.model import figures
from assistant.tui.model.drawn import Drawn
from assistant.tui.model.names import padded, wrapped
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Totals"]

_NAME = 22


class _Lines(Drawn):
    """Lines that are laid out for the width there is."""

    def __init__(self) -> None:
        super().__init__()
        self.one: dict[str, Any] | None = None
        self.lang: Lang = "en"
        self.say: Words | None = None

    def show(self, one: dict[str, Any], lang: Lang, say: Words) -> None:
        self.one, self.lang, self.say = one, lang, say
        self.refresh(layout=True)

    def drawn(self, width: int) -> Content:
        """Return the lines for a width."""
        if self.one is None or self.say is None:
            return Content("")
        return Content("\n").join(_total_lines(self.one, self.lang, self.say, max(width, 30)))


def _total_lines(one: dict[str, Any], lang: Lang, say: Words, width: int) -> list[Content]:
    texts_of, room = texts(lang), width - _NAME - 1
    lines: list[Content] = []
    for figure in figures.figures(one, lang):
        is_bad = figure.name == "NOT_SUPPORT_OP_TYPE" and bool(one["unsupported"])
        for i, part in enumerate(wrapped(figure.value, room - 2)):
            head = plain(f"{padded(figure.name, _NAME) if i == 0 else ' ' * _NAME} ", "$text-muted")
            value = plain(("✗ " if is_bad and i == 0 else "") + part, "$error bold" if is_bad else "bold")
            lines.append(
                head + value + (plain(f" {figure.mark}", "$warning") if figure.mark and i == 0 else Content(""))
            )
        if figure.parts:
            lines += [plain(f"{' ' * _NAME} {part}", "$text-muted") for part in wrapped("= " + figure.parts, room)]
    lines.append(Content(""))
    notes = [figures.typical_line(one, lang)]
    if one["unknown"]:
        notes.append(f"{texts_of['unknown_parts']}: {', '.join(one['unknown'][:10])}")
    notes += [f"{figures.MARK} {text[lang]}" for text in one["assumptions"]]
    for note in filter(None, notes):
        lines += [
            plain(("" if i == 0 else "  ") + part, "$text-muted") for i, part in enumerate(wrapped(note, width - 2))
        ]
    return lines


class Totals(VerticalScroll):
    """The totals with what they are made of, and every assumption."""

    def compose(self) -> ComposeResult:
        """Lay out the lines."""
        yield _Lines()

    def show(self, one: dict[str, Any], lang: Lang, say: Words) -> None:
        """Show an estimate."""
        self.query_one(_Lines).show(one, lang, say)
