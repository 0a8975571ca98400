"""One input normalization in the words of each toolchain: y = (pixel - mean) / std for pixels 0..255.

    unit       y = (pixel / 255 - mean) / std                    training code: mean 0.485, std 0.229
    pixel      y = (pixel - mean) / std                          the common form here; RKNN mean_values, std_values
    horizon    y = (pixel - mean_value) * scale_value            mean_value = 255 mean, scale_value = 1 / (255 std)
    magicmind  y = (pixel - mean) / sqrt(var)                    var is the squared standard deviation
    aipp       y = (pixel - mean_chn - min_chn) * var_reci_chn   var_reci_chn is 1 / std in spite of its name
    ncnn       y = (pixel - mean_vals) * norm_vals

Sources: Horizon and RDK toolchain FAQ (mean_value, scale_value); Cambricon magicmind_edge gen_model (means, vars);
CANN ATC guide, AIPP normalization (mean_chn: uint8, min_chn and var_reci_chn: float16); Rockchip RKNN Toolkit2
rknn.config; ncnn Mat::substract_mean_normalize.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from simcore.errors import BadArgument

__all__ = ["Convention", "Normalization", "aipp_mean", "apply", "from_convention"]

Convention = Literal["unit", "pixel", "horizon", "magicmind", "aipp", "rknn", "ncnn"]


@dataclass(frozen=True, slots=True)
class Normalization:
    """y = (pixel - mean) / std of one channel, for pixels 0..255."""

    mean: float
    std: float


def from_convention(convention: Convention, mean: float, second: float) -> Normalization:
    """Return the normalization that a pair of numbers means in a convention.

    Args:
        convention: see the module.
        mean: the number subtracted; for aipp the sum of mean_chn and min_chn.
        second: std (unit, pixel, rknn), scale_value (horizon), var (magicmind), var_reci_chn (aipp), norm (ncnn).

    Raises:
        BadArgument: An unknown convention, a number that is not finite, or a second one that is not positive.
    """
    if convention not in get_args(Convention):
        raise BadArgument(f"normalization: {convention!r} is unknown; choose one of {', '.join(get_args(Convention))}.")
    if not math.isfinite(mean) or not math.isfinite(second) or second <= 0:
        raise BadArgument(f"normalization: mean {mean:g} and {second:g}; the second must be finite and above 0.")
    if convention == "unit":
        return Normalization(255 * mean, 255 * second)
    if convention == "magicmind":
        return Normalization(mean, math.sqrt(second))
    if convention in ("pixel", "rknn"):
        return Normalization(mean, second)
    return Normalization(mean, 1 / second)


def apply(convention: Convention, how: Normalization, pixel: float) -> float:
    """Return the normalized pixel computed with the convention's own numbers and formula, in float64.

    Raises:
        BadArgument: An unknown convention.
    """
    if convention == "unit":
        return (pixel / 255 - how.mean / 255) / (how.std / 255)
    if convention == "magicmind":
        return (pixel - how.mean) / math.sqrt(how.std * how.std)
    if convention == "aipp":
        whole, rest = aipp_mean(how.mean)
        return (pixel - whole - rest) * (1 / how.std)
    if convention in ("horizon", "ncnn"):
        return (pixel - how.mean) * (1 / how.std)
    if convention in ("pixel", "rknn"):
        return (pixel - how.mean) / how.std
    raise BadArgument(f"normalization: {convention!r} is unknown; choose one of {', '.join(get_args(Convention))}.")


def aipp_mean(mean: float) -> tuple[int, float]:
    """Return `(mean_chn, min_chn)` whose sum is mean: the whole part, as mean_chn is a uint8, and the rest.

    min_chn is an fp16: the small rest keeps its digits, where all of 123.675 would become 123.6875. A mean outside
    0..255 keeps the nearest end in mean_chn; AIPP documents min_chn for 0..255 only.
    """
    whole = min(255, max(0, math.floor(mean)))
    return whole, mean - whole
