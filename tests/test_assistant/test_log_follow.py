"""A followed log: every byte once, in order, through every kind of rotation; `Lost` where that cannot be shown."""

import gzip
import os
import pty
import random
import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from assistant.errors import BadInput
from assistant.logs.follow import Data, Event, Idle, Lost, Restarted, Waiting, follow


@dataclass
class Reading:
    """Drives a follower step by step and keeps what it says."""

    path: Path
    start: str = "begin"
    data: bytearray = field(default_factory=bytearray)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.steps: Iterator[Event] = follow(self.path, poll_s=0, stop=lambda: False, start=self.start)

    def step(self) -> Event:
        event = next(self.steps)
        if isinstance(event, Data):
            self.data += event.data
        elif not isinstance(event, Idle):
            self.events.append(event)
        return event

    def all(self) -> bytes:
        """Read until nothing more comes, and return what came since the last call."""
        while not isinstance(self.step(), Idle):
            pass
        new = bytes(self.data)
        self.data.clear()
        return new

    def kinds(self) -> list[str]:
        kinds = [type(event).__name__ for event in self.events]
        self.events.clear()
        return kinds


@dataclass
class Log:
    """A log with its rotation; remembers all that was ever written."""

    path: Path
    keep: int
    random: random.Random
    written: bytearray = field(default_factory=bytearray)
    rotations: int = 0
    number: int = 0

    def write(self, data: bytes | None = None) -> None:
        if data is None:
            self.number += 1
            filler = self.random.choice(["x", "错误", ""]) * self.random.choice([1, 30, 300])
            data = f"<{self.number:06}> {filler}\n".encode()
        with self.path.open("ab") as file:
            file.write(data)
        self.written += data

    def name(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")

    def shift(self) -> None:
        self.rotations += 1
        for ending in ("", ".gz"):
            Path(f"{self.name(self.keep)}{ending}").unlink(missing_ok=True)
            for number in range(self.keep - 1, 0, -1):
                source = Path(f"{self.name(number)}{ending}")
                if source.exists():
                    source.rename(f"{self.name(number + 1)}{ending}")

    def pack(self, number: int = 1) -> None:
        path = self.name(number)
        if path.exists():
            Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes(), 1))
            path.unlink()

    def rename(self) -> None:
        self.shift()
        self.path.rename(self.name(1))
        self.path.touch()

    def rename_pack(self) -> None:
        self.rename()
        self.pack()

    def rename_pack_later(self) -> None:
        self.rename()
        self.pack(2)

    def copy_truncate(self) -> None:
        self.shift()
        shutil.copyfile(self.path, self.name(1))
        os.truncate(self.path, 0)

    def copy_truncate_pack(self) -> None:
        self.copy_truncate()
        self.pack()

    def rename_dated(self) -> None:
        self.rotations += 1
        day = f"{20000101 + self.rotations // 20 % 20 + self.rotations // 400 * 10000}-{self.rotations % 20:03}"
        self.path.rename(self.path.with_name(f"{self.path.name}-{day}"))
        self.path.touch()
        old = sorted(self.path.parent.glob(f"{self.path.name}-*"))
        for path in old[: -self.keep]:
            path.unlink()

    def truncate(self) -> None:
        self.rotations += 1
        os.truncate(self.path, 0)


NUMBER = re.compile(rb"<(\d{6})>")


def check(reading: Reading, log: Log) -> None:
    """All came once and in order, or what is missing was said to be."""
    got = bytes(reading.data)
    lost = any(isinstance(event, Lost) for event in reading.events)
    if not lost:
        assert got == bytes(log.written)
    numbers = [int(number) for number in NUMBER.findall(got)]
    assert numbers == sorted(set(numbers))


def stress(reading: Reading, log: Log, kinds: list[Callable[[Log], None]], rotations: int, between: int) -> None:
    """Write, rotate up to `between` times and look, in a random order, until so many rotations were made."""
    choice = log.random
    while log.rotations < rotations:
        for _ in range(choice.randint(1, between)):
            for _ in range(choice.choice([0, 1, 1, 3])):
                log.write()
            if choice.random() < 0.7:
                choice.choice(kinds)(log)
        for _ in range(choice.choice([0, 1, 2, 5])):
            log.write()
        if choice.random() < 0.5:
            for _ in range(choice.randint(1, 4)):
                reading.step()
        else:
            while not isinstance(reading.step(), Idle):
                if choice.random() < 0.2:
                    log.write()
    while not isinstance(reading.step(), Idle):
        pass


PROVABLE: dict[str, list[Callable[[Log], None]]] = {
    "rename": [Log.rename],
    "rename and pack": [Log.rename_pack],
    "rename and pack later": [Log.rename_pack_later],
    "rename by date": [Log.rename_dated],
    "copy and truncate": [Log.copy_truncate],
    "copy, truncate and pack": [Log.copy_truncate_pack],
    "rename or copy": [Log.rename, Log.copy_truncate, Log.rename_pack, Log.copy_truncate_pack],
}


@pytest.mark.parametrize("kind", PROVABLE)
def test_no_byte_is_lost_or_doubled_while_rotated_files_are_kept(tmp_path: Path, kind: str) -> None:
    log = Log(tmp_path / "日志 1.log", keep=60, random=random.Random(kind))
    log.write(b"<000000> first " + b"." * 300 + b"\n")
    reading = Reading(log.path)
    while not isinstance(reading.step(), Idle):
        pass
    PROVABLE[kind][0](log)
    log.write()
    stress(reading, log, PROVABLE[kind], rotations=1500, between=3)

    assert [event for event in reading.events if isinstance(event, Lost)] == []
    assert bytes(reading.data) == bytes(log.written)
