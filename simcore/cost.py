"""Cycles and latency of a model: a lower bound from the published compute figure, and an estimate with its assumptions.

    device -> rates    published and assumed speeds, block sizes
    work   -> cost     per node: lower bound = multiply-adds / published rate
                                 estimate = padded multiply-adds / assumed rate + element operations / assumed lanes
    cycles -> latency  at a clock

The published figure of a device counts products only, so the lower bound has nothing for vector operators, memory
traffic or instructions. The estimate still leaves out the last two. Whatever rests on no source is a sentence in
`assumptions` of the result that uses it.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from simcore.device import Device, figure, number
from simcore.errors import BadArgument, ModelError
from simcore.layout import FRACTAL_ROWS, c0_of, groups_per_block
from simcore.macs import NodeWork, Product, Work

__all__ = [
    "Activation",
    "LayerCost",
    "ModelCost",
    "Rates",
    "latency_ms",
    "layer_cost",
    "model_cost",
    "padded_macs",
    "rates",
]

#: Element type of the activations that enter a product.
Activation = Literal["int8", "int16"]


@dataclass(frozen=True, slots=True)
class Rates:
    """How fast a device is; made by `rates`, or by hand for a device whose file lacks the figures."""

    #: Multiply-adds per cycle as published; the lower bound divides by it.
    published_macs_per_cycle: float
    #: Multiply-adds per cycle that full blocks get.
    macs_per_cycle: float
    #: Elements the vector unit computes or copies per cycle.
    lanes: float
    #: Elements of k in one block: C0 of the activations.
    block_k: int
    #: Elements of m and of n in one block.
    block_mn: int
    #: What the lower bound rests on.
    bound_assumptions: tuple[str, ...]
    #: What the cycles of products rest on beyond the bound.
    cube_assumptions: tuple[str, ...]
    #: What the cycles of element operations and copies rest on.
    vector_assumptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LayerCost:
    """Cycles of one node."""

    node: str
    op_type: str
    #: Multiply-adds by definition.
    macs: int
    #: Multiply-adds with sizes rounded up to whole blocks.
    padded_macs: int
    #: Cycles of the products alone, at the published rate.
    cycles_lower_bound: int
    #: cube_cycles + vector_cycles.
    cycles_estimate: int
    #: Cycles of the padded products.
    cube_cycles: int
    #: Cycles of element operations and copies.
    vector_cycles: int
    #: What the figures rest on, as sentences; never empty.
    assumptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelCost:
    """Cycles of a model, its nodes one after the other."""

    macs: int
    cycles_lower_bound: int
    cycles_estimate: int
    layers: tuple[LayerCost, ...]
    #: Nodes whose work is not known, by name; the sums are too low by theirs.
    unknown: tuple[str, ...]
    #: What the figures rest on, each sentence once.
    assumptions: tuple[str, ...]


def rates(device: Device, activation: Activation = "int8", lanes: int | None = None) -> Rates:
    """Return the rates of a device.

    Args:
        device: needs the figures int8_ops_per_cycle, int8_macs_per_cycle and block_size.
        activation: element type of the activations; weights are int8.
        lanes: elements per cycle of the vector unit; default: the fp16 elements of one block.

    Raises:
        BadArgument: the device has no such figure (build `Rates` by hand), an unknown type, lanes < 1.
    """
    if activation not in get_args(Activation):
        raise BadArgument(f"activation {activation!r} is unknown; choose one of {', '.join(get_args(Activation))}")
    published = number(device, "int8_ops_per_cycle", "op/cycle") / 2
    full = figure(device, "int8_macs_per_cycle")
    rate = number(device, "int8_macs_per_cycle", "MAC/cycle")
    block = int(number(device, "block_size", "byte"))
    lanes = block // 2 if lanes is None else lanes
    if lanes < 1:
        raise BadArgument(f"lanes is {lanes}; it must be 1 or more")
    source = figure(device, "int8_ops_per_cycle").source
    bound = [f"one multiply-add counts as two of the published {2 * published:g} operations per cycle ({source})"]
    bound.append("vector operators, memory traffic and instructions take no cycles: no source gives their rates")
    block_k = c0_of(activation)
    cube = [
        f"{rate:g} multiply-adds per cycle" + (f": {full.note}" if full.assumed else f" ({full.source})"),
        f"products run in whole blocks of {FRACTAL_ROWS} x {block_k} x {FRACTAL_ROWS} (rows x sum x columns)",
        "products and vector work do not overlap; memory traffic and instructions take no cycles",
    ]
    if activation == "int16":
        rate /= 2
        cube.append("int16 activations run at half the int8 rate: the published figure is for int8 only")
    vector = (f"the vector unit takes {lanes} elements per cycle, whatever the operation: no source gives its rate",)
    return Rates(published, rate, lanes, block_k, FRACTAL_ROWS, tuple(bound), tuple(cube), vector)


def padded_macs(product: Product, block_k: int, block_mn: int = FRACTAL_ROWS) -> int:
    """Return the multiply-adds of a product whose sizes are rounded up to whole blocks.

    Channels are padded for every tap of a kernel; the groups of a convolution share blocks, on whose diagonal they
    lie, as `layout.groups_per_block` has them.
    """
    if not product.macs:
        return 0
    count, channels, columns = product.count, product.k // product.taps, product.n // product.out_taps
    if product.is_grouped:
        shared = groups_per_block(channels, columns, block_k, count)
        count, channels, columns = -(-count // shared), shared * channels, shared * columns
    m, k, n = _up(product.m, block_mn), product.taps * _up(channels, block_k), product.out_taps * _up(columns, block_mn)
    return count * m * k * n


def _up(size: int, block: int) -> int:
    return -(-size // block) * block


def layer_cost(work: NodeWork, rates: Rates) -> LayerCost:
    """Return the cycles of a node; of control flow, those of its subgraph times its runs.

    Raises:
        ModelError: the node's work is not known.
    """
    if work.macs is None or work.vector_ops is None or work.moves is None:
        raise ModelError("its work depends on shapes that only a run can tell", f"node {work.node!r} ({work.op_type})")
    assumptions = [*work.assumptions, *rates.bound_assumptions]
    if work.inner:
        inner = [layer_cost(one, rates) for one in work.inner]
        padded, cube, vector = (
            work.runs * sum(figures)
            for figures in zip(*((one.padded_macs, one.cube_cycles, one.vector_cycles) for one in inner), strict=True)
        )
        assumptions += [text for one in inner for text in one.assumptions]
    else:
        padded = sum(padded_macs(product, rates.block_k, rates.block_mn) for product in work.products)
        cube = math.ceil(padded / rates.macs_per_cycle)
        vector = math.ceil(work.vector_ops / rates.lanes) + math.ceil(work.moves / rates.lanes)
        assumptions += rates.cube_assumptions if cube else ()
        assumptions += rates.vector_assumptions if vector else ()
    return LayerCost(
        work.node,
        work.op_type,
        work.macs,
        padded,
        math.ceil(work.macs / rates.published_macs_per_cycle),
        cube + vector,
        cube,
        vector,
        tuple(dict.fromkeys(assumptions)),
    )


def model_cost(work: Work, rates: Rates) -> ModelCost:
    """Return the cycles of a model; nodes whose work is not known are named and left out of the sums."""
    layers = tuple(layer_cost(one, rates) for one in work.nodes if one.node not in work.unknown)
    assumptions = (*work.assumptions, *(text for layer in layers for text in layer.assumptions))
    return ModelCost(
        sum(layer.macs for layer in layers),
        sum(layer.cycles_lower_bound for layer in layers),
        sum(layer.cycles_estimate for layer in layers),
        layers,
        work.unknown,
        tuple(dict.fromkeys(assumptions)),
    )


def latency_ms(cycles: int, clock_mhz: float) -> float:
    """Return milliseconds: `cycles / (clock_mhz * 1000)`.

    Raises:
        BadArgument: a clock that is not above 0.
    """
    if not clock_mhz > 0:
        raise BadArgument(f"clock_mhz is {clock_mhz}; it must be above 0")
    return cycles / (clock_mhz * 1000)
