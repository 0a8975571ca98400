"""Conversion of element types."""

from typing import Any, Final

import numpy as np

from simcore.element_types import dtype_of
from simcore.errors import BadArgument
from simcore.graph import Tensor

__all__ = ["cast", "cast_like", "convert"]

#: Float formats without an infinity, or whose infinity a saturating cast avoids.
_SATURATING: Final = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")


def cast(x: Tensor, *, to: int, saturate: int = 1, round_mode: str = "up") -> Tensor:
    """Return x in element type `to`, see `convert`.

    Args:
        x: any shape and type.
        to: ONNX element type number.
        saturate: for float8 targets only: 1 clamps what is too large, 0 makes it NaN or infinity.
        round_mode: for float8_e8m0 only: up, down or nearest power of two.

    Raises:
        UnsupportedOp: unknown element type.
        BadArgument: text that is no number; unknown round_mode.

    Source: ONNX operator Cast, versions 6 to 25.
    """
    return convert(x, dtype_of(to), saturate != 0, round_mode)


def cast_like(x: Tensor, target_type: Tensor, *, saturate: int = 1, round_mode: str = "up") -> Tensor:
    """Return x in the element type of `target_type`; arguments as `cast`.

    Source: ONNX operator CastLike, versions 15 to 25.
    """
    return convert(x, target_type.dtype, saturate != 0, round_mode)


def convert(x: Tensor, dtype: "np.dtype[Any]", is_saturating: bool = True, round_mode: str = "up") -> Tensor:
    """Return x converted to `dtype`; x itself if it has that type.

    float to float rounds to nearest even; beyond the range it becomes infinity, in float8 the largest value if
    saturating. float to integer drops the fraction; NaN and values outside the range are undefined in ONNX and are here
    what the C cast of the machine gives. To bool: everything but 0 is true. Integers keep their low bits. Numbers to
    text are written as Python writes them.

    Raises:
        BadArgument: text that is no number; unknown round_mode.
    """
    if x.dtype == dtype:
        return x
    if x.dtype.kind in "iub" and dtype.kind in "iubf":
        return x.astype(dtype)
    if x.dtype.kind in "OUT" or dtype.kind == "O":
        return _through_text(x, dtype)
    with np.errstate(all="ignore"):
        if dtype.name in _SATURATING and is_saturating:
            largest = _largest(dtype)
            x = np.clip(x.astype(np.float32), -largest, largest)
        elif dtype.name == "float8_e8m0fnu":
            return _power_of_two(x.astype(np.float32), dtype, round_mode)
        elif x.dtype.kind == "V" and dtype.kind != "V":
            # Small types go through float32, which holds all of their values.
            x = x.astype(np.float32)
        return x.astype(dtype)


def _largest(dtype: "np.dtype[Any]") -> np.float32:
    """Return the largest finite value of a float8 type."""
    codes = np.arange(128, dtype=np.uint8).view(dtype).astype(np.float32)
    return np.float32(codes[np.isfinite(codes)].max())


def _power_of_two(x: Tensor, dtype: "np.dtype[Any]", round_mode: str) -> Tensor:
    """Return float32 x as 2^e in float8_e8m0: the byte e + 127; 0xFF is NaN. Negative values have no code: NaN."""
    if round_mode not in ("up", "down", "nearest"):
        raise BadArgument(f"round_mode {round_mode!r} is not known; use up, down or nearest")
    mantissa, exponent = np.frexp(x)
    # x = (2 mantissa) * 2^(exponent - 1) with 2 mantissa in [1, 2)
    extra = {"up": mantissa > 0.5, "down": False, "nearest": mantissa >= 0.75}[round_mode]
    code = np.clip(exponent - 1 + extra + 127, 0, 254)
    code = np.where(np.isinf(x), 254, np.where(x == 0, 0, code))
    return np.where(np.isnan(x) | (x < 0), 255, code).astype(np.uint8).view(dtype)


def _through_text(x: Tensor, dtype: "np.dtype[Any]") -> Tensor:
    if dtype.kind == "O":
        values = x.astype(np.float32) if x.dtype.kind == "V" else x
        return np.array([str(value) for value in values.ravel()], object).reshape(x.shape)
    try:
        if dtype.kind in "iu":
            numbers: Tensor = np.array([int(text) for text in x.ravel().tolist()], dtype)
        else:
            wide = np.array([float(text) for text in x.ravel().tolist()], np.float64)
            with np.errstate(all="ignore"):
                numbers = convert(wide.astype(np.float32) if dtype.name != "float64" else wide, dtype)
    except (ValueError, OverflowError) as error:
        raise BadArgument(f"text cannot become {dtype.name}: {error}") from error
    return numbers.reshape(x.shape)
