"""Why something cannot be computed, in the language of the reader.

simcore and the checks give a reason as an English sentence. `reasons.zh.toml` has these sentences with blanks; what
stands in the blanks (names, sizes) is taken over as it is.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from kb.types import Lang

__all__ = ["in_language", "in_words", "shown"]

#: Longer texts are not looked up: what a model puts into its names must not cost time.
_MOST: Final = 2000
#: Places in front of a reason, reasons joined, one inside the other; and where a text is cut for each.
_DEPTH: Final = 3
_CUTS: Final = 8
_BLANK: Final = re.compile(r"\{(\w+)\}")
_INPUTS: Final = re.compile(r"(.+) \(inputs: (.*)\)", re.DOTALL)

#: Blanks whose words are in a section of their own.
_PARTS: Final = {"expected": "parameters", "sort": "parameters", "by": "channels"}
_NOT_SENTENCES: Final = frozenset({"unknown", "places", *_PARTS.values()})

_Sentence = tuple[tuple[str, ...], str, str]
"""(what stands between the blanks, the sentence as a regular expression, the Chinese one)."""


def in_language(reason: str, lang: Lang) -> str | None:
    """Return a reason in a language; None if it is not known there.

    Args:
        reason: an English sentence, perhaps with a place in front (`node 'conv' (Conv): ...`), perhaps several joined
            by "; ".
        lang: the language.
    """
    return reason if lang == "en" else _chinese(reason.strip(), _DEPTH)


def shown(reason: str, lang: Lang) -> str:
    """Return a reason in a language; where it is not known there, as it is, introduced by words of the language."""
    known = in_language(reason, lang)
    return str(_table()["unknown"]).format(reason=reason) if known is None else known


def in_words(text: str, lang: Lang) -> str:
    """Return what is a reason or a finding in a language, or else a plain value, as it is."""
    return in_language(text, lang) or text


@lru_cache(maxsize=512)
def _chinese(text: str, depth: int) -> str | None:
    if not text or len(text) > _MOST or depth == 0:
        return None
    found = _filled(text.rstrip("."), _sentences())
    if found is not None:
        return found
    given = _INPUTS.fullmatch(text)
    if given is not None and (told := _chinese(given[1], depth - 1)) is not None:
        return f"{told}（输入：{given[2]}）"
    # A place holds names, which may hold anything: the reason is what stands behind the last ": " that gives one.
    for cut in [match.start() for match in re.finditer(": ", text)][-_CUTS:]:
        if (told := _chinese(text[cut + 2 :], depth - 1)) is not None:
            return f"{_place(text[:cut])}：{told}"
    for cut in [match.start() for match in re.finditer("; ", text)][:_CUTS]:
        first = _filled(text[:cut], _sentences())
        if first is not None and (rest := _chinese(text[cut + 2 :], depth - 1)) is not None:
            return f"{first}；{rest}"
    return None


def _place(text: str) -> str:
    places = _section("places")
    found = _filled(text, places)
    if found is not None:
        return found
    outer, colon, inner = text.partition(": ")
    return f"{_filled(outer, places) or outer}：{_filled(inner, places) or inner}" if colon else text


def _filled(text: str, sentences: tuple[_Sentence, ...]) -> str | None:
    """Return the Chinese of the first sentence that a text is, its blanks filled."""
    for pieces, pattern, chinese in sentences:
        if all(piece in text for piece in pieces) and (match := re.fullmatch(pattern, text, re.DOTALL)) is not None:
            blanks = {name: _blank(name, value) for name, value in match.groupdict().items()}
            if None not in blanks.values():
                return chinese.format_map(blanks)
    return None


def _blank(name: str, value: str) -> str | None:
    """Return what stands in a blank, in Chinese where it is words of ours; None if it should be and is not known."""
    if name in _PARTS:
        return _filled(value, _section(_PARTS[name]))
    told = _chinese(value, _DEPTH - 1) if name in ("error", "problem") else value
    # An error may be what another program says; a problem is always told by this one.
    return value if told is None and name == "error" else told


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("reasons.zh.toml").read_text("utf-8"))


@cache
def _sentences() -> tuple[_Sentence, ...]:
    sections = (section for name, section in _table().items() if name not in _NOT_SENTENCES)
    return _prepared({english: chinese for section in sections for english, chinese in section.items()})


@cache
def _section(name: str) -> tuple[_Sentence, ...]:
    return _prepared(_table()[name])


def _prepared(rows: Mapping[str, str]) -> tuple[_Sentence, ...]:
    """Return the sentences, those first that say most outside of their blanks."""
    found = []
    for english, chinese in rows.items():
        parts = _BLANK.split(english.rstrip("."))
        # A blank in front holds no place: that is told in words of its own.
        begin = "(?:(?!: ).)+?" if not parts[0] else ".+?"
        blanks = (f"(?P<{name}>{'.+?' if i else begin})" for i, name in enumerate(parts[1::2]))
        pattern = "".join(re.escape(piece) + next(blanks, "") for piece in parts[::2])
        found.append((tuple(part for part in parts[::2] if part), pattern, chinese))
    return tuple(sorted(found, key=lambda one: -sum(map(len, one[0]))))
