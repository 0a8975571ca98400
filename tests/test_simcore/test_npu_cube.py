"""Products on codes equal loops over Python integers, quantized by formulas written again here, bit for bit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ValueInfoProto, helper, numpy_helper

from simcore.errors import ModelError
from simcore.execute import run
from simcore.load_onnx import load_onnx_bytes
from simcore.precision import Float32, Half, Precision, Quantized, Setting
from tests.test_simcore import scalar_fp16 as scalar
from tests.test_simcore.graphs import graph
from tests.test_simcore.onnx_runtime_oracle import run_node

F = np.float32


def quantized(rule: Quantized, ranges: Mapping[str, tuple[float, float]] | None = None) -> Precision:
    return Precision(Setting("test", rule, Float32(), Float32()), ranges=ranges or {})


def run_product(
    op_type: str,
    x: np.ndarray,
    w: np.ndarray,
    rule: Quantized,
    extra: np.ndarray | None = None,
    constant: str = "w",
    ranges: Mapping[str, tuple[float, float]] | None = None,
    **attributes: Any,
) -> np.ndarray:
    """Return y of one node named `product`; `constant` says which of x and w are initializers."""
    values = {"x": x, "w": w} | ({} if extra is None else {"b": extra})
    node = helper.make_node(op_type, list(values), ["y"], name="product", **attributes)
    fixed = {name: value for name, value in values.items() if name in constant or name == "b"}
    feeds = {name: value for name, value in values.items() if name not in fixed}
    g = graph([node], {name: value.shape for name, value in feeds.items()}, ["y"], fixed)
    return run(g, feeds, precision=quantized(rule, ranges))["y"]


# ---------------------------------------------------------------------------------------------------------- the oracle


@dataclass(frozen=True)
class Grid:
    """Codes of one tensor or channel: float32 scale, zero point, width, and how a value is divided by the step."""

    scale: np.float32
    zero_point: int
    bits: int
    form: str

    @property
    def step(self) -> float:
        return 1 / float(self.scale) if self.form == "reciprocal" else float(self.scale)

    def centred(self, value: float) -> int:
        """Return code minus zero point."""
        x = F(value)
        if np.isnan(x):
            return 0
        with np.errstate(over="ignore"):
            ratio = {"step": lambda: x / self.scale, "inverted_step": lambda: x * (F(1) / self.scale)}.get(
                self.form, lambda: x * self.scale
            )()
        low, high = -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1
        code = round(float(ratio)) + self.zero_point if np.isfinite(ratio) else math.copysign(math.inf, ratio)
        return int(min(max(code, low), high)) - self.zero_point


def grid(values: Sequence[float], convention: str, to: str) -> Grid:
    """Return the grid over the finite values, by the vendors' formulas in float32."""
    bits = int(to.removeprefix("int"))
    low_code, high_code = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    finite = [F(v) for v in values if math.isfinite(v)] or [F(0)]
    low, high = min(finite), max(finite)
    farthest = max(abs(low), abs(high))
    if convention in ("amct_symmetric", "onnx_symmetric"):
        scale = farthest / F(high_code)
    elif convention == "horizon":
        scale = farthest / F(-low_code)
    elif convention == "amct_min_max":
        scale = high / F(high_code) if abs(high) > abs(low) else abs(low) / F(-low_code)
    else:
        low, high = min(low, F(0)), max(high, F(0))
        width, levels = F(high - low), F(high_code - low_code)
        if width == 0:
            scale, point = F(1), low_code
        elif convention == "hisilicon":
            scale = levels / width
            point = low_code - round(float(low * scale))
        else:
            scale = width / levels
            point = low_code - round(float(low / scale))
            if convention == "onnx_dynamic":
                point = round(float(F(F(low_code) - F(low / scale))))
        point = int(min(max(point, low_code), high_code))
        form = {"hisilicon": "reciprocal", "onnx_dynamic": "step"}.get(convention, "inverted_step")
        return Grid(F(scale), point, bits, form)
    form = "inverted_step" if convention.startswith("amct") else "step"
    return Grid(F(scale) if scale > 0 else F(1), 0, bits, form)


