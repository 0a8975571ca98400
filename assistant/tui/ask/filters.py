"""Which entries may answer, and in which language."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kb.types import Lang

__all__ = ["Filters", "restored"]


@dataclass(frozen=True, slots=True)
class Filters:
    """None does not restrict."""

    platform: str | None = None
    lang: "Lang | None" = None

    def next_platform(self, platforms: Sequence[str]) -> "Filters":
        """Return the filters with the next platform; all after the last."""
        choices: list[str | None] = [None, *platforms]
        place = choices.index(self.platform) if self.platform in choices else 0
        return replace(self, platform=choices[(place + 1) % len(choices)])

    def next_lang(self) -> "Filters":
        """Return the filters with the next language: the question's, Chinese, English."""
        choices: list[Lang | None] = [None, "zh", "en"]
        return replace(self, lang=choices[(choices.index(self.lang) + 1) % len(choices)])


def restored(saved: dict[str, Any]) -> Filters:
    """Return what was saved; what does not look like it is left out."""
    platform, lang = saved.get("platform"), saved.get("answer_lang")
    return Filters(platform if isinstance(platform, str) else None, lang if lang in ("zh", "en") else None)
