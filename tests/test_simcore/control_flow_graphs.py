"""Models with an If and with a Loop, for the tests of work and of live ranges."""

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from simcore.graph import Graph
from tests.test_simcore.graphs import graph

node = helper.make_node


def _branch(name: str, columns: int) -> Any:
    data = [helper.make_tensor(f"w_{name}", TensorProto.FLOAT, (3, columns), [1.0] * 3 * columns)]
    nodes = [
        node("MatMul", ["x", f"w_{name}"], [f"p_{name}"], name="product"),
        node("ReduceSum", [f"p_{name}"], [f"y_{name}"]),
    ]
    return helper.make_graph(
        nodes, name, [], [helper.make_tensor_value_info(f"y_{name}", TensorProto.FLOAT, None)], data
    )


def if_graph(**constants: np.ndarray) -> Graph:
    """Return y = sum(x w) over the last axis [2, 3] by [3, 4] if c, else [3, 7]; c is an input unless it is given."""
    nodes = [node("If", ["c"], ["y"], name="choice", then_branch=_branch("small", 4), else_branch=_branch("large", 7))]
    inputs = {"x": (2, 3)} if constants else {"c": ("b", ()), "x": (2, 3)}
    return graph(nodes, inputs, ["y"], constants)


def loop_graph(trips: np.ndarray | None) -> Graph:
    """Return y = x w^n, x [2, 3], w [3, 3]; n is an input unless it is given."""
    body = helper.make_graph(
        [node("MatMul", ["state", "w"], ["next"]), node("Identity", ["go"], ["on"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, ()),
            helper.make_tensor_value_info("go", TensorProto.BOOL, ()),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, None),
        ],
        [helper.make_tensor_value_info(n, t, None) for n, t in (("on", TensorProto.BOOL), ("next", TensorProto.FLOAT))],
    )
    nodes = [node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)]
    inputs: dict[str, Any] = {"x": (2, 3)} | ({"n": ("i", ())} if trips is None else {})
    return graph(nodes, inputs, ["y"], {"w": np.ones((3, 3), np.float32)} | ({} if trips is None else {"n": trips}))
