"""What a thread does to read a log; the values of a `Reading` tell how far it is.

open   -> gather -> index what lies on disk -> unpack and index the rest, diagnose all
paste  -> the same, from memory
follow -> index and diagnose what comes
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from assistant.errors import BadInput
from assistant.logs.diagnose import Diagnoser
from assistant.logs.gathering.sources import Source, gather_some, refuse_damaged
from assistant.logs.table import table
from assistant.logs.unpack import is_packed
from assistant.tui import garbage
from assistant.tui.logs.reading import Reading
from assistant.tui.logs.rows import Rows

__all__ = ["read"]

_INDEXED_AT_ONCE = 1 << 18


def read(reading: Reading, given: str) -> None:
    """Read a path, or pasted text."""
    if reading.kind == "paste":
        _read_text(reading, given)
    elif reading.kind == "follow":
        _read_growing(reading, given)
    else:
        _read_paths(reading, [given])


@cache
def _warm() -> None:
    """Load the tables of codes, which stay."""
    table()
    garbage.keep()


def _guarded(reading: Reading, read: Callable[[], None]) -> None:
    """Read, and turn what goes wrong into a sentence."""
    try:
        _warm()
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


def _read_paths(reading: Reading, paths: Sequence[str]) -> None:
    """Read files, directories and archives."""

    def read() -> None:
        gathered = gather_some(paths)
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


def _read_text(reading: Reading, text: str) -> None:
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


def _read_growing(reading: Reading, path: str) -> None:
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
            state = (diagnoser.found_lines, diagnoser.pending_bytes)
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
                return None if is_packed(file.read(16)) else path
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
    if not reading.is_stopped:
        refuse_damaged(sources, sum(rows.size for rows in logs))
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
