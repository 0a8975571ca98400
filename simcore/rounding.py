"""Rounding modes, saturating and wrapping casts to the integer types an NPU holds.

Every cast from float to integer in simcore goes through `round_saturate`, every narrowing of integers through
`saturate` or `wrap`, so that rounding and overflow are always spelled at the place of use.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simcore.errors import BadArgument

__all__ = [
    "INT_TYPES",
    "IntType",
    "Overflow",
    "Rounding",
    "int_type",
    "narrow_int32",
    "round_float",
    "round_saturate",
    "round_shift",
    "saturate",
    "wrap",
]

Rounding = Literal["half_even", "half_away", "half_up", "toward_zero", "floor"]
"""How a real number becomes an integer.

half_even: nearest, ties to the even neighbour (`rint`; ONNX, IEEE 754 default): 0.5 -> 0, 1.5 -> 2, -2.5 -> -2.
half_away: nearest, ties away from zero (C `round`): 0.5 -> 1, -2.5 -> -3.
half_up: nearest, ties toward plus infinity (add half, shift right): 0.5 -> 1, -2.5 -> -2.
toward_zero: drop the fraction (C cast): 1.9 -> 1, -1.9 -> -1.
floor: toward minus infinity (an arithmetic right shift): 1.9 -> 1, -1.1 -> -2.
"""

Overflow = Literal["wrap", "saturate", "wide"]
"""What a 32-bit accumulator makes of a sum that does not fit: keep the low 32 bits, clamp, or keep all bits (int64)."""


@dataclass(frozen=True, slots=True)
class IntType:
    """An integer type: values [low, high], kept in a numpy dtype that may be wider (int4 lives in int8)."""

    name: str
    #: Width in bits of a value on the device.
    bits: int
    #: Smallest value.
    low: int
    #: Largest value.
    high: int
    #: numpy dtype that holds the values here.
    dtype: np.dtype[np.integer]


def _type(bits: int, signed: bool, storage: str) -> IntType:
    low = -(1 << (bits - 1)) if signed else 0
    high = (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1
    return IntType(f"{'int' if signed else 'uint'}{bits}", bits, low, high, np.dtype(storage))


#: The integer types by name. int12: HiSilicon S16 activation records that use 4096 codes, [-2048, 2047].
INT_TYPES: Final[dict[str, IntType]] = {
    known.name: known
    for known in (
        _type(4, True, "int8"),
        _type(4, False, "uint8"),
        _type(8, True, "int8"),
        _type(8, False, "uint8"),
        _type(12, True, "int16"),
        _type(16, True, "int16"),
        _type(16, False, "uint16"),
        _type(32, True, "int32"),
    )
}


def int_type(name: str) -> IntType:
    """Return the integer type called `name`.

    Raises:
        BadArgument: no such type; the message lists the known ones.
    """
    try:
        return INT_TYPES[name]
    except (KeyError, TypeError):
        raise BadArgument(f"integer type {name!r} is not known; use one of {', '.join(INT_TYPES)}") from None


def round_float(x: NDArray[np.floating], rounding: Rounding = "half_even") -> NDArray[np.floating]:
    """Return `x` rounded to integers, still as floats of the same dtype and shape.

    Exact for every finite value: no `x + 0.5`, which is wrong for 0.49999997 and above 2^23. NaN and infinities stay.

    Args:
        x: float16, float32 or float64, any shape.
        rounding: which integer is taken, see `Rounding`.

    Raises:
        BadArgument: `x` is not a float array, or the mode is unknown.

    Source: IEEE 754-2019, 4.3 (directions) and 5.9 (roundToIntegral).
    """
    x = np.asarray(x)
    if x.dtype.kind != "f":
        raise BadArgument(f"x: round_float takes float16, float32 or float64, not {x.dtype}; integers need no rounding")
    if rounding == "half_even":
        return np.asarray(np.rint(x))
    if rounding == "toward_zero":
        return np.asarray(np.trunc(x))
    if rounding == "floor":
        return np.asarray(np.floor(x))
    # x - trunc(x) is exact, and x - floor(x) never crosses one half by rounding: both compare as in the reals.
    with np.errstate(invalid="ignore"):
        if rounding == "half_away":
            whole = np.trunc(x)
            return np.asarray(np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(x.dtype.type(1), x), whole))
        if rounding == "half_up":
            whole = np.floor(x)
            return np.asarray(np.where(x - whole >= 0.5, whole + x.dtype.type(1), whole))
    raise _unknown_rounding(rounding)


def round_shift(x: NDArray[np.integer], shift: ArrayLike, rounding: Rounding = "half_away") -> NDArray[np.int64]:
    """Return `x / 2**shift` rounded to integers, in int64 and exactly.

    `floor = x >> shift; rest = x - (floor << shift)`, then `floor` or `floor + 1` by comparing `rest` with half.

    Args:
        x: integers of any width up to int64, any shape.
        shift: integer or integers 0..62, broadcast against `x`.
        rounding: which neighbour is taken, see `Rounding`.

    Raises:
        BadArgument: `x` or `shift` are not integers (uint64 included), a shift lies outside 0..62, unknown mode.
    """
    x, shift = np.asarray(x), np.asarray(shift)
    if x.dtype.kind not in "iu" or x.dtype == np.uint64:
        raise BadArgument(f"x: round_shift takes integers up to int64, not {x.dtype}")
    if shift.dtype.kind not in "iu" or (shift.size and not (int(shift.min()) >= 0 and int(shift.max()) <= 62)):
        raise BadArgument(f"shift: expected integers 0..62, got {shift.tolist()!s:.60}")
    wide, shift = x.astype(np.int64), shift.astype(np.int64)
    whole = wide >> shift
    rest = wide - (whole << shift)
    # `rest > 0` keeps shift 0, where half and rest are both 0, on the floor.
    half = (np.int64(1) << shift) >> 1
    if rounding == "floor":
        up = np.zeros(rest.shape, np.bool_)
    elif rounding == "toward_zero":
        up = (rest > 0) & (wide < 0)
    elif rounding == "half_up":
        up = (rest >= half) & (rest > 0)
    elif rounding == "half_even":
        up = (rest > half) | ((rest == half) & (rest > 0) & (whole & 1 == 1))
    elif rounding == "half_away":
        up = (rest > half) | ((rest == half) & (rest > 0) & (wide > 0))
    else:
        raise _unknown_rounding(rounding)
    return np.asarray(whole + up, np.int64)


def saturate(x: NDArray[np.integer], to: str) -> NDArray[np.integer]:
    """Return integers clamped into type `to`: `min(max(x, low), high)`, in the dtype of that type.

    Args:
        x: integers of any dtype and shape.
        to: name of an integer type, e.g. "int8".

    Raises:
        BadArgument: `x` is not integer (floats go through `round_saturate`), or the type is unknown.
    """
    kind, x = int_type(to), _integers(x, "saturate")
    info = np.iinfo(x.dtype)
    # Bounds are cut to what x's own dtype can hold, so that nothing is widened.
    return np.asarray(np.clip(x, max(kind.low, int(info.min)), min(kind.high, int(info.max))).astype(kind.dtype))


def wrap(x: NDArray[np.integer], to: str) -> NDArray[np.integer]:
    """Return integers modulo 2^bits as type `to` holds them: two's complement, low bits kept.

    Args:
        x: integers of any dtype and shape.
        to: name of an integer type, e.g. "int32".

    Raises:
        BadArgument: `x` is not integer, or the type is unknown.
    """
    kind, x = int_type(to), _integers(x, "wrap")
    low_bits = x.astype(np.uint64) & np.uint64((1 << kind.bits) - 1)
    value = low_bits.astype(np.int64)
    if kind.low < 0:
        value -= (value > kind.high).astype(np.int64) << kind.bits
    return np.asarray(value.astype(kind.dtype))


def narrow_int32(acc: NDArray[np.integer], overflow: Overflow) -> NDArray[np.integer]:
    """Return exact sums as a 32-bit accumulator shows them, or all bits.

    The rule is applied once, to the exact sum. For "wrap" that equals wrapping after every addition; hardware that
    clamps after every addition differs from "saturate" when a partial sum leaves the range and comes back.

    Args:
        acc: integers up to int64, any shape.
        overflow: "wrap" and "saturate" return int32, "wide" returns int64.

    Raises:
        BadArgument: unknown overflow mode, or `acc` is not integer.
    """
    if overflow == "wide":
        return np.asarray(_integers(acc, "narrow_int32"), np.int64)
    if np.asarray(acc).dtype == np.int32 and overflow in get_args(Overflow):
        return np.asarray(acc)
    if overflow == "wrap":
        return wrap(acc, "int32")
    if overflow == "saturate":
        return saturate(acc, "int32")
    raise BadArgument(f"overflow {overflow!r} is not known; use one of {', '.join(get_args(Overflow))}")


def round_saturate(
    x: NDArray[np.floating], to: str, rounding: Rounding = "half_even", offset: ArrayLike = 0
) -> NDArray[np.integer]:
    """Return `clip(round(x) + offset, low, high)` in integer type `to`.

    The sum is exact: float32 for types up to 16 bits (|round(x)| >= 2^23 saturates anyway), float64 for int32.
    Infinities and large values saturate. NaN counts as 0 (the NPU's saturation mode), so it becomes `offset`.

    Args:
        x: floats, any shape.
        to: name of an integer type.
        rounding: see `Rounding`.
        offset: integers in the range of `to`, broadcast against `x`: the zero point.

    Raises:
        BadArgument: `x` is not float, unknown type or mode, or an offset outside the type.
    """
    kind = int_type(to)
    offset = np.asarray(offset)
    if offset.dtype.kind not in "iu" or (
        offset.size and not (kind.low <= int(offset.min()) and int(offset.max()) <= kind.high)
    ):
        raise BadArgument(
            f"offset: expected integers {kind.low}..{kind.high} for {to}, got {offset.tolist()!s:.60}; "
            "an int32 offset from a record must fit the quantized type"
        )
    whole = round_float(x, rounding)
    exact: type[np.float32 | np.float64] = np.float64 if kind.bits > 16 or whole.dtype == np.float64 else np.float32
    whole = whole.astype(exact, copy=False)
    undefined = np.isnan(whole)
    if undefined.any():
        whole = np.where(undefined, exact(0), whole)
    if np.any(offset):
        whole = whole + offset.astype(exact)
    elif offset.ndim:
        whole = np.broadcast_to(whole, np.broadcast_shapes(whole.shape, offset.shape))
    return np.asarray(np.clip(whole, exact(kind.low), exact(kind.high)).astype(kind.dtype))


def _integers(x: NDArray[np.integer], caller: str) -> NDArray[np.integer]:
    x = np.asarray(x)
    if x.dtype.kind not in "iu":
        raise BadArgument(f"x: {caller} takes integers, not {x.dtype}; round floats first with round_saturate")
    return x


def _unknown_rounding(rounding: str) -> BadArgument:
    return BadArgument(f"rounding {rounding!r} is not known; use one of {', '.join(get_args(Rounding))}")
