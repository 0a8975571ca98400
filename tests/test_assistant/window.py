"""A window under a pilot: opened in an area, watched until something holds, read and clicked as it stands."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from rich.cells import cell_len
from textual.app import App
from textual.pilot import Pilot

from assistant.tui.app import Window
from assistant.tui.pane import Pane
from assistant.tui.services import Services
from kb.types import Lang

NARROW, WIDE = (80, 24), (140, 45)

AreaPane = TypeVar("AreaPane", bound=Pane)


def play(
    journey: Callable[[Pilot[Any], AreaPane], Awaitable[object]],
    kind: type[AreaPane],
    *,
    lang: Lang,
    size: tuple[int, int],
    services: Services | None = None,
    is_ready: Callable[[AreaPane], object] = bool,
) -> None:
    """Run a journey in a window of its own that starts in an area.

    Args:
        journey: what is done.
        kind: the pane of the area.
        lang: language of the window.
        size: of the terminal.
        services: those of the window; None for its own.
        is_ready: whether the journey may begin.
    """

    async def run() -> None:
        app = Window(lang, services=services)
        app.animation_level = "none"
        app.saved["area"] = kind.AREA
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.pane(kind.AREA) is not None, f"the area {kind.AREA} is entered")
            pane = app.pane(kind.AREA)
            assert isinstance(pane, kind)
            await until(pilot, lambda: is_ready(pane), f"the area {kind.AREA} is ready")
            await journey(pilot, pane)

    asyncio.run(run())


async def until(pilot: Pilot[Any], holds: Callable[[], object], what: str = "", seconds: float = 30) -> None:
    """Wait until something holds; fail with what was waited for and the screen if it does not."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "\n".join([f"never happened: {what or holds}", screen(pilot.app)])
        await pilot.pause(0.01)


def screen(app: App[Any]) -> str:
    """Return the characters on the screen."""
    return "\n".join(screen_lines(app))


def screen_lines(app: App[Any]) -> list[str]:
    """Return the lines of the screen as characters."""
    return [strip.text for strip in app.screen._compositor.render_strips()][: app.size.height]


async def click(pilot: Pilot[Any], word: str) -> None:
    """Click the first cell of a word wherever it stands on the screen."""
    for y, line in enumerate(screen_lines(pilot.app)):
        if word in line:
            await pilot.click(offset=(cell_len(line[: line.index(word)]), y))
            await pilot.pause()
            return
    raise AssertionError("\n".join([f"not on the screen: {word}", screen(pilot.app)]))
