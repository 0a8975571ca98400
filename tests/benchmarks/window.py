"""Measure the window: its first paint beside a bare Textual app, and frames while somebody types into a large index.

Run: python tests/benchmarks/window.py [--json] [--only paint|typing|turns] [--entries N] [--repeats N] [--model FILE]

First paint: `asknpu` with an empty home and a bare Textual app with a box and a footer start in turns in a
pseudo-terminal in which a key is already waiting; time counts from the start of the process until the screen shows that
key in the box. Bar: 1.5 times the bare app. `cpu` is the processor time of the same stretch, which load does not blur.
Typing: 20 characters per second into the box, over an index of synthetic entries. A frame is a turn of the event loop
in which nothing else is answered; `key` is from a key to the end of the layout that shows it. Bar: 100 ms, no dropped key.
Turns: a journey through all areas (tests/benchmarks/turns.py), with a log of 50 MB and, if `python -m tests.fetch_models` was
run or one is named, a model. For each action the longest turn of the event loop: the time of its thread, which load blurs
less, the time on the clock, whole collections of garbage, and what ran. Bar: 50 ms. The first line is the peer: a bare Textual
app of as many widgets as an area shows lays out and paints its screen. The figures are medians of a few journeys.
"""

import argparse
import asyncio
import fcntl
import gc
import json
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
REPEATS = 9
RATE_HZ = 20
TEXT = "which opset versions does topic 4711 support and how much memory does entry 815 take"
KEY = "\N{GREEK SMALL LETTER OMEGA}"
GIVE_UP_S = 60
JOURNEYS = 3

BARE = """
from textual.app import App
from textual.widgets import Footer, Input

class Bare(App):
    def compose(self):
        yield Input()
        yield Footer()

Bare().run()
"""
WORDS = (
    "memory", "opset", "latency", "kernel", "stride", "padding", "scale", "zero", "point", "weight", "tensor", "image",
    "burn", "log", "code",
)  # fmt: skip


