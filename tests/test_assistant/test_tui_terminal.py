"""The real program in a real terminal: tmux drives it, and a bare pseudo-terminal where no screen is needed."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.conftest import ROOT

NEEDED = os.environ.get("ASKNPU_NEED_TOOLS") == "1"
needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None and not NEEDED, reason="needs tmux")
QUESTION = "Which opset versions does Nano support"
ANSWER = "opset 11 to 15"


class Terminal:
    """A shell in a tmux server of its own."""

    def __init__(self, folder: Path, home: Path, **environment: str) -> None:
        self.socket = str(folder / "tmux")
        settings = {
            "ASKNPU_HOME": str(home), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8",
            "PATH": os.environ["PATH"], "ASKNPU": f"{sys.executable} -m assistant",
            # What some shells export; the terminal's own size counts.
            "COLUMNS": "80", "LINES": "24", **environment,
        }  # fmt: skip
        given = [part for name, value in settings.items() for part in ("-e", f"{name}={value}")]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", *given, "bash --norc --noprofile -i")
        self.run("PS1=; clear; echo ready")
        self.until(lambda: self.screen().strip() == "ready")

    def tmux(self, *arguments: str) -> str:
        """Run a command of tmux."""
        done = subprocess.run(
            ["tmux", "-u", "-S", self.socket, *arguments],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            timeout=20,
        )
        return done.stdout

    def screen(self) -> str:
        """Return the characters on the screen."""
        return self.tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        """Press keys by their tmux names."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type text."""
        self.tmux("send-keys", "-l", text)

    def run(self, command: str) -> None:
        """Type a command line."""
        self.type(command)
        self.press("Enter")

    def fact(self, name: str) -> str:
        """Return a format variable of the pane, such as `alternate_on`."""
        return self.tmux("display-message", "-p", f"#{{{name}}}").strip()

    def until(self, condition: Callable[[], object], seconds: float = 60) -> None:
        """Wait until a condition holds; fail with the screen if it does not."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"never came true; the screen:\n{self.screen()}")
            time.sleep(0.1)

    def shows(self, *texts: str, seconds: float = 60) -> None:
        """Wait until the screen shows texts."""
        self.until(lambda: all(text in self.screen() for text in texts), seconds)


@pytest.fixture
def terminal(tmp_path: Path, home: Path) -> Iterator[Terminal]:
    """A shell in a terminal of 80 columns and 24 lines."""
    shell = Terminal(tmp_path, home)
    yield shell
    shell.tmux("kill-server")


def is_restored(terminal: Terminal) -> bool:
    """Return whether the terminal is as before: normal screen, cursor shown, no mouse reports."""
    facts = ("alternate_on", "cursor_flag", "mouse_any_flag", "mouse_all_flag", "mouse_sgr_flag")
    return [terminal.fact(name) for name in facts] == ["0", "1", "0", "0", "0"]


def follows(terminal: Terminal, width: int, height: int) -> None:
    """Resize the terminal, and wait until the window fills it: the footer is in the last line, to its end."""
    terminal.tmux("resize-window", "-x", str(width), "-y", str(height))

    def fills() -> bool:
        lines = terminal.screen().rstrip("\n").splitlines()
        return len(lines) == height and width - 4 < cell_len(lines[-1]) <= width

    terminal.until(fills)


@needs_tmux
def test_a_day_at_the_terminal(terminal: Terminal, home: Path) -> None:
    terminal.run("$ASKNPU; echo code=$?")
    terminal.shows("F2 Ask", "F6 Library")
    assert terminal.fact("alternate_on") == "1"
    follows(terminal, 140, 45)
    follows(terminal, 60, 15)

    # A question gets its answer, whatever the terminal is resized to in between.
    terminal.type(QUESTION[:20])
    follows(terminal, 100, 30)
    terminal.type(QUESTION[20:])
    terminal.press("Enter")
    terminal.shows(QUESTION, ANSWER)
    for size in ((140, 45), (80, 24), (140, 45)):
        follows(terminal, *size)
        terminal.shows(QUESTION, ANSWER)

    # The language changes and what is shown stays.
    terminal.press("C-l")
    terminal.shows("F2 提问", QUESTION)

    # It is put aside, the terminal is resized meanwhile, and it is fetched again.
    terminal.press("C-z")
    terminal.shows("Stopped")
    assert is_restored(terminal)
    terminal.tmux("resize-window", "-x", "120", "-y", "40")
    terminal.run("fg; echo code=$?")
    terminal.shows("F2 提问", QUESTION)
    follows(terminal, 120, 40)

    # Areas are entered by key and by mouse.
    terminal.press("F6")
    terminal.shows("▾ Nano", "▸ 昇腾")
    row = terminal.screen().splitlines()[0]
    column = cell_len(row[: row.index("F5")]) + 2
    terminal.type(f"\x1b[<0;{column};1M\x1b[<0;{column};1m")
    terminal.until(lambda: "▸ 昇腾" not in terminal.screen())
    terminal.press("C-q")
    terminal.shows("code=0")
    assert is_restored(terminal)
    saved = json.loads((home / "window.json").read_text("utf-8"))
    assert (saved["lang"], saved["area"]) == ("zh", "lab")

    # The next start is where this one ended.
    terminal.run("clear; $ASKNPU; echo code=$?")
    terminal.shows("F2 提问")
    terminal.press("F2")
    terminal.shows(QUESTION)
    terminal.press("C-q")
    terminal.shows("code=0")
    assert json.loads((home / "window.json").read_text("utf-8"))["area"] == "ask"


@needs_tmux
def test_a_signal_ends_it_and_restores_the_terminal(terminal: Terminal, home: Path) -> None:
    terminal.run("$ASKNPU; echo code=$?")
    terminal.shows("F2 Ask")
    terminal.press("F4")
    terminal.shows("ONNX")
    shell = terminal.fact("pane_pid")
    child = subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True, check=True).stdout.split()[0]
    os.kill(int(child), 15)
    terminal.shows("code=143")
    assert is_restored(terminal)
    assert json.loads((home / "window.json").read_text("utf-8"))["area"] == "model"


@needs_tmux
@pytest.mark.parametrize(("settings", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)], ids=["colour", "none"])
def test_no_colour_means_no_colour(tmp_path: Path, home: Path, settings: dict[str, str], coloured: bool) -> None:
    terminal = Terminal(tmp_path, home, COLORTERM="truecolor", **settings)
    try:
        terminal.run("$ASKNPU")
        terminal.shows("F2 Ask", "Commands")
        shown = terminal.tmux("capture-pane", "-p", "-e")
        used = re.findall(r"\x1b\[[34]8;2;(\d+);(\d+);(\d+)m", shown)
        assert used
        assert any(len(set(one)) > 1 for one in used) is coloured
        # The area that is entered stands out in any case.
        assert re.search(r"\x1b\[7m(\x1b\[[0-9;]*m)* F2 Ask", shown)
    finally:
        terminal.tmux("kill-server")


@pytest.mark.parametrize("kind", ["dumb", "", "unknown"])
def test_a_terminal_that_cannot_place_characters_gets_help(home: Path, kind: str) -> None:
    master, slave = pty.openpty()
    environment = {"ASKNPU_HOME": str(home), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "TERM": kind, "PATH": ""}
    process = subprocess.Popen(
        [sys.executable, "-m", "assistant"], stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=ROOT
    )
    os.close(slave)
    said = b""
    try:
        while data := os.read(master, 65536):
            said += data
    except OSError:  # Linux says so when the other end is closed
        pass
    os.close(master)
    assert process.wait(30) == 0
    assert b"Usage: asknpu" in said
    assert b"\x1b[?1049h" not in said


def test_a_pipe_gets_help(home: Path) -> None:
    environment = {"ASKNPU_HOME": str(home), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "TERM": "xterm", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-m", "assistant"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0
    assert b"Usage: asknpu" in done.stdout


SLOW = """
import sys, time
from assistant import tui_cli
from assistant.tui.services import Services

class Slow(tui_cli.Window):
    def on_ready(self):
        self.run_worker(lambda: time.sleep(600), thread=True)
        self.set_timer(0.5, lambda: self.exit(7))

tui_cli.Window = Slow
sys.exit(tui_cli.run_window())
"""


@needs_tmux
def test_a_busy_worker_does_not_keep_the_window_open(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW, "utf-8")
    terminal.run(f"{sys.executable} {tmp_path / 'slow.py'}; echo code=$?")
    terminal.shows("code=7", seconds=30)
    assert is_restored(terminal)
