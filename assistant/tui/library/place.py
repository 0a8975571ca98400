"""What is shown, the way back to it, and what was learnt. All frozen but the history."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from assistant.tui.library.shelf import Shelf
from assistant.tui.painted import TOP, Spot
from kb.types import Lang

__all__ = [
    "MARKS",
    "History",
    "Mark",
    "Place",
    "Visit",
    "as_json",
    "exists",
    "neighbour",
    "node_keys",
    "read_marks",
    "read_place",
    "read_places",
    "read_spot",
]

Kind = Literal["entry", "document", "card"]
Mark = Literal["known", "learning"]
MARKS: Mapping[str, str] = {"known": "✓", "learning": "◐", "": "·"}
"""Symbol of each mark; "" for an entry that was not asked yet."""


@dataclass(frozen=True, slots=True)
class Place:
    """Something to read."""

    kind: Kind
    key: str
    """Entry id, or key of a document."""
    lang: Lang
    path: str = ""
    """Platform of the first-day path that a card belongs to; "" for the cards of its course."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A place as it was shown."""

    place: Place
    spot: Spot
    """At the top of the reader."""
    is_open: bool = False
    """Whether a card showed its answer."""
    link: int = -1
    """The link that was chosen; -1 if none was."""


@dataclass(slots=True)
class History:
    """Visits before and after the current one."""

    behind: list[Visit] = field(default_factory=list)
    ahead: list[Visit] = field(default_factory=list)

    def leave(self, visit: Visit) -> None:
        """Remember a visit that ends for a new one; what was ahead is forgotten."""
        self.behind.append(visit)
        del self.behind[:-200]
        self.ahead.clear()

    def back(self, now: Visit | None) -> Visit | None:
        """Return the visit before, and remember this one ahead."""
        return self._move(self.behind, self.ahead, now)

    def forward(self, now: Visit | None) -> Visit | None:
        """Return the visit ahead, and remember this one behind."""
        return self._move(self.ahead, self.behind, now)

    @staticmethod
    def _move(source: list[Visit], target: list[Visit], now: Visit | None) -> Visit | None:
        if not source:
            return None
        if now is not None:
            target.append(now)
        return source.pop()


def exists(shelf: Shelf, place: Place) -> bool:
    """Return whether the corpus has a place."""
    return place.key in (shelf.documents if place.kind == "document" else shelf.home)


def neighbour(shelf: Shelf, place: Place, step: int) -> Place | None:
    """Return the place that comes after (1) or before (-1) in reading order; None at the ends."""
    if place.kind == "document":
        order = list(shelf.documents)
    elif place.path:
        order = [key for path in shelf.paths if path.platform == place.path for key in path.ids]
    elif place.kind == "card":
        courses = [course.document for course in shelf.courses]
        home = shelf.home[place.key]
        order = [key for course in (courses if home in courses else [home]) for key in shelf.documents[course].ids]
    else:
        order = [key for document in shelf.documents.values() for key in document.ids]
    if place.key not in order:
        return None
    index = order.index(place.key) + step
    return Place(place.kind, order[index], place.lang, place.path) if 0 <= index < len(order) else None


def node_keys(shelf: Shelf, place: Place) -> tuple[str, ...]:
    """Return the keys of the tree's nodes that may stand for a place, the likeliest first."""
    if place.kind == "document":
        document = shelf.documents.get(place.key)
        entries = [shelf.entry(one, place.lang) for one in (document.ids if document else ())]
        return tuple(f"d:{entry.kind}:{place.key}" for entry in entries if entry)
    if place.path:
        return (f"s:{place.key}", f"q:{place.key}")
    entry = shelf.entry(place.key, place.lang)
    return (f"e:{entry.kind if entry else ''}:{place.key}", f"q:{place.key}", f"s:{place.key}")


def as_json(place: Place | None) -> dict[str, str] | None:
    """Return a place as a JSON value."""
    return {"kind": place.kind, "key": place.key, "lang": place.lang, "path": place.path} if place else None


def read_place(data: Any) -> Place | None:  # noqa: ANN401 (whatever the saved state holds)
    """Return a place from its JSON value; None if it is none."""
    if not isinstance(data, dict):
        return None
    kind, key, lang, path = (data.get(name, "") for name in ("kind", "key", "lang", "path"))
    if kind not in ("entry", "document", "card") or lang not in ("zh", "en"):
        return None
    return (
        Place(cast(Kind, kind), key, cast(Lang, lang), path) if isinstance(key, str) and isinstance(path, str) else None
    )


def read_places(data: Any) -> list[Place]:  # noqa: ANN401
    """Return the places of a JSON list; what is none is left out."""
    return [place for one in data if (place := read_place(one))] if isinstance(data, list) else []


def read_marks(data: Any) -> dict[str, Mark]:  # noqa: ANN401
    """Return what was learnt by entry id from its JSON value."""
    if not isinstance(data, dict):
        return {}
    return {str(key): cast(Mark, mark) for key, mark in data.items() if mark in ("known", "learning")}


def read_spot(data: Any) -> Spot:  # noqa: ANN401
    """Return a spot from its JSON value; the top if it is none."""
    if isinstance(data, list | tuple) and len(data) == 2 and isinstance(data[0], str):
        try:
            return data[0], min(1.0, max(0.0, float(data[1])))
        except (TypeError, ValueError):
            return TOP
    return TOP
