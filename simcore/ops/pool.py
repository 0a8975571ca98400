"""Pooling over windows and over whole maps.

Operators by (name, first opset version served):

    average_pool AveragePool 1 · global_average_pool GlobalAveragePool 1 · global_lp_pool GlobalLpPool 2
    global_max_pool GlobalMaxPool 1 · lp_pool LpPool 2 · max_pool MaxPool 1

Sums and maxima over a box are taken axis by axis: k_h + k_w passes instead of k_h * k_w. Padding is never copied; a
tap only touches the outputs for which it lies inside. Source: ONNX operator specification.
"""

import math
from collections.abc import Sequence
from functools import reduce
from itertools import product

import numpy as np

from simcore.errors import BadArgument
from simcore.ops.widen import Array, float32_inside
from simcore.ops.windows import Window, planewise, window


def _over_windows(ufunc: np.ufunc, x: Array, win: Window, outside: float) -> Array:
    """Return ufunc (add or maximum) over every window of the spatial axes; padding counts as `outside`."""
    for axis, size in enumerate(x.shape[2:]):
        if win.kernel[axis] == win.strides[axis] == 1 and not (win.begin[axis] or win.end[axis]):
            continue
        before = (slice(None),) * (axis + 2)
        taps = [win.valid(axis, k, size) for k in range(win.kernel[axis])]
        whole = next((k for k, (to, _) in enumerate(taps) if to == slice(0, win.out[axis])), None)
        if whole is None:
            y = np.full((*x.shape[: axis + 2], win.out[axis], *x.shape[axis + 3 :]), outside, x.dtype)
        else:
            # A tap that every output has starts the result, instead of a constant.
            y = x[(*before, taps[whole][1])].copy()
        for k, (to, source) in enumerate(taps):
            if k != whole:
                target = y[(*before, to)]
                ufunc(target, x[(*before, source)], out=target)
        x = y
    return x


def _counts(win: Window, sizes: Sequence[int], padding: int) -> Array:
    """Return how many taps of each window lie inside the input (or, with padding, inside the padded input), float64."""
    per_axis = []
    for axis, size in enumerate(sizes):
        first = np.arange(win.out[axis]) * win.strides[axis] - win.begin[axis]
        taps = first[:, None] + np.arange(win.kernel[axis]) * win.dilations[axis]
        if padding:
            per_axis.append((taps < size + win.end[axis]).sum(1))
        else:
            per_axis.append(((taps >= 0) & (taps < size)).sum(1))
    return np.asarray(reduce(np.multiply.outer, per_axis), np.float64)