def codes(values: np.ndarray, how: Grid | Mapping[int, Grid], axis: int = 0) -> np.ndarray:
    """Return integers, zero point subtracted, as objects; a mapping holds one grid per index of an axis."""
    y = np.empty(values.shape, object)
    for at in np.ndindex(values.shape):
        one = how if isinstance(how, Grid) else how[at[axis]]
        y[at] = one.centred(float(values[at]))
    return y


def accumulated(total: int, overflow: str) -> int:
    if overflow == "wrap":
        return (total + 2**31) % 2**32 - 2**31
    return min(max(total, -(2**31)), 2**31 - 1) if overflow == "saturate" else total


def stored(value: float, rule: Quantized) -> float:
    if isinstance(rule.output, Half):
        return scalar.settle(
            scalar.to_fp16(Fraction(value), negative_zero=math.copysign(1, value) < 0),
            rule.output.mode.overflow,
            rule.output.mode.nan,
        )
    return scalar.float32(value)


def finished(total: int, unit: float, bias: float | None, rule: Quantized) -> float:
    """Return the result for one exact sum: bias, accumulator, unit, rounding."""
    if bias is not None and rule.bias == "int32":
        total += round(bias / unit)
    y = accumulated(total, rule.overflow) * unit
    return stored(y + bias if bias is not None and rule.bias == "float" else y, rule)


def flat(values: np.ndarray) -> list[float]:
    return [float(v) for v in values.reshape(-1)]


def channel_grids(w: np.ndarray, axis: int, rule: Quantized) -> dict[int, Grid]:
    if not rule.is_per_channel:
        whole = grid(flat(w), rule.weight_convention, rule.weight)
        return dict.fromkeys(range(w.shape[axis]), whole)
    return {
        i: grid(flat(np.moveaxis(w, axis, 0)[i]), rule.weight_convention, rule.weight) for i in range(w.shape[axis])
    }


def conv_oracle(x: np.ndarray, w: np.ndarray, b: np.ndarray | None, rule: Quantized, **attributes: Any) -> np.ndarray:
    rank, group = x.ndim - 2, attributes.get("group", 1)
    strides = attributes.get("strides", [1] * rank)
    dilations = attributes.get("dilations", [1] * rank)
    pads = attributes.get("pads", [0] * 2 * rank)
    x_grid, w_grids = grid(flat(x), rule.convention, rule.activation), channel_grids(w, 0, rule)
    qx, qw = codes(x, x_grid), codes(w, w_grids)
    out = [
        (x.shape[2 + a] + pads[a] + pads[rank + a] - (w.shape[2 + a] - 1) * dilations[a] - 1) // strides[a] + 1
        for a in range(rank)
    ]
    y = np.empty((x.shape[0], w.shape[0], *out), object)
    for n, m, *at in np.ndindex(y.shape):
        first = m // (w.shape[0] // group) * w.shape[1]
        total = 0
        for c, *tap in np.ndindex(w.shape[1:]):
            where = [at[a] * strides[a] + tap[a] * dilations[a] - pads[a] for a in range(rank)]
            if all(0 <= i < size for i, size in zip(where, x.shape[2:], strict=True)):
                total += qx[(n, first + c, *where)] * qw[(m, c, *tap)]
        y[(n, m, *at)] = finished(total, x_grid.step * w_grids[m].step, None if b is None else float(b[m]), rule)
    return y


def conv_transpose_oracle(
    x: np.ndarray, w: np.ndarray, b: np.ndarray | None, rule: Quantized, **attributes: Any
) -> np.ndarray:
    rank, group = x.ndim - 2, attributes.get("group", 1)
    strides = attributes.get("strides", [1] * rank)
    dilations = attributes.get("dilations", [1] * rank)
    pads = attributes.get("pads", [0] * 2 * rank)
    behind = attributes.get("output_padding", [0] * rank)
    inner, maps = w.shape[0] // group, w.shape[1]
    x_grid = grid(flat(x), rule.convention, rule.activation)
    # One grid per output channel: group g, map m reads the filters of the group's input channels.
    channels = np.stack([w[g * inner : (g + 1) * inner, m] for g in range(group) for m in range(maps)])
    w_grids = channel_grids(channels, 0, rule)
    qx = codes(x, x_grid)
    size = [
        strides[a] * (x.shape[2 + a] - 1)
        + behind[a]
        + (w.shape[2 + a] - 1) * dilations[a]
        + 1
        - pads[a]
        - pads[rank + a]
        for a in range(rank)
    ]
    totals = np.zeros((x.shape[0], group * maps, *size), object)
    for n, c, *at in np.ndindex(x.shape):
        for m, *tap in np.ndindex(w.shape[1:]):
            where = [at[a] * strides[a] + tap[a] * dilations[a] - pads[a] for a in range(rank)]
            channel = c // inner * maps + m
            if all(0 <= i < s for i, s in zip(where, size, strict=True)):
                totals[(n, channel, *where)] += qx[(n, c, *at)] * w_grids[channel].centred(float(w[(c, m, *tap)]))
    y = np.empty(totals.shape, object)
    for at in np.ndindex(y.shape):
        bias = None if b is None else float(b[at[1]])
        y[at] = finished(totals[at], x_grid.step * w_grids[at[1]].step, bias, rule)
    return y


