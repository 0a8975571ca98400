"""Operators that rearrange, join, split or create tensors. Sources: the ONNX operators of the same names."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from simcore.element_types import dtype_of
from simcore.errors import BadArgument, UnsupportedOp
from simcore.graph import Tensor
from simcore.ops.size import checked_shape

__all__ = [
    "concat",
    "constant",
    "constant_of_shape",
    "depth_to_space",
    "dropout",
    "dropout_7",
    "dropout_10",
    "expand",
    "eye_like",
    "flatten",
    "identity",
    "range_",
    "reshape",
    "shape",
    "size",
    "slice_",
    "slice_1",
    "space_to_depth",
    "split",
    "split_2",
    "squeeze",
    "squeeze_1",
    "tile",
    "transpose",
    "trilu",
    "unsqueeze",
    "unsqueeze_1",
]


def concat(*inputs: Tensor, axis: int) -> Tensor:
    """Return the inputs joined along `axis`."""
    return np.concatenate(inputs, axis=axis)


def constant(
    *,
    value: Tensor | None = None,
    sparse_value: Tensor | None = None,
    value_float: float | None = None,
    value_floats: tuple[float, ...] | None = None,
    value_int: int | None = None,
    value_ints: tuple[int, ...] | None = None,
    value_string: str | None = None,
    value_strings: tuple[str, ...] | None = None,
) -> Tensor:
    """Return the one attribute that is given, as an array: float32, int64 or object for the Python kinds.

    Raises:
        BadArgument: none or several are given.
    """
    kinds: tuple[tuple[Any, Any], ...] = (
        (value, None),
        (sparse_value, None),
        (value_float, np.float32),
        (value_floats, np.float32),
        (value_int, np.int64),
        (value_ints, np.int64),
        (value_string, object),
        (value_strings, object),
    )
    given = [np.asarray(one, dtype) for one, dtype in kinds if one is not None]
    if len(given) != 1:
        raise BadArgument(f"exactly one value attribute is needed, {len(given)} are there")
    return given[0]


def constant_of_shape(input: Tensor, *, value: Tensor | None = None) -> Tensor:
    """Return a tensor of shape `input` filled with `value` [1], by default float32 0; a read-only view."""
    fill = np.zeros(1, np.float32) if value is None else value
    if fill.size != 1:
        raise BadArgument(f"value must hold one element, not shape {list(fill.shape)}")
    return np.broadcast_to(fill.reshape(()), checked_shape(input.tolist(), fill.dtype))


def depth_to_space(input: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Return [N, C/(b b), H b, W b] from [N, C, H, W]: channels become pixels.

    `mode` "DCR" reads the channel as (block row, block column, depth), "CRD" as (depth, block row, block column).
    """
    n, c, h, w = _rank_4(input)
    b = blocksize
    if b <= 0 or c % (b * b) or mode not in ("DCR", "CRD"):
        raise BadArgument(
            f"{c} channels, blocksize {b}, mode {mode!r}: channels must be a multiple of blocksize squared"
        )
    if mode == "DCR":
        blocks = input.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        blocks = input.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return blocks.reshape(n, c // (b * b), h * b, w * b)


def space_to_depth(input: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Return [N, C b b, H/b, W/b] from [N, C, H, W]: pixels become channels; `mode` as in `depth_to_space`."""
    n, c, h, w = _rank_4(input)
    b = blocksize
    if b <= 0 or h % b or w % b or mode not in ("DCR", "CRD"):
        raise BadArgument(
            f"{h} x {w} pixels, blocksize {b}, mode {mode!r}: height and width must be multiples of blocksize"
        )
    blocks = input.reshape(n, c, h // b, b, w // b, b)
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    return blocks.transpose(order).reshape(n, c * b * b, h // b, w // b)


def _rank_4(x: Tensor) -> tuple[int, ...]:
    if x.ndim != 4:
        raise BadArgument(f"input must have shape [N, C, H, W], not {list(x.shape)}")
    return x.shape


def dropout(
    data: Tensor, ratio: Tensor | None = None, training_mode: Tensor | None = None, *, seed: int | None = None
) -> tuple[Tensor, Tensor]:
    """Return data itself and a mask of true: at inference nothing is dropped.

    Raises:
        UnsupportedOp: training mode with a ratio above 0 (random).
    """
    if training_mode is not None and bool(training_mode) and (ratio is None or float(ratio) != 0):
        raise UnsupportedOp("training mode drops at random; export the model in inference mode")
    return data, np.ones(data.shape, np.bool_)


def dropout_10(data: Tensor, *, ratio: float = 0.5) -> tuple[Tensor, Tensor]:
    """Return data itself and a mask of true (versions 10 and 11)."""
    return data, np.ones(data.shape, np.bool_)


def dropout_7(data: Tensor, *, ratio: float = 0.5) -> tuple[Tensor, Tensor]:
    """Return data itself and a mask of ones in data's type (versions 7 to 9)."""
    return data, np.ones_like(data)


def expand(input: Tensor, shape: Tensor) -> Tensor:
    """Return input broadcast with `shape` in both directions; a read-only view."""
    target = np.broadcast_shapes(input.shape, checked_shape(shape.tolist(), np.dtype(np.bool_)))
    return np.broadcast_to(input, checked_shape(target, input.dtype))


def eye_like(input: Tensor, *, dtype: int | None = None, k: int = 0) -> Tensor:
    """Return ones on the k-th diagonal of a matrix of input's shape, in input's type unless `dtype` is given."""
    if input.ndim != 2:
        raise BadArgument(f"input must be a matrix, not shape {list(input.shape)}")
    wanted = input.dtype if dtype is None else dtype_of(dtype)
    rows, columns = checked_shape(input.shape, wanted)
    return np.eye(rows, columns, k=k, dtype=wanted)


def flatten(input: Tensor, *, axis: int = 1) -> Tensor:
    """Return input as a matrix: axes before `axis` are the rows, the others the columns."""
    if not -input.ndim <= axis <= input.ndim:
        raise BadArgument(f"axis {axis} is outside a tensor of rank {input.ndim}")
    axis += input.ndim if axis < 0 else 0
    return input.reshape(math.prod(input.shape[:axis]), math.prod(input.shape[axis:]))


def identity(input: Tensor) -> Tensor:
    """Return input itself."""
    return input


def range_(start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    """Return `start + i * delta` for i in 0 .. `max(ceil((limit - start) / delta), 0) - 1`, in start's type."""
    first, end, step = start.item(), limit.item(), delta.item()
    if step == 0:
        raise BadArgument("delta is 0")
    if start.dtype.kind in "iu":
        count = max(-((first - end) // step), 0)
        (count,) = checked_shape([count], start.dtype)
        return np.asarray(first + np.arange(count, dtype=np.int64) * step, start.dtype)
    steps = (end - first) / step
    if not math.isfinite(steps):
        raise BadArgument(f"start {first}, limit {end}, delta {step}: the number of values is not finite")
    (count,) = checked_shape([max(math.ceil(steps), 0)], start.dtype)
    return np.asarray(start.reshape(()) + np.arange(count).astype(start.dtype) * delta.reshape(()), start.dtype)


def reshape(data: Tensor, shape: Tensor, *, allowzero: int = 0) -> Tensor:
    """Return data in another shape: -1 is what is left over, 0 copies the size of the same axis unless `allowzero`."""
    sizes = shape.tolist()
    if not allowzero and 0 in sizes:
        if any(size == 0 and i >= data.ndim for i, size in enumerate(sizes)):
            raise BadArgument(f"shape {sizes} copies the size of an axis that data of shape {list(data.shape)} lacks")
        sizes = [data.shape[i] if size == 0 else size for i, size in enumerate(sizes)]
    return data.reshape(sizes)


def shape(data: Tensor, *, start: int = 0, end: int | None = None) -> Tensor:
    """Return data's shape from axis `start` up to `end`, int64."""
    return np.array(data.shape[start:end], np.int64)


def size(data: Tensor) -> Tensor:
    """Return data's number of elements, int64 []."""
    return np.array(data.size, np.int64)


def slice_(
    data: Tensor, starts: Tensor, ends: Tensor, axes: Tensor | None = None, steps: Tensor | None = None
) -> Tensor:
    """Return `data[start:end:step]` on each of `axes`; negative values count from the end, all are clamped. A view."""
    return _sliced(
        data,
        tuple(starts.tolist()),
        tuple(ends.tolist()),
        None if axes is None else tuple(axes.tolist()),
        None if steps is None else tuple(steps.tolist()),
    )


def slice_1(
    data: Tensor, *, starts: tuple[int, ...], ends: tuple[int, ...], axes: tuple[int, ...] | None = None
) -> Tensor:
    """Return `slice_` with its arguments as attributes (versions 1 to 9)."""
    return _sliced(data, starts, ends, axes, None)


def _sliced(
    data: Tensor,
    starts: tuple[int, ...],
    ends: tuple[int, ...],
    axes: tuple[int, ...] | None,
    steps: tuple[int, ...] | None,
) -> Tensor:
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = (1,) * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise BadArgument(
            f"{len(starts)} starts, {len(ends)} ends, {len(axes)} axes and {len(steps)} steps must be equally many"
        )
    if 0 in steps or len({_axis(axis, data.ndim) for axis in axes}) != len(axes):
        raise BadArgument(f"steps {list(steps)} must not be 0 and axes {list(axes)} not repeat")
    where = [slice(None)] * data.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        where[axis] = slice(start, end, step)
    return data[tuple(where)]


def _axis(axis: int, ndim: int) -> int:
    """Return axis counted from the front."""
    if not -ndim <= axis < ndim:
        raise BadArgument(f"axis {axis} is outside a tensor of rank {ndim}")
    return axis % ndim


def split(input: Tensor, split: Tensor | None = None, *, axis: int = 0, num_outputs: int) -> tuple[Tensor, ...]:
    """Return input cut along `axis` into parts of sizes `split`, or `num_outputs` equal ones, the last smaller."""
    return _parts(input, None if split is None else split.tolist(), axis, num_outputs)


def split_2(
    input: Tensor, *, split: tuple[int, ...] | None = None, axis: int = 0, num_outputs: int
) -> tuple[Tensor, ...]:
    """Return `split` with the sizes as an attribute (versions 2 to 12)."""
    return _parts(input, None if split is None else list(split), axis, num_outputs)


def _parts(x: Tensor, sizes: list[int] | None, axis: int, count: int) -> tuple[Tensor, ...]:
    axis = _axis(axis, x.ndim)
    total = x.shape[axis]
    if sizes is None:
        if count < 1:
            raise BadArgument(f"num_outputs is {count}")
        each = -(-total // count)
        sizes = [max(min(each, total - i * each), 0) for i in range(count)]
    if sum(sizes) != total or min(sizes) < 0:
        raise BadArgument(f"parts {sizes} do not add up to {total}, the size of axis {axis}")
    ends = np.cumsum(sizes).tolist()
    front = (slice(None),) * axis
    return tuple(x[(*front, slice(end - part, end))] for part, end in zip(sizes, ends, strict=True))


def squeeze(data: Tensor, axes: Tensor | None = None) -> Tensor:
    """Return data without `axes`, which have size 1; without all such axes if none are given."""
    return data.squeeze(None if axes is None else tuple(axes.tolist()))


def squeeze_1(data: Tensor, *, axes: tuple[int, ...] | None = None) -> Tensor:
    """Return `squeeze` with the axes as an attribute (versions 1 to 12)."""
    return data.squeeze(axes)


def tile(input: Tensor, repeats: Tensor) -> Tensor:
    """Return input repeated `repeats[i]` times along axis i."""
    counts = repeats.tolist()
    if len(counts) != input.ndim:
        raise BadArgument(f"{len(counts)} repeats for a tensor of rank {input.ndim}")
    checked_shape([n * count for n, count in zip(input.shape, counts, strict=True)], input.dtype)
    return np.tile(input, counts)


def transpose(data: Tensor, *, perm: tuple[int, ...] | None = None) -> Tensor:
    """Return data with its axes in order `perm`, reversed by default; a view."""
    return data.transpose(perm)


def trilu(input: Tensor, k: Tensor | None = None, *, upper: int = 1) -> Tensor:
    """Return the matrices in the last two axes with everything below (upper) or above (lower) diagonal k set to 0."""
    diagonal = 0 if k is None else max(min(int(k.item()), sum(input.shape)), -sum(input.shape))
    return np.triu(input, diagonal) if upper else np.tril(input, diagonal)


def unsqueeze(data: Tensor, axes: Tensor) -> Tensor:
    """Return data with an axis of size 1 inserted at each of `axes`, counted in the result."""
    return data.reshape(_unsqueezed(data.shape, tuple(axes.reshape(-1).tolist())))


def unsqueeze_1(data: Tensor, *, axes: tuple[int, ...]) -> Tensor:
    """Return `unsqueeze` with the axes as an attribute (versions 1 to 12)."""
    return data.reshape(_unsqueezed(data.shape, axes))


@lru_cache(maxsize=1024)
def _unsqueezed(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape with 1 inserted at `axes`, counted in the result."""
    rank = len(shape) + len(axes)
    at = {_axis(axis, rank) for axis in axes}
    if len(at) != len(axes):
        raise BadArgument(f"axes {list(axes)} name an axis twice")
    sizes = iter(shape)
    return tuple(1 if axis in at else next(sizes) for axis in range(rank))
