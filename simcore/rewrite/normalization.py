"""Normalizations by their mean and variance written out, and BatchNormalization where the device lacks it."""

from typing import Final

import numpy as np

from simcore.element_types import dtype_of, number_of
from simcore.rewrite.rule import ROUNDING, Declined, Rule, Site

__all__ = ["RULES"]


def _standardized(site: Site, x: str, axes: tuple[int, ...], epsilon: float) -> tuple[str, str, str]:
    """Return (x - mean) / sqrt(var + epsilon), the mean, and the reciprocal deviation over the axes."""
    mean = site.reduce("ReduceMean", x, axes)
    centred = site.sub(x, mean)
    variance = site.reduce("ReduceMean", site.mul(centred, centred), axes)
    inverse = site.pow(site.shifted(variance, epsilon), -0.5)
    return site.mul(centred, inverse), mean, inverse


def _last_axes(site: Site) -> tuple[int, ...]:
    """Return the axes from `axis` on, counted from the end, which needs no rank where axis is negative."""
    axis = site.attribute("axis", -1)
    first = axis if axis < 0 else axis - site.rank(site.input(0))
    return tuple(range(first, 0))


def _layer_normalization(site: Site) -> tuple[str, ...]:
    x, scale, bias = site.input(0), site.input(1), site.input(2)
    _check_stash(site)
    y, mean, inverse = _standardized(site, x, _last_axes(site), site.attribute("epsilon", 1e-5))
    y = site.mul(y, scale)
    return (site.add(y, bias) if bias else y, mean, inverse)


def _check_stash(site: Site) -> None:
    """Check that the statistics have the type of the data: a wider one is not written out."""
    dtype = site.floating(site.input(0))
    if dtype.itemsize < dtype_of(site.attribute("stash_type", 1)).itemsize and dtype != np.dtype(np.float16):
        raise Declined(f"data of {dtype.name} with wider statistics")


def _rms_normalization(site: Site) -> str:
    x = site.input(0)
    _check_stash(site)
    square = site.reduce("ReduceMean", site.mul(x, x), _last_axes(site))
    inverse = site.pow(site.shifted(square, site.attribute("epsilon", 1e-5)), -0.5)
    return site.mul(site.mul(x, inverse), site.input(1))


def _group_normalization(site: Site) -> str:
    """Return x as [N, groups, rest], standardized over the rest, then scaled per channel."""
    x, scale, bias = site.input(0), site.input(1), site.input(2)
    _check_stash(site)
    groups, epsilon = site.attribute("num_groups", 1), site.attribute("epsilon", 1e-5)
    rank, channels = site.rank(x), site.size(x, 1)
    # Three axes at least, as for the operator on images.
    rows = site.reshape(x, 0, groups, -1)
    if "InstanceNormalization" in site.operators:
        dtype = site.dtype(x)
        ones, zeros = site.const(np.ones(groups, dtype)), site.const(np.zeros(groups, dtype))
        y = site.op("InstanceNormalization", rows, ones, zeros, epsilon=epsilon)
    else:
        y, _, _ = _standardized(site, rows, (2,), epsilon)
    y = site.op("Reshape", y, _shape_of(site, x))
    for op_type, name in (("Mul", scale), ("Add", bias)):
        y = site.op(op_type, y, _per_channel(site, name, channels, rank))
    return y


def _shape_of(site: Site, x: str) -> str:
    """Return the shape of x as a tensor: a constant where at most one size is open."""
    sizes = site.sizes(x)
    if sum(size is None for size in sizes) <= 1:
        return site.ints(*(-1 if size is None else size for size in sizes))
    return site.op("Shape", x)


