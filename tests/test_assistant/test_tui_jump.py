"""Jumping to what can have the focus, and the keys of the footer."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.widgets._footer import FooterKey

from assistant.tui.app import AREAS, Window
from assistant.tui.footer import fitting
from assistant.tui.help import HelpScreen
from assistant.tui.jump import JumpScreen, Label, names
from kb.types import Lang

Journey = Callable[[Window, Pilot[int]], Awaitable[None]]
JUMP = "ctrl+backslash"


@pytest.fixture(autouse=True)
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of the window."""
    monkeypatch.setenv("ASKNPU_HOME", str(home))
    return home


def drive(journey: Journey, lang: Lang = "en", area: str = "ask", size: tuple[int, int] = (80, 24)) -> None:
    """Run a journey in a window that starts in an area."""

    async def run() -> None:
        app = Window(lang)
        app.animation_level = "none"
        app.saved["area"] = area
        async with app.run_test(size=size) as pilot:
            await calm(app, pilot)
            await journey(app, pilot)

    asyncio.run(run())


async def until(pilot: Pilot[int], is_so: Callable[[], object]) -> None:
    """Wait until something holds."""
    for _ in range(400):
        if is_so():
            return
        await pilot.pause(0.02)
    raise AssertionError("it did not come to this")


async def calm(app: Window, pilot: Pilot[int]) -> None:
    """Wait until no worker runs and nothing moves."""
    await until(pilot, lambda: not any(not one.is_finished for one in app.workers))
    await pilot.pause(0.2)


async def labels(app: Window, pilot: Pilot[int], key: str = JUMP) -> dict[str, Label]:
    """Start jumping; return the labels by their letters."""
    await pilot.press(key)
    await until(pilot, lambda: isinstance(app.screen, JumpScreen) and app.screen.query(Label))
    await pilot.pause()
    return {one.letters: one for one in app.screen.query(Label)}


async def left(app: Window, pilot: Pilot[int]) -> None:
    """Wait until jumping is over."""
    await until(pilot, lambda: not isinstance(app.screen, JumpScreen))
    await pilot.pause()


@pytest.mark.parametrize(("area", "lang"), list(zip(AREAS, ["zh", "en", "zh", "en", "zh"], strict=True)))
def test_a_letter_leads_to_everything_in_sight_that_can_have_the_focus(area: str, lang: Lang) -> None:
    async def journey(app: Window, pilot: Pilot[int]) -> None:
        before = app.focused
        found = await labels(app, pilot)
        below = app.screen_stack[-2]
        seen = [one for one in below.focus_chain if below.find_widget(one).visible_region]
        assert [one.target for one in found.values()] == seen != []
        pane = app.pane(area)
        assert all(pane in target.ancestors for target in seen)
        # Every label can be read: none covers another, and each begins in its widget's first line.
        cells = {(x, one.region.y) for one in found.values() for x in range(one.region.x, one.region.right)}
        assert len(cells) == sum(one.region.width for one in found.values())
        for one in found.values():
            assert one.region.y == below.find_widget(one.target).visible_region.y
            assert 0 <= one.region.x < one.region.right <= 80
        assert app.say("jump_told") in str(app.screen.query_one(".told", Static).content)
        await pilot.press("escape")
        await left(app, pilot)
        assert app.focused is before
        for target in seen:
            # Where a focus scrolls a form the letters are others.
            letters = {one.target: name for name, one in (await labels(app, pilot)).items()}
            if target not in letters:
                app.pop_screen()
                target.scroll_visible(animate=False)
                await pilot.pause(0.1)
                letters = {one.target: name for name, one in (await labels(app, pilot)).items()}
            await pilot.press(*letters[target])
            await left(app, pilot)
            assert app.focused is target

    drive(journey, lang, area)


def test_what_is_typed_reaches_no_box_and_other_keys_leave_the_names() -> None:
    async def journey(app: Window, pilot: Pilot[int]) -> None:
        box = app.focused
        assert isinstance(box, Input)
        found = await labels(app, pilot)
        await pilot.press("9", "enter", "space")
        assert isinstance(app.screen, JumpScreen) and all(one.display for one in found.values())
        await pilot.press(JUMP)
        await left(app, pilot)
        assert app.focused is box and box.value == ""
        await pilot.press("a")
        assert box.value == "a"

    drive(journey)


def test_the_mouse_takes_a_name_or_leaves(home: Path) -> None:
    async def journey(app: Window, pilot: Pilot[int]) -> None:
        found = await labels(app, pilot)
        label = next(one for one in found.values() if one.target is not app.pane("library").first_focus())  # type: ignore[union-attr]
        await pilot.click(offset=(label.region.x + 1, label.region.y))
        await left(app, pilot)
        assert app.focused is label.target
        await labels(app, pilot)
        await pilot.click(offset=(40, 15))
        await left(app, pilot)
        assert app.focused is label.target

    drive(journey, "zh", "library")


def test_jumping_has_another_key_where_the_user_wants_it_and_stands_in_help_and_palette(home: Path) -> None:
    (home / "keys.toml").write_text('[keys]\n"window.jump" = "f12"\n', "utf-8")

    async def journey(app: Window, pilot: Pilot[int]) -> None:
        assert list(app._notifications) == []
        assert app.say("about_jump") in [one.help for one in app.get_system_commands(app.screen)]
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        keys = str(app.screen.query_one("#help-keys", Static).content).splitlines()
        assert [line.split()[0] for line in keys if app.say("about_jump") in line] == ["f12"]
        await pilot.press("escape")
        await labels(app, pilot, "f12")
        await pilot.press("f12")
        await left(app, pilot)

    drive(journey)


def test_names_follow_the_terminal_and_leave_with_the_area() -> None:
    async def journey(app: Window, pilot: Pilot[int]) -> None:
        await labels(app, pilot)
        await pilot.resize_terminal(120, 40)

        def is_placed() -> bool:
            below = app.screen_stack[-2]
            found = [*app.screen.query(Label)]
            return bool(found) and all(
                one.region.offset == below.find_widget(one.target).visible_region.offset for one in found
            )

        await until(pilot, is_placed)
        await pilot.press("f3")
        await left(app, pilot)
        assert app.area == "logs"
        pane = app.pane("logs")
        assert pane is not None and pane in app.focused.ancestors  # type: ignore[union-attr]

    drive(journey, "en", "library")


@pytest.mark.parametrize("count", [0, 1, 26, 27, 60])
def test_no_name_begins_another(count: int) -> None:
    found = names(count)
    assert len(set(found)) == count
    assert not any(a != b and b.startswith(a) for a in found for b in found)


def _key(action: str, text: str) -> FooterKey:
    return FooterKey("x", "^x", text, action)


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (35, ["find", "twin", "quit", "help", "jump"]),
        (34, ["find", "twin", "quit", "help"]),
        (27, ["find", "quit", "help"]),
        (20, ["quit", "help"]),
        (7, ["quit"]),
        (0, []),
    ],
)
def test_the_footer_shows_what_has_room(room: int, shown: list[str]) -> None:
    keys: list[Widget] = [_key(one, "字") for one in ("find", "twin", "quit", "help", "jump")]
    assert [one.action for one in fitting(keys, room) if isinstance(one, FooterKey)] == shown
