"""The lists above the pane: contents of a document, bookmarks, terms of an entry."""

from collections.abc import Mapping, Sequence

from assistant.tui.library.glossed import Gloss
from assistant.tui.library.hanging import Hanging
from assistant.tui.library.place import MARKS, Mark, Place, exists
from assistant.tui.library.popups import Choice
from assistant.tui.library.shelf import Shelf
from assistant.tui.painted import Painted
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Entry, Lang

__all__ = ["address", "bookmarks", "contents", "glossary"]


def contents(shelf: Shelf, page: Painted, marks: Mapping[str, Mark], entry: Entry, lang: Lang, say: Words) -> Choice:
    """Return the entries of the document of an entry, and below those on the page their sections."""
    document = shelf.documents[shelf.home[entry.id]]
    lines = []
    for one in document.ids:
        style = "bold" if one == entry.id else ""
        mark = plain(f"{MARKS[marks.get(one, '')]} ", style)
        lines.append((f"entry:{one}", Hanging((mark, plain(shelf.title(one, lang), style)))))
        lines += [
            (f"line:{line}", Hanging((plain("    ▸ "), plain(text))))
            for text, level, line in page.headings
            if level > 2 and one in page.anchors and page.spot(line)[0] == one
        ]
    return Choice(document.titles.get(lang, ""), say("choose"), lines, f"entry:{entry.id}")


def bookmarks(shelf: Shelf, places: Sequence[Place], lang: Lang, say: Words, key: str) -> Choice:
    """Return the bookmarks of what the corpus still has; `key` sets one."""
    there = [one for one in places if exists(shelf, one)]
    lines = [(f"{one.kind}:{one.key}", Hanging((plain("★ "), plain(_title(shelf, one, lang))))) for one in there]
    return Choice(say("library_bookmarks"), say("choose") if lines else say("no_bookmarks", key=key), lines)


def _title(shelf: Shelf, place: Place, lang: Lang) -> str:
    if place.kind != "document":
        return shelf.title(place.key, lang)
    titles = shelf.documents[place.key].titles
    return titles.get(lang) or next(iter(titles.values()))


def glossary(shelf: Shelf, found: Sequence[Gloss], entry: Entry, say: Words) -> Choice:
    """Return two lines for each term, both languages, and a line for each entry that explains it."""
    lines = []
    for gloss in found:
        first = f"entry:{gloss.entries[0]}" if gloss.entries else ""
        name = (plain(""), plain(gloss.used, "bold underline"))
        chinese = (plain("  中 ", "$text-muted"), plain("、".join(gloss.term.zh)))
        english = (plain("  EN ", "$text-muted"), plain(", ".join(gloss.term.en)))
        lines.append((first, Hanging(name, chinese, english)))
        lines += [
            (f"entry:{one}", Hanging((plain("  → "), plain(shelf.title(one, entry.lang))))) for one in gloss.entries
        ]
    leads = any(key for key, _ in lines)
    hint = say("choose" if leads else "close") if lines else say("no_terms")
    return Choice(say("terms_of", title=entry.title), hint, lines)


def address(target: str, lines: Sequence[tuple[str, str]], say: Words) -> Choice:
    """Return an address of the web, and what can be done with it; nothing is done by itself."""
    return Choice(target, say("choose"), [(key, Hanging((plain("› "), plain(text)))) for key, text in lines])
