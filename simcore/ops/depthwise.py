"""Depthwise convolution: one small filter per channel, the case for which BLAS offers nothing directly.

Two ways, chosen by measurement:

    stacked     The k_w column-shifted copies of a row stand below each other, [rows, k_w, out_w]. The taps of an output
                row are then one contiguous matrix [k_h * k_w, out_w] of those copies, and the output row is the product
                of the filter, as a vector, with it. Only k_w copies are made instead of k_h * k_w, neighbouring output
                rows share them, and one call of the library computes all rows of a block of channels.
    channels    For small maps with many channels the product is too small to pay for its call. With channels last
                every tap is one multiplication and addition over all channels at once.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from simcore.ops.widen import Array
from simcore.ops.windows import Window

__all__ = ["depthwise"]

#: Elements of the copies of a block of channels, so that they stay in cache.
_COPIES: Final = 1 << 18
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
    (k_h, k_w), out_w = win.kernel, win.out[1]
    block = max(1, min(channels, _COPIES // (height * k_w * out_w)))
    copies = np.zeros((block, height, k_w, out_w), x.dtype)
    parts = _parts(win, height)
    row, step = copies.strides[1], copies.strides[1] * win.strides[0]
    views = [
        np.ndarray(
            (block, part.rows.stop - part.rows.start, (part.taps.stop - part.taps.start) * k_w, out_w),
            x.dtype,
            copies,
            part.first * row,
            (copies.strides[0], step, *copies.strides[2:]),
        )
        for part in parts
    ]
    filters = w.reshape(channels, 1, 1, k_h * k_w)
    for c in range(0, channels, block):
        n = min(block, channels - c)
        for j in range(k_w):
            to, source = win.valid(1, j, width)
            copies[:n, :, j, to] = x[c : c + n, :, source]
        out = y[c : c + n, :, None]
        for part, view in zip(parts, views, strict=True):
            taps = filters[c : c + n, ..., part.taps.start * k_w : part.taps.stop * k_w]
            if part.is_first:
                np.matmul(taps, view[:n], out=out[:, part.rows])
            else:
                out[:, part.rows] += np.matmul(taps, view[:n])
        if bias is not None:
            y[c : c + n] += bias[c : c + n]


@dataclass(frozen=True, slots=True)
class _Part:
    """Output rows that take the same kernel rows, one after the other in the copies, and all of them inside."""

    rows: slice
    taps: slice
    #: Row of the input under the first tap of the first output row.
    first: int
    #: Whether nothing has been summed for these rows before.
    is_first: bool


@lru_cache(maxsize=1024)
def _parts(win: Window, height: int) -> tuple[_Part, ...]:
    """Return the products that make up all output rows; kernel rows over padding are left out, so zeros cost nothing.

    Kernel rows that are dilated do not follow each other in memory, so each is a part of its own.
    """
    stride, dilation, top = win.strides[0], win.dilations[0], win.begin[0]
    parts: list[_Part] = []
    start = 0
    while start < win.out[0]:
        taps = _inside(start, win, height)
        stop = start + 1
        while stop < win.out[0] and _inside(stop, win, height) == taps:
            stop += 1
        spans = [taps] if dilation == 1 and taps else [range(i, i + 1) for i in taps]
        for span in spans or [range(0)]:
            first = start * stride + span.start * dilation - top if span else 0
            rows = slice(start, stop)
            parts.append(_Part(rows, slice(span.start, span.stop), first, not span or span.start == taps.start))
        start = stop
    return tuple(parts)


def _inside(row: int, win: Window, height: int) -> range:
    """Return the kernel rows that lie inside the input for one output row; perhaps none."""
    at = row * win.strides[0] - win.begin[0]
    first = max(0, -(at // win.dilations[0]))
    last = min(win.kernel[0], (height - 1 - at) // win.dilations[0] + 1)
    return range(first, max(first, last))


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