def matmul_oracle(a: np.ndarray, b: np.ndarray, rule: Quantized, constant: str) -> np.ndarray:
    """Constant operands are weights, computed ones activations; two computed ones a pair of symmetric codes."""
    left, right = np.atleast_2d(a), b[:, None] if b.ndim == 1 else b
    if not constant:
        a_grid = grid(flat(a), rule.weight_convention, rule.pair[0])
        b_grids = dict.fromkeys(range(right.shape[-1]), grid(flat(b), rule.weight_convention, rule.pair[1]))
    elif constant == "x":
        a_grid = grid(flat(a), rule.weight_convention, rule.weight)
        b_grids = dict.fromkeys(range(right.shape[-1]), grid(flat(b), rule.convention, rule.activation))
    else:
        a_grid = grid(flat(a), rule.convention, rule.activation)
        narrow = rule if b.ndim == 2 else replace(rule, is_per_channel=False)
        b_grids = channel_grids(right, right.ndim - 1, narrow)
    qa, qb = codes(left, a_grid), codes(right, b_grids, right.ndim - 1)
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    qa, qb = np.broadcast_to(qa, batch + qa.shape[-2:]), np.broadcast_to(qb, batch + qb.shape[-2:])
    y = np.empty((*batch, left.shape[-2], right.shape[-1]), object)
    for at in np.ndindex(y.shape):
        *lead, m, n = at
        total = sum(qa[(*lead, m, k)] * qb[(*lead, k, n)] for k in range(left.shape[-1]))
        y[at] = finished(total, a_grid.step * b_grids[n].step, None, rule)
    y = y[..., 0, :] if a.ndim == 1 else y
    return y[..., 0] if b.ndim == 1 else y


def gemm_oracle(a: np.ndarray, b: np.ndarray, c: np.ndarray | None, rule: Quantized, **attributes: Any) -> np.ndarray:
    alpha, beta = attributes.get("alpha", 1.0), attributes.get("beta", 1.0)
    left, right = a.T if attributes.get("transA") else a, b.T if attributes.get("transB") else b
    a_grid, b_grids = grid(flat(a), rule.convention, rule.activation), channel_grids(right, 1, rule)
    qa, qb = codes(left, a_grid), codes(right, b_grids, 1)
    m, n = left.shape[0], right.shape[1]
    is_per_column = c is not None and c.size == n and c.shape[-1:] == (n,)
    added = None if c is None else np.broadcast_to(c, (m, n))
    y = np.empty((m, n), object)
    for i, j in np.ndindex(m, n):
        total = sum(qa[i, k] * qb[k, j] for k in range(left.shape[1]))
        unit = a_grid.step * b_grids[j].step
        extra = None if added is None else float(added[i, j]) * beta
        if extra is not None and is_per_column and alpha == 1 and rule.bias == "int32":
            total, extra = total + round(extra / unit), None
        value = accumulated(total, rule.overflow) * (unit * alpha)
        y[i, j] = stored(value if extra is None else value + extra, rule)
    return y


def assert_same(got: np.ndarray, want: np.ndarray) -> None:
    assert got.shape == want.shape and got.dtype == np.float32
    wrong = [
        (at, float(got[at]), want[at]) for at in np.ndindex(want.shape) if not scalar.same(float(got[at]), want[at])
    ]
    assert wrong == []


# -------------------------------------------------------------------------------------------------------------- tables

