"""Memory layouts of Ascend-style NPUs: shapes and sizes by formula, and packing that loses no bit.

    ND            any shape, row-major, as it is
    NC1HWC0       feature maps: channels in groups of C0, zero padded        (N, C1, H, W, C0)
    FRACTAL_Z     convolution weights, small n large Z                       (C1*H*W, N1, 16, C0), grouped too
    FRACTAL_NZ    matrices, large N small z, such as cube results            (..., N1, M1, M0, N0)

with C1 = ceil(C / C0), N1 = ceil(N / 16). Packing copies elements and pads with zero; unpacking drops the padding.
Functions take C0 itself, not a dtype: `c0_of` gives it from a dtype by a named rule.

Sources: data formats in the ATC guide (concepts) and CANN's aclFormat; grouped FRACTAL_Z: the open graph engine's
format_transfer_fractal_z (TransFormatHwcnToFz with groups).
"""

from math import lcm, prod
from typing import Literal, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray

from simcore.errors import BadArgument

__all__ = [
    "FRACTAL_ROWS",
    "C0Rule",
    "c0_of",
    "element_bits",
    "fractal_nz_shape",
    "fractal_z_shape",
    "groups_per_block",
    "nc1hwc0_shape",
    "pack_fractal_nz",
    "pack_fractal_z",
    "pack_nc1hwc0",
    "size_bytes",
    "unpack_fractal_nz",
    "unpack_fractal_z",
    "unpack_nc1hwc0",
]

C0Rule = Literal["block32", "cube"]
Shape = tuple[int, ...]

FRACTAL_ROWS = 16
"""Rows of one fractal: N0 of FRACTAL_Z and M0 of FRACTAL_NZ."""


def element_bits(dtype: DTypeLike | Literal["int4"]) -> int:
    """Return the bits of one element: 4 for the name `int4` (numpy has none), else 8 times the numpy item size.

    Raises:
        BadArgument: Not a dtype with elements of a fixed size.
    """
    if isinstance(dtype, str) and dtype == "int4":
        return 4
    try:
        bits = np.dtype(dtype).itemsize * 8
    except TypeError:
        bits = 0
    if bits == 0:
        raise BadArgument(f"layout: {dtype!r} is no element type; give a numpy dtype or 'int4'.")
    return bits


def c0_of(dtype: DTypeLike | Literal["int4"], rule: C0Rule = "block32") -> int:
    """Return C0, the channels (or reduced elements) held together, for an element type.

    Rules:
        block32  C0 * sizeof(T) = 32 bytes: int4 64, int8 32, int16 and fp16 16, fp32 and int32 8.
                 Source: ATC guide (fp16 16, fp32 8; int8 32 by the same formula), CANN pto-isa TTRANS.
                 int4 64 follows from the formula; no source states it.
        cube     1-byte types 32, wider ones 16, fp32 and int32 too.
                 Source: graph engine GetCubeSizeByDataType, which its weight transfer uses.

    The two differ only for types of 4 bytes and more. The small-channel format NC1HWC0_C04 has C0 = 4 and is not
    supported on Nano; pass 4 instead of calling this.

    Raises:
        BadArgument: An unknown rule or type, or block32 for a type wider than 32 bytes, or cube for int4.
    """
    bits = element_bits(dtype)
    if rule == "block32" and bits <= 256 and 256 % bits == 0:
        return 256 // bits
    if rule == "cube" and bits >= 8:
        return 32 if bits == 8 else 16
    if rule not in get_args(C0Rule):
        raise BadArgument(f"layout: C0 rule {rule!r} is unknown; choose one of {', '.join(get_args(C0Rule))}.")
    raise BadArgument(f"layout: rule {rule} gives no C0 for {dtype!r} of {bits} bits.")


def size_bytes(shape: Shape, dtype: DTypeLike | Literal["int4"]) -> int:
    """Return the bytes of a tensor of any layout given its stored shape: `ceil(prod(shape) * bits / 8)`; scalars 1.

    Raises:
        BadArgument: A negative dimension or an unknown dtype.
    """
    _sizes(shape, len(shape), "size_bytes")
    return (prod(shape) * element_bits(dtype) + 7) // 8


def nc1hwc0_shape(shape: Shape, c0: int) -> Shape:
    """Return the stored shape `(N, ceil(C / C0), H, W, C0)` of an NCHW shape.

    Raises:
        BadArgument: Not four sizes >= 0, or C0 < 1.
    """
    n, c, h, w = _sizes(shape, 4, "NC1HWC0")
    return n, _blocks(c, _positive(c0, "C0")), h, w, c0


