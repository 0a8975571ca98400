"""The language of the user, before anybody says another one."""

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kb.types import Lang

__all__ = ["default_language", "has_language", "language_of"]

#: English words, not names: a name has a capital inside, a digit, a hyphen or an underscore.
_WORDS = re.compile(r"(?<![\w-])[A-Za-z]?[a-z]+(?![\w-])")
#: Lines of a log look like this, unless somebody asks in them.
_LOG = re.compile(r"(?i)\b(?:errors?|errno|fail(?:ed|ure)?|fatal|invalid|exception|warning|ret)\b|[\[\]]")
_ASKS = re.compile(
    r"(?i)\?|\b(?:what|how|why)\b|^\W*(?:which|where|when|who|do|does|did|is|are|can|could|should|will|would|has|have)\b"
)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def default_language() -> "Lang":
    """Return the language of the user's locale: Chinese or else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def language_of(arguments: Sequence[str]) -> "Lang":
    """Return the language that the arguments of a command ask for; else the user's."""
    for word, following in zip(arguments, [*arguments[1:], ""], strict=False):
        value = following if word == "--lang" else word.partition("=")[2] if word.startswith("--lang=") else ""
        if value in ("zh", "en"):
            return "zh" if value == "zh" else "en"
    return default_language()


def has_language(question: str) -> bool:
    """Return whether a question tells by its words in which language to answer: codes, names, lines of a log do not."""
    from kb.terms import language

    if language(question) == "zh":
        return True
    # A little Chinese among names is no English, and neither is a log.
    is_log = "\n" in question or (_LOG.search(question) and not _ASKS.search(question))
    return not (is_log or _CHINESE.search(question)) and len(_WORDS.findall(question)) > 1
