"""Integer matrix product, exact, through the float matrix product of the machine's BLAS.

Integers are carried in floats, the product is cut along K into blocks in which no rounding can happen, and the block
results are added as integers. Why that is exact, for every BLAS kernel, thread count and order of summation:

    Let |a| <= A and |b| <= B for all entries (after subtracting zero points), and P = 2^24 for float32, 2^53 for
    float64: every integer of magnitude <= P is a value of that float type. Take a block of k columns with k*A*B <= P.
    Whatever the kernel does, each number it forms is a sum of some of the block's products a_i*b_i, so an integer of
    magnitude <= k*A*B <= P, so representable. IEEE 754 returns the exact result of an operation when it is
    representable; hence every product, fused multiply-add and partial sum is exact, in any order.

    A*B*k <= P gives the longest block: s8*s8 1024 (A*B = 128*128), with |q| <= 127 1040; u8*s8 514; u8*u8 258;
    s8*s4 16384; s16*s8 only 4, s16*s16 none: those go through float64, with 2^31 and 2^23 columns.

A and B are measured from the data, never assumed from the type, so small values get longer blocks. (Kernels that form
sums of inputs before multiplying, as Strassen's, would need another bound; OpenBLAS, BLIS, MKL and Accelerate do not.)
"""

from dataclasses import dataclass
from typing import Final, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simcore.errors import BadArgument
from simcore.rounding import Overflow, narrow_int32

__all__ = [
    "FLOAT32_EXACT",
    "FLOAT64_EXACT",
    "Operand",
    "exact_product",
    "fits_int32",
    "matmul",
    "matmul_high_low",
    "operand",
    "split_high_low",
]

#: Integers up to this magnitude are float32 values.
FLOAT32_EXACT: Final = 1 << 24
#: Integers up to this magnitude are float64 values.
FLOAT64_EXACT: Final = 1 << 53
_INT32_MAX: Final = (1 << 31) - 1
#: Below this block length the many integer additions cost more than one pass in float64.
_SHORT_BLOCK: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Operand:
    """A matrix of integers, zero point subtracted, in the form the product needs; made by `operand`, reusable."""

    #: float32 holding integers, the shape of the codes.
    values: NDArray[np.float32]
    #: An integer no smaller than any |value|.
    limit: int


def operand(codes: NDArray[np.integer], zero_point: ArrayLike = 0) -> Operand:
    """Return `codes - zero_point` ready for `matmul`; weights that serve many products are prepared once.

    Args:
        codes: integers, any shape.
        zero_point: integers that broadcast against `codes`.

    Raises:
        BadArgument: not integers, shapes that do not broadcast to `codes`, or |codes - zero_point| may pass 2^24.
    """
    codes, points = np.asarray(codes), np.asarray(zero_point)
    if codes.dtype.kind not in "iu" or points.dtype.kind not in "iu":
        raise BadArgument(f"operand: expected integer codes and zero point, got {codes.dtype} and {points.dtype}")
    if not codes.size:
        return Operand(codes.astype(np.float32), 0)
    ends = [int(codes.min()), int(codes.max()), int(points.min()), int(points.max())]
    limit = max(abs(ends[0] - ends[3]), abs(ends[1] - ends[2]))
    if max(limit, *map(abs, ends)) > FLOAT32_EXACT:
        raise BadArgument(f"operand: codes or zero points in {ends} pass 2^24; use codes of 8 or 16 bits")
    values = codes.astype(np.float32)
    if np.any(points):
        try:
            values -= points.astype(np.float32)
        except ValueError:
            raise BadArgument(
                f"zero_point: shape {list(points.shape)} does not broadcast to codes of shape {list(codes.shape)}"
            ) from None
    return Operand(values, limit)


