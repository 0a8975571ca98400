"""What is wrong with a value, as one sentence in the language of the window.

The parser of the command line decides; its reason is translated, and what is expected follows from the parameter.
"""

import re
from pathlib import Path
from typing import Final

from assistant.checks.types import REQUIRED, Check, Parameter
from assistant.checks.values import value_of
from assistant.errors import BadInput
from assistant.reasons import in_language, shown
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["is_needed", "limits", "refused", "wrong"]

#: Reasons of the parser -> key of the sentence.
_REASONS: Final = {
    "is neither true nor false": "bad_flag",
    "is no number": "bad_number",
    "is not a number": "bad_number",
    "is no whole number": "bad_whole",
    "is too small": "bad_small",
    "is too large": "bad_large",
    "is not one of the choices": "bad_choice",
    "is no list": "bad_list",
    "is no file name": "bad_file_name",
    "is no such file": "bad_file",
}


def is_needed(parameter: Parameter) -> bool:
    """Return whether a check cannot run without it."""
    return parameter.default is REQUIRED


def wrong(parameter: Parameter, text: str, say: Words, lang: Lang) -> str:
    """Return what is wrong with the text of a field, "" if nothing is."""
    if not text.strip():
        return say("bad_missing", example=parameter.example) if is_needed(parameter) else ""
    try:
        value_of(parameter, text)
    except BadInput as error:
        return _sentence(parameter, error, text, say, lang)
    except OSError as error:
        return say("bad_other", reason=shown(error.strerror or str(error), lang))
    return ""


def _sentence(parameter: Parameter, error: BadInput, text: str, say: Words, lang: Lang) -> str:
    reason = str(error.__context__) if error.__context__ is not None else ""
    if reason.startswith("has "):
        return say("bad_count", most=parameter.most, found=reason.split()[1])
    if reason.startswith("is longer"):
        return say("bad_long", reason=shown(reason, lang))
    key = _REASONS.get(reason)
    if key is None:
        return say("bad_other", reason=shown(reason or str(error), lang))
    told = say(key, limits=limits(parameter, say), example=parameter.example, name=Path(text).name)
    return told.strip()


def refused(check: Check, reason: str, say: Words, lang: Lang) -> str:
    """Return why a check refuses values that are each in range; in words that are not known in a language, the ranges.

    Args:
        check: the check.
        reason: what it says, an English sentence.
        say: the sentences of the area.
        lang: the language.
    """
    known = in_language(reason, lang)
    if known is not None:
        return say("refused", reason=known)
    ranged = [p for p in check.parameters if limits(p, say)]
    named = [p for p in ranged if re.search(rf"\b{re.escape(p.name)}\b", reason)] or ranged
    told = [f"{p.zh if lang == 'zh' else p.en} ({p.name}) {limits(p, say)}" for p in named]
    return say("refused_ranges", ranges=say("and").join(told) or "-", reason=reason)


def limits(parameter: Parameter, say: Words) -> str:
    """Return the range of a number in words, "" if it has none."""
    low, high = parameter.low, parameter.high
    if low is not None and high is not None:
        return say("between", low=_short(low), high=_short(high))
    if low is not None:
        return say("at_least", low=_short(low))
    return say("at_most", high=_short(high)) if high is not None else ""


def _short(value: float) -> str:
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    if value == int(value) and abs(value) < 1e13 and len(f"{value:g}") > 8:
        return f"{int(value):,}"
    return f"{value:g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
