"""Cycles and latency: hand-derived figures, and every assumption told."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from onnx import helper

from simcore.cost import Rates, latency_ms, layer_cost, model_cost, padded_macs, rates
from simcore.device import load_device
from simcore.errors import BadArgument, ModelError
from simcore.layout import fractal_z_shape
from simcore.macs import NodeWork, Product, graph_work
from simcore.shapes import infer
from tests.test_simcore.control_flow_graphs import loop_graph
from tests.test_simcore.graphs import graph

NANO = load_device("nano-035a")
node = helper.make_node


def _work(nodes: Any, x: tuple[int, ...], **constants: np.ndarray) -> Any:
    g = graph(nodes, {"x": x}, ["y"], constants)
    return graph_work(g, infer(g))


PADDED = {
    "whole blocks": (Product(1, 32, 64, 48), 32 * 64 * 48),
    "every size rounded up": (Product(2, 17, 33, 1), 2 * 32 * 64 * 16),
    "one row fills a block of rows": (Product(1, 1, 128, 512), 16 * 128 * 512),
    "channels padded for every tap": (Product(1, 16, 9 * 3, 16, 9), 16 * 9 * 32 * 16),
    "taps of a transposed convolution": (Product(1, 16, 32, 4 * 3, 1, 4), 16 * 32 * 4 * 16),
    "empty": (Product(1, 0, 32, 16), 0),
}


@pytest.mark.parametrize("name", PADDED)
def test_products_are_padded_to_whole_blocks(name: str) -> None:
    product, expected = PADDED[name]

    assert padded_macs(product, 32) == expected


@pytest.mark.parametrize(("group", "cin", "cout"), [(64, 1, 1), (4, 8, 8), (2, 3, 5), (3, 32, 16), (7, 1, 2)])
@pytest.mark.parametrize("block_k", [16, 32])
def test_groups_are_padded_as_their_weights_are_stored(group: int, cin: int, cout: int, block_k: int) -> None:
    """Each stored weight, padding included, meets every padded row once."""
    product = Product(group, 20, cin * 9, cout, 9, is_grouped=True)

    stored = np.prod(fractal_z_shape((group * cout, cin, 3, 3), block_k, group))

    assert padded_macs(product, block_k) == 32 * stored


def test_a_convolution_costs_what_its_parts_cost() -> None:
    nodes = [node("Conv", ["x", "w", "b"], ["y"], pads=[1, 1, 1, 1])]
    work = _work(nodes, (1, 32, 8, 8), w=np.ones((16, 32, 3, 3), np.float32), b=np.ones(16, np.float32))

    cost = layer_cost(work.nodes[0], rates(NANO))

    macs = 64 * 9 * 32 * 16
    assert (cost.macs, cost.padded_macs) == (macs, macs)
    assert cost.cycles_lower_bound == -(-macs // 125)
    assert (cost.cube_cycles, cost.vector_cycles) == (macs // 128, 64 * 16 // 16)
    assert cost.cycles_estimate == cost.cube_cycles + cost.vector_cycles


def test_int16_activations_have_smaller_blocks_and_half_the_rate() -> None:
    work = NodeWork("n", "MatMul", 16 * 16 * 16, 0, 0, (Product(1, 16, 16, 16),))

    by_type = {kind: layer_cost(work, rates(NANO, kind)) for kind in ("int8", "int16")}

    assert (by_type["int8"].padded_macs, by_type["int16"].padded_macs) == (16 * 32 * 16, 16 * 16 * 16)
    assert by_type["int8"].cube_cycles == by_type["int16"].cube_cycles == 64
    assert any("half the int8 rate" in text for text in by_type["int16"].assumptions)
    assert not any("half the int8 rate" in text for text in by_type["int8"].assumptions)


def test_vector_work_is_in_the_estimate_and_not_in_the_bound() -> None:
    cost = layer_cost(_work([node("Tanh", ["x"], ["y"])], (1, 100)).nodes[0], rates(NANO, lanes=8))

    assert (cost.cycles_lower_bound, cost.cycles_estimate) == (0, 13)
    assert any("8 elements per cycle" in text for text in cost.assumptions)
    assert any("take no cycles" in text for text in cost.assumptions)


def test_a_loop_costs_its_body_times_its_runs() -> None:
    g = loop_graph(np.array(5))
    work = graph_work(g, infer(g))

    cost = layer_cost(work.nodes[0], rates(NANO))

    assert cost.macs == 5 * 2 * 3 * 3
    assert cost.padded_macs == 5 * 16 * 32 * 16
    assert any("trip count" in text for text in cost.assumptions)


def test_a_model_costs_the_sum_of_its_layers_and_names_what_is_unknown() -> None:
    work = _work(
        [node("MatMul", ["x", "w"], ["a"]), node("Relu", ["a"], ["y"])], (4, 32), w=np.ones((32, 16), np.float32)
    )
    hidden = NodeWork("hidden", "Loop", None, None, None)

    cost = model_cost(replace(work, nodes=(*work.nodes, hidden), unknown=("hidden",)), rates(NANO))

    assert cost.cycles_estimate == sum(layer.cycles_estimate for layer in cost.layers)
    assert (len(cost.layers), cost.unknown) == (2, ("hidden",))
    assert len(set(cost.assumptions)) == len(cost.assumptions) > 0


@pytest.mark.parametrize("activation", ["int8", "int16"])
def test_the_estimate_is_not_below_the_work_at_the_assumed_rate(activation: str) -> None:
    speed = rates(NANO, activation)
    rng = np.random.default_rng(5)
    for count, m, k, n in rng.integers(1, 70, (200, 4)).tolist():
        product = Product(count, m, k, n)
        cost = layer_cost(NodeWork("n", "MatMul", product.macs, 0, 0, (product,)), speed)
        assert cost.padded_macs >= cost.macs
        assert cost.cycles_estimate >= product.macs / speed.macs_per_cycle


def test_latency_is_cycles_over_the_clock() -> None:
    assert latency_ms(64_000, 64) == 1.0
    assert latency_ms(64_000, 200) == pytest.approx(0.32)


def test_a_device_without_figures_is_refused_and_rates_by_hand_serve_it() -> None:
    with pytest.raises(BadArgument, match="int8_ops_per_cycle"):
        rates(load_device("j6"))

    own = Rates(1000, 500, 64, 32, 16, ("by hand",), ("by hand",), ("by hand",))
    assert layer_cost(NodeWork("n", "MatMul", 8192, 0, 0, (Product(1, 16, 32, 16),)), own).cycles_estimate == 17


@pytest.mark.parametrize(
    "call",
    [
        lambda: rates(NANO, "int4"),
        lambda: rates(NANO, lanes=0),
        lambda: latency_ms(1, 0),
        lambda: latency_ms(1, float("nan")),
    ],
    ids=["unknown activation", "no lanes", "clock 0", "clock not a number"],
)
def test_what_cannot_be_is_refused(call) -> None:
    with pytest.raises(BadArgument):
        call()


def test_unknown_work_has_no_cost() -> None:
    with pytest.raises(ModelError, match="only a run can tell"):
        layer_cost(NodeWork("n", "Loop", None, None, None), rates(NANO))
