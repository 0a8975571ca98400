"""Checks of input preprocessing: one normalization for every toolchain, pixels as int8 codes."""

from collections.abc import Mapping
from typing import Any, Final, get_args

from simcore.errors import BadArgument
from simcore.normalization import Convention, Normalization, aipp_mean, apply, from_convention

__all__ = ["int8_pixel", "normalization"]

#: Which of std, scale and var each convention writes beside its mean.
SECOND: Final[dict[Convention, str]] = {
    "unit": "std",
    "pixel": "std",
    "rknn": "std",
    "horizon": "scale",
    "ncnn": "scale",
    "aipp": "scale",
    "magicmind": "var",
}


def normalization(
    mean: tuple[float, ...],
    std: tuple[float, ...] | None,
    scale: tuple[float, ...] | None,
    var: tuple[float, ...] | None,
    convention: str,
    pixel: float,
) -> Mapping[str, Any]:
    """Return the numbers that each toolchain wants for the same normalization, and one pixel through it."""
    named = {"std": std, "scale": scale, "var": var}
    if convention == "auto":
        convention = _by_what_is_given(mean, std, scale, var)
    form: Convention = next(name for name in get_args(Convention) if name == convention)
    second = named.pop(SECOND[form])
    if surplus := [name for name, value in named.items() if value is not None]:
        raise BadArgument(f"{surplus[0]}: {convention} writes mean and {SECOND[form]}; leave {surplus[0]} out.")
    if second is None:
        raise BadArgument(f"{SECOND[form]}: {convention} writes mean and {SECOND[form]}; give {SECOND[form]}.")
    count = max(len(mean), len(second))
    if len({len(mean), len(second)} - {1, count}):
        raise BadArgument(f"mean has {len(mean)} channels, {SECOND[form]} {len(second)}; give as many of each, or one.")
    how = [from_convention(form, mean[i % len(mean)], second[i % len(second)]) for i in range(count)]
    out = [apply(form, channel, pixel) for channel in how]
    parts = [aipp_mean(channel.mean) for channel in how]
    return {
        "out": out,
        "unit_mean": [channel.mean / 255 for channel in how],
        "unit_std": [channel.std / 255 for channel in how],
        "horizon_mean_value": [channel.mean for channel in how],
        "horizon_scale_value": [1 / channel.std for channel in how],
        "magicmind_mean": [channel.mean for channel in how],
        "magicmind_var": [channel.std**2 for channel in how],
        "aipp_mean_chn": [whole for whole, _ in parts],
        "aipp_min_chn": [rest for _, rest in parts],
        "aipp_var_reci_chn": [1 / channel.std for channel in how],
        "rknn_mean_values": [channel.mean for channel in how],
        "rknn_std_values": [channel.std for channel in how],
        "ncnn_mean_vals": [channel.mean for channel in how],
        "ncnn_norm_vals": [1 / channel.std for channel in how],
        "spread": max(_spread(channel, pixel) for channel in how),
    }


def _by_what_is_given(
    mean: tuple[float, ...],
    std: tuple[float, ...] | None,
    scale: tuple[float, ...] | None,
    var: tuple[float, ...] | None,
) -> Convention:
    """Return the convention that writes these numbers; std in 0..1 form if neither it nor the mean goes beyond 1."""
    if scale is not None and std is None and var is None:
        return "horizon"
    if var is not None and std is None and scale is None:
        return "magicmind"
    return "unit" if max((*mean, *(std or ()))) <= 1 else "pixel"


def int8_pixel(pixel: int, mean: float, scale: float) -> Mapping[str, Any]:
    """Return the int8 input of a pixel and what the preprocess node makes of it."""
    code = pixel - 128
    return {"int8": code, "out": (code + 128 - mean) * scale}


def _spread(channel: Normalization, pixel: float) -> float:
    """Return how far apart the conventions' own formulas put one pixel: rounding of float64 only."""
    every = [apply(name, channel, pixel) for name in get_args(Convention)]
    return max(every) - min(every)
