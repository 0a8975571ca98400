"""Reductions along axes, ArgMax and ArgMin, running sums and products.

Operators by (name, first opset version served):

    reduce_l1 ReduceL1 1 · reduce_l2 ReduceL2 1 · reduce_log_sum ReduceLogSum 1 · reduce_log_sum_exp ReduceLogSumExp 1
    reduce_max ReduceMax 1 · reduce_mean ReduceMean 1 · reduce_min ReduceMin 1 · reduce_prod ReduceProd 1
    reduce_sum ReduceSum 1 · reduce_sum_square ReduceSumSquare 1
    argmax ArgMax 1 · argmin ArgMin 1 · cumsum CumSum 11 · cumprod CumProd 26

`axes` is an attribute in old versions and an input in new ones (ReduceSum from 13, the others from 18). One function
serves both, as `axes` may be given by position or by name. Softmax and its relatives are in `softmax`.

All reductions: `axes` None or empty means all axes, or none at all with noop_with_empty_axes=1 (the elementwise part,
such as the square of ReduceSumSquare, is still done). keepdims=1 leaves reduced axes with size 1. The accumulator has
the type of the data; float16 accumulates in float32. Source: ONNX operator specification.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from simcore.errors import BadArgument
from simcore.ops.widen import Array, float32_inside

Axes = Array | Sequence[int] | None


def reduced_axes(axes: Axes, rank: int, noop: int) -> tuple[int, ...]:
    """Return the axes to reduce, ascending and not negative: all for None or none given, unless noop.

    Raises:
        BadArgument: an axis outside the rank.
    """
    numbers = axes.reshape(-1).tolist() if isinstance(axes, np.ndarray) else axes
    chosen = () if numbers is None else tuple(int(a) for a in numbers)
    if not chosen:
        return () if noop else tuple(range(rank))
    if any(not -rank <= a < rank for a in chosen):
        raise BadArgument(f"axes: {chosen} do not all exist in a tensor of rank {rank}; use {-rank}..{rank - 1}")
    return tuple(sorted({a % rank for a in chosen}))


def _sum(x: Array, axes: tuple[int, ...], keepdims: int) -> Array:
    """Return the sum in the type of x; bool is not summed."""
    return np.asarray(x.sum(axis=axes, keepdims=bool(keepdims), dtype=x.dtype))


@float32_inside
def reduce_sum(data: Array, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """Return `sum(data)`; 0 over nothing, integers wrap."""
    return _sum(data, reduced_axes(axes, data.ndim, noop_with_empty_axes), keepdims)


@float32_inside
def reduce_mean(data: Array, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """Return `sum(data) / count`; integers are cut toward zero. NaN over nothing (integers: 0)."""
    along = reduced_axes(axes, data.ndim, noop_with_empty_axes)
    count = math.prod(data.shape[a] for a in along)
    total = _sum(data, along, keepdims)
    if data.dtype.kind in "iu":
        return np.asarray((total - np.fmod(total, count)) // count, data.dtype)
    return np.asarray(np.divide(total, data.dtype.type(count)))


@float32_inside
def reduce_max(data: Array, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """Return the maximum; NaN if any is NaN, over nothing -inf (integers: the smallest value, bool: False)."""
    return _extreme(np.maximum, data, reduced_axes(axes, data.ndim, noop_with_empty_axes), keepdims)


@float32_inside
def reduce_min(data: Array, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """Return the minimum; NaN if any is NaN, over nothing inf (integers: the largest value, bool: True)."""
    return _extreme(np.minimum, data, reduced_axes(axes, data.ndim, noop_with_empty_axes), keepdims)


def _extreme(ufunc: np.ufunc, x: Array, axes: tuple[int, ...], keepdims: int) -> Array:
    if x.size:
        return np.asarray(ufunc.reduce(x, axis=axes, keepdims=bool(keepdims)))
    if x.dtype.kind == "f":
        nothing: float | int | bool = -np.inf if ufunc is np.maximum else np.inf
    elif x.dtype.kind == "b":
        nothing = ufunc is np.minimum
    else:
        limits = np.iinfo(x.dtype)
        nothing = limits.min if ufunc is np.maximum else limits.max
    return np.asarray(ufunc.reduce(x, axis=axes, keepdims=bool(keepdims), initial=x.dtype.type(nothing)), x.dtype)


@float32_inside
def reduce_prod(data: Array, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """Return the product; 1 over nothing, integers wrap."""
    along = reduced_axes(axes, data.ndim, noop_with_empty_axes)
    return np.asarray(np.prod(data, axis=along, keepdims=bool(keepdims), dtype=data.dtype))


@float32_inside
def reduce_l1(data: Array, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """Return `sum(|data|)`."""
    return _sum(np.abs(data), reduced_axes(axes, data.ndim, noop_with_empty_axes), keepdims)


@float32_inside
def reduce_l2(data: Array, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """Return `sqrt(sum(data^2))`; integers are cut toward zero."""
    along = reduced_axes(axes, data.ndim, noop_with_empty_axes)
    if data.dtype.kind in "iu":
        return np.sqrt(_sum(np.square(data.astype(np.float64)), along, keepdims)).astype(data.dtype)
    return np.sqrt(_sum(np.square(data), along, keepdims))


@float32_inside
def reduce_sum_square(data: Array, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """Return `sum(data^2)`; integers wrap."""
    return _sum(np.square(data), reduced_axes(axes, data.ndim, noop_with_empty_axes), keepdims)


@float32_inside
def reduce_log_sum(data: Array, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """Return `ln(sum(data))`; -inf over nothing."""
    total = _sum(data, reduced_axes(axes, data.ndim, noop_with_empty_axes), keepdims)
    return np.asarray(np.log(total), data.dtype)


@float32_inside
def reduce_log_sum_exp(data: Array, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """Return `ln(sum(e^data))`, computed as `m + ln(sum(e^(data - m)))` with the maximum m; -inf over nothing."""
    along = reduced_axes(axes, data.ndim, noop_with_empty_axes)
    wide = data if data.dtype.kind == "f" else data.astype(np.float64)
    largest = _extreme(np.maximum, wide, along, 1)
    # An infinite maximum would turn into inf - inf; unshifted, the sum gives the right infinity.
    largest = np.where(np.isfinite(largest), largest, largest.dtype.type(0))
    result = np.log(_sum(np.exp(wide - largest), along, 1)) + largest
    if not keepdims:
        result = np.squeeze(result, axis=along)
    return np.asarray(result).astype(data.dtype, copy=False)


@float32_inside
def argmax(data: Array, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Array:
    """Return the index of the maximum along one axis, int64; of equal ones the first, or the last if asked for.

    A NaN counts as larger than everything.
    """
    return _arg(np.argmax, data, axis, keepdims, select_last_index)


@float32_inside
def argmin(data: Array, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Array:
    """Return the index of the minimum along one axis, int64; of equal ones the first, or the last if asked for.

    A NaN counts as smaller than everything.
    """
    return _arg(np.argmin, data, axis, keepdims, select_last_index)


def _arg(find: Callable[..., Array], data: Array, axis: int, keepdims: int, select_last_index: int) -> Array:
    (along,) = reduced_axes([axis], data.ndim, 0) if data.ndim else (0,)
    if data.ndim and not data.shape[along]:
        raise BadArgument(f"ArgMax/ArgMin: axis {axis} of shape {list(data.shape)} is empty and has no extreme element")
    if not data.ndim:
        return np.zeros((), np.int64)
    if select_last_index:
        return np.asarray(
            data.shape[along] - 1 - find(np.flip(data, along), axis=along, keepdims=bool(keepdims)), np.int64
        )
    return np.asarray(find(data, axis=along, keepdims=bool(keepdims)), np.int64)


@float32_inside
def cumsum(x: Array, axis: Array, *, exclusive: int = 0, reverse: int = 0) -> Array:
    """Return running sums along one axis in the type of x.

    Formula: `y[i] = x[0] + ... + x[i]`; exclusive leaves x[i] out (the first is 0), reverse runs from the end.
    """
    return _running(np.add, x, axis, exclusive, reverse)


@float32_inside
def cumprod(x: Array, axis: Array, *, exclusive: int = 0, reverse: int = 0) -> Array:
    """Return running products along one axis in the type of x; as `cumsum`, the first exclusive one is 1."""
    return _running(np.multiply, x, axis, exclusive, reverse)


def _running(ufunc: np.ufunc, x: Array, axis: Array, exclusive: int, reverse: int) -> Array:
    (along,) = reduced_axes(axis, x.ndim, 0)
    source = np.moveaxis(x, along, 0)
    if reverse:
        source = source[::-1]
    if exclusive:
        y = np.empty(source.shape, x.dtype)
        y[:1] = ufunc.identity
        ufunc.accumulate(source[:-1], axis=0, dtype=x.dtype, out=y[1:])
    else:
        y = ufunc.accumulate(source, axis=0, dtype=x.dtype)
    return np.moveaxis(y[::-1] if reverse else y, 0, along)
