"""Checks of softmax, activations, masks and lookup tables, over simcore.activations, softcap, curves and lut."""

import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from assistant.checks.half import mode_of, plain
from simcore import activations
from simcore.activations import ExpForm, Normalize, Shift, SigmoidForm, TanhForm
from simcore.curves import CURVES
from simcore.errors import BadArgument
from simcore.fp16 import IEEE, SATURATE, Fp16, round_fp16
from simcore.fp16_sum import Accumulator
from simcore.lut import Interpolation, Output, build_table, evaluate, table_error
from simcore.ops.softmax import softmax as softmax_float
from simcore.softcap import Precision, SoftcapForm, rounding_to, softcap

__all__ = ["activation_fp16", "attention_mask", "softcap_scores", "softmax_fp16", "table_error_of"]


def softmax_fp16(
    values: tuple[float, ...], shift: str, normalize: str, accumulator: str, overflow: str, cut: float | None
) -> Mapping[str, Any]:
    """Return softmax in fp16 steps against the exact one."""
    mode = mode_of(overflow)
    x = round_fp16(np.asarray(values), mode)
    if cut is not None:
        # The device drops powers that are small against the largest one; e^-inf is 0.
        wide = x.astype(np.float64)
        with np.errstate(invalid="ignore"):
            x = np.where(wide.max() - wide > cut, np.float16(-np.inf), x)
    got = activations.softmax(
        x,
        shift=cast(Shift, shift),
        normalize=cast(Normalize, normalize),
        accumulator=cast(Accumulator, accumulator),
        mode=mode,
    ).astype(np.float64)
    exact = _softmax(np.asarray(values, np.float64))
    return {
        "probabilities": plain(got),
        "exact": plain(exact),
        "max_error": _worst(got, exact),
        "total": math.fsum(got) if np.isfinite(got).all() else math.nan,
        "lost": int(np.count_nonzero((got == 0) & (exact > 0))),
    }


def activation_fp16(values: tuple[float, ...], function: str, form: str, overflow: str) -> Mapping[str, Any]:
    """Return sigmoid, tanh or exp in fp16, written in one of several forms, against the exact value."""
    mode = mode_of(overflow)
    x = round_fp16(np.asarray(values), mode)
    got: Fp16
    if function == "tanh":
        got = activations.tanh(x, cast(TanhForm, form), mode)
    elif function == "sigmoid":
        got = activations.sigmoid(x, cast(SigmoidForm, form), mode)
    else:
        got = activations.exp(x, cast(ExpForm, form), mode)
    with np.errstate(over="ignore"):
        exact = CURVES[function](np.asarray(values, np.float64))
        reference = CURVES[function](x.astype(np.float64))
    wide = got.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        relative = np.where(wide == reference, 0.0, np.abs(wide / np.where(reference == 0, np.nan, reference) - 1))
    return {
        "fp16": plain(wide),
        "exact": plain(exact),
        "input_fp16": plain(x),
        "max_error": _worst(wide, exact),
        "max_relative": float(np.max(relative)),
    }


def softcap_scores(
    values: tuple[float, ...], cap: float, form: str, precision: str, overflow: str
) -> Mapping[str, Any]:
    """Return cap * tanh(s / cap) in a precision and a form, against the exact one."""
    got = softcap(values, cap, cast(SoftcapForm, form), cast(Precision, precision), mode_of(overflow))
    exact = cap * np.tanh(np.asarray(values, np.float64) / cap)
    return {
        "results": plain(got),
        "exact": plain(exact),
        "broken": int(np.count_nonzero(~np.isfinite(got) | (np.abs(got) > 2 * cap))),
        "max_error": _worst(got, exact),
        "exp_limit": math.log(65520) if precision == "fp16" else math.log(2.0**128 - 2.0**103),
    }


def attention_mask(
    fill: float, scores: tuple[float, ...], masked: int, how: str, precision: str, overflow: str
) -> Mapping[str, Any]:
    """Return what a mask constant becomes in fp16, and the attention weights it gives."""
    if masked > len(scores):
        raise BadArgument(f"masked: {masked} of {len(scores)} scores; give at most as many as there are scores")
    mode = mode_of(overflow)
    to = rounding_to(cast(Precision, precision), mode)
    constant = to(np.asarray(fill, np.float64))
    row = to(np.asarray(scores, np.float64))
    hidden = np.arange(row.size) >= row.size - masked
    with np.errstate(all="ignore"):
        row = np.where(hidden, to(row + constant) if how == "add" else constant, row)
        power = float(np.exp(constant))
        if precision == "fp16":
            weights = activations.softmax(round_fp16(row, IEEE), mode=mode).astype(np.float64)
        else:
            weights = softmax_float(row.astype(np.float32)).astype(np.float64)
    return {
        "fill_infinity": float(round_fp16(fill, IEEE)),
        "fill_saturate": float(round_fp16(fill, SATURATE)),
        "representable": abs(fill) < 65520,
        "exp_fill": power,
        "weights": plain(weights),
        "leak": math.fsum(weights[hidden]) if np.isfinite(weights).all() else math.nan,
        "broken": not bool(np.isfinite(weights).all()),
    }


def table_error_of(
    function: str,
    entries: int,
    low: float,
    high: float,
    interpolation: str,
    output: str,
    scale: float | None,
    from_x: float | None,
    to_x: float | None,
    x: float,
) -> Mapping[str, Any]:
    """Return the errors of a lookup table over every fp16 input of a range, and its value at x."""
    curve = CURVES[function]
    if output.startswith("int") and scale is None:
        scale = 2.0 ** (1 - int(output[3:]))
    table = build_table(
        curve, entries, low, high,
        interpolation=cast(Interpolation, interpolation), output=cast(Output, output), scale=scale,
    )  # fmt: skip
    report = table_error(table, curve, low if from_x is None else from_x, high if to_x is None else to_x)
    with np.errstate(over="ignore"):
        got, exact = float(evaluate(table, x)), float(curve(np.asarray(x, np.float64)))
    return {
        "max_error": report.max_absolute,
        "max_error_at": report.max_absolute_at,
        "max_relative": report.max_relative,
        "max_relative_at": report.max_relative_at,
        "rms_error": report.root_mean_square,
        "spacing": (high - low) / (entries - 1),
        "value": got,
        "exact": exact,
        "value_error": got - exact,
        "points": report.points,
    }


def _softmax(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(softmax_float(x), np.float64)


def _worst(got: NDArray[np.float64], want: NDArray[np.float64]) -> float:
    """Return the largest |got - want|; NaN if any is, 0 where both are the same infinity."""
    with np.errstate(invalid="ignore"):
        return float(np.max(np.where(got == want, 0.0, np.abs(got - want))))
