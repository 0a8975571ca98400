"""Mean squares in fp16, the part of RMSNorm and LayerNorm that overflows, step by step, and how large values may be.

Two orders: `sum_first` squares, adds and then divides by n, so that a single square may already overflow (|x| < 256
whatever n is); `divide_first` adds `x * x / n`, each rounded once, so that only the mean may overflow.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from simcore.errors import BadArgument
from simcore.fp16 import MAX, Fp16, Mode, add, apply, div, mul, round_fp16, sub
from simcore.fp16_sum import Accumulator, reduce_sum

__all__ = ["Norm", "NormKind", "Scaling", "norm_fp16", "safe_limits"]

Scaling = Literal["sum_first", "divide_first"]
NormKind = Literal["rms", "layer"]


@dataclass(frozen=True, slots=True, eq=False)
class Norm:
    """The steps of one normalization in fp16."""

    centred: Fp16
    """Values after the mean is subtracted (layer), or as they are (rms), [n]."""
    squares: Fp16
    """What is added up: x * x or x * x / n, [n]."""
    mean_square: Fp16
    """[], after the division by n."""
    factor: Fp16
    """[], 1 / sqrt(mean_square + epsilon)."""
    outputs: Fp16
    """centred * factor, [n]."""


def safe_limits(n: int, scaling: Scaling = "sum_first") -> tuple[float, float]:
    """Return (single, uniform): the largest |x| that keeps the sum within 65504, for one outlier and for n equal ones.

    Formulas: sum_first `single = sqrt(65504)`, `uniform = sqrt(65504 / n)`; divide_first `single = sqrt(65504 * n)`,
    `uniform = sqrt(65504)`. Roundings of the steps move them by parts in a thousand.

    Raises:
        BadArgument: n < 1, or unknown scaling.
    """
    _check(n, scaling)
    if scaling == "sum_first":
        return math.sqrt(MAX), math.sqrt(MAX / n)
    return math.sqrt(MAX * n), math.sqrt(MAX)


def norm_fp16(
    x: ArrayLike,
    kind: NormKind,
    scaling: Scaling,
    accumulator: Accumulator,
    epsilon: float,
    mode: Mode,
) -> Norm:
    """Return RMSNorm or LayerNorm (without weights) of a vector in fp16 steps.

    Formula: `c = x` (rms) or `x - sum(x) / n` (layer), the mean square by `Scaling`, `f = 1 / sqrt(ms + epsilon)` in
    fp16 operations, `y = c * f`.

    Args:
        x: Real numbers [n], rounded to fp16 first.
        kind: rms or layer.
        scaling: See the module.
        accumulator: Type of the sums; with fp32 squares and mean square stay in float32 and are rounded at the end.
        epsilon: Added to the mean square.
        mode: Overflow and NaN rule.

    Raises:
        BadArgument: x is empty or not a vector, or an unknown choice.
    """
    values = round_fp16(x, mode)
    if values.ndim != 1 or kind not in get_args(NormKind):
        raise BadArgument(f"norm: shape {values.shape}, kind {kind!r}; give a list, and rms or layer")
    n = values.size
    _check(n, scaling)
    count = round_fp16(n, mode)
    if kind == "layer":
        values = sub(values, div(reduce_sum(values, accumulator=accumulator, mode=mode), count, mode), mode)
    if accumulator == "fp32":
        wide = values.astype(np.float32)
        with np.errstate(all="ignore"):
            terms = wide * wide if scaling == "sum_first" else wide * wide / np.float32(n)
            total = np.add.accumulate(terms, dtype=np.float32)[-1]
            mean = total / np.float32(n) if scaling == "sum_first" else total
            factor = round_fp16(1 / np.sqrt(np.float64(mean) + epsilon), mode)
        # Squares of fp16 values do not overflow float32; what is shown of them is rounded to fp16.
        return Norm(values, round_fp16(terms, mode), round_fp16(mean, mode), factor, mul(values, factor, mode))
    if scaling == "sum_first":
        squares = mul(values, values, mode)
        mean16 = div(reduce_sum(squares, mode=mode), count, mode)
    else:
        squares = apply(lambda v: v * v / n, values, mode=mode)
        mean16 = reduce_sum(squares, mode=mode)
    shifted = add(mean16, round_fp16(epsilon, mode), mode)
    factor = apply(lambda v: 1.0 / np.sqrt(v), shifted, mode=mode)
    return Norm(values, squares, mean16, factor, mul(values, factor, mode))


def _check(n: int, scaling: str) -> None:
    if n < 1 or scaling not in get_args(Scaling):
        raise BadArgument(f"norm: n = {n}, scaling {scaling!r}; give n >= 1, and sum_first or divide_first")
