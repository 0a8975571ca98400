"""What opens above the window or leads away: contents, bookmarks, links; an address of the web is shown first."""

from typing import TYPE_CHECKING

from assistant.tui.library import labels, lists
from assistant.tui.linking import WEB
from assistant.tui.painted import TERM

if TYPE_CHECKING:
    from assistant.tui.library.pane import LibraryPane

__all__ = ["choose", "follow", "show_bookmarks", "show_contents"]

_OPEN, _COPY = "open", "copy"


def follow(pane: "LibraryPane", target: str) -> None:
    """Go where a link leads, or show it above the window."""
    shelf, entry = pane.desk.shelf, pane.desk.entry()
    if WEB.fullmatch(target):
        lines = [(f"{_OPEN}:{target}", pane.say("web_open")), (f"{_COPY}:{target}", pane.say("web_copy"))]
        pane.app.push_screen(lists.address(target, lines, pane.say), pane.take)
    elif target.startswith(TERM):
        word = target.removeprefix(TERM)
        # On the page of a document another entry may be at the top than the one with the word.
        found = [(one, gloss) for one in pane.desk.entries() for gloss in pane.desk.glosses.get((one.id, one.lang), ())]
        terms = [(one, gloss) for one, gloss in found if gloss.used == word]
        if shelf is not None and entry is not None and terms:
            pane.app.push_screen(lists.glossary(shelf, [terms[0][1]], terms[0][0], pane.say), pane.take)
    elif choice := pane.way.choice(target):
        pane.way.choose(choice, pane.lang)
    else:
        pane.notify(pane.say("link_nowhere", target=target), severity="warning", markup=False)


def choose(pane: "LibraryPane", choice: str) -> None:
    """Do what was chosen in a list."""
    kind, _, address = choice.partition(":")
    if kind == _OPEN:
        pane.app.open_url(address)
    elif kind == _COPY:
        pane.app.copy_to_clipboard(address)
        pane.notify(pane.say("web_copied", address=address), markup=False)
    else:
        pane.way.choose(choice, pane.lang)


def show_contents(pane: "LibraryPane") -> None:
    """List the contents of the document that is shown."""
    shelf, place, entry = pane.desk.shelf, pane.desk.place, pane.desk.entry()
    if shelf is not None and place is not None and entry is not None:
        page = pane.desk.reader.page
        pane.app.push_screen(lists.contents(shelf, page, pane.notes.marks, entry, place.lang, pane.say), pane.take)


def show_bookmarks(pane: "LibraryPane") -> None:
    """List the bookmarks."""
    if (shelf := pane.desk.shelf) is not None:
        key = labels.key(pane, "bookmark")
        pane.app.push_screen(lists.bookmarks(shelf, pane.notes.bookmarks, pane.lang, pane.say, key), pane.take)
