"""Leads a window from state to state, and compares each with its snapshots: two sizes, dark, light, without colour."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from textual._compositor import Compositor
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input, TextArea
from textual.worker import Worker

from assistant.tui.app import Window
from assistant.tui.library.pane import LibraryPane
from assistant.tui.library.place import Place
from assistant.tui.library.shelf import Shelf
from assistant.tui.services import Services
from assistant.types import Answer
from kb.errors import CorpusError, IndexUnavailable
from kb.types import Lang
from tests.test_assistant.tui_snapshots import Look, difference, drawn, look, picture_difference

__all__ = ["FAULT", "SIZES", "Stage", "Stopped", "Walk", "busy", "compare", "play", "shown", "unpainted"]

FAULT = """\
[INFO] 开始 [red]not markup[/red] \x1b[31mno colour\x1b[0m 😀
[NFS]file open fail
[ERROR][model_segment_load.c:24]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] [open][file] failed, file gesture.exeom
[ERROR][ge_executor.c:107]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] Load file[gesture.exeom] failed, ret = [145002]
"""
SIZES = ((80, 24), (140, 45))
_LOOKS = ((SIZES[1], "dark"), (SIZES[0], "dark"), (SIZES[0], "light"), (SIZES[1], "light"))
_SOON_S = 1
"""A timer that ends within this time belongs to what is going on; a later one ends what is shown."""

_PAINTED = Compositor.render_update

One = TypeVar("One", bound=Widget)


class Stopped(Services):
    """Gives nothing until it is let go, and finds everything broken then."""

    def __init__(self) -> None:
        super().__init__()
        self.is_let_go = threading.Event()

    def answer(self, *_: object, **__: object) -> Answer:
        """Wait, and fail."""
        self.is_let_go.wait(60)
        raise IndexUnavailable("the index cannot be read: [red]disk[/red] on fire")

    def shelf(self) -> Shelf:
        """Wait, and fail."""
        self.is_let_go.wait(60)
        raise CorpusError("a.en.md:3: expected [red]a title[/red]")


@dataclass(frozen=True, slots=True)
class Stage:
    """A running window."""

    pilot: Pilot[int]
    app: Window
    lang: Lang
    place: Path
    """An empty directory, the current one."""

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until all is done."""
        await self.pilot.press(*keys)
        await self.rest()

    async def rest(self, still: Set[Worker[object]] = frozenset()) -> None:
        """Wait until nothing goes on, except workers that may."""
        is_drawn = False
        for _ in range(6000):
            await self.pilot.pause(0)
            if not _is_quiet(self.app, still):
                is_drawn = False
                await asyncio.sleep(0.005)
            elif is_drawn:
                return
            else:
                # Some widgets learn how long they are when they are drawn.
                is_drawn = bool(drawn(self.app))
        raise AssertionError("never at rest:\n" + "\n".join(shown(self.app)))

    async def still(self, still: Set[Worker[object]] = frozenset()) -> None:
        """Likewise, with no cursor that blinks."""
        for widget in self.app.screen.query("Input, TextArea").results(Input | TextArea):
            widget.cursor_blink = False
        await self.rest(still)

    async def until(self, is_so: Callable[[], object]) -> None:
        """Wait until something holds."""
        for _ in range(3000):
            if is_so():
                return
            await asyncio.sleep(0.01)
        raise AssertionError("never came to hold:\n" + "\n".join(shown(self.app)))

    async def seen(self, text: str) -> None:
        """Wait until a text is on the screen, whatever still runs."""
        await self.until(lambda: text in "\n".join(shown(self.app)))

    async def focused(self, kind: type[One]) -> One:
        """Wait until a widget of a kind has the focus."""
        await self.until(lambda: isinstance(self.app.focused, kind))
        assert isinstance(self.app.focused, kind)
        return self.app.focused

    async def asked(self, question: str) -> None:
        """Ask a question in the place of the one before."""
        pane = self.app.pane("ask")
        assert pane is not None
        box = pane.first_focus()
        assert isinstance(box, Input)
        box.focus()
        box.value = question
        await self.pilot.press("enter")

    async def pasted(self, text: str) -> None:
        """Paste a log, and wait for what it shows."""
        await self.pilot.press("p")
        (await self.focused(TextArea)).text = text
        await self.press("ctrl+s")

    async def went(self, kind: str, key: str) -> None:
        """Go to a place of the library, and wait until it is shown."""
        pane = self.app.pane("library")
        assert isinstance(pane, LibraryPane)
        pane.way.go(Place(kind, key, self.lang))  # type: ignore[arg-type]
        pane.desk.reader.focus()
        await self.rest()


