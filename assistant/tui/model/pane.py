"""The area model: what an ONNX model needs on a device, what the device cannot run, and the rewrite of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.css.query import NoMatches
from textual.widget import Widget
from textual.widgets import Button, DataTable, Input, Select, Static, TabbedContent, TabPane
from textual.worker import get_current_worker

from assistant.tui.model import rewriting
from assistant.tui.model.engine import Engine, Stopped
from assistant.tui.model.files import PathField, PickScreen
from assistant.tui.model.fixed import Fix
from assistant.tui.model.names import cut
from assistant.tui.model.progress import Progress
from assistant.tui.model.results import Beside, Charts, Layers, Totals, Unsupported
from assistant.tui.model.settings import InputForm, Settings, WrongField
from assistant.tui.pane import Pane
from assistant.tui.safe import plain
from assistant.tui.services import Services
from kb.types import Lang

__all__ = ["ModelPane"]

TABS: tuple[str, ...] = ("totals", "layers", "unsupported", "charts", "fixed", "compare")


class ModelPane(Pane):
    """The area model."""

    AREA = "model"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+o", "pick", "pick", id="model.pick"),
        Binding("ctrl+r", "run", "run", id="model.run"),
        Binding("f7", "fix", "fix", id="model.fix"),
        Binding("f8", "beside", "beside", id="model.beside"),
        Binding("escape", "cancel", "cancel", id="model.cancel", show=False),
        Binding("s", "sort", "sort", id="model.sort", show=False),
        Binding("r", "reverse", "reverse", id="model.reverse", show=False),
        *(
            Binding(str(number), f"tab('{tab}')", tab, id=f"model.{tab}", show=False)
            for number, tab in enumerate(TABS, start=1)
        ),
    ]
    DEFAULT_CSS = """
    ModelPane { padding: 0 1; }
    ModelPane .path { height: 1; }
    ModelPane .path Static { width: 8; color: $text-muted; }
    ModelPane .path PathField { width: 1fr; margin-right: 1; }
    ModelPane .path Button { min-width: 8; }
    ModelPane TabbedContent { height: 1fr; }
    ModelPane #model-start { height: 1fr; margin: 1 2; display: none; }
    ModelPane.-empty TabbedContent { display: none; }
    ModelPane.-empty #model-start { display: block; }
    ModelPane TabPane { padding: 0; height: 1fr; }
    ModelPane ContentSwitcher { height: 1fr; }
    """

    def __init__(self, services: Services, lang: Lang, saved: dict[str, Any]) -> None:
        super().__init__(services, lang, saved)
        self.engine = Engine()
        self.models: list[dict[str, Any]] = []
        """The estimates that are shown: none, one, or two side by side."""
        self.proof: dict[str, Any] | None = None
        self._busy = ""
        self._asked: list[str] = []
        """The files of the estimate that runs."""
        self._confirmed = ""
        """An existing file that the user was asked about: the next Enter overwrites it."""
        self._told: Callable[[], None] = self._welcome

    def compose(self) -> ComposeResult:
        """Lay out the files, the settings, the line of progress, and the results."""
        for field in ("path", "other"):
            with Horizontal(classes="path"):
                yield Static(id=f"say-{field}", markup=False)
                yield PathField(f"model-{field}")
                yield Button(id=f"pick-{field}", compact=True)
        yield Settings(self.say, self.restored)
        yield InputForm(self.say, {str(k): str(v) for k, v in self.restored.get("typed", {}).items()})
        yield Progress()
        yield Static(id="model-start", markup=False)
        with TabbedContent(id="model-tabs"):
            for tab, kind in zip(TABS[:4], (Totals, Layers, Unsupported, Charts), strict=True):
                with TabPane(tab, id=f"tab-{tab}"):
                    yield kind()
            with TabPane("fixed", id="tab-fixed"):
                yield Fix(self.say)
            with TabPane("compare", id="tab-compare"):
                yield Beside()

    def on_mount(self) -> None:
        """Restore what was shown last."""
        for field in ("path", "other"):
            self.query_one(f"#model-{field}", PathField).choose(str(self.restored.get(field, "")))
        tab = self.restored.get("tab")
        if tab in TABS:
            self.query_one("#model-tabs", TabbedContent).active = f"tab-{tab}"
        self.relabel()
        if self.restored.get("shown") and Path(self._path("path")).is_file():
            self._start(focus=False)

    def on_unmount(self) -> None:
        """End the second process."""
        self.engine.close()

    def relabel(self) -> None:
        """Set every label, and show the results in the language."""
        for field in ("path", "other"):
            self.query_one(f"#say-{field}", Static).update(self.say(f"field_{field}"))
            self.query_one(f"#model-{field}", PathField).placeholder = self.say(f"hint_{field}")
            self.query_one(f"#pick-{field}", Button).label = self.say("button_pick")
        self.query_one(Settings).relabel(self.say)
        self.query_one(InputForm).relabel(self.say)
        self.query_one(Fix).relabel(self.say, self.lang)
        self._show()
        self._told()

    def state(self) -> dict[str, Any]:
        """Return files, settings and the tab."""
        return {
            "path": self._path("path"), "other": self._path("other"), **self.query_one(Settings).state(),
            "typed": self.query_one(InputForm).typed, "tab": self._tab(), "shown": bool(self.models),
        }  # fmt: skip

    def first_focus(self) -> Widget | None:
        """Return the field of the file."""
        try:
            return self.query_one("#model-path", PathField)
        except NoMatches:
            return None

    def _path(self, field: str) -> str:
        return self.query_one(f"#model-{field}", PathField).path

    def _paths(self) -> list[str]:
        return [path for path in (self._path("path"), self._path("other")) if path]

    def _tab(self) -> str:
        return self.query_one("#model-tabs", TabbedContent).active.removeprefix("tab-")

    # What is shown

    def _welcome(self) -> None:
        self.query_one(Progress).note(self.say("welcome"))

    def _tell(self, kind: str, key: str, **values: object) -> None:
        """Say a sentence, again in the other language when that is chosen."""

        def told() -> None:
            line = self.query_one(Progress)
            text = self.say(key, **values) if values else self.say(key)
            line.bad(text) if kind == "bad" else line.good(text) if kind == "good" else line.note(text)

        self._told = told
        told()

    def _show(self) -> None:
        """Show the estimates."""
        tabs = self.query_one("#model-tabs", TabbedContent)
        self.query_one("#model-start", Static).update(plain(self.say("start")))
        self.set_class(not self.models and self._tab() == TABS[0], "-empty")
        first = self.models[0] if self.models else None
        second = self.models[1] if len(self.models) > 1 else None
        counts = {"layers": len(first["layers"]), "unsupported": len(first["unsupported"])} if first else {}
        for number, tab in enumerate(TABS, start=1):
            more = f" {counts[tab]}" if counts.get(tab) else ""
            tabs.get_tab(f"tab-{tab}").label = f"{number} {self.say(f'model_{tab}')}{more}"
        if first is None:
            return
        self.query_one(Totals).show(first, self.lang, self.say)
        self.query_one(Layers).show(first, self.lang, self.say)
        self.query_one(Unsupported).show(first, self.lang, self.say)
        self.query_one(Charts).show(first, self.lang, self.say)
        self.query_one(Beside).show(first, second, self.lang, self.say)

    # Running

    def _job(self) -> dict[str, Any] | None:
        """Return what all jobs need, or say what is wrong with a field."""
        for field in ("path", "other"):
            path = self._path(field)
            if not path and field == "other":
                continue
            key = _why_no_model(path)
            if key:
                self._tell("bad", key, path=cut(path, 200))
                self.query_one(f"#model-{field}").focus()
                return None
        try:
            shapes, values = self.query_one(InputForm).asked()
            asked = self.query_one(Settings).asked()
        except WrongField as wrong:
            self._tell("bad", wrong.key, **wrong.values)
            return None
        return {**asked, "shapes": shapes, "values": values}

    def _start(self, *, focus: bool) -> None:
        job = self._job()
        if job is None:
            return
        paths = self._asked = self._paths()
        self._busy = "estimate"
        self.query_one(Progress).run(self.say("stage_start"), 0, 2 * len(paths))
        self._estimate({**job, "do": "estimate", "paths": paths}, focus)

    @work(thread=True, exclusive=True, group="model-job")
    def _estimate(self, job: dict[str, Any], focus: bool) -> None:
        worker, step = get_current_worker(), -1
        steps, names = 2 * len(job["paths"]), [Path(path).name for path in job["paths"]]

        def tell(word: str, value: Any) -> None:  # noqa: ANN401 (see assistant.tui.model.job)
            nonlocal step
            if word == "stage":
                step += 1
                self.app.call_from_thread(self._stage, worker, str(value), names[step // 2], step, steps)
            elif word == "inputs" and value["path"] == job["paths"][0]:
                self.app.call_from_thread(self._inputs, worker, value["inputs"])

        try:
            word, value = self.engine.run(job, tell, lambda: worker.is_cancelled)
        except Stopped:
            return
        self.app.call_from_thread(self._estimated, worker, word, value, focus)

    def _stage(self, worker: Any, stage: str, name: str, done: int, steps: int) -> None:  # noqa: ANN401 (Worker[None])
        if not worker.is_cancelled:
            text = self.say(f"stage_{stage}", name=cut(name, 30)) + f" · {self.say('esc_cancels')}"
            self.query_one(Progress).run(text, done, steps)

    def _inputs(self, worker: Any, inputs: list[dict[str, Any]]) -> Any:  # noqa: ANN401 (Worker[None], awaitable)
        return None if worker.is_cancelled else self.query_one(InputForm).show(inputs)

    def _estimated(self, worker: Any, word: str, value: Any, focus: bool) -> None:  # noqa: ANN401 (Worker[None])
        if worker.is_cancelled:
            return
        self._busy = ""
        if word == "failed":
            self._failed(str(value))
            return
        is_new = not self.models or self.models[0]["model"] != value["models"][0]["model"]
        self.models = value["models"]
        if is_new:
            self.proof = None
            self.query_one(Fix).show(None, self.lang)
            self.query_one("#fix-out", PathField).choose(rewriting.proposed(self.models[0]["model"]))
        self._show()
        first = self.models[0]
        clock = "?" if first["clock_mhz"] is None else f"{first['clock_mhz']:g}"
        self._tell(
            "good", "estimated_some" if first["unsupported"] else "estimated", name=cut(Path(first["model"]).name, 18),
            device=first["device"], clock=clock, layers=len(first["layers"]), unsupported=len(first["unsupported"]),
        )  # fmt: skip
        if focus:
            if len(self.models) > 1:
                self.query_one("#model-tabs", TabbedContent).active = "tab-compare"
            self.call_after_refresh(self._focus_tab)

    def _failed(self, sentence: str) -> None:
        form = self.query_one(InputForm)
        missing = form.open_names()
        if missing:
            self._tell("bad", "needs_shapes", names=", ".join(missing))
            field = form.first_open()
            if field is not None:
                self.call_after_refresh(field.focus)
        else:
            self._tell("bad", "failed", sentence=sentence)

    @work(thread=True, exclusive=True, group="model-job")
    def _rewrite(self, job: dict[str, Any], out: str) -> None:
        worker, name = get_current_worker(), Path(job["path"]).name

        def tell(word: str, value: Any) -> None:  # noqa: ANN401 (see assistant.tui.model.job)
            if word == "stage":
                self.app.call_from_thread(self._stage, worker, str(value), name, 0, 1)

        try:
            word, value = rewriting.rewritten(self.engine, job, out, tell, lambda: worker.is_cancelled)
        except Stopped:
            return
        self.app.call_from_thread(self._rewritten, worker, word, value)

    def _rewritten(self, worker: Any, word: str, value: Any) -> None:  # noqa: ANN401 (Worker[None])
        if worker.is_cancelled:
            return
        self._busy = ""
        if word == "failed":
            self._failed(str(value))
            return
        self.proof = value
        self.query_one(Fix).show(value, self.lang)
        key = "fix_refused" if not value["written"] else "fix_clean" if value["clean"] else "fix_some_left"
        self._tell("good" if value["written"] else "bad", key, left=len(value["left"]), changes=len(value["changes"]))
        self.query_one("#fix-scroll").focus()

    # Actions

    def action_pick(self) -> None:
        """Choose a file in the tree, for the field that has the focus."""
        focused = self.screen.focused
        self._pick("other" if focused is not None and focused.id == "model-other" else "path")

    def _pick(self, field: str) -> None:
        typed = Path(self._path(field) or self._path("path") or ".").absolute()
        root = next((one for one in (typed, *typed.parents) if one.is_dir()), Path("/"))

        def chosen(path: str | None) -> None:
            if path is not None:
                self.query_one(f"#model-{field}", PathField).choose(path)
                self.action_run()

        self.app.push_screen(PickScreen(root, self.say), chosen)

    def action_run(self) -> None:
        """Estimate."""
        self._start(focus=True)

    def action_cancel(self) -> None:
        """Stop what runs; otherwise go back to the file."""
        if not self._busy:
            self.query_one("#model-path").focus()
            return
        self.workers.cancel_group(self, "model-job")
        self._busy = ""
        self._tell("note", "cancelled")

    def action_fix(self) -> None:
        """Go to the rewrite and its path; Enter there confirms."""
        out = self.query_one("#fix-out", PathField)
        if not out.value and self._path("path"):
            out.choose(rewriting.proposed(self._path("path")))
        self.action_tab("fixed")

    def _confirm(self) -> None:
        job, path, out = self._job(), self._path("path"), self.query_one("#fix-out", PathField).path
        if job is None:
            return
        key = rewriting.why_not(path, out, overwrite=self._confirmed == out)
        if key:
            self._confirmed = out if key == "out_exists" else ""
            self._tell("bad", key, path=cut(out, 200))
            return
        self._confirmed = ""
        try:
            asked = self.query_one(Fix).asked()
        except WrongField as wrong:
            self._tell("bad", wrong.key, **wrong.values)
            return
        self._busy = "fix"
        self.query_one(Progress).run(self.say("stage_start"), 0, 1)
        self._rewrite({**job, **asked, "do": "fix", "path": path}, out)

    def action_beside(self) -> None:
        """Go to the field of the second model."""
        self.query_one("#model-other").focus()

    def action_sort(self) -> None:
        """Sort the layers by the next column."""
        self.action_tab("layers")
        self.query_one(Layers).sort_next()

    def action_reverse(self) -> None:
        """Sort the layers the other way round."""
        layers = self.query_one(Layers)
        self.action_tab("layers")
        layers.sort(layers.by, reverse=not layers.is_reversed)

    def action_tab(self, tab: str) -> None:
        """Show a tab and focus what is on it."""
        # The focus leaves what is about to be hidden first; otherwise the screen moves it on its own, later.
        self.screen.set_focus(self.query_one("#model-tabs Tabs"))
        self.query_one("#model-tabs", TabbedContent).active = f"tab-{tab}"
        self.call_after_refresh(self._focus_tab)

    def _focus_tab(self) -> None:
        tab = self._tab()
        wanted: dict[str, str] = {
            "totals": "Totals", "layers": "#layers", "unsupported": "#unsupported", "charts": "Charts",
            "fixed": "#fix-out", "compare": "#beside",
        }  # fmt: skip
        widget = self.query_one(wanted[tab])
        (widget if widget.display and widget.focusable else self.query_one("#model-tabs Tabs")).focus()

    # Events

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input.id in ("fix-out", "fix-tolerance"):
            self._confirm()
        else:
            self.action_run()

    @on(Input.Changed, "#fix-out")
    def _other_out(self) -> None:
        self._confirmed = ""

    @on(Input.Changed, "#model-path, #model-other")
    def _other_path(self) -> None:
        if self._busy == "estimate" and self._paths() != self._asked:
            self.action_cancel()

    @on(Select.Changed)
    def _other_setting(self, event: Select.Changed) -> None:
        event.stop()
        if event.select.id == "set-device":
            self.query_one(Settings).show_clock()
        if self.models or self._busy == "estimate":
            self._start(focus=False)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        name = event.button.id or ""
        if name.startswith("pick-"):
            self._pick(name.removeprefix("pick-"))
        elif name == "run":
            self.action_run()
        elif name == "fix-run":
            self._confirm()
        elif name == "fix-beside" and self.proof is not None:
            self.query_one("#model-other", PathField).choose(self.proof["written"])
            self.action_run()

    @on(TabbedContent.TabActivated)
    def _other_tab(self, event: TabbedContent.TabActivated) -> None:
        event.stop()
        self.set_class(not self.models and self._tab() == TABS[0], "-empty")

    @on(DataTable.RowSelected)
    def _row(self, event: DataTable.RowSelected) -> None:
        event.stop()


def _why_no_model(path: str) -> str:
    """Return the key of the sentence that says why a path is no model file; "" if it may be one."""
    if not path:
        return "no_path"
    file = Path(path)
    try:
        if file.is_dir():
            return "is_folder"
        if not file.is_file():
            return "no_file"
    except (OSError, ValueError):
        return "no_file"
    return "" if file.suffix.lower() == ".onnx" else "not_onnx"
