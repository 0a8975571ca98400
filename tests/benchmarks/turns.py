"""A journey through every area of the window, and the longest turn of its event loop at each step.

Run by tests/benchmarks/window.py; `journey` is one process, whose steps come first and again.
"""

import asyncio
import gc
import itertools
import time
from asyncio.events import Handle
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.pilot import Pilot
from textual.widgets import Footer, Input, Label

from assistant.tui.app import AREAS, Window
from assistant.tui.lab.pane import LabPane
from assistant.tui.lab.result import ResultView
from assistant.tui.logs.pane import LogsPane
from assistant.tui.model.pane import ModelPane
from assistant.tui.model.tabs import TABS
from assistant.tui.pathfield import PathField
from kb.types import Lang

Step = tuple[str, Callable[[Pilot[int]], Awaitable[None]]]

QUESTION = "How are scale and zero point of asymmetric quantization computed?"
QUIET_S = 0.35
BUSY_S = 0.004
LINES = (
    b"[INFO][main.c:88]board Hi3322V100 up, mem 512K\n",
    b"[NFS]region not init\n",
    b"[ERROR][model_segment_load.c:24]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] [open][file] failed, file a.exeom\n",
    b"2024-05-01 10:00:00 worker 17 of 64 took 3 ms for batch 4711, \xe5\xae\x8c\xe6\x88\x90\n",
)


