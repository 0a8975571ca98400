"""The area model: what an ONNX model needs on a device, what the device cannot run, and the rewrite of it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.widget import Widget
from textual.widgets import Button, Input, Select
from textual.worker import get_current_worker

from assistant.reasons import shown
from assistant.tui.folders import latest
from assistant.tui.model import running
from assistant.tui.model.figures import headline
from assistant.tui.model.fixed import Fix, outcome
from assistant.tui.model.names import cut
from assistant.tui.model.paths import FIELDS, Paths
from assistant.tui.model.progress import Progress
from assistant.tui.model.settings import InputForm, Settings, WrongField
from assistant.tui.model.tabs import TABS, Results
from assistant.tui.pane import Pane
from assistant.tui.pathfield import PathField
from assistant.tui.safe import one_line
from assistant.tui.services import Services
from kb.types import Lang

__all__ = ["ModelPane"]


class ModelPane(Pane):
    """The area model."""

    AREA = "model"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+o", "pick", "pick", id="model.pick"),
        Binding("ctrl+r", "run", "run", id="model.run"),
        Binding("f7", "fix", "fix", id="model.fix"),
        Binding("f8", "beside", "beside", id="model.beside"),
        Binding("escape", "cancel", "cancel", id="model.cancel", show=False),
        Binding("slash", "find", "find", id="model.find", show=False),
        Binding("s", "sort", "sort", id="model.sort", show=False),
        Binding("r", "reverse", "reverse", id="model.reverse", show=False),
        *(
            Binding(str(number), f"tab('{tab}')", tab, id=f"model.{tab}", show=False)
            for number, tab in enumerate(TABS, start=1)
        ),
    ]
    DEFAULT_CSS = "ModelPane { padding: 0 1; }"

    def __init__(self, services: Services, lang: Lang, saved: dict[str, Any]) -> None:
        super().__init__(services, lang, saved)
        self.running = running.Running(self.post_message)
        self.models: list[dict[str, Any]] = []
        """The estimates that are shown: none, one, or two side by side."""
        self.proof: dict[str, Any] | None = None
        self._asked: list[str] = []
        """The files of the estimate that runs, or ran last."""
        self._takes_focus = False
        """Whether the result of the estimate that runs gets the focus: it was asked for by key."""
        self._told: Callable[[], None] = lambda: self.query_one(Progress).note(self.say("welcome"))

    def compose(self) -> ComposeResult:
        """Lay out the files, the settings, the line of progress, and the results."""
        yield Paths(self.say)
        yield Settings(self.say, self.restored)
        yield InputForm(self.say, self.restored.get("typed"))
        yield Progress()
        yield Results(self.say, self.lang)

    def on_mount(self) -> None:
        """Restore what was shown last."""
        for name in FIELDS:
            self.query_one(Paths).field(name).choose(str(self.restored.get(name, "")))
        self.query_one(Paths).recent = latest(self.restored.get("recent"))
        tab = self.restored.get("tab")
        if tab in TABS:
            self.query_one(Results).enter(tab, focus=False)
        self.relabel()
        if self.restored.get("shown") and Path(self.query_one(Paths).path()).is_file():
            self._start(takes_focus=False)

    def on_unmount(self) -> None:
        """End the second process."""
        self.running.engine.close()

    def relabel(self) -> None:
        """Set every label, and show the results in the language."""
        self.query_one(Paths).relabel(self.say)
        self.query_one(Settings).relabel(self.say)
        self.query_one(InputForm).relabel(self.say)
        self.query_one(Fix).relabel(self.say, self.lang)
        self.query_one(Results).show(self.models, self.say, self.lang)
        self._told()

    def state(self) -> dict[str, Any]:
        """Return files, settings and the tab."""
        paths = self.query_one(Paths)
        return {
            **{name: paths.path(name) for name in FIELDS}, **self.query_one(Settings).state(),
            "typed": self.query_one(InputForm).typed, "tab": self.query_one(Results).tab, "shown": bool(self.models),
            "recent": paths.recent,
        }  # fmt: skip

    def first_focus(self) -> Widget | None:
        """Return the field of the file."""
        try:
            return self.query_one("#model-path", PathField)
        except NoMatches:
            return None

    def _tell(self, kind: str, key: str, values: Mapping[str, object] | None = None) -> None:
        """Say a sentence, again in the other language when that is chosen; a reason is told in that language, too."""

        def told() -> None:
            line, given = self.query_one(Progress), dict(values or {})
            if "reason" in given:
                given["reason"] = one_line(shown(str(given["reason"]), self.lang))
            text = self.say(key, **given) if given else self.say(key)
            line.bad(text) if kind == "bad" else line.good(text) if kind == "good" else line.note(text)

        self._told = told
        told()

    # Running

    def _job(self) -> dict[str, Any] | None:
        """Return what all jobs need, or say what is wrong with a field."""
        paths = self.query_one(Paths)
        name, key = paths.wrong()
        if key:
            self._tell("bad", key, {"path": cut(paths.path(name), 200)})
            paths.field(name).focus()
            return None
        try:
            shapes, values = self.query_one(InputForm).asked()
            return {**self.query_one(Settings).asked(), "shapes": shapes, "values": values}
        except WrongField as wrong:
            self._tell("bad", wrong.key, wrong.values)
            return None

    def _start(self, *, takes_focus: bool) -> None:
        job = self._job()
        if job is None:
            return
        paths = self._asked = self.query_one(Paths).given()
        self._takes_focus = takes_focus
        self.query_one(Progress).run(self.say("stage_start"), 0, 2 * len(paths))
        run = self.running.begin("estimate")
        self._work(lambda over: self.running.estimate(run, {**job, "do": "estimate", "paths": paths}, over))

    @work(thread=True, exclusive=True, group="model-job")
    def _work(self, do: Callable[[Callable[[], bool]], None]) -> None:
        worker = get_current_worker()
        do(lambda: worker.is_cancelled)

    @on(running.Stage)
    def _stage(self, told: running.Stage) -> None:
        if self.running.is_current(told):
            text = self.say(f"stage_{told.stage}", name=cut(told.name, 30)) + f" · {self.say('esc_cancels')}"
            self.query_one(Progress).run(text, told.done, told.steps)

    @on(running.Inputs)
    async def _inputs(self, told: running.Inputs) -> None:
        if self.running.is_current(told):
            await self.query_one(InputForm).show(told.inputs)

    @on(running.Estimated)
    def _estimated(self, told: running.Estimated) -> None:
        if not self.running.is_current(told):
            return
        first = told.models[0]
        if not self.models or self.models[0]["model"] != first["model"]:
            self._show_proof(None)
            self.query_one(Fix).propose(first["model"])
        self.models = told.models
        self.query_one(Paths).remember(self._asked)
        results = self.query_one(Results)
        results.outdate(self.query_one(Paths).given() != self._asked)
        if self._takes_focus and len(self.models) > 1:
            results.enter("compare", focus=False)
        results.show(self.models, self.say, self.lang)
        self._tell("good", *headline(first))
        if self._takes_focus:
            self.call_after_refresh(results.focus_tab)

    @on(running.Failed)
    def _failed(self, told: running.Failed) -> None:
        if not self.running.is_current(told):
            return
        form = self.query_one(InputForm)
        if missing := form.open_names():
            self._tell("bad", "needs_shapes", {"names": ", ".join(missing)})
            if (field := form.first_open()) is not None:
                self.call_after_refresh(field.focus)
        else:
            self._tell("bad", "failed", {"reason": told.reason})

    @on(running.Rewritten)
    def _rewritten(self, told: running.Rewritten) -> None:
        if not self.running.is_current(told):
            return
        one = told.outcome
        self._show_proof(one)
        self._tell("good" if one["written"] else "bad", *outcome(one))
        self.query_one("#fix-scroll").focus()

    def _show_proof(self, proof: dict[str, Any] | None) -> None:
        self.proof = proof
        self.query_one(Fix).show(proof, self.lang)

    # Actions

    def action_pick(self) -> None:
        """Choose a file, for the field that has the focus."""
        self.query_one(Paths).pick(self.action_run)

    def action_run(self) -> None:
        """Estimate."""
        self._start(takes_focus=True)

    def action_cancel(self) -> None:
        """Stop what runs; otherwise show all layers again; otherwise go back to the file."""
        if not self.running.doing:
            if not self.query_one(Results).clear():
                self.query_one(Paths).field("path").focus()
            return
        self.running.stop()
        self.workers.cancel_group(self, "model-job")
        self._tell("note", "cancelled")

    def action_fix(self) -> None:
        """Go to the rewrite and its path; Enter there confirms."""
        if not self.query_one("#fix-out", PathField).value:
            self.query_one(Fix).propose(self.query_one(Paths).path())
        self.action_tab("fixed")

    def _confirm(self) -> None:
        job, path = self._job(), self.query_one(Paths).path()
        if job is None:
            return
        try:
            asked, out = self.query_one(Fix).asked(path)
        except WrongField as wrong:
            self._tell("bad", wrong.key, wrong.values)
            return
        self.query_one(Progress).run(self.say("stage_start"), 0, 1)
        run = self.running.begin("fix")
        self._work(lambda over: self.running.rewrite(run, {**job, **asked, "do": "fix", "path": path}, out, over))

    def action_beside(self) -> None:
        """Go to the field of the second model."""
        self.query_one(Paths).field("other").focus()

    def action_find(self) -> None:
        """Search the layers."""
        self.query_one(Results).find()

    def action_sort(self) -> None:
        """Sort the layers by the next column."""
        self.query_one(Results).sort()

    def action_reverse(self) -> None:
        """Sort the layers the other way round."""
        self.query_one(Results).reverse()

    def action_tab(self, tab: str) -> None:
        """Show a tab and focus what is on it."""
        self.query_one(Results).enter(tab)

    # Events

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input.id in ("fix-out", "fix-tolerance"):
            self._confirm()
        else:
            self.action_run()

    @on(Input.Changed, "#model-path, #model-other")
    def _other_path(self) -> None:
        is_other = self.query_one(Paths).given() != self._asked
        self.query_one(Results).outdate(is_other)
        if self.running.doing == "estimate" and is_other:
            self.action_cancel()

    @on(Select.Changed)
    def _other_setting(self, event: Select.Changed) -> None:
        event.stop()
        if event.select.id == "set-device":
            self.query_one(Settings).show_clock()
        if self.models or self.running.doing == "estimate":
            self._start(takes_focus=False)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        name = event.button.id or ""
        if name.startswith("pick-"):
            self.query_one(Paths).pick(self.action_run, name.removeprefix("pick-"))
        elif name == "run":
            self.action_run()
        elif name == "fix-run":
            self._confirm()
        elif name == "fix-beside" and self.proof is not None:
            self.query_one(Paths).field("other").choose(self.proof["written"])
            self.action_run()
