"""Depthwise convolution: one small filter per channel, the case for which BLAS offers nothing directly.

Two ways, both measured against a loop over taps (two passes over the output for every tap):

    banded      The k_w column-shifted copies of a row stand below each other, [rows, k_w, out_w]. A block of output
                rows is then one product of a banded matrix (k_h * k_w taps in every row) with a contiguous slice of
                those copies. The band wastes multiplications by zero, but the product runs at matrix speed and only
                k_w copies are made instead of k_h * k_w.
    channels    For small maps with many channels the product is too small to pay for its call. With channels last
                every tap is one multiplication and addition over all channels at once.
"""

from typing import Final

import numpy as np

from simcore.ops.widen import Array
from simcore.ops.windows import Window

__all__ = ["depthwise"]

#: Elements of the copies that should stay in the second-level cache.
_COPIES: Final = 1 << 17
#: Output rows per banded product: more waste more multiplications, fewer make the calls too small.
_ROWS: Final = 8
#: Channels last wins for at most this many outputs per channel and taps, and at least this many channels.
_SMALL_MAP: Final = 256
_FEW_TAPS: Final = 25
_MANY_CHANNELS: Final = 192


def depthwise(x: Array, w: Array, bias: Array | None, win: Window) -> Array:
    """Return the convolution of every channel with its own filters.

    Args:
        x: [batch, channels, height, width].
        w: [channels * multiplier, 1, k_h, k_w]; filter `c * multiplier + i` reads channel c.
        bias: [channels * multiplier] or None.
        win: the window over height and width.

    Returns:
        [batch, channels * multiplier, out_h, out_w], accumulated in the type of x.
    """
    channels, filters = x.shape[1], w.shape[0]
    y = np.empty((x.shape[0], filters, *win.out), x.dtype)
    step = filters // channels
    taps, outputs = w.shape[2] * w.shape[3], win.out[0] * win.out[1]
    fill = _channels_last if taps <= _FEW_TAPS and outputs <= _SMALL_MAP and channels >= _MANY_CHANNELS else _banded
    for first in range(step):
        part = slice(first, None, step)
        for image, out in zip(x, y[:, part], strict=True):
            fill(image, w[part, 0], win, out)
    if bias is not None:
        y += bias[:, None, None]
    return y


def _banded(x: Array, w: Array, win: Window, y: Array) -> None:
    """Fill y [channels, out_h, out_w] block by block of channels and of output rows."""
    channels, height, width = x.shape
    (k_h, k_w), (out_h, out_w), stride, dilation = win.kernel, win.out, win.strides[0], win.dilations[0]
    rows = min(_ROWS, out_h)
    reach = (rows - 1) * stride + (k_h - 1) * dilation + 1
    padded = (out_h - 1) * stride + (k_h - 1) * dilation + 1
    band = np.zeros((channels, rows, reach, k_w), x.dtype)
    row = np.arange(rows)
    for i in range(k_h):
        band[:, row, row * stride + i * dilation] = w[:, i, None]
    filters = band.reshape(channels, rows, reach * k_w)

    block = max(1, min(channels, _COPIES // (padded * k_w * out_w)))
    copies = np.zeros((block, padded, k_w, out_w), x.dtype)
    top = win.begin[0]
    used = min(height, padded - top)
    starts = [*range(0, out_h - rows + 1, rows)]
    if out_h % rows:
        # The last block overlaps its neighbour, so that all blocks share one banded matrix.
        starts.append(out_h - rows)
    for c in range(0, channels, block):
        n = min(block, channels - c)
        for j in range(k_w):
            to, source = win.valid(1, j, width)
            copies[:n, top : top + used, j, to] = x[c : c + n, :used, source]
        for r in starts:
            part = copies[:n, r * stride : r * stride + reach].reshape(n, reach * k_w, out_w)
            np.matmul(filters[c : c + n], part, out=y[c : c + n, r : r + rows])


def _channels_last(x: Array, w: Array, win: Window, y: Array) -> None:
    """Fill y [channels, out_h, out_w], one multiplication and addition over all channels for every tap."""
    channels, height, width = x.shape
    source = np.ascontiguousarray(x.transpose(1, 2, 0))
    taps = np.ascontiguousarray(w.transpose(1, 2, 0))
    total = np.zeros((*win.out, channels), x.dtype)
    for i in range(win.kernel[0]):
        to_row, from_row = win.valid(0, i, height)
        for j in range(win.kernel[1]):
            to_column, from_column = win.valid(1, j, width)
            total[to_row, to_column] += source[from_row, from_column] * taps[i, j]
    y[...] = total.transpose(2, 0, 1)
