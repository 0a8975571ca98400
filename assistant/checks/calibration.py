"""Checks of ranges and calibration settings, over simcore.quantize: shared scales, thresholds, counts."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

import numpy as np

from simcore.errors import BadArgument
from simcore.quantize import dequantize, params_from_range, quantize, step
from simcore.rounding import int_type

__all__ = ["calibration_images", "concat_shared_scale", "ifmr_candidates", "kl_threshold", "per_channel_loss"]

#: Tool -> (fewest, most) calibration inputs that its documents advise; None: no upper figure.
ADVICE: Final[Mapping[str, tuple[int, int | None]]] = {
    "nano": (16, 32),
    "ascend": (16, 32),
    "hisilicon": (3, 5),
    "horizon": (100, None),
}
#: Ranges below it reach into the subnormal numbers of float32, where steps lose their meaning.
SMALLEST: Final = 1e-30
#: Most calibration images that AMCT's configuration notes allow.
AMCT_MOST: Final = 50


def concat_shared_scale(
    maxima: tuple[float, ...],
    minima: tuple[float, ...] | None,
    convention: str,
    dtype: str,
    power_of_two: bool,
    value: float | None,
) -> Mapping[str, Any]:
    """Return the step all branches of a concat share, the steps they would have alone, and what that costs."""
    highs = np.asarray(maxima, np.float64)
    lows = -np.abs(highs) if minima is None else np.asarray(minima, np.float64)
    if lows.shape != highs.shape:
        raise BadArgument(f"minima: {lows.size} values for {highs.size} maxima; give as many, or leave minima out")
    if np.isnan(highs).any() or np.isnan(lows).any() or np.any(lows > highs):
        raise BadArgument("minima: a minimum lies above its maximum, or one of them is NaN")
    reach = np.maximum(np.abs(lows), np.abs(highs))
    if np.any(reach < SMALLEST):
        raise BadArgument(f"maxima: a branch that stays below {SMALLEST:g} has no range to speak of; leave it out")
    own = np.asarray(
        [
            _step(low, high, convention, dtype, power_of_two)
            for low, high in zip(lows.tolist(), highs.tolist(), strict=True)
        ]
    )
    shared = _step(float(lows.min()), float(highs.max()), convention, dtype, power_of_two)
    factors = shared / own
    worst = int(np.argmax(factors))
    # On the grid of a step, a value becomes the nearest multiple of it; the zero point only shifts the codes.
    x = float(reach[worst]) if value is None else value
    return {
        "shared_step": shared,
        "own_steps": own.tolist(),
        "loss_factors": factors.tolist(),
        "loss_factor": float(factors[worst]),
        "bits_lost": math.log2(float(factors[worst])),
        "zero_below": shared / 2,
        "codes_used": [int(code) for code in np.rint(reach / shared)],
        "value": x,
        "value_shared": float(np.rint(x / shared) * shared),
        "value_own": float(np.rint(x / own[worst]) * own[worst]),
    }


def per_channel_loss(maxima: tuple[float, ...], dtype: str) -> Mapping[str, Any]:
    """Return what one symmetric scale for all channels does to each, against one scale per channel."""
    if not all(peak == 0 or peak >= SMALLEST for peak in maxima) or not any(maxima):
        raise BadArgument(f"maxima: give the largest |w| of each channel, 0 or {SMALLEST:g} and more, not 0 for all")
    peaks = np.asarray(maxima, np.float32)
    whole = params_from_range(-peaks.max(), peaks.max(), "onnx_symmetric", dtype)
    split = params_from_range(-peaks, peaks, "onnx_symmetric", dtype, axis=0)
    codes = quantize(peaks, whole)
    back = dequantize(codes, whole, "float64")
    wide = peaks.astype(np.float64)
    shared, own = float(step(whole)), step(split)
    used = wide > 0
    return {
        "tensor_step": shared,
        "channel_steps": own.tolist(),
        "tensor_codes": [int(code) for code in codes],
        "channel_codes": [int(code) for code in quantize(peaks, split)],
        "tensor_back": back.tolist(),
        "zero_below": shared / 2,
        "bits_lost": [math.log2(shared / one) if some else 0.0 for one, some in zip(own, used, strict=True)],
        "lost_channels": int(np.count_nonzero(used & (codes == 0))),
        "worst_error": float((np.abs(back - wide)[used] / wide[used]).max()),
    }


def kl_threshold(absmax: float, bins: int, best_bin: int, dtype: str) -> Mapping[str, Any]:
    """Return the threshold that a best histogram bin stands for, and the scale."""
    if best_bin > bins:
        raise BadArgument(f"best_bin: {best_bin} lies beyond the {bins} bins of the histogram")
    threshold = (best_bin + 0.5) * absmax / bins
    high = int_type(dtype).high
    return {
        "threshold": threshold,
        "scale": threshold / high,
        "scale_unclipped": absmax / high,
        "kept": threshold / absmax,
        "clipped_above": min(threshold, absmax),
    }


def ifmr_candidates(
    start: float, end: float, search_step: float, clip_max: float | None, dtype: str
) -> Mapping[str, Any]:
    """Return how many thresholds IFMR tries, both ends counted, and the first and last."""
    first, last, width = (Fraction(str(number)) for number in (start, end, search_step))
    if first > last:
        raise BadArgument(f"start: {start:g} lies above end {end:g}")
    count = (last - first) // width + 1
    final = first + (count - 1) * width
    peak = 1.0 if clip_max is None else clip_max
    high = int_type(dtype).high
    return {
        "count": int(count),
        "first": float(first) * peak,
        "last": float(final) * peak,
        "scale_first": float(first) * peak / high,
        "scale_last": float(final) * peak / high,
    }


def calibration_images(batch_num: int, batch_size: int, inputs: int, tool: str) -> Mapping[str, Any]:
    """Return how many samples a calibration uses, and how that compares with the advice for the tool."""
    images = batch_num * batch_size
    fewest, most = ADVICE[tool]
    verdict = "few" if images < fewest else "many" if most is not None and images > most else "advised"
    if tool in ("nano", "ascend") and images > AMCT_MOST:
        verdict = "above_limit"
    return {
        "images": images,
        "samples": images * inputs,
        "verdict": verdict,
        "advice": tool,
        "batch_num_needed": -(-fewest // batch_size),
    }


def _step(low: float, high: float, convention: str, dtype: str, power_of_two: bool) -> float:
    width = float(step(params_from_range(low, high, convention, dtype)))
    if not power_of_two:
        return width
    fraction, exponent = math.frexp(width)
    return math.ldexp(1.0, exponent - 1 if fraction == 0.5 else exponent)
