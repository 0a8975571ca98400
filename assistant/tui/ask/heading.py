"""The line above an answer: what it is, how sure, its checks, its source, and the thumbs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from assistant.tui.ask.clicks import Clickable, word
from assistant.tui.safe import plain
from assistant.tui.words import Words

if TYPE_CHECKING:
    from assistant.types import AnswerEntry, EntryCheck

__all__ = ["Heading"]

_GAP = "  "
_THUMBS = {"good": ("👍", "up"), "bad": ("👎", "down")}


class Heading(Clickable):
    """Where there is little room, the source loses the front of its path, never its line."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id, markup=False)
        self._told = Content("")
        self._place = ""
        self._verdict = ""

    def show(
        self, say: Words, kind: str, entry: "AnswerEntry | None", checks: "Sequence[EntryCheck]", confidence: str = ""
    ) -> None:
        """Show what stands below.

        Args:
            say: sentences of the area.
            kind: `preview`, `answer`, `computed`, `explained`, `entry` or `abstained`.
            entry: whose source is named.
            checks: what was computed for it.
            confidence: how sure; '' where nothing was judged.
        """
        parts = [plain(say(kind), "bold $primary")]
        if confidence:
            parts.append(plain(confidence))
        if checks:
            passed = sum(check.outcome.status == "pass" for check in checks)
            failed = sum(check.outcome.status == "fail" for check in checks)
            sign, style = ("✗", "bold $error") if failed else ("✓", "$success") if passed == len(checks) else ("–", "")
            parts.append(plain(f"{sign} {say('checks', passed=passed, all=len(checks))}", style))
        self._told = Content(_GAP).join(parts)
        self._place = f"corpus/{entry.source.file}:{entry.line}" if entry is not None else ""
        self._verdict = ""
        self._lay_out()

    def mark(self, verdict: str) -> None:
        """Show which thumb was given: `up` or `down`."""
        self._verdict = verdict
        self._lay_out()

    def on_resize(self) -> None:
        """Fit into the new width."""
        self._lay_out()

    def _lay_out(self) -> None:
        if not self.content_size.width:
            return
        thumbs = Content("").join(
            word(f"[{sign}]" if verdict == self._verdict else f" {sign} ", action, "bold")
            for action, (sign, verdict) in _THUMBS.items()
        )
        room = self.content_size.width - self._told.cell_length - thumbs.cell_length - len(_GAP)
        place = _fitting(self._place, room - 1)
        gap = " " * max(1, room - cell_len(place))
        self.update(Content.assemble(self._told, _GAP, word(place, "source", "$text-muted"), gap, thumbs))


def _fitting(path: str, width: int) -> str:
    """Return a path with as much of its end as fits."""
    if not path or cell_len(path) <= width:
        return path
    while path and cell_len(path) > width - 1:
        path = path[1:]
    return f"…{path}"
