"""The area Logs: keys, what is read, and what is written of it."""

import asyncio
import os
from pathlib import Path
from typing import Any, ClassVar, Literal

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import OptionList, Static

from assistant.tui.filebox import FileBox
from assistant.tui.folders import latest
from assistant.tui.logs.asking import ask, question
from assistant.tui.logs.body import LogBody
from assistant.tui.logs.codebar import CodeBar
from assistant.tui.logs.codes import in_full
from assistant.tui.logs.details import Details
from assistant.tui.logs.dialogs import ChoiceBox, LineBox, PasteBox, SaveBox, TextBox
from assistant.tui.logs.layout import CSS, KEYS, WITH_LOG
from assistant.tui.logs.read import read
from assistant.tui.logs.reading import Kind, Reading
from assistant.tui.logs.start import Start
from assistant.tui.logs.status import status
from assistant.tui.pane import Pane
from assistant.tui.services import Services
from kb.types import Lang

__all__ = ["LogsPane"]

_TICK_S = 0.1


class LogsPane(Pane):
    """Shows one reading at a time; a thread reads, a clock looks at what it has come to."""

    AREA = "logs"
    DEFAULT_CSS = CSS
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, services: Services, lang: Lang, saved: dict[str, Any]) -> None:
        super().__init__(services, lang, saved)
        self.reading: Reading | None = None
        self.path = ""
        self.recent = latest(saved.get("recent"))
        self.redact = bool(saved.get("redact", True))
        self.note = ""
        """What was said last about what was asked for."""
        self._clock: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out the area."""
        yield Static("", id="logs-status", markup=False)
        yield Start(id="logs-start", markup=False)
        yield LogBody(self.services, self.lang, self.say, id="logs-body")

    def on_mount(self) -> None:
        """Restore what was open at the last end."""
        self.add_class("empty")
        self.set_class(bool(self.restored.get("plain")), "plain")
        self._clock = self.set_interval(_TICK_S, self._tick, pause=True)
        self.relabel()
        kind, path = self.restored.get("kind"), self.restored.get("path")
        if kind in ("open", "follow") and isinstance(path, str) and path:
            log, line = self.restored.get("log"), self.restored.get("line")
            self.begin(kind, path, log=log if isinstance(log, int) else 0, line=line if isinstance(line, int) else 0)

    def on_unmount(self) -> None:
        """Drop what was unpacked."""
        if self.reading is not None:
            self.reading.close()

    @property
    def body(self) -> LogBody:
        """What shows the reading."""
        return self.query_one("#logs-body", LogBody)

    def first_focus(self) -> Widget | None:
        """Return the list."""
        return self.query_one("#logs-start") if self.reading is None else self.body.list

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what can be done: nothing is found or exported before something is read."""
        return action not in WITH_LOG or self.reading is not None

    def state(self) -> dict[str, Any]:
        """Return what was open and where the cursor is; pasted text is not kept."""
        kept: dict[str, Any] = {"recent": self.recent, "redact": self.redact, "plain": self.has_class("plain")}
        if self.reading is not None and self.reading.kind != "paste" and self.reading.phase != "failed":
            kept |= {"kind": self.reading.kind, "path": self.path, "log": self.body.shown, "line": self.body.line}
        return kept

    def relabel(self) -> None:
        """Set every text again; everything keeps its place."""
        self.query_one("#logs-start", Start).show(self.say, self.recent)
        self.body.relabel(self.lang, self.say)
        self._show_status()

    def _show_status(self) -> None:
        query = self.body.bar.query_text
        note = self.note or (self.say("found_hint", query=query) if query else "")
        self.query_one("#logs-status", Static).update(status(self.reading, note, self.say), layout=False)

    @on(LogBody.Said)
    def _said(self, event: LogBody.Said) -> None:
        event.stop()
        self._say(event.note)

    def _say(self, note: str) -> None:
        self.note = note
        self._show_status()

    # Reading

    def begin(self, kind: Kind, given: str, *, log: int = 0, line: int = 0) -> None:
        """Read something else.

        Args:
            kind: how.
            given: path, or pasted text.
            log: which of its logs is shown.
            line: where the cursor goes; 0 for the first finding.
        """
        if self.reading is not None:
            self.body.view.show(None, {})
            self.reading.close()
        self.note = ""
        self.path = "" if kind == "paste" else os.path.abspath(given)  # noqa: PTH100 (a link stays a link)
        if self.path:
            self.recent = latest(self.recent, self.path)
        reading = self.reading = Reading(kind, self.say("pasted") if kind == "paste" else given)
        self.remove_class("empty")
        self.refresh_bindings()
        self.body.start(reading, log=log, line=line)
        self.run_worker(lambda: read(reading, given), thread=True, group="logs-read")
        if self._clock is not None:
            self._clock.resume()
        self._tick()
        if self.app.focused is None or self.app.focused.id == "logs-start":
            self.body.list.focus()

    def _tick(self) -> None:
        """Show what the reading has come to."""
        self.body.grow()
        self._show_status()
        if self.body.is_shown and self._clock is not None:
            self._clock.pause()

    # What the widgets say

    @on(OptionList.OptionSelected, "#logs-start")
    async def _start(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        kind, _, rest = (event.option_id or "").partition("-")
        if kind == "do":
            await self.run_action(rest)
        elif kind == "recent":
            self.begin("open", self.recent[int(rest)])

    @on(Details.EntryWanted)
    def _entry_wanted(self, event: Details.EntryWanted) -> None:
        event.stop()
        self.run_worker(self._show_entry(event.entry), group="logs-box")

    @on(Details.AskWanted)
    async def _ask_wanted(self, event: Details.AskWanted) -> None:
        event.stop()
        await self.action_ask()

    def on_paste(self, event: events.Paste) -> None:
        """Read what the terminal pastes, if no box takes it."""
        event.stop()
        if event.text and not event.text.isspace():
            self.begin("paste", event.text)

    # Actions

    @work(group="logs-box")
    async def action_open(self) -> None:
        """Ask for a file and read it."""
        path = self.path or (self.recent[0] if self.recent else "")
        await self._ask_path("open", f"{Path(path).parent}/" if path else "")

    @work(group="logs-box")
    async def action_follow(self) -> None:
        """Ask for a file and follow it."""
        await self._ask_path("follow", self.path or (self.recent[0] if self.recent else ""))

    async def _ask_path(self, kind: Literal["open", "follow"], path: str) -> None:
        box = FileBox(
            self.say, kind, path=path, recent=self.recent, may_be_folder=kind == "open", may_miss=kind == "follow"
        )
        if chosen := await self.app.push_screen_wait(box):
            self.begin(kind, chosen)

    @work(group="logs-box")
    async def action_paste(self) -> None:
        """Ask for text and read it."""
        if text := await self.app.push_screen_wait(PasteBox(self.say)):
            self.begin("paste", text)

    def action_stop(self) -> None:
        """Leave the finding, else end the reading."""
        body = self.body
        if body.bar.is_open:
            body.bar.close()
            body.view.focus()
        elif body.bar.query_text or self.note:
            body.bar.clear_query()
            body.mark()
            self._say("")
        elif self.reading is not None and self.reading.is_busy:
            self.reading.stop()

    def action_step(self, by: int) -> None:
        """Go to the next found row, or line of evidence, or to the one before."""
        self.body.step(back=by < 0)

    def action_find(self) -> None:
        """Ask for a text in the log."""
        self.body.bar.open()

    def action_edge(self, by: int) -> None:
        """Go to the first row or to the last one."""
        self.body.is_touched = True
        self.body.view.action_first() if by < 0 else self.body.view.action_last()

    @work(group="logs-box")
    async def action_line(self) -> None:
        """Ask for a line and go there, as soon as it is indexed."""
        rows = self.body.view.rows
        box = LineBox(self.say, "line", lines=f"{rows.lines:,}" if rows else "0")
        line = await self.app.push_screen_wait(box)
        if line is not None:
            self.body.go_line(line)

    def action_log(self, by: int) -> None:
        """Show the log before or after."""
        self.body.turn_log(by)

    def action_details(self) -> None:
        """Show or hide the details."""
        self.toggle_class("plain")

    def action_codes(self) -> None:
        """Show all codes of the row with all that they mean."""
        if found := self.query_one("#logs-code", CodeBar).codes:
            self.app.push_screen(TextBox(self.say, "codes", in_full(found, self.lang)))
        else:
            self._say(self.say("codes_none"))

    async def action_ask(self) -> None:
        """Ask about the row of the cursor; about the chosen finding, unless the cursor is in the log."""
        body, item = self.body, self.body.list.chosen
        text = question(item.evidence) if item is not None and not body.view.has_focus else ""
        if (text := text or body.text()).strip():
            await ask(self.app, text)

    @work(group="logs-box")
    async def action_entry(self) -> None:
        """Show the entry that the chosen finding names, or let one of the nearest be chosen."""
        item, near = self.body.list.chosen, self.body.details.told.near
        entry = getattr(item.value, "entry", "") if item is not None else ""
        if not entry and near is not None and near.entries:
            choices = [(one, f"{title}  {platform}") for one, title, platform in near.entries]
            entry = await self.app.push_screen_wait(ChoiceBox(self.say, "near", choices))
        elif not entry:
            self._say(self.say("entry_none"))
        if entry:
            await self._show_entry(entry)

    async def _show_entry(self, entry: str) -> None:
        from assistant.tui.logs.entry import entry_text

        text = await asyncio.to_thread(entry_text, self.services, entry, self.lang)
        self.app.push_screen(TextBox(self.say, "entry", text))

    def action_redact(self) -> None:
        """Say whether reports leave out what is private."""
        self.redact = not self.redact
        self._say(self.say("redact_on" if self.redact else "redact_off"))

    @work(group="logs-box")
    async def action_export(self) -> None:
        """Ask where to, and write the report."""
        from assistant.tui.logs.export import save

        reading = self.reading
        if reading is None or reading.diagnosis is None:
            self._say(self.say("export_none"))
            return
        stem = Path(self.path).name.partition(".")[0] or "log"
        box = SaveBox(self.say, str(Path.cwd() / f"{stem}-report.md"), self.redact)
        target = await self.app.push_screen_wait(box)
        if target is not None:
            self.redact = target.redact
            self._say(await asyncio.to_thread(save, reading, target, self.lang, self.say))
