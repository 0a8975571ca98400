"""Checks of fp16 values, sums and norms, over simcore.fp16, fp16_sum and fp16_norm."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from simcore.fp16 import IEEE, MAX, SATURATE, Mode, neighbours, round_fp16, ulp
from simcore.fp16_norm import NormKind, Scaling, norm_fp16, safe_limits
from simcore.fp16_sum import Accumulator, Order, reduce_sum, repeat_sum

__all__ = ["dot_fp16", "fp16_norm", "fp16_norm_limit", "fp16_sum", "fp16_value", "mode_of", "plain", "sum_repeat"]


def mode_of(overflow: str) -> Mode:
    """Return simcore's mode for the choice saturate or infinity."""
    return SATURATE if overflow == "saturate" else IEEE


def plain(values: Sequence[float] | np.ndarray[Any, Any]) -> list[float]:
    """Return numbers of any kind as Python floats."""
    return [float(value) for value in values]


def fp16_value(values: tuple[float, ...]) -> Mapping[str, Any]:
    """Return what fp16 makes of numbers: nearest value, neighbours, spacing, error, both overflow rules."""
    exact = np.asarray(values, np.float64)
    nearest, saturated = round_fp16(exact, IEEE), round_fp16(exact, SATURATE)
    below, above = neighbours(exact)
    with np.errstate(invalid="ignore"):
        errors = nearest.astype(np.float64) - exact
        errors = np.where(nearest.astype(np.float64) == exact, 0.0, errors)
    finite = np.abs(exact[np.isfinite(exact)])
    largest = float(finite.max()) if finite.size else 0.0
    return {
        "fp16": plain(nearest),
        "saturated": plain(saturated),
        "below": plain(below),
        "above": plain(above),
        "spacing": plain(ulp(saturated)),
        "errors": plain(errors),
        "overflows": int(np.count_nonzero(np.isinf(nearest) & np.isfinite(exact))),
        "changed": int(np.count_nonzero(nearest.astype(np.float64) != exact)),
        "ratio": largest / MAX,
        "divisor": 1 if largest < 65520 else 2.0 ** math.ceil(math.log2(largest / MAX)),
    }


def fp16_sum(values: tuple[float, ...], accumulator: str, order: str, overflow: str) -> Mapping[str, Any]:
    """Return the sum of a list in fp16 against the exact sum."""

    def total(mode: Mode) -> float:
        return float(
            reduce_sum(
                round_fp16(np.asarray(values), mode),
                accumulator=cast(Accumulator, accumulator),
                order=cast(Order, order),
                mode=mode,
            )
        )

    exact = math.fsum(values)
    got = total(mode_of(overflow))
    return {
        "total": got,
        "exact": exact,
        "error": got - exact,
        # With finite inputs, an overflow anywhere leaves inf or NaN in the total under IEEE rules.
        "overflows": not math.isfinite(total(IEEE)),
    }


def sum_repeat(value: float, count: int, accumulator: str, order: str, overflow: str) -> Mapping[str, Any]:
    """Return total, exact, error and overflows of `count` additions of `value`."""

    def total(mode: Mode) -> float:
        return float(
            repeat_sum(
                float(round_fp16(value, mode)),
                count,
                accumulator=cast(Accumulator, accumulator),
                order=cast(Order, order),
                mode=mode,
            )
        )

    got = total(mode_of(overflow))
    exact = float(round_fp16(value, SATURATE)) * count
    return {"total": got, "exact": exact, "error": got - exact, "overflows": math.isinf(total(IEEE))}


def dot_fp16(a: float, b: float, k: int, accumulator: str, order: str, overflow: str) -> Mapping[str, Any]:
    """Return the sum of k products of a and b in fp16, with an fp16 or an fp32 accumulator."""
    mode = mode_of(overflow)
    left, right = float(round_fp16(a, mode)), float(round_fp16(b, mode))
    # The product of two fp16 values is exact in float32; with an fp16 accumulator it is rounded to fp16 first.
    product = float(round_fp16(left * right, mode)) if accumulator == "fp16" else left * right

    def total(rule: Mode) -> float:
        if math.isinf(product):
            return product
        return float(
            repeat_sum(product, k, accumulator=cast(Accumulator, accumulator), order=cast(Order, order), mode=rule)
        )

    got, exact, wanted = total(mode), left * right * k, a * b * k
    return {
        "total": got,
        "exact_fp16": exact,
        "wanted": wanted,
        "error": got - wanted,
        "input_error": exact - wanted,
        "a_fp16": left,
        "b_fp16": right,
        "overflows": math.isinf(total(IEEE)) or (accumulator == "fp16" and abs(left * right) >= 65520),
    }


def fp16_norm_limit(size: int, scaling: str) -> Mapping[str, Any]:
    """Return the largest values that keep a mean square of `size` terms within fp16."""
    single, uniform = safe_limits(size, cast(Scaling, scaling))
    return {"single": single, "uniform": uniform}


def fp16_norm(
    values: tuple[float, ...], kind: str, scaling: str, accumulator: str, epsilon: float, overflow: str
) -> Mapping[str, Any]:
    """Return the steps of RMSNorm or LayerNorm in fp16, and the outputs against exact ones."""
    steps = norm_fp16(
        np.asarray(values), cast(NormKind, kind), cast(Scaling, scaling), cast(Accumulator, accumulator), epsilon,
        mode_of(overflow),
    )  # fmt: skip
    free = norm_fp16(
        np.asarray(values), cast(NormKind, kind), cast(Scaling, scaling), cast(Accumulator, accumulator), epsilon, IEEE
    )
    x = np.asarray(values, np.float64)
    centred = x - x.mean() if kind == "layer" else x
    mean_square = float(np.mean(centred**2))
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = centred / np.sqrt(mean_square + epsilon)
    # What fp32 holds is only shown in fp16: there an overflow counts if it reaches the outputs.
    inner = [free.squares, free.mean_square] if accumulator == "fp16" else []
    return {
        "outputs": plain(steps.outputs),
        "exact": plain(exact),
        "mean_square": float(steps.mean_square),
        "mean_square_exact": mean_square,
        "factor": float(steps.factor),
        "max_error": float(np.max(np.abs(steps.outputs.astype(np.float64) - exact))),
        "overflows": not all(np.isfinite(part).all() for part in [free.centred, *inner]),
        "all_zero": not np.any(steps.outputs) and bool(np.any(centred)),
    }