def _open_terminal() -> tuple[int, int]:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    attributes = termios.tcgetattr(slave)
    attributes[3] &= ~termios.ECHO  # the key may only come back from the box
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    return master, slave


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _paint(arguments: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Return seconds on the clock and of the processor from the start until a box shows a key that was waiting."""
    master, slave = _open_terminal()
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
    )
    os.close(slave)
    os.write(master, KEY.encode())
    seen = b""
    try:
        while KEY.encode() not in seen:
            if not select.select([master], [], [], GIVE_UP_S)[0]:
                raise SystemExit(f"no key on the screen after {GIVE_UP_S} s; the last of it: {seen[-2000:]!r}")
            seen = seen[-4:] + os.read(master, 65536)
        return time.perf_counter() - started, _cpu_s(process.pid)
    except OSError as error:
        raise SystemExit(f"ended before it showed a key: {seen!r}") from error
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(master)


def first_paint(folder: Path, repeats: int) -> dict[str, float]:
    """Return the medians (ms) of both programs, started in turns, and the medians of their ratios turn by turn."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "NO_COLOR")}
    environment |= {"PYTHONPATH": str(ROOT), "ASKNPU_HOME": str(folder / "empty"), "TERM": "xterm-256color"}
    bare = folder / "bare.py"
    bare.write_text(BARE, "utf-8")
    programs = {"bare": [str(bare)], "window": ["-m", "assistant"]}
    wall: dict[str, list[float]] = {name: [] for name in programs}
    cpu: dict[str, list[float]] = {name: [] for name in programs}
    for turn in range(repeats + 1):
        for name, arguments in programs.items():
            seconds, used = _paint(arguments, environment)
            if turn:  # the first one compiles
                wall[name].append(seconds * 1e3)
                cpu[name].append(used * 1e3)
    found = {f"{name}_ms": statistics.median(times) for name, times in wall.items()}
    found |= {f"{name}_cpu_ms": statistics.median(times) for name, times in cpu.items()}
    # Load on the machine comes and goes; the two of a turn share it.
    found["ratio"] = statistics.median(b / a for a, b in zip(wall["bare"], wall["window"], strict=True))
    found["cpu_ratio"] = statistics.median(b / a for a, b in zip(cpu["bare"], cpu["window"], strict=True))
    return found


def _write_corpus(folder: Path, entries: int) -> None:
    from tests.conftest import entry, write_corpus

    files: dict[str, list[str]] = {}
    for i in range(entries):
        told = " ".join(WORDS[(i * 7 + k * (1 + i % 5)) % len(WORDS)] for k in range(12))
        files.setdefault(f"f{i // 500:03}.en.md", []).append(
            entry(f"topic-{i}", f"How does topic {i} take {WORDS[i % len(WORDS)]}?", f"Entry {i}: {told}.")
        )
    write_corpus(folder, files)


async def _type() -> dict[str, Any]:
    from textual import events
    from textual.widgets import Input

    from assistant.tui.app import Window

    gaps: list[float] = []
    delays: list[float] = []
    typing = True

    async def watch() -> None:
        while typing:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            gaps.append(time.perf_counter() - before)

    app = Window("en")
    async with app.run_test(size=(140, 45)) as pilot:
        box = app.focused
        assert isinstance(box, Input), box
        async with asyncio.timeout(600):
            while "word_searcher" not in vars(app.services):  # the first opening builds the index
                await pilot.pause(0.1)
        watcher = asyncio.create_task(watch())
        started = time.perf_counter()
        for i, character in enumerate(TEXT):
            await asyncio.sleep(max(0.0, started + i / RATE_HZ - time.perf_counter()))
            pressed = time.perf_counter()
            app.post_message(events.Key("space" if character == " " else character, character))
            app.call_later(
                lambda pressed=pressed: box.call_after_refresh(lambda: delays.append(time.perf_counter() - pressed))
            )
        await asyncio.sleep(1)
        typing = False
        await watcher
        got = box.value
    return {
        "keys": len(TEXT), "dropped_keys": len(TEXT) - len(got), "same_text": got == TEXT,
        **_told("loop", gaps), **_told("key", delays),
    }  # fmt: skip


def _told(name: str, seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        f"{name}_p50_ms": ordered[len(ordered) // 2] * 1e3,
        f"{name}_p99_ms": ordered[int(len(ordered) * 0.99)] * 1e3,
        f"{name}_worst_ms": ordered[-1] * 1e3,
    }


def typing(folder: Path, entries: int) -> dict[str, Any]:
    """Return how the window keeps up with typing over so many entries."""
    os.environ["ASKNPU_HOME"] = str(folder / "home")
    os.environ["ASKNPU_CORPUS"] = str(folder / "corpus")
    sys.path.insert(0, str(ROOT))
    _write_corpus(folder / "corpus", entries)
    gc.collect()
    return asyncio.run(_type())


def turns(folder: Path, repeats: int, model: Path) -> list[dict[str, Any]]:
    """Return the steps of the journey with the medians of their longest turns; each journey is a process of its own."""
    log = folder / "long.log"
    code = (
        "import json, sys; from pathlib import Path; from tests.benchmarks import turns;"
        "log, model = map(Path, sys.argv[1:]);"
        "print(json.dumps(turns.journey(turns.write_log(log, 50), model if model.is_file() else None)))"
    )
    journeys: list[list[dict[str, Any]]] = []
    for number in range(repeats):
        home = folder / f"home-{number}"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "ASKNPU_HOME": str(home)}
        subprocess.run([sys.executable, "-m", "assistant", "update"], env=environment, capture_output=True, check=True)
        done = subprocess.run(
            [sys.executable, "-c", code, str(log), str(model)], env=environment, stdout=subprocess.PIPE, check=True
        )
        journeys.append(json.loads(done.stdout))
    return [
        {
            **steps[0],
            **{name: statistics.median(step[name] for step in steps) for name in ("cpu_ms", "wall_ms", "gc_ms")},
        }
        for steps in zip(*journeys, strict=True)
    ]


def _print_turns(steps: list[dict[str, Any]]) -> None:
    peer = steps[0]["cpu_ms"]
    print(f"{'turns':30} {'cpu ms':>7} {'x peer':>7} {'wall ms':>8} {'gc ms':>6}  what")
    for step in steps:
        figures = f"{step['cpu_ms']:7.0f} {step['cpu_ms'] / peer:7.1f} {step['wall_ms']:8.0f} {step['gc_ms']:6.0f}"
        print(f"{step['step']:30} {figures}  {step['what']}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--only", choices=["paint", "typing", "turns"])
    parser.add_argument("--model", type=Path, default=ROOT / "tests" / "models" / "ddddocr" / "common_det.onnx")
    given = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.only in (None, "paint"):
            found["first_paint"] = first_paint(folder, given.repeats)
        if given.only in (None, "turns"):
            found["turns"] = turns(folder, min(given.repeats, JOURNEYS), given.model)
        if given.only in (None, "typing"):
            found["typing"] = typing(folder, given.entries)
    if given.json:
        print(json.dumps(found, indent=2))
        return
    if steps := found.pop("turns", None):
        _print_turns(steps)
    for group, figures in found.items():
        for figure, value in figures.items():
            told = f"{value:.2f}" if isinstance(value, float) else value
            print(f"{group:12} {figure:20} {told}")


if __name__ == "__main__":
    main()
