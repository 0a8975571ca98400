"""onnx's own node test cases within the float operators, collected in process."""

import warnings

import numpy as np
import onnx
import pytest
from onnx.backend.test.loader import load_model_tests

from tests.test_simcore.operators import FUNCTIONS, assert_near, run_node

#: Case name -> why it is not computed.
EXCEPTIONS = {}


def _cases():
    with warnings.catch_warnings():
        # The cases are computed on loading, and some overflow on purpose.
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    return [c for c in cases if len(c.model.graph.node) == 1 and c.model.graph.node[0].op_type in FUNCTIONS]


CASES = _cases()


def _array(value):
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return np.asarray(value)


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in CASES])
def test_node_case_gives_the_specified_output(case):
    if case.name in EXCEPTIONS:
        pytest.skip(EXCEPTIONS[case.name])
    (node,) = case.model.graph.node
    opset = next(o.version for o in case.model.opset_import if o.domain in ("", "ai.onnx"))
    for inputs, outputs in case.data_sets:
        feeds = dict(zip((i.name for i in case.model.graph.input), map(_array, inputs), strict=True))

        results = run_node(node, opset, [feeds.get(name) for name in node.input])

        wanted = dict(zip((o.name for o in case.model.graph.output), map(_array, outputs), strict=True))
        by_name = dict(zip(node.output, results, strict=False))
        for name, expected in wanted.items():
            assert_near(by_name[name], expected, rtol=max(case.rtol, 1e-5), atol=max(case.atol, 1e-7))


def test_enough_cases_are_collected():
    assert len(CASES) > 480
