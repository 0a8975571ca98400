"""What reading a log comes to: values that a thread sets and the pane shows."""

import tempfile
import threading
import time
from collections.abc import Sequence
from typing import BinaryIO, Literal, cast

from assistant.logs.diagnose import Diagnoser
from assistant.logs.gathering.sources import Skipped, Source
from assistant.logs.report import Named
from assistant.logs.types import Diagnosis, Evidence
from assistant.tui.logs.rows import Rows

__all__ = ["Kind", "Phase", "Reading"]

Kind = Literal["open", "paste", "follow"]
Phase = Literal["opening", "indexing", "diagnosing", "following", "done", "stopped", "failed"]

#: Seconds between two looks at what the logs show so far; looking takes a tenth of the time at most.
_PAUSE_S, _SHARE = 0.4, 10


class Reading:
    """One incident's logs while they are read. It owns the file that unpacked bytes are kept in: it has no name."""

    def __init__(self, kind: Kind, name: str) -> None:
        self.kind: Kind = kind
        self.name = name
        self.phase: Phase = "opening"
        self.logs: list[Rows] = []
        self.skipped: tuple[Skipped, ...] = ()
        self.diagnosis: Diagnosis | None = None
        self.done = 0
        self.total: int | None = None
        self.began = time.monotonic()
        self.took_s = 0.0
        self.problem = ""
        self.note: tuple[str, str] = ("", "")
        """What happened last to a followed log, as (event, reason)."""
        self.is_warm = False
        """Whether the tables of codes are loaded."""
        self._sources: tuple[Source, ...] = ()
        self._stop = threading.Event()
        self._spool: BinaryIO | None = None
        self._spooled = 0
        self._looked = (0.0, 0.0)

    @property
    def is_busy(self) -> bool:
        """Whether a thread still reads."""
        return self.phase in ("opening", "indexing", "diagnosing", "following")

    @property
    def seconds(self) -> float:
        """How long the present phase has taken, or the last one took."""
        return time.monotonic() - self.began if self.is_busy else self.took_s

    def stop(self) -> None:
        """Ask the thread to end; what it has found is kept."""
        self._stop.set()

    @property
    def is_stopped(self) -> bool:
        """Whether the thread was asked to end."""
        return self._stop.is_set()

    def close(self) -> None:
        """End, and drop everything that was unpacked."""
        self.stop()
        for rows in self.logs:
            rows.release()
        if self._spool is not None:
            self._spool.close()

    def place(self, one: Evidence) -> Named:
        """Return where the user finds a line."""
        length = one.end - one.start
        if one.log < len(self._sources):
            found = self._sources[one.log].place(one.start, one.line)
            return Named(found.part, found.line, found.offset, found.offset + length)
        name = self.logs[one.log].name if one.log < len(self.logs) else self.name
        return Named(name, one.line, one.start, one.end)

    @property
    def damaged(self) -> list[str]:
        """Names of the files of which only the part before a damage could be read."""
        return [name for source in self._sources for name in source.damaged]

    def enter(self, phase: Phase, total: int | None = None) -> None:
        """Begin a phase."""
        self.took_s = time.monotonic() - self.began
        if phase in ("indexing", "diagnosing", "following"):
            self.began, self.done, self.total = time.monotonic(), 0, total
        self.phase = phase

    def take(self, source: Sequence[Source], skipped: tuple[Skipped, ...]) -> None:
        """Set what is read."""
        self._sources, self.skipped = tuple(source), skipped

    def keep(self, rows: Rows, data: bytes) -> None:
        """Keep unpacked bytes and index them."""
        if self._spool is None:
            return
        self._spool.write(data)
        self._spooled += len(data)
        rows.feed(data)

    def spool(self, name: str) -> Rows:
        """Return rows, without any yet, whose bytes are kept in the file without a name."""
        if self._spool is None:
            self._spool = cast(BinaryIO, tempfile.TemporaryFile(buffering=0))  # noqa: SIM115 (closed by `close`)
        return Rows(name, self._spool, self._spooled)

    def look(self, diagnoser: Diagnoser, *, at_once: bool = False) -> None:
        """Set what the logs show so far, if it is time."""
        next_at, _ = self._looked
        if not at_once and time.monotonic() < next_at:
            return
        began = time.monotonic()
        self.diagnosis = diagnoser.diagnosis()
        took = time.monotonic() - began
        self._looked = (time.monotonic() + max(_PAUSE_S, took * _SHARE), took)
