"""Checks of scales, offsets and codes, over simcore.quantize and requantize."""

import math
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

import numpy as np

from simcore.errors import BadArgument
from simcore.quantize import (
    CONVENTIONS,
    MAX_INVERTED_STEP,
    QuantParams,
    ScaleForm,
    dequantize,
    params,
    params_from_range,
    quantize,
    representable_range,
    step,
)
from simcore.requantize import fixed_point, requantize, requantize_fixed, requantize_scale
from simcore.rounding import Rounding, int_type

__all__ = [
    "amct_scale_check",
    "dequantize_values",
    "quant_params",
    "quant_range",
    "quantize_values",
    "requantize_values",
]

#: How a choice of the table is called in simcore.
FORMS: Final[Mapping[str, ScaleForm]] = {"step": "step", "amct": "inverted_step", "reciprocal": "reciprocal"}


def quant_range(scale: float, zero_point: int, dtype: str, form: str) -> Mapping[str, Any]:
    """Return low, high and step of codes of a type."""
    how = _params(scale, zero_point, dtype, form)
    low, high = representable_range(how)
    return {"low": float(low), "high": float(high), "step": float(step(how))}


def quant_params(low: float, high: float, convention: str, dtype: str) -> Mapping[str, Any]:
    """Return what a toolchain writes for values in [low, high], and what its codes then stand for."""
    how = params_from_range(low, high, convention, dtype)
    width = float(step(how))
    covered = representable_range(how)
    kind = int_type(dtype)
    return {
        "scale": float(how.scale),
        "zero_point": int(how.zero_point),
        "step": width,
        "covers_low": float(covered[0]),
        "covers_high": float(covered[1]),
        "levels": kind.high - kind.low + 1,
        "zero_below": width / 2,
        "form": "reciprocal" if CONVENTIONS[convention].form == "reciprocal" else "step",
    }


def quantize_values(
    values: tuple[float, ...], scale: float, zero_point: int, dtype: str, form: str, rounding: str
) -> Mapping[str, Any]:
    """Return the code of each value, the value the code stands for, and the errors."""
    how = _params(scale, zero_point, dtype, form)
    # float64 holds the decimal as typed; one rounding to float32 is what a model file would hold.
    x = np.asarray(values, np.float32)
    codes = quantize(x, how, cast(Rounding, rounding))
    back = dequantize(codes, how, "float64")
    kind = int_type(dtype)
    free = quantize(x, _params(scale, zero_point, "int32", form), cast(Rounding, rounding))
    with np.errstate(invalid="ignore"):
        errors = back - np.asarray(values, np.float64)
    finite = np.abs(errors[np.isfinite(errors)])
    return {
        "codes": [int(code) for code in codes],
        "back": [float(value) for value in back],
        "errors": [float(value) for value in errors],
        "max_error": float(finite.max()) if finite.size else math.nan,
        "saturated": int(np.count_nonzero((free < kind.low) | (free > kind.high))),
    }


def dequantize_values(
    codes: tuple[int, ...], scale: float, zero_point: int, dtype: str, form: str
) -> Mapping[str, Any]:
    """Return the real value of each code."""
    kind = int_type(dtype)
    for code in codes:
        if not kind.low <= code <= kind.high:
            raise BadArgument(f"codes: {code} lies outside {dtype}, [{kind.low}, {kind.high}]")
    how = _params(scale, zero_point, dtype, form)
    back = dequantize(np.asarray(codes, kind.dtype), how, "float64")
    return {"values": [float(value) for value in back], "step": float(step(how))}


def requantize_values(
    sums: tuple[int, ...],
    x_scale: float,
    w_scale: float,
    y_scale: float,
    zero_point: int,
    dtype: str,
    multiplier_bits: int,
) -> Mapping[str, Any]:
    """Return codes of int32 sums by the float rule and by multiplier and shift."""
    acc = np.asarray(sums, np.int64)
    factor = requantize_scale(x_scale, w_scale, y_scale)
    multiplier, shift = fixed_point(factor, multiplier_bits)
    by_float = requantize(acc, factor, zero_point, dtype)
    by_integer = requantize_fixed(acc, multiplier, shift, zero_point, dtype)
    approximation = int(multiplier) / 2 ** int(shift)
    return {
        "codes": [int(code) for code in by_float],
        "codes_fixed": [int(code) for code in by_integer],
        "multiplier": float(factor),
        "integer_multiplier": int(multiplier),
        "shift": int(shift),
        "differences": int(np.count_nonzero(by_float != by_integer)),
        "multiplier_error": abs(approximation - float(factor)) / float(factor),
    }


def amct_scale_check(scale: float, zero_point: int, dtype: Literal["int8", "int16"]) -> Mapping[str, Any]:
    """Return whether AMCT takes a scale_d and offset_d, and why not."""
    kind = int_type(dtype)
    verdict = "ok"
    if not math.isfinite(scale):
        verdict = "not_finite"
    elif scale <= 0:
        verdict = "not_positive"
    elif scale > MAX_INVERTED_STEP:
        verdict = "too_large"
    elif not kind.low <= zero_point <= kind.high:
        verdict = "offset_outside"
    return {
        "accepted": verdict == "ok",
        "verdict": verdict,
        "limit": MAX_INVERTED_STEP,
        "ratio": scale / MAX_INVERTED_STEP,
        "widest_symmetric": MAX_INVERTED_STEP * kind.high,
        "offset_low": kind.low,
        "offset_high": kind.high,
    }


def _params(scale: float, zero_point: int, dtype: str, form: str) -> QuantParams:
    return params(scale, zero_point, dtype, form=FORMS[form])
