"""A quantity found in a text, and the text in the form in which it is looked at."""

from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["Token", "lowered", "plain"]

_WIDE: Final = {0xFF01 + i: 0x21 + i for i in range(94)} | {
    ord(wide): narrow
    for wide, narrow in zip(
        "，　\u00a0\t\r−–—﹣【】〔〕「」『』“”‘’〜⁓", "，    ----[][]" + 6 * '"' + "''~~", strict=True
    )
}
_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


@dataclass(frozen=True, slots=True)
class Token:
    """One quantity of a text."""

    kind: Literal["number", "shape", "list", "range", "dtype", "file"]
    text: str
    start: int
    """First character, in the text as given."""
    end: int
    """After its last character."""
    value: float | str | tuple[float, ...]
    """number: int or float in `unit`; shape: ints; list, range: in `unit`; dtype: int8, fp16 ...; file: its name."""
    unit: str = ""
    items: tuple["Token", ...] = ()
    """Members of a list or range, as numbers of their own."""
    loose: bool = False
    """A list without brackets: its members may be arguments of their own."""
    either: bool = False
    """A list joined by "or": one of its members is meant."""
    weak: bool = False
    """A single numeral word (两, three): an argument only where a word or unit says of what."""
    other: tuple[float, ...] = ()
    """The same digits as a list: 100,200 is 100200, or 100 and 200."""


def plain(text: str) -> str:
    """Return a text of the same length with full-width signs, digits and dashes made ASCII; ， 、 。 stay."""
    return text.translate(_WIDE)


def lowered(text: str) -> str:
    """Return a plain text of the same length with ASCII letters in lower case."""
    return plain(text).translate(_LOWER)