RULES = {
    "nano": Quantized("int8", "int8", "amct_asymmetric"),
    "nano per tensor": Quantized("int8", "int8", "amct_asymmetric", is_per_channel=False),
    "nano int16": Quantized("int16", "int8", "amct_asymmetric"),
    "amct symmetric": Quantized(),
    "int4 weights": Quantized("int8", "int4", "amct_min_max"),
    "int4 activations": Quantized("int4", "int8", "hisilicon", "amct_min_max", pair=("int4", "int16")),
    "magicmind": Quantized("int8", "int8", "onnx_symmetric", "onnx_symmetric", True, ("int8", "int8"), "float", "wide", Float32()),
    "magicmind int16": Quantized("int16", "int16", "onnx_dynamic", "onnx_symmetric", False, ("int16", "int16"), "float", "wide"),
    "horizon": Quantized("int8", "int8", "horizon", "horizon", True, ("int8", "int8"), "float", "wide", Float32()),
    "dual-int16": Quantized("int16", "int16", "horizon", "horizon", True, ("int16", "int16"), "float", "wide", Float32()),
    "int16 saturating": Quantized("int16", "int16", "onnx_symmetric", "horizon", pair=("int16", "int16"), output=Float32()),
    "int16 wrapping": Quantized("int16", "int16", "onnx_dynamic", pair=("int16", "int16"), overflow="wrap", output=Float32()),
}  # fmt: skip

#: x, w, has a bias, attributes.
CONVS: dict[str, tuple[tuple[int, ...], tuple[int, ...], bool, dict[str, Any]]] = {
    "line": ((2, 3, 7), (4, 3, 3), True, {}),
    "line with stride and pads": ((1, 2, 9), (3, 2, 3), True, {"strides": [2], "pads": [2, 1], "dilations": [2]}),
    "plane": ((1, 3, 5, 4), (2, 3, 3, 2), True, {}),
    "plane without bias": ((2, 2, 4, 4), (3, 2, 1, 1), False, {}),
    "padded": ((1, 2, 4, 5), (3, 2, 3, 3), True, {"pads": [1, 0, 1, 2], "strides": [1, 2]}),
    "dilated": ((1, 2, 6, 5), (2, 2, 2, 3), False, {"dilations": [3, 2], "pads": [1, 1, 1, 1]}),
    "groups": ((1, 4, 4, 3), (6, 2, 2, 2), True, {"group": 2, "pads": [1, 1, 0, 0]}),
    "depthwise": ((1, 3, 5, 5), (3, 1, 3, 3), True, {"group": 3, "pads": [1, 1, 1, 1]}),
    "depthwise line": ((2, 3, 6), (6, 1, 3), True, {"group": 3, "pads": [1, 1]}),
    "volume": ((1, 2, 3, 3, 3), (2, 2, 2, 2, 2), True, {}),
}


def data(seed: int, *shapes: tuple[int, ...] | None) -> list[Any]:
    """Return skewed values, so that zero points are not 0, of channels with different widths."""
    rng = np.random.default_rng(seed)

    def one(shape: tuple[int, ...]) -> np.ndarray:
        return (rng.normal(0.6, 1, shape) * rng.uniform(0.2, 3, (*shape[:1], *(1,) * (len(shape) - 1)))).astype(F)

    return [None if shape is None else one(shape) for shape in shapes]


