"""Values of log diagnosis: what a code means, and where one stands in a text."""

from dataclasses import dataclass
from typing import Literal

Certainty = Literal["documented", "header", "inferred"]
CERTAINTIES: tuple[Certainty, ...] = ("documented", "header", "inferred")


@dataclass(frozen=True, slots=True)
class Meaning:
    """One code of one platform."""

    platform: str
    """Name of the table it stands in, as in `corpus/codes/platforms.toml`."""
    code: str
    """The key: a decimal number, negative where the platform counts downwards, or an E-code in capitals."""
    name: str
    """The symbol in the vendor's header; empty where there is none."""
    module: str
    """Part of the vendor's software that issues it."""
    meaning_zh: str
    meaning_en: str
    cause_hint: str
    """Where to look first, in English; a hint and no finding. Empty where there is none."""
    source: str
    """Public header or document the number is taken from."""
    certainty: Certainty
    """documented: the vendor says what it means; header: worded from the symbol and where it stands; inferred: from the
    words of the symbol only."""
    entry: str
    """Id of the corpus entry about it, or empty."""


@dataclass(frozen=True, slots=True)
class Found:
    """A code that stands in a text."""

    code: str
    """The key, as in `Meaning.code`; it may be one that no table has."""
    spelling: str
    """How the text spells it."""
    start: int
    """Offset of the first character of the spelling."""
    end: int
    """Offset behind its last character."""
