"""ONNX operators as an fp16 vector unit computes them: each formula in steps, every step rounded and saturated.

`STEPWISE` maps the float32 function of an operator (ops.table, so versions are told apart there) to its form here.
Operators without an entry compute once in float64 and are rounded once, which for a single operation is the correctly
rounded result; those in `MOVING` only pass values on. The steps of compound operators (normalizations, means) are the
ONNX formulas in their order. No vendor publishes its own steps, so that they are these is an assumption.

Each function takes the rule, then the inputs (float16 where the model has floats) and the ONNX attributes.
"""

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from simcore import activations, fp16
from simcore.errors import BadArgument
from simcore.fp16 import Fp16, Mode, round_fp16
from simcore.fp16_sum import cumsum as running_sum
from simcore.fp16_sum import reduce_sum as sum_along
from simcore.graph import Tensor
from simcore.lut import Table, evaluate
from simcore.ops import activation, elementwise, normalization, pool, reduce, softmax
from simcore.ops.reduce import Axes, reduced_axes
from simcore.ops.table import Operator
from simcore.precision import Half

__all__ = ["MOVING", "STEPWISE", "sigmoid", "tanh"]

_ONE: Final = np.float16(1)
_ZERO: Final = np.float16(0)

#: Operators whose float results are values of their inputs (or signs, or whole parts of them): nothing to round.
MOVING: Final = frozenset({
    "Abs", "And", "ArgMax", "ArgMin", "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast",
    "CastLike", "Ceil", "Clip", "Compress", "Concat", "ConstantOfShape", "DepthToSpace", "Dropout", "Equal",
    "Expand", "EyeLike", "Flatten", "Floor", "Gather", "GatherElements", "GatherND", "GlobalMaxPool", "Greater",
    "GreaterOrEqual", "Hardmax", "Identity", "IsInf", "IsNaN", "Less", "LessOrEqual", "Max", "MaxPool", "Min",
    "Neg", "NonZero", "Not", "OneHot", "Or", "Pad", "ReduceMax", "ReduceMin", "Relu", "Reshape", "Round", "Scatter",
    "ScatterElements", "ScatterND", "Shape", "Sign", "Size", "Slice", "SpaceToDepth", "Split", "Squeeze",
    "ThresholdedRelu", "Tile", "TopK", "Transpose", "Trilu", "Unsqueeze", "Where", "Xor",
})  # fmt: skip


def sigmoid(how: Half, x: Fp16) -> Fp16:
    """Return the sigmoid by the rule's table or form."""
    if isinstance(how.sigmoid, Table):
        return round_fp16(evaluate(how.sigmoid, x, how.mode.nan), how.mode)
    return activations.sigmoid(x, how.sigmoid, how.mode)


def tanh(how: Half, x: Fp16) -> Fp16:
    """Return the hyperbolic tangent by the rule's table or form."""
    if isinstance(how.tanh, Table):
        return round_fp16(evaluate(how.tanh, x, how.mode.nan), how.mode)
    return activations.tanh(x, how.tanh, how.mode)


def _plain(step: Callable[..., Fp16]) -> Callable[..., Fp16]:
    """Return an operation of simcore.fp16 with the rule in front."""

    def call(how: Half, *inputs: Fp16) -> Fp16:
        return step(*inputs, mode=how.mode)

    return call


def _sum_of(how: Half, *inputs: Fp16) -> Fp16:
    """Return the inputs added one after the other."""
    total = round_fp16(inputs[0], how.mode)
    for x in inputs[1:]:
        total = fp16.add(total, x, how.mode)
    return total


def _mean_of(how: Half, *inputs: Fp16) -> Fp16:
    return fp16.mul(_sum_of(how, *inputs), _inverse(len(inputs), how.mode), how.mode)


def _inverse(count: int, mode: Mode) -> np.float16:
    """Return the factor 1/count in fp16, formed before the run; a mean is a sum times it (over nothing 0 * inf)."""
    return np.float16(round_fp16(1 / count if count else math.inf, mode))


