"""Conv in 1, 2 and 3 dimensions, with groups, strides, dilations and every kind of padding.

    conv Conv 1

The way is chosen by shape; all give the same sums in another order (float32 accumulator in float32):

    1x1               one matrix product, no copy
    depthwise         see `depthwise`
    stride 1 rows     k_w column-shifted copies; for every kernel row one product with a slice of them, results added
    general           im2col: every window a column, one product

The last two work on blocks of output rows whose copies fit the second-level cache. Source: ONNX operator
specification; im2col as a term from Chellapilla, Puri, Simard 2006.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from simcore.errors import BadArgument
from simcore.ops.depthwise import depthwise
from simcore.ops.widen import Array, float32_inside
from simcore.ops.windows import Window, window

__all__ = ["conv"]

#: Elements of one block of copies.
_COPIES: Final = 1 << 18
#: Fewest columns of a block, so that the matrix product stays efficient.
_COLUMNS: Final = 256


@float32_inside
def conv(
    x: Array,
    w: Array,
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
        w: [M, C / group, kernel...].
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
    rank = x.ndim - 2
    if rank not in (1, 2, 3) or w.ndim != x.ndim:
        raise BadArgument(
            f"Conv: x of shape {list(x.shape)} with w of shape {list(w.shape)}; "
            "both need the same rank, 3 to 5 (1 to 3 spatial axes)"
        )
    if group < 1 or w.shape[0] % group or x.shape[1] != w.shape[1] * group:
        raise BadArgument(
            f"Conv: x has {x.shape[1]} channels, w {list(w.shape)} with group {group} needs {w.shape[1] * group}, "
            "and the number of filters must be a multiple of group"
        )
    if kernel_shape and tuple(kernel_shape) != w.shape[2:]:
        raise BadArgument(f"Conv: kernel_shape {list(kernel_shape)} does not agree with w of shape {list(w.shape)}")
    win = window("Conv", x.shape[2:], w.shape[2:], auto_pad=auto_pad, pads=pads, strides=strides, dilations=dilations)
    if rank == 1:
        flat = Window(
            (1, *win.kernel), (1, *win.strides), (1, *win.dilations), (0, *win.begin), (0, *win.end), (1, *win.out)
        )
        return _convolve(x[:, :, None], w[:, :, None], b, flat, group)[:, :, 0]
    return _convolve(x, w, b, win, group)


def _convolve(x: Array, w: Array, b: Array | None, win: Window, group: int) -> Array:
    if not win.is_padded and all(k == 1 for k in win.kernel):
        return _pointwise(x, w, b, win, group)
    if group == x.shape[1] > 1 and x.ndim == 4:
        return depthwise(x, w, b, win)
    y = np.empty((x.shape[0], w.shape[0], *win.out), x.dtype)
    c, m = w.shape[1], w.shape[0] // group
    for image, out in zip(x, y, strict=True):
        for g in range(group):
            fill = _rows if _rows_pay(w[:m], win) else _im2col
            bias = None if b is None else b[g * m : (g + 1) * m, None]
            fill(image[g * c : (g + 1) * c], w[g * m : (g + 1) * m], bias, win, out[g * m : (g + 1) * m])
    return y


def _pointwise(x: Array, w: Array, b: Array | None, win: Window, group: int) -> Array:
    """Return the convolution with a kernel of one element: a matrix product over channels."""
    if any(s > 1 for s in win.strides):
        x = x[(slice(None), slice(None), *(slice(None, None, s) for s in win.strides))]
    batch, (filters, c), size = x.shape[0], w.shape[:2], math.prod(win.out)
    source = x.reshape(batch, group, c, size)
    y = np.empty((batch, group, filters // group, size), x.dtype)
    weights = w.reshape(group, filters // group, c)
    np.matmul(weights, source, out=y)
    if b is not None:
        y += b.reshape(group, -1, 1)
    return y.reshape(batch, filters, *win.out)


def _rows_pay(w: Array, win: Window) -> bool:
    """Return whether shifted copies move less than im2col: copies, additions and reordered weights counted."""
    if len(win.kernel) != 2 or win.strides[0] != 1:
        return False
    (m, c), (k_h, k_w), size = w.shape[:2], win.kernel, win.out[0] * win.out[1]
    rows = (k_w * c * (1 + (k_h - 1) / win.out[0]) + 1.5 * (k_h - 1) * m) * size + 3 * w.size
    return bool(rows < k_h * k_w * c * size)


def _rows(x: Array, w: Array, bias: Array | None, win: Window, y: Array) -> None:
    """Fill y [m, out_h, out_w] from k_w column-shifted copies of x [c, height, width]; the vertical stride is 1."""
    c, height, width = x.shape
    (k_h, k_w), (out_h, out_w), dilation = win.kernel, win.out, win.dilations[0]
    m = w.shape[0]
    weights = np.ascontiguousarray(w.transpose(2, 0, 3, 1)).reshape(k_h, m, k_w * c)
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


def _im2col(x: Array, w: Array, bias: Array | None, win: Window, y: Array) -> None:
    """Fill y [m, out...] with one product per block of output rows; x is [c, spatial...], any rank and stride."""
    m, c = w.shape[:2]
    padded = np.ascontiguousarray(x)
    if win.is_padded:
        padded = np.zeros((c, *(s + b + e for s, b, e in zip(x.shape[1:], win.begin, win.end, strict=True))), x.dtype)
        padded[(slice(None), *(slice(b, b + s) for s, b in zip(x.shape[1:], win.begin, strict=True)))] = x
    steps = padded.strides[1:]
    # The constructor of an array is several times faster than as_strided.
    windows: Array = np.ndarray(
        (c, *win.kernel, *win.out),
        padded.dtype,
        padded,
        strides=(
            padded.strides[0],
            *(s * d for s, d in zip(steps, win.dilations, strict=True)),
            *(s * d for s, d in zip(steps, win.strides, strict=True)),
        ),
    )
    weights = w.reshape(m, -1)
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
