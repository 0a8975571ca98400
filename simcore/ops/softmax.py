"""Softmax, LogSoftmax and Hardmax along one axis (opset 13) or over the flattened tail (before).

    softmax Softmax 13 · softmax_flattened Softmax 1 · log_softmax LogSoftmax 13
    log_softmax_flattened LogSoftmax 1 · hardmax Hardmax 13 · hardmax_flattened Hardmax 1

The flattened forms reshape to 2-D first: rows are the product of the axes before `axis`, columns of the others. On
the last axis both agree. Source: ONNX operator specification, changelog of version 13.
"""

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from simcore.ops.widen import Array, float32_inside

#: Elements per block of rows, so that a block stays in cache through the steps.
_BLOCK: Final = 32768


@float32_inside
def softmax(x: Array, *, axis: int = -1) -> Array:
    """Return `e^(x - m) / sum(e^(x - m))` along one axis, m its maximum; NaN for a row with NaN or inf, or all -inf."""
    if axis % max(x.ndim, 1) != x.ndim - 1 or not x.size:
        y = np.empty(x.shape, x.dtype)
        return y if not x.size else _softmax_step(x, y, axis)
    y = np.empty(x.shape, x.dtype)
    columns = x.shape[-1]
    source, target = x.reshape(-1, columns), y.reshape(-1, columns)
    rows = max(1, _BLOCK // columns)
    for start in range(0, len(source), rows):
        _softmax_step(source[start : start + rows], target[start : start + rows], 1)
    return y


def _softmax_step(x: Array, y: Array, axis: int) -> Array:
    np.subtract(x, np.maximum.reduce(x, axis=axis, keepdims=True), out=y)
    np.exp(y, out=y)
    y /= np.add.reduce(y, axis=axis, keepdims=True)
    return y


@float32_inside
def softmax_flattened(x: Array, *, axis: int = 1) -> Array:
    """Return softmax over the rows of x reshaped to `[prod(shape[:axis]), prod(shape[axis:])]`."""
    return _flattened(softmax, x, axis)


@float32_inside
def log_softmax(x: Array, *, axis: int = -1) -> Array:
    """Return `d - ln(sum(e^d))` along one axis, `d = x - max(x)`."""
    if not x.size:
        return np.empty(x.shape, x.dtype)
    y = np.subtract(x, np.maximum.reduce(x, axis=axis, keepdims=True))
    y -= np.log(np.add.reduce(np.exp(y), axis=axis, keepdims=True))
    return y


@float32_inside
def log_softmax_flattened(x: Array, *, axis: int = 1) -> Array:
    """Return log_softmax over the rows of x reshaped to `[prod(shape[:axis]), prod(shape[axis:])]`."""
    return _flattened(log_softmax, x, axis)


@float32_inside
def hardmax(x: Array, *, axis: int = -1) -> Array:
    """Return 1 at the first maximum along one axis, 0 elsewhere."""
    y = np.zeros(x.shape, x.dtype)
    if x.size:
        np.put_along_axis(y, np.expand_dims(np.argmax(x, axis=axis), axis), 1, axis=axis)
    return y


@float32_inside
def hardmax_flattened(x: Array, *, axis: int = 1) -> Array:
    """Return hardmax over the rows of x reshaped to `[prod(shape[:axis]), prod(shape[axis:])]`."""
    return _flattened(hardmax, x, axis)


def _flattened(function: Callable[..., Array], x: Array, axis: int) -> Array:
    at = axis % x.ndim if axis < 0 else axis
    flat = x.reshape(math.prod(x.shape[:at]), math.prod(x.shape[at:]))
    return function(flat, axis=1).reshape(x.shape)
