"""Checks of accuracy: two tensors against each other, a layer by the vendor's procedure, a metric before and after."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assistant.checks.arrays import read_array
from simcore import metrics
from simcore.errors import BadArgument

__all__ = ["compare_lists", "layer_verdict", "retention"]

Values = tuple[float, ...] | None


def compare_lists(
    mine: Values, golden: Values, mine_file: Path | None, golden_file: Path | None, dtype: str
) -> Mapping[str, Any]:
    """Return the metrics of mine against golden, and whether the vendor's limits are met."""
    a, b = _array("mine", mine, mine_file, dtype), _array("golden", golden, golden_file, dtype)
    if a.shape != b.shape:
        raise BadArgument(f"mine has shape {a.shape}, golden {b.shape}; compare tensors of the same shape.")
    found = metrics.compare(a, b)
    judged = metrics.verdict(found)
    broken = [name for name, good in judged.items() if not good]
    fp16 = a.dtype == np.float16
    return {
        "cosine_similarity": found.cosine_similarity,
        "max_absolute_error": found.max_absolute_error,
        "accumulated_relative_error": found.accumulated_relative_error,
        "relative_euclidean_distance": found.relative_euclidean_distance,
        "kullback_leibler_divergence": found.kullback_leibler_divergence,
        "mean_absolute_error": found.mean_absolute_error,
        "root_mean_square_error": found.root_mean_square_error,
        "max_relative_error": found.max_relative_error,
        "mean_relative_error": found.mean_relative_error,
        "mean": list(found.mean),
        "standard_deviation": list(found.standard_deviation),
        "mean_square_error": found.mean_square_error,
        "sqnr": found.sqnr,
        "worst": found.worst,
        "count": found.count,
        "non_finite": list(found.non_finite),
        "overflow": ("yes" if metrics.overflows(a) else "no") if fp16 else "unchecked",
        "verdict": "not_finite" if any(found.non_finite) else "outside" if broken else "within",
        "outside": broken,
    }


def layer_verdict(difference: float, quantized: bool, aligned: bool, threshold: float) -> Mapping[str, Any]:
    """Return what the MagicMind procedure does next about the difference of one layer."""
    above = difference > threshold
    if not above:
        step = "raise_precision"
    elif quantized and not aligned:
        step = "align_settings"
    else:
        step = "quantized_operator" if quantized else "operator"
    return {"above": above, "next": step, "ratio": difference / threshold}


def retention(quantized: tuple[float, ...], reference: tuple[float, ...], criterion: float) -> Mapping[str, Any]:
    """Return how much of each float metric the quantized model keeps."""
    if len(quantized) != len(reference):
        raise BadArgument(f"quantized has {len(quantized)} metrics, reference {len(reference)}; give pairs.")
    if any(not value > 0 for value in reference):
        raise BadArgument("reference: a float metric that is not above 0 has no retention.")
    kept = [q / f for q, f in zip(quantized, reference, strict=True)]
    passes = [k >= criterion for k in kept]
    return {
        "retention": kept,
        "drop": [f - q for q, f in zip(quantized, reference, strict=True)],
        "drop_percent": [100 * (1 - k) for k in kept],
        "passes": passes,
        "worst": min(kept),
        "verdict": "reached" if all(passes) else "missed",
    }


def _array(name: str, values: Values, path: Path | None, dtype: str) -> NDArray[Any]:
    if (values is None) == (path is None):
        raise BadArgument(f"{name}: give either the list {name} or the file {name}_file.")
    if path is not None:
        return read_array(path, dtype)
    exact = np.asarray(values, np.float64)
    if dtype != "float16":
        return exact
    # Rounded to the type it is said to have; beyond its range this gives inf, which the comparison reports.
    with np.errstate(over="ignore"):
        return exact.astype(np.float16)
