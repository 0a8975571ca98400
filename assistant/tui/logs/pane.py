"""The area Logs: findings at the left, the log at the right, details below it."""

import os
from bisect import bisect_left, bisect_right
from pathlib import Path
from typing import Any, ClassVar, Literal

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from assistant.tui.logs.details import Details, details
from assistant.tui.logs.dialogs import FileBox, LineBox, PasteBox, SaveBox, TextBox
from assistant.tui.logs.items import Item, items, marks, options, places
from assistant.tui.logs.reading import Kind, Reading, read_growing, read_paths, read_text
from assistant.tui.logs.status import status
from assistant.tui.logs.view import LogView
from assistant.tui.pane import Pane
from assistant.tui.safe import plain
from assistant.tui.services import Services
from kb.types import Lang

__all__ = ["LogsPane"]

_RECENT = 8
_TICK_S = 0.1
#: Actions that need a log.
_WITH_LOG = frozenset({"next", "previous", "find", "export", "codes", "top", "bottom", "line", "log", "entry"})


class LogsPane(Pane):
    """Shows one reading at a time; a thread reads, a clock looks at what it has come to."""

    AREA = "logs"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open", "open", id="logs.open"),
        Binding("p,ctrl+v", "paste", "paste", id="logs.paste"),
        Binding("f", "follow", "follow", show=False, id="logs.follow"),
        Binding("n", "next", "next", id="logs.next"),
        Binding("N", "previous", "previous", show=False, id="logs.previous"),
        Binding("slash", "find", "find", id="logs.find"),
        Binding("x", "export", "export", id="logs.export"),
        Binding("c", "codes", "codes", show=False, id="logs.codes"),
        Binding("g", "top", "top", show=False, id="logs.top"),
        Binding("G", "bottom", "bottom", show=False, id="logs.bottom"),
        Binding("colon,ctrl+g", "line", "line", show=False, id="logs.line"),
        Binding("left_square_bracket", "log(-1)", "log before", show=False, id="logs.log_before"),
        Binding("right_square_bracket", "log(1)", "log after", show=False, id="logs.log_after"),
        Binding("d", "details", "details", show=False, id="logs.details"),
        Binding("e", "entry", "entry", show=False, id="logs.entry"),
        Binding("r", "redact", "redact", show=False, id="logs.redact"),
        Binding("escape", "stop", "stop", show=False, id="logs.stop"),
    ]
    DEFAULT_CSS = """
    LogsPane #logs-status { height: 1; padding: 0 1; background: $surface; text-overflow: ellipsis; text-wrap: nowrap; }
    LogsPane #logs-start { height: 1fr; border: none; padding: 1 2; background: $background; display: none; }
    LogsPane #logs-body { height: 1fr; }
    LogsPane #logs-list { width: 34%; min-width: 26; max-width: 52; height: 1fr; padding: 0; background: $background; }
    LogsPane #logs-right { width: 1fr; height: 1fr; }
    LogsPane #logs-view { height: 2fr; }
    LogsPane #logs-detail-box { height: 1fr; min-height: 5; background: $background; scrollbar-size-vertical: 1; }
    LogsPane #logs-detail { padding: 0 1; height: auto; }
    LogsPane #logs-code { height: 1; padding: 0 1; background: $surface; text-overflow: ellipsis; text-wrap: nowrap; }
    LogsPane #logs-find { display: none; height: 1; border: none; padding: 0 1; background: $panel; }
    LogsPane #logs-find.shown { display: block; }
    LogsPane #logs-list, LogsPane #logs-view, LogsPane #logs-detail-box {
        border: none; border-top: solid $panel; border-title-color: $text-muted; border-title-align: left;
        border-subtitle-color: $text-muted; }
    LogsPane #logs-list:focus, LogsPane #logs-view:focus, LogsPane #logs-detail-box:focus {
        border-top: solid $primary; border-title-color: $primary; border-title-style: bold; }
    LogsPane #logs-list { border-right: solid $panel; scrollbar-size-vertical: 1; }
    LogsPane OptionList > .option-list--option-highlighted {
        background: $panel; color: $foreground; text-style: none; }
    LogsPane OptionList:focus { background-tint: $foreground 0%; }
    LogsPane OptionList:focus > .option-list--option-highlighted {
        background: $primary 35%; color: $foreground; text-style: none; }
    LogsPane OptionList > .option-list--option-disabled { color: $text-muted; }
    LogsPane.empty #logs-body, LogsPane.empty #logs-code { display: none; }
    LogsPane.empty #logs-start { display: block; }
    LogsPane.plain #logs-detail-box { display: none; }
    """

    def __init__(self, services: Services, lang: Lang, saved: dict[str, Any]) -> None:
        super().__init__(services, lang, saved)
        self.reading: Reading | None = None
        self.path = ""
        self.recent = [one for one in saved.get("recent", []) if isinstance(one, str)][:_RECENT]
        self.redact = bool(saved.get("redact", True))
        self.shown = 0
        """Number of the log that the view shows."""
        self.items: tuple[Item, ...] = ()
        self.query_text = ""
        self._places: tuple[tuple[int, int], ...] = ()
        self._seen: object = None
        self._line = 0
        self._wanted: tuple[int, int] | None = None
        self._is_touched = False
        self._entries: dict[tuple[str, str], str] = {}
        self._note = ""
        self._turn = 0
        self._clock: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out the area."""
        yield Static("", id="logs-status", markup=False)
        yield OptionList(id="logs-start", markup=False)
        with Horizontal(id="logs-body"):
            yield OptionList(id="logs-list", markup=False)
            with Vertical(id="logs-right"):
                yield LogView(id="logs-view")
                yield Static("", id="logs-code", markup=False)
                with VerticalScroll(id="logs-detail-box", can_focus=True):
                    yield Details("", id="logs-detail", markup=False)
        yield Input(id="logs-find", compact=True)

    def on_mount(self) -> None:
        """Restore what was open at the last end."""
        self.add_class("empty")
        self.set_class(bool(self.restored.get("plain")), "plain")
        self._clock = self.set_interval(_TICK_S, self._tick, pause=True)
        self.relabel()
        kind, path = self.restored.get("kind"), self.restored.get("path")
        if kind in ("open", "follow") and isinstance(path, str) and path:
            log, line = self.restored.get("log", 0), self.restored.get("line", 0)
            self.shown = log if isinstance(log, int) else 0
            self._line = line if isinstance(line, int) else 0
            self._begin(kind, path)

    def on_unmount(self) -> None:
        """Drop what was unpacked."""
        if self.reading is not None:
            self.reading.close()

    @property
    def view(self) -> LogView:
        """The log."""
        return self.query_one("#logs-view", LogView)

    @property
    def list(self) -> OptionList:
        """The findings."""
        return self.query_one("#logs-list", OptionList)

    def first_focus(self) -> Widget | None:
        """Return the list."""
        return self.query_one("#logs-start" if self.reading is None else "#logs-list")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what can be done: nothing is found or exported before something is read."""
        return action not in _WITH_LOG or self.reading is not None

    def state(self) -> dict[str, Any]:
        """Return what was open and where the cursor is; pasted text is not kept."""
        kept: dict[str, Any] = {"recent": self.recent, "redact": self.redact, "plain": self.has_class("plain")}
        if self.reading is not None and self.reading.kind != "paste" and self.reading.phase != "failed":
            line = self.view.rows.row(self.view.row) if self.view.rows else None
            kept |= {"kind": self.reading.kind, "path": self.path, "log": self.shown}
            kept["line"] = line.number if line is not None else 0
        return kept

    # Words

    def relabel(self) -> None:
        """Set every text again; the list keeps its place."""
        self.query_one("#logs-find", Input).placeholder = self.say("find_hint")
        self.query_one("#logs-detail-box").border_title = self.say("details_title")
        self._show_start()
        self._show_list()
        self._show_status()
        self._show_codes(None)

    def _show_start(self) -> None:
        start = self.query_one("#logs-start", OptionList)
        at = start.highlighted
        start.clear_options()
        start.add_option(Option(plain(f"{self.say('start')}\n", "$text-muted"), disabled=True))
        for name, key in (("open", "o"), ("paste", "p"), ("follow", "f")):
            text = [plain(f"  {key}  ", "bold $accent"), plain(self.say(f"logs_{name}"), "bold")]
            about = plain(f"\n     {self.say(f'about_logs_{name}')}", "$text-muted")
            start.add_option(Option(Content("").join([*text, about]), id=f"do-{name}"))
        if self.recent:
            start.add_option(Option(plain(f"\n{self.say('recent')}", "$text-muted"), disabled=True))
            for i, path in enumerate(self.recent):
                start.add_option(Option(plain(f"  ↺  {path}"), id=f"recent-{i}"))
        start.highlighted = 1 if at is None else at

    def _show_status(self) -> None:
        line = self.query_one("#logs-status", Static)
        if self.reading is None:
            line.update(plain(self.say("title"), "bold"))
            return
        told = status(self.reading, self.say)
        extra = self._note or (self.say("found_hint", query=self.query_text) if self.query_text else "")
        line.update(Content("  ").join([told, plain(extra, "$accent")]) if extra else told)
        logs = self.reading.logs
        view = self.view
        name = logs[self.shown].name if self.shown < len(logs) else self.reading.name
        few = f"  {self.shown + 1}/{len(logs)} [ ]" if len(logs) > 1 else ""
        view.border_title = plain(f"{_tail(name, 48)}{few}")
        view.border_subtitle = plain(f"{view.rows.lines:,}" if view.rows else "")

    def _show_list(self) -> None:
        """Show the findings anew, with the same one chosen."""
        chosen = self._chosen()
        self.list.border_title = self.say("findings_title")
        if self.reading is None:
            return
        rows = options(self.items, self.lang, self.say)
        if not rows:
            busy = self.reading.is_busy
            verdict = self.reading.diagnosis.verdict if self.reading.diagnosis else "clean"
            failed = self.reading.phase == "failed"
            key = "nothing_failed" if failed else "nothing_yet" if busy else f"nothing_{verdict}"
            rows = [Option(plain(self.say(key), "$text-muted"), disabled=True)]
        with self.prevent(OptionList.OptionHighlighted):
            self.list.clear_options()
            self.list.add_options(rows)
            keys = [item.key for item in self.items]
            index = keys.index(chosen.key) if chosen is not None and chosen.key in keys else 0
            if self.items:
                self.list.highlighted = self.list.get_option_index(f"item-{index}")
        self._show_details()

    def _chosen(self) -> Item | None:
        place = self.list.highlighted
        if place is None or place >= self.list.option_count:
            return None
        name = self.list.get_option_at_index(place).id or ""
        number = int(name.removeprefix("item-")) if name.startswith("item-") else -1
        return self._listed[number] if 0 <= number < len(self._listed) else None

    _listed: tuple[Item, ...] = ()

    def _show_details(self) -> None:
        self._listed = self.items
        item, shown = self._chosen(), self.query_one("#logs-detail", Details)
        if item is None or self.reading is None:
            shown.update(plain(self.say("details_hint"), "$text-muted"))
            return
        entry = getattr(item.value, "entry", "")
        told = self._entries.get((entry, self.lang), "")
        shown.update(details(item, self.reading, self.lang, told))
        if entry and not told:
            self._look_up(entry, self.lang)

    @work(thread=True, group="logs-entry", exclusive=True)
    def _look_up(self, entry: str, lang: Lang) -> None:
        from assistant.errors import AssistantError
        from assistant.tui.logs.entry import entry_line

        worker = get_current_worker()
        try:
            told = entry_line(self.services, entry, lang)
        except AssistantError as error:
            told = f"{entry} ({error})"
        self._entries[entry, lang] = told
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show_details)

    # Reading

    def _begin(self, kind: Kind, given: str) -> None:
        """Read something else."""
        self._drop()
        name = self.say("pasted") if kind == "paste" else Path(given).name or given
        reading = self.reading = Reading(kind, name if kind == "paste" else given)
        self.path = "" if kind == "paste" else given
        self.items, self._places, self._seen, self._note = (), (), None, ""
        self._is_touched = bool(self._line)
        self.query_text = ""
        self.view.show(None, {})
        self.view.sticks = kind == "follow" and not self._line
        self.remove_class("empty")
        self.refresh_bindings()
        if self.path:
            path = os.path.abspath(self.path)  # noqa: PTH100 (a link stays a link)
            self.path = path
            self.recent = [path, *(one for one in self.recent if one != path)][:_RECENT]
        self._show_list()
        self._read(reading, given)
        if self._clock is not None:
            self._clock.resume()
        self._tick()
        if self.app.focused is None or self.app.focused.id == "logs-start":
            self.list.focus()

    def _drop(self) -> None:
        if self.reading is not None:
            self.view.show(None, {})
            self.reading.close()

    @work(thread=True, group="logs-read", exclusive=True)
    def _read(self, reading: Reading, given: str) -> None:
        if reading.kind == "paste":
            read_text(reading, given)
        elif reading.kind == "follow":
            read_growing(reading, given)
        else:
            read_paths(reading, [given])

    def _tick(self) -> None:
        """Show what the reading has come to."""
        reading, view = self.reading, self.view
        if reading is None:
            return
        busy = reading.is_busy
        logs = reading.logs
        if reading.kind == "follow" and view.sticks and logs:
            self.shown = len(logs) - 1
        if logs and view.rows is not logs[min(self.shown, len(logs) - 1)]:
            self._show_log(min(self.shown, len(logs) - 1))
        view.with_codes = reading.is_warm
        view.grow()
        if self._line and view.rows and (view.rows.lines >= self._line or reading.phase not in ("opening", "indexing")):
            view.go(view.rows.row_of(self._line), center=True)
            self._line = 0
        if self._wanted is not None:
            self._go(*self._wanted)
        if reading.diagnosis is not self._seen or not busy:
            self._take(reading)
        self._show_status()
        if not busy and self._clock is not None:
            self._clock.pause()

    def _take(self, reading: Reading) -> None:
        """Show what the logs show by now."""
        self._seen = reading.diagnosis
        if reading.diagnosis is not None:
            self.items = items(reading.diagnosis)
            self._places = places(self.items)
            self._mark()
        self._show_list()
        if not reading.is_busy and not self._is_touched and reading.kind != "follow" and self.items:
            self._is_touched = True
            if self.items[0].evidence:
                first = self.items[0].evidence[0]
                self._go(first.log, first.start)

    def _show_log(self, number: int) -> None:
        if self.reading is None or not 0 <= number < len(self.reading.logs):
            return
        self.shown = number
        self.view.show(self.reading.logs[number], {})
        self._mark()
        self._show_status()

    def _mark(self) -> None:
        self.view.mark(marks(self.items).get(self.shown, {}), self.query_text)

    def _go(self, log: int, start: int) -> None:
        """Go to a line of a log; as soon as it is there."""
        self._wanted = None
        if self.reading is None or log >= len(self.reading.logs):
            return
        if self.reading.logs[log].size <= start and self.reading.is_busy:
            self._wanted = (log, start)
            return
        if log != self.shown or self.view.rows is None:
            self._show_log(log)
        rows = self.view.rows
        if rows is not None:
            self.view.sticks = False
            self.view.go(rows.row_at(start), center=True)

    # What the widgets say

    @on(OptionList.OptionSelected, "#logs-start")
    async def _start(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        kind, _, rest = (event.option_id or "").partition("-")
        if kind == "do":
            await self.run_action(rest)
        elif kind == "recent":
            self._begin("open", self.recent[int(rest)])

    @on(OptionList.OptionHighlighted, "#logs-list")
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._turn = 0
        self._show_details()
        self.query_one("#logs-detail-box").scroll_home(animate=False)

    @on(OptionList.OptionSelected, "#logs-list")
    def _selected(self, event: OptionList.OptionSelected) -> None:
        """Go to the evidence; the next line of it each time."""
        event.stop()
        item = self._chosen()
        if item is not None and item.evidence:
            one = item.evidence[self._turn % len(item.evidence)]
            self._turn += 1
            self._is_touched = True
            self._go(one.log, one.start)

    @on(Details.Wanted)
    def _line_wanted(self, event: Details.Wanted) -> None:
        event.stop()
        self._go(event.log, event.start)

    @on(Details.EntryWanted)
    def _entry_wanted(self, event: Details.EntryWanted) -> None:
        event.stop()
        self.action_entry()

    @on(LogView.Moved)
    def _moved(self, event: LogView.Moved) -> None:
        event.stop()
        self._show_codes(event.column)

    @on(LogView.Explain)
    def _explain(self, event: LogView.Explain) -> None:
        event.stop()
        self.action_codes()

    def on_paste(self, event: events.Paste) -> None:
        """Read what the terminal pastes, if no box takes it."""
        event.stop()
        if event.text.strip():
            self._begin("paste", event.text)

    def _row_text(self) -> str:
        from assistant.tui.logs.find import shown

        line = self.view.rows.row(self.view.row) if self.view.rows else None
        return shown(line.text) if line is not None else ""

    def _codes(self, column: int | None) -> Any:  # noqa: ANN401 (a tuple of Explained)
        from assistant.tui.logs.codes import codes_in

        if self.reading is None or not self.reading.is_warm:
            return ()
        return codes_in(self._row_text(), self.reading.diagnosis, column)

    def _show_codes(self, column: int | None) -> None:
        from assistant.tui.logs.codes import in_short

        found = self._codes(column)
        line = self.query_one("#logs-code", Static)
        line.update(
            in_short(found, self.lang, self.say("codes_more")) if found else plain(self.say("keys"), "$text-muted")
        )

    # Actions

    def action_open(self) -> None:
        """Ask for a file and read it."""
        self._ask_path("open")

    def action_follow(self) -> None:
        """Ask for a file and follow it."""
        self._ask_path("follow")

    def _ask_path(self, kind: Literal["open", "follow"]) -> None:
        def take(path: str | None) -> None:
            if path:
                self.shown = self._line = 0
                self._begin(kind, path)

        path = self.path or (self.recent[0] if self.recent else "")
        if kind == "open":
            path = f"{Path(path).parent}/" if path else ""
        self.app.push_screen(FileBox(self.say, self.say(f"{kind}_title"), self.say(f"{kind}_hint"), path), take)

    def action_paste(self) -> None:
        """Ask for text and read it."""

        def take(text: str | None) -> None:
            if text:
                self.shown = self._line = 0
                self._begin("paste", text)

        self.app.push_screen(PasteBox(self.say, self.say("paste_title"), self.say("paste_hint"), ""), take)

    def action_stop(self) -> None:
        """Leave the finding, else end the reading."""
        if self.query_one("#logs-find").has_class("shown"):
            self._close_find()
        elif self.query_text or self._note:
            self.workers.cancel_group(self, "logs-find")
            self.query_text = self._note = ""
            self._mark()
            self._show_status()
        elif self.reading is not None and self.reading.is_busy:
            self.reading.stop()

    def action_top(self) -> None:
        """Go to the first row."""
        self._is_touched = True
        self.view.action_first()

    def action_bottom(self) -> None:
        """Go to the last row."""
        self._is_touched = True
        self.view.action_last()

    def action_line(self) -> None:
        """Ask for a line and go there, as soon as it is indexed."""

        def take(line: int | None) -> None:
            if line is not None:
                self._is_touched, self._line, self.view.sticks = True, max(line, 1), False
                self._tick()

        if self.reading is not None:
            lines = f"{self.view.rows.lines:,}" if self.view.rows else "0"
            self.app.push_screen(LineBox(self.say, self.say("line_title"), self.say("line_hint", lines=lines)), take)

    def action_log(self, by: int) -> None:
        """Show the log before or after."""
        if self.reading is not None and self.reading.logs:
            self.view.sticks = False
            self._show_log((self.shown + by) % len(self.reading.logs))

    def action_next(self) -> None:
        """Go to the next found row, or line of evidence."""
        self._step(back=False)

    def action_previous(self) -> None:
        """Go to the found row, or line of evidence, before."""
        self._step(back=True)

    def _step(self, *, back: bool) -> None:
        self._is_touched = True
        if self.query_text:
            self._find(self.query_text, self.view.row, back)
            return
        if not self._places or self.view.rows is None:
            return
        line = self.view.rows.row(self.view.row)
        here = (self.shown, line.start if line is not None else -1)
        at = bisect_left(self._places, here) - 1 if back else bisect_right(self._places, here)
        self._go(*self._places[at % len(self._places)])
        self.view.focus()

    def action_find(self) -> None:
        """Ask for a text in the log."""
        if self.reading is None:
            return
        box = self.query_one("#logs-find", Input)
        box.value = self.query_text
        box.add_class("shown")
        box.focus()

    @on(Input.Submitted, "#logs-find")
    def _asked(self, event: Input.Submitted) -> None:
        event.stop()
        self._close_find()
        self.query_text = event.value
        self._mark()
        self._show_status()
        if event.value:
            self._is_touched = True
            # The row of the cursor counts, too.
            self._find(event.value, self.view.row - 1, back=False)

    def _close_find(self) -> None:
        self.query_one("#logs-find").remove_class("shown")
        self.view.focus()

    @work(thread=True, group="logs-find", exclusive=True)
    def _find(self, query: str, row: int, back: bool) -> None:
        from assistant.tui.logs.find import find

        worker, rows = get_current_worker(), self.view.rows
        if rows is None:
            return
        step = max(rows.blocks // 100, 64)

        def tell(done: int) -> None:
            if done and done % step == 0:
                share = f"{done / max(rows.blocks, 1):.0%}"
                self.app.call_from_thread(self._say_note, self.say("finding", query=query, share=share))

        found = find(rows, query, row, back=back, stop=lambda: worker.is_cancelled, on_block=tell)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._found, rows, query, found)

    def _say_note(self, note: str) -> None:
        self._note = note
        self._show_status()

    def _found(self, rows: object, query: str, row: int | None) -> None:
        if rows is not self.view.rows or query != self.query_text:
            return
        self._say_note("" if row is not None else self.say("found_none", query=query))
        if row is not None:
            self.view.sticks = False
            self.view.go(row, center=True)

    def action_codes(self) -> None:
        """Show all codes of the row with all that they mean."""
        from assistant.texts import texts
        from assistant.tui.logs.codes import in_full

        found = self._codes(None)
        if found:
            text = in_full(found, self.lang, texts(self.lang)["source"])
            self.app.push_screen(TextBox(self.say, self.say("codes_title"), self.say("box_hint"), text))
        else:
            self._say_note(self.say("codes_none"))

    def action_entry(self) -> None:
        """Show the entry that the chosen finding names."""
        item = self._chosen()
        entry = getattr(item.value, "entry", "") if item is not None else ""
        if entry:
            self._open_entry(entry, self.lang)
        else:
            self._say_note(self.say("entry_none"))

    @work(thread=True, group="logs-entry-text", exclusive=True)
    def _open_entry(self, entry: str, lang: Lang) -> None:
        from assistant.errors import AssistantError
        from assistant.tui.logs.entry import entry_text

        worker = get_current_worker()
        try:
            text = entry_text(self.services, entry, lang) or entry
        except AssistantError as error:
            text = f"{entry}: {error}"
        if not worker.is_cancelled:
            box = TextBox(self.say, self.say("entry_title"), self.say("box_hint"), text)
            self.app.call_from_thread(self.app.push_screen, box)

    def action_details(self) -> None:
        """Show or hide the details."""
        self.toggle_class("plain")

    def action_redact(self) -> None:
        """Say whether reports leave out what is private."""
        self.redact = not self.redact
        self._say_note(self.say("redact_on" if self.redact else "redact_off"))

    def action_export(self) -> None:
        """Ask where to, and write the report."""
        reading = self.reading
        if reading is None or reading.diagnosis is None:
            self._say_note(self.say("export_none"))
            return

        def save(path: Path, redact: bool, over: bool) -> None:
            self.redact = redact
            self._write(reading, path, redact, over)

        stem = "log" if reading.kind == "paste" else Path(self.path).name.partition(".")[0] or "log"
        path = str(Path.cwd() / f"{stem}-report.md")
        title, hint = self.say("export_title"), self.say("export_hint")
        self.app.push_screen(SaveBox(self.say, title, hint, path, self.redact, save))

    @work(thread=True, group="logs-export")
    def _write(self, reading: Reading, path: Path, redact: bool, over: bool) -> None:
        from assistant.tui.logs.export import markdown, write

        if reading.diagnosis is None:
            return
        try:
            write(path, markdown(reading, reading.diagnosis, self.lang, self.say, redact=redact), over=over)
            note = self.say("exported", path=path)
        except OSError as error:
            note = self.say("export_failed", path=path, why=error.strerror or error)
        self.app.call_from_thread(self._say_note, note)


def _tail(text: str, most: int) -> str:
    """Return the end of a long path."""
    return text if len(text) <= most else "…" + text[-most + 1 :]
