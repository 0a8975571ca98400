"""The fp16 vector unit: every stepwise operator equals a scalar oracle bit for bit; the others are rounded once."""

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simcore.errors import ModelError
from simcore.execute import run
from simcore.fp16 import IEEE, SATURATE, Mode
from simcore.load_onnx import load_onnx_bytes
from simcore.lut import build_table
from simcore.npu.vector import MOVING, STEPWISE
from simcore.ops.table import Operator, versions
from simcore.precision import Half, Precision, Setting
from tests.test_simcore import scalar_fp16 as scalar
from tests.test_simcore.graphs import one

LIMIT32 = (2 - 2**-23) * 2.0**127


def function_of(op_type: str, opset: int) -> Operator:
    known = versions("", op_type)
    assert known is not None
    return [function for since, function in known if since <= opset][-1]


def half(how: Half) -> Precision:
    return Precision(Setting("half", how, how, how))


def run_half(op_type: str, inputs: dict[str, Any], how: Half, **options: Any) -> list[np.ndarray]:
    """Return the outputs of one node under a rule."""
    data = one(op_type, inputs, **options).SerializeToString()
    feeds = {name: value for name, value in inputs.items() if value is not None}
    return list(run(load_onnx_bytes(data), feeds, precision=half(how)).values())


# ------------------------------------------------------------------ the oracle: Python floats, one number at a time


