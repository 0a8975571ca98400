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
from assistant.logs.following.follow import Data, Event, Idle, Lost, Restarted, follow


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

    def name(self, number: int) -> str:
        return f"{self.path}.{number}"

    def shift(self) -> None:
        self.rotations += 1
        files = {path.name: path for path in self.path.parent.iterdir()}
        for number in range(self.keep, 0, -1):
            for ending in (".gz", ""):
                path = files.get(f"{self.path.name}.{number}{ending}")
                if path and number == self.keep:
                    path.unlink()
                elif path:
                    path.rename(f"{self.name(number + 1)}{ending}")

    def pack(self, number: int = 1) -> None:
        path = Path(self.name(number))
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


def rotate(reading: Reading, log: Log, kind: Callable[[Log], None]) -> None:
    if kind is Log.truncate:
        # What was written to an empty file and cut off again leaves no trace at all: let some of it be read.
        read_all(reading)
        if not log.path.stat().st_size:
            return
        for _ in range(log.random.choice([0, 0, 1, 2])):
            log.write()
    kind(log)


def read_all(reading: Reading) -> None:
    while not isinstance(reading.step(), Idle):
        pass


def stress(reading: Reading, log: Log, kinds: list[Callable[[Log], None]], rotations: int) -> None:
    """Write, rotate some times and look, in a random order, until so many rotations were made."""
    choice = log.random
    while log.rotations < rotations:
        for _ in range(choice.choice([1, 1, 2, 3])):
            for _ in range(choice.choice([0, 1, 1, 3])):
                log.write()
            if choice.random() < 0.8:
                rotate(reading, log, choice.choice(kinds))
        for _ in range(choice.choice([0, 1, 2, 5])):
            log.write()
        if choice.random() < 0.5:
            for _ in range(choice.randint(1, 8)):
                reading.step()
        else:
            while not isinstance(reading.step(), Idle):
                if choice.random() < 0.2:
                    log.write()
    for _ in range(6):
        read_all(reading)


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
    log = Log(tmp_path / "日志 1.log", keep=14, random=random.Random(kind))
    log.write(b"<000000> first " + b"." * 300 + b"\n")
    reading = Reading(log.path)
    read_all(reading)
    PROVABLE[kind][0](log)
    log.write()
    stress(reading, log, PROVABLE[kind], rotations=1000)

    assert [event for event in reading.events if isinstance(event, Lost)] == []
    assert bytes(reading.data) == bytes(log.written)


ALL = [Log.rename, Log.rename_pack, Log.rename_pack_later, Log.copy_truncate, Log.copy_truncate_pack, Log.truncate]


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_what_rotation_deletes_unread_is_said_to_be_lost(tmp_path: Path, keep: int) -> None:
    log = Log(tmp_path / "app.log", keep=keep, random=random.Random(keep))
    log.write()
    reading = Reading(log.path)
    lost = whole = 0
    for rotations in range(10, 801, 10):
        stress(reading, log, ALL, rotations)
        is_lost = any(isinstance(event, Lost) for event in reading.events)
        lost, whole = lost + is_lost, whole + (not is_lost)
        if not is_lost:
            assert bytes(reading.data) == bytes(log.written)
        numbers = [int(number) for number in NUMBER.findall(reading.data)]
        if is_lost:
            assert len(numbers) == len(set(numbers))
        reading.data.clear(), reading.events.clear(), log.written.clear()

    assert lost > 10


def test_truncated_and_grown_beyond_the_place_is_noticed_every_time(tmp_path: Path) -> None:
    log = Log(tmp_path / "app.log", keep=1, random=random.Random(0))
    reading = Reading(log.path)
    for size in range(1, 1001):
        log.write()
        read_all(reading)
        log.truncate()
        log.write(f"<{log.number + 1:06}> {'y' * (size % 500 + 200)}\n".encode() * 10)
        log.number += 1
        read_all(reading)

    assert bytes(reading.data) == bytes(log.written)
    assert [type(event) for event in reading.events] == [Lost, Restarted] * 1000


LONG = b"line of the first file " * 20 + b"\n"


def test_copy_that_is_seen_before_the_truncation_is_not_read_again(tmp_path: Path) -> None:
    for text in (b"", b"short\n", LONG * 500):
        log = tmp_path / f"app{len(text)}.log"
        log.write_bytes(text)
        reading = Reading(log)
        assert reading.all() == text
        for step in range(3):
            with log.open("ab") as file:
                file.write(b"more %d\n" % step)
            shutil.copyfile(log, f"{log}.1")
            assert reading.all() == b"more %d\n" % step
        os.truncate(log, 0)
        assert reading.all() == b""
        log.write_bytes(b"new\n")
        assert reading.all() == b"new\n"
        assert set(reading.kinds()) == {"Restarted"}


