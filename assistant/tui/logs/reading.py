"""What reading a log comes to, as values that a thread sets and the pane shows.

paths   -> gather -> index what lies on disk -> unpack and index the rest, diagnose all
text    -> the same, from memory
growing -> follow -> index and diagnose what comes
"""

import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Literal, cast

from assistant.errors import BadInput
from assistant.logs.diagnose import Diagnoser
from assistant.logs.gathering.sources import Skipped, Source, gather
from assistant.logs.report import Named
from assistant.logs.table import table
from assistant.logs.types import Diagnosis, Evidence
from assistant.tui.logs.rows import Rows

__all__ = ["Kind", "Phase", "Reading", "read_growing", "read_paths", "read_text"]

Kind = Literal["open", "paste", "follow"]
Phase = Literal["opening", "indexing", "diagnosing", "following", "done", "stopped", "failed"]

_GZIP = b"\x1f\x8b"
_INDEXED_AT_ONCE = 1 << 18
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


def _guarded(reading: Reading, read: Callable[[], None]) -> None:
    """Read, and turn what goes wrong into a sentence."""
    try:
        table()
        reading.is_warm = True
        read()
    except BadInput as error:
        reading.problem = str(error)
        reading.enter("failed")
    except (OSError, ValueError) as error:
        # A reading that was closed has no file any more.
        if reading.is_stopped:
            reading.enter("stopped")
            return
        reading.problem = f"{reading.name}: {getattr(error, 'strerror', None) or error}"
        reading.enter("failed")


def read_paths(reading: Reading, paths: Sequence[str]) -> None:
    """Read files, directories and archives."""

    def read() -> None:
        gathered = gather(paths)
        if not gathered.sources:
            why = "; ".join(f"{one.name}: {one.why}" for one in gathered.skipped[:3])
            raise BadInput(f"{', '.join(paths)}: no log in it" + (f" ({why})" if why else ""))
        reading.take(gathered.sources, gathered.skipped)
        plain = [_plain(source) for source in gathered.sources]
        logs = [
            Rows(source.name, path) if path else reading.spool(source.name)
            for source, path in zip(gathered.sources, plain, strict=True)
        ]
        reading.logs = logs
        on_disk = [rows for rows, path in zip(logs, plain, strict=True) if path]
        reading.enter(
            "indexing", sum(source.size or 0 for source, path in zip(gathered.sources, plain, strict=True) if path)
        )
        for rows in on_disk:
            _index(reading, rows)
        sizes = [source.size for source in gathered.sources]
        reading.enter("diagnosing", None if None in sizes else sum(size or 0 for size in sizes))
        _diagnose(reading, gathered.sources, logs, plain)

    _guarded(reading, read)


def read_text(reading: Reading, text: str) -> None:
    """Read pasted text."""

    def read() -> None:
        data = text.encode("utf-8", "replace")
        rows = reading.spool(reading.name)
        reading.logs = [rows]
        diagnoser = Diagnoser()
        log = diagnoser.add()
        reading.enter("diagnosing", len(data))
        for at in range(0, len(data), _INDEXED_AT_ONCE):
            if reading.is_stopped:
                break
            portion = data[at : at + _INDEXED_AT_ONCE]
            reading.keep(rows, portion)
            diagnoser.feed(log, portion)
            reading.done += len(portion)
            reading.look(diagnoser)
        rows.finish()
        diagnoser.end(log)
        _end(reading, diagnoser)

    _guarded(reading, read)


def read_growing(reading: Reading, path: str) -> None:
    """Follow a file, pipe or device until it is stopped."""

    def read() -> None:
        from assistant.logs.following import events
        from assistant.logs.following.follow import follow

        diagnoser = Diagnoser()
        log = diagnoser.add()
        rows = reading.spool(reading.name)
        reading.logs = [rows]
        reading.enter("following")
        seen = (-1, -1)
        for event in follow(Path(path), stop=lambda: reading.is_stopped):
            if isinstance(event, events.Data):
                reading.keep(rows, event.data)
                reading.done += len(event.data)
                diagnoser.feed(log, event.data)
            elif isinstance(event, events.Restarted):
                diagnoser.end(log)
                rows.finish()
                log = diagnoser.add()
                rows = reading.spool(f"{reading.name} ({log + 1})")
                reading.logs = [*reading.logs, rows]
            if isinstance(event, events.Restarted | events.Lost | events.Waiting):
                reading.note = (type(event).__name__.lower(), event.why)
                continue
            state = (diagnoser.matched_lines, diagnoser.pending_bytes)
            if state != seen:
                reading.look(diagnoser, at_once=isinstance(event, events.Idle))
                seen = state if isinstance(event, events.Idle) else seen
        _end(reading, diagnoser)

    _guarded(reading, read)


def _plain(source: Source) -> Path | None:
    """Return the file whose bytes are those of the log, if there is one on disk."""
    if len(source.parts) != 1 or source.parts[0].size is None:
        return None
    path = Path(source.parts[0].name)
    with suppress(OSError, ValueError):
        if path.is_file():
            with path.open("rb") as file:
                return None if file.read(2) == _GZIP else path
    return None


def _index(reading: Reading, rows: Rows) -> None:
    """Index a file; what is read of it can be seen at once."""
    assert isinstance(rows.file, Path)
    with rows.file.open("rb", buffering=0) as file:
        while not reading.is_stopped and (data := file.read(_INDEXED_AT_ONCE)):
            rows.feed(data)
            reading.done += len(data)
    rows.finish()


def _diagnose(reading: Reading, sources: Sequence[Source], logs: Sequence[Rows], plain: Iterable[Path | None]) -> None:
    diagnoser = Diagnoser()
    before = 0
    for source, rows, path in zip(sources, logs, plain, strict=True):
        log = diagnoser.add()
        if path is None:
            rows.base = reading.spool(source.name).base
        for portion in _portions(reading, source, before):
            if path is None:
                reading.keep(rows, portion)
            diagnoser.feed(log, portion)
            reading.look(diagnoser)
        if path is None:
            rows.finish()
        diagnoser.end(log)
        before += source.size or 0
    _end(reading, diagnoser)


def _portions(reading: Reading, source: Source, before: int) -> Iterator[bytes]:
    def on_read(done: int) -> None:
        reading.done = before + done

    for portion in source.portions(on_read):
        if reading.is_stopped:
            return
        yield portion


def _end(reading: Reading, diagnoser: Diagnoser) -> None:
    reading.look(diagnoser, at_once=True)
    reading.enter("stopped" if reading.is_stopped else "done")
