"""Integer transposed convolution, exact: the executor's float one, run where every partial sum is a float value.

Each output is a sum of at most `channels / group * taps` products, added in some order: the bound of simcore.matmul
with that number as k decides between float32 (2^24) and float64 (2^53).
"""

import math
from collections.abc import Sequence
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simcore.conv import AutoPad, with_bias
from simcore.errors import BadArgument
from simcore.matmul import FLOAT32_EXACT, FLOAT64_EXACT, operand
from simcore.ops import conv_transpose as in_float
from simcore.rounding import Overflow

__all__ = ["conv_transpose"]


@overload
def conv_transpose(
    x: NDArray[np.integer],
    w: NDArray[np.integer],
    x_zero_point: int = ...,
    w_zero_point: ArrayLike = ...,
    bias: NDArray[np.integer] | None = ...,
    *,
    strides: Sequence[int] | None = ...,
    pads: Sequence[int] | None = ...,
    dilations: Sequence[int] | None = ...,
    group: int = ...,
    output_padding: Sequence[int] | None = ...,
    output_shape: Sequence[int] | None = ...,
    auto_pad: AutoPad = ...,
    overflow: Literal["wrap", "saturate"] = ...,
) -> NDArray[np.int32]: ...
@overload
def conv_transpose(
    x: NDArray[np.integer],
    w: NDArray[np.integer],
    x_zero_point: int = ...,
    w_zero_point: ArrayLike = ...,
    bias: NDArray[np.integer] | None = ...,
    *,
    strides: Sequence[int] | None = ...,
    pads: Sequence[int] | None = ...,
    dilations: Sequence[int] | None = ...,
    group: int = ...,
    output_padding: Sequence[int] | None = ...,
    output_shape: Sequence[int] | None = ...,
    auto_pad: AutoPad = ...,
    overflow: Literal["wide"],
) -> NDArray[np.int64]: ...
def conv_transpose(
    x: NDArray[np.integer],
    w: NDArray[np.integer],
    x_zero_point: int = 0,
    w_zero_point: ArrayLike = 0,
    bias: NDArray[np.integer] | None = None,
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    group: int = 1,
    output_padding: Sequence[int] | None = None,
    output_shape: Sequence[int] | None = None,
    auto_pad: AutoPad = "NOTSET",
    overflow: Overflow = "wrap",
) -> NDArray[np.int32] | NDArray[np.int64]:
    """Return the transposed convolution of integer codes, exact up to the chosen overflow.

    `y[n, m, i*stride + t*dilation - pad] += (x[n, c, i] - x_zero_point) * (w[c, m, t] - w_zero_point)`, plus bias[m].
    Entries no input reaches hold real 0 plus the bias.

    Args:
        x: codes [n, channels, *size] with 1 to 3 spatial axes, 8 or 16 bits.
        w: codes [channels, maps / group, *kernel].
        x_zero_point: one integer.
        w_zero_point: one integer, or anything that broadcasts against `w`.
        bias: int32 [maps] in units of x_scale * w_scale, or None.
        strides: per spatial axis; default 1.
        pads: entries cut off: all begins, then all ends; default 0.
        dilations: per spatial axis; default 1.
        group: groups of channels.
        output_padding: entries added behind each axis.
        output_shape: output sizes wanted, instead of pads.
        auto_pad: see AutoPad.
        overflow: what a 32-bit accumulator makes of the exact sum, bias included; see rounding.narrow_int32.

    Returns:
        [n, maps, *out], int32 for "wrap" and "saturate", int64 for "wide".

    Raises:
        BadArgument: types, shapes or modes that do not fit.

    Source: ONNX operator ConvTranspose; exactness as in simcore.matmul.
    """
    data, weights = operand(x, x_zero_point), operand(w, w_zero_point)
    if group < 1 or data.values.ndim < 3 or weights.values.ndim != data.values.ndim:
        raise BadArgument(
            f"conv_transpose: x {list(data.values.shape)}, w {list(weights.values.shape)} and group {group} do not "
            "fit; expected equal ranks of 3 to 5 and a group of at least 1"
        )
    products = weights.values.shape[0] // group * math.prod(weights.values.shape[2:])
    largest = data.limit * weights.limit * products
    if largest > FLOAT64_EXACT:
        raise BadArgument(f"conv_transpose: sums up to {largest} leave 2^53; use narrower codes")
    carrier = np.dtype(np.float32 if largest <= FLOAT32_EXACT else np.float64)
    sums = in_float.conv_transpose(
        data.values.astype(carrier, copy=False),
        weights.values.astype(carrier, copy=False),
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        output_padding=output_padding,
        output_shape=output_shape,
        pads=pads,
        strides=strides,
    )
    return with_bias(sums.astype(np.int64), bias, overflow)