def with_bias(seed: int, *shapes: tuple[int, ...] | None) -> list[Any]:
    """Return `data` whose last array is small: a bias must fit int32 in units of the finest steps."""
    *others, b = data(seed, *shapes)
    return [*others, None if b is None else b * F(0.01)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", CONVS)
def test_conv_equals_the_integer_loop(name: str, rule: str) -> None:
    x_shape, w_shape, has_bias, attributes = CONVS[name]
    x, w, b = with_bias(1, x_shape, w_shape, w_shape[:1] if has_bias else None)

    got = run_product("Conv", x, w, RULES[rule], b, **attributes)

    assert_same(got, conv_oracle(x, w, b, RULES[rule], **attributes))


TRANSPOSED = {
    "line": ((2, 3, 4), (3, 2, 3), True, {"strides": [2]}),
    "plane": ((1, 2, 3, 3), (2, 3, 2, 3), True, {"strides": [2, 1], "pads": [1, 0, 0, 1]}),
    "groups": ((1, 4, 3, 2), (4, 3, 2, 2), True, {"group": 2, "output_padding": [1, 0], "strides": [2, 2]}),
    "depthwise": ((1, 3, 4), (3, 1, 3), False, {"group": 3, "dilations": [2]}),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", TRANSPOSED)
def test_conv_transpose_equals_the_integer_loop(name: str, rule: str) -> None:
    x_shape, w_shape, has_bias, attributes = TRANSPOSED[name]
    group = attributes.get("group", 1)
    x, w, b = with_bias(2, x_shape, w_shape, (w_shape[1] * group,) if has_bias else None)

    got = run_product("ConvTranspose", x, w, RULES[rule], b, **attributes)

    assert_same(got, conv_transpose_oracle(x, w, b, RULES[rule], **attributes))


MATMULS = {
    "right constant": ((3, 5), (5, 4), "w"),
    "left constant": ((3, 5), (5, 4), "x"),
    "both computed": ((3, 5), (5, 4), ""),
    "batch by a matrix": ((2, 3, 5), (5, 4), "w"),
    "batch by a constant batch": ((2, 3, 5), (2, 5, 4), "w"),
    "constant batch by a matrix": ((2, 3, 5), (5, 4), "x"),
    "batches computed": ((2, 1, 3, 4), (3, 4, 2), ""),
    "vector by a matrix": ((5,), (5, 4), "w"),
    "matrix by a vector": ((3, 5), (5,), "w"),
    "vectors": ((5,), (5,), ""),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", MATMULS)
def test_matmul_equals_the_integer_loop(name: str, rule: str) -> None:
    x_shape, w_shape, constant = MATMULS[name]
    x, w = data(3, x_shape, w_shape)

    got = run_product("MatMul", x, w, RULES[rule], constant=constant)

    assert_same(got, matmul_oracle(x, w, RULES[rule], constant))


GEMMS = {
    "plain": ({}, None),
    "bias": ({}, (4,)),
    "bias in a row": ({}, (1, 4)),
    "bias times beta": ({"beta": 0.75}, (4,)),
    "matrix C": ({"beta": 1.5}, (3, 4)),
    "column C": ({}, (3, 1)),
    "number C": ({}, ()),
    "one C": ({"beta": 0.5}, (1,)),
    "alpha": ({"alpha": 0.625}, (4,)),
    "transposed": ({"transA": 1, "transB": 1}, (4,)),
    "right transposed": ({"transB": 1, "alpha": 2.0, "beta": 0.5}, (3, 4)),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", GEMMS)
def test_gemm_equals_the_integer_loop(name: str, rule: str) -> None:
    attributes, shape = GEMMS[name]
    a, b = data(4, (5, 3) if "transA" in attributes else (3, 5), (4, 5) if "transB" in attributes else (5, 4))
    c = None if shape is None else np.random.default_rng(5).normal(0, 1, shape).astype(F)

    got = run_product("Gemm", a, b, RULES[rule], c, **attributes)

    assert_same(got, gemm_oracle(a, b, c, RULES[rule], **attributes))


# ---------------------------------------------------------------------------------------------------------- properties

sizes = st.integers(1, 4)


@given(
    st.tuples(sizes, st.integers(1, 3), sizes, sizes),
    st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(0, 2)),
    st.sampled_from(sorted(RULES)),
    st.integers(0, 99),
)
@settings(max_examples=60)
def test_conv_of_any_shape_equals_the_integer_loop(shape, geometry, rule: str, seed: int) -> None:
    maps, inner, group, size = shape
    kernel, stride, dilation, pad = geometry
    size = max(size, (kernel - 1) * dilation + 1 - 2 * pad)
    x, w, b = with_bias(seed, (1, inner * group, size), (maps * group, inner, kernel), (maps * group,))
    attributes = {"strides": [stride], "pads": [pad, pad], "dilations": [dilation], "group": group}

    got = run_product("Conv", x, w, RULES[rule], b, **attributes)

    assert_same(got, conv_oracle(x, w, b, RULES[rule], **attributes))


@given(
    st.lists(st.integers(1, 2), max_size=2),
    st.tuples(sizes, st.integers(1, 9), sizes),
    st.sampled_from(["w", "x", ""]),
    st.sampled_from(sorted(RULES)),
    st.integers(0, 99),
)
@settings(max_examples=60)
def test_matmul_of_any_shape_equals_the_integer_loop(batch, shape, constant: str, rule: str, seed: int) -> None:
    m, k, n = shape
    x, w = data(seed, (*batch, m, k), (k, n))

    got = run_product("MatMul", x, w, RULES[rule], constant=constant)

    assert_same(got, matmul_oracle(x, w, RULES[rule], constant))


special = st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-30, -1e-25, 3.0, -3e4, 65504.0])


@given(st.lists(special, min_size=4, max_size=4), st.sampled_from(sorted(RULES)))
@settings(max_examples=60)
def test_special_activations_get_the_codes_of_the_formula(values: list[float], rule: str) -> None:
    x, w = np.array([values], F), data(7, (4, 3))[0]

    got = run_product("MatMul", x, w, RULES[rule])

    assert_same(got, matmul_oracle(x, w, RULES[rule], "w"))


# -------------------------------------------------------------------------------------------------------- accumulators


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("overflow", ["saturate", "wrap", "wide"])
@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose", "MatMul", "Gemm"])
def test_sums_that_leave_int32_follow_the_overflow_rule(op_type: str, overflow: str, sign: int) -> None:
    rule = Quantized("int16", "int16", "onnx_symmetric", "onnx_symmetric", overflow=overflow, output=Float32())  # type: ignore[arg-type]
    x, w = np.full((1, 3), 1, F), np.full((3, 1), sign, F)
    if op_type.startswith("Conv"):
        x, w = x.reshape(1, 3, 1), w.reshape((1, 3, 1) if op_type == "Conv" else (3, 1, 1))

    got = run_product(op_type, x, w, rule).item()

    total = 3 * 32767 * 32767 * sign
    unit = float(F(1) / F(32767)) ** 2
    kept = {
        "wide": total,
        "saturate": 2**31 - 1 if sign > 0 else -(2**31),
        "wrap": (total + 2**31) % 2**32 - 2**31,
    }[overflow]
    assert got == scalar.float32(kept * unit)
    assert (got == pytest.approx(3 * sign, rel=1e-6)) is (overflow == "wide")


def test_the_bias_counts_before_the_accumulator_saturates() -> None:
    rule = Quantized("int16", "int16", "onnx_symmetric", "onnx_symmetric", output=Float32())
    x, w = np.full((1, 3, 1), 1, F), np.full((1, 3, 1), 1, F)

    without = run_product("Conv", x, w, rule).item()
    less = run_product("Conv", x, w, rule, np.float32([-1.5])).item()

    assert without == pytest.approx(2, rel=1e-4)  # 2^31 / 32767^2
    assert less == pytest.approx(1.5, rel=1e-4)


@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose", "Gemm"])
def test_a_bias_that_leaves_int32_is_refused_with_the_node(op_type: str) -> None:
    x, w = np.full((1, 1), 1e-3, F), np.full((1, 1), 1e-3, F)
    if op_type.startswith("Conv"):
        x, w = x.reshape(1, 1, 1), w.reshape(1, 1, 1)

    with pytest.raises(ModelError, match=f"node 'product' \\({op_type}\\): bias: 10000 of channel 0 leaves int32"):
        run_product(op_type, x, w, Quantized(), np.float32([1e4]))
    assert run_product(op_type, x, w, Quantized(bias="float"), np.float32([1e4])).item() == 10000


def test_the_channel_whose_weights_vanish_is_named() -> None:
    w = np.float32([[1, 1e-30, 1]])

    with pytest.raises(ModelError, match=r"bias: 2 of channel 1 leaves int32 in units of .*; set Half for this node"):
        run_product("Gemm", np.ones((1, 1), F), w, Quantized(), np.float32([1, 2, 3]))


def test_a_result_above_fp16_saturates_and_float32_does_not() -> None:
    x, w = np.full((1, 4), 200, F), np.full((4, 1), 200, F)

    assert run_product("MatMul", x, w, Quantized()).item() == 65504
    assert run_product("MatMul", x, w, Quantized(output=Float32())).item() == pytest.approx(160000, rel=1e-6)


def test_padding_is_real_zero_under_an_asymmetric_range() -> None:
    rule = Quantized("int8", "int8", "amct_asymmetric", output=Float32())
    x, w = np.full((1, 1, 3), 5, F), np.ones((1, 1, 3), F)

    got = run_product("Conv", x, w, rule, pads=[1, 1]).reshape(-1)

    np.testing.assert_allclose(got, [10, 15, 10], rtol=1e-6)


def test_calibrated_ranges_replace_measured_ones() -> None:
    x, w = np.float32([[8.0]]), np.float32([[1.0]])

    assert run_product("MatMul", x, w, Quantized()).item() == 8
    assert run_product("MatMul", x, w, Quantized(), ranges={"x": (-2.0, 2.0)}).item() == 2
    # Of a constant the values themselves are its range.
    assert run_product("MatMul", x, w, Quantized(), ranges={"w": (-0.5, 0.5)}).item() == 8


# ------------------------------------------------------------------------------------------------------ another oracle


def test_matmul_agrees_with_onnx_runtimes_integer_product() -> None:
    rng = np.random.default_rng(8)
    x, w = rng.integers(-127, 128, (6, 40)), rng.integers(-7, 8, (40, 5))
    x[0, 0], w[0, 0] = 127, 7  # so that the steps are those chosen below
    shifted = {"a": (x + 128).astype(np.uint8), "b": w.astype(np.int8), "z": np.array(128, np.uint8)}
    acc = run_node("MatMulInteger", shifted, "int32")
    rule = Quantized("int8", "int4", "onnx_symmetric", "onnx_symmetric", False, output=Float32())

    got = run_product("MatMul", (x * 0.25).astype(F), (w * 0.5).astype(F), rule)

    assert np.array_equal(got, acc * F(0.125))


@pytest.mark.parametrize("name", ["plane", "padded", "groups", "depthwise", "line"])
def test_conv_agrees_with_onnx_runtime_on_dequantized_values(name: str) -> None:
    x_shape, w_shape, _, attributes = CONVS[name]
    x, w, b = data(9, x_shape, w_shape, w_shape[:1])
    rule = replace(RULES["magicmind"], is_per_channel=False)

    def nearest(values: np.ndarray) -> np.ndarray:
        scale = np.array(F(np.abs(values).max()) / F(127))
        codes = run_node("QuantizeLinear", {"x": values, "s": scale, "z": np.array(0, np.int8)}, "int8")
        return run_node("DequantizeLinear", {"q": codes, "s": scale, "z": np.array(0, np.int8)}, "float32")

    got = run_product("Conv", x, w, rule, b, **attributes)
    want = run_node("Conv", {"x": nearest(x), "w": nearest(w), "b": b}, "float32", **attributes)

    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


# --------------------------------------------------------------------------------------------------- types and trouble


@pytest.mark.parametrize("output", [Half(), Float32()], ids=["half", "float32"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose", "MatMul", "Gemm"])
def test_results_keep_the_element_type_of_the_model(op_type: str, dtype: type, output: Half | Float32) -> None:
    x, w = (v.astype(dtype) for v in data(10, (2, 3), (3, 3)))
    b = np.array([0.5, 1, 2], dtype)
    if op_type.startswith("Conv"):
        x, w = x[..., None], w[..., None]
    values = {"w": w} if op_type == "MatMul" else {"w": w, "b": b}
    declared = helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), x.shape)
    body = helper.make_graph(
        [helper.make_node(op_type, ["x", *values], ["y"])],
        "typed",
        [declared],
        [ValueInfoProto(name="y")],
        [numpy_helper.from_array(value, name) for name, value in values.items()],
    )
    typed = helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)

    got = run(load_onnx_bytes(typed.SerializeToString()), {"x": x}, precision=quantized(Quantized(output=output)))["y"]
    wide = {name: value.astype(F) for name, value in values.items()}
    same = run_product(op_type, x.astype(F), wide["w"], Quantized(output=output), wide.get("b"))

    assert got.dtype == dtype
    np.testing.assert_allclose(got, same.astype(dtype), rtol=2**-23 if dtype == np.float64 else 0)


