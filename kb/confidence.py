"""How sure is the best hit? Logistic regression over search features, calibrated on gold questions.

Raw cosines and fused scores are high for nonsense, too; the features here compare them with what the words say. The
weights are data (`confidence.toml`), one model for each set of channels that may be available, so that a missing
encoder changes the model, not the meaning of the number.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb import corpus
from kb.errors import CorpusError

FEATURES: Mapping[str, tuple[str, ...]] = {
    "hybrid": (
        "dense_top", "dense_hit", "use_top", "use_hit", "coverage", "phrase", "unknown_mass", "margin", "dense_margin",
        "agreement", "length",
    ),
    "use": ("use_top", "use_hit", "coverage", "phrase", "unknown_mass", "margin", "length"),
    "lexical": ("coverage", "phrase", "unknown_mass", "margin", "length"),
}  # fmt: skip
"""Model name -> its features, in the order of its weights."""

UNCALIBRATED_THRESHOLD = 0.7


@dataclass(frozen=True, slots=True)
class Model:
    """Logistic regression: p = 1 / (1 + exp(-(bias + sum(weights * (x - mean) / scale))))."""

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    bias: float
    threshold: float
    """Probability from which an answer is given."""
    dense: str
    """Key of the dense encoder it was calibrated with, or ''."""

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the probability, 0 to 1, that the best hit answers the question."""
        z = self.bias + sum(
            weight * (features[name] - mean) / scale
            for name, mean, scale, weight in zip(self.features, self.mean, self.scale, self.weights, strict=True)
        )
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, z))))


def load(path: str, data: bytes) -> dict[str, Model]:
    """Read `confidence.toml`: a table `[models.NAME]` per model. Empty data gives no models.

    Raises:
        CorpusError: not TOML, or a model with missing or unequal lists.
    """
    models: dict[str, Model] = {}
    tables = corpus.toml(path, data).get("models", {})
    if not isinstance(tables, dict):
        raise CorpusError(f"{path}:1: 'models' must be a table")
    for name, table in tables.items():
        try:
            model = Model(
                tuple(table["features"]), tuple(table["mean"]), tuple(table["scale"]), tuple(table["weights"]),
                float(table["bias"]), float(table["threshold"]), str(table["dense"]),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            raise CorpusError(f"{path}:1: model {name!r} is incomplete: {error}") from None
        if len({len(model.features), len(model.mean), len(model.scale), len(model.weights)}) != 1:
            raise CorpusError(f"{path}:1: model {name!r} has lists of different lengths")
        models[name] = model
    return models


def choose(models: Mapping[str, Model], features: Mapping[str, float], dense: str) -> Model | None:
    """Return the best model for the available features and dense encoder, or None if there is none."""
    for name in ("hybrid", "use", "lexical"):
        model = models.get(name)
        if model and set(model.features) <= set(features) and model.dense in ("", dense):
            return model
    return None


def fit(
    name: str,
    rows: Sequence[Mapping[str, float]],
    labels: Sequence[bool],
    *,
    dense: str,
    keep: float,
    ridge: float = 1.0,
) -> Model:
    """Return a model fitted by iteratively reweighted least squares with a ridge penalty on standardised features.

    Args:
        name: key of `FEATURES`.
        rows: features of each question.
        labels: whether the best hit answers it; both classes must occur.
        dense: key of the dense encoder, for the hybrid model.
        keep: share of the answerable questions that must stay above the threshold.
        ridge: weight of the penalty.
    """
    names = FEATURES[name]
    x = np.array([[row[feature] for feature in names] for row in rows], np.float64)
    y = np.array(labels, np.float64)
    mean, scale = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
    design = np.hstack([(x - mean) / scale, np.ones((len(x), 1))])
    weights = _logistic(design, y, ridge)
    probabilities = 1 / (1 + np.exp(-np.clip(design @ weights, -60, 60)))
    threshold = float(np.quantile(probabilities[y == 1], 1 - keep))
    return Model(
        names, tuple(mean.tolist()), tuple(scale.tolist()), tuple(weights[:-1].tolist()), float(weights[-1]), threshold,
        dense if name == "hybrid" else "",
    )  # fmt: skip


def _logistic(design: NDArray[np.float64], y: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """Newton's method for ridge logistic regression; classes weigh the same; the last column is the bias."""
    sample_weight = np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    penalty = np.full(design.shape[1], ridge)
    penalty[-1] = 0.0
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(design @ weights, -60, 60)))
        gradient = design.T @ (sample_weight * (p - y)) + penalty * weights
        hessian = (design * (sample_weight * p * (1 - p))[:, None]).T @ design + np.diag(penalty + 1e-9)
        step = np.linalg.solve(hessian, gradient)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def to_toml(models: Mapping[str, Model], header: str) -> str:
    """Return models as TOML text that `load` reads back; `header` becomes comment lines."""
    lines = [*(f"# {line}".rstrip() for line in header.splitlines()), ""]
    for name, model in models.items():
        lines += [
            f"[models.{name}]",
            f'dense = "{model.dense}"',
            f"threshold = {model.threshold:.6f}",
            f"bias = {model.bias:.6f}",
            f"features = [{', '.join(repr(f).replace(chr(39), chr(34)) for f in model.features)}]",
        ]
        for key in ("mean", "scale", "weights"):
            lines.append(f"{key} = [{', '.join(f'{value:.6f}' for value in getattr(model, key))}]")
        lines.append("")
    return "\n".join(lines)
