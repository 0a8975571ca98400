"""How far one tensor is from another: cosine, errors, SQNR and the metrics of msaccucmp, with the vendors' limits.

Names and rules are those of msaccucmp (Ascend precision tool), so that its tables can be reproduced:

    cosine_similarity            sum(a b) / (|a| |b|); 1 if both are zero, NaN if one is
    max_absolute_error           max |a - b|
    accumulated_relative_error   sum |a / b - 1| over the elements with |b| > EPSILON; the others count 0
    relative_euclidean_distance  |a - b| / |b|; 0 if b is zero
    kullback_leibler_divergence  each tensor mapped to [0, 1] by its own minimum and maximum, floored at FLOOR, divided
                                 by its sum; then sum(p log(p / q)), natural logarithm, below EPSILON counts as 0
    standard_deviation           mean and standard deviation (over n) of both tensors, side by side
    mean_absolute_error          mean |a - b|
    root_mean_square_error       sqrt(mean (a - b)^2)
    max_relative_error           max |a / b - 1|, mean_relative_error its mean; elements as in the accumulated one

with a for mine and b for the golden tensor. Sums run in float64 over blocks, in one fixed order; msaccucmp converts to
float32 first, so its printed digits end earlier. |a / b - 1| is computed as |a - b| / |b|, which loses no digits.
Two more that msaccucmp has not: mean_square_error, and sqnr = 10 log10(sum b^2 / sum (a - b)^2) in dB.

Sources: Ascend/msprobe, python/msprobe/msaccucmp/algorithm_manager/builtin_algorithm and overflow/overflow_detection
(commit e05ee44); limits: msprobe infer_compare_result and msit's analyser; the Nano precision tool guide gives the
first three of them too. Older msaccucmp has no FLOOR and prints inf for a golden tensor with a minimum element.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from simcore.errors import BadArgument

__all__ = ["EPSILON", "LIMITS", "Comparison", "Limit", "compare", "overflows", "verdict"]

EPSILON: Final = float(np.finfo(np.float64).eps)
"""Golden elements and norms up to this count as zero."""
FLOOR: Final = float(np.finfo(np.float32).eps)
"""Least probability before normalization in the Kullback-Leibler divergence."""
FP16_MAX: Final = 65504.0

_BLOCK: Final = 1 << 13  # elements: float64 blocks stay in the cache, and BLAS does not start threads for them

Real = NDArray[np.number[Any] | np.bool_]
Float64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The metrics of one pair of tensors, see the module; all NaN if an element is NaN or inf."""

    count: int
    """Elements of each tensor."""
    non_finite: tuple[int, int]
    """Elements that are NaN or inf, of mine and of golden."""
    cosine_similarity: float
    max_absolute_error: float
    accumulated_relative_error: float
    relative_euclidean_distance: float
    kullback_leibler_divergence: float
    mean_absolute_error: float
    root_mean_square_error: float
    max_relative_error: float
    mean_relative_error: float
    mean: tuple[float, float]
    """Mean of mine and of golden."""
    standard_deviation: tuple[float, float]
    """Standard deviation (divided by n) of mine and of golden."""
    mean_square_error: float
    sqnr: float
    """dB; inf if there is no error, -inf if golden is zero and mine is not."""
    worst: int
    """Flat index of the largest absolute error; -1 if an element is not finite."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A recommended limit of one metric."""

    metric: str
    """A field of Comparison."""
    bound: float
    side: Literal["above", "below"]
    """Acceptable strictly above or strictly below the bound."""


LIMITS: Final[tuple[Limit, ...]] = (
    Limit("cosine_similarity", 0.99, "above"),
    Limit("relative_euclidean_distance", 0.05, "below"),
    Limit("kullback_leibler_divergence", 0.005, "below"),
    Limit("root_mean_square_error", 1.0, "below"),
    Limit("mean_relative_error", 1.0, "below"),
)
"""What msprobe counts as acceptable; the Nano guide recommends the first three. Recommendations, not a proof."""


def compare(mine: Real, golden: Real) -> Comparison:
    """Return the metrics of mine against golden, both of any integer, bool or float dtype and of equal shape.

    Raises:
        BadArgument: Shapes that differ, no elements, another dtype, or finite values whose squares leave float64.
    """
    if mine.shape != golden.shape or mine.size == 0:
        raise BadArgument(f"compare: shapes {mine.shape} and {golden.shape}; give two equal ones that are not empty.")
    for name, array in (("mine", mine), ("golden", golden)):
        if array.dtype.kind not in "iufb":
            raise BadArgument(f"compare: {name} holds {array.dtype}; give numbers.")
    a, b = mine.reshape(-1), golden.reshape(-1)
    n = a.size
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        first = _first_pass(a, b)
    if not math.isfinite(first.square_a + first.square_b + first.square_error):
        return _without_metrics(a, b)
    mean = (first.sum_a / n, first.sum_b / n)
    spread_a, spread_b, divergence = _second_pass(a, b, first, mean)
    norm_a, norm_b = math.sqrt(first.square_a), math.sqrt(first.square_b)
    error = math.sqrt(first.square_error)
    return Comparison(
        count=n,
        non_finite=(0, 0),
        cosine_similarity=_cosine(first.product, norm_a, norm_b),
        max_absolute_error=first.worst_error,
        accumulated_relative_error=first.sum_relative,
        relative_euclidean_distance=error / norm_b if norm_b > EPSILON else 0.0,
        kullback_leibler_divergence=divergence,
        mean_absolute_error=first.sum_error / n,
        root_mean_square_error=math.sqrt(first.square_error / n),
        max_relative_error=first.max_relative,
        mean_relative_error=first.sum_relative / n,
        mean=mean,
        standard_deviation=(math.sqrt(spread_a / n), math.sqrt(spread_b / n)),
        mean_square_error=first.square_error / n,
        sqnr=_sqnr(first.square_b, first.square_error),
        worst=first.worst,
    )


