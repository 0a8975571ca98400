"""Answer a question from the corpus, or abstain.

Steps: reduce a pasted question to its words -> codes and log lines in it -> search -> unknown identifiers forbid
an answer; a name missing from a complete list is answered by that list; else the calibrated confidence decides ->
pick entries and their best parts -> run their check blocks. A calculation that the question asks for is done in any
case, and is an answer by itself; so are the meaning of a known error code and the cause that pasted log lines show,
which puts its entry first.
"""

from collections.abc import Callable

from assistant.checks.proof import outcomes
from assistant.errors import BadInput
from assistant.logs.spelling import normalise
from assistant.logs.types import Brought
from assistant.types import Answer, AnswerEntry, Computed, EntryCheck, Piece
from kb import paste, terms
from kb.focus import focus
from kb.parse import blocks
from kb.search import Searcher
from kb.store import Store
from kb.types import Entry, Hit, Lang, Search, Span

RELATED = 3
NEAREST = 5
_RELATED_SHARE = 0.45
"""A further entry is related if its fused score is at least this share of the best one's."""


Compute = Callable[[str, Lang], Computed | None]
"""(question, language) -> the calculation that the question asks for."""
Bring = Callable[[str, frozenset[str]], Brought]
"""(question, platforms) -> the codes and log lines in it, and what they mean."""
_NOTHING = Brought((), None)


def answer(
    question: str,
    searcher: Searcher,
    *,
    lang: Lang | None = None,
    platform: str | None = None,
    limit: int = 1,
    compute: Compute | None = None,
    bring: Bring | None = None,
) -> Answer:
    """Return the answer to a question.

    Args:
        question: as typed or pasted; editor markup is taken out.
        searcher: an opened index.
        lang: language of the answer; None for the question's.
        platform: only entries of this platform.
        limit: number of entries to answer with.
        compute: finds and runs the calculation that a question asks for; None computes nothing.
        bring: finds the codes and log lines of a question; None looks for none.

    Raises:
        BadInput: the question has no letter or digit, or the platform is unknown.
    """
    text = checked_question(question)
    check_platform(searcher.store, platform)
    found = searcher.search(text, lang=lang, platform=platform, limit=max(10, limit + RELATED))
    is_confident = found.confidence >= found.threshold
    is_blocked = any(item.blocking for item in found.unknown)
    computed = compute(text, found.lang) if compute else None
    named = frozenset([platform]) if platform else searcher.platforms_named(text)
    brings = bring(question, named) if bring else _NOTHING
    lists = _lists(searcher, found, is_confident)
    shown = _of_log(searcher, brings, found.lang)
    if not shown and (is_blocked or not (is_confident or lists)):
        nearest = [hit.id for hit in found.hits[:NEAREST]]
        return _make(searcher, found, nearest=nearest, computed=computed, brings=brings)
    hits = {hit.id: hit for hit in found.hits}
    ids = [hit.id for hit in found.hits[:limit]] if is_confident else []
    ids = [*lists, *(key for key in ids if key not in lists)][: max(limit, len(lists))] if not is_confident else ids
    ids += [key for key in lists if key not in ids]
    # The entries of the causes that the log shows answer better than those that read alike.
    ids = shown[:limit] or ids
    entries = tuple(_entry(searcher, key, found, hits.get(key)) for key in ids)
    best = found.hits[0].score if found.hits else 0.0
    related = [hit.id for hit in found.hits if hit.id not in ids and hit.score >= _RELATED_SHARE * best]
    return _make(
        searcher, found, entries=entries, related=related[:RELATED], shown_lists=lists, computed=computed, brings=brings
    )


def checked_question(question: str) -> str:
    """Return a question reduced to its words.

    Raises:
        BadInput: it has no letter or digit.
    """
    text = terms.clean(paste.words(question))
    if not any(character.isalnum() for character in text):
        raise BadInput("the question is empty; type a question, an error code or a name")
    return text


def check_platform(store: Store, platform: str | None) -> None:
    """Check a platform's name.

    Raises:
        BadInput: the corpus has no such platform.
    """
    known = store.platforms()
    if platform is not None and platform not in known:
        raise BadInput(f"unknown platform {platform!r}; known: {', '.join(known)}")


def focus_of(searcher: Searcher, entry: Entry, question: str) -> tuple[Piece, ...]:
    """Return the parts of an entry that matter for a question; empty to show the whole."""
    tokens = terms.tokens(question)
    chosen = focus(
        blocks(entry), entry.lang, tokens, searcher.glossary.expand(tokens), frozenset(terms.tokens(entry.title))
    )
    data = entry.text.encode()
    pieces = []
    for block in chosen:
        start, end = block.start - entry.span.start, block.end - entry.span.start
        pieces.append(Piece(block.text, _span(entry.span.file, block.start, data[start:end]), block.is_row))
    return tuple(pieces)


