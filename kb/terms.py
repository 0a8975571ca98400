"""Words of a text as the index sees them: normalised, stemmed English, Chinese character bigrams, whole identifiers.

Character bigrams search Chinese as well as a segmenter once fused with vectors, and need no dictionary at start.
"""

import re
import tomllib
import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from kb.types import Lang

if TYPE_CHECKING:
    import Stemmer

TOKENIZER = 1
"""Raised whenever the same text would give other tokens."""

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"

_TOKEN = re.compile(rf"[{CJK}]+|[A-Za-z0-9]+(?:[_.][A-Za-z0-9]+)*")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")
_CJK_CHARACTERS = re.compile(rf"[{CJK}]+")
_KEPT = "昇"
"""Part of a product name (昇腾) that the converter would take for a traditional character."""
_UNIT = re.compile(r"(\d+(?:\.\d+)?)([a-z]{1,5})")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


@lru_cache(1 << 15)
def clean(text: str) -> str:
    """Return the text in one writing: NFKC, simplified Chinese, no control characters, single spaces; case is kept."""
    normal = unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode("utf-8"))
    plain = re.sub(r"\s+", " ", _CONTROL.sub(" ", normal)).strip()
    return _simplified(plain)


def language(text: str) -> Lang:
    """Return the language of a text: Chinese if more than 15 % of its word characters are Chinese."""
    word_characters = re.findall(rf"[{CJK}A-Za-z]", text)
    chinese = sum(character > "z" for character in word_characters)
    return "zh" if word_characters and chinese / len(word_characters) > 0.15 else "en"


def tokens(text: str, *, keep_stop_words: bool = False) -> list[str]:
    """Return the index tokens of a text in order, repetitions kept.

    `input_fp16_nodes` gives itself and its parts, `AveragePool` gives `averagepool`, `averag`, `pool`, `64MHz` gives
    itself, `64` and `mhz`; English words are stemmed (Snowball English); Chinese runs give bigrams.
    """
    found: list[str] = []
    for match in _TOKEN.finditer(clean(text)):
        piece = match[0]
        if piece[0] > "z":
            found.extend(_chinese(piece, keep_stop_words))
        else:
            found.extend(_latin(piece, keep_stop_words))
    return found


def words(text: str) -> list[str]:
    """Return the lower-case Latin words of a text without stemming, for spelling correction."""
    found: list[str] = []
    for match in _TOKEN.finditer(clean(text)):
        if match[0][0] <= "z":
            found.extend(_alphabetic_parts(match[0].lower()))
    return found


@lru_cache(1 << 16)
def _alphabetic_parts(piece: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[_.]", piece) if part.isalpha())


def _chinese(run: str, keep_stop_words: bool) -> list[str]:
    parts = [run] if keep_stop_words else [part for part in _stop_zh().split(run) if part]
    found: list[str] = []
    for part in parts:
        if len(part) == 1:
            found.append(part)
        found.extend(part[i : i + 2] for i in range(len(part) - 1))
    return found


@lru_cache(1 << 16)
def _latin(piece: str, keep_stop_words: bool) -> tuple[str, ...]:
    lower = piece.lower()
    parts = re.split(r"[_.]", piece)
    found: list[str] = []
    if len(parts) > 1:
        found.append(lower)
    for part in parts if not re.fullmatch(r"[\d.]+", piece) else []:
        whole = part.lower()
        if whole in _stop_en() and not keep_stop_words:
            continue
        found.append(_stem(whole))
        humps = _HUMP.findall(part)
        unit = _UNIT.fullmatch(whole)
        if unit:
            found.extend(unit.groups())
        elif len(humps) > 1 and not any(hump.isdigit() for hump in humps):
            found.extend(_stem(hump.lower()) for hump in humps if len(hump) > 1)
    return tuple(found) or ((lower,) if lower not in _stop_en() or keep_stop_words else ())


@cache
def _stop_words() -> dict[str, list[str]]:
    return tomllib.loads(Path(__file__).with_name("stop_words.toml").read_text("utf-8"))


@cache
def _stop_en() -> frozenset[str]:
    return frozenset(_stop_words()["en"])


@cache
def _stop_zh() -> re.Pattern[str]:
    return re.compile("|".join(sorted(_stop_words()["zh"], key=len, reverse=True)))


def _stem(word: str) -> str:
    if not word.isalpha() or len(word) < 4:
        return word
    return _stem_word(word)


@cache
def _stem_word(word: str) -> str:
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> "Stemmer.Stemmer":
    import Stemmer

    return Stemmer.Stemmer("english")


def fingerprint() -> str:
    """Return what tokens depend on; part of the index fingerprint."""
    import Stemmer

    return f"{TOKENIZER}-{Stemmer.version()}"


def _simplified(text: str) -> str:
    """Return the text in simplified Chinese; only text with characters outside GB2312 needs the converter."""
    try:
        "".join(_CJK_CHARACTERS.findall(text)).encode("gb2312")
    except UnicodeEncodeError:
        return _KEPT.join(str(_converter().convert(part)) for part in text.split(_KEPT))
    return text


@cache
def _converter() -> "opencc.OpenCC":  # type: ignore[name-defined]  # noqa: F821
    import opencc

    return opencc.OpenCC("tw2sp")


def phrase_key(text: str) -> str:
    """Return a text reduced to its letters, for comparing phrasings: equal keys are the same question."""
    return re.sub(rf"[^{CJK}a-z0-9]", "", clean(text).lower())
