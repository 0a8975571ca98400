"""How each node of a model computes on an NPU: rules as plain values, chosen by node, operator or network.

    Float32      as in golden mode
    Half         fp16: inputs rounded to fp16, every operation rounded to fp16 (saturating or IEEE), sums as stated
    Quantized    matrix operators (PRODUCTS) on integer codes with an exact integer accumulator; any other operator
                 reads its inputs through the codes

A `Precision` holds the network's rules, one each for matrix, recurrent and all other operators, with exceptions by
operator type and, stronger, by node name: the order of MagicMind (operator setting over network setting) and of
Horizon (node over operator over model). `presets` has the vendors' modes; `npu.bind` turns rules into functions.

Tensors keep the element types of the model: a value in fp16 is a float32 that fp16 can hold. What follows from
constants and shapes alone is computed in float32, as a compiler does before the device sees it.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np

from simcore.activations import Normalize, Shift, SigmoidForm, TanhForm
from simcore.errors import BadArgument
from simcore.fp16 import SATURATE, Mode
from simcore.fp16_sum import Accumulator, Order
from simcore.graph import Node, Tensor
from simcore.lut import Table
from simcore.quantize import CONVENTIONS
from simcore.rounding import Overflow, int_type

__all__ = [
    "PRODUCTS",
    "RECURRENT",
    "Float32",
    "Half",
    "Precision",
    "Quantized",
    "Rule",
    "Setting",
    "check",
    "override",
    "ranges_of",
    "rule_of",
]

#: Operators that a matrix unit (cube) computes. Source: Nano AI application guide, operators 54 to 57; the integer ones
#: (58 to 61) have their types in the model and compute the same in every precision.
PRODUCTS: Final = frozenset({"Conv", "ConvTranspose", "MatMul", "Gemm"})
#: Operators that use both units. Source: the same, operators 62 and 63.
RECURRENT: Final = frozenset({"LSTM", "GRU"})


@dataclass(frozen=True, slots=True)
class Float32:
    """The operator as in golden mode."""


@dataclass(frozen=True, slots=True)
class Half:
    """The operator in fp16; `npu.vector` says which operators are computed step by step and which are rounded once.

    Matrix operators read fp16, accumulate in float32 and are rounded once; inside LSTM, GRU and RNN states stay
    float32.
    """

    mode: Mode = SATURATE
    """What becomes of overflow and NaN at each step."""
    accumulator: Accumulator = "fp16"
    """Type of running sums: reductions, means, variances, the denominator of Softmax."""
    order: Order = "pairwise"
    """Order of those sums; CumSum is always sequential."""
    sigmoid: Table | SigmoidForm = "direct"
    """A table, or a form of activations.sigmoid."""
    tanh: Table | TanhForm = "direct"
    """A table, or a form of activations.tanh."""
    shift: Shift = "max"
    """Whether Softmax subtracts the maximum."""
    normalize: Normalize = "divide"
    """How Softmax divides."""


@dataclass(frozen=True, slots=True)
class Quantized:
    """A matrix operator on integer codes, or another operator whose inputs go through codes.

    Formula: `acc = sum of (q_x - zero_point_x) * q_w (+ q_bias)`, exact, then `overflow`;
    `y = acc * (step_x * step_w)`, rounded once to what `output` computes in. Weights are always symmetric.
    """

    activation: str = "int8"
    """Integer type of what flows through the network: the input of Conv, the first operand of MatMul."""
    weight: str = "int8"
    """Integer type of constant weights."""
    convention: str = "amct_symmetric"
    """How a range becomes scale and zero point, see quantize.CONVENTIONS."""
    weight_convention: str = "amct_symmetric"
    """The same for weights; a symmetric one."""
    is_per_channel: bool = True
    """Weights have one scale per output channel, or one in all. LSTM and GRU always have one each for W and R."""
    pair: tuple[str, str] = ("int8", "int8")
    """Types of the operands of a product whose operands are both computed; both by `weight_convention`."""
    bias: Literal["int32", "float"] = "int32"
    """Bias in the accumulator, in units of step_x * step_w; or added after it, before the one rounding. LSTM and GRU
    always have it in the accumulator."""
    overflow: Overflow = "saturate"
    """What a 32-bit accumulator makes of the exact sum."""
    output: Half | Float32 = field(default_factory=Half)
    """What the result is rounded to; operators other than PRODUCTS compute by it."""


Rule = Float32 | Half | Quantized


@dataclass(frozen=True, slots=True)
class Setting:
    """What a mode means for the kinds of operators; None: the mode is not for those."""

    name: str
    cube: Rule
    """For PRODUCTS."""
    vector: Rule | None
    """For all other operators."""
    recurrent: Rule | None
    """For RECURRENT."""


@dataclass(frozen=True, slots=True, eq=False)
class Precision:
    """How every node computes: the network's setting, and exceptions."""

    network: Setting
    operators: Mapping[str, Setting | Rule] = field(default_factory=dict)
    """By operator type, over the network."""
    nodes: Mapping[str, Setting | Rule] = field(default_factory=dict)
    """By node name, over everything."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Smallest and largest value by tensor name, from calibration; what is missing is measured in each run."""
    assumptions: tuple[str, ...] = ()
    """What no source says and was chosen here, one sentence each: to be shown with every result."""