def _span(file: str, start: int, data: bytes) -> Span:
    import hashlib

    return Span(file, start, start + len(data), hashlib.sha256(data).hexdigest())


def answers_by_list(found: Search) -> bool:
    """Return whether a complete list answers the question: it names what the list lacks, and nothing unknown."""
    return bool(found.unlisted) and not found.unknown


def _has_cause(brings: Brought) -> bool:
    return brings.diagnosis is not None and brings.diagnosis.verdict == "cause"


def _of_log(searcher: Searcher, brings: Brought, lang: Lang) -> list[str]:
    """Return the entries about the causes that the log lines of a question show."""
    findings = brings.diagnosis.findings if brings.diagnosis else ()
    ids = dict.fromkeys(finding.entry for finding in findings if finding.primary and finding.entry)
    return [key for key in ids if searcher.store.entry(key, lang) is not None]


def _lists(searcher: Searcher, found: Search, is_confident: bool) -> list[str]:
    """Return the complete lists to answer with; not those of another platform than a sure best hit's."""
    if not answers_by_list(found):
        return []
    lists = list(dict.fromkeys(item.entry_id for item in found.unlisted))
    if is_confident and found.hits:
        best = searcher.store.entry(found.hits[0].id, found.lang)
        platform = best.platform if best else ""
        lists = [key for key in lists if (e := searcher.store.entry(key, found.lang)) and e.platform == platform]
    return lists


def _make(
    searcher: Searcher,
    found: Search,
    *,
    entries: tuple[AnswerEntry, ...] = (),
    related: list[str] | None = None,
    nearest: list[str] | None = None,
    shown_lists: list[str] | None = None,
    computed: Computed | None = None,
    brings: Brought = _NOTHING,
) -> Answer:
    checks = run_checks(searcher, entries)
    has_failed = _has_failed(checks)
    is_computed = computed is not None and any(outcome.status == "done" for outcome in computed.outcomes)
    return Answer(
        question=found.question,
        status="answered" if entries or is_computed or brings.codes or _has_cause(brings) else "abstained",
        # An answer whose own calculation fails is not believed, however well it fits the question.
        confidence=min(found.confidence, found.threshold / 2) if has_failed else found.confidence,
        lang=found.lang,
        entries=entries,
        related=_titles(searcher, related or [], found.lang),
        unlisted=tuple(item for item in found.unlisted if item.entry_id in (shown_lists or [])),
        unknown=tuple(item for item in found.unknown if normalise(item.text) not in {one.code for one in brings.codes}),
        nearest=_titles(searcher, nearest or [], found.lang),
        corrected=found.corrected,
        degraded=found.degraded,
        checks=checks,
        computed=computed,
        brought=brings,
        features=found.features,
        threshold=found.threshold,
    )


def is_refuted(answer: Answer) -> bool:
    """Return whether a calculation of the answer's entries gives something else than they say."""
    return _has_failed(answer.checks)


def _has_failed(checks: tuple[EntryCheck, ...]) -> bool:
    return any(check.outcome.status == "fail" for check in checks)


def run_checks(searcher: Searcher, entries: tuple[AnswerEntry, ...]) -> tuple[EntryCheck, ...]:
    """Return the outcomes of the check blocks of entries, run now."""
    stored = (searcher.store.entry(entry.id, entry.lang) for entry in entries)
    return tuple(EntryCheck(key, outcome) for key, outcome in outcomes(e for e in stored if e is not None))


def _titles(searcher: Searcher, ids: list[str], lang: Lang) -> tuple[tuple[str, str], ...]:
    found = ((key, searcher.store.entry(key, lang)) for key in ids)
    return tuple((key, entry.title) for key, entry in found if entry is not None)


def _entry(searcher: Searcher, key: str, found: Search, hit: Hit | None) -> AnswerEntry:
    entry = searcher.store.entry(key, found.lang)
    assert entry is not None, key
    return shown(entry, focus=focus_of(searcher, entry, found.question), hit=hit)


def shown(entry: Entry, *, focus: tuple[Piece, ...] = (), hit: Hit | None = None) -> AnswerEntry:
    """Return an entry in the form that answers and `show` share."""
    return AnswerEntry(
        id=entry.id,
        title=entry.title,
        platform=entry.platform,
        kind=entry.kind,
        lang=entry.lang,
        text=entry.text,
        score=hit.score if hit else 0.0,
        source=entry.span,
        line=entry.line,
        names=entry.sources,
        focus=focus,
        hit=hit,
    )
