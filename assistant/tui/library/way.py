"""The way from place to place: on and back, in reading order, from an entry to its document."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from assistant.tui.library.desk import Desk
from assistant.tui.library.place import History, Place, Visit, as_json, exists, neighbour, read_place, read_spot
from assistant.tui.library.side import Side
from assistant.tui.library.tree import Mode
from assistant.tui.painted import TOP, Spot
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Way"]


class Way:
    """Shows places on the desk, with the cursor of the tree on them, and keeps the way back."""

    def __init__(self, side: Side, desk: Desk, saved: Mapping[str, Any], shown: Callable[[], None]) -> None:
        self.side, self.desk = side, desk
        self.saved = saved
        """What `state` gave at the last end."""
        self.shown = shown
        """Called when another place is shown."""
        self.history = History()

    def go(self, place: Place, spot: Spot = TOP) -> None:
        """Show another place; `travel` leads to this one."""
        if place != self.desk.place:
            self._leave()
        self._show(place, spot)

    def _leave(self) -> None:
        """Remember what is shown, for the way back."""
        if (now := self._now()) is not None:
            self.history.leave(now)

    def _now(self) -> Visit | None:
        desk = self.desk
        return None if desk.place is None else Visit(desk.place, desk.here(), desk.is_open, desk.link)

    def restore(self) -> bool:
        """Show the place of the last end; return whether there is one."""
        place, spot, is_open = self._last()
        if place is None or self.desk.shelf is None or not exists(self.desk.shelf, place):
            return False
        self._show(place, spot, is_open=is_open)
        return True

    def state(self) -> dict[str, Any]:
        """Return what is shown as JSON values; while the shelf is being read, what was shown last."""
        here = (self.desk.place, self.desk.here(), self.desk.is_open) if self.desk.shelf is not None else self._last()
        place, spot, is_open = here
        return {"mode": self.side.mode, "place": as_json(place), "spot": list(spot), "is_open": is_open}

    def _last(self) -> tuple[Place | None, Spot, bool]:
        saved = self.saved
        return read_place(saved.get("place")), read_spot(saved.get("spot")), saved.get("is_open") is True

    def _show(self, place: Place, spot: Spot, *, is_open: bool = False, link: int = -1) -> None:
        wanted: Mode = "learn" if place.kind == "card" else "read"
        if wanted != self.side.mode:
            self.side.change(wanted)
        self.side.point(place)
        self.desk.show(place, spot, is_open=is_open, link=link)
        self.shown()

    def travel(self, step: int) -> None:
        """Go back to what was shown before (-1), or undo that (1)."""
        move = self.history.back if step < 0 else self.history.forward
        if (found := move(self._now())) is not None:
            self._show(found.place, found.spot, is_open=found.is_open, link=found.link)

    def step(self, step: int, lang: Lang, say: Words) -> str:
        """Go to the next (1) or the previous (-1) place in reading order; return a sentence where there is none."""
        if self.desk.shelf is None or self.desk.place is None:
            return ""
        place = neighbour(self.desk.shelf, self.desk.place, step)
        if place is None:
            return say("at_end" if step > 0 else "at_start")
        self.go(replace(place, lang=lang))
        return ""

    def whole(self) -> None:
        """Change between one entry and its whole document, at the same entry."""
        shelf, place, entry = self.desk.shelf, self.desk.place, self.desk.entry()
        if shelf is None or place is None or entry is None:
            return
        if place.kind == "document":
            self.go(Place("entry", entry.id, place.lang))
        else:
            self.go(Place("document", shelf.home[entry.id], place.lang), (entry.id, 0.0))

    def choose(self, choice: str, lang: Lang) -> None:
        """Go to what was chosen in a list: `entry:ID`, `document:KEY` or `line:NUMBER`."""
        kind, _, key = choice.partition(":")
        reader, place = self.desk.reader, self.desk.place
        if kind == "line":
            self._within(int(key))
        elif kind == "entry" and place is not None and key in reader.page.anchors:
            self._within(reader.page.anchors[key])
        elif kind in ("entry", "document"):
            self.go(Place("document" if kind == "document" else "entry", key, place.lang if place else lang))
        reader.focus()

    def _within(self, line: int) -> None:
        """Go to a line of what is shown; `travel` leads back."""
        self._leave()
        self.desk.reader.choose_link(-1)
        self.desk.reader.go(line)

    def choice(self, target: str) -> str:
        """Return what the target of a link is for `choose`; "" if the corpus has no such place."""
        shelf, page, place = self.desk.shelf, self.desk.reader.page, self.desk.place
        if shelf is None or place is None:
            return ""
        name = target.removeprefix("#")
        if name in shelf.home:
            return f"entry:{name}"
        if target.startswith("#"):
            line = next((line for text, _, line in page.headings if _slug(text) == _slug(name)), None)
            return "" if line is None else f"line:{line}"
        stem = re.sub(r"(\.(zh|en))?\.md$", "", target).rpartition("/")[2]
        home = place.key if place.kind == "document" else shelf.home[place.key]
        folder = home.rpartition("/")[0]
        near = [f"{folder}/{stem}".lstrip("/"), *(one for one in shelf.documents if one.rpartition("/")[2] == stem)]
        return next((f"document:{one}" for one in near if one in shelf.documents), "")


def _slug(heading: str) -> str:
    return "-".join(re.findall(r"\w+", unquote(heading).casefold()))
