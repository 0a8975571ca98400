"""Join the ranked lists of several channels into one, by a weighted sum of min-max normalised scores.

Reciprocal rank fusion was measured to be worse wherever one channel is much weaker than another, as word search is for
questions in the other language.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Scores = Mapping[str, float]
"""Entry id -> the channel's score of the entry."""

POOL_BEST = 3
"""Passages of an entry that speak for it."""
DEPTH = 100
"""Entries per channel that are scaled against each other; those behind count nothing."""


def pool(owners: NDArray[np.int_], scores: NDArray[np.floating], names: Sequence[str]) -> dict[str, float]:
    """Return each entry's mean score over its best `POOL_BEST` passages, best entry first; ties by position.

    An entry that several passages speak for is a better guess than one with a single lucky passage. A passage that was
    not found counts as the worst one that was.

    Args:
        owners: entry position of each found passage, int [n].
        scores: score of each found passage, [n].
        names: entry ids by position.
    """
    if not len(owners):
        return {}
    order = np.lexsort((-scores, owners))
    owner, score = owners[order], scores[order].astype(np.float64)
    starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    counts = np.diff(np.r_[starts, len(owner)])
    place = np.arange(len(owner)) - np.repeat(starts, counts)
    sums = np.add.reduceat(np.where(place < POOL_BEST, score, 0.0), starts)
    means = (sums + score.min() * np.maximum(0, POOL_BEST - counts)) / POOL_BEST
    return {names[owner[starts[i]]]: float(means[i]) for i in np.argsort(-means, kind="stable")}


def min_max(scores: Scores) -> dict[str, float]:
    """Return the best `DEPTH` scores scaled to [0, 1]; equal scores all become 1."""
    if not scores:
        return {}
    scores = dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:DEPTH])
    low, high = min(scores.values()), max(scores.values())
    width = high - low
    return {key: (score - low) / width if width > 0 else 1.0 for key, score in scores.items()}


def fuse(channels: Mapping[str, Scores], weights: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return (entry id, fused score in [0, 1]), best first; ties by id.

    score = sum over channels of weight * min_max(score) / sum of the weights of the channels that found anything.
    """
    present = {name: min_max(scores) for name, scores in channels.items() if scores}
    total = sum(weights[name] for name in present)
    fused: dict[str, float] = {}
    for name, scores in present.items():
        for key, score in scores.items():
            fused[key] = fused.get(key, 0.0) + weights[name] * score / total
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))