@dataclass(frozen=True)
class Unit:
    """A vector unit in plain Python; values are floats that fp16 can hold."""

    overflow: str
    nan: str
    accumulator: str = "fp16"
    order: str = "pairwise"

    def settle(self, value: float) -> float:
        return scalar.settle(value, self.overflow, self.nan)

    def rounded(self, value: float) -> float:
        """Any float64 to fp16, rounded once."""
        if not math.isfinite(value):
            return self.settle(value)
        return self.settle(scalar.to_fp16(Fraction(value), negative_zero=math.copysign(1, value) < 0))

    def __getattr__(self, name: str) -> Callable[..., float]:
        operation = {"add": scalar.add, "sub": scalar.sub, "mul": scalar.mul, "div": scalar.div}.get(name)
        operation = (
            operation or {"exp": scalar.exp, "sqrt": scalar.sqrt, "sigmoid": scalar.sigmoid, "tanh": scalar.tanh}[name]
        )
        return lambda *values: operation(*values, overflow=self.overflow, nan=self.nan)

    def log(self, a: float) -> float:
        if math.isnan(a) or a < 0:
            return self.settle(math.nan)
        if a == 0 or math.isinf(a):
            return self.settle(-math.inf if a == 0 else math.inf)
        with localcontext() as context:
            context.prec = 30
            return self.settle(scalar.decimal_fp16(Decimal(a).ln()))

    def total(self, values: list[float]) -> float:
        if not values:
            return 0.0
        if self.accumulator == "fp16":
            add = {"sequential": scalar.sequential, "pairwise": scalar.pairwise}[self.order]
            return add(values, self.overflow, self.nan)
        level = [self._settle32(value) for value in values]
        if self.order == "sequential":
            return self.rounded(functools.reduce(self._add32, level))
        while len(level) > 1:
            pairs = [self._add32(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
            level = pairs + ([level[-1]] if len(level) % 2 else [])
        return self.rounded(level[0])

    def partial_sums(self, values: list[float]) -> list[float]:
        sums: list[float] = []
        for value in values:
            if self.accumulator == "fp16":
                sums.append(self.add(sums[-1], value) if sums else self.settle(value))
            else:
                sums.append(self._add32(sums[-1], value) if sums else self._settle32(value))
        return [self.rounded(each) for each in sums]

    def mean(self, values: list[float]) -> float:
        return self.mul(self.total(values), self.rounded(1 / len(values)))

    def _settle32(self, value: float) -> float:
        return scalar.settle(value, self.overflow, self.nan, LIMIT32)

    def _add32(self, a: float, b: float) -> float:
        return self._settle32(scalar.float32(a + b))


def largest(values: list[float], initial: float = -math.inf) -> float:
    return math.nan if any(map(math.isnan, values)) else max([initial, *values])


def each(function: Callable[..., float]) -> Callable[..., Any]:
    """Return the oracle of an operator element by element, inputs broadcast."""

    def oracle(unit: Unit, *inputs: np.ndarray) -> np.ndarray:
        arrays = np.broadcast_arrays(*inputs)
        y = np.empty(arrays[0].shape, object)
        for at in np.ndindex(y.shape):
            y[at] = function(unit, *(float(x[at]) for x in arrays))
        return y

    return oracle


def reducing(
    function: Callable[[Unit, list[float]], float], axes: tuple[int, ...], keepdims: bool
) -> Callable[..., Any]:
    """Return the oracle of a reduction: the elements along `axes`, in memory order, to one."""

    def oracle(unit: Unit, x: np.ndarray, *_: np.ndarray) -> np.ndarray:
        y = np.empty([1 if a in axes else n for a, n in enumerate(x.shape)], object)
        for at in np.ndindex(y.shape):
            spans = (range(n) if a in axes else (at[a],) for a, n in enumerate(x.shape))
            y[at] = function(unit, [float(x[where]) for where in itertools.product(*spans)])
        return y if keepdims else y.reshape([n for a, n in enumerate(x.shape) if a not in axes])

    return oracle


def rows(function: Callable[[Unit, list[float]], list[float]], axis: int) -> Callable[..., Any]:
    """Return the oracle of an operator that turns each line along one axis into another."""

    def oracle(unit: Unit, x: np.ndarray, *_: np.ndarray) -> np.ndarray:
        y = np.empty(x.shape, object)
        for at in np.ndindex(x.shape[:axis] + x.shape[axis + 1 :]):
            line = (*at[:axis], slice(None), *at[axis:])
            y[line] = function(unit, [float(v) for v in x[line]])
        return y

    return oracle


def flattened(function: Callable[[Unit, list[float]], list[float]], axis: int) -> Callable[..., Any]:
    def oracle(unit: Unit, x: np.ndarray) -> np.ndarray:
        return rows(function, 1)(unit, x.reshape(math.prod(x.shape[:axis]), -1)).reshape(x.shape)

    return oracle


def elu(unit: Unit, x: float) -> float:
    return unit.mul(unit.sub(unit.exp(x), 1.0), unit.rounded(1.3)) if x < 0 else x


def hard_sigmoid(unit: Unit, x: float, alpha: float = 0.3, beta: float = 0.4) -> float:
    line = unit.add(unit.mul(x, unit.rounded(alpha)), unit.rounded(beta))
    return line if math.isnan(line) else min(max(line, 0.0), 1.0)


def hard_swish(unit: Unit, x: float) -> float:
    return unit.mul(x, hard_sigmoid(unit, x, 1 / 6, 0.5))


def sum_of(unit: Unit, *values: float) -> float:
    return functools.reduce(unit.add, values, -0.0)


def log_sum_exp(unit: Unit, values: list[float]) -> float:
    top = largest(values, -65504.0)
    return unit.add(unit.log(unit.total([unit.exp(unit.sub(v, top)) for v in values])), top)


def softmax(unit: Unit, values: list[float], shift: str = "max", normalize: str = "divide") -> list[float]:
    top = largest(values)
    powers = [unit.exp(unit.sub(v, top) if shift == "max" else v) for v in values]
    total = unit.total(powers)
    if normalize == "divide":
        return [unit.div(p, total) for p in powers]
    return [unit.mul(p, unit.div(1.0, total)) for p in powers]


def log_softmax(unit: Unit, values: list[float]) -> list[float]:
    top = largest(values, -65504.0)
    shifted = [unit.sub(v, top) for v in values]
    log_total = unit.log(unit.total([unit.exp(v) for v in shifted]))
    return [unit.sub(v, log_total) for v in shifted]


def standardized(unit: Unit, values: list[float], epsilon: float, is_centred: bool = True) -> list[float]:
    mean = unit.mean(values)
    d = [unit.sub(v, mean) for v in values] if is_centred else values
    return [unit.mul(v, inverse_deviation(unit, d, epsilon)) for v in d]


def inverse_deviation(unit: Unit, d: list[float], epsilon: float) -> float:
    variance = unit.mean([unit.mul(v, v) for v in d])
    return unit.div(1.0, unit.sqrt(unit.add(variance, unit.rounded(epsilon))))


def affine(unit: Unit, value: float, factor: float, offset: float | None) -> float:
    y = unit.mul(value, factor)
    return y if offset is None else unit.add(y, offset)


def batch_normalization(unit: Unit, x: np.ndarray, *statistics: np.ndarray) -> np.ndarray:
    y = np.empty(x.shape, object)
    for at in np.ndindex(x.shape):
        scale, b, mean, var = (float(s[at[1]]) for s in statistics)
        factor = scale / math.sqrt(var + 1e-3)
        y[at] = affine(unit, float(x[at]), unit.rounded(factor), unit.rounded(b - mean * factor))
    return y


def per_channel(groups: int | None, repeat: int = 1) -> Callable[..., Any]:
    """Return the oracle of a normalization whose lines are the channels (None), or groups of them."""

    def oracle(unit: Unit, x: np.ndarray, scale: np.ndarray, b: np.ndarray) -> np.ndarray:
        lines = x.reshape(x.shape[0], groups or x.shape[1], -1)
        y = rows(lambda unit, values: standardized(unit, values, 1e-3), 2)(unit, lines).reshape(x.shape)
        for at in np.ndindex(x.shape):
            channel = at[1] // repeat
            y[at] = affine(unit, y[at], float(scale[channel]), float(b[channel]))
        return y

    return oracle


def trailing(count: int, is_centred: bool, with_statistics: bool = False) -> Callable[..., Any]:
    """Return the oracle of a normalization over the last axes."""

    def oracle(unit: Unit, x: np.ndarray, scale: np.ndarray, b: np.ndarray | None = None) -> Any:
        lines = x.reshape(math.prod(x.shape[:-count]), -1)
        y = np.empty(lines.shape, object)
        means, inverses = [], []
        for row, line in enumerate(lines):
            values = [float(v) for v in line]
            means.append(unit.mean(values))
            inverses.append(inverse_deviation(unit, [unit.sub(v, means[-1]) for v in values], 1e-3))
            normal = standardized(unit, values, 1e-3, is_centred)
            for i, value in enumerate(normal):
                offset = None if b is None else float(b.reshape(-1)[i])
                y[row, i] = affine(unit, value, float(scale.reshape(-1)[i]), offset)
        if not with_statistics:
            return y.reshape(x.shape)
        shape = (*x.shape[:-count], *(1,) * count)
        return [y.reshape(x.shape), *(np.array(v, object).reshape(shape) for v in (means, inverses))]

    return oracle


def running(exclusive: bool, reverse: bool) -> Callable[..., Any]:
    def line(unit: Unit, values: list[float]) -> list[float]:
        sums = unit.partial_sums(values[::-1] if reverse else values)
        sums = [0.0, *sums[:-1]] if exclusive else sums
        return sums[::-1] if reverse else sums

    return rows(line, 1)


# ----------------------------------------------------------------------------------------------------------- the table


@dataclass(frozen=True)
class Case:
    """One operator with its inputs and its oracle."""

    op_type: str
    #: One letter per input: x data of `shape`, s small data of it, p positive; c a vector per channel, g per group,
    #: v positive per channel, n data of the last axes, m two numbers.
    inputs: str
    oracle: Callable[..., Any]
    shape: tuple[int, ...] = (2, 3, 4)
    #: Inputs that are no floats, after the others.
    extra: tuple[np.ndarray, ...] = ()
    attributes: tuple[tuple[str, Any], ...] = ()
    opset: int = 18
    count: int = 1
    #: Whether accumulator and order matter.
    is_sum: bool = False


AXES = (np.int64([1, 2]),)
CASES = {
    "Add": Case("Add", "xx", each(lambda u, a, b: u.add(a, b))),
    "Add broadcast": Case("Add", "xn", each(lambda u, a, b: u.add(a, b))),
    "Sub": Case("Sub", "xx", each(lambda u, a, b: u.sub(a, b))),
    "Mul": Case("Mul", "xx", each(lambda u, a, b: u.mul(a, b))),
    "Div": Case("Div", "xx", each(lambda u, a, b: u.div(a, b))),
    "Exp": Case("Exp", "x", each(lambda u, a: u.exp(a))),
    "Exp of small values": Case("Exp", "s", each(lambda u, a: u.exp(a))),
    "Log": Case("Log", "x", each(lambda u, a: u.log(a))),
    "Sqrt": Case("Sqrt", "x", each(lambda u, a: u.sqrt(a))),
    "Reciprocal": Case("Reciprocal", "x", each(lambda u, a: u.div(1.0, a))),
    "Sum": Case("Sum", "xxx", each(sum_of)),
    "Sum of one": Case("Sum", "x", each(sum_of)),
    "Mean": Case("Mean", "xxx", each(lambda u, *v: u.mul(sum_of(u, *v), u.rounded(1 / len(v))))),
    "Elu": Case("Elu", "x", each(elu), attributes=(("alpha", 1.3),)),
    "HardSigmoid": Case("HardSigmoid", "x", each(hard_sigmoid), attributes=(("alpha", 0.3), ("beta", 0.4))),
    "HardSwish": Case("HardSwish", "x", each(hard_swish)),
    "LeakyRelu": Case("LeakyRelu", "x", each(lambda u, a: u.mul(a, u.rounded(0.3)) if a < 0 else a), attributes=(("alpha", 0.3),)),
    "PRelu": Case("PRelu", "xx", each(lambda u, a, b: u.mul(a, b) if a < 0 else a)),
    "Sigmoid": Case("Sigmoid", "x", each(lambda u, a: u.sigmoid(a))),
    "Sigmoid of small values": Case("Sigmoid", "s", each(lambda u, a: u.sigmoid(a))),
    "Tanh": Case("Tanh", "x", each(lambda u, a: u.tanh(a))),
    "Tanh of small values": Case("Tanh", "s", each(lambda u, a: u.tanh(a))),
    "Swish": Case("Swish", "x", each(lambda u, a: u.mul(a, u.sigmoid(a))), opset=24),
    "Swish scaled": Case("Swish", "x", each(lambda u, a: u.mul(a, u.sigmoid(u.mul(a, u.rounded(1.7))))), attributes=(("alpha", 1.7),), opset=24),
    "BatchNormalization": Case("BatchNormalization", "xcccv", batch_normalization, attributes=(("epsilon", 1e-3),)),
    "InstanceNormalization": Case("InstanceNormalization", "xcc", per_channel(None), attributes=(("epsilon", 1e-3),), is_sum=True),
    "GroupNormalization": Case("GroupNormalization", "xcc", per_channel(2), (2, 4, 3), attributes=(("epsilon", 1e-3), ("num_groups", 2)), opset=21, is_sum=True),
    "GroupNormalization 18": Case("GroupNormalization", "xmm", per_channel(2, repeat=2), (2, 4, 3), attributes=(("epsilon", 1e-3), ("num_groups", 2)), is_sum=True),
    "LayerNormalization": Case("LayerNormalization", "snn", trailing(1, True), attributes=(("epsilon", 1e-3),), is_sum=True),
    "LayerNormalization of wild values": Case("LayerNormalization", "xnn", trailing(1, True), attributes=(("epsilon", 1e-3),), is_sum=True),
    "LayerNormalization without offset": Case("LayerNormalization", "sn", trailing(1, True), attributes=(("epsilon", 1e-3),), is_sum=True),
    "LayerNormalization with statistics": Case("LayerNormalization", "xnn", trailing(1, True, True), attributes=(("epsilon", 1e-3),), count=3, is_sum=True),
    "RMSNormalization": Case("RMSNormalization", "sn", trailing(1, False), attributes=(("epsilon", 1e-3),), opset=23, is_sum=True),
    "GlobalAveragePool": Case("GlobalAveragePool", "x", reducing(Unit.mean, (2, 3), True), (2, 3, 2, 3), is_sum=True),
    "CumSum": Case("CumSum", "x", running(False, False), (2, 5), (np.int64(1),), is_sum=True),
    "CumSum exclusive": Case("CumSum", "x", running(True, False), (2, 5), (np.int64(-1),), (("exclusive", 1),), is_sum=True),
    "CumSum reverse": Case("CumSum", "x", running(False, True), (2, 5), (np.int64(1),), (("reverse", 1),), is_sum=True),
    "CumSum exclusive reverse": Case("CumSum", "x", running(True, True), (2, 5), (np.int64(1),), (("exclusive", 1), ("reverse", 1)), is_sum=True),
    "ReduceSum": Case("ReduceSum", "x", reducing(Unit.total, (1, 2), True), (2, 3, 3), AXES, is_sum=True),
    "ReduceSum over an outer axis": Case("ReduceSum", "x", reducing(Unit.total, (0, 2), False), (3, 2, 3), (np.int64([-1, 0]),), (("keepdims", 0),), is_sum=True),
    "ReduceMean": Case("ReduceMean", "x", reducing(Unit.mean, (1, 2), True), extra=AXES, is_sum=True),
    "ReduceMean 13": Case("ReduceMean", "x", reducing(Unit.mean, (0, 1, 2), False), attributes=(("keepdims", 0),), opset=13, is_sum=True),
    "ReduceL1": Case("ReduceL1", "x", reducing(lambda u, v: u.total([abs(a) for a in v]), (1, 2), True), extra=AXES, is_sum=True),
    "ReduceL2": Case("ReduceL2", "s", reducing(lambda u, v: u.sqrt(u.total([u.mul(a, a) for a in v])), (1, 2), True), extra=AXES, is_sum=True),
    "ReduceSumSquare": Case("ReduceSumSquare", "x", reducing(lambda u, v: u.total([u.mul(a, a) for a in v]), (1, 2), True), extra=AXES, is_sum=True),
    "ReduceLogSum": Case("ReduceLogSum", "p", reducing(lambda u, v: u.log(u.total(v)), (1, 2), True), extra=AXES, is_sum=True),
    "ReduceLogSumExp": Case("ReduceLogSumExp", "s", reducing(log_sum_exp, (1, 2), True), extra=AXES, is_sum=True),
    "ReduceLogSumExp of wild values": Case("ReduceLogSumExp", "x", reducing(log_sum_exp, (1, 2), True), extra=AXES, is_sum=True),
    "Softmax": Case("Softmax", "s", rows(softmax, 2), is_sum=True),
    "Softmax of wild values": Case("Softmax", "x", rows(softmax, 1), attributes=(("axis", 1),), is_sum=True),
    "Softmax 11": Case("Softmax", "s", flattened(softmax, 1), opset=11, is_sum=True),
    "LogSoftmax": Case("LogSoftmax", "s", rows(log_softmax, 2), is_sum=True),
    "LogSoftmax of wild values": Case("LogSoftmax", "x", rows(log_softmax, 1), attributes=(("axis", -2),), is_sum=True),
    "LogSoftmax 11": Case("LogSoftmax", "s", flattened(log_softmax, 2), attributes=(("axis", 2),), opset=11, is_sum=True),
}  # fmt: skip

SPECIALS = [
    math.inf,
    -math.inf,
    math.nan,
    0.0,
    -0.0,
    65504.0,
    -65504.0,
    65519.0,
    65520.0,
    1e5,
    -1e30,
    2.0**-24,
    -(2.0**-25),
    3e-6,
    1.0,
    -1.0,
]


def wild(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return float32 values of all magnitudes, off the fp16 grid, with the special ones among them."""
    x = (rng.standard_normal(shape) * 10.0 ** rng.uniform(-7, 5.5, shape)).astype(np.float32)
    chosen = rng.random(shape) < 0.2
    x[chosen] = rng.choice(SPECIALS, int(chosen.sum()))
    return x


def drawn(case: Case, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    plain = {
        "x": lambda: wild(rng, case.shape),
        "s": lambda: rng.normal(0, 3, case.shape),
        "p": lambda: np.abs(wild(rng, case.shape)),
        "c": lambda: rng.normal(0, 1, case.shape[1]),
        "m": lambda: rng.normal(0, 1, 2),
        "v": lambda: rng.uniform(0, 4, case.shape[1]),
        "n": lambda: rng.normal(0, 1, case.shape[-1:]),
    }
    return [plain[letter]().astype(np.float32) for letter in case.inputs]


def oracle_result(case: Case, unit: Unit, inputs: list[np.ndarray]) -> list[np.ndarray]:
    held = []
    for position, x in enumerate(inputs):
        y = np.empty(x.shape, object)
        for at in np.ndindex(x.shape):
            is_statistic = case.op_type == "BatchNormalization" and position
            y[at] = float(x[at]) if is_statistic else unit.rounded(float(x[at]))
        held.append(y)
    result = case.oracle(unit, *held)
    return result if isinstance(result, list) else [result]


def assert_same(got: np.ndarray, want: np.ndarray) -> None:
    assert got.shape == want.shape
    wrong = [
        (at, float(got[at]), want[at]) for at in np.ndindex(got.shape) if not scalar.same(float(got[at]), want[at])
    ]
    assert wrong == []


MODES = {"saturate": SATURATE, "ieee": IEEE}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_stepwise_operators_equal_the_scalar_oracle(name: str, mode: str) -> None:
    case, rule = CASES[name], MODES[mode]
    sums = (
        list(itertools.product(("fp16", "fp32"), ("sequential", "pairwise"))) if case.is_sum else [("fp16", "pairwise")]
    )
    for seed, (accumulator, order) in itertools.product(range(3), sums):
        inputs = drawn(case, seed)
        feeds = {f"x{i}": value for i, value in enumerate([*inputs, *map(np.asarray, case.extra)])}
        got = run_half(
            case.op_type, feeds, Half(rule, accumulator, order), opset=case.opset, count=case.count, **dict(case.attributes)
        )  # fmt: skip
        want = oracle_result(case, Unit(rule.overflow, rule.nan, accumulator, order), inputs)

        for one_got, one_want in zip(got, want, strict=True):
            assert one_got.dtype == np.float32
            assert_same(one_got, one_want)


def test_every_stepwise_operator_has_a_case() -> None:
    covered = set()
    for case in CASES.values():
        covered.add(function_of(case.op_type, case.opset))

    assert covered == set(STEPWISE)


@pytest.mark.parametrize("normalize", ["divide", "reciprocal"])
@pytest.mark.parametrize("shift", ["max", "none"])
def test_softmax_has_the_form_the_rule_names(shift: str, normalize: str) -> None:
    x = np.random.default_rng(0).normal(0, 6, (4, 5)).astype(np.float32)
    got = run_half("Softmax", {"x": x}, Half(shift=shift, normalize=normalize))[0]

    unit = Unit("saturate", "zero")
    held = each(lambda u, v: u.rounded(v))(unit, x)
    assert_same(got, rows(lambda u, values: softmax(u, values, shift, normalize), 1)(unit, held))


SIGMOID = {
    "direct": lambda u, x: u.sigmoid(x),
    "exponential": lambda u, x: u.div(1.0, u.add(1.0, u.exp(-x))),
    "exp_positive": lambda u, x: u.div(u.exp(x), u.add(1.0, u.exp(x))),
    "tanh": lambda u, x: u.add(u.mul(0.5, u.tanh(u.mul(0.5, x))), 0.5),
}
TANH = {
    "direct": lambda u, x: u.tanh(x),
    "exponential": lambda u, x: u.div(u.sub(u.exp(x), u.exp(-x)), u.add(u.exp(x), u.exp(-x))),
    "exp_2x": lambda u, x: u.div(u.sub(u.exp(u.mul(x, 2.0)), 1.0), u.add(u.exp(u.mul(x, 2.0)), 1.0)),
    "sigmoid": lambda u, x: u.sub(u.mul(2.0, SIGMOID["exponential"](u, u.mul(x, 2.0))), 1.0),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("op_type", "form"), [*(("Sigmoid", f) for f in SIGMOID), *(("Tanh", f) for f in TANH)])
def test_activations_have_the_form_the_rule_names(op_type: str, form: str, mode: str) -> None:
    x = np.concatenate([wild(np.random.default_rng(1), (60,)), np.random.default_rng(2).normal(0, 4, 60)]).astype(
        np.float32
    )
    rule = MODES[mode]
    got = run_half(op_type, {"x": x}, Half(rule, **{op_type.lower(): form}))[0]

    formula = (SIGMOID if op_type == "Sigmoid" else TANH)[form]
    assert_same(got, each(lambda u, v: formula(u, u.rounded(v)))(Unit(rule.overflow, rule.nan), x))


def table_oracle(function: Callable[[float], float], interpolation: str, x: float) -> float:
    """A table of 33 fp16 entries over [-4, 4]."""
    entries = [scalar.to_fp16(Fraction(function(-4 + i / 4))) for i in range(33)]
    t = 0.0 if math.isnan(x) else min(max((x + 4) * 4, 0.0), 32.0)
    if interpolation == "nearest":
        return 0.0 if math.isnan(x) else entries[round(t)]
    i = min(math.floor(t), 31)
    line = entries[i] + (entries[i + 1] - entries[i]) * (t - i)
    return 0.0 if math.isnan(x) else scalar.to_fp16(Fraction(line))


@pytest.mark.parametrize("interpolation", ["nearest", "linear"])
@pytest.mark.parametrize("op_type", ["Sigmoid", "Tanh", "Swish"])
def test_activations_are_read_from_the_rules_tables(op_type: str, interpolation: str) -> None:
    functions = {"sigmoid": lambda v: 1 / (1 + np.exp(-v)), "tanh": np.tanh}
    tables = {name: build_table(f, 33, -4, 4, interpolation=interpolation) for name, f in functions.items()}  # type: ignore[arg-type]
    x = np.concatenate([wild(np.random.default_rng(3), (80,)), np.random.default_rng(4).normal(0, 2, 80)]).astype(
        np.float32
    )
    got = run_half(op_type, {"x": x}, Half(**tables), opset=24)[0]

    def want(u: Unit, v: float) -> float:
        held = u.rounded(v)
        read = table_oracle(math.tanh if op_type == "Tanh" else lambda a: 1 / (1 + math.exp(-a)), interpolation, held)
        return u.mul(held, read) if op_type == "Swish" else read

    assert_same(got, each(want)(Unit("saturate", "zero"), x))


def test_a_kept_nan_passes_a_table() -> None:
    table = build_table(np.tanh, 33, -4, 4, interpolation="nearest")

    assert np.isnan(run_half("Tanh", {"x": np.float32([math.nan])}, Half(IEEE, tanh=table))[0])


# ------------------------------------------------------------------------------------------- rounded once, and moving

ONCE = {
    "Erf": ("Erf", "x", {}),
    "Gelu": ("Gelu", "x", {}),
    "Gelu tanh": ("Gelu", "x", {"approximate": "tanh"}),
    "Softplus": ("Softplus", "x", {}),
    "Softsign": ("Softsign", "x", {}),
    "Mish": ("Mish", "x", {}),
    "Selu": ("Selu", "x", {}),
    "Celu": ("Celu", "x", {"alpha": 0.7}),
    "Sin": ("Sin", "x", {}),
    "Cos": ("Cos", "x", {}),
    "Atan": ("Atan", "x", {}),
    "Pow": ("Pow", "px", {}),
    "Mod": ("Mod", "xx", {"fmod": 1}),
    "ReduceProd": ("ReduceProd", "s", {}),
    "AveragePool": ("AveragePool", "x", {"kernel_shape": [2], "pads": [1, 0]}),
    "LpNormalization": ("LpNormalization", "s", {}),
    "LRN": ("LRN", "s", {"size": 3}),
    "Shrink": ("Shrink", "x", {"lambd": 0.3, "bias": 0.1}),
    "GlobalLpPool": ("GlobalLpPool", "s", {}),
    "MeanVarianceNormalization": ("MeanVarianceNormalization", "s", {"axes": [0, 2]}),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ONCE)
def test_other_operators_are_the_float64_result_rounded_once(name: str, mode: str) -> None:
    op_type, letters, attributes = ONCE[name]
    rule = MODES[mode]
    unit = Unit(rule.overflow, rule.nan)
    inputs = {f"x{i}": x for i, x in enumerate(drawn(Case(op_type, letters, each(max)), 5))}
    wide = {k: each(lambda u, v: u.rounded(v))(unit, x).astype(np.float64) for k, x in inputs.items()}
    got = run_half(op_type, inputs, Half(rule), opset=20, **attributes)[0]
    want = function_of(op_type, 20)(*wide.values(), **attributes)

    assert got.dtype == np.float32 and want.dtype == np.float64
    assert_same(got, each(lambda u, v: u.rounded(v))(unit, want))


FUNCTIONS = {
    "Erf": math.erf,
    "Sin": math.sin,
    "Cos": math.cos,
    "Atan": math.atan,
    "Softplus": lambda x: max(x, 0) + math.log1p(math.exp(-abs(x))),
    "Softsign": lambda x: x / (1 + abs(x)),
    "Gelu": lambda x: x / 2 * math.erfc(-x / math.sqrt(2)),
}


@pytest.mark.parametrize("op_type", FUNCTIONS)
def test_single_functions_are_correctly_rounded_for_every_fp16_value(op_type: str) -> None:
    positive = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    x = np.concatenate([positive, -positive])
    got = run_half(op_type, {"x": x}, Half(), opset=20)[0]
    want = np.array([FUNCTIONS[op_type](float(v)) for v in x])

    with np.errstate(under="ignore"):
        np.testing.assert_array_equal(got, want.astype(np.float16).astype(np.float32))


I64, F32 = np.int64, np.float32
MOVES = {
    "Abs": ({"x": None}, {}),
    "Neg": ({"x": None}, {}),
    "Clip": ({"x": None, "low": F32(-1.2345), "high": F32(2.3456)}, {}),
    "Concat": ({"x": None, "x2": None}, {"axis": 1}),
    "DepthToSpace": ({"x": None}, {"blocksize": 1}),
    "Expand": ({"x": None, "shape": I64([2, 4, 3, 4])}, {}),
    "Flatten": ({"x": None}, {}),
    "Gather": ({"x": None, "i": I64([1, 0])}, {"axis": 2}),
    "GlobalMaxPool": ({"x": None}, {}),
    "Identity": ({"x": None}, {}),
    "Max": ({"x": None, "x2": None}, {}),
    "MaxPool": ({"x": None}, {"kernel_shape": [1, 2]}),
    "Min": ({"x": None, "x2": None}, {}),
    "Pad": ({"x": None, "pads": I64([0] * 7 + [2]), "value": F32(0.1)}, {}),
    "ReduceMax": ({"x": None, "axes": I64([1])}, {}),
    "ReduceMin": ({"x": None, "axes": I64([1])}, {}),
    "Relu": ({"x": None}, {}),
    "Reshape": ({"x": None, "shape": I64([-1])}, {}),
    "Slice": ({"x": None, "starts": I64([1]), "ends": I64([3]), "axes": I64([3])}, {}),
    "ThresholdedRelu": ({"x": None}, {"alpha": 0.25}),
    "Tile": ({"x": None, "repeats": I64([1, 1, 1, 2])}, {}),
    "Transpose": ({"x": None}, {}),
    "Trilu": ({"x": None}, {}),
    "Unsqueeze": ({"x": None, "axes": I64([0])}, {}),
    "Where": ({"c": np.bool_([True, False, True, True]), "x": None, "x2": None}, {}),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op_type", MOVES)
def test_moving_operators_give_values_of_their_rounded_inputs(op_type: str, mode: str) -> None:
    rule = MODES[mode]
    unit = Unit(rule.overflow, rule.nan)
    rng = np.random.default_rng(6)
    extra, attributes = MOVES[op_type]
    inputs = {name: wild(rng, (1, 4, 3, 4)) if value is None else np.asarray(value) for name, value in extra.items()}
    rounded = {
        name: each(lambda u, v: u.rounded(v))(unit, x).astype(np.float32) if x.dtype == np.float32 else x
        for name, x in inputs.items()
    }
    got = run_half(op_type, inputs, Half(rule), **attributes)[0]
    want = run(load_onnx_bytes(one(op_type, inputs, **attributes).SerializeToString()), rounded)["y0"]

    assert op_type in MOVING
    np.testing.assert_array_equal(got, want)
    held = np.concatenate([x.reshape(-1) for x in rounded.values() if x.dtype == np.float32])
    known = {abs(float(v)) for v in held if not math.isnan(v)} | {0.0}
    assert {abs(float(v)) for v in got.reshape(-1) if not math.isnan(v)} <= known


def test_a_cast_to_float_lands_on_the_grid() -> None:
    got = run_half("Cast", {"x": np.int64([2049, 100000, -7])}, Half(), to=1)[0]

    assert got.tolist() == [2048, 65504, -7]


def test_moving_operators_leave_integers_alone() -> None:
    assert run_half("Neg", {"x": np.int64([2049, 100001])}, Half())[0].tolist() == [-2049, -100001]


# ---------------------------------------------------------------------------------------------------------- known facts


def test_a_sum_saturates_before_it_comes_back() -> None:
    x = np.float32([60000, 60000, -60000])

    assert run_half("ReduceSum", {"x": x}, Half(order="sequential"))[0].tolist() == [5504]
    assert run_half("ReduceSum", {"x": x}, Half(order="pairwise"))[0].tolist() == [5504]
    assert run_half("ReduceSum", {"x": x}, Half(accumulator="fp32"))[0].tolist() == [60000]
    assert run_half("ReduceSum", {"x": x}, Half(IEEE))[0].tolist() == [math.inf]


def test_an_input_out_of_range_saturates() -> None:
    assert run_half("Identity", {"x": np.float32([1e5, -1e5])}, Half())[0].tolist() == [65504, -65504]
    assert run_half("Identity", {"x": np.float32([1e5])}, Half(IEEE))[0].tolist() == [math.inf]


def test_a_mask_of_minus_infinity_becomes_the_lowest_value() -> None:
    mask = np.float32([0, -math.inf])

    assert run_half("Identity", {"x": mask}, Half())[0].tolist() == [0, -65504]
    # Added to a score it still switches the entry off; scaled down it no longer would.
    masked = run_half("Add", {"x": np.float32([3, 3]), "mask": mask}, Half())[0]
    assert run_half("Softmax", {"x": masked}, Half())[0].tolist() == [1, 0]


def test_a_row_of_masks_alone_gives_equal_weights_instead_of_nan() -> None:
    x = np.full((1, 4), -math.inf, np.float32)

    assert run_half("Softmax", {"x": x}, Half())[0].tolist() == [[0.25] * 4]
    assert np.isnan(run_half("Softmax", {"x": x}, Half(IEEE))[0]).all()


def test_squares_in_a_norm_overflow() -> None:
    x = np.float32([[300, 300]])

    assert run_half("ReduceL2", {"x": x, "axes": I64([1])}, Half())[0].tolist() == [[255.875]]  # the root of 65504
    assert run_half("ReduceL2", {"x": x, "axes": I64([1])}, Half(IEEE))[0].tolist() == [[math.inf]]


def test_the_variance_in_layer_normalization_overflows() -> None:
    x = np.float32([[300, -300, 300, -300]])
    inputs = {"x": x, "scale": np.ones(4, np.float32)}

    # The squares are 90000: saturated, their mean is 65504 / 4 = 16376 and the deviation 128 instead of 300.
    assert run_half("LayerNormalization", inputs, Half())[0][0, 0] == scalar.mul(300.0, scalar.div(1.0, 127.9375))
    assert run_half("LayerNormalization", inputs, Half(IEEE))[0].tolist() == [[0, -0.0, 0, -0.0]]


def test_softmax_without_the_maximum_saturates() -> None:
    x = np.float32([[12, 11.5]])

    assert run_half("Softmax", {"x": x}, Half(shift="none"))[0].tolist() == [[1, 1]]
    assert run_half("Softmax", {"x": x}, Half())[0][0, 0] == pytest.approx(0.6225, abs=1e-3)


def test_the_mean_of_many_equal_values_is_off_where_the_sum_saturates() -> None:
    x = np.full((1, 1, 16, 16), 1000, np.float32)

    assert run_half("GlobalAveragePool", {"x": x}, Half())[0].item() == 65504 / 256
    # A wide accumulator does not help: its sum is stored in fp16 before the division.
    assert run_half("GlobalAveragePool", {"x": x}, Half(accumulator="fp32"))[0].item() == 65504 / 256


# ------------------------------------------------------------------------------------------------ types, shapes, errors


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("op_type", ["Add", "Div", "Max", "Pow"])
def test_results_keep_the_element_type_of_the_model(op_type: str, dtype: type) -> None:
    x = np.array([0.1, 2.0, 3e4], dtype)
    got = run_half(op_type, {"a": x, "b": x}, Half())[0]

    assert got.dtype == dtype
    assert np.array_equal(got, got.astype(np.float16).astype(dtype))


def test_statistics_of_layer_normalization_are_float32_in_a_float16_model() -> None:
    x = np.random.default_rng(0).normal(0, 1, (2, 4)).astype(np.float16)
    inputs = {"x": x, "scale": np.ones(4, np.float16)}

    assert [y.dtype for y in run_half("LayerNormalization", inputs, Half(), count=3)] == [
        np.float16,
        np.float32,
        np.float32,
    ]


def test_running_statistics_keep_their_types() -> None:
    x = np.random.default_rng(0).normal(0, 1, (4, 2)).astype(np.float16)
    wide = np.ones(2, np.float32)
    inputs = {"x": x, "scale": x[0], "b": x[1], "mean": wide, "var": wide}
    got = run_half("BatchNormalization", inputs, Half(), count=3, training_mode=1)
    want = run(load_onnx_bytes(one("BatchNormalization", inputs, count=3, training_mode=1).SerializeToString()), inputs)

    assert [y.dtype for y in got] == [y.dtype for y in want.values()] == [np.float16, np.float32, np.float32]
    for y, golden in zip(got, want.values(), strict=True):
        np.testing.assert_allclose(y, golden, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(
    "op_type", ["Add", "Softmax", "LogSoftmax", "ReduceSum", "ReduceLogSumExp", "CumSum", "Exp", "Sigmoid"]
)
def test_empty_tensors_have_the_shape_of_golden_mode(op_type: str) -> None:
    x = np.empty((2, 0, 3), np.float32)
    inputs: dict[str, Any] = {"x": x, "b": x} if op_type == "Add" else {"x": x}
    if op_type.startswith("Reduce"):
        inputs["axes"] = I64([1])
    if op_type == "CumSum":
        inputs["axis"] = I64(1)
    got = run_half(op_type, inputs, Half())[0]
    want = run(load_onnx_bytes(one(op_type, inputs).SerializeToString()), inputs)["y0"]

    assert got.dtype == want.dtype and got.shape == want.shape


@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Sigmoid", "Add", "Mean"])
def test_a_tensor_of_rank_0_stays_one(op_type: str) -> None:
    x = np.array(0.25, np.float32)
    inputs = {"x": x, "b": x} if op_type in ("Add", "Mean") else {"x": x}
    got = run_half(op_type, inputs, Half())[0]

    assert got.shape == ()
    assert (
        got.item()
        == {"Softmax": 1, "LogSoftmax": 0, "Sigmoid": scalar.sigmoid(0.25), "Add": 0.5, "Mean": 0.25}[op_type]
    )


@pytest.mark.parametrize(
    "op_type", ["LayerNormalization", "InstanceNormalization", "GroupNormalization", "RMSNormalization"]
)
def test_normalizations_of_an_empty_batch_are_empty(op_type: str) -> None:
    inputs = {"x": np.empty((0, 4, 3), np.float32)}
    for name in ("scale", "b")[: 1 if op_type == "RMSNormalization" else 2]:
        inputs[name] = np.ones(3 if op_type[:2] in ("La", "RM") else 4, np.float32)
    attributes = {"num_groups": 2} if op_type == "GroupNormalization" else {}
    data = load_onnx_bytes(one(op_type, inputs, opset=23, **attributes).SerializeToString())

    for precision in (None, half(Half())):
        assert run(data, inputs, precision=precision)["y0"].shape == (0, 4, 3)


def test_the_mean_of_nothing_is_nan_as_the_mode_has_it() -> None:
    inputs = {"x": np.empty((2, 0), np.float32), "axes": I64([1])}

    assert np.isnan(run_half("ReduceMean", inputs, Half(IEEE))[0]).all()
    assert run_half("ReduceMean", inputs, Half())[0].tolist() == [[0], [0]]


def test_inputs_that_are_not_contiguous_give_the_same_bits() -> None:
    x = np.random.default_rng(0).normal(0, 1, (6, 8)).astype(np.float32)
    for op_type in ("Softmax", "ReduceSum", "Sigmoid"):
        assert np.array_equal(run_half(op_type, {"x": x.T}, Half())[0], run_half(op_type, {"x": x.T.copy()}, Half())[0])


WRONG = {
    "channels": ("BatchNormalization", {"x": (1, 3, 2), "s": (1,), "b": (1,), "m": (1,), "v": (1,)}, {}, "3 entries"),
    "groups": (
        "GroupNormalization",
        {"x": (1, 3, 4), "s": (2,), "b": (2,)},
        {"num_groups": 2},
        "multiple of num_groups",
    ),
    "axis": ("LogSoftmax", {"x": (2, 3)}, {"axis": 5}, "axes"),
    "shapes": ("Add", {"x": (2, 3), "b": (2, 4)}, {}, "broadcast"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_said_with_the_node(name: str) -> None:
    op_type, shapes, attributes, message = WRONG[name]
    inputs = {key: np.ones(shape, np.float32) for key, shape in shapes.items()}

    with pytest.raises(ModelError, match=f"node 'node' \\({op_type}\\).*{message}"):
        run_half(op_type, inputs, Half(), **attributes)


def test_a_mode_may_mix_the_two_rules() -> None:
    x = np.float32([math.inf, math.nan])

    assert run_half("Identity", {"x": x}, Half(Mode("saturate", "keep")))[0].tolist() == pytest.approx(
        [65504, math.nan], nan_ok=True
    )
    assert run_half("Identity", {"x": x}, Half(Mode("infinity", "zero")))[0].tolist() == [math.inf, 0]
