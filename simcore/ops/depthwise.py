"""Depthwise convolution: one small filter per channel, the case for which BLAS offers nothing directly.

Two ways, chosen by measurement:

    stacked     The k_w column-shifted copies of a row stand below each other, [rows, k_w, out_w]. The taps of an output
                row are then one contiguous matrix [k_h * k_w, out_w] of those copies, and the output row is the product
                of the filter, as a vector, with it. Only k_w copies are made instead of k_h * k_w, neighbouring output
                rows share them, and one call of the library computes all rows of a block of channels.
    channels    For small maps with many channels the product is too small to pay for its call. With channels last
                every tap is one multiplication and addition over all channels at once.
"""

from typing import Final

import numpy as np

from simcore.ops.widen import Array
from simcore.ops.windows import Window

__all__ = ["depthwise"]

#: Elements of the copies of a block of channels, so that they stay in cache.
_COPIES: Final = 1 << 17
#: Channels last wins for at least this many channels and at most this many outputs per channel and taps.
_MANY_CHANNELS: Final = 192
_SMALL_MAP: Final = 1800
_FEW_TAPS: Final = 25


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
    is_small = taps <= _FEW_TAPS and outputs * taps <= _SMALL_MAP and channels >= _MANY_CHANNELS
    fill = _channels_last if is_small else _stacked
    for first in range(step):
        part = slice(first, None, step)
        for image, out in zip(x, y[:, part], strict=True):
            fill(image, w[part, 0], None if bias is None else bias[part, None, None], win, out)
    return y


def _stacked(x: Array, w: Array, bias: Array | None, win: Window, y: Array) -> None:
    """Fill y [channels, out_h, out_w] block by block of channels; w is [channels, k_h, k_w], bias [channels, 1, 1]."""
    channels, height, width = x.shape
    (k_h, k_w), (out_h, out_w), stride, dilation = win.kernel, win.out, win.strides[0], win.dilations[0]
    padded = (out_h - 1) * stride + (k_h - 1) * dilation + 1
    block = max(1, min(channels, _COPIES // (padded * k_w * out_w)))
    copies = np.zeros((block, padded, k_w, out_w), x.dtype)
    # Neighbouring kernel rows follow each other in memory unless they are dilated.
    at_once = k_h if dilation == 1 else 1
    taps = at_once * k_w
    filters = w.reshape(channels, 1, 1, k_h * k_w)
    step = copies.strides[1]
    views = [
        np.ndarray(
            (block, out_h, taps, out_w),
            x.dtype,
            copies,
            i * dilation * step,
            (copies.strides[0], stride * step, *copies.strides[2:]),
        )
        for i in range(0, k_h, at_once)
    ]
    top = win.begin[0]
    used = min(height, padded - top)
    for c in range(0, channels, block):
        n = min(block, channels - c)
        for j in range(k_w):
            to, source = win.valid(1, j, width)
            copies[:n, top : top + used, j, to] = x[c : c + n, :used, source]
        part, out = filters[c : c + n], y[c : c + n]
        np.matmul(part[..., :taps], views[0][:n], out=out[:, :, None])
        for i, view in enumerate(views[1:], start=1):
            out += np.matmul(part[..., i * taps : (i + 1) * taps], view[:n])[:, :, 0]
        if bias is not None:
            out += bias[c : c + n]


def _channels_last(x: Array, w: Array, bias: Array | None, win: Window, y: Array) -> None:
    """Fill y [channels, out_h, out_w], one multiplication and addition over all channels for every tap."""
    channels, height, width = x.shape
    source = np.ascontiguousarray(x.transpose(1, 2, 0))
    taps = np.ascontiguousarray(w.transpose(1, 2, 0))
    total = np.zeros((*win.out, channels), x.dtype)
    product = np.empty_like(total)
    for i in range(win.kernel[0]):
        to_row, from_row = win.valid(0, i, height)
        for j in range(win.kernel[1]):
            to_column, from_column = win.valid(1, j, width)
            sums, part = total[to_row, to_column], product[to_row, to_column]
            np.multiply(source[from_row, from_column], taps[i, j], out=part)
            np.add(sums, part, out=sums)
    y[...] = total.transpose(2, 0, 1)
    if bias is not None:
        y += bias