def test_copy_of_the_file_that_comes_next_is_not_read_besides(tmp_path: Path) -> None:
    for text in (b"b\n", b"b " + LONG * 500):
        log = Log(tmp_path / f"{len(text)}.log", keep=5, random=random.Random(0))
        log.write(LONG)
        reading = Reading(log.path)
        reading.all()
        log.write(b"a\n")
        log.copy_truncate()
        log.write(text)
        log.shift()
        shutil.copyfile(log.path, log.name(1))
        assert reading.all() == b"a\n" + text
        os.truncate(log.path, 0)
        log.path.write_bytes(b"c\n")
        assert reading.all() == b"c\n"
        assert "Lost" not in reading.kinds()


def test_lines_between_copy_and_truncation_are_not_read_twice(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_bytes(LONG)
    reading = Reading(log)
    reading.all()
    shutil.copyfile(log, f"{log}.1")
    log.write_bytes(LONG + b"too late for the copy\n")
    assert reading.all() == b"too late for the copy\n"
    log.write_bytes(b"new\n")

    assert reading.all() == b"new\n"
    assert reading.kinds() == ["Lost", "Restarted"]


def test_writer_that_turns_to_the_new_file_late_loses_nothing(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    with log.open("ab", buffering=0) as old:
        old.write(b"1\n")
        reading = Reading(log)
        assert reading.all() == b"1\n"
        log.rename(tmp_path / "app.log.1")
        old.write(b"2\n")
        assert reading.all() == b"2\n"
        log.touch()
        old.write(b"3\n")
        assert reading.all() == b"3\n"
        assert reading.kinds() == ["Waiting"]
        log.write_bytes(b"4\n")
        assert reading.all() == b"4\n"
        old.write(b"5\n")
        assert reading.all() == b"5\n"
        assert reading.kinds() == ["Restarted"] * 3


def test_deleted_file_is_read_to_its_end_and_its_successor_is_in_doubt(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_bytes(b"1\n")
    reading = Reading(log)
    reading.all()
    with log.open("ab") as file:
        file.write(b"2\n")
    log.unlink()
    log.write_bytes(b"3\n")

    assert reading.all() == b"2\n3\n"
    assert reading.kinds() == ["Lost", "Restarted"]


def test_missing_number_among_the_unread_files_is_said(tmp_path: Path) -> None:
    log = Log(tmp_path / "app.log", keep=9, random=random.Random(1))
    log.write()
    reading = Reading(log.path)
    reading.all()
    for _ in range(4):
        log.rename()
        log.write()
    Path(log.name(2)).unlink()

    # It might be a rotation that is going on: for some looks it is only waited.
    assert [reading.all() for _ in range(4)] == [b""] * 4
    assert [int(number) for number in NUMBER.findall(reading.all())] == [2, 4, 5]
    assert "Lost" in reading.kinds()


def test_idle_log_that_is_rotated_empty_raises_no_alarm(tmp_path: Path) -> None:
    log = Log(tmp_path / "app.log", keep=1, random=random.Random(1))
    log.write()
    log.rename()
    reading = Reading(log.path)
    reading.all()
    past = log.path.stat().st_mtime - 100
    os.utime(log.path, (past, past))
    # The time of the change of the directory entry must be old, too.
    time.sleep(0.06)
    reading.all()
    log.rename()
    log.write()

    assert b"<000002>" in reading.all()
    assert reading.kinds() == ["Restarted"]


def test_file_that_is_missing_is_waited_for_and_read_from_its_beginning(tmp_path: Path) -> None:
    reading = Reading(tmp_path / "app.log", start="end")
    assert reading.all() == reading.all() == b""
    assert reading.kinds() == ["Waiting"]
    reading.path.write_bytes(b"1\n")
    assert reading.all() == b"1\n"


def test_start_from_the_end_leaves_out_what_is_there(tmp_path: Path) -> None:
    for size in (0, 1, 5000, 3_000_000):
        log = tmp_path / f"{size}.log"
        log.write_bytes(b"x" * size)
        reading = Reading(log, start="end")
        assert reading.all() == b""
        with log.open("ab") as file:
            file.write(b"new\n")
        assert reading.all() == b"new\n"
        log.rename(f"{log}.1")
        log.write_bytes(b"next\n")
        assert reading.all() == b"next\n"
        assert reading.kinds() == ["Restarted"]


def test_file_that_may_not_be_read_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "app.log"
    log.write_bytes(b"1\n")
    reading = Reading(log)
    reading.all()
    log.rename(tmp_path / "app.log.1")
    log.write_bytes(b"2\n")
    real = os.open

    def refuse(path: str | Path, *args: int, **kwargs: int) -> int:
        if Path(path) == log:
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **kwargs)

    with monkeypatch.context() as context:
        context.setattr(os, "open", refuse)
        assert [reading.all() for _ in range(3)] == [b""] * 3
        assert [event.why for event in reading.events] == [f"{log}: Permission denied"]
    assert reading.all() == b"2\n"


def test_link_that_turns_to_another_file_is_followed(tmp_path: Path) -> None:
    link = tmp_path / "current.log"
    (tmp_path / "a").write_bytes(b"1\n")
    link.symlink_to("a")
    reading = Reading(link)
    assert reading.all() == b"1\n"
    (tmp_path / "a").write_bytes(b"1\n2\n")
    (tmp_path / "b").write_bytes(b"3\n")
    link.unlink()
    link.symlink_to("b")

    assert reading.all() == b"2\n3\n"
    assert reading.kinds() == ["Restarted"]


def test_pipe_is_read_through_several_writers_and_recreation(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reading = Reading(path)
    assert reading.all() == b""
    for text in (b"first\n", b"second\n"):
        with path.open("wb", buffering=0) as file:
            file.write(text)
            assert reading.all() == text
            file.write(b"rest\n")
        assert reading.all() == b"rest\n"
    assert reading.kinds() == []
    path.unlink()
    os.mkfifo(path)
    reading.all()
    with path.open("wb", buffering=0) as file:
        file.write(b"third\n")
        assert reading.all() == b"third\n"
    assert reading.kinds() == ["Restarted"]


def test_serial_device_is_read_raw_and_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "ttyUSB0"
    reading = Reading(path)
    reading.all()
    assert reading.kinds() == ["Waiting"]
    for turn in range(3):
        board, port = pty.openpty()
        path.symlink_to(os.ttyname(port))
        reading.all()
        assert reading.kinds() == (["Restarted"] if turn else [])
        os.write(board, b"U-Boot 2026\r\npart of a li")
        assert reading.all() == b"U-Boot 2026\r\npart of a li"
        os.write(board, b"ne\r\n\x03\x04\x11")
        assert reading.all() == b"ne\r\n\x03\x04\x11"
        os.set_blocking(board, False)
        with pytest.raises(BlockingIOError):
            # Nothing was echoed back to the board.
            os.read(board, 100)
        os.close(port)
        os.close(board)
        path.unlink()
        assert reading.all() == reading.all() == b""
        assert reading.kinds()[0] == "Waiting"


@pytest.mark.parametrize("size", [0, 4095, 4096, 4097, 2_500_000])
def test_rotation_after_any_size_continues_at_the_byte(tmp_path: Path, size: int) -> None:
    for name, move in (("a", Log.copy_truncate_pack), ("b", Log.rename_pack), ("c", Log.copy_truncate)):
        log = Log(tmp_path / f"{name}.log", keep=3, random=random.Random(size))
        log.write(b"".join(b"%d\n" % i for i in range(size // 6 + 1))[:size])
        reading = Reading(log.path)
        reading.all()
        log.write(b"tail\n")
        move(log)
        log.write(b"new\n")
        # A copy of a file of which nothing was read is certain only after some looks.
        assert b"".join(reading.all() for _ in range(6)) == b"tail\nnew\n"


def test_directory_cannot_be_followed(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is a directory and cannot be followed; give the file"):
        next(follow(tmp_path, stop=lambda: False))


def test_stop_ends_at_once_and_closes_every_descriptor(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_bytes(LONG)
    before = list(Path("/dev/fd").iterdir())
    assert list(follow(log, poll_s=0, stop=lambda: True)) == []
    calls = iter([False, True])
    assert list(follow(log, poll_s=0, stop=lambda: next(calls))) == [Data(LONG)]
    steps = follow(log, poll_s=0, stop=lambda: False)
    next(steps)
    log.rename(tmp_path / "app.log.1")
    log.write_bytes(b"1\n")
    next(steps)
    steps.close()

    assert len(list(Path("/dev/fd").iterdir())) == len(before)