def exact_product(a: Operand, b: Operand, out: NDArray[np.integer] | None = None) -> NDArray[np.integer]:
    """Return `a @ b` exactly: int32 if no sum can leave int32 (`A*B*K < 2^31`), else int64.

    The block length and the carrier follow from the bound in the module's docstring. Accumulator: float32 or float64
    within a block, int32 or int64 across blocks.

    Args:
        a: shape [..., m, k].
        b: shape [..., k, n]; leading axes broadcast as in numpy.matmul.
        out: where to write, an array of the result's shape, int64 or (if `fits_int32`) int32; a new one if None.

    Raises:
        BadArgument: shapes that do not fit, sums that could leave int64, or an `out` that does not fit.
    """
    if a.values.ndim < 2 or b.values.ndim < 2 or a.values.shape[-1] != b.values.shape[-2]:
        raise BadArgument(
            f"matmul: shapes {list(a.values.shape)} and {list(b.values.shape)} do not fit, expected [m,k] [k,n]"
        )
    k = a.values.shape[-1]
    largest = max(a.limit * b.limit, 1)
    if largest * k >= 1 << 63:
        raise BadArgument(f"matmul: sums of {k} products up to {largest} leave int64; use narrower codes")
    in_float32 = FLOAT32_EXACT // largest >= min(k, _SHORT_BLOCK)
    block = max(1, (FLOAT32_EXACT if in_float32 else FLOAT64_EXACT) // largest)
    left: NDArray[np.floating] = a.values if in_float32 else a.values.astype(np.float64)
    right: NDArray[np.floating] = b.values if in_float32 else b.values.astype(np.float64)
    dtype = np.dtype(np.int32 if fits_int32(a, b, k) else np.int64)
    try:
        shape = (*np.broadcast_shapes(left.shape[:-2], right.shape[:-2]), left.shape[-2], right.shape[-1])
    except ValueError:
        raise BadArgument(
            f"matmul: leading axes of {list(left.shape)} and {list(right.shape)} do not broadcast"
        ) from None
    total: NDArray[np.integer] = np.empty(shape, dtype) if out is None else out
    if total.shape != shape or total.dtype not in (dtype, np.int64):
        raise BadArgument(f"out: {total.dtype} {list(total.shape)} cannot take {dtype} {list(shape)}")
    if right.ndim == 2 and left.ndim > 2:
        # One product of all rows instead of a batch.
        left = left.reshape(-1, k)
    part = np.empty((*left.shape[:-1], shape[-1]) if right.ndim == 2 else shape, left.dtype)
    for start in range(0, max(k, 1), block):
        np.matmul(left[..., start : start + block], right[..., start : start + block, :], out=part)
        exact = part.reshape(shape)
        if start == 0:
            np.copyto(total, exact, casting="unsafe")
        else:
            total += exact.astype(total.dtype)
    return total


def fits_int32(a: Operand, b: Operand, k: int) -> bool:
    """Return whether no sum of k products of the operands' values can leave int32: `A*B*k < 2^31`."""
    return a.limit * b.limit * k <= _INT32_MAX


@overload
def matmul(
    a: NDArray[np.integer] | Operand,
    b: NDArray[np.integer] | Operand,
    a_zero_point: ArrayLike = ...,
    b_zero_point: ArrayLike = ...,
    overflow: Literal["wrap", "saturate"] = ...,
) -> NDArray[np.int32]: ...
@overload
def matmul(
    a: NDArray[np.integer] | Operand,
    b: NDArray[np.integer] | Operand,
    a_zero_point: ArrayLike = ...,
    b_zero_point: ArrayLike = ...,
    *,
    overflow: Literal["wide"],
) -> NDArray[np.int64]: ...
def matmul(
    a: NDArray[np.integer] | Operand,
    b: NDArray[np.integer] | Operand,
    a_zero_point: ArrayLike = 0,
    b_zero_point: ArrayLike = 0,
    overflow: Overflow = "wrap",
) -> NDArray[np.int32] | NDArray[np.int64]:
    """Return `(a - a_zero_point) @ (b - b_zero_point)` of integers, exact up to the chosen overflow.

    Args:
        a: codes [..., m, k] or [k], int8, uint8, int16, uint16 (or int32 up to 2^24); or an `Operand` of rank >= 2,
            whose zero point is already subtracted.
        b: codes [..., k, n] or [k], likewise; leading axes broadcast as in numpy.matmul.
        a_zero_point: one integer, [m] (per row), or anything that broadcasts against `a`.
        b_zero_point: one integer, [n] (per column), or anything that broadcasts against `b`.
        overflow: what a 32-bit accumulator makes of the exact sum, applied once; see rounding.narrow_int32.

    Returns:
        [..., m, n], int32 for "wrap" and "saturate", int64 for "wide". Empty k gives zeros.

    Raises:
        BadArgument: shapes or types that do not fit, a zero point beside an `Operand`, unknown overflow mode.

    Source: ONNX operator MatMulInteger; the exactness proof is in this module's docstring.
    """
    left, right = _prepare(a, a_zero_point, rows=True), _prepare(b, b_zero_point, rows=False)
    sums = narrow_int32(exact_product(left, right), overflow)
    if not isinstance(a, Operand) and np.ndim(a) == 1:
        sums = sums[..., 0, :]
    if not isinstance(b, Operand) and np.ndim(b) == 1:
        sums = sums[..., 0]
    return sums.astype(np.int64, copy=False) if overflow == "wide" else sums.astype(np.int32, copy=False)


def _prepare(x: NDArray[np.integer] | Operand, zero_point: ArrayLike, rows: bool) -> Operand:
    """Return x as a matrix operand: vectors get their second axis, a vector zero point stands along rows or columns."""
    points = np.asarray(zero_point)
    if isinstance(x, Operand):
        if np.any(points):
            raise BadArgument("zero_point: the operand is already prepared; subtract the zero point in operand(...)")
        return x
    codes = np.asarray(x)
    if codes.ndim == 1:
        codes = codes[None, :] if rows else codes[:, None]
    if rows and points.ndim == 1 and points.size > 1:
        points = points[:, None]
    return operand(codes, points)


def split_high_low(
    x: NDArray[np.int16], low: Literal["unsigned", "signed"] = "unsigned"
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return (high, low) bytes with `x = 256 * high + low`, both in int16.

    unsigned: high = x >> 8 in [-128, 127], low = x & 255 in [0, 255]: a signed by an unsigned byte.
    signed: low in [-128, 127], high in [-128, 128]: two signed bytes, but for x >= 32640, whose high byte 128 does not
    fit int8 (clip such codes, or use the unsigned form).

    Raises:
        BadArgument: x is not int16 (int8 is taken, too), or the form is unknown.
    """
    x = np.asarray(x)
    if x.dtype not in (np.int16, np.int8):
        raise BadArgument(f"x: split_high_low takes int16 codes, not {x.dtype}")
    wide = x.astype(np.int32)
    if low == "unsigned":
        byte = wide & 255
    elif low == "signed":
        byte = ((wide + 128) & 255) - 128
    else:
        raise BadArgument(f"low {low!r} is not known; use unsigned or signed")
    return ((wide - byte) >> 8).astype(np.int16), byte.astype(np.int16)


def matmul_high_low(
    a: NDArray[np.int16],
    b: NDArray[np.int16],
    passes: Literal["16x8", "8x8", "8x8_without_low_low"] = "16x8",
    overflow: Overflow = "wide",
    low: Literal["unsigned", "signed"] = "unsigned",
) -> NDArray[np.int64]:
    """Return int16 @ int16 as hardware with narrower multipliers computes it: passes over bytes, shifted and added.

        16x8                 256 * (a @ b_high) + a @ b_low
        8x8                  65536 * (a_high @ b_high) + 256 * (a_high @ b_low + a_low @ b_high) + a_low @ b_low
        8x8_without_low_low  as 8x8 without the last term; off by at most k * 255 * 255

    With overflow "wide" the first two equal the int16 product exactly. With "wrap" or "saturate" each pass ends in a
    32-bit accumulator before it is shifted; the shifted sum itself is held in int64.

    Args:
        a: int16 [..., m, k], symmetric (no zero point).
        b: int16 [..., k, n].
        passes: which multiplier the hardware has.
        overflow: of each pass.
        low: how the bytes are split, see `split_high_low`.

    Raises:
        BadArgument: not int16, shapes that do not fit, unknown modes.

    Source: positional arithmetic; how vendors' dual-int16 modes split internally is not published.
    """
    b_high, b_low = (operand(part) for part in split_high_low(b, low))
    a_high, a_low = (operand(part) for part in split_high_low(a, low))

    def one_pass(left: Operand, right: Operand) -> NDArray[np.int64]:
        return narrow_int32(exact_product(left, right), overflow).astype(np.int64)

    if passes == "16x8":
        whole = operand(a)
        return np.asarray((one_pass(whole, b_high) << 8) + one_pass(whole, b_low))
    if passes not in ("8x8", "8x8_without_low_low"):
        raise BadArgument(f"passes {passes!r} is not known; use 16x8, 8x8 or 8x8_without_low_low")
    total = (one_pass(a_high, b_high) << 16) + ((one_pass(a_high, b_low) + one_pass(a_low, b_high)) << 8)
    return np.asarray(total + one_pass(a_low, b_low) if passes == "8x8" else total)
