"""Join the ranked lists of several channels into one, by a weighted sum of min-max normalised scores.

Reciprocal rank fusion was measured to be worse wherever one channel is much weaker than another, as word search is for
questions in the other language.
"""

from collections.abc import Iterable, Mapping

Scores = Mapping[str, float]
"""Entry id -> the channel's score of the entry."""

POOL_BEST = 3
"""Passages of an entry that speak for it."""
DEPTH = 100
"""Entries per channel that are scaled against each other; those behind count nothing."""


def pool(found: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return each entry's mean score over its best `POOL_BEST` passages, best entry first; ties by id.

    An entry that several passages speak for is a better guess than one with a single lucky passage. A passage that was
    not found counts as the worst one that was.

    Args:
        found: (entry id, score) for each found passage.
    """
    scores: dict[str, list[float]] = {}
    for key, score in found:
        scores.setdefault(key, []).append(score)
    worst = min((min(values) for values in scores.values()), default=0.0)
    means = {}
    for key, values in scores.items():
        best = sorted(values, reverse=True)[:POOL_BEST]
        means[key] = (sum(best) + worst * (POOL_BEST - len(best))) / POOL_BEST
    return dict(sorted(means.items(), key=lambda item: (-item[1], item[0])))


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
