"""What `asknpu search`, `show` and `list` print: entries of the corpus, found, whole or all of them."""

from typing import TYPE_CHECKING, Any

from assistant.errors import EXIT_NEGATIVE, EXIT_OK, NothingFound

if TYPE_CHECKING:
    from assistant.session import Session
    from kb.search import Searcher
    from kb.types import Entry, Lang

__all__ = ["entries", "entry", "found"]


def found(
    searcher: "Searcher",
    question: str,
    *,
    lang: "Lang | None",
    platform: str | None,
    limit: int,
    explain: bool,
    as_json: bool,
) -> tuple[str, list[str], int]:
    """Return the entries that fit a question best, what to say beside them, and the exit code.

    Raises:
        BadInput: an unknown platform.
    """
    from assistant import render
    from assistant.answer import check_platform
    from assistant.reasons import shown
    from assistant.texts import texts

    check_platform(searcher.store, platform)
    result = searcher.search(question, lang=lang, platform=platform, limit=limit)
    rows = [(hit, one) for hit in result.hits if (one := searcher.store.entry(hit.id, result.lang)) is not None]
    say = texts(result.lang)
    notes = [] if rows else [say["nothing"]]
    code = EXIT_OK if rows else EXIT_NEGATIVE
    if as_json:
        data = {
            "schema": render.SCHEMA,
            "question": result.question,
            "confidence": round(result.confidence, 4),
            "hits": [{**_row(one), **render.hit_json(hit)} for hit, one in rows],
            "unknown": [unknown.text for unknown in result.unknown],
            "degraded": list(result.degraded),
        }
        return render.json_text(data), notes, code
    names = [say[f"head_{name}"] for name in ("score", "id", "title", *(["ranks"] if explain else []))]
    why = [[render.ranks(hit, result.lang)] if explain else [] for hit, _ in rows]
    lines = [(f"{hit.score:.3f}", one.id, one.title, *told) for (hit, one), told in zip(rows, why, strict=True)]
    table = render.table(lines, names, render.terminal_width()) if lines else ""
    return table, [*(shown(note, result.lang) for note in result.degraded), *notes], code


def entry(session: "Session", given: str, *, lang: "Lang", as_json: bool, raw: bool) -> str | bytes:
    """Return an entry with its source and its checks, or `raw` the cited bytes.

    Raises:
        NothingFound: no entry has this id; names the nearest.
    """
    from assistant import render
    from assistant.answer import shown
    from assistant.checks.proof import outcomes
    from assistant.types import EntryCheck

    one = session.store.entry(given, lang)
    if one is None:
        raise NothingFound(_unknown_id(session, given))
    span = one.span
    if raw:
        return session.source.documents[span.file][span.start : span.end]
    if as_json:
        ran = [render.check_json(outcome) for _, outcome in outcomes([one])]
        return render.json_text({"schema": render.SCHEMA, **render.entry_json(shown(one)), "checks": ran})
    checks = [EntryCheck(key, outcome) for key, outcome in outcomes([one])]
    return render.show(f"{render.entry_markdown(shown(one), checks=checks)}\n\n`sha256 {span.sha256}`")


def entries(session: "Session", *, lang: "Lang", platform: str | None, as_json: bool) -> str:
    """Return all entries, or those of a platform.

    Raises:
        BadInput: an unknown platform.
    """
    from assistant import render
    from assistant.answer import check_platform
    from assistant.texts import texts

    check_platform(session.store, platform)
    every = session.store.entries(lang, platform)
    if as_json:
        return render.json_text({"schema": render.SCHEMA, "entries": [_row(one) for one in every]})
    rows = [(one.id, one.kind, one.title) for one in every]
    names = [texts(lang)[f"head_{name}"] for name in ("id", "kind", "title")]
    return render.table(rows, names, render.terminal_width())


def _row(one: "Entry") -> dict[str, Any]:
    return {"id": one.id, "title": one.title, "platform": one.platform, "kind": one.kind, "lang": one.lang}


def _unknown_id(session: "Session", given: str) -> str:
    from rapidfuzz import process

    ids = list(dict.fromkeys(one.id for one in session.store.entries()))
    nearest = [match[0] for match in process.extract(given, ids, limit=3, score_cutoff=50)]
    return f"no entry {given!r}" + (f"; nearest: {', '.join(nearest)}" if nearest else "; 'asknpu list' shows all")
