"""Typing errors in Latin words: a word the corpus does not have, one slip away from one that it has."""

import re
from collections.abc import Callable, Mapping

from kb import terms
from kb.store import Store

MIN_LENGTH = 5
"""Shorter words have too many neighbours."""
LONG = 8
"""From this length on two slips are forgiven."""


def corrections(text: str, store: Store, is_name: Callable[[str], bool]) -> dict[str, str]:
    """Return words of a question as typed -> the corpus's word, for those that look like typing errors.

    A stop word (which, would) is in no index, and is no typing error.

    Args:
        text: the cleaned question.
        store: the index.
        is_name: whether a word is a standard name, which is never a typing error.
    """
    typed = [word for word in dict.fromkeys(terms.words(text)) if len(word) >= MIN_LENGTH and terms.tokens(word)]
    stems = {word: terms.tokens(word, keep_stop_words=True)[0] for word in typed}
    counts = store.document_frequencies(stems.values())
    doubtful = [word for word in typed if not counts[stems[word]] and not is_name(word)]
    if not doubtful:
        return {}
    known = store.words()
    return {word: nearest for word in doubtful if (nearest := _nearest(word, known))}


def replace(text: str, found: Mapping[str, str]) -> str:
    """Return the text with the corrections made, whatever the case of the typed words."""
    if not found:
        return text
    pattern = re.compile(r"(?<![A-Za-z])(" + "|".join(map(re.escape, found)) + r")(?![A-Za-z])", re.IGNORECASE)
    return pattern.sub(lambda match: found[match[0].lower()], text)


def _nearest(word: str, known: list[str]) -> str | None:
    """Return the known word within the allowed slips (optimal string alignment) that starts with the same letter."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    slips = 1 if len(word) < LONG else 2
    candidates = [
        other
        for other in known
        if other[0] == word[0] and len(other) >= MIN_LENGTH - 1 and abs(len(other) - len(word)) <= slips
    ]
    match = process.extractOne(word, candidates, scorer=OSA.distance, score_cutoff=slips)
    return str(match[0]) if match else None
