"""Integer convolution, exact: a float convolution where its sums cannot round, else the product of simcore.matmul.

    1. check and complete the geometry: pads, output sizes (simcore.ops.windows)
    2. subtract the zero points; padding is real 0 (the code x_zero_point)
    3. one group, or depthwise: the float32 convolution of the graph executor, in few passes of so many channels that
       every sum is exact
    4. else for one tile of groups and output rows: copy the patches into columns (im2col), multiply by the weights
    5. add the bias, apply the overflow rule of the 32-bit accumulator

A tile's columns stay in the cache; with few channels per group a tile holds many groups, so that they share the cost
of a numpy call.
"""

import math
from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import Any, Final, Literal, overload

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import ArrayLike, NDArray

from simcore.errors import BadArgument
from simcore.matmul import FLOAT32_EXACT, Operand, exact_product, fits_int32, operand
from simcore.ops.convolution import conv as float_conv
from simcore.ops.windows import Window, window
from simcore.rounding import Overflow, narrow_int32, wrap

__all__ = ["AutoPad", "conv", "with_bias"]

AutoPad = Literal["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]
"""ONNX auto_pad; its formulas are in simcore.ops.windows."""

#: Bytes of columns in one tile, about a core's second-level cache.
_TILE_BYTES: Final = 1 << 20
#: Most passes of the float convolution; more, shorter ones cost more than im2col with exact blocks.
_PASSES: Final = 4


@overload
def conv(
    x: NDArray[np.integer],
    w: NDArray[np.integer] | Operand,
    x_zero_point: ArrayLike = ...,
    w_zero_point: ArrayLike = ...,
    bias: NDArray[np.integer] | None = ...,
    *,
    strides: Sequence[int] | None = ...,
    pads: Sequence[int] | None = ...,
    dilations: Sequence[int] | None = ...,
    group: int = ...,
    auto_pad: AutoPad = ...,
    overflow: Literal["wrap", "saturate"] = ...,
) -> NDArray[np.int32]: ...
@overload
def conv(
    x: NDArray[np.integer],
    w: NDArray[np.integer] | Operand,
    x_zero_point: ArrayLike = ...,
    w_zero_point: ArrayLike = ...,
    bias: NDArray[np.integer] | None = ...,
    *,
    strides: Sequence[int] | None = ...,
    pads: Sequence[int] | None = ...,
    dilations: Sequence[int] | None = ...,
    group: int = ...,
    auto_pad: AutoPad = ...,
    overflow: Literal["wide"],
) -> NDArray[np.int64]: ...
def conv(
    x: NDArray[np.integer],
    w: NDArray[np.integer] | Operand,
    x_zero_point: ArrayLike = 0,
    w_zero_point: ArrayLike = 0,
    bias: NDArray[np.integer] | None = None,
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    group: int = 1,
    auto_pad: AutoPad = "NOTSET",
    overflow: Overflow = "wrap",
) -> NDArray[np.int32] | NDArray[np.int64]:
    """Return the convolution of integer codes, exact up to the chosen overflow.

    `y[n, m, o] = bias[m] + sum over c, t of (x[n, c, o*stride + t*dilation - pad] - x_zero_point) *
    (w[m, c, t] - w_zero_point)`; padding is real 0, that is the code x_zero_point.

    Args:
        x: codes [n, channels, *size] with 1, 2 or 3 (or more) spatial axes, 8 or 16 bits.
        w: codes [m, channels / group, *kernel]; or an `Operand` of that shape, zero point already subtracted.
        x_zero_point: one integer.
        w_zero_point: one integer, or [m].
        bias: int32 [m] in units of x_scale * w_scale, or None.
        strides: per spatial axis; default 1.
        pads: all begins, then all ends; default 0.
        dilations: per spatial axis; default 1.
        group: groups of channels; `group == channels` is depthwise.
        auto_pad: see AutoPad.
        overflow: what a 32-bit accumulator makes of the exact sum, bias included; see rounding.narrow_int32.

    Returns:
        [n, m, *out], int32 for "wrap" and "saturate", int64 for "wide".

    Raises:
        BadArgument: types, shapes or modes that do not fit.

    Source: ONNX operators ConvInteger and QLinearConv; exactness as in simcore.matmul.
    """
    codes = np.asarray(x)
    weights = _weights(w, w_zero_point)
    shape = weights.values.shape
    if codes.ndim < 3 or len(shape) != codes.ndim:
        raise BadArgument(f"conv: x {list(codes.shape)} and w {list(shape)} must have equal rank, 3 or more")
    if group < 1 or codes.shape[1] != shape[1] * group or shape[0] % group:
        raise BadArgument(
            f"conv: x has {codes.shape[1]} channels, w is {list(shape)}: with group {group} it needs "
            f"{shape[1] * group} channels and a first axis that {group} divides"
        )
    win = window("conv", codes.shape[2:], shape[2:], auto_pad=auto_pad, pads=pads, strides=strides, dilations=dilations)
    point = _input_point(codes, np.asarray(x_zero_point))
    if codes.ndim <= 5 and codes.size and weights.values.size and (group == 1 or shape[1] == 1):
        data = operand(codes, point)
        at_once = FLOAT32_EXACT // max(1, data.limit * weights.limit * math.prod(shape[2:]))
        if at_once * (_PASSES if group == 1 else 1) >= shape[1]:
            return with_bias(_float_sums(data.values, weights.values, win, group, at_once), bias, overflow)
    sums = _grouped_product(_padded(codes, point, win), weights, group, win)
    return with_bias(sums.reshape(codes.shape[0], shape[0], *win.out), bias, overflow)


def with_bias(
    sums: NDArray[np.integer], bias: NDArray[np.integer] | None, overflow: Overflow
) -> NDArray[np.int32] | NDArray[np.int64]:
    """Return exact sums with the bias added, as the accumulator shows them.

    Args:
        sums: int32 or int64 [n, m, *out].
        bias: integers [m], or None.
        overflow: see rounding.narrow_int32; int32 for "wrap" and "saturate", int64 for "wide".

    Raises:
        BadArgument: the bias is not integer or not [m], or the mode is unknown.
    """
    if bias is not None:
        added = np.asarray(bias)
        if added.dtype.kind not in "iu" or added.shape != sums.shape[1:2]:
            raise BadArgument(f"bias: expected integers [{sums.shape[1]}], got {added.dtype} {list(added.shape)}")
        # Int32 addition of arrays wraps silently, which is the rule asked for; the others need the exact sum.
        added = wrap(added, "int32") if overflow == "wrap" else added.astype(np.int64)
        sums = sums + added.reshape(-1, *(1,) * (sums.ndim - 2))
    narrow = narrow_int32(sums, overflow)
    return narrow.astype(np.int64, copy=False) if overflow == "wide" else narrow.astype(np.int32, copy=False)


def _weights(w: NDArray[np.integer] | Operand, zero_point: ArrayLike) -> Operand:
    points = np.asarray(zero_point)
    if isinstance(w, Operand):
        if np.any(points):
            raise BadArgument("w_zero_point: w is already prepared; subtract its zero point in operand(...)")
        return w
    codes = np.asarray(w)
    if points.ndim == 1 and points.size > 1:
        points = points.reshape(-1, *(1,) * (codes.ndim - 1))
    return operand(codes, points)


def _grouped_product(data: Operand, weights: Operand, group: int, win: Window) -> NDArray[np.integer]:
    """Return the sums [n, group, m / group, positions], computed tile by tile."""
    n, channels = data.values.shape[:2]
    maps, taps = weights.values.shape[0] // group, math.prod(weights.values.shape[1:])
    rows = weights.values.reshape(group, maps, taps)
    positions = math.prod(win.out)
    if _is_pointwise(win):
        pixels = data.values.reshape(n, group, channels // group, positions)
        return exact_product(Operand(rows, weights.limit), Operand(pixels, data.limit))
    patches = _patches(data.values, group, win)
    dtype = np.dtype(np.int32 if fits_int32(data, weights, taps) else np.int64)
    sums: NDArray[np.integer] = np.empty((n, group, maps, positions), dtype)
    per_line = math.prod(win.out[1:])
    tiles = list(_tiles(rows.shape, win.out))
    # One buffer for all tiles: fresh pages cost as much as the copy itself.
    first_groups, first_lines = tiles[0] if tiles else (slice(0, 0), slice(0, 0))
    buffer = np.empty(first_groups.stop * taps * first_lines.stop * per_line, np.float32)
    for groups, lines in tiles:
        tile_rows = Operand(rows[groups], weights.limit)
        for image in range(n):
            at: tuple[int | slice | EllipsisType, ...] = (
                image,
                groups,
                ...,
                lines,
                *(slice(None),) * (len(win.out) - 1),
            )
            tile = patches[at]
            columns = buffer[: tile.size].reshape(tile.shape)
            np.copyto(columns, tile)
            span = slice(lines.start * per_line, lines.stop * per_line)
            matrix = columns.reshape(groups.stop - groups.start, taps, span.stop - span.start)
            exact_product(tile_rows, Operand(matrix, data.limit), out=sums[image, groups, :, span])
    return sums


def _float_sums(
    values: NDArray[np.float32], weights: NDArray[np.float32], win: Window, group: int, at_once: int
) -> NDArray[np.integer]:
    """Return the sums [n, m, *out], int32, by float convolutions of at most `at_once` channels of each group.

    A float convolution adds its products, and zeros, in some order, so the bound of simcore.matmul holds for it: every
    sum over `at_once` channels stays within 2^24. The few passes are added as integers.
    """
    how: dict[str, Any] = {"pads": win.begin + win.end, "strides": win.strides, "dilations": win.dilations}
    if at_once >= weights.shape[1]:
        return float_conv(values, weights, group=group, **how).astype(np.int32)
    total: NDArray[np.integer] | None = None
    for first in range(0, weights.shape[1], at_once):
        part = slice(first, first + at_once)
        sums = float_conv(values[:, part], weights[:, part], **how).astype(np.int32)
        total = sums if total is None else np.add(total, sums, out=total)
    assert total is not None, "weights have channels"
    return total


def _is_pointwise(win: Window) -> bool:
    """Return whether the input itself is the matrix of columns: kernel 1, stride 1, no padding."""
    return max(*win.kernel, *win.strides) == 1 and not any(win.begin + win.end)


def _input_point(codes: NDArray[np.integer], zero_point: NDArray[np.generic]) -> int:
    """Return the zero point of the input, checked."""
    if zero_point.size != 1 or zero_point.dtype.kind not in "iu" or codes.dtype.kind not in "iu":
        raise BadArgument(
            f"x: expected integer codes and one integer x_zero_point per tensor, got {codes.dtype} and "
            f"{zero_point.dtype} {list(zero_point.shape)}"
        )
    point, info = int(zero_point.reshape(())), np.iinfo(codes.dtype)
    if not info.min <= point <= info.max:
        raise BadArgument(f"x_zero_point: {point} is no {codes.dtype} code")
    return point


def _padded(codes: NDArray[np.integer], point: int, win: Window) -> Operand:
    """Return the input with its pads, zero point subtracted; padding happens on the narrow codes."""
    begin, end = win.begin, win.end
    if not any(begin + end):
        return operand(codes, point)
    sizes = (s + b + e for s, b, e in zip(codes.shape[2:], begin, end, strict=True))
    padded = np.full((*codes.shape[:2], *sizes), point, codes.dtype)
    inner = (slice(b, b + s) for s, b in zip(codes.shape[2:], begin, strict=True))
    padded[(slice(None), slice(None), *inner)] = codes
    return operand(padded, point)


def _patches(values: NDArray[np.float32], group: int, win: Window) -> NDArray[np.float32]:
    """Return a view [n, group, channels / group, *kernel, *out] of the padded input; no entry is copied."""
    n, channels = values.shape[:2]
    grouped = np.ascontiguousarray(values).reshape(n, group, channels // group, *values.shape[2:])
    steps = grouped.strides[3:]
    return as_strided(
        grouped,
        (*grouped.shape[:3], *win.kernel, *win.out),
        (
            *grouped.strides[:3],
            *(step * d for step, d in zip(steps, win.dilations, strict=True)),
            *(step * s for step, s in zip(steps, win.strides, strict=True)),
        ),
        writeable=False,
    )


def _tiles(rows: tuple[int, ...], out: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """Yield (groups, lines of the first output axis) so that a tile's columns fit the budget; at least one of each."""
    group, per_group, taps = rows
    budget = _TILE_BYTES
    if per_group * 8 >= taps:
        # A wide product: the tile should outweigh the weights that each tile reads again.
        budget = min(4 * budget, max(budget // 2, 64 * per_group * taps))
    line_bytes = 4 * taps * math.prod(out[1:])
    lines = max(1, min(out[0], budget // max(line_bytes, 1)))
    groups = max(1, min(group, budget // max(line_bytes * lines, 1)))
    for first_group in range(0, group, groups):
        for first in range(0, out[0], lines):
            yield slice(first_group, min(first_group + groups, group)), slice(first, min(first + lines, out[0]))