def pack_nc1hwc0(x: NDArray[np.generic], c0: int) -> NDArray[np.generic]:
    """Return x [N, C, H, W] as [N, C1, H, W, C0], any dtype: `y[n, c // C0, h, w, c % C0] = x[n, c, h, w]`.

    Channels beyond C are zero. Raises BadArgument as `nc1hwc0_shape`.
    """
    n, c1, h, w, _ = nc1hwc0_shape(x.shape, c0)
    padded = _pad(x, {1: c1 * c0})
    return np.ascontiguousarray(padded.reshape(n, c1, c0, h, w).transpose(0, 1, 3, 4, 2))


def unpack_nc1hwc0(y: NDArray[np.generic], c: int) -> NDArray[np.generic]:
    """Return the NCHW tensor of c channels inside y [N, C1, H, W, C0].

    Raises:
        BadArgument: y has not five axes, or c channels do not need exactly C1 groups.
    """
    n, c1, h, w, c0 = _sizes(y.shape, 5, "NC1HWC0")
    if _blocks(c, _positive(c0, "C0")) != c1:
        raise BadArgument(f"NC1HWC0: {c} channels do not fill C1 = {c1} groups of C0 = {c0}.")
    return np.ascontiguousarray(y.transpose(0, 1, 4, 2, 3).reshape(n, c1 * c0, h, w)[:, :c])