def rule_of(precision: Precision, node: Node) -> Rule:
    """Return the rule of a node: by its name, else by its operator type, else the network's.

    Raises:
        BadArgument: the setting is not for this kind of operator.
    """
    chosen = precision.nodes.get(node.name)
    if chosen is None and not node.domain:
        chosen = precision.operators.get(node.op_type)
    if chosen is None:
        chosen = precision.network
    if not isinstance(chosen, Setting):
        return chosen
    if node.op_type in PRODUCTS and not node.domain:
        return chosen.cube
    rule = chosen.recurrent if node.op_type in RECURRENT and not node.domain else chosen.vector
    if rule is None:
        raise BadArgument(f"{chosen.name} is for {', '.join(sorted(PRODUCTS))} only; choose another for this node")
    return rule


def override(
    precision: Precision,
    nodes: Mapping[str, Setting | Rule] | None = None,
    operators: Mapping[str, Setting | Rule] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> Precision:
    """Return a precision with further exceptions and ranges, the new ones over those it has."""
    return replace(
        precision,
        nodes={**precision.nodes, **(nodes or {})},
        operators={**precision.operators, **(operators or {})},
        ranges={**precision.ranges, **(ranges or {})},
    )


def ranges_of(traces: Iterable[Mapping[str, Tensor]]) -> dict[str, tuple[float, float]]:
    """Return the smallest and largest value of every float tensor over several traced runs: min-max calibration.

    Values that are not finite are left out; a tensor without finite values has no range.

    Args:
        traces: results of `execute.run(..., trace=True)`, or feeds, or both merged.
    """
    found: dict[str, tuple[float, float]] = {}
    for trace in traces:
        for name, values in trace.items():
            if values.dtype.kind != "f":
                continue
            finite = values if np.isfinite(values).all() else values[np.isfinite(values)]
            if finite.size:
                low, high = float(finite.min()), float(finite.max())
                before = found.get(name, (low, high))
                found[name] = (min(before[0], low), max(before[1], high))
    return found


def check(precision: Precision, nodes: Iterable[Node], operators: Container[str]) -> None:
    """Check that a precision fits the nodes of a model.

    Args:
        precision: the rules.
        nodes: all nodes of the model.
        operators: the operator types that exist.

    Raises:
        BadArgument: it names a node that is not there, an operator that does not exist, or an integer type, convention
            or range that cannot be.
    """
    for name in precision.operators:
        if name not in operators:
            raise BadArgument(f"precision: no operator {name!r}; use the ONNX name, such as Conv or MatMul")
    names = {node.name for node in nodes}
    unknown = [name for name in precision.nodes if name not in names]
    if unknown:
        raise BadArgument(f"precision: no node {unknown[0]!r} in the model; take names as the trace or -p shows them")
    for name, (low, high) in precision.ranges.items():
        if not (np.isfinite(low) and np.isfinite(high) and low <= high):
            raise BadArgument(f"precision: the range of {name!r} is {low} to {high}; give finite low <= high")
    for chosen in (precision.network, *precision.operators.values(), *precision.nodes.values()):
        for rule in (chosen.cube, chosen.vector, chosen.recurrent) if isinstance(chosen, Setting) else (chosen,):
            if isinstance(rule, Quantized):
                _check_quantized(rule)


def _check_quantized(rule: Quantized) -> None:
    for name in (rule.activation, rule.weight, *rule.pair):
        kind = int_type(name)
        if kind.low == 0 or kind.bits > 16:
            raise BadArgument(f"precision: {name} cannot be an operand; use a signed type of up to 16 bits")
    for name in (rule.convention, rule.weight_convention):
        if name not in CONVENTIONS:
            raise BadArgument(f"precision: convention {name!r} is not known; use one of {', '.join(CONVENTIONS)}")
    if CONVENTIONS[rule.weight_convention].divisor == "range":
        raise BadArgument(f"precision: weights are symmetric, {rule.weight_convention!r} is not")
