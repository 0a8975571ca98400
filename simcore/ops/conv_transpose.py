"""ConvTranspose in 1 to 3 dimensions with every attribute.

    conv_transpose ConvTranspose 1

Source: ONNX operator specification.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from simcore.errors import BadArgument
from simcore.ops.widen import Array, float32_inside
from simcore.ops.windows import Window, planewise

__all__ = ["conv_transpose"]


@float32_inside
def conv_transpose(
    x: Array,
    w: Array,
    b: Array | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    output_padding: Sequence[int] | None = None,
    output_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Array:
    """Return the transposed convolution: every input element adds its filter, scaled, to the output.

    Formula: `y[n, m, i * stride + k * dilation - begin] += w[c, m, k] * x[n, c, i]`, then `+ b[m]`; what falls outside
    is dropped. Size: `stride * (size - 1) + output_padding + (kernel - 1) * dilation + 1 - begin - end`; with
    output_shape (or SAME_*: `size * stride`) the padding follows from the size, halved with the odd element at the end
    for SAME_UPPER and at the beginning otherwise.

    Args:
        x: [batch, C, spatial...] with 1 to 3 spatial axes.
        w: [C, M / group, kernel...].
        b: [M] or None.
        auto_pad: NOTSET, VALID, SAME_UPPER or SAME_LOWER.
        dilations: distance between taps, one entry per spatial axis.
        group: number of groups of channels convolved separately.
        kernel_shape: must agree with w.
        output_padding: elements added at the end of each axis.
        output_shape: spatial sizes wanted; overrides pads.
        pads: all beginnings, then all ends.
        strides: one entry per spatial axis.

    Returns:
        [batch, M, out...] in the type of x, accumulated tap by tap.

    Raises:
        BadArgument: the shapes or attributes do not fit together.
    """
    rank = x.ndim - 2
    if rank not in (1, 2, 3) or w.ndim != x.ndim:
        raise BadArgument(f"ConvTranspose: x {list(x.shape)} and w {list(w.shape)} need the same rank, 3, 4 or 5")
    if group < 1 or x.shape[1] != w.shape[0] or w.shape[0] % group:
        raise BadArgument(
            f"ConvTranspose: x has {x.shape[1]} channels, w of shape {list(w.shape)} needs {w.shape[0]}, "
            f"a multiple of group {group}"
        )
    if kernel_shape and tuple(kernel_shape) != w.shape[2:]:
        raise BadArgument(f"ConvTranspose: kernel_shape {list(kernel_shape)} does not agree with w {list(w.shape)}")
    # Seen from the output this is a convolution window over the output whose results are the inputs.
    win, sizes = _scatter_window(
        x.shape[2:], w.shape[2:], auto_pad, dilations, output_padding, output_shape, pads, strides
    )
    batch, c, m = x.shape[0], x.shape[1] // group, w.shape[1]
    y = np.zeros((batch, group, m, *sizes), x.dtype)
    source = x.reshape(batch, group, c, -1)
    weights = np.ascontiguousarray(np.moveaxis(w.reshape(group, c, m, -1), 3, 0).swapaxes(2, 3))
    for index, tap in enumerate(product(*map(range, win.kernel))):
        spans = [win.valid(axis, k, sizes[axis]) for axis, k in enumerate(tap)]
        part = np.matmul(weights[index], source).reshape(batch, group, m, *x.shape[2:])
        y[planewise(to for _, to in spans)] += part[planewise(of for of, _ in spans)]
    result = y.reshape(batch, group * m, *sizes)
    if b is not None:
        result += b.reshape(-1, *(1,) * rank)
    return result


def _scatter_window(
    inputs: Sequence[int],
    kernel: Sequence[int],
    auto_pad: str,
    dilations: Sequence[int] | None,
    output_padding: Sequence[int] | None,
    output_shape: Sequence[int] | None,
    pads: Sequence[int] | None,
    strides: Sequence[int] | None,
) -> tuple[Window, tuple[int, ...]]:
    """Return the window and the spatial sizes of the output."""
    rank = len(inputs)
    strides, dilations = tuple(strides or (1,) * rank), tuple(dilations or (1,) * rank)
    extra, around = tuple(output_padding or (0,) * rank), tuple(pads or (0,) * (2 * rank))
    if {len(strides), len(dilations), len(extra), len(around) / 2} != {rank}:
        raise BadArgument(
            f"ConvTranspose: strides {strides}, dilations {dilations}, output_padding {extra}, pads {around} "
            f"do not fit {rank} spatial axes; give one entry per axis (pads: two)"
        )
    if min(strides) < 1 or min(dilations) < 1 or min(extra) < 0:
        raise BadArgument("ConvTranspose: strides and dilations must be >= 1, output_padding >= 0")
    if auto_pad not in ("NOTSET", "", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise BadArgument(
            f"ConvTranspose: auto_pad {auto_pad!r} is not known; use NOTSET, VALID, SAME_UPPER or SAME_LOWER"
        )
    full = tuple(
        s * (n - 1) + e + (k - 1) * d + 1
        for s, n, e, k, d in zip(strides, inputs, extra, kernel, dilations, strict=True)
    )
    wanted = tuple(output_shape or ())[-rank:]
    if not wanted and auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        wanted = tuple(n * s for n, s in zip(inputs, strides, strict=True))
    if wanted:
        if len(wanted) != rank:
            raise BadArgument(f"ConvTranspose: output_shape {wanted} needs {rank} spatial sizes")
        total = [max(0, f - size) for f, size in zip(full, wanted, strict=True)]
        begin = tuple(t // 2 if auto_pad == "SAME_UPPER" else t - t // 2 for t in total)
        end = tuple(t - b for t, b in zip(total, begin, strict=True))
    else:
        around = (0,) * (2 * rank) if auto_pad == "VALID" else around
        begin, end = around[:rank], around[rank:]
        wanted = tuple(f - b - e for f, b, e in zip(full, begin, end, strict=True))
    if min(wanted) < 0:
        raise BadArgument(f"ConvTranspose: output sizes {wanted} are negative; check pads and output_shape")
    return Window(tuple(kernel), strides, dilations, begin, end, tuple(inputs)), wanted
