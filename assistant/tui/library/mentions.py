"""What the words of an entry lead to: entries about an option, a code or a function, and terms."""

import re
from collections.abc import Iterable, Mapping

from assistant.tui.library.glossed import Gloss
from assistant.tui.library.shelf import Shelf
from assistant.tui.painted import TERM
from kb.parse import without_checks
from kb.types import Entry

__all__ = ["links", "mentions"]

COMMON = 5
"""A term that more questions name is known to every reader; the list of terms has it still."""
_CODE = re.compile(r"`([^`\n]{3,80})`")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_COMMON = re.compile(r"[a-z]+|[\d.]{1,4}")
"""What is written like a word of the language or a small number names no single thing."""


def links(shelf: Shelf, entry: Entry, glosses: Iterable[Gloss]) -> Mapping[str, str]:
    """Return word -> target for the text of an entry."""
    found = {one.used: f"{TERM}{one.used}" for one in glosses if one.questions <= COMMON and len(one.used) > 1}
    return found | mentions(shelf, entry)


def mentions(shelf: Shelf, entry: Entry) -> dict[str, str]:
    """Return what an entry has as code, and exactly one other title of its platform, too -> `#` and the id of that."""
    titles = [
        (one.id, one.title.casefold())
        for one in shelf.entries.values()
        if one.lang == entry.lang and one.platform == entry.platform
    ]
    found = {}
    for name in dict.fromkeys(_CODE.findall(_FENCE.sub("", without_checks(entry.text)))):
        about = [] if _COMMON.fullmatch(name) else [key for key, title in titles if _names(title, name.casefold())]
        if len(about) == 1 and about[0] != entry.id:
            found[name] = f"#{about[0]}"
    return found


def _names(title: str, name: str) -> bool:
    return name in title and re.search(rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])", title) is not None
