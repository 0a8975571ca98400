"""Operators that pick or place elements by index. Sources: the ONNX operators of the same names."""

import math
from typing import Any, Final

import numpy as np

from simcore.errors import BadArgument
from simcore.graph import Tensor
from simcore.ops.size import checked_shape

__all__ = [
    "compress",
    "gather",
    "gather_elements",
    "gather_nd",
    "non_zero",
    "one_hot",
    "scatter_elements",
    "scatter_nd",
    "top_k",
    "top_k_1",
    "where",
]

#: How a scattered value meets what is there; ufunc.at also handles an index that comes twice.
_REDUCTIONS: Final[dict[str, np.ufunc]] = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def compress(input: Tensor, condition: Tensor, *, axis: int | None = None) -> Tensor:
    """Return the entries along `axis` (of the flattened input without one) for which condition, bool [n], is true."""
    length = input.size if axis is None else input.shape[axis]
    return np.asarray(np.compress(condition[:length], input, axis))


def gather(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """Return the entries of `axis` at `indices` (negative: from the end), indices' shape in place of the axis.

    Raises:
        IndexError: an index outside the axis.
    """
    return np.asarray(data.take(indices, axis))


def gather_elements(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """Return `y[i][j] = data[indices[i][j]][j]` for axis 0, alike for others; shape of indices."""
    picked: Tensor = data[_along(data, indices, axis)]
    return picked


def gather_nd(data: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    """Return slices of data: the last axis of `indices` holds positions in the axes after the `batch_dims` common ones.

    Shape: `indices.shape[:-1] + data.shape[batch_dims + indices.shape[-1]:]`.
    """
    batch = data.shape[:batch_dims]
    depth = indices.shape[-1]
    if indices.shape[:batch_dims] != batch or batch_dims + depth > data.ndim:
        raise BadArgument(
            f"indices {list(indices.shape)} do not fit data {list(data.shape)} with batch_dims {batch_dims}"
        )
    count = math.prod(batch)
    flat = data.reshape(count, *data.shape[batch_dims:])
    places = indices.reshape(count, -1, depth)
    picked = flat[(np.arange(count)[:, None], *(places[..., i] for i in range(depth)))]
    return np.asarray(picked).reshape(indices.shape[:-1] + data.shape[batch_dims + depth :])


def _along(data: Tensor, indices: Tensor, axis: int) -> tuple[Any, ...]:
    """Return an index of data that runs through `indices` on `axis` and stays in place on the others."""
    if indices.ndim != data.ndim or not -data.ndim <= axis < data.ndim:
        raise BadArgument(f"indices of rank {indices.ndim}, data of rank {data.ndim}, axis {axis} do not fit")
    places: list[Any] = list(np.ogrid[tuple(slice(0, n) for n in indices.shape)])
    places[axis] = indices
    return tuple(places)


def non_zero(x: Tensor) -> Tensor:
    """Return the positions of what is not 0, row by row, int64 [rank, count]; a scalar counts as [1]."""
    return np.array(np.nonzero(np.atleast_1d(x)), np.int64)


def one_hot(indices: Tensor, depth: Tensor, values: Tensor, *, axis: int = -1) -> Tensor:
    """Return `values[1]` at each index along a new axis of size `depth`, `values[0]` elsewhere.

    Indices in [-depth, depth - 1]; others leave their column at values[0].
    """
    count = int(depth.item())
    rank = indices.ndim + 1
    if count < 0 or not -rank <= axis < rank or values.shape != (2,):
        raise BadArgument(f"depth {count}, axis {axis}, values of shape {list(values.shape)} do not fit")
    checked_shape([count, *indices.shape], values.dtype)
    numbers = np.expand_dims(indices.astype(np.int64), axis)
    numbers = np.where(numbers < 0, numbers + count, numbers)
    along = np.arange(count).reshape([-1 if i == axis % rank else 1 for i in range(rank)])
    return np.asarray(np.where(numbers == along, values[1], values[0]))


def scatter_elements(
    data: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0, reduction: str = "none"
) -> Tensor:
    """Return data with `y[indices[i][j]][j] = updates[i][j]` for axis 0, alike for others.

    `reduction` add, mul, max or min combines with what is there; with none the last of equal indices wins.
    """
    if indices.shape != updates.shape:
        raise BadArgument(f"indices {list(indices.shape)} and updates {list(updates.shape)} must have one shape")
    return _placed(data, _along(data, indices, axis), updates, reduction)


def scatter_nd(data: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "none") -> Tensor:
    """Return data with slices replaced: the last axis of `indices` holds positions in data's first axes.

    `updates`: shape `indices.shape[:-1] + data.shape[indices.shape[-1]:]`; `reduction` as in `scatter_elements`.
    """
    depth = indices.shape[-1]
    if depth > data.ndim or updates.shape != indices.shape[:-1] + data.shape[depth:]:
        raise BadArgument(
            f"updates {list(updates.shape)}, indices {list(indices.shape)}, data {list(data.shape)} do not fit"
        )
    return _placed(data, tuple(indices[..., i] for i in range(depth)), updates, reduction)


def _placed(data: Tensor, where: tuple[Any, ...], updates: Tensor, reduction: str) -> Tensor:
    y = data.copy()
    if reduction == "none":
        y[where] = updates
    elif reduction in _REDUCTIONS:
        _REDUCTIONS[reduction].at(y, where, updates)
    else:
        raise BadArgument(f"reduction {reduction!r} is not known; use none, {', '.join(_REDUCTIONS)}")
    return y


def top_k(x: Tensor, k: Tensor, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> tuple[Tensor, Tensor]:
    """Return the k largest (or smallest) values along `axis` in order, and their indices, int64.

    Of equal values the lower index comes first; NaN counts as larger than every number. Sorted in any case.
    """
    return _top(x, int(k.item()), axis, largest != 0)


def top_k_1(x: Tensor, *, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
    """Return `top_k` of the largest with k as an attribute (versions 1 to 9)."""
    return _top(x, k, axis, True)


def _top(x: Tensor, k: int, axis: int, is_largest: bool) -> tuple[Tensor, Tensor]:
    if not -x.ndim <= axis < x.ndim or not 0 <= k <= x.shape[axis]:
        raise BadArgument(f"k {k} along axis {axis} of shape {list(x.shape)}")
    n = x.shape[axis]
    if is_largest:
        # Sorting the reversed axis stably and reading it backwards leaves equal values in order of their index.
        order = n - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    else:
        order = np.argsort(x, axis=axis, kind="stable")
    first = order[(slice(None),) * (axis % x.ndim) + (slice(0, k),)]
    return np.take_along_axis(x, first, axis), first.astype(np.int64)


def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Return x where condition is true, y elsewhere; the three broadcast."""
    return np.where(condition, x, y)
