"""What `asknpu diagnose` does: reads logs, shows progress, prints what they show, follows a log that grows."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assistant import reasons
from assistant.errors import EXIT_INTERRUPTED, EXIT_NEGATIVE, EXIT_OK, BadInput
from assistant.logs import report
from assistant.plain import printable

if TYPE_CHECKING:
    from assistant.logs.diagnose import Diagnoser
    from assistant.logs.following.events import Event
    from assistant.logs.gathering.sources import Source
    from assistant.logs.types import Diagnosis, Evidence, Finding
    from assistant.session import Session
    from kb.types import Lang

__all__ = ["diagnose", "follow"]

#: Bytes from which reading takes long enough for a progress bar.
_LONG = 8 << 20
#: While a followed log pours, it is diagnosed at most so often.
_PAUSE_S = 0.1
#: Forms of unknown lines that are looked up in the corpus.
_LOOKED_UP = 3

OpenSession = Callable[[], "Session"]
Say = Callable[[str], None]
"""Prints a line."""


def diagnose(
    paths: Sequence[str],
    *,
    lang: "Lang",
    as_json: bool,
    verbose: bool,
    redact: bool,
    open_session: OpenSession,
    narrate: Say,
) -> tuple[str, int]:
    """Return what logs show and the exit code: 1 if it stays undecided.

    Args:
        paths: files, directories, archives or `-`.
        lang: of the text.
        as_json: as the JSON object of the contract.
        verbose: also details, and on standard error what was not read.
        redact: with placeholders for what is private.
        open_session: opens the corpus, if entries are to be named.
        narrate: prints to standard error.

    Raises:
        BadInput: a path is missing or cannot be read, or the rules are broken.
    """
    from assistant.logs.diagnose import Diagnoser
    from assistant.logs.gathering.sources import gather_some, refuse_damaged

    if not paths:
        raise BadInput("give a log file, a directory, or '-' for standard input; see 'asknpu diagnose --help'")
    gathered = gather_some(paths)
    diagnoser = Diagnoser()
    with _progress(gathered.sources) as on_read:
        before = 0
        for source in gathered.sources:
            log = diagnoser.add()
            for portion in source.portions(_shifted(on_read, before)):
                diagnoser.feed(log, portion)
            diagnoser.end(log)
            before += source.size or 0
    clean = _clean(redact)
    say = _say(lang)
    diagnosis = diagnoser.diagnosis()
    refuse_damaged(gathered.sources, diagnosis.bytes)
    for source in gathered.sources:
        for name in source.damaged:
            narrate(printable(say["log_damaged"].format(name=clean(name))))
    if verbose and not as_json:
        for one in gathered.skipped:
            narrate(printable(say["log_skipped"].format(name=clean(one.name), why=reasons.shown(one.why, lang))))
    sources = gathered.sources

    def place(one: "Evidence") -> report.Named:
        found = sources[one.log].place(one.start, one.line)
        return report.Named(found.part, found.line, found.offset, found.offset + one.end - one.start)

    return _told(diagnosis, lang, place, clean, as_json, verbose, open_session)


def _told(
    diagnosis: "Diagnosis",
    lang: "Lang",
    place: report.Place,
    clean: report.Clean,
    as_json: bool,
    verbose: bool,
    open_session: OpenSession,
) -> tuple[str, int]:
    from assistant import render

    code = EXIT_NEGATIVE if diagnosis.verdict == "undecided" else EXIT_OK
    if as_json:
        data = report.as_json(diagnosis, lang, place=place, clean=clean)
        return render.json_text({"schema": render.SCHEMA, **data}), code
    text = report.as_text(
        diagnosis, lang, place=place, clean=clean, verbose=verbose,
        entry=lambda key: _entry_line(key, lang, open_session),
        nearest=_nearest(diagnosis, lang, open_session),
    )  # fmt: skip
    return text, code


def follow(
    path: str, *, lang: "Lang", as_json: bool, verbose: bool, redact: bool, from_end: bool, show: Say, narrate: Say
) -> int:
    """Follow a log and print what it shows as soon as it does, until it is interrupted.

    Args:
        path: a file, pipe or device, or `-`.
        lang: of the text.
        as_json: one JSON object per line and answer.
        verbose: also details.
        redact: with placeholders for what is private.
        from_end: skip what is there already.
        show: prints to standard output.
        narrate: prints to standard error.

    Raises:
        BadInput: the path cannot be followed, or the rules are broken.
    """
    from assistant.logs.diagnose import Diagnoser
    from assistant.logs.following import events
    from assistant.logs.following.follow import follow as followed

    say, clean, diagnoser = _say(lang), _clean(redact), Diagnoser()
    name = "-" if path == "-" else path
    log = diagnoser.add()
    shown = _Shown(diagnoser, lang, name, clean, as_json, verbose, show)
    if sys.stderr.isatty():
        narrate(say["log_following"].format(name=name))
    try:
        stream = (
            _standard_input()
            if path == "-"
            else followed(Path(path), stop=lambda: False, start="end" if from_end else "begin")
        )
        for event in stream:
            if isinstance(event, events.Data):
                diagnoser.feed(log, event.data)
                shown.update(pouring=True)
            elif isinstance(event, events.Idle):
                shown.update(pouring=False)
            else:
                if isinstance(event, events.Restarted):
                    diagnoser.end(log)
                    log = diagnoser.add()
                narrate(
                    printable(
                        say[f"log_{type(event).__name__.lower()}"].format(why=reasons.shown(clean(event.why), lang))
                    )
                )
        shown.update(pouring=False)
    except KeyboardInterrupt:
        shown.update(pouring=False)
        return EXIT_INTERRUPTED
    return EXIT_NEGATIVE if diagnoser.diagnosis().verdict == "undecided" else EXIT_OK


class _Shown:
    """Prints each cause once, when it appears."""

    def __init__(
        self,
        diagnoser: "Diagnoser",
        lang: "Lang",
        name: str,
        clean: report.Clean,
        as_json: bool,
        verbose: bool,
        show: Say,
    ) -> None:
        self.diagnoser = diagnoser
        self.lang: Lang = lang
        self.name = name
        self.clean = clean
        self.as_json = as_json
        self.verbose = verbose
        self.show = show
        self._told: set[tuple[str, int, int]] = set()
        self._seen = (-1, -1)
        self._at = 0.0

    def update(self, *, pouring: bool) -> None:
        """Print what is new; while the log pours, look only now and then."""
        if pouring and time.monotonic() - self._at < _PAUSE_S:
            return
        state = (self.diagnoser.found_lines, self.diagnoser.pending_bytes)
        if state == self._seen:
            return
        self._seen, self._at = state, time.monotonic()
        diagnosis = self.diagnoser.diagnosis()
        for finding in diagnosis.findings:
            first = finding.evidence[0]
            key = (finding.rule, first.log, first.start)
            if finding.role != "cause" or finding.explained_by or key in self._told:
                continue
            self._told.add(key)
            self._print(diagnosis, finding)

    def _print(self, diagnosis: "Diagnosis", finding: "Finding") -> None:
        from dataclasses import replace

        from assistant import render

        def place(one: "Evidence") -> report.Named:
            return report.Named(self.name, one.line, one.start, one.end)

        # While a log grows each cause is news, also one that comes after another.
        wanted = (replace(finding, primary=True),)
        if self.as_json:
            data = report.as_json(replace(diagnosis, findings=wanted), self.lang, place=place, clean=self.clean)
            self.show(render.json_text({"schema": render.SCHEMA, **data}, indent=None))
        else:
            one = replace(diagnosis, findings=wanted, unknown=(), codes=())
            self.show(
                report.as_text(
                    one, self.lang, place=place, clean=self.clean, verbose=self.verbose,
                    entry=lambda key: f"asknpu show {key}",
                )
                + "\n"
            )  # fmt: skip


def _standard_input() -> "Iterator[Event]":
    from assistant.logs.following.events import Data
    from assistant.logs.unpack import unpack

    for portion in unpack(iter(lambda: os.read(sys.stdin.fileno(), 1 << 16), b"")):
        yield Data(portion)


def _say(lang: "Lang") -> "dict[str, str]":
    from assistant.texts import texts

    return dict(texts(lang))


def _clean(redact: bool) -> report.Clean:
    if not redact:
        return lambda text: text
    from assistant.logs.redaction.redact import Redactor

    return Redactor().text


def _entry_line(key: str, lang: "Lang", open_session: OpenSession) -> str:
    """Return the title of an entry and how its calculations come out now."""
    from assistant.checks.proof import outcomes

    entry = open_session().store.entry(key, lang)
    if entry is None:
        return key
    ran = [outcome for _, outcome in outcomes([entry])]
    passed = sum(outcome.status == "pass" for outcome in ran)
    checks = f"; {_say(lang)['log_checks'].format(passed=passed, all=len(ran))}" if ran else ""
    return f"{entry.title} (asknpu show {key}{checks})"


def _nearest(diagnosis: "Diagnosis", lang: "Lang", open_session: OpenSession) -> list[str]:
    """Return lines about entries that fit unknown lines by their words."""
    if diagnosis.verdict != "undecided" or not diagnosis.unknown:
        return []
    session = open_session()
    searcher = session.searcher(with_meaning=False)
    found: dict[str, str] = {}
    for one in diagnosis.unknown[:_LOOKED_UP]:
        result = searcher.search(one.first.text[:300], lang=lang, platform=None, limit=1)
        if result.hits and result.confidence >= result.threshold:
            entry = session.store.entry(result.hits[0].id, lang)
            if entry is not None:
                found[entry.id] = entry.title
    return [_say(lang)["log_nearest"].format(title=title, id=key) for key, title in found.items()]


def _shifted(on_read: Callable[[int], object] | None, before: int) -> Callable[[int], object] | None:
    return None if on_read is None else lambda done: on_read(before + done)


@contextmanager
def _progress(sources: "Sequence[Source]") -> Iterator[Callable[[int], object] | None]:
    """Show a bar with the throughput while long logs are read, on a terminal only."""
    sizes = [source.size for source in sources]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    if not sys.stderr.isatty() or (total is not None and total < _LONG):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)
