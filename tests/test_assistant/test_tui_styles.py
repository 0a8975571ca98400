"""Styles of the window: each source is parsed once per theme, and a theme comes in slices."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import textual.css.stylesheet
from textual.app import App, ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.css.stylesheet import Stylesheet
from textual.widget import Widget
from textual.widgets import Button, Input, Label

from assistant.tui.app import Window
from assistant.tui.styles import Styles, seen
from assistant.tui.themes import THEMES, variables
from tests.test_assistant.test_tui_window import drive, home, until

__all__ = ["home"]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Return the sources that Textual parses in the window's own thread."""
    sources: list[str] = []
    original = textual.css.stylesheet.parse

    def parse(scope: str, css: str, *rest: Any, **named: Any) -> Any:
        if threading.current_thread() is threading.main_thread():
            sources.append(css)
        return original(scope, css, *rest, **named)

    monkeypatch.setattr(textual.css.stylesheet, "parse", parse)
    yield sources


def _colours(app: Window) -> list[tuple[Any, ...]]:
    return [
        (type(one).__name__, one.id, one.styles.background, one.styles.color, one.styles.scrollbar_color)
        for one in app.screen.walk_children(Widget)
    ]


def test_a_source_is_parsed_once_and_a_theme_that_was_shown_not_again(parsed: list[str]) -> None:
    async def journey(pilot: Any) -> None:
        app = pilot.app
        for area in ("logs", "model", "lab", "library"):
            await app.action_enter(area)
            await pilot.pause()
        # A class that comes to be a base of another one moves back in the order, and is parsed once more.
        assert len(parsed) <= len(set(parsed)) + 10, "entering an area parses the styles of others again"
        for _ in THEMES:
            await pilot.press("ctrl+t")
        before = len(parsed)
        for _ in THEMES:
            await pilot.press("ctrl+t")
        assert len(parsed) == before

    drive(journey)


def test_themes_are_parsed_ahead_while_nobody_uses_the_window(parsed: list[str]) -> None:
    async def journey(pilot: Any) -> None:
        app = pilot.app
        app._used_at = float("-inf")
        await until(
            pilot,
            lambda: all(
                app.stylesheet.ahead(variables(one, app.get_theme_variable_defaults())) is None for one in THEMES
            ),
        )
        before = len(parsed)
        for _ in THEMES:
            await pilot.press("ctrl+t")
        assert len(parsed) == before

    drive(journey)


def test_a_theme_that_is_chosen_looks_as_one_from_the_start_in_all_areas() -> None:
    async def looks(start: int, changes: int) -> list[Any]:
        app = Window("en")
        app.animation_level = "none"
        app.theme = THEMES[start].name
        found: list[Any] = []
        async with app.run_test(size=(80, 24)) as pilot:
            for area in ("model", "lab", "library", "logs"):
                await app.action_enter(area)
                await pilot.pause()
            await until(pilot, lambda: app.query("Form") and app.query("ResultView Static"))
            await until(pilot, lambda: "word_searcher" in vars(app.services))
            await until(pilot, lambda: app.query_one("LibraryPane").desk.shelf is not None)
            for _ in range(changes):
                await pilot.press("ctrl+t")
            for area in ("logs", "model", "lab", "library"):
                await app.action_enter(area)
                for one in app.query("Input"):
                    one.cursor_blink = False
                await pilot.pause(0.3)
                found.append((area, _colours(app), _looks(app)))
        return found

    chosen, start = asyncio.run(looks(0, 1)), asyncio.run(looks(1, 0))
    for one, other in zip(chosen, start, strict=True):
        assert one == other
    assert chosen != asyncio.run(looks(0, 0))


def _looks(app: Window) -> list[Any]:
    return [[(one.text, one.style) for one in strip] for strip in app.screen._compositor.render_strips()]


def test_the_loop_goes_on_while_a_theme_comes() -> None:
    async def journey(pilot: Any) -> None:
        app = pilot.app
        await app.action_enter("model")
        await pilot.pause()
        turns = 0
        going = True

        async def count() -> None:
            nonlocal turns
            while going:
                await asyncio.sleep(0)
                turns += 1

        nodes = len(seen(app.screen))
        counting = asyncio.create_task(count())
        await asyncio.sleep(0)
        start = turns
        await app.refresh_css(animate=False)
        passed = turns - start
        going = False
        await counting
        assert passed >= nodes // 12

    drive(journey)


@pytest.mark.parametrize("theme", THEMES, ids=[one.name for one in THEMES])
def test_the_variables_of_a_theme_are_those_of_textual(theme: Any) -> None:
    app = Window("en")
    app.theme = theme.name
    assert variables(theme, app.get_theme_variable_defaults()) == app.get_css_variables()


class Small(App[None]):
    """Nested widgets with colours of their own."""

    CSS = "Vertical { background: $panel; } VerticalScroll { height: 3; background: $surface; }"

    def __init__(self, own: bool) -> None:
        super().__init__()
        if own:
            self.stylesheet = Styles(self.get_css_variables())

    def compose(self) -> ComposeResult:
        with Vertical(), VerticalScroll():
            for i in range(5):
                yield Label(f"label {i}")
            yield Input("text")
            yield Button("press")


def test_it_shows_the_same_as_the_stylesheet_of_textual(tmp_path: Path) -> None:
    async def screens(own: bool) -> list[Any]:
        app = Small(own)
        assert isinstance(app.stylesheet, Styles if own else Stylesheet)
        found = []
        async with app.run_test(size=(40, 12)) as pilot:
            for theme in ("textual-light", "nord", "textual-dark"):
                app.theme = theme
                await pilot.press("tab")
                await pilot.pause()
                found.append([strip._segments for strip in app.screen._compositor.render_strips()])
        return found

    assert asyncio.run(screens(own=True)) == asyncio.run(screens(own=False))
