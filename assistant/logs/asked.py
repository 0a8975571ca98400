"""What a question brings along: error codes, and lines of a log."""

import re
from dataclasses import replace

from assistant.logs.codes import find_codes
from assistant.logs.decode import lines
from assistant.logs.grammars import TEXT
from assistant.logs.records import head
from assistant.logs.table import table
from assistant.logs.types import Brought, Explained

__all__ = ["brought"]

#: So many codes of a question are explained.
CODES_MOST = 6
#: A pasted log has at least so many lines, or a line with the head of a log.
_LINES_LEAST = 3
#: A question of so many characters may name a code by its number alone.
_SHORT = 80
_DIGITS_LEAST = 5
_NUMBER = re.compile(r"(?<![\w.-])[0-9]+(?![A-Za-z0-9_.]*[0-9])(?![A-Za-z_%])")
#: Grammars that plain prose can look like.
_LOOSE = frozenset({TEXT, "level", "python-logging", "nano-runtime"})


def brought(question: str, platforms: frozenset[str]) -> Brought:
    """Return the codes in a question with their meanings, and what the pasted lines of a log show.

    Args:
        question: as typed or pasted.
        platforms: that the question is about; empty if it does not say. A code that several platforms use is told for
            these, else for all.
    """
    known = table()
    found = list(dict.fromkeys(one.code for one in find_codes(question))) or _bare(question)
    codes = [Explained(code, known.told(code, platforms)) for code in found]
    explained = tuple(one for one in codes if one.meanings)[:CODES_MOST]
    if not _is_log(question):
        return Brought(explained, None)
    from assistant.logs.diagnose import diagnose

    diagnosis = diagnose(question.encode())
    if diagnosis.verdict == "clean":
        return Brought(explained, None)
    return Brought(explained, replace(diagnosis, unknown=diagnosis.unknown[:CODES_MOST]))


def _bare(question: str) -> list[str]:
    """Return the only number of a short question, if it has five digits or more."""
    numbers = _NUMBER.findall(question) if len(question) <= _SHORT else []
    return [one for one in numbers if len(one) >= _DIGITS_LEAST] if len(numbers) == 1 else []


def _is_log(question: str) -> bool:
    """Return whether lines of a log are in a question: one with the head of a log, or several that might be some."""
    given = [line.text for line in lines(question.encode()) if line.text.strip()]
    heads = [head(text)[0].name for text in given]
    return any(name not in _LOOSE for name in heads) or (len(given) >= _LINES_LEAST and any(h != TEXT for h in heads))