def _reduced(how: Half, x: Fp16, axes: tuple[int, ...]) -> Fp16:
    """Return the sum over axes, which stay with size 1; elements are added in memory order."""
    if not axes:
        return round_fp16(x, how.mode)
    kept = [a for a in range(x.ndim) if a not in axes]
    count = math.prod(x.shape[a] for a in axes)
    rows = x.transpose(*kept, *axes).reshape(*(x.shape[a] for a in kept), count)
    total = sum_along(rows, -1, accumulator=how.accumulator, order=how.order, mode=how.mode)
    return total.reshape([1 if a in axes else n for a, n in enumerate(x.shape)])


def _mean(how: Half, x: Fp16, axes: tuple[int, ...]) -> Fp16:
    count = math.prod(x.shape[a] for a in axes)
    return fp16.mul(_reduced(how, x, axes), _inverse(count, how.mode), how.mode)


Step = Callable[[Half, Fp16, tuple[int, ...]], Fp16]


def _reduction(step: Step) -> Callable[..., Fp16]:
    """Return an ONNX reduction from a step that leaves the axes with size 1."""

    def call(how: Half, data: Fp16, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Fp16:
        along = reduced_axes(axes, data.ndim, noop_with_empty_axes)
        y = step(how, data, along)
        return y if keepdims else y.reshape([n for a, n in enumerate(y.shape) if a not in along])

    return call


def _l1(how: Half, x: Fp16, axes: tuple[int, ...]) -> Fp16:
    return _reduced(how, np.abs(x), axes)


def _sum_square(how: Half, x: Fp16, axes: tuple[int, ...]) -> Fp16:
    return _reduced(how, fp16.mul(x, x, how.mode), axes)


def _l2(how: Half, x: Fp16, axes: tuple[int, ...]) -> Fp16:
    return fp16.sqrt(_sum_square(how, x, axes), how.mode)


def _log_sum(how: Half, x: Fp16, axes: tuple[int, ...]) -> Fp16:
    return fp16.log(_reduced(how, x, axes), how.mode)


def _log_sum_exp(how: Half, x: Fp16, axes: tuple[int, ...]) -> Fp16:
    largest = np.max(x, axis=axes, keepdims=True, initial=np.float16(-fp16.MAX))
    total = _reduced(how, fp16.exp(fp16.sub(x, largest, how.mode), how.mode), axes)
    return fp16.add(fp16.log(total, how.mode), largest, how.mode)


def _softmax(how: Half, x: Fp16, *, axis: int = -1) -> Fp16:
    y = activations.softmax(
        np.atleast_1d(x),
        axis,
        shift=how.shift,
        normalize=how.normalize,
        accumulator=how.accumulator,
        order=how.order,
        mode=how.mode,
    )
    return y.reshape(x.shape)


def _log_softmax(how: Half, x: Fp16, *, axis: int = -1) -> Fp16:
    rows = np.atleast_1d(x)
    along = reduced_axes([axis], rows.ndim, 0)
    shifted = fp16.sub(rows, np.max(rows, axis=along, keepdims=True, initial=np.float16(-fp16.MAX)), how.mode)
    total = _reduced(how, fp16.exp(shifted, how.mode), along)
    return fp16.sub(shifted, fp16.log(total, how.mode), how.mode).reshape(x.shape)


def _flattened(along_axis: Callable[..., Fp16]) -> Callable[..., Fp16]:
    """Return the form before opset 13: over the rows of x reshaped to two axes."""

    def call(how: Half, x: Fp16, *, axis: int = 1) -> Fp16:
        at = axis % x.ndim if axis < 0 else axis
        flat = x.reshape(math.prod(x.shape[:at]), math.prod(x.shape[at:]))
        return along_axis(how, flat, axis=1).reshape(x.shape)

    return call


def _cumsum(how: Half, x: Fp16, axis: Tensor, *, exclusive: int = 0, reverse: int = 0) -> Fp16:
    along = int(np.asarray(axis).reshape(()))
    source = np.flip(x, along) if reverse else x
    y = running_sum(source, along, accumulator=how.accumulator, mode=how.mode)
    if exclusive and x.shape[along]:
        y = np.roll(y, 1, along)
        y[(slice(None),) * (along % x.ndim) + (0,)] = _ZERO
    return np.flip(y, along) if reverse else y


def _global_average_pool(how: Half, x: Fp16) -> Fp16:
    return _mean(how, x, tuple(range(2, x.ndim)))


def _leaky_relu(how: Half, x: Fp16, *, alpha: float = 0.01) -> Fp16:
    return np.where(x < 0, fp16.mul(x, _constant(alpha, how), how.mode), x)


def _prelu(how: Half, x: Fp16, slope: Fp16) -> Fp16:
    return np.where(x < 0, fp16.mul(x, slope, how.mode), x)


def _elu(how: Half, x: Fp16, *, alpha: float = 1.0) -> Fp16:
    below = fp16.sub(fp16.exp(np.minimum(x, _ZERO), how.mode), _ONE, how.mode)
    return np.where(x < 0, fp16.mul(below, _constant(alpha, how), how.mode), x)


def _hard_sigmoid(how: Half, x: Fp16, *, alpha: float = 0.2, beta: float = 0.5) -> Fp16:
    line = fp16.add(fp16.mul(x, _constant(alpha, how), how.mode), _constant(beta, how), how.mode)
    return np.clip(line, _ZERO, _ONE)


def _hard_swish(how: Half, x: Fp16) -> Fp16:
    return fp16.mul(x, _hard_sigmoid(how, x, alpha=1 / 6, beta=0.5), how.mode)


def _swish(how: Half, x: Fp16, *, alpha: float = 1.0) -> Fp16:
    scaled = x if alpha == 1 else fp16.mul(x, _constant(alpha, how), how.mode)
    return fp16.mul(x, sigmoid(how, scaled), how.mode)


def _constant(value: float, how: Half) -> np.float16:
    """Return an attribute as the device holds it."""
    return np.float16(round_fp16(value, how.mode))


def _batch_normalization(
    how: Half,
    x: Fp16,
    scale: Tensor,
    b: Tensor,
    mean: Tensor,
    var: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: int = 1,
    training_mode: int = 0,
    num_outputs: int = 1,
) -> tuple[Tensor, ...]:
    """Return `x * factor + offset`, two operations; factor and offset are formed in float64 before the run."""
    if training_mode:
        wide = (v.astype(np.float32) for v in (x, scale, b, mean, var))
        results = normalization.batch_normalization(
            *wide, epsilon=epsilon, momentum=momentum, training_mode=1, num_outputs=num_outputs
        )
        return tuple(round_fp16(v, how.mode) for v in results)
    channels = x.shape[1] if x.ndim > 1 else 1
    if spatial and not scale.size == b.size == mean.size == var.size == channels:
        raise BadArgument(
            f"BatchNormalization: scale, b, mean and var need {channels} entries each for x of shape {list(x.shape)}"
        )
    wide_scale, wide_b, wide_mean, wide_var = (v.astype(np.float64) for v in (scale, b, mean, var))
    with np.errstate(all="ignore"):
        factor = wide_scale / np.sqrt(wide_var + epsilon)
        offset = wide_b - wide_mean * factor
    shape = (-1, *(1,) * (x.ndim - 2)) if spatial and x.ndim > 1 else scale.shape
    held = (round_fp16(v, how.mode).reshape(shape) for v in (factor, offset))
    return (_affine(how, x, *held),)


def _affine(how: Half, x: Fp16, factor: Fp16, offset: Fp16 | None) -> Fp16:
    y = fp16.mul(x, factor, how.mode)
    return y if offset is None else fp16.add(y, offset, how.mode)


def _standardized(how: Half, x: Fp16, axes: tuple[int, ...], epsilon: float, is_centred: bool = True) -> Fp16:
    """Return `d / sqrt(mean(d * d) + epsilon)` with `d = x - mean(x)`, or d = x: where large x overflow in fp16."""
    d = fp16.sub(x, _mean(how, x, axes), how.mode) if is_centred else x
    variance = _mean(how, fp16.mul(d, d, how.mode), axes)
    spread = fp16.sqrt(fp16.add(variance, _constant(epsilon, how), how.mode), how.mode)
    return fp16.mul(d, fp16.reciprocal(spread, how.mode), how.mode)


def _per_channel(values: Fp16, ndim: int) -> Fp16:
    return values.reshape(-1, *(1,) * (ndim - 2))


def _instance_normalization(how: Half, x: Fp16, scale: Fp16, b: Fp16, *, epsilon: float = 1e-5) -> Fp16:
    y = _standardized(how, x, tuple(range(2, x.ndim)), epsilon)
    return _affine(how, y, _per_channel(scale, x.ndim), _per_channel(b, x.ndim))


def _group_normalization(
    how: Half, x: Fp16, scale: Fp16, bias: Fp16, *, num_groups: int, epsilon: float = 1e-5, stash_type: int = 1
) -> Fp16:
    if x.shape[1] % num_groups:
        raise BadArgument(f"GroupNormalization: {x.shape[1]} channels are not a multiple of num_groups {num_groups}")
    grouped = x.reshape(x.shape[0], num_groups, x.shape[1] // num_groups * math.prod(x.shape[2:]))
    y = _standardized(how, grouped, (2,), epsilon).reshape(x.shape)
    if scale.shape[0] != x.shape[1]:
        scale, bias = (np.repeat(v, x.shape[1] // num_groups) for v in (scale, bias))
    return _affine(how, y, _per_channel(scale, x.ndim), _per_channel(bias, x.ndim))


def _layer_normalization(
    how: Half,
    x: Fp16,
    scale: Fp16,
    b: Fp16 | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
    num_outputs: int = 1,
) -> tuple[Tensor, ...]:
    along = tuple(range(axis % x.ndim, x.ndim))
    y = _affine(how, _standardized(how, x, along, epsilon), scale, b)
    if num_outputs == 1:
        return (y,)
    mean = _mean(how, x, along)
    d = fp16.sub(x, mean, how.mode)
    variance = fp16.add(_mean(how, fp16.mul(d, d, how.mode), along), _constant(epsilon, how), how.mode)
    return (y, mean, fp16.reciprocal(fp16.sqrt(variance, how.mode), how.mode))[:num_outputs]


def _rms_normalization(
    how: Half, x: Fp16, scale: Fp16, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Fp16:
    along = tuple(range(axis % x.ndim, x.ndim))
    return _affine(how, _standardized(how, x, along, epsilon, is_centred=False), scale, None)


#: Float32 function of ops.table -> the same operator in fp16 steps.
STEPWISE: Final[dict[Operator, Callable[..., Any]]] = {
    activation.elu: _elu,
    activation.hard_sigmoid: _hard_sigmoid,
    activation.hard_swish: _hard_swish,
    activation.leaky_relu: _leaky_relu,
    activation.prelu: _prelu,
    activation.sigmoid: sigmoid,
    activation.swish: _swish,
    activation.tanh: tanh,
    elementwise.add: _plain(fp16.add),
    elementwise.div: _plain(fp16.div),
    elementwise.exp: _plain(fp16.exp),
    elementwise.log: _plain(fp16.log),
    elementwise.mean: _mean_of,
    elementwise.mul: _plain(fp16.mul),
    elementwise.reciprocal: _plain(fp16.reciprocal),
    elementwise.sqrt: _plain(fp16.sqrt),
    elementwise.sub: _plain(fp16.sub),
    elementwise.sum_: _sum_of,
    normalization.batch_normalization: _batch_normalization,
    normalization.group_normalization: _group_normalization,
    normalization.group_normalization_groups: _group_normalization,
    normalization.instance_normalization: _instance_normalization,
    normalization.layer_normalization: _layer_normalization,
    normalization.rms_normalization: _rms_normalization,
    pool.global_average_pool: _global_average_pool,
    reduce.cumsum: _cumsum,
    reduce.reduce_l1: _reduction(_l1),
    reduce.reduce_l2: _reduction(_l2),
    reduce.reduce_log_sum: _reduction(_log_sum),
    reduce.reduce_log_sum_exp: _reduction(_log_sum_exp),
    reduce.reduce_mean: _reduction(_mean),
    reduce.reduce_sum: _reduction(_reduced),
    reduce.reduce_sum_square: _reduction(_sum_square),
    softmax.log_softmax: _log_softmax,
    softmax.log_softmax_flattened: _flattened(_log_softmax),
    softmax.softmax: _softmax,
    softmax.softmax_flattened: _flattened(_softmax),
}
