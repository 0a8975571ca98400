"""Graphs as ONNX files: the same graph comes back, to the bit; nothing is ever half written."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.backend.test.loader import load_model_tests

from simcore.errors import ModelError, SimError
from simcore.execute import run
from simcore.graph import Graph, Node, ValueInfo
from simcore.load_onnx import load_onnx, load_onnx_bytes
from simcore.save_onnx import at_opset, read_metadata, save_onnx, to_model
from tests import real_models
from tests.test_simcore.graphs import graph as small_graph

FLOATS = ["float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool", "int4", "uint4"]


def same(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        is_text = a.dtype.kind == "O"
        bits = a.tolist() == b.tolist() if is_text else a.tobytes() == b.tobytes()
        return a.dtype == b.dtype and a.shape == b.shape and bits
    return type(a) is type(b) and a == b


def assert_same(a: Graph, b: Graph) -> None:
    assert (a.inputs, a.outputs, dict(a.missing)) == (b.inputs, b.outputs, dict(b.missing))
    assert list(a.initializers) == list(b.initializers)
    assert all(same(a.initializers[name], b.initializers[name]) for name in a.initializers)
    assert len(a.nodes) == len(b.nodes)
    for one, other in zip(a.nodes, b.nodes, strict=True):
        assert (one.name, one.op_type, one.domain, one.inputs, one.outputs) == (
            other.name, other.op_type, other.domain, other.inputs, other.outputs,
        )  # fmt: skip
        assert one.attributes.keys() == other.attributes.keys()
        assert all(same(one.attributes[name], other.attributes[name]) for name in one.attributes)
        assert one.subgraphs.keys() == other.subgraphs.keys()
        for name, body in one.subgraphs.items():
            assert_same(body, other.subgraphs[name])


def constant_graph(value: np.ndarray) -> Graph:
    info = ValueInfo("y", value.dtype, tuple(size or None for size in value.shape))
    node = Node("node", "Identity", "", ("c",), ("y",))
    return Graph("test", (node,), (), (info,), {"c": value}, {"": 21})


@pytest.mark.parametrize("external_over", [1 << 40, 0], ids=["inside", "beside"])
@pytest.mark.parametrize("count", [0, 1, 5, 1200])
@pytest.mark.parametrize("kind", [*FLOATS, *INTEGERS])
def test_every_element_type_comes_back(kind: str, count: int, external_over: int, tmp_path: Path) -> None:
    dtype = np.dtype(getattr(ml_dtypes, kind)) if hasattr(ml_dtypes, kind) else np.dtype(kind)
    codes = np.random.default_rng(1).integers(0, 8, count)
    original = constant_graph(codes.astype(np.float32).astype(dtype))

    files = save_onnx(original, tmp_path / "m.onnx", external_over=external_over)

    assert_same(load_onnx(files[0]), original)


def test_text_comes_back(tmp_path: Path) -> None:
    original = constant_graph(np.array([["a", ""], ["\u4e2d", "b c"]], object))

    save_onnx(original, tmp_path / "m.onnx")

    assert_same(load_onnx(tmp_path / "m.onnx"), original)


@pytest.mark.parametrize(
    "value",
    [3, -1, 2.5, "text", (1, 2), (), (0.5, 1.0), ("a", "b"), np.arange(3, dtype=np.int32)],
    ids=lambda value: type(value).__name__ + str(np.size(value)),
)
def test_every_kind_of_attribute_comes_back(value: object, tmp_path: Path) -> None:
    node = Node("node", "Any", "my.domain", ("x",), ("y",), {"value": value})  # type: ignore[dict-item]
    info = ValueInfo("x", np.dtype(np.float32), ("n", None, 3))
    original = Graph("test", (node,), (info,), (ValueInfo("y", np.dtype(np.int8), ()),), {}, {"my.domain": 2, "": 15})

    save_onnx(original, tmp_path / "m.onnx")

    assert_same(load_onnx(tmp_path / "m.onnx"), original)


def test_subgraphs_come_back(tmp_path: Path) -> None:
    then = helper.make_graph(
        [helper.make_node("Add", ["x", "one"], ["t"])], "then", [], [helper.make_tensor_value_info("t", 1, [2])],
        [numpy_helper.from_array(np.ones(2, np.float32), "one")],
    )  # fmt: skip
    other = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["e"])], "else", [], [helper.make_tensor_value_info("e", 1, [2])]
    )
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    original = small_graph([node], {"c": ("b", ()), "x": (2,)}, ["y"])
    feeds = {"c": np.array(True), "x": np.array([1, 2], np.float32)}

    save_onnx(original, tmp_path / "m.onnx")

    again = load_onnx(tmp_path / "m.onnx")
    assert again.nodes[0].subgraphs.keys() == {"then_branch", "else_branch"}
    assert np.array_equal(run(again, feeds)["y"], run(original, feeds)["y"])


def test_metadata_travels(tmp_path: Path) -> None:
    original = constant_graph(np.zeros(2, np.float32))

    save_onnx(original, tmp_path / "m.onnx", metadata={"character": "a\nb"})

    assert read_metadata(tmp_path / "m.onnx") == {"character": "a\nb"}


def test_weights_go_beside_the_model_where_they_are_many(tmp_path: Path) -> None:
    original = constant_graph(np.arange(4096, dtype=np.float32))

    files = save_onnx(original, tmp_path / "m.onnx", external_over=16383)

    assert files == (tmp_path / "m.onnx", tmp_path / "m.onnx.data")
    assert files[1].stat().st_size == 16384 and files[0].stat().st_size < 1000
    assert save_onnx(original, tmp_path / "n.onnx", external_over=16384) == (tmp_path / "n.onnx",)


def test_a_model_is_saved_over_itself_with_its_weights_mapped(tmp_path: Path) -> None:
    original = constant_graph(np.arange(4096, dtype=np.float32))
    save_onnx(original, tmp_path / "m.onnx", external_over=0)
    mapped = load_onnx(tmp_path / "m.onnx")

    save_onnx(mapped, tmp_path / "m.onnx", external_over=0)

    assert_same(load_onnx(tmp_path / "m.onnx"), original)


def test_a_model_that_the_checker_refuses_leaves_nothing_and_keeps_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"old")
    node = Node("node", "Conv", "", ("c",), ("y",))
    wrong = Graph("t", (node,), (), (ValueInfo("y", np.dtype(np.float32), ()),), {"c": np.zeros(2)}, {"": 15})

    with pytest.raises(ModelError, match=r"onnx\.checker refuses"):
        save_onnx(wrong, tmp_path / "m.onnx", external_over=0)

    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]
    assert (tmp_path / "m.onnx").read_bytes() == b"old"


def test_missing_weights_are_named(tmp_path: Path) -> None:
    missing = {"w": ValueInfo("w", np.dtype(np.float32), (2,))}
    graph = Graph("t", (), (), (), {}, {"": 15}, missing)

    with pytest.raises(ModelError, match="'w'"):
        save_onnx(graph, tmp_path / "m.onnx")

    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be written"):
        save_onnx(constant_graph(np.zeros(1, np.float32)), tmp_path / "no" / "m.onnx")


@pytest.mark.parametrize("data", [None, b"\xff\xff\xff"], ids=["no_file", "no_model"])
def test_metadata_of_a_file_that_is_no_model_is_an_error(data: bytes | None, tmp_path: Path) -> None:
    if data is not None:
        (tmp_path / "m.onnx").write_bytes(data)

    with pytest.raises(ModelError):
        read_metadata(tmp_path / "m.onnx")


def test_an_old_opset_is_raised() -> None:
    node = helper.make_node("Clip", ["x"], ["y"], min=0.0, max=1.0)
    old = small_graph([node], {"x": (3,)}, ["y"], opset=10)
    feeds = {"x": np.array([-1, 0.5, 2], np.float32)}

    raised = at_opset(old, 13)

    assert raised.opset[""] == 13
    assert np.array_equal(run(raised, feeds)["y"], [0, 0.5, 1])


def _node_cases() -> Iterator[tuple[str, onnx.ModelProto]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    yield from ((case.name, case.model) for case in cases)


def test_every_node_case_of_onnx_comes_back() -> None:
    done = 0
    for name, model in _node_cases():
        try:
            original = load_onnx_bytes(model.SerializeToString())
        except SimError:
            continue
        again = load_onnx_bytes(to_model(original).SerializeToString())
        try:
            assert_same(again, original)
        except AssertionError as error:
            raise AssertionError(name) from error
        done += 1
    assert done > 1000


@pytest.mark.parametrize("external_over", [1 << 40, 1000], ids=["inside", "beside"])
@pytest.mark.parametrize("model", real_models.MODELS, ids=lambda model: model.name)
def test_a_real_model_comes_back(model: real_models.Model, external_over: int, tmp_path: Path) -> None:
    original = load_onnx(real_models.required(model))

    save_onnx(original, tmp_path / "m.onnx", external_over=external_over)

    assert_same(load_onnx(tmp_path / "m.onnx"), original)