def test_products_of_integers_stay_integers() -> None:
    a, b = np.int64([[1000, -2000]]), np.int64([[3], [70001]])
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    g = graph([node], {"x": ("i", [1, 2])}, ["y"], {"w": b})

    got = run(g, {"x": a}, precision=quantized(Quantized()))["y"]

    assert got.dtype == np.int64 and got.tolist() == [[-139999000]]


@pytest.mark.parametrize(
    ("op_type", "x", "w"),
    [("MatMul", (0, 3), (3, 2)), ("MatMul", (2, 0), (0, 2)), ("Gemm", (0, 3), (3, 2)), ("Conv", (0, 2, 3), (2, 2, 1))],
)
@pytest.mark.parametrize("constant", ["w", ""])
def test_empty_tensors_have_the_shape_of_golden_mode(op_type: str, x, w, constant: str) -> None:
    got = run_product(op_type, np.ones(x, F), np.ones(w, F), Quantized(), constant=constant)

    assert got.shape == {"Conv": (0, 2, 3)}.get(op_type, (x[0], w[1])) and not got.any()


def test_the_bias_of_an_empty_product_is_rounded_like_any_result() -> None:
    got = run_product("Gemm", np.ones((1, 0), F), np.ones((0, 2), F), Quantized(), np.float32([0.1, 1e6]))

    assert got.tolist() == [[float(np.float16(0.1)), 65504]]


