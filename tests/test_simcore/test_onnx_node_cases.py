"""The node cases of the onnx package, run in process, for every operator of the table, with the tolerances they come with."""

import functools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from simcore.errors import SimError
from simcore.execute import run
from simcore.load_onnx import OLDEST_OPSET, load_onnx_bytes
from simcore.ops.table import OPERATORS

_ONE_SUM = (
    "expected values add up products in the narrow type; here in float32, rounded once: one unit in the last place"
)
_RANDOM = "drops at random; the specification fixes no generator"
_ALIGNED = "expected values divide by the unrounded output size; here by the size itself, as ONNX Runtime does"

#: Cases that do not give the expected values, and why.
EXCEPTIONS = {
    "test_attention_3d_causal_bf16_expanded": _ONE_SUM,
    "test_attention_4d_attn_mask_causal_bf16_expanded": _ONE_SUM,
    "test_attention_4d_causal_bf16_expanded": _ONE_SUM,
    "test_attention_4d_causal_fp16_expanded": _ONE_SUM,
    "test_attention_4d_causal_padded_kv_bf16_expanded": _ONE_SUM,
    "test_attention_4d_padded_kv_bf16_expanded": _ONE_SUM,
    "test_resize_downsample_scales_cubic_align_corners": _ALIGNED,
    "test_resize_downsample_scales_linear_align_corners": _ALIGNED,
    "test_training_dropout": _RANDOM,
    "test_training_dropout_default": _RANDOM,
    "test_training_dropout_default_mask": _RANDOM,
    "test_training_dropout_mask": _RANDOM,
}


def _op_types(graph: Any) -> Iterator[tuple[str, str]]:
    for node in graph.node:
        yield ("" if node.domain == "ai.onnx" else node.domain, node.op_type)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _op_types(attribute.g)


@functools.cache
def _cases() -> dict[str, Any]:
    """Return the cases whose operators are all in the table and whose operator set is 7 or newer, by name."""
    loader = pytest.importorskip("onnx.backend.test.loader")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = loader.load_model_tests(kind="node")
    return {
        case.name: case
        for case in cases
        if set(_op_types(case.model.graph)) <= OPERATORS.keys()
        and all(entry.version >= OLDEST_OPSET for entry in case.model.opset_import if entry.domain == "")
    }


def _same(got: Any, want: Any, rtol: float, atol: float) -> None:
    if isinstance(want, list):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            _same(one, other, rtol, atol)
        return
    if want is None:
        assert got is None
        return
    want = np.asarray(want)
    is_text = want.dtype.kind in "OUT"
    assert got.shape == want.shape and (is_text or got.dtype == want.dtype)
    if is_text:
        assert got.tolist() == want.tolist()
    elif want.dtype.kind in "biu":
        assert_array_equal(got, want)
    elif want.dtype.kind == "c":
        assert_allclose(got, want, rtol, atol)
    else:
        with np.errstate(all="ignore"):
            assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol, atol)


def _array(value: Any) -> Any:
    """Return a value of a case as the executor takes it: some cases hold their tensors as messages."""
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _failure(case: Any) -> str | None:
    """Run a case; return what is wrong with it."""
    try:
        graph = load_onnx_bytes(case.model.SerializeToString())
        for inputs, outputs in case.data_sets:
            names = [value.name for value in case.model.graph.input]
            got = run(graph, dict(zip(names, map(_array, inputs), strict=True)))
            for one, want in zip(got.values(), outputs, strict=True):
                _same(one, _array(want), case.rtol, case.atol)
    except (SimError, AssertionError) as error:
        return f"{type(error).__name__}: {error!s:.200}"
    return None


def _first_op(case: Any) -> str:
    return str(case.model.graph.node[0].op_type)


@pytest.mark.parametrize("op_type", sorted({op_type for domain, op_type in OPERATORS if not domain}))
def test_cases_give_the_expected_values(op_type: str) -> None:
    cases = [case for name, case in _cases().items() if _first_op(case) == op_type and name not in EXCEPTIONS]
    failures = {case.name: failure for case in cases if (failure := _failure(case))}

    assert failures == {}


@pytest.mark.parametrize("name", sorted(EXCEPTIONS))
def test_an_exception_is_still_one(name: str) -> None:
    assert _failure(_cases()[name]) is not None


def test_exceptions_are_at_most_one_percent() -> None:
    assert len(_cases()) > 1400
    assert len(EXCEPTIONS) <= len(_cases()) / 100
