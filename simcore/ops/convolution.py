"""Conv in 1, 2 and 3 dimensions, with groups, strides, dilations and every kind of padding.

    conv Conv 1

The way is chosen by shape; all give the same sums in another order (float32 accumulator in float32):

    1x1               one matrix product, no copy
    depthwise         see `depthwise`
    small maps        im2col of all images together: every window a column, one product
    stride 1 rows     k_w column-shifted copies; for every kernel row one product with a slice of them, results added
    general           im2col, image by image

The last two work on blocks of output rows whose copies fit the second-level cache. The way and the window are found
once for all calls with the same shapes and attributes. Source: ONNX operator specification; im2col as a term from
Chellapilla, Puri, Simard 2006.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from simcore.errors import BadArgument
from simcore.graph import Node
from simcore.ops.depthwise import depthwise
from simcore.ops.widen import Array, float32_inside, widen
from simcore.ops.windows import Window, planewise, window

__all__ = ["Filters", "conv", "prepared_filters"]

#: Elements of one block of copies.
_COPIES: Final = 1 << 18
#: Fewest columns of a block, so that the matrix product stays efficient.
_COLUMNS: Final = 256


@dataclass(frozen=True, slots=True, eq=False)
class Filters:
    """Filters of a convolution in the forms its ways need; made by `prepared_filters` for constants."""

    #: [M, C / group, kernel...].
    w: Array
    #: [group, k_h, M / group, k_w * C / group], for the rows way; None: not made yet.
    rows: Array | None = None


@dataclass(frozen=True, slots=True)
class _Route:
    """How a convolution of certain shapes and attributes is computed."""

    way: "Callable[[Array, Filters, Array | None, _Route], Array]"
    win: Window
    group: int
    #: Shape of the result.
    y: tuple[int, ...]
    #: Shape and strides of `_view` for the small way.
    view: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


@float32_inside
def conv(
    x: Array,
    w: Array | Filters,
    b: Array | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Array:
    """Return the convolution (cross-correlation) of x with filters w.

    Formula: `y[n, m, o] = b[m] + sum over c, k of w[m, c, k] * x[n, c0(m) + c, o * stride + k * dilation - pad]` with
    x = 0 outside and c0(m) the first channel of m's group.

    Args:
        x: [batch, C, spatial...] with 1 to 3 spatial axes.
        w: [M, C / group, kernel...], perhaps prepared.
        b: [M] or None.
        auto_pad: see `windows.window`.
        dilations: distance between taps, one entry per spatial axis.
        group: number of groups of channels convolved separately.
        kernel_shape: must agree with w.
        pads: all beginnings, then all ends.
        strides: one entry per spatial axis.

    Returns:
        [batch, M, out...] in the type of x.

    Raises:
        BadArgument: the shapes or attributes do not fit together.
    """
    filters = w if isinstance(w, Filters) else Filters(w)
    route = _route(
        x.shape,
        filters.w.shape,
        auto_pad,
        tuple(dilations or ()),
        group,
        tuple(kernel_shape or ()),
        tuple(pads or ()),
        tuple(strides or ()),
        x.itemsize,
    )
    return route.way(x, filters, b, route)


@lru_cache(maxsize=4096)
def _route(
    x: tuple[int, ...],
    w: tuple[int, ...],
    auto_pad: str,
    dilations: tuple[int, ...],
    group: int,
    kernel_shape: tuple[int, ...],
    pads: tuple[int, ...],
    strides: tuple[int, ...],
    itemsize: int,
) -> _Route:
    """Return the way for shapes x and w, after all checks."""
    rank = len(x) - 2
    if rank not in (1, 2, 3) or len(w) != len(x):
        raise BadArgument(
            f"Conv: x of shape {list(x)} with w of shape {list(w)}; "
            "both need the same rank, 3 to 5 (1 to 3 spatial axes)"
        )
    if group < 1 or w[0] % group or x[1] != w[1] * group:
        raise BadArgument(
            f"Conv: x has {x[1]} channels, w {list(w)} with group {group} needs {w[1] * group}, "
            "and the number of filters must be a multiple of group"
        )
    if kernel_shape and kernel_shape != w[2:]:
        raise BadArgument(f"Conv: kernel_shape {list(kernel_shape)} does not agree with w of shape {list(w)}")
    win = window("Conv", x[2:], w[2:], auto_pad=auto_pad, pads=pads, strides=strides, dilations=dilations)
    y = (x[0], w[0], *win.out)
    if not win.is_padded and all(k == 1 for k in win.kernel):
        return _Route(_pointwise, win, group, y)
    if group == x[1] > 1 and rank < 3:
        return _Route(_depthwise, win if rank == 2 else _plane(win), group, y)
    size = math.prod(win.out)
    if group == 1 and size <= _COLUMNS and x[0] * size * math.prod(w[1:]) <= _COPIES:
        sizes = (s + b + e for s, b, e in zip(x[2:], win.begin, win.end, strict=True))
        return _Route(_small, win, group, y, _view(win, (x[1], x[0], *sizes), itemsize))
    return _Route(_by_rows if _rows_pay(w[0] // group, w[1], win) else _by_windows, win, group, y)


def _plane(win: Window) -> Window:
    """Return the window over a line as one over a plane of height 1."""
    return Window(
        (1, *win.kernel), (1, *win.strides), (1, *win.dilations), (0, *win.begin), (0, *win.end), (1, *win.out)
    )


def prepared_filters(constants: Sequence[Any], node: Node) -> dict[int, Any]:
    """Return the constant filters of a Conv node in the forms its ways need, by position; see `table.PREPARED`."""
    w = constants[1]
    if w is None or w.ndim not in (3, 4, 5):
        return {}
    wide, group = widen(w), int(node.attributes.get("group", 1))  # type: ignore[arg-type]
    strides = tuple(node.attributes.get("strides") or (1,) * (w.ndim - 2))  # type: ignore[arg-type]
    vertical = w.ndim == 4 and w.shape[2] > 1 and strides[0] == 1 and w.shape[1] > 1
    return {1: Filters(wide, _row_filters(wide, group) if vertical else None)}


def _row_filters(w: Array, group: int) -> Array:
    """Return filters [M, c, k_h, k_w] as [group, k_h, M / group, k_w * c]."""
    m, c, k_h, k_w = w.shape
    split = w.reshape(group, m // group, c, k_h, k_w).transpose(0, 3, 1, 4, 2)
    return np.ascontiguousarray(split).reshape(group, k_h, m // group, k_w * c)


def _depthwise(x: Array, filters: Filters, b: Array | None, route: _Route) -> Array:
    if x.ndim == 3:
        return depthwise(x[:, :, None], filters.w[:, :, None], b, route.win)[:, :, 0]
    return depthwise(x, filters.w, b, route.win)


def _pointwise(x: Array, filters: Filters, b: Array | None, route: _Route) -> Array:
    """Return the convolution with a kernel of one element: a matrix product over channels."""
    w, win, group = filters.w, route.win, route.group
    if any(s > 1 for s in win.strides):
        x = x[(slice(None), slice(None), *(slice(None, None, s) for s in win.strides))]
    batch, (m, c) = x.shape[0], w.shape[:2]
    # Without an axis of groups the weights stay one matrix, which is packed once per image.
    around = (batch,) if group == 1 else (batch, group)
    y = np.matmul(w.reshape(*around[1:], m // group, c), x.reshape(*around, c, math.prod(win.out)))
    if b is not None:
        y += b.reshape(*around[1:], m // group, 1)
    return np.asarray(y.reshape(route.y))


def _small(x: Array, filters: Filters, b: Array | None, route: _Route) -> Array:
    """Return the convolution of images with few outputs as one product for the whole batch."""
    w, batch = filters.w, x.shape[0]
    padded = _padded(x.swapaxes(0, 1), route.win)
    shape, strides = route.view
    columns = np.ndarray(shape, x.dtype, padded, strides=strides).reshape(w[0].size, -1)
    y = np.matmul(w.reshape(w.shape[0], -1), columns)
    if b is not None:
        y += b[:, None]
    if batch == 1:
        return np.asarray(y.reshape(route.y))
    return np.ascontiguousarray(y.reshape(-1, batch, *route.win.out).swapaxes(0, 1))


def _by_rows(x: Array, filters: Filters, b: Array | None, route: _Route) -> Array:
    rows = _row_filters(filters.w, route.group) if filters.rows is None else filters.rows
    return _by_groups(_rows, x, rows, b, route)


def _by_windows(x: Array, filters: Filters, b: Array | None, route: _Route) -> Array:
    w = filters.w
    return _by_groups(_im2col, x, w.reshape(route.group, w.shape[0] // route.group, -1), b, route)


def _by_groups(
    fill: Callable[[Array, Array, Array | None, Window, Array], None],
    x: Array,
    weights: Array,
    b: Array | None,
    route: _Route,
) -> Array:
    """Return the convolution, group by group of each image."""
    group, batch = route.group, x.shape[0]
    m = weights.shape[-2]
    y = np.empty((batch, group, m, *route.win.out), x.dtype)
    sources = x.reshape(batch, group, -1, *x.shape[2:])
    for image, out in zip(sources, y, strict=True):
        for g in range(group):
            bias = None if b is None else b[g * m : (g + 1) * m, None]
            fill(image[g], weights[g], bias, route.win, out[g])
    return y.reshape(route.y)


def _rows_pay(m: int, c: int, win: Window) -> bool:
    """Return whether shifted copies move less than im2col: copies and additions counted."""
    if len(win.kernel) != 2 or win.strides[0] != 1:
        return False
    k_h, k_w = win.kernel
    return bool(k_w * c * (1 + (k_h - 1) / win.out[0]) + 1.5 * (k_h - 1) * m < k_h * k_w * c)


def _rows(x: Array, weights: Array, bias: Array | None, win: Window, y: Array) -> None:
    """Fill y [m, out_h, out_w] from k_w column-shifted copies of x [c, height, width]; the vertical stride is 1.

    weights is [k_h, m, k_w * c].
    """
    c, height, width = x.shape
    (k_h, k_w), (out_h, out_w), dilation = win.kernel, win.out, win.dilations[0]
    m = weights.shape[1]
    halo = (k_h - 1) * dilation
    rows = min(out_h, max(2 * halo, -(-_COLUMNS // out_w), _COPIES // (k_w * c * out_w)))
    copies = np.zeros((k_w, c, rows + halo, out_w), x.dtype)
    partial = np.empty((m, rows * out_w), x.dtype)
    spans = [win.valid(1, j, width) for j in range(k_w)]
    for start in range(0, out_h, rows):
        n = min(rows, out_h - start)
        first = start - win.begin[0]
        low, high = max(0, -first), max(0, min(n + halo, height - first))
        copies[:, :, :low] = 0
        copies[:, :, high:] = 0
        for j, (to, source) in enumerate(spans):
            copies[j, :, low:high, to] = x[:, first + low : first + high, source]
        out = y[:, start : start + n].reshape(m, n * out_w)
        for i in range(k_h):
            slices = copies[:, :, i * dilation : i * dilation + n].reshape(k_w * c, n * out_w)
            if i == 0:
                np.matmul(weights[0], slices, out=out)
            else:
                out += np.matmul(weights[i], slices, out=partial[:, : n * out_w])
        if bias is not None:
            out += bias


def _im2col(x: Array, weights: Array, bias: Array | None, win: Window, y: Array) -> None:
    """Fill y [m, out...] with one product per block of output rows; x is [c, spatial...], any rank and stride.

    weights is [m, c * taps].
    """
    m, c = len(weights), len(x)
    padded = _padded(x, win)
    shape, strides = _view(win, padded.shape, x.itemsize)
    # The constructor of an array is several times faster than as_strided.
    windows: Array = np.ndarray(shape, x.dtype, padded, strides=strides)
    taps, inner = weights.shape[1], math.prod(win.out[1:])
    rows = min(win.out[0], max(1, -(-_COLUMNS // inner), _COPIES // (taps * inner)))
    columns = np.empty((c, *win.kernel, rows, *win.out[1:]), x.dtype)
    skip = (slice(None),) * (1 + len(win.kernel))
    for start in range(0, win.out[0], rows):
        n = min(rows, win.out[0] - start)
        block = columns if n == rows else np.empty((c, *win.kernel, n, *win.out[1:]), x.dtype)
        block[...] = windows[(*skip, slice(start, start + n))]
        out = y[:, start : start + n].reshape(m, n * inner)
        np.matmul(weights, block.reshape(taps, n * inner), out=out)
        if bias is not None:
            out += bias


def _padded(x: Array, win: Window) -> Array:
    """Return x with zeros around its spatial axes, which are the last; contiguous."""
    if not win.is_padded:
        return np.ascontiguousarray(x)
    rank = len(win.out)
    sizes = x.shape[-rank:]
    around = (s + b + e for s, b, e in zip(sizes, win.begin, win.end, strict=True))
    padded = np.zeros((*x.shape[:-rank], *around), x.dtype)
    padded[planewise(slice(b, b + s) for s, b in zip(sizes, win.begin, strict=True))] = x
    return padded


@lru_cache(maxsize=4096)
def _view(win: Window, padded: tuple[int, ...], itemsize: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shape and strides of the view [c, kernel..., batch..., out...] of a contiguous [c, batch..., spatial...].

    Every window of the input is one entry of the last axes; no element is copied.
    """
    rank = len(win.out)
    steps = [itemsize * math.prod(padded[axis + 1 :]) for axis in range(len(padded))]
    taps = (step * d for step, d in zip(steps[-rank:], win.dilations, strict=True))
    moves = (step * s for step, s in zip(steps[-rank:], win.strides, strict=True))
    return (padded[0], *win.kernel, *padded[1:-rank], *win.out), (steps[0], *taps, *steps[1:-rank], *moves)
