"""The sentences of the window in both languages."""

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kb.types import Lang

__all__ = ["Words", "explained", "language_of", "words"]

Words = Callable[..., str]
"""Key of a sentence, values for its blanks -> the sentence."""


@cache
def _table(area: str, lang: "Lang") -> dict[str, str]:
    path = Path(__file__).with_name("texts") / f"{area}.{lang}.toml"
    return {name: str(text) for name, text in tomllib.loads(path.read_text("utf-8")).items()}


def words(area: str, lang: "Lang") -> Words:
    """Return the sentences of an area; a sentence that an area lacks is the window's."""

    def say(key: str, /, **values: object) -> str:
        table = _table(area, lang)
        text = table[key] if key in table else _table("window", lang)[key]
        return text.format(**values) if values else text

    return say


def explained(reason: str, say: Words) -> str:
    """Return why something did not work, an English sentence of the program, in the language of the sentences."""
    from assistant.reasons import shown

    return shown(reason, language_of(say))


def language_of(say: Words) -> "Lang":
    """Return the language that sentences are in."""
    return "zh" if say("this_language") == "zh" else "en"
