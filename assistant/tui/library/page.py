"""A place as Markdown sections, one for each entry, with the check blocks as badges where they stand."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from assistant.plain import printable
from assistant.tui.library.place import Place
from assistant.tui.library.shelf import Shelf
from assistant.tui.painted import Section
from assistant.tui.words import Words
from kb.parse import CHECK_FENCE
from kb.types import Entry

if TYPE_CHECKING:
    from assistant.checks.types import Outcome

__all__ = ["Outcomes", "entries_of", "has_checks", "sections"]

Outcomes = Mapping[tuple[str, str], "Sequence[Outcome]"]
"""(entry id, language) -> outcomes of its check blocks; no item while they run, none of them if that was cancelled."""
Links = Callable[[Entry], Mapping[str, str]]
"""Word of an entry's text -> what it leads to."""
ASKS = 3


def _no_links(_entry: Entry) -> Mapping[str, str]:
    return {}


def entries_of(shelf: Shelf, place: Place) -> tuple[Entry, ...]:
    """Return the entries that a place shows."""
    keys = shelf.documents[place.key].ids if place.kind == "document" else (place.key,)
    return tuple(entry for key in keys if (entry := shelf.entry(key, place.lang)))


def has_checks(entry: Entry) -> bool:
    """Return whether an entry has check blocks."""
    return CHECK_FENCE.search(entry.text) is not None


def sections(
    shelf: Shelf, place: Place, outcomes: Outcomes, say: Words, *, is_open: bool = True, links: Links = _no_links
) -> list[Section]:
    """Return a page.

    Args:
        shelf: where it is.
        place: what to show.
        outcomes: what the check blocks gave so far.
        say: the sentences of the area.
        is_open: whether a card shows its answer.
        links: what words of its entries lead to.
    """
    found = [] if place.kind != "document" else [_head(shelf, place)]
    for entry in entries_of(shelf, place):
        if place.kind == "card" and not is_open:
            found.append(Section(entry.id, printable(_question(entry, say))))
        else:
            found.append(Section(entry.id, printable(_whole(entry, outcomes, say)), links(entry)))
    return found


def _head(shelf: Shelf, place: Place) -> Section:
    document = shelf.documents[place.key]
    title = document.titles.get(place.lang) or next(iter(document.titles.values()))
    return Section("", f"# {_plain(printable(title))}")


def _plain(text: str) -> str:
    """Return Markdown that shows a text character by character."""
    from assistant.render import escaped

    return escaped(text)


def _question(entry: Entry, say: Words) -> str:
    asks = "\n".join(f"- {_plain(ask)}" for ask in entry.asks[:ASKS])
    return f"## {_plain(entry.title)}\n\n{say('also_asked')}\n\n{asks}\n\n**{say('think')}**"


def _whole(entry: Entry, outcomes: Outcomes, say: Words) -> str:
    done = outcomes.get((entry.id, entry.lang))
    number = -1

    def badge(_match: object) -> str:
        nonlocal number
        number += 1
        if done is None:
            return f"\n> ◌ {say('running')}\n\n"
        told = _badge(done[number], entry) if number < len(done) else f"– {say('not_run')}"
        return f"\n> {told}\n\n"

    body = CHECK_FENCE.sub(badge, entry.text).strip()
    parts = [f"## {_plain(entry.title)}", body]
    if done:
        parts.append(_summary(done, say))
    parts.append(f"*{say('source')}: {_plain('; '.join(entry.sources))}*\n`corpus/{entry.span.file}:{entry.line}`")
    return "\n\n".join(parts)


def _badge(outcome: "Outcome", entry: Entry) -> str:
    from assistant.checks.text import entry_checks
    from assistant.types import EntryCheck

    return entry_checks([EntryCheck(entry.id, outcome)], entry.lang).splitlines()[-1].removeprefix("- ")


def _summary(done: "Sequence[Outcome]", say: Words) -> str:
    passed = sum(outcome.status == "pass" for outcome in done)
    key = "verified" if passed == len(done) else "not_verified"
    return f"**{'✓' if passed == len(done) else '✗'} {say(key, passed=passed, all=len(done))}**"
