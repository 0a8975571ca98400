"""Every screen and state of the window as a snapshot: both languages, two sizes, all themes and without colour.

`STATES` is the table: a state is an area, and a function that leads a pilot there. See `tui_snapshots` for the format.
"""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea
from textual.worker import WorkerState

from assistant.tui.app import AREAS, Window
from assistant.tui.services import Services
from assistant.types import Answer
from kb.errors import IndexUnavailable
from tests.conftest import SMALL, run_cli, write_corpus
from tests.test_assistant.tui_snapshots import Mask, check_picture, check_screen, looks

pytestmark = pytest.mark.window

SIZES = [(80, 24), (140, 45)]
TIMES: tuple[Mask, ...] = ((r"\d+(\.\d+)? ?(ms|s|秒|毫秒)\b", "#"),)
"""Times differ between runs."""


@dataclass(frozen=True, slots=True)
class State:
    """A screen that the window comes to."""

    name: str
    area: str
    reach: Callable[[Pilot[int], str], Awaitable[None]]
    """Leads there; takes the pilot and the language."""
    picture: bool = False
    """Whether its picture is compared, too."""
    masks: Sequence[Mask] = TIMES
    services: Callable[[], Services] = Services


async def until(pilot: Pilot[int], condition: Callable[[], object], seconds: float = 30) -> None:
    """Wait until a condition holds; fail if it does not."""
    for _ in range(int(seconds / 0.05)):
        if condition():
            await pilot.pause()
            return
        await pilot.pause(0.05)
    raise AssertionError("the state was never reached:\n" + text_of(pilot))


def text_of(pilot: Pilot[int]) -> str:
    """Return the characters on the screen."""
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


async def at_rest(pilot: Pilot[int]) -> None:
    """Wait until no worker runs and the screen stays as it is."""
    busy = (WorkerState.PENDING, WorkerState.RUNNING)
    before = ""
    for _ in range(600):
        await pilot.pause(0.05)
        now = text_of(pilot)
        if now == before and not any(worker.state in busy for worker in pilot.app.workers):
            return
        before = now
    raise AssertionError("the window never came to rest:\n" + before)


async def _empty(pilot: Pilot[int], lang: str) -> None:
    await at_rest(pilot)


async def _help(pilot: Pilot[int], lang: str) -> None:
    await pilot.press("f1")
    await at_rest(pilot)


async def _palette(pilot: Pilot[int], lang: str) -> None:
    await pilot.press("ctrl+p")
    await until(pilot, lambda: len(pilot.app.screen_stack) > 1)
    await at_rest(pilot)


ASKED = {"en": "How do I burn an image?", "zh": "怎么烧录镜像？"}
UNKNOWN = {"en": "What does error 0x7777ABCD mean?", "zh": "错误码 0x7777ABCD 是什么意思？"}
LOG = """\
[INFO] start 提问 [red]not markup[/red] \x1b[31mno colour\x1b[0m
E19999: Inner Error! memory is not enough for model 😀
[ERROR] GE(12,atc): ErrorNo: 507899(driver error:internal error)
"""


class Waiting(Services):
    """Never answers until the window is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = threading.Event()

    def answer(self, *_: object, **__: object) -> Answer:
        """Wait."""
        self.closed.wait(60)
        raise IndexUnavailable("closed")


class Failing(Services):
    """Finds the index broken."""

    def answer(self, *_: object, **__: object) -> Answer:
        """Fail."""
        raise IndexUnavailable("the index cannot be read: [red]disk[/red] on fire")


async def _ask(pilot: Pilot[int], question: str) -> None:
    await at_rest(pilot)
    await pilot.press(*question.replace("?", "？"), "enter")


async def _answered(pilot: Pilot[int], lang: str) -> None:
    await _ask(pilot, ASKED[lang])
    await at_rest(pilot)


async def _abstained(pilot: Pilot[int], lang: str) -> None:
    await _ask(pilot, UNKNOWN[lang])
    await at_rest(pilot)


async def _running(pilot: Pilot[int], lang: str) -> None:
    await _ask(pilot, ASKED[lang])
    before = ""
    for _ in range(600):
        now = await _later(pilot)
        if now == before and ASKED[lang][:8] in now:
            return
        before = now
    raise AssertionError("never came to rest:\n" + before)


async def _later(pilot: Pilot[int]) -> str:
    await pilot.pause(1)
    return text_of(pilot)


async def _logs_result(pilot: Pilot[int], lang: str) -> None:
    await at_rest(pilot)
    await pilot.press("p")
    await until(pilot, lambda: isinstance(pilot.app.focused, TextArea))
    box = pilot.app.focused
    assert isinstance(box, TextArea)
    box.text = LOG
    await pilot.press("ctrl+s")
    await at_rest(pilot)


async def _lab_result(pilot: Pilot[int], lang: str) -> None:
    await at_rest(pilot)
    await pilot.press(*"softmax_fp16", "enter")
    await at_rest(pilot)


async def _library_entry(pilot: Pilot[int], lang: str) -> None:
    await at_rest(pilot)
    await pilot.press("down", "down", "enter")
    await at_rest(pilot)


STATES = [
    *(State(f"{area}-empty", area, _empty, picture=True) for area in AREAS),
    State("window-help", "ask", _help),
    State("window-palette", "ask", _palette),
    State("ask-result", "ask", _answered),
    State("ask-abstained", "ask", _abstained),
    State("ask-running", "ask", _running, services=Waiting),
    State("ask-error", "ask", _answered, services=Failing),
    State("logs-result", "logs", _logs_result),
    State("lab-result", "lab", _lab_result),
    State("library-entry", "library", _library_entry),
]


@pytest.fixture(scope="session")
def small_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus that no change of the shipped one touches, and a home with its index."""
    home = tmp_path_factory.mktemp("snapshots")
    write_corpus(home / "corpus", SMALL)
    done = run_cli("status", home=home, corpus=home / "corpus")
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture
def place(small_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for each test."""
    home = tmp_path / "home"
    home.mkdir()
    for path in small_home.iterdir():
        if path.is_dir() and path.name != "corpus":
            (home / path.name).symlink_to(path)
    monkeypatch.setenv("ASKNPU_HOME", str(home))
    monkeypatch.setenv("ASKNPU_CORPUS", str(small_home / "corpus"))
    monkeypatch.setenv("USER", "someone")
    monkeypatch.chdir(home)
    return home


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_the_screen_looks_as_it_did(state: State, lang: str, size: tuple[int, int], place: Path) -> None:
    async def run() -> None:
        services = state.services()
        app = Window(lang, services=services)  # type: ignore[arg-type]
        app.animation_level = "none"
        name = f"{state.name}.{lang}.{size[0]}x{size[1]}"
        async with app.run_test(size=size) as pilot:
            await app.action_enter(state.area)
            await state.reach(pilot, lang)
            masks = [(str(place), "~"), (str(Path(os.environ["ASKNPU_CORPUS"])), "~"), *state.masks]
            if state.picture and size == SIZES[0]:
                await check_picture(pilot, name, masks)
            try:
                check_screen(app, name, await looks(pilot, masks))
            finally:
                if isinstance(services, Waiting):
                    services.closed.set()

    asyncio.run(run())
