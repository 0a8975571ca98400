"""The questions that were asked, with back and forward."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from assistant.tui.ask.values import Request

__all__ = ["History"]

#: So many are kept.
MOST = 50


@dataclass(slots=True)
class History:
    """Like that of a browser: a new question drops what lay ahead."""

    items: list[Request] = field(default_factory=list)
    place: int = -1

    def add(self, request: Request) -> None:
        """Remember a question that was answered; the same again is not a new one."""
        if self.place >= 0 and self.items[self.place] == request:
            return
        self.items = [*self.items[: self.place + 1], request][-MOST:]
        self.place = len(self.items) - 1

    def move(self, by: int) -> Request | None:
        """Go back (-1) or forward (1); None at the end."""
        if not 0 <= self.place + by < len(self.items):
            return None
        self.place += by
        return self.items[self.place]

    def back_from(self, current: str) -> Request | None:
        """Go back; from a question that was not asked, to the last one that was."""
        if self.items and self.items[self.place].question != current:
            return self.items[self.place]
        return self.move(-1)

    def saved(self) -> list[dict[str, str | None]]:
        """Return the questions as JSON values."""
        return [{"question": r.question, "lang": r.lang, "platform": r.platform} for r in self.items]


def restored(saved: object) -> History:
    """Return what `saved` gave; what does not look like it is left out."""
    items = []
    for one in saved if isinstance(saved, Iterable) else ():
        if isinstance(one, dict) and isinstance(one.get("question"), str):
            lang, platform = one.get("lang"), one.get("platform")
            items.append(
                Request(
                    one["question"],
                    lang if lang in ("zh", "en") else None,
                    platform if isinstance(platform, str) else None,
                )
            )
    return History(items[-MOST:], min(len(items), MOST) - 1)
