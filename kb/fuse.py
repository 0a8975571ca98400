"""Join the ranked lists of several channels into one, by a weighted sum of min-max normalised scores.

Reciprocal rank fusion was measured to be worse wherever one channel is much weaker than another, as word search is for
questions in the other language.
"""

from collections.abc import Mapping, Sequence

Scores = Mapping[str, float]
"""Entry id -> the channel's score of its best passage."""


def best_per_entry(found: Sequence[tuple[int, float]], owners: Sequence[str]) -> dict[str, float]:
    """Return each entry's best passage score, best first; `owners` maps passage id to entry id."""
    best: dict[str, float] = {}
    for passage, score in sorted(found, key=lambda item: (-item[1], item[0])):
        best.setdefault(owners[passage], score)
    return best


def min_max(scores: Scores) -> dict[str, float]:
    """Return scores scaled to [0, 1]; equal scores all become 1."""
    if not scores:
        return {}
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
