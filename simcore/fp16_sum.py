"""Sums of fp16 values as hardware adds them: order and accumulator decide the result, and saturation acts at each step.

Exact sums do not depend on order; these do. In fp16, 60000 + 60000 - 60000 is 5504 sequentially (65504 - 60000), and
2048 + 1 + 1 + ... stays 2048 however many ones follow, because 2049 is a tie and goes back to 2048.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from simcore.errors import BadArgument
from simcore.fp16 import MAX, SATURATE, Fp16, Fp16Like, Mode, round_fp16

__all__ = ["Accumulator", "Order", "cumsum", "reduce_sum", "repeat_sum"]

Accumulator = Literal["fp16", "fp32"]
Order = Literal["sequential", "pairwise"]
Running = NDArray[np.floating]

_DTYPE: dict[Accumulator, type[np.floating]] = {"fp16": np.float16, "fp32": np.float32}
#: More than the finite fp16 values of one sign.
_STEPS = 32_768
_LIMIT: dict[Accumulator, float] = {"fp16": MAX, "fp32": float(np.finfo(np.float32).max)}


def reduce_sum(
    x: Fp16Like,
    axis: int = -1,
    *,
    accumulator: Accumulator = "fp16",
    order: Order = "sequential",
    mode: Mode = SATURATE,
) -> Fp16:
    """Return the sum along one axis, each addition rounded to the accumulator's type and then put through the mode.

    Formula: sequential `s = x[0]; s = mode(round(s + x[i]))`; pairwise: one pass adds neighbours
    `x[0]+x[1], x[2]+x[3], ...`, a last odd one is carried, passes repeat until one value is left.

    Source of the pairwise tree and of saturation inside it: Ascend C API, ReduceSum (60000, 60000, -30000, 100 becomes
    65504 and -29900 after the first pass). Which order Nano uses is not documented.

    Args:
        x: float16 [..., n, ...].
        axis: The axis to sum over, removed from the result. The others are computed side by side.
        accumulator: `fp16` rounds each addition to fp16; `fp32` to float32, and the final sum once to fp16.
        order: See the formula.
        mode: A NaN result counts as 0 under `nan="zero"`, so a NaN drops what was added before it.

    Returns:
        float16 without the axis. An empty axis gives +0; one element gives itself through the mode.

    Raises:
        BadArgument: x is not float16, the axis does not exist, or an unknown accumulator or order.
    """
    _check(order, accumulator)
    values = _leading(x, axis, accumulator)
    if values.shape[0] == 0:
        return np.zeros(values.shape[1:], np.float16)
    if order == "sequential":
        return round_fp16(_running(values, accumulator, mode)[-1], mode)
    values = _settle(values, accumulator, mode)
    while values.shape[0] > 1:
        paired = values.shape[0] // 2 * 2
        added = _add(values[0:paired:2], values[1:paired:2], accumulator, mode)
        values = np.concatenate([added, values[paired:]])
    return round_fp16(values[0], mode)


def cumsum(x: Fp16Like, axis: int = -1, *, accumulator: Accumulator = "fp16", mode: Mode = SATURATE) -> Fp16:
    """Return all the partial sums along an axis, in sequence; the last is the sequential `reduce_sum`.

    Formula: `y[0] = x[0]; y[i] = mode(round(y[i-1] + x[i]))`, the running value in the accumulator's type and each y
    rounded to fp16.

    Args:
        x: float16 [..., n, ...].
        axis: The axis to run along.
        accumulator: Type of the running value.
        mode: Overflow and NaN rule at each step.

    Returns:
        float16 of x's shape.

    Raises:
        BadArgument: As `reduce_sum`.
    """
    _check("sequential", accumulator)
    values = _leading(x, axis, accumulator)
    if values.shape[0] == 0:
        return np.array(x, np.float16)
    return np.moveaxis(round_fp16(_running(values, accumulator, mode), mode), 0, axis)


def repeat_sum(
    value: float,
    count: int,
    *,
    accumulator: Accumulator = "fp16",
    order: Order = "sequential",
    mode: Mode = SATURATE,
) -> np.float16:
    """Return `reduce_sum` of `count` equal values, in time that hardly grows with `count` for fp16.

    In sequence the sum moves away from 0 by at least one fp16 value per step until it stands still, and there are only
    31,744 of each sign, so later additions change nothing. Pairwise, each pass leaves equal values and at most
    one other.

    Args:
        value: Finite, rounded to the accumulator's type first.
        count: 1 or more. Sums in float32 in sequence take 4 bytes each.
        accumulator: As `reduce_sum`.
        order: As `reduce_sum`.
        mode: As `reduce_sum`.

    Raises:
        BadArgument: count < 1, value not finite, or an unknown accumulator or order.
    """
    _check(order, accumulator)
    if count < 1 or not np.isfinite(value):
        raise BadArgument(f"fp16 sum: {count} times {value}; give a finite value and a count of 1 or more.")
    # Equal signs: a sum that saturates stays there, so the rule may act once at the end.
    with np.errstate(over="ignore", under="ignore"):
        term = np.asarray([value]).astype(_DTYPE[accumulator])
    if order == "sequential":
        steps = min(count, _STEPS) if accumulator == "fp16" else count
        with np.errstate(all="ignore"):
            total = np.add.accumulate(np.broadcast_to(term, (steps,)), dtype=_DTYPE[accumulator])[-1]
        return np.float16(round_fp16(total, mode))
    left, last = count, None
    with np.errstate(all="ignore"):
        while left > 1 or last is not None:
            odd = left % 2 == 1
            if odd and last is not None:
                last = np.add(term, last)
            elif odd:
                last = term
            left //= 2
            if left:
                term = np.add(term, term)
            elif last is not None:
                term, last, left = last, None, 1
    return np.float16(round_fp16(term[0], mode))


def _running(values: Running, accumulator: Accumulator, mode: Mode) -> Running:
    """Return the partial sums along axis 0; only the lanes that leave the finite range are walked step by step."""
    with np.errstate(all="ignore"):
        # accumulate (unlike reduce) adds strictly in order and stores each partial sum in the accumulator's type.
        sums = np.asarray(np.add.accumulate(values, axis=0))
    if mode.overflow == "infinity" and mode.nan == "keep":
        return sums
    flat = sums.reshape(sums.shape[0], -1)
    bad = ~np.isfinite(flat).all(axis=0)
    if bad.any():
        lanes = values.reshape(flat.shape)[:, bad]
        steps = np.empty_like(lanes)
        steps[0] = _settle(lanes[0], accumulator, mode)
        for i in range(1, lanes.shape[0]):
            steps[i] = _add(steps[i - 1], lanes[i], accumulator, mode)
        flat[:, bad] = steps
    return flat.reshape(sums.shape)


def _add(a: Running, b: Running, accumulator: Accumulator, mode: Mode) -> Running:
    # numpy adds float16 in float32 and rounds again: harmless here, float32 has 24 >= 2 * 11 + 2 digits.
    with np.errstate(all="ignore"):
        return _settle(np.add(a, b, dtype=_DTYPE[accumulator]), accumulator, mode)


def _settle(values: Running, accumulator: Accumulator, mode: Mode) -> Running:
    dtype = _DTYPE[accumulator]
    if mode.overflow == "saturate":
        values = np.clip(values, dtype(-_LIMIT[accumulator]), dtype(_LIMIT[accumulator]))
    if mode.nan == "zero":
        values = np.where(np.isnan(values), dtype(0), values)
    return values


def _leading(x: Fp16Like, axis: int, accumulator: Accumulator) -> Running:
    """Return x in the accumulator's type (exact) with the axis moved to the front."""
    values = np.asarray(x)
    if values.dtype != np.float16:
        raise BadArgument(f"fp16 sum: dtype {values.dtype}; expected float16, round it with round_fp16 first.")
    if not -values.ndim <= axis < values.ndim:
        raise BadArgument(f"fp16 sum: axis {axis} does not exist in shape {values.shape}.")
    wide: Running = values.astype(_DTYPE[accumulator])
    return np.moveaxis(wide, axis, 0)


def _check(order: Order, accumulator: Accumulator) -> None:
    if order not in get_args(Order):
        raise BadArgument(f"fp16 sum: order {order!r} is unknown; choose one of {', '.join(get_args(Order))}.")
    if accumulator not in _DTYPE:
        raise BadArgument(f"fp16 sum: accumulator {accumulator!r} is unknown; choose one of {', '.join(_DTYPE)}.")
