"""Normalization by mean and variance, by norm, and across neighbouring channels.

Operators by (name, first opset version served):

    batch_normalization BatchNormalization 7 · group_normalization_groups GroupNormalization 18
    group_normalization GroupNormalization 21 · instance_normalization InstanceNormalization 6
    layer_normalization LayerNormalization 17 (and ai.onnx LayerNormalization 1 of ONNX Runtime) · lp_normalization
    LpNormalization 1 · lrn LRN 1 · mean_variance_normalization MeanVarianceNormalization 9
    rms_normalization RMSNormalization 23

Variances are of the population (divided by n) and computed in two passes, `mean((x - mean)^2)`. The accumulator has
the type of the data, for float16 float32. Source: ONNX operator specification.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from simcore.errors import BadArgument
from simcore.graph import Node
from simcore.ops.widen import Array, float32_inside, guarded, widen

#: Added to the standard deviation by MeanVarianceNormalization. Source: its function body in the specification.
_MVN_EPSILON: Final = 1e-9
#: Default of BatchNormalization.
_EPSILON: Final = 1e-5
#: Elements of a block of channels.
_BLOCK: Final = 65536


@dataclass(frozen=True, slots=True, eq=False)
class Affine:
    """The multiplication and addition that a batch normalization with constant statistics is."""

    #: Per channel.
    factor: Array
    offset: Array


@guarded
def batch_normalization(
    x: Array,
    scale: Array | Affine,
    b: Array | None,
    mean: Array | None,
    var: Array | None,
    *,
    epsilon: float = _EPSILON,
    momentum: float = 0.9,
    spatial: int = 1,
    training_mode: int = 0,
    num_outputs: int = 1,
) -> tuple[Array, ...]:
    """Return `(x - mean) / sqrt(var + epsilon) * scale + b` per channel, and running statistics when training.

    Computed as `x * factor + offset` with factor and offset formed once per channel.

    Args:
        x: [batch, C, ...]; a vector [batch] counts as one channel.
        scale: [C], as b, mean and var; with spatial=0 (opset 7 and 8) [C, ...], one entry for every element. Prepared,
            it holds all four, and the others are None.
        b: offset.
        mean: mean to subtract (training: the running mean so far).
        var: variance (training: the running variance so far).
        epsilon: added to the variance.
        momentum: weight of the old running statistics, training only.
        spatial: 0 for statistics per element.
        training_mode: 1 takes mean and variance from x itself (opset 14).
        num_outputs: outputs of the node; when training up to 3.

    Returns:
        (y,) in the type of x; when training (y, running_mean, running_var)[:num_outputs] with
        `running = running * momentum + current * (1 - momentum)` in the types of mean and var.

    Raises:
        BadArgument: scale does not fit the channels.
    """
    data = widen(x)
    if isinstance(scale, Affine):
        return (_affine(data, scale, spatial).astype(x.dtype, copy=False),)
    if b is None or mean is None or var is None:
        raise BadArgument("BatchNormalization: scale, b, mean and var must all be given")
    if not training_mode:
        y = _affine(data, _affine_of(scale, b, mean, var, epsilon), spatial)
        return (y.astype(x.dtype, copy=False),)
    others = (0, *range(2, x.ndim))
    current = np.asarray(np.mean(data, axis=others)), np.asarray(np.var(data, axis=others))
    y = _affine(data, _affine_of(scale, b, *current, epsilon), spatial).astype(x.dtype, copy=False)
    running = (
        (before * momentum + now * (1 - momentum)).astype(before.dtype)
        for before, now in zip((mean, var), current, strict=True)
    )
    return (y, *running)[:num_outputs]


def prepared_affine(constants: Sequence[Any], node: Node) -> dict[int, Any]:
    """Return the constant statistics of a BatchNormalization node as one `Affine`; see `table.PREPARED`."""
    scale, b, mean, var = constants[1:5]
    if scale is None or b is None or mean is None or var is None or node.attributes.get("training_mode", 0):
        return {}
    epsilon = float(node.attributes.get("epsilon", _EPSILON))  # type: ignore[arg-type]
    with np.errstate(all="ignore"):
        return {1: _affine_of(scale, b, mean, var, epsilon), 2: None, 3: None, 4: None}


def _affine_of(scale: Array, b: Array, mean: Array, var: Array, epsilon: float) -> Affine:
    """Return `scale / sqrt(var + epsilon)` and `b - mean * factor`."""
    scale, b, mean, var = widen(scale), widen(b), widen(mean), widen(var)
    if not scale.shape == b.shape == mean.shape == var.shape:
        shapes = [list(v.shape) for v in (scale, b, mean, var)]
        raise BadArgument(f"BatchNormalization: scale, b, mean and var differ in shape: {shapes}")
    factor = scale / np.sqrt(var + var.dtype.type(epsilon))
    return Affine(factor, b - mean * factor)


def _affine(x: Array, by: Affine, spatial: int) -> Array:
    """Return `x * factor + offset`, block by block of channels so that a block is still in cache for the addition."""
    channels = x.shape[1] if x.ndim > 1 else 1
    if spatial and by.factor.size != channels:
        raise BadArgument(
            f"BatchNormalization: scale, b, mean and var need {channels} entries each for x of shape {list(x.shape)}"
        )
    shape = (-1, *(1,) * (x.ndim - 2)) if spatial else by.factor.shape
    factor, offset = (v.astype(x.dtype, copy=False).reshape(shape) for v in (by.factor, by.offset))
    if x.ndim < 2 or x.size <= _BLOCK:
        y = np.multiply(x, factor)
        y += offset
        return np.asarray(y)
    y = np.empty(x.shape, x.dtype)
    block = max(1, _BLOCK // max(1, math.prod(x.shape[2:])))
    for image, out in zip(x, y, strict=True):
        for c in range(0, channels, block):
            part = slice(c, c + block)
            np.multiply(image[part], factor[part], out=out[part])
            out[part] += offset[part]
    return y


@float32_inside
def instance_normalization(x: Array, scale: Array, b: Array, *, epsilon: float = 1e-5) -> Array:
    """Return `(x - mean) / sqrt(var + epsilon) * scale + b`, statistics per sample and channel.

    Args:
        x: [batch, C, spatial...].
        scale: [C].
        b: [C].
        epsilon: added to the variance.
    """
    rows = x.reshape(x.shape[0] * x.shape[1], math.prod(x.shape[2:]))
    y, _, _ = _standardize(rows, epsilon)
    y = y.reshape(x.shape)
    per_channel = (-1, *(1,) * (x.ndim - 2))
    y *= scale.reshape(per_channel)
    y += b.reshape(per_channel)
    return y


@float32_inside
def group_normalization(
    x: Array, scale: Array, bias: Array, *, num_groups: int, epsilon: float = 1e-5, stash_type: int = 1
) -> Array:
    """Return `(x - mean) / sqrt(var + epsilon) * scale + bias`, statistics per sample and group of channels.

    Args:
        x: [batch, C, spatial...].
        scale: [C].
        bias: [C].
        num_groups: divides C.
        epsilon: added to the variance.
        stash_type: ONNX type in which statistics are computed; float16 always uses float32 here.

    Raises:
        BadArgument: C is not a multiple of num_groups.
    """
    return _group_normalization(x, scale, bias, num_groups, epsilon)


@float32_inside
def group_normalization_groups(x: Array, scale: Array, bias: Array, *, num_groups: int, epsilon: float = 1e-5) -> Array:
    """Return group normalization with scale and bias [num_groups], one entry per group (GroupNormalization 18)."""
    each = x.shape[1] // num_groups
    return _group_normalization(x, np.repeat(scale, each), np.repeat(bias, each), num_groups, epsilon)


def _group_normalization(x: Array, scale: Array, bias: Array, num_groups: int, epsilon: float) -> Array:
    if x.shape[1] % num_groups:
        raise BadArgument(f"GroupNormalization: {x.shape[1]} channels are not a multiple of num_groups {num_groups}")
    y, _, _ = _standardize(
        x.reshape(x.shape[0] * num_groups, x.shape[1] // num_groups * math.prod(x.shape[2:])), epsilon
    )
    y = y.reshape(x.shape)
    per_channel = (-1, *(1,) * (x.ndim - 2))
    y *= scale.reshape(per_channel)
    y += bias.reshape(per_channel)
    return y


@guarded
def layer_normalization(
    x: Array,
    scale: Array,
    b: Array | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
    num_outputs: int = 1,
) -> tuple[Array, ...]:
    """Return `(x - mean) / sqrt(var + epsilon) * scale + b` over the axes from `axis` on, and its statistics.

    Args:
        x: any rank of at least 1.
        scale: broadcasts to x.
        b: broadcasts to x, or None.
        axis: first normalized axis.
        epsilon: added to the variance.
        stash_type: ONNX type of the statistics: 1 float32 (also used for float16), 11 float64.
        num_outputs: 1 to 3.

    Returns:
        (y, mean, inv_std_dev)[:num_outputs]; the statistics keep the normalized axes with size 1, in float32 for
        float16 inputs.
    """
    first = axis % x.ndim
    y, mean, inverse = _standardize(widen(x).reshape(math.prod(x.shape[:first]), math.prod(x.shape[first:])), epsilon)
    y = y.reshape(x.shape)
    y *= scale
    if b is not None:
        y += b
    y = y.astype(x.dtype, copy=False)
    statistics = (*x.shape[:first], *(1,) * (x.ndim - first))
    return (y, mean.reshape(statistics), inverse.reshape(statistics))[:num_outputs]


def _standardize(rows: Array, epsilon: float) -> tuple[Array, Array, Array]:
    """Return `(x - mean) / sqrt(var + epsilon)`, mean and `1 / sqrt(var + epsilon)` for every row of a matrix."""
    size = rows.dtype.type(rows.shape[1])
    mean = np.add.reduce(rows, axis=1, keepdims=True) / size
    y = rows - mean
    inverse = 1 / np.sqrt(_sum_of_squares(y) / size + rows.dtype.type(epsilon))
    y *= inverse
    return y, mean, inverse


def _sum_of_squares(rows: Array) -> Array:
    """Return the sum of squares of every row, [rows, 1], as a product of each row with itself."""
    return np.asarray(np.matmul(rows[:, None, :], rows[:, :, None])[:, 0])


@float32_inside
def rms_normalization(x: Array, scale: Array, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1) -> Array:
    """Return `x / sqrt(mean(x^2) + epsilon) * scale` over the axes from `axis` on; scale broadcasts to x."""
    first = axis % x.ndim
    rows = x.reshape(math.prod(x.shape[:first]), math.prod(x.shape[first:]))
    inverse = 1 / np.sqrt(_sum_of_squares(rows) / x.dtype.type(rows.shape[1]) + x.dtype.type(epsilon))
    y = (rows * inverse).reshape(x.shape)
    y *= scale
    return np.asarray(y)


@float32_inside
def lrn(x: Array, *, size: int, alpha: float = 0.0001, beta: float = 0.75, bias: float = 1.0) -> Array:
    """Return `x / (bias + alpha / size * sum of x^2 over neighbouring channels) ^ beta`.

    The neighbours of channel c are `c - floor((size - 1) / 2)` to `c + ceil((size - 1) / 2)`, as far as they exist.
    """
    channels = x.shape[1]
    squares = np.square(x)
    total = squares.copy()
    for shift in range(-((size - 1) // 2), size // 2 + 1):
        if shift and abs(shift) < channels:
            low, high = max(0, -shift), min(channels, channels - shift)
            total[:, low:high] += squares[:, low + shift : high + shift]
    total *= x.dtype.type(alpha / size)
    total += x.dtype.type(bias)
    np.power(total, x.dtype.type(-beta), out=total)
    total *= x
    return total


@float32_inside
def lp_normalization(x: Array, *, axis: int = -1, p: int = 2) -> Array:
    """Return `x / norm(x)` along one axis with the 1-norm or 2-norm; 0 where the norm is 0.

    Raises:
        BadArgument: p is neither 1 nor 2.
    """
    if p not in (1, 2):
        raise BadArgument(f"LpNormalization: p = {p} is not defined; use 1 or 2")
    powers = np.abs(x) if p == 1 else np.square(x)
    norm = np.add.reduce(powers, axis=axis, keepdims=True)
    if p == 2:
        norm = np.sqrt(norm)
    return np.where(norm == 0, x.dtype.type(0), x / norm)


@float32_inside
def mean_variance_normalization(x: Array, *, axes: Sequence[int] = (0, 2, 3)) -> Array:
    """Return `(x - mean) / (sqrt(var) + 1e-9)` over `axes`."""
    along = tuple(axes)
    y = x - np.mean(x, axis=along, keepdims=True)
    return np.asarray(y / (np.sqrt(np.mean(np.square(y), axis=along, keepdims=True)) + x.dtype.type(_MVN_EPSILON)))