@float32_inside
def average_pool(
    x: Array,
    *,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Array:
    """Return the mean over windows, `sum / count`, in the type of x.

    Args:
        x: [batch, channels, spatial...].
        kernel_shape: window size per spatial axis.
        auto_pad: see `windows.window`.
        ceil_mode: 1 rounds output sizes up; elements beyond the padding then never count.
        count_include_pad: 1 counts padding as zeros, 0 leaves it out of the mean.
        dilations: distance between taps.
        pads: all beginnings, then all ends.
        strides: step between windows.

    Raises:
        BadArgument: the attributes do not fit x.
    """
    win = _window("AveragePool", x, kernel_shape, auto_pad, ceil_mode, dilations, pads, strides)
    y = _over_windows(np.add, x, win, 0)
    counts = _counts(win, x.shape[2:], count_include_pad)
    return np.asarray(np.divide(y, counts.astype(x.dtype)))


@float32_inside
def lp_pool(
    x: Array,
    *,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[int] | None = None,
    p: int = 2,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Array:
    """Return `(sum |x|^p) ^ (1/p)` over windows; attributes as in `average_pool`."""
    win = _window("LpPool", x, kernel_shape, auto_pad, ceil_mode, dilations, pads, strides)
    return _root(_over_windows(np.add, _power(x, p), win, 0), p)


@float32_inside
def max_pool(
    x: Array,
    *,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    storage_order: int = 0,
    strides: Sequence[int] | None = None,
    num_outputs: int = 1,
) -> tuple[Array, ...]:
    """Return the maximum over windows and, if asked for, where it is.

    Args:
        x: [batch, channels, spatial...], float, int8 or uint8.
        kernel_shape: window size per spatial axis.
        auto_pad: see `windows.window`.
        ceil_mode: 1 rounds output sizes up.
        dilations: distance between taps.
        pads: all beginnings, then all ends; padding is never the maximum.
        storage_order: order of the spatial axes in the indices, 0 last axis fastest, 1 first axis fastest.
        strides: step between windows.
        num_outputs: 2 for the indices.

    Returns:
        (y,) or (y, indices): int64 positions in the whole flat tensor, of equal maxima the first; -1 for a window
        that lies in the padding altogether, whose y is the lowest value of the type.

    Raises:
        BadArgument: the attributes do not fit x.
    """
    win = _window("MaxPool", x, kernel_shape, auto_pad, ceil_mode, dilations, pads, strides)
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    if num_outputs < 2:
        return (_over_windows(np.maximum, x, win, lowest),)
    y = np.full((*x.shape[:2], *win.out), lowest, x.dtype)
    indices = np.full(y.shape, -1, np.int64)
    spatial = np.arange(math.prod(x.shape[2:])).reshape(x.shape[2:], order="F" if storage_order else "C")
    planes = np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *(1,) * len(win.out)) * spatial.size
    for tap in product(*map(range, win.kernel)):
        spans = [win.valid(axis, k, x.shape[axis + 2]) for axis, k in enumerate(tap)]
        to = planewise(t for t, _ in spans)
        source = planewise(s for _, s in spans)
        candidate = x[source]
        better = (candidate > y[to]) | (indices[to] < 0)
        y[to] = np.where(better, candidate, y[to])
        indices[to] = np.where(better, spatial[source] + planes, indices[to])
    return y, indices


@float32_inside
def global_average_pool(x: Array) -> Array:
    """Return the mean over all spatial axes, [batch, channels, 1...]."""
    size = math.prod(x.shape[2:])
    total = np.add.reduce(x.reshape(*x.shape[:2], size), axis=2)
    return np.asarray((total / x.dtype.type(size)).reshape(*x.shape[:2], *(1,) * (x.ndim - 2)))


@float32_inside
def global_max_pool(x: Array) -> Array:
    """Return the maximum over all spatial axes, [batch, channels, 1...]."""
    return np.asarray(np.maximum.reduce(x, axis=tuple(range(2, x.ndim)), keepdims=True))


@float32_inside
def global_lp_pool(x: Array, *, p: int = 2) -> Array:
    """Return `(sum |x|^p) ^ (1/p)` over all spatial axes, [batch, channels, 1...]."""
    return _root(np.add.reduce(_power(x, p), axis=tuple(range(2, x.ndim)), keepdims=True), p)


def _window(
    op: str,
    x: Array,
    kernel_shape: Sequence[int],
    auto_pad: str,
    ceil_mode: int,
    dilations: Sequence[int] | None,
    pads: Sequence[int] | None,
    strides: Sequence[int] | None,
) -> Window:
    if x.ndim < 3:
        raise BadArgument(f"{op}: x of shape {list(x.shape)} has no spatial axis; give [batch, channels, spatial...]")
    return window(
        op,
        x.shape[2:],
        kernel_shape,
        auto_pad=auto_pad,
        pads=pads,
        strides=strides,
        dilations=dilations,
        ceil_mode=ceil_mode,
    )


def _power(x: Array, p: int) -> Array:
    return np.abs(x) if p == 1 else np.square(x) if p == 2 else np.power(np.abs(x), x.dtype.type(p))


def _root(x: Array, p: int) -> Array:
    return x if p == 1 else np.sqrt(x) if p == 2 else np.power(x, x.dtype.type(1 / p))
