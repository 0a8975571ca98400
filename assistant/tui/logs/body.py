"""One reading on the screen: findings at the left, the log at the right, codes and details below it."""

from bisect import bisect_left, bisect_right

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import OptionList

from assistant.tui.logs.codebar import CodeBar
from assistant.tui.logs.detailbox import DetailBox
from assistant.tui.logs.details import Details
from assistant.tui.logs.find import shown
from assistant.tui.logs.findbar import FindBar
from assistant.tui.logs.findings import FindingList
from assistant.tui.logs.items import Item, items, marks, places
from assistant.tui.logs.reading import Reading
from assistant.tui.logs.view import LogView
from assistant.tui.safe import plain
from assistant.tui.services import Services
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["LogBody"]

_NAME_MOST = 48


class LogBody(Vertical):
    """Shows a reading it is given, and moves in it."""

    class Said(Message):
        """There is something to say about what was asked for; empty when it is over."""

        def __init__(self, note: str) -> None:
            super().__init__()
            self.note = note

    def __init__(self, services: Services, lang: Lang, say: Words, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lang: Lang = lang
        self.say = say
        self.reading: Reading | None = None
        self.items: tuple[Item, ...] = ()
        self.shown = 0
        """Number of the log that the view shows."""
        self.is_shown = False
        """Whether everything that the reading came to is on the screen; nothing more comes then."""
        self.is_touched = False
        """Whether the user went somewhere, so that no finding takes the cursor along."""
        self._services = services
        self._seen: object = None
        self._places: tuple[tuple[int, int], ...] = ()
        self._line = 0
        """A line to go to as soon as it is indexed; 0 for none."""
        self._wanted: tuple[int, int] | None = None
        """Log and offset to go to as soon as they are there."""
        self._turn = 0

    def compose(self) -> ComposeResult:
        """Lay out the parts."""
        with Horizontal():
            yield FindingList(id="logs-list")
            with Vertical(id="logs-right"):
                yield LogView(id="logs-view")
                yield CodeBar(id="logs-code")
                yield DetailBox(self._services, id="logs-detail-box")
        yield FindBar(id="logs-find")

    @property
    def view(self) -> LogView:
        """The log."""
        return self.query_one("#logs-view", LogView)

    @property
    def list(self) -> FindingList:
        """The findings."""
        return self.query_one("#logs-list", FindingList)

    @property
    def bar(self) -> FindBar:
        """What is looked for."""
        return self.query_one("#logs-find", FindBar)

    @property
    def details(self) -> DetailBox:
        """The chosen finding in full."""
        return self.query_one("#logs-detail-box", DetailBox)

    @property
    def line(self) -> int:
        """Number of the line of the cursor; that where it is to go if it is not there yet."""
        line = self.view.line
        return self._line or (line.number if line is not None else 0)

    # Showing

    def start(self, reading: Reading, *, log: int, line: int) -> None:
        """Show another reading, from a line on; line 0 is where its first finding is."""
        self.reading, self.shown, self._line = reading, log, line
        self.items, self._places, self._seen, self._wanted = (), (), None, None
        self.is_shown, self.is_touched = False, line > 0
        self.bar.clear_query()
        self.view.show(None, {})
        self.view.sticks = reading.kind == "follow" and not line
        self._show_list()

    def relabel(self, lang: Lang, say: Words) -> None:
        """Change the language; everything keeps its place."""
        self.lang, self.say = lang, say
        self.bar.placeholder = say("find_hint")
        self.list.border_title = say("findings_title")
        self.details.border_title = say("details_title")
        self._show_list()
        self._show_codes(None)

    def grow(self) -> None:
        """Show what the reading has come to."""
        reading, view = self.reading, self.view
        if reading is None:
            return
        # Asked before its values are looked at: those of a reading that is over are final.
        is_busy, logs = reading.is_busy, reading.logs
        if reading.kind == "follow" and view.sticks and logs:
            self.shown = len(logs) - 1
        if logs and view.rows is not logs[min(self.shown, len(logs) - 1)]:
            self.show_log(min(self.shown, len(logs) - 1))
        if reading.is_warm:
            view.explain_codes()
        view.grow()
        if self._line and view.rows and (view.rows.lines >= self._line or reading.phase not in ("opening", "indexing")):
            view.go(view.rows.row_of(self._line), center=True)
            self._line = 0
        if self._wanted is not None:
            self.go(*self._wanted)
        if reading.diagnosis is not self._seen or not is_busy:
            self._take(reading, is_busy)
        self._title()
        self.is_shown = not is_busy

    def _take(self, reading: Reading, is_busy: bool) -> None:
        """Show what the logs show by now."""
        self._seen = reading.diagnosis
        if reading.diagnosis is not None:
            self.items = items(reading.diagnosis)
            self._places = places(self.items)
            self.mark()
        self._show_list()
        self._show_codes(None)
        if not is_busy and not self.is_touched and reading.kind != "follow" and self.items:
            self.is_touched = True
            if self.items[0].evidence:
                first = self.items[0].evidence[0]
                self.go(first.log, first.start)

    def mark(self) -> None:
        """Show evidence and what is looked for."""
        self.view.mark(marks(self.items).get(self.shown, {}), self.bar.query_text)

    def _title(self) -> None:
        view, reading = self.view, self.reading
        if reading is None:
            return
        logs = reading.logs
        name = logs[self.shown].name if self.shown < len(logs) else reading.name
        few = f"  {self.shown + 1}/{len(logs)} [ ]" if len(logs) > 1 else ""
        view.border_title = plain(f"{name if len(name) <= _NAME_MOST else '…' + name[1 - _NAME_MOST :]}{few}")
        view.border_subtitle = plain(f"{view.rows.lines:,}" if view.rows else "")

    def _show_list(self) -> None:
        if self.reading is not None:
            self.list.show(self.reading, self.items, self.lang, self.say)
            self._show_details()

    def _show_details(self) -> None:
        if self.reading is not None:
            self.details.show(self.list.chosen, self.reading, self.lang, self.say)

    def text(self) -> str:
        """Return the row of the cursor as it is shown."""
        line = self.view.line
        return shown(line.text) if line is not None else ""

    def _show_codes(self, column: int | None) -> None:
        reading = self.reading
        text = self.text() if reading is not None and reading.is_warm else ""
        diagnosis = reading.diagnosis if reading is not None else None
        self.query_one("#logs-code", CodeBar).show(text, diagnosis, column, self.lang, self.say)

    # Moving

    def show_log(self, number: int) -> None:
        """Show another of the logs."""
        if self.reading is not None and 0 <= number < len(self.reading.logs):
            self.shown = number
            self.view.show(self.reading.logs[number], {})
            self.mark()
            self._title()

    def turn_log(self, by: int) -> None:
        """Show the log before or after."""
        if self.reading is not None and self.reading.logs:
            self.view.sticks = False
            self.show_log((self.shown + by) % len(self.reading.logs))

    def go(self, log: int, start: int) -> None:
        """Go to the line with a byte of a log; as soon as it is there."""
        self._wanted = None
        if self.reading is None or log >= len(self.reading.logs):
            return
        if self.reading.logs[log].size <= start and self.reading.is_busy:
            self._wanted = (log, start)
            return
        if log != self.shown or self.view.rows is None:
            self.show_log(log)
        rows = self.view.rows
        if rows is not None:
            self.view.sticks = False
            self.view.go(rows.row_at(start), center=True)

    def go_line(self, line: int) -> None:
        """Go to a line by its number; as soon as it is there."""
        self.is_touched, self._line, self.view.sticks = True, max(line, 1), False
        self.grow()

    def step(self, *, back: bool) -> None:
        """Go to the next row with what is looked for, else to the next line of evidence; or the one before."""
        self.is_touched = True
        view = self.view
        if view.rows is None:
            return
        if self.bar.query_text:
            self.bar.search(view.rows, view.row, back)
            return
        if not self._places:
            self.post_message(self.Said(self.say("no_evidence")))
            return
        line = view.line
        here = (self.shown, line.start if line is not None else -1)
        at = bisect_left(self._places, here) - 1 if back else bisect_right(self._places, here)
        self.go(*self._places[at % len(self._places)])
        view.focus()

    # What the parts say

    @on(FindBar.Asked)
    def _asked(self, event: FindBar.Asked) -> None:
        event.stop()
        self.mark()
        self.post_message(self.Said(""))
        self.view.focus()
        if self.bar.query_text and self.view.rows is not None:
            self.is_touched = True
            # The row of the cursor counts, too.
            self.bar.search(self.view.rows, self.view.row - 1, back=False)

    @on(FindBar.Searched)
    def _searched(self, event: FindBar.Searched) -> None:
        event.stop()
        query = event.query
        if event.rows is not self.view.rows or query != self.bar.query_text:
            return
        if event.share < 1:
            self.post_message(self.Said(self.say("finding", query=query, share=f"{event.share:.0%}")))
            return
        self.post_message(self.Said("" if event.row is not None else self.say("found_none", query=query)))
        if event.row is not None:
            self.view.sticks = False
            self.view.go(event.row, center=True)

    @on(OptionList.OptionHighlighted, "#logs-list")
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._turn = 0
        self._show_details()

    @on(OptionList.OptionSelected, "#logs-list")
    def _selected(self, event: OptionList.OptionSelected) -> None:
        """Go to the evidence; the next line of it each time."""
        event.stop()
        item = self.list.chosen
        if item is not None and item.evidence:
            one = item.evidence[self._turn % len(item.evidence)]
            self._turn += 1
            self.is_touched = True
            self.go(one.log, one.start)

    @on(Details.Wanted)
    def _line_wanted(self, event: Details.Wanted) -> None:
        event.stop()
        self.is_touched = True
        self.go(event.log, event.start)

    @on(LogView.Moved)
    def _moved(self, event: LogView.Moved) -> None:
        event.stop()
        self._show_codes(event.column)
