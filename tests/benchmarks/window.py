"""Measure the window: its first paint beside a bare Textual app, and frames while somebody types into a large index.

Run: python tests/benchmarks/window.py [--json] [--entries N]

First paint: both programs start in turns in a pseudo-terminal; time counts from the start of the process to the first
byte after which a box with the focus is on the screen. Bar: 1.5 times the bare app.
Typing: 20 characters per second into the box, over an index of synthetic entries; a frame is the time in which the
event loop answers nothing. Bar: 100 ms, and no dropped key.
"""

import argparse
import asyncio
import json
import os
import pty
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
REPEATS = 10
RATE_HZ = 20
TEXT = "which opset versions does topic 4711 support and how much memory does entry 815 take"

BARE = """
from textual.app import App
from textual.widgets import Input, Footer

class Bare(App):
    def compose(self):
        yield Input()
        yield Footer()
    def on_mount(self):
        self.query_one(Input).focus()
        self.call_after_refresh(lambda: self.set_timer(0, self.ready))
    def ready(self):
        self.exit(0 if isinstance(self.focused, Input) else 9)

import sys
sys.exit(Bare().run())
"""

OURS = """
import sys
from assistant import tui_cli

class Timed(tui_cli.Window):
    def on_ready(self):
        self.call_after_refresh(lambda: self.set_timer(0, self.ready))
    def ready(self):
        from textual.widgets import Input, TextArea
        self.exit(0 if isinstance(self.focused, Input | TextArea) else 9)

tui_cli.Window = Timed
sys.exit(tui_cli.run_window())
"""


def _start(code: str, environment: dict[str, str]) -> float:
    """Return the seconds from the start of a process until it has painted a box with the focus and ended."""
    import fcntl
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code], stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    try:
        while os.read(master, 65536):
            pass
    except OSError:
        pass
    code_ = process.wait()
    seconds = time.perf_counter() - started
    os.close(master)
    if code_ != 0:
        raise SystemExit(f"exit code {code_}: nothing to type into has the focus")
    return seconds


def first_paint(folder: Path) -> dict[str, float]:
    """Return the medians (ms) of both programs, started in turns, and their ratio."""
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "ASKNPU_HOME": str(folder / "empty"), "TERM": "xterm-256color",
    }  # fmt: skip
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    times: dict[str, list[float]] = {"bare": [], "ours": []}
    for turn in range(REPEATS + 1):
        for name, code in (("bare", BARE), ("ours", OURS)):
            seconds = _start(code, environment)
            if turn:  # the first one compiles
                times[name].append(seconds * 1e3)
    bare, ours = statistics.median(times["bare"]), statistics.median(times["ours"])
    # Load on the machine comes and goes; the two of a turn share it.
    paired = statistics.median(b / a for a, b in zip(times["bare"], times["ours"], strict=True))
    return {"bare_ms": bare, "window_ms": ours, "ratio": ours / bare, "paired_ratio": paired}


def _write_corpus(folder: Path, entries: int) -> None:
    sys.path.insert(0, str(ROOT))
    from tests.conftest import entry, write_corpus

    words = [
        "memory",
        "opset",
        "latency",
        "kernel",
        "stride",
        "padding",
        "scale",
        "zero",
        "point",
        "weight",
        "tensor",
        "image",
        "burn",
        "log",
        "code",
    ]
    files: dict[str, list[str]] = {}
    for i in range(entries):
        told = " ".join(words[(i * 7 + k * (1 + i % 5)) % len(words)] for k in range(12))
        files.setdefault(f"f{i // 500:03}.en.md", []).append(
            entry(f"topic-{i}", f"How does topic {i} take {words[i % len(words)]}?", f"Entry {i}: {told}.")
        )
    write_corpus(folder, files)


def _build(folder: Path, entries: int) -> None:
    """Index synthetic entries by words; while somebody types, nothing else is searched."""
    _write_corpus(folder / "corpus", entries)
    from assistant.session import open_session

    open_session().store.close()


async def _type() -> dict[str, Any]:
    from textual.widgets import Input, TextArea

    from assistant.tui.app import Window

    gaps: list[float] = []
    typing = True

    async def watch() -> None:
        while typing:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            gaps.append(time.perf_counter() - before)

    app = Window("en")
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.pause(1)
        box = app.focused
        assert isinstance(box, Input | TextArea), box
        watcher = asyncio.create_task(watch())
        started = time.perf_counter()
        for i, character in enumerate(TEXT):
            await asyncio.sleep(max(0.0, started + i / RATE_HZ - time.perf_counter()))
            app.simulate_key("space" if character == " " else character)
        await asyncio.sleep(1)
        typing = False
        await watcher
        got = box.value if isinstance(box, Input) else box.text
    gaps.sort()
    return {
        "dropped_keys": len(TEXT) - len(got), "same_text": got == TEXT,
        "frame_p50_ms": gaps[len(gaps) // 2] * 1e3, "frame_p99_ms": gaps[int(len(gaps) * 0.99)] * 1e3,
        "worst_frame_ms": gaps[-1] * 1e3,
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--only", choices=["paint", "typing"])
    given = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.only != "typing":
            found["first_paint"] = first_paint(folder)
        if given.only != "paint":
            os.environ["ASKNPU_HOME"] = str(folder / "home")
            os.environ["ASKNPU_CORPUS"] = str(folder / "corpus")
            _build(folder, given.entries)
            found["typing"] = asyncio.run(_type())
    if given.json:
        print(json.dumps(found, indent=2))
        return
    for group, figures in found.items():
        for figure, value in figures.items():
            print(
                f"{group:12} {figure:20} {value:.2f}" if isinstance(value, float) else f"{group:12} {figure:20} {value}"
            )


if __name__ == "__main__":
    main()
