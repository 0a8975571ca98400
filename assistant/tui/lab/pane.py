"""The area lab: choose a check, fill its form, see what comes out while typing."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, OptionList

from assistant.checks.types import Check, Outcome
from assistant.errors import BadInput
from assistant.tui.lab.chooser import Chooser
from assistant.tui.lab.curves import Picture, picture
from assistant.tui.lab.field import Field
from assistant.tui.lab.form import Form, start_values
from assistant.tui.lab.history import HistoryScreen, Run, added, load, save
from assistant.tui.lab.jobs import Cancelled, Job, Jobs, Progress
from assistant.tui.lab.result import Foot, ResultView
from assistant.tui.lab.strip import Strip
from assistant.tui.lab.wrong import refused
from assistant.tui.pane import Pane
from kb.types import Lang

__all__ = ["LabPane"]

#: Seconds between the last key and the run.
DEBOUNCE: Final = 0.2
#: Columns from which the list is wider, and ranges stand beside their fields.
WIDE: Final = 120
#: Lines from which on all of a help text fits above the form.
TALL: Final = 32
#: Checks whose typed values are kept.
MOST_TYPED: Final = 60


class LabPane(Pane):
    """Every check of the table as a form."""

    AREA = "lab"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+f", "filter", "filter", id="lab.filter", priority=True),
        Binding("ctrl+r", "run", "run", id="lab.run", priority=True),
        Binding("ctrl+y", "copy", "copy", id="lab.copy", priority=True),
        Binding("ctrl+o", "history", "history", id="lab.history", priority=True),
        Binding("ctrl+g", "example", "example", id="lab.example", show=False, priority=True),
        Binding("ctrl+n", "next", "next", id="lab.next", show=False, priority=True),
        Binding("ctrl+b", "previous", "previous", id="lab.previous", show=False, priority=True),
        Binding("pagedown", "scroll('down')", "down", id="lab.down", show=False),
        Binding("pageup", "scroll('up')", "up", id="lab.up", show=False),
        Binding("escape", "cancel", "cancel", id="lab.cancel", show=False),
    ]
    DEFAULT_CSS = """
    LabPane #lab-body { height: 1fr; }
    LabPane #lab-right { width: 1fr; height: 1fr; }
    """

    @dataclass
    class Loaded(Message):
        """The table of checks was read."""

        checks: Mapping[str, Check]

    @dataclass
    class JobChanged(Message):
        """A job has another state."""

        job: Job

    def __init__(self, services: Any, lang: Lang, saved: dict[str, Any]) -> None:  # noqa: ANN401 (as Pane)
        super().__init__(services, lang, saved)
        self.checks: Mapping[str, Check] = {}
        self.opened = ""
        typed = saved.get("typed", {})
        self.typed: dict[str, dict[str, str]] = dict(typed) if isinstance(typed, dict) else {}
        self.runs: list[Run] = load(saved.get("history"))
        self.jobs = Jobs(self._start, lambda job: self.post_message(self.JobChanged(job)))
        self.shown_jobs: list[Job] = []
        self.current: Job | None = None
        """The run of the values that are typed; what any other run gives is dropped."""
        self.done: tuple[Outcome, Picture | None] | None = None
        self._timer: Timer | None = None
        self._keep = False
        self._showing = asyncio.Lock()
        """Held while a check or a result is put on the screen: a result never comes to stand below another check."""

    def compose(self) -> ComposeResult:
        """Lay out the area."""
        with Horizontal(id="lab-body"):
            yield Chooser(self.say, self.lang)
            with Vertical(id="lab-right"):
                yield ResultView()
        yield Strip(id="lab-strip")

    def on_mount(self) -> None:
        """Read the table in a thread."""
        self.query_one(Strip).show([], self.say)
        self.query_one("#lab-filter", Input).value = str(self.restored.get("filter", ""))
        self._load()

    def on_unmount(self) -> None:
        """Ask every job to end."""
        for job in self.shown_jobs:
            job.stop.set()

    def _start(self, work: Callable[[], None]) -> None:
        def begin() -> None:
            self.run_worker(work, thread=True, group="lab-jobs", exit_on_error=False)

        # Jobs start from the window, or from the thread of the job that ended before them.
        self.call_later(begin)

    @work(thread=True, group="lab-table")
    def _load(self) -> None:
        from assistant.checks.table import CHECKS

        self.post_message(self.Loaded(CHECKS))

    @on(Loaded)
    async def _loaded(self, event: Loaded) -> None:
        self.checks = event.checks
        name = str(self.restored.get("check", ""))
        await self.open(name if name in self.checks else next(iter(self.checks)))

    async def open(self, name: str, values: Mapping[str, str] | None = None) -> None:
        """Show a check with values; without any with those typed before, else with its example."""
        async with self._showing:
            await self._open(name, values)

    async def _open(self, name: str, values: Mapping[str, str] | None) -> None:
        self._remember()
        check = self.checks[name]
        self.opened = name
        given = values if values is not None else self.typed.get(name) or start_values(check)
        self._drop()
        self.done = None
        self.query_one(ResultView).outdated()
        right = self.query_one("#lab-right", Vertical)
        with self.app.batch_update():
            await self.query(Form).remove()
            form = Form(check, given, self.say, self.lang, **self._room())
            await right.mount(form, before=0)
            self.query_one(Chooser).show(self.checks, name)
        await self._ready()

    def _remember(self) -> None:
        form = self.form()
        if form is None:
            return
        values = form.values()
        self.typed.pop(self.opened, None)
        if values != start_values(form.check):
            self.typed[self.opened] = values
            for name in list(self.typed)[:-MOST_TYPED]:
                del self.typed[name]

    def form(self) -> Form | None:
        """Return the form that is open."""
        forms = self.query(Form)
        return forms.first() if forms else None

    # Running

    async def _ready(self) -> None:
        """Run what is typed, or say what is missing."""
        form = self.form()
        if form is None:
            return
        problems = form.problems()
        if not problems:
            self._run(form.check, form.values())
            return
        self.done = None
        field, problem = problems[0]
        title = field.parameter.zh if self.lang == "zh" else field.parameter.en
        told = self.say("not_run", field=title, problem=problem)
        await self.query_one(ResultView).tell("✗", told, "$text-error")

    def _run(self, check: Check, values: dict[str, str]) -> None:
        def work(progress: Progress, cancelled: Cancelled) -> tuple[Outcome, Picture | None]:
            from assistant.checks.run import run_check

            outcome = run_check(check, values)
            progress(0.5, "")
            return outcome, None if cancelled() else picture(outcome)

        self.current = self.start(Job(check.name, work))

    def start(self, job: Job) -> Job:
        """Run a job; it shows in the strip, and Escape cancels it."""
        self.shown_jobs = [*[old for old in self.shown_jobs if not old.is_over], job]
        return self.jobs.add(job)

    def _drop(self) -> None:
        self._keep = False
        if self._timer is not None:
            self._timer.stop()
        if self.current is not None:
            self.jobs.cancel(self.current)
            self.current = None

    @on(Field.Changed)
    def _changed(self, event: Field.Changed) -> None:
        event.stop()
        self._drop()
        self.query_one(ResultView).outdated()
        self._timer = self.set_timer(DEBOUNCE, self._ready)

    @on(Field.Submitted)
    async def _submitted(self, event: Field.Submitted) -> None:
        event.stop()
        await self.action_run()

    @on(JobChanged)
    async def _job_changed(self, event: JobChanged) -> None:
        event.stop()
        job = event.job
        self.query_one(Strip).show(self.shown_jobs, self.say)
        async with self._showing:
            if job is not self.current or not job.is_over or job.state == "cancelled":
                return
            self.current = None
            if job.state == "done":
                self.done = job.result
                self._record(job.result[0])
            else:
                self.done = None
            await self._show(job.error)

    async def _show(self, error: Exception | None = None) -> None:
        view, form = self.query_one(ResultView), self.form()
        if form is None:
            return
        if error is not None:
            if isinstance(error, BadInput):
                told = refused(form.check, str(error).removeprefix(f"{form.check.name}: "), self.say, self.lang)
            else:
                told = self.say("broken", reason=f"{type(error).__name__}: {error}")
            await view.tell("✗", told, "$text-error")
        elif self.done is not None:
            outcome, drawn = self.done
            await view.show(form.check, outcome, drawn, self.command(), self.say, self.lang)

    def _record(self, outcome: Outcome) -> None:
        from assistant.checks.show import sentence

        form = self.form()
        if form is None or not outcome.result:
            return
        zh, en = (sentence(form.check, outcome, lang) for lang in ("zh", "en"))
        self.runs = added(self.runs, Run(form.check.name, form.values(), zh, en, time.time(), self._keep))
        self._keep = False

    def command(self) -> str:
        """Return the command line that repeats what is shown, "" if nothing is."""
        from assistant.checks.text import command

        return "" if self.done is None else command(self.done[0].check, self.done[0].arguments)

    # Actions

    @on(Chooser.Opened)
    async def _chosen(self, event: Chooser.Opened) -> None:
        event.stop()
        await self.open(event.name)
        self._enter()

    def _enter(self) -> None:
        form = self.form()
        if form is not None:
            for editor in form.query(".editor"):
                editor.focus()
                return

    def action_filter(self) -> None:
        """Go to the filter box."""
        self.query_one("#lab-filter", Input).focus()

    async def action_run(self) -> None:
        """Run now, and keep the run in the history; a field that cannot be used gets the focus."""
        form = self.form()
        if form is None:
            return
        for field, _ in form.problems()[:1]:
            field.query_one(".editor").focus()
        self._drop()
        self._keep = not form.problems()
        await self._ready()

    @on(Foot.Copy)
    def action_copy(self) -> None:
        """Copy the command that repeats the run."""
        if text := self.command():
            self.app.copy_to_clipboard(text)
            self.notify(self.say("copied", command=text), markup=False, timeout=3)
        else:
            self.notify(self.say("nothing_to_copy"), markup=False, timeout=3)

    def action_example(self) -> None:
        """Fill in the example of the check."""
        if (form := self.form()) is not None:
            form.put(start_values(form.check))

    def action_history(self) -> None:
        """Show the last runs."""
        self.app.push_screen(HistoryScreen(self.runs, self.say, self.lang), self._back)

    async def _back(self, run: Run | None) -> None:
        if run is not None and run.check in self.checks:
            await self.open(run.check, run.values)
            self._enter()

    def action_scroll(self, way: str) -> None:
        """Scroll the result by a page from wherever the focus is."""
        getattr(self.query_one(ResultView), f"action_page_{way}")()

    async def action_next(self) -> None:
        """Open the next check of the list."""
        await self._step(1)

    async def action_previous(self) -> None:
        """Open the check before."""
        await self._step(-1)

    async def _step(self, by: int) -> None:
        shown = self.query_one("#lab-list", OptionList)
        names = [option.id for option in shown.options if option.id]
        if names:
            place = names.index(self.opened) + by if self.opened in names else 0
            await self.open(str(names[place % len(names)]))

    @on(Strip.Cancel)
    async def action_cancel(self) -> None:
        """Cancel the newest job that is not over; with none, clear the filter."""
        active = [job for job in self.shown_jobs if not job.is_over]
        if active:
            self.jobs.cancel(active[-1])
            if active[-1] is self.current:
                self.current = None
                await self.query_one(ResultView).tell("■", self.say("was_cancelled"), "$text-warning")
            return
        box = self.query_one("#lab-filter", Input)
        box.value = ""
        box.focus()

    # The frame

    def on_resize(self, event: events.Resize) -> None:
        """Give wide screens more room."""
        self.query_one(Chooser).styles.width = 44 if event.size.width >= WIDE else 30
        if (form := self.form()) is not None:
            form.fit(**self._room())

    def _room(self) -> dict[str, bool]:
        return {"is_tall": self.size.height >= TALL, "is_wide": self.size.width >= WIDE}

    def relabel(self) -> None:
        """Change the language of everything, keeping values, place and result."""
        self.query_one(Chooser).speak(self.say, self.lang)
        self.query_one(Strip).show(self.shown_jobs, self.say)
        if (form := self.form()) is not None:
            form.speak(self.say, self.lang)
        self._tell_again()

    @work(group="lab-show", exclusive=True)
    async def _tell_again(self) -> None:
        async with self._showing:
            if self.done is not None:
                await self._show()
            elif self.current is None:
                await self._ready()

    def state(self) -> dict[str, Any]:
        """Return what is open and typed, and the last runs."""
        self._remember()
        chosen = self.opened or str(self.restored.get("check", ""))
        return {
            "check": chosen,
            "filter": self.query_one(Chooser).filtered,
            "typed": self.typed,
            "history": save(self.runs),
        }

    def help(self) -> str:
        """Return the help of the area, and of the check that is open."""
        if self.opened not in self.checks:
            return self.say("help")
        from assistant.checks.text import described

        return f"{self.say('help')}\n\n{described(self.checks[self.opened], self.lang)}"

    def first_focus(self) -> Widget | None:
        """Return the filter box."""
        return self.query_one("#lab-filter", Input)
