"""The area Logs under a pilot: a window with a small corpus, logs with faults, and what tests ask of it."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, Static

from assistant.tui.filebox import FileBox
from assistant.tui.logs.pane import LogsPane
from assistant.tui.logs.rows import Rows
from assistant.tui.services import Services
from kb.types import Lang
from tests.conftest import CORPUS, entry, run_cli, write_corpus
from tests.test_assistant import window
from tests.test_assistant.window import until

FAULT = """\
[NFS]region not init
[NFS]file open fail
[ERROR][model_segment_load.c:24]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] [open][file] failed, file gesture.exeom
[ERROR][ge_executor.c:107]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] Load file[gesture.exeom] failed, ret = [145002]
"""
#: Bad-looking lines of one form that no rule knows.
UNKNOWN = "".join(f"[ERROR] frobnicator of core {i} could not be armed: [red] E41234 window lost\n" for i in range(3))
TITLES = {"en": "Arming the frobnicator fails: window lost", "zh": "frobnicator 装不上：window lost"}
_CHECK = '\n\n```toml check\ncheck = "fp16_sum"\nvalues = [60000, 40000]\nexpect = {total = 65504}\n```\n'

Journey = Callable[[Pilot[int], LogsPane], Awaitable[None]]
Box = TypeVar("Box", bound=Screen[Any])


def make_home(home: Path) -> Path:
    """Write a corpus with the entry of `FAULT`'s rule and one near `UNKNOWN`, and index it."""
    files = {
        f"logs.{lang}.md": [
            entry("nano-log-145002-case", f"145002 {lang}", "Initialise the file system [NDRV] first." + _CHECK),
            entry("nano-frobnicator", title, "Arm it again. `[red]` stays text."),
        ]
        for lang, title in TITLES.items()
    }
    write_corpus(home / "corpus", files)
    for name in ("rules", "codes"):
        (home / "corpus" / name).symlink_to(CORPUS / name)
    done = run_cli("status", home=home, corpus=home / "corpus")
    assert done.returncode == 0, done.stderr
    return home


@contextmanager
def kept_services() -> Iterator[Services]:
    """Let all windows of a file share the opened corpus, and close it after the last test."""
    services = Services()
    yield services
    for name in ("session", "word_searcher"):
        opened = services.__dict__.get(name)
        if opened is not None:
            opened.store.close()


def play(journey: Journey, services: Services, *, lang: Lang = "zh", size: tuple[int, int] = (80, 24)) -> None:
    """Run a journey in a window that starts in the area."""
    window.play(
        journey,
        LogsPane,
        lang=lang,
        size=size,
        services=services,
        is_ready=lambda pane: pane.app.focused is not None,
    )


async def box(pilot: Pilot[int], kind: type[Box]) -> Box:
    """Wait until a box asks."""
    await until(pilot, lambda: isinstance(pilot.app.screen, kind) and pilot.app.focused is not None)
    screen = pilot.app.screen
    assert isinstance(screen, kind)
    return screen


async def closed(pilot: Pilot[int], kind: type[Screen[Any]]) -> None:
    """Wait until a box is left."""
    await until(pilot, lambda: not isinstance(pilot.app.screen, kind))


async def done(pilot: Pilot[int], pane: LogsPane) -> None:
    """Wait until the log is read and shown."""
    await until(pilot, lambda: pane.body.is_shown)
    await pilot.pause()


async def opened(pilot: Pilot[int], pane: LogsPane, path: Path) -> None:
    """Open a file as the user does: key, path, Enter."""
    await pilot.press("o")
    (await box(pilot, FileBox)).query_one("#path", Input).value = str(path)
    await pilot.press("enter")
    await closed(pilot, FileBox)
    await until(pilot, lambda: pane.path == str(path))
    await done(pilot, pane)


def listed(pane: LogsPane) -> list[str]:
    """Return what the list shows."""
    return [str(option.prompt) for option in pane.body.list.options]


def rows_shown(pane: LogsPane) -> list[str]:
    """Return what the log shows."""
    view = pane.body.view
    return [view.render_line(y).text for y in range(view.size.height)]


def told(pane: LogsPane, name: str) -> str:
    """Return the text of a part."""
    return str(pane.query_one(f"#{name}", Static).render())


def line_of(pane: LogsPane) -> int:
    """Return the line of the cursor."""
    line = pane.body.view.line
    return line.number if line is not None else 0


@contextmanager
def rows_of(data: bytes, folder: Path, portions: int = 1 << 18) -> Iterator[Rows]:
    """Return an indexed log."""
    path = folder / "rows.log"
    path.write_bytes(data)
    rows = Rows("rows.log", path)
    for at in range(0, len(data), portions):
        rows.feed(data[at : at + portions])
    rows.finish()
    yield rows
    rows.release()