Walk = Callable[[Stage], AsyncIterator[str]]


def shown(app: Window) -> list[str]:
    """Return the lines of the screen."""
    return [strip.text.rstrip() for strip in drawn(app)]


def busy(app: Window) -> set[Worker[object]]:
    """Return the workers that run."""
    return {worker for worker in app.workers if not worker.is_finished}


def _is_quiet(app: Window, still: Set[Worker[object]]) -> bool:
    """Return whether no worker runs, no message waits, no timer is about to end, and all is laid out and drawn."""
    screen = app.screen
    if busy(app) - still or screen._callbacks or screen._layout_required or screen._dirty_widgets:
        return False
    for one in (app, *(node for shown in app.screen_stack for node in shown.walk_children(with_self=True))):
        if one._message_queue.qsize() or one._pending_message is not None or one._next_callbacks:
            return False
        for timer in one._timers:
            if timer._repeat == 0 and timer._interval < _SOON_S and timer._task and not timer._task.done():
                return False
    return True


def unpainted(compositor: Compositor, full: bool = False, **options: Any) -> object:
    """Paint no frame that nobody sees: what is compared is drawn for it, as a whole."""
    if full:
        return _PAINTED(compositor, full=full, **options)
    compositor._dirty_regions.clear()  # as painting does
    return None


def play(walk: Walk, area: str, lang: Lang, place: Path, services: Services, pictures: str = "") -> None:
    """Lead a window from state to state, and compare each.

    Args:
        walk: leads it, and names each state.
        area: where the window starts.
        lang: its language.
        place: an empty directory, the current one.
        services: what it gets.
        pictures: states of which the picture counts, too; small and dark.
    """

    async def run() -> list[str]:
        app = Window(lang, services=services)
        app.animation_level = "none"
        app.saved["area"] = area
        wrong: list[str] = []
        async with app.run_test(size=SIZES[1]) as pilot:
            stage = Stage(pilot, app, lang, place)
            try:
                async for state in walk(stage):
                    wrong += await compare(stage, f"{state}.{lang}", with_picture=state in pictures.split())
            finally:
                if isinstance(services, Stopped):
                    services.is_let_go.set()
        return wrong

    wrong = asyncio.run(run())
    assert not wrong, "\n".join(wrong)


async def compare(stage: Stage, state: str, *, with_picture: bool) -> list[str]:
    """Return what is different from the snapshots of a state, empty if nothing is.

    Args:
        stage: the window.
        state: name of the state, with the language.
        with_picture: whether the picture counts, too; small and dark.
    """
    app, wrong = stage.app, []
    seen: dict[tuple[int, int], dict[str, Look]] = {size: {} for size in SIZES}
    # There and back: each state begins as the one before ended, so that the theme changes once for a state.
    for size, theme in _LOOKS if app.theme == "asknpu-dark" else reversed(_LOOKS):
        still = busy(app)
        if app.size != size:
            await stage.pilot.resize_terminal(*size)
        app.theme = f"asknpu-{theme}"
        await stage.still(still)
        seen[size][theme] = look(app)
        if with_picture and (size, theme) == (SIZES[0], "dark"):
            wrong += picture_difference(f"{state}.{size[0]}x{size[1]}", app)
    for (width, height), looks in seen.items():
        wrong += difference(f"{state}.{width}x{height}", {theme: looks[theme] for theme in ("dark", "light")})
    return wrong
