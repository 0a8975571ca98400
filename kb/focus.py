"""Choose the parts of a long answer that matter for one question."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kb import terms
from kb.types import Block

LONG_CHARACTERS = {"zh": 420, "en": 900}
"""A longer answer is shown by its parts."""

_MAX_ROWS = 6
_MAX_BLOCKS = 3
_SYNONYM_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class _Scored:
    position: int
    block: Block
    score: float


def focus(
    pieces: Sequence[Block], lang: str, tokens: Sequence[str], synonyms: Collection[str], title_tokens: Collection[str]
) -> tuple[Block, ...]:
    """Return the parts that matter, in the order of the text; empty if the whole answer is short enough.

    The first paragraph is the answer and always stays. Of a table, the rows stay that hold what the question asks for
    and other rows do not; without such a row the table is one part like any other.

    Args:
        pieces: the answer's blocks.
        lang: its language.
        tokens: index tokens of the question.
        synonyms: tokens that the glossary adds to them.
        title_tokens: index tokens of the entry's title, which tell nothing about its parts.
    """
    is_long = sum(len(piece.index_text) for piece in pieces) > LONG_CHARACTERS[lang]
    if not pieces or not (is_long or _has_table(pieces)):
        return ()
    scored = _score(pieces, tokens, synonyms, title_tokens)
    rows = _chosen_rows([item for item in scored if item.block.is_row])
    texts = [item for item in scored[1:] if not item.block.is_row and item.score > 0]
    best = max((item.score for item in texts), default=0.0)
    chosen = sorted((item for item in texts if item.score >= 0.5 * best), key=lambda item: -item.score)
    if not rows and not is_long:
        return ()
    kept = {0: pieces[0]} | {item.position: item.block for item in rows}
    kept |= {item.position: item.block for item in chosen[: _MAX_BLOCKS - bool(rows)]}
    return tuple(kept[position] for position in sorted(kept))


def _has_table(pieces: Sequence[Block]) -> bool:
    return sum(piece.is_row for piece in pieces) > 3


def _score(
    pieces: Sequence[Block], tokens: Sequence[str], synonyms: Collection[str], title_tokens: Collection[str]
) -> list[_Scored]:
    """Score blocks by the question's tokens in them; a token in fewer blocks weighs more."""
    contents = [set(terms.tokens(piece.index_text)) for piece in pieces]
    weights = dict.fromkeys(synonyms, _SYNONYM_WEIGHT) | dict.fromkeys(tokens, 1.0)
    found = []
    for position, (piece, content) in enumerate(zip(pieces, contents, strict=True)):
        score = 0.0
        for token, weight in weights.items():
            if token in content:
                holders = sum(token in other for other in contents)
                title = 0.3 if token in title_tokens else 1.0
                score += weight * title * math.log(1 + len(pieces) / holders)
        found.append(_Scored(position, piece, score))
    return found


def _chosen_rows(rows: Sequence[_Scored]) -> list[_Scored]:
    """Return the rows that stand out, or none: either few rows score best, or the question is about the whole table."""
    best = max((row.score for row in rows), default=0.0)
    if best <= 0:
        return []
    chosen = [row for row in rows if row.score >= 0.75 * best]
    return chosen if len(chosen) <= min(_MAX_ROWS, max(1, len(rows) // 2)) else []