def _per_channel(site: Site, name: str, channels: int, rank: int) -> str:
    """Return [C] or [groups] as [C, 1, ...], each group's entry for all of its channels."""
    shape = (channels, *(1,) * (rank - 2))
    value = site.value(name)
    count = site.size(name, 0)
    if value is not None:
        return site.const(np.repeat(value, channels // count).reshape(shape), hint="per_channel")
    if count == channels:
        return site.reshape(name, *shape)
    spread = site.op("Tile", site.reshape(name, count, 1), site.ints(1, channels // count))
    return site.reshape(spread, *shape)


def _mean_variance_normalization(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    axes = tuple(site.attribute("axes", (0, 2, 3)))
    centred = site.sub(x, site.reduce("ReduceMean", x, axes))
    variance = site.reduce("ReduceMean", site.mul(centred, centred), axes)
    return site.mul(centred, site.pow(site.shifted(site.pow(variance, 0.5), 1e-9), -1))


def _instance_normalization(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    rank, channels = site.rank(x), site.size(x, 1)
    y, _, _ = _standardized(site, x, tuple(range(2, rank)), site.attribute("epsilon", 1e-5))
    y = site.mul(y, _per_channel(site, site.input(1), channels, rank))
    return site.add(y, _per_channel(site, site.input(2), channels, rank))


def _batch_normalization(site: Site) -> str:
    x, *parameters = site.node.inputs
    if site.attribute("training_mode", 0) or len([name for name in site.node.outputs if name]) > 1:
        raise Declined("statistics of training are no part of inference; export the model in evaluation mode")
    scale, bias, mean, var = (
        site.constant(name, "statistics of BatchNormalization").astype(np.float64) for name in parameters
    )
    dtype, rank = site.floating(x), site.rank(x)
    factor = scale / np.sqrt(var + site.attribute("epsilon", 1e-5))
    offset = bias - mean * factor
    shape = (-1, *(1,) * (rank - 2)) if scale.ndim == 1 else scale.shape
    y = site.mul(x, site.const(factor.reshape(shape), dtype, "factor"))
    return site.add(y, site.const(offset.reshape(shape), dtype, "offset"))


def _lrn(site: Site) -> str:
    """Return x * (bias + alpha / size * sum of squares over near channels)^-beta; the sum is a 1x1 convolution."""
    x = site.input(0)
    dtype, rank, channels, size = site.floating(x), site.rank(x), site.size(x, 1), site.attribute("size", 1)
    places = np.arange(channels)
    apart = places[None, :] - places[:, None]
    near = (apart >= -((size - 1) // 2)) & (apart <= size // 2)
    factor = np.where(near, site.attribute("alpha", 0.0001) / size, 0).reshape(channels, channels, *(1,) * (rank - 2))
    total = site.op("Conv", site.mul(x, x), site.const(factor, dtype, "band"))
    base = site.shifted(total, site.attribute("bias", 1.0))
    return site.mul(x, site.pow(base, -site.attribute("beta", 0.75)))


def _cast_like(site: Site) -> str:
    number = number_of(site.dtype(site.input(1)))
    if site.attribute("saturate", 1) and site.attribute("round_mode", "up") == "up":
        return site.cast(site.input(0), number)
    if site.opset < 19:
        raise Declined("saturate and round_mode say how float8 is rounded; older versions have no float8")
    return site.op("Cast", site.input(0), to=number, **site.node.attributes)


_WRITTEN_OUT: Final = "definition in the specification, written out"

RULES: Final = (
    Rule(
        ("LayerNormalization",),
        "mean",
        "d = x - ReduceMean(x); d * Pow(ReduceMean(d * d) + epsilon, -0.5) * scale + bias",
        "floats; known rank where axis is not negative",
        ROUNDING,
        _WRITTEN_OUT,
        _layer_normalization,
    ),
    Rule(
        ("RMSNormalization",),
        "mean",
        "x * Pow(ReduceMean(x * x) + epsilon, -0.5) * scale",
        "floats; known rank where axis is not negative",
        ROUNDING,
        _WRITTEN_OUT,
        _rms_normalization,
    ),
    Rule(
        ("GroupNormalization",),
        "instance",
        "Reshape to groups; InstanceNormalization (or means); Reshape back; * scale + bias",
        "floats; known rank and channels",
        ROUNDING,
        "a group is one long channel",
        _group_normalization,
    ),
    Rule(
        ("InstanceNormalization",),
        "mean",
        "as LayerNormalization over the spatial axes",
        "floats; known rank and channels",
        ROUNDING,
        _WRITTEN_OUT,
        _instance_normalization,
    ),
    Rule(
        ("MeanVarianceNormalization",),
        "mean",
        "d = x - ReduceMean(x); d * Pow(Pow(ReduceMean(d * d), 0.5) + 1e-9, -1)",
        "floats",
        ROUNDING,
        _WRITTEN_OUT,
        _mean_variance_normalization,
    ),
    Rule(
        ("BatchNormalization",),
        "affine",
        "x * factor + offset",
        "floats; constant statistics; known rank",
        ROUNDING,
        "factor = scale / sqrt(var + epsilon), offset = bias - mean * factor",
        _batch_normalization,
    ),
    Rule(
        ("LRN",),
        "conv",
        "x * Pow(bias + Conv(x * x, band), -beta)",
        "floats; known channels",
        ROUNDING,
        "the sum over near channels is a 1x1 convolution with a band matrix",
        _lrn,
    ),
    Rule(("CastLike",), "cast", "Cast to the known type", "known element type", "exact", "definition", _cast_like),
)