def groups_per_block(cin: int, cout: int, c0: int, group: int) -> int:
    """Return e, how many groups of a grouped convolution share one block of FRACTAL_Z.

    Formula: `e = min(lcm(lcm(cin, C0) / cin, lcm(cout, 16) / cout), group)` with cin and cout of one group: the least
    number of groups that fills whole fractals in both directions, but not more than there are.

    Raises:
        BadArgument: An argument < 1.
    """
    for name, value in (("cin", cin), ("cout", cout), ("C0", c0), ("group", group)):
        _positive(value, name)
    return min(lcm(lcm(cin, c0) // cin, lcm(cout, FRACTAL_ROWS) // cout), group)


def fractal_z_shape(shape: Shape, c0: int, group: int = 1) -> Shape:
    """Return the stored shape of convolution weights given as (M, C / group, H, W).

    Formulas: group = 1 `(C1 * H * W, ceil(M / 16), 16, C0)` with `C1 = ceil(C / C0)`; in general
    `(ceil(group / e) * C1 * H * W, ceil(e * M / group / 16), 16, C0)` with `C1 = ceil(e * cin / C0)` and e from
    `groups_per_block`.

    Args:
        shape: Output channels, input channels of one group, kernel height and width, as an ONNX Conv weight.
        c0: From `c0_of`.
        group: Number of groups.

    Raises:
        BadArgument: Not four sizes >= 1, or M is not a multiple of group.
    """
    blocks, c1, h, w, n = _fractal_z_dims(shape, c0, group)
    return blocks * c1 * h * w, n // FRACTAL_ROWS, FRACTAL_ROWS, c0


def pack_fractal_z(x: NDArray[np.generic], c0: int, group: int = 1) -> NDArray[np.generic]:
    """Return weights x [M, C / group, H, W] in FRACTAL_Z, any dtype.

    Formula: group g sits in block `g // e` at place `p = g % e`; with `ci = p * cin + c` and `co = p * cout + m`,
    `y[block, ci // C0, h, w, co, ci % C0] = x[g * cout + m, c, h, w]`, zero elsewhere, then reshaped to
    `fractal_z_shape`. The groups of a block lie on its diagonal.

    Raises:
        BadArgument: As `fractal_z_shape`.
    """
    blocks, c1, h, w, n = _fractal_z_dims(x.shape, c0, group)
    y = np.zeros((blocks, c1, h, w, n, c0), x.dtype)
    block, ci1, ci0, co = _fractal_z_index(x.shape, c0, group)
    # The index arrays broadcast to [M, cin]; numpy puts that before the sliced axes h and w.
    y[block, ci1, :, :, co, ci0] = x
    return y.reshape(fractal_z_shape(x.shape, c0, group))


def unpack_fractal_z(y: NDArray[np.generic], shape: Shape, group: int = 1) -> NDArray[np.generic]:
    """Return the weights of the given shape (M, C / group, H, W) inside y in FRACTAL_Z; C0 is y's last axis.

    Raises:
        BadArgument: y has not the shape that `fractal_z_shape` gives.
    """
    c0 = _positive(_sizes(y.shape, 4, "FRACTAL_Z")[3], "C0")
    expected = fractal_z_shape(shape, c0, group)
    if y.shape != expected:
        raise BadArgument(f"FRACTAL_Z: weights {shape} with group {group} are stored as {expected}, found {y.shape}.")
    blocks, c1, h, w, n = _fractal_z_dims(shape, c0, group)
    block, ci1, ci0, co = _fractal_z_index(shape, c0, group)
    return np.ascontiguousarray(y.reshape(blocks, c1, h, w, n, c0)[block, ci1, :, :, co, ci0])


def fractal_nz_shape(shape: Shape, n0: int, m0: int = FRACTAL_ROWS) -> Shape:
    """Return the stored shape `(..., ceil(N / N0), ceil(M / M0), M0, N0)` of a matrix (..., M, N).

    Args:
        shape: At least two sizes >= 0; the leading ones are batch axes.
        n0: Columns of a fractal: C0 for cube operands, 16 for cube results (int32, fp32).
        m0: Rows of a fractal.

    Raises:
        BadArgument: Fewer than two axes, a negative size, or n0 or m0 < 1.
    """
    if len(shape) < 2:
        raise BadArgument(f"FRACTAL_NZ: shape {shape} is no matrix; give (..., M, N).")
    *batch, m, n = _sizes(shape, len(shape), "FRACTAL_NZ")
    return (*batch, _blocks(n, _positive(n0, "N0")), _blocks(m, _positive(m0, "M0")), m0, n0)


def pack_fractal_nz(x: NDArray[np.generic], n0: int, m0: int = FRACTAL_ROWS) -> NDArray[np.generic]:
    """Return x [..., M, N] in FRACTAL_NZ, any dtype: `y[..., n // N0, m // M0, m % M0, n % N0] = x[..., m, n]`.

    Row-major inside a fractal, fractals column by column; zero outside x. Raises BadArgument as `fractal_nz_shape`.
    """
    *batch, n1, m1, _, _ = fractal_nz_shape(x.shape, n0, m0)
    padded = _pad(x, {x.ndim - 2: m1 * m0, x.ndim - 1: n1 * n0})
    split = padded.reshape(*batch, m1, m0, n1, n0)
    return np.ascontiguousarray(np.moveaxis(split, -2, -4))


def unpack_fractal_nz(y: NDArray[np.generic], m: int, n: int) -> NDArray[np.generic]:
    """Return the matrix (..., m, n) inside y [..., N1, M1, M0, N0].

    Raises:
        BadArgument: y has fewer than four axes, or an m by n matrix does not need exactly these fractals.
    """
    if y.ndim < 4:
        raise BadArgument(f"FRACTAL_NZ: shape {y.shape} has fewer than four axes (..., N1, M1, M0, N0).")
    *batch, _, _, m0, n0 = y.shape
    expected = fractal_nz_shape((*batch, m, n), n0, m0)
    if y.shape != expected:
        raise BadArgument(f"FRACTAL_NZ: a matrix {m} x {n} is stored as {expected}, found {y.shape}.")
    whole = np.moveaxis(y, -4, -2).reshape(*batch, y.shape[-3] * m0, y.shape[-4] * n0)
    return np.ascontiguousarray(whole[..., :m, :n])


def _fractal_z_dims(shape: Shape, c0: int, group: int) -> tuple[int, int, int, int, int]:
    """Return (blocks, C1, H, W, N padded to 16) of one FRACTAL_Z tensor."""
    m, cin, h, w = _sizes(shape, 4, "FRACTAL_Z")
    if 0 in (m, cin, h, w):
        raise BadArgument(f"FRACTAL_Z: shape {shape} has an empty axis; weights need sizes >= 1.")
    if m % _positive(group, "group"):
        raise BadArgument(f"FRACTAL_Z: {m} output channels do not divide into {group} groups.")
    cout = m // group
    e = groups_per_block(cin, cout, c0, group)
    return _blocks(group, e), _blocks(e * cin, c0), h, w, _blocks(e * cout, FRACTAL_ROWS) * FRACTAL_ROWS


def _fractal_z_index(shape: Shape, c0: int, group: int) -> tuple[NDArray[np.intp], ...]:
    """Return (block, ci // C0, ci % C0, co) of each weight [M, cin], as arrays that broadcast to that shape."""
    m, cin = shape[:2]
    cout = m // group
    e = groups_per_block(cin, cout, c0, group)
    row = np.arange(m)[:, None]
    g = row // cout
    ci = (g % e) * cin + np.arange(cin)
    return g // e, ci // c0, ci % c0, (g % e) * cout + row % cout


def _pad(x: NDArray[np.generic], sizes: dict[int, int]) -> NDArray[np.generic]:
    """Return x zero padded at the end of the given axes up to the given sizes."""
    shape = tuple(sizes.get(axis, size) for axis, size in enumerate(x.shape))
    padded = np.zeros(shape, x.dtype)
    padded[tuple(slice(size) for size in x.shape)] = x
    return padded


def _blocks(size: int, block: int) -> int:
    return -(-size // block)


def _sizes(shape: Shape, rank: int, what: str) -> Shape:
    if len(shape) != rank or any(size < 0 for size in shape):
        raise BadArgument(f"{what}: shape {tuple(shape)} must be {rank} sizes of at least 0.")
    return shape


def _positive(value: int, name: str) -> int:
    if value < 1:
        raise BadArgument(f"layout: {name} is {value}; it must be at least 1.")
    return value
