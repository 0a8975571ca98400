"""What the area lets run in threads. Every function may take seconds."""

import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from assistant.tui import garbage
from assistant.tui.ask.values import Full, Mark, Opened, Request, Row, Typed
from assistant.tui.services import Services

if TYPE_CHECKING:
    from kb.types import Hit, Lang, Search

__all__ = ["full", "opened", "platforms", "typed"]


def platforms(services: Services) -> tuple[str, ...]:
    """Return the platforms of the corpus; the first call opens it, and makes search by words ready."""
    _import_shown()
    with services.word_lock:
        found = services.word_searcher.store.platforms()
    garbage.keep()
    return found


def typed(services: Services, request: Request) -> Typed:
    """Return what the words of a question find, with the parts of the best entry that fit."""
    from assistant.answer import focus_of, shown

    _import_shown()
    started = time.perf_counter()
    found = services.search(request.question, lang=request.answer_lang, platform=request.platform, with_meaning=False)
    best = None
    with services.word_lock:
        rows = tuple(_rows(services, found))
        entry = services.word_searcher.store.entry(found.hits[0].id, found.lang) if found.hits else None
        if entry is not None:
            best = shown(entry, focus=focus_of(services.word_searcher, entry, found.question), hit=found.hits[0])
    return Typed(rows, found.lang, best, time.perf_counter() - started)


def full(services: Services, request: Request) -> Full:
    """Return the whole answer; the hits are those that it was chosen from."""
    _import_shown()
    started = time.perf_counter()
    answer = services.answer(request.question, lang=request.answer_lang, platform=request.platform)
    found = services.search(request.question, lang=request.answer_lang, platform=request.platform, with_meaning=True)
    first = [entry.id for entry in answer.entries]
    near = [key for key, _ in answer.related]
    with services.word_lock:
        rows = _rows(services, found, first, near)
        entries = len(services.word_searcher.store.entries(answer.lang, request.platform))
    _models_stay()
    return Full(answer, tuple(rows), found.hits, entries, time.perf_counter() - started)


def opened(services: Services, key: str, lang: "Lang", question: str, hit: "Hit | None") -> Opened | None:
    """Return one entry with its checks run now; None if the corpus has no such entry in the language.

    Args:
        services: the opened corpus.
        key: id of the entry.
        lang: language.
        question: what the parts that matter are chosen by; '' shows the whole.
        hit: how it was found.
    """
    from assistant.answer import focus_of, run_checks, shown

    _import_shown()
    with services.word_lock:
        searcher = services.word_searcher
        entry = searcher.store.entry(key, lang)
        if entry is None:
            return None
        view = shown(entry, focus=focus_of(searcher, entry, question) if question else (), hit=hit)
        return Opened(view, run_checks(searcher, (view,)))


@cache
def _models_stay() -> None:
    """Take the models out of garbage collection, once they are loaded."""
    garbage.keep()


def _import_shown() -> None:
    """Import here what shows a result and takes long to import, so that the window does not wait for it."""
    import assistant.checks.table
    import assistant.checks.text
    import assistant.codes_cli
    import assistant.logs.report
    import assistant.render
    import assistant.tui.ask.cards
    import assistant.tui.markdown  # noqa: F401


def _rows(services: Services, found: "Search", first: Sequence[str] = (), near: Sequence[str] = ()) -> list[Row]:
    """Return the entries of an answer, those related to it, and the rest of the hits. Hold `word_lock`."""
    ids = dict.fromkeys([*first, *near, *(hit.id for hit in found.hits)])
    rows = []
    for key in ids:
        entry = services.word_searcher.store.entry(key, found.lang)
        if entry is not None:
            mark: Mark = "answer" if key in first else "related" if key in near else "hit"
            rows.append(Row(key, entry.title, entry.platform, mark))
    return rows