class Probe:
    """Times every turn of the loop: one callback, or one stretch of a task between two waits."""

    def __init__(self) -> None:
        self.turns: list[tuple[float, float, str]] = []
        """Milliseconds of the loop's thread, milliseconds on the clock, what ran."""
        self.collections: list[float] = []
        """Milliseconds of each whole collection of garbage."""
        self.busy_at = time.perf_counter()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch all loops of this process."""
        original = Handle._run
        started = 0.0

        def run(handle: Any) -> None:
            wall, cpu = time.perf_counter(), time.thread_time()
            try:
                original(handle)
            finally:
                done = time.perf_counter()
                if done - wall > BUSY_S:
                    self.busy_at = done
                    self.turns.append(((time.thread_time() - cpu) * 1e3, (done - wall) * 1e3, _name(handle)))

        def collected(phase: str, info: dict[str, int]) -> None:
            nonlocal started
            if phase == "start":
                started = time.perf_counter()
            elif info["generation"] == 2:
                self.collections.append((time.perf_counter() - started) * 1e3)

        Handle._run = run
        gc.callbacks.append(collected)
        try:
            yield
        finally:
            Handle._run = original
            gc.callbacks.remove(collected)

    def clear(self) -> None:
        """Forget what was."""
        self.turns.clear()
        self.collections.clear()

    async def quiet(self) -> None:
        """Wait until nothing has run for a while."""
        self.busy_at = time.perf_counter()
        while time.perf_counter() - self.busy_at < QUIET_S:
            await asyncio.sleep(0.02)

    def told(self) -> dict[str, Any]:
        """Return the longest turn by the time of its thread, and the longest on the clock."""
        cpu, _, name = max(self.turns, default=(0.0, 0.0, ""))
        wall = max((wall for _, wall, _ in self.turns), default=0.0)
        return {"cpu_ms": cpu, "wall_ms": wall, "what": name[:60], "gc_ms": max(self.collections, default=0.0)}


def _name(handle: Any) -> str:
    owner = getattr(handle._callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        return owner.get_name().removeprefix("message pump ")
    return getattr(handle._callback, "__qualname__", repr(handle._callback))


def write_log(path: Path, megabytes: int) -> Path:
    """Write a long log with faults in it, unless it is there."""
    if path.exists():
        return path
    with path.open("wb") as file:
        block = b"".join(itertools.islice(itertools.cycle((*LINES[3:] * 40, *LINES[:3])), 20_000))
        while file.tell() < megabytes << 20:
            file.write(block)
    return path


async def until(is_so: Callable[[], object], seconds: float = 120) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(seconds):
        while not is_so():
            await asyncio.sleep(0.02)


def _window(pilot: Pilot[int]) -> Window:
    assert isinstance(pilot.app, Window)
    return pilot.app


def _pane(pilot: Pilot[int], area: str) -> Any:
    return _window(pilot).pane(area)


def _screen(pilot: Pilot[int]) -> str:
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


async def _type(pilot: Pilot[int]) -> None:
    for character in QUESTION[:20]:
        await pilot.press("space" if character == " " else character)
        await asyncio.sleep(0.05)


async def _ask(pilot: Pilot[int]) -> None:
    box = pilot.app.query_one("#ask-box", Input)
    box.value = QUESTION
    box.focus()
    await pilot.press("enter")
    await until(lambda: _pane(pilot, "ask").results.full is not None)


async def _choose_entry(pilot: Pilot[int]) -> None:
    _pane(pilot, "ask").action_list()
    for _ in range(3):
        await pilot.press("down")
        await asyncio.sleep(0.2)


async def _open_log(pilot: Pilot[int], path: Path) -> None:
    pane = _pane(pilot, "logs")
    assert isinstance(pane, LogsPane)
    await pilot.press("escape")  # opening is no key here, and the window is in use
    pane.begin("open", str(path))
    await until(lambda: pane.body.is_shown)


async def _pages(pilot: Pilot[int]) -> None:
    for key in ("pagedown", "pagedown", "pagedown", "end", "pageup", "home"):
        await pilot.press(key)


async def _scroll_log(pilot: Pilot[int]) -> None:
    _pane(pilot, "logs").body.view.focus()
    await _pages(pilot)


async def _estimate(pilot: Pilot[int], path: Path) -> None:
    pane = _pane(pilot, "model")
    assert isinstance(pane, ModelPane)
    field = pane.query_one("#model-path", PathField)
    field.choose(str(path))
    field.focus()
    await pilot.press("enter")
    await until(lambda: pane.models and not pane.running.doing)


async def _tabs(pilot: Pilot[int]) -> None:
    for tab in (*TABS, TABS[0]):
        pane = _pane(pilot, "model")
        pane.action_tab(tab)
        await asyncio.sleep(0.15)


async def _lab_run(pilot: Pilot[int]) -> None:
    pane = _pane(pilot, "lab")
    assert isinstance(pane, LabPane)
    await pane.action_next()
    view = pane.query_one(ResultView)
    await until(lambda: pane.current is None and not view.has_class("-old") and bool(view.told))


async def _read(pilot: Pilot[int]) -> None:
    pane = _pane(pilot, "library")
    pane.side.tree_of_shelf.focus()
    for key in ("enter", "down", "enter", "down", "enter"):
        await pilot.press(key)
        await asyncio.sleep(0.1)


async def _read_on(pilot: Pilot[int]) -> None:
    pane = _pane(pilot, "library")
    for _ in range(3):
        pane.action_step(1)
        await asyncio.sleep(0.15)
    pane.desk.reader.focus()
    await _pages(pilot)


def _enter(area: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    async def enter(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        await pilot.press(f"f{2 + [*AREAS].index(area)}")
        await until(lambda: app.area == area and app.pane(area))
        if area == "library":
            await until(lambda: _pane(pilot, "library").desk.shelf is not None)
        elif area == "lab":
            await until(lambda: _pane(pilot, "lab").form() is not None)

    return enter


def _key(*keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    async def press(pilot: Pilot[int]) -> None:
        for key in keys:
            await pilot.press(key)
            await asyncio.sleep(0.3)

    return press


def _resize(width: int, height: int) -> Callable[[Pilot[int]], Awaitable[None]]:
    async def resize(pilot: Pilot[int]) -> None:
        await pilot.resize_terminal(width, height)

    return resize


def steps(log: Path, model: Path | None) -> list[Step]:
    """Return what the journey does, in order."""
    areas = ("ask", "logs", "model", "lab", "library")
    return [
        ("ask: type 20 characters", _type),
        ("ask: answer", _ask),
        ("ask: answer again", _ask),
        ("ask: choose entries", _choose_entry),
        ("logs: enter", _enter("logs")),
        ("logs: open 50 MB", lambda pilot: _open_log(pilot, log)),
        ("logs: scroll", _scroll_log),
        ("model: enter", _enter("model")),
        *([("model: estimate", lambda pilot: _estimate(pilot, model)), ("model: tabs", _tabs)] if model else []),
        ("lab: enter", _enter("lab")),
        ("lab: next check", _lab_run),
        ("lab: next check again", _lab_run),
        ("library: enter", _enter("library")),
        ("library: open entries", _read),
        ("library: on and scroll", _read_on),
        ("help, palette", _key("f1", "escape", "ctrl+p", "escape")),
        *((f"{area}: enter again", _enter(area)) for area in areas),
        *(
            one
            for area in areas
            for one in (
                (f"({area})", _enter(area)),
                (f"{area}: language", _key("ctrl+l")),
                (f"{area}: language back", _key("ctrl+l")),
                (f"{area}: theme", _key("ctrl+t")),
                (f"{area}: smaller", _resize(80, 24)),
                (f"{area}: larger", _resize(140, 45)),
            )
        ),
    ]


async def _travel(log: Path, model: Path | None, lang: Lang) -> list[dict[str, Any]]:
    probe, found = Probe(), []
    app = Window(lang)
    with probe.watching():
        async with app.run_test(size=(140, 45)) as pilot:
            await until(lambda: "word_searcher" in vars(app.services))
            await probe.quiet()
            found.append({"step": "start", **probe.told()})
            for name, do in steps(log, model):
                probe.clear()
                await do(pilot)
                await probe.quiet()
                if not name.startswith("("):
                    found.append({"step": name, **probe.told()})
    return found


class Bare(App[None]):
    """As many widgets as an area shows, in Textual's own styles."""

    def compose(self) -> ComposeResult:
        """Rows of labels."""
        for _ in range(10):
            with Horizontal(classes="row"):
                for i in range(7):
                    yield Label(f"label {i}\n" * 3)
        yield Footer()


async def _peer() -> dict[str, Any]:
    probe, app = Probe(), Bare()
    with probe.watching():
        async with app.run_test(size=(140, 45)) as pilot:
            await probe.quiet()
            probe.clear()
            await pilot.resize_terminal(80, 24)
            await pilot.resize_terminal(140, 45)
            await probe.quiet()
            return {"step": f"(bare app of {len(app.screen.walk_children())}: resize)", **probe.told()}


def journey(log: Path, model: Path | None, lang: Lang = "en") -> list[dict[str, Any]]:
    """Return each step with its longest turn."""
    return [asyncio.run(_peer()), *asyncio.run(_travel(log, model, lang))]
