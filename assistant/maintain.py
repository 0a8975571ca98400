"""Commands that keep the index healthy: update, status, doctor."""

import hashlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypedDict

from assistant import paths
from assistant.errors import BadInput
from assistant.session import DEFAULT_ENCODER, Session, encoder_spec, encoders, fingerprint, open_session
from kb import build, corpus, encode, manifest
from kb.errors import IndexUnavailable, KbError
from kb.schema import file_name
from kb.store import Store


class UpdateReport(TypedDict):
    """What `update` did."""

    changed: bool
    entries: int
    passages: int
    embedded: dict[str, int]
    encoder: str
    seconds: float


def update(*, encoder: str | None, rebuild: bool, ship: bool, narrate: Callable[[str], None]) -> UpdateReport:
    """Bring the index up to date with the corpus, embedding what is new.

    Raises:
        KbError: the corpus is broken, the index cannot be written or an encoder is missing.
    """
    started = time.perf_counter()
    source = corpus.read(paths.corpus_root())
    report, spec = _updated(source, paths.index_directory(), encoder, rebuild=rebuild, ship=ship, narrate=narrate)
    # The table of checks is searched, too, always with the encoders that come with the program.
    from assistant.checks.documents import as_corpus

    checks, place = as_corpus(source.resources), paths.check_index_directory()
    _updated(checks, place, DEFAULT_ENCODER, rebuild=rebuild, ship=ship, narrate=narrate)
    return {
        "changed": report.changed,
        "entries": report.entries,
        "passages": report.passages,
        "embedded": dict(report.embedded),
        "encoder": spec,
        "seconds": round(time.perf_counter() - started, 3),
    }


def _updated(
    source: corpus.Corpus,
    directory: Path,
    encoder: str | None,
    *,
    rebuild: bool,
    ship: bool,
    narrate: Callable[[str], None],
) -> tuple[build.Report, str]:
    """Bring one index up to date; return what was done and the spec of its dense encoder (None: the index's own)."""
    if rebuild and directory.is_dir():
        # Also those that other versions of the program left behind.
        for path in directory.glob("kb-*.sqlite*"):
            path.unlink(missing_ok=True)
    with Store(directory) as store:
        spec = encoder or encoder_spec(store)
        sources = encoders(spec, threads=encode.cores())
        report = build.update(source, store, sources, may_embed=True, progress=_progress(narrate))
        with store.writing():
            store.set_meta("encoder", spec)
        if ship:
            for path in build.ship(source, store, sources):
                narrate(f"wrote {path}")
    return report, spec


def _progress(narrate: Callable[[str], None]) -> Callable[[str, int, int], None]:
    """Return a progress function that speaks on a terminal, and otherwise once per encoder."""
    is_terminal = sys.stderr.isatty()
    started = time.perf_counter()

    def progress(key: str, done: int, total: int) -> None:
        if is_terminal:
            rate = done / max(time.perf_counter() - started, 1e-6)
            sys.stderr.write(f"\rembedding with {key}: {done}/{total} passages, {rate:.0f}/s " + "\n" * (done == total))
            sys.stderr.flush()
        elif done == 0:
            narrate(f"embedding {total} passages with {key}")

    return progress


def status(session: Session) -> dict[str, object]:
    """Return facts about corpus and index."""
    store = session.store
    counts = store.counts()
    current = manifest.is_current(store, fingerprint(session.source, store), need_channels=False)
    return {
        "version": encode.package_version("asknpu"),
        "corpus": str(session.source.root),
        "index": str(store.directory / file_name()) if store.directory else "in memory",
        "current": current,
        "generation": int(store.meta("generation", "0")),
        "entries": counts["entries"],
        "passages": counts["passages"],
        "embeddings": counts["embeddings"],
        "platforms": ", ".join(store.platforms()),
        "encoder": encoder_spec(store),
        "dense": store.encoder_of("dense") or "missing",
        "use": store.encoder_of("use") or "missing",
        "degraded": "; ".join(session.degraded) or "no",
    }


def doctor() -> list[tuple[str, bool, str]]:
    """Return (check, ok, finding with its cure) for everything that a working installation needs."""
    results = list(_packages())
    results.append(_guard("corpus", lambda: f"{len(corpus.entries(corpus.read(paths.corpus_root())))} entries parse"))
    results.append(_guard("cited spans", _spans))
    results.append(_guard("log rules", _rules))
    results.append(_guard("index", _index))
    results.append(_guard("home directory", _home))
    return results


def _rules() -> str:
    """Lint the form of the log rules; their samples are the business of the tests."""
    from assistant.logs import engine
    from assistant.logs.lint import form_problems
    from assistant.logs.rules import rules

    known = frozenset(entry.id for entry in corpus.entries(corpus.read(paths.corpus_root())))
    every = rules()
    if problems := form_problems(every, known):
        raise KbError(f"{problems[0]} ({len(problems)} problems in all)")
    return f"{len(every)} rules are well formed, searched with {engine.name()}"


def _packages() -> Iterator[tuple[str, bool, str]]:
    for channel in encoders(DEFAULT_ENCODER):
        missing = channel.key.endswith(f"-{encode.MISSING}")
        yield f"encoder {channel.channel}", not missing, "reinstall asknpu" if missing else channel.key


def _guard(name: str, check: Callable[[], str]) -> tuple[str, bool, str]:
    try:
        return name, True, check()
    except (KbError, BadInput, OSError) as error:
        return name, False, str(error)


def _spans() -> str:
    source = corpus.read(paths.corpus_root())
    entries = corpus.entries(source)
    for entry in entries:
        data = source.documents[entry.span.file][entry.span.start : entry.span.end]
        if hashlib.sha256(data).hexdigest() != entry.span.sha256 or data.decode() != entry.text:
            raise KbError(f"span of {entry.id} does not match its file")
    return f"{len(entries)} spans match their bytes"


def _index() -> str:
    session = open_session()
    if session.degraded:
        raise IndexUnavailable("; ".join(session.degraded))
    if not session.store.is_intact():
        raise IndexUnavailable("the index file is damaged; run 'asknpu update --rebuild'")
    for channel in ("dense", "use"):
        if session.store.channel(channel) is None:
            raise IndexUnavailable(f"no vectors for the {channel} channel; run 'asknpu update'")
    return f"{session.store.counts()['passages']} passages, checksums match"


def _home() -> str:
    directory = paths.home()
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    probe = directory / ".probe"
    probe.write_text("", "utf-8")
    probe.unlink()
    return str(directory)