def verdict(comparison: Comparison) -> Mapping[str, bool]:
    """Return by metric whether it is within LIMITS; a metric that is NaN is not."""
    found = {}
    for limit in LIMITS:
        value = float(getattr(comparison, limit.metric))
        found[limit.metric] = value > limit.bound if limit.side == "above" else value < limit.bound
    return MappingProxyType(found)


def overflows(x: Real) -> bool:
    """Return whether an fp16 tensor counts as overflowed: any |x| >= 65504, the largest finite value, or inf.

    A NaN is no overflow by itself: it is skipped (msaccucmp compares the maximum, which a NaN hides).
    """
    flat = x.reshape(-1)
    starts = range(0, flat.size, _BLOCK)
    return any(bool(np.any(np.abs(_float64(flat[i : i + _BLOCK])) >= FP16_MAX)) for i in starts)


@dataclass(slots=True)
class _Sums:
    product: float = 0.0
    square_a: float = 0.0
    square_b: float = 0.0
    square_error: float = 0.0
    sum_a: float = 0.0
    sum_b: float = 0.0
    sum_error: float = 0.0
    sum_relative: float = 0.0
    max_relative: float = 0.0
    worst_error: float = -1.0
    worst: int = 0
    low_a: float = math.inf
    high_a: float = -math.inf
    low_b: float = math.inf
    high_b: float = -math.inf


def _first_pass(a: Real, b: Real) -> _Sums:
    sums, place = _Sums(), 0
    for x, y in _blocks(a, b):
        error = np.abs(x - y)
        size = np.abs(y)
        relative = np.divide(error, size, out=np.zeros_like(error), where=size > EPSILON)
        sums.product += float(np.dot(x, y))
        sums.square_a += float(np.dot(x, x))
        sums.square_b += float(np.dot(y, y))
        sums.square_error += float(np.dot(error, error))
        sums.sum_a += float(x.sum())
        sums.sum_b += float(y.sum())
        sums.sum_error += float(error.sum())
        sums.sum_relative += float(relative.sum())
        sums.max_relative = max(sums.max_relative, float(relative.max()))
        top = int(error.argmax())
        if error[top] > sums.worst_error:
            sums.worst_error, sums.worst = float(error[top]), place + top
        sums.low_a, sums.high_a = min(sums.low_a, float(x.min())), max(sums.high_a, float(x.max()))
        sums.low_b, sums.high_b = min(sums.low_b, float(y.min())), max(sums.high_b, float(y.max()))
        place += x.size
    return sums


def _second_pass(a: Real, b: Real, first: _Sums, mean: tuple[float, float]) -> tuple[float, float, float]:
    """Return the squared deviations of a and b, and the divergence.

    The divergence of p = P / sum(P) from q = Q / sum(Q) is `sum(P log(P / Q)) / sum(P) + log(sum(Q) / sum(P))`.
    """
    spread_a = spread_b = sum_p = sum_q = weighted = 0.0
    for x, y in _blocks(a, b):
        away_a, away_b = x - mean[0], y - mean[1]
        spread_a += float(np.dot(away_a, away_a))
        spread_b += float(np.dot(away_b, away_b))
        p, q = _mapped(x, first.low_a, first.high_a), _mapped(y, first.low_b, first.high_b)
        sum_p += float(p.sum())
        sum_q += float(q.sum())
        weighted += float(np.dot(p, np.log(p / q)))
    divergence = weighted / sum_p + math.log(sum_q / sum_p)
    # Rounding leaves about count * 2**-53 where the truth is 0; the divergence is never negative.
    return spread_a, spread_b, divergence if divergence >= max(EPSILON, 8 * EPSILON * math.log2(a.size + 1)) else 0.0


def _mapped(x: Float64, low: float, high: float) -> Float64:
    width = high - low
    return np.maximum((x - low) / width if width > 0 else x, FLOOR)


def _cosine(product: float, norm_a: float, norm_b: float) -> float:
    if norm_a <= EPSILON and norm_b <= EPSILON:
        return 1.0
    if norm_a <= EPSILON or norm_b <= EPSILON:
        return math.nan
    return max(-1.0, min(1.0, product / norm_a / norm_b))


def _sqnr(signal: float, noise: float) -> float:
    if noise == 0:
        return math.inf
    return 10 * (math.log10(signal) - math.log10(noise)) if signal > 0 else -math.inf


def _blocks(a: Real, b: Real) -> Iterator[tuple[Float64, Float64]]:
    for start in range(0, a.size, _BLOCK):
        yield _float64(a[start : start + _BLOCK]), _float64(b[start : start + _BLOCK])


def _float64(x: Real) -> Float64:
    return np.asarray(x, np.float64)


def _without_metrics(a: Real, b: Real) -> Comparison:
    """Return the comparison of tensors with NaN or inf.

    Raises:
        BadArgument: There is none, so the squares of finite values have left float64.
    """
    bad_a = bad_b = 0
    for x, y in _blocks(a, b):
        bad_a += int(x.size - np.count_nonzero(np.isfinite(x)))
        bad_b += int(y.size - np.count_nonzero(np.isfinite(y)))
    if bad_a + bad_b == 0:
        raise BadArgument("compare: values are so large that the sum of their squares has no float64; scale both down.")
    nan = math.nan
    metrics = (nan,) * 9
    return Comparison(a.size, (bad_a, bad_b), *metrics, (nan, nan), (nan, nan), nan, nan, -1)