def test_operands_that_are_not_contiguous_give_the_same_bits() -> None:
    x, w = data(11, (5, 4), (3, 5))

    assert np.array_equal(
        run_product("MatMul", x.T, w.T, RULES["nano"]), run_product("MatMul", x.T.copy(), w.T.copy(), RULES["nano"])
    )


def test_zeros_alone_give_zeros() -> None:
    for rule in RULES.values():
        assert not run_product("MatMul", np.zeros((2, 3), F), np.zeros((3, 2), F), rule).any()


TROUBLE: dict[str, tuple[str, np.ndarray, np.ndarray, np.ndarray | None, dict[str, Any], str]] = {
    "weights with nan": ("MatMul", np.ones((1, 2), F), F([[1], [math.nan]]), None, {}, "NaN or infinity"),
    "inner sizes": ("MatMul", np.ones((1, 2), F), np.ones((3, 1), F), None, {}, "do not fit"),
    "inner sizes of Gemm": ("Gemm", np.ones((1, 2), F), np.ones((3, 1), F), None, {}, "do not fit"),
    "rank of Gemm": ("Gemm", np.ones((1, 2), F), np.ones((2,), F), None, {}, "do not fit"),
    "C that makes y larger": ("Gemm", np.ones((1, 2), F), np.ones((2, 3), F), np.ones((2, 3), F), {}, "does not broadcast"),
    "kernel_shape": ("Conv", np.ones((1, 1, 4), F), np.ones((1, 1, 2), F), None, {"kernel_shape": [3]}, "kernel_shape"),
    "groups": ("Conv", np.ones((1, 3, 4), F), np.ones((2, 2, 2), F), None, {"group": 2}, "channels"),
    "groups of ConvTranspose": ("ConvTranspose", np.ones((1, 3, 4), F), np.ones((3, 2, 2), F), None, {"group": 2}, ""),
    "bias of the wrong length": ("Conv", np.ones((1, 1, 4), F), np.ones((2, 1, 2), F), np.ones(3, F), {}, "bias"),
    "nan in the bias": ("Conv", np.ones((1, 1, 4), F), np.ones((1, 1, 2), F), F([math.nan]), {}, "leaves int32"),
}  # fmt: skip


@pytest.mark.parametrize("name", TROUBLE)
def test_what_cannot_be_computed_is_said_with_the_node(name: str) -> None:
    op_type, x, w, extra, attributes, message = TROUBLE[name]

    with pytest.raises(ModelError, match=f"node 'product' \\({op_type}\\).*{message}"):
        run_product(op_type, x, w, Quantized(), extra, **attributes)


def test_every_rule_of_the_table_is_used_with_both_outputs() -> None:
    assert {type(rule.output) for rule in RULES.values()} == {Half, Float32}
    assert {rule.overflow for rule in RULES.values()} == {"wrap", "saturate", "wide"}
    assert {kind for rule in RULES.values() for kind in (rule.activation, rule.weight)} == {"int4", "int8", "int16"}
