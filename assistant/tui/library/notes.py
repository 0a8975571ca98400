"""What a reader notes: which cards are known, and bookmarks."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assistant.tui.library.place import Mark, Place, as_json, read_marks, read_places

__all__ = ["Notes"]


class Notes:
    """Marks by entry id, and bookmarks in the order in which they were set."""

    def __init__(self, saved: Mapping[str, Any]) -> None:
        self.marks: dict[str, Mark] = read_marks(saved.get("marks"))
        self.bookmarks: list[Place] = read_places(saved.get("bookmarks"))

    def as_json(self) -> dict[str, Any]:
        """Return them as JSON values."""
        return {"marks": dict(self.marks), "bookmarks": [as_json(one) for one in self.bookmarks]}

    def has_bookmark(self, place: Place) -> bool:
        """Return whether a place, or the entry of a card, is marked."""
        return _marked(place) in map(_marked, self.bookmarks)

    def turn_bookmark(self, place: Place) -> None:
        """Set or remove the bookmark of a place."""
        others = [one for one in self.bookmarks if _marked(one) != _marked(place)]
        mark = replace(place, kind="document" if place.kind == "document" else "entry", path="")
        self.bookmarks = others if len(others) < len(self.bookmarks) else [*self.bookmarks, mark]


def _marked(place: Place) -> tuple[bool, str]:
    return place.kind == "document", place.key
