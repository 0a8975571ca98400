"""The loader: what it reads, and that bad models end in one sentence, never in a hang or another error."""

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper, numpy_helper

from simcore import shapes
from simcore.errors import ModelError, SimError, UnsupportedOp
from simcore.execute import run
from simcore.load_onnx import load_onnx, load_onnx_bytes
from simcore.plan import unsupported
from tests.test_simcore.graphs import graph, model

node = helper.make_node
ONES = np.ones(2, np.float32)


def load(proto: ModelProto) -> None:
    load_onnx_bytes(proto.SerializeToString())


def changed(change: Callable[[ModelProto], object]) -> ModelProto:
    """Return a good model, y = relu(x + w), after `change`."""
    nodes = [node("Add", ["x", "w"], ["a"], name="add"), node("Relu", ["a"], ["y"], name="relu")]
    proto = model(nodes, {"x": [2]}, ["y"], {"w": ONES})
    change(proto)
    return proto


def test_a_model_becomes_plain_values() -> None:
    g = load_onnx_bytes(changed(lambda m: None).SerializeToString())

    assert [(n.name, n.op_type, n.domain, n.inputs, n.outputs) for n in g.nodes] == [
        ("add", "Add", "", ("x", "w"), ("a",)),
        ("relu", "Relu", "", ("a",), ("y",)),
    ]
    assert [(v.name, v.dtype, v.shape) for v in g.inputs] == [("x", np.float32, (2,))]
    assert (g.outputs[0].name, dict(g.opset), g.initializers["w"].tolist()) == ("y", {"": 18}, [1, 1])
    assert not g.initializers["w"].flags.writeable


def test_nodes_without_names_get_unique_ones() -> None:
    nodes = [
        node("Neg", ["x"], ["a"]),
        node("Neg", ["a"], ["b"], name="Neg_0"),
        node("Neg", ["b"], ["c"], name="Neg_0"),
    ]

    assert [n.name for n in graph(nodes, {"x": [2]}, ["c"]).nodes] == ["Neg_1", "Neg_0", "Neg_0_0"]


def test_sizes_that_are_not_numbers_are_names_or_unknown() -> None:
    proto = model([node("Neg", ["x"], ["y"])], {"x": ["n", "?", None, -1, 0, 3]}, ["y"])

    assert load_onnx_bytes(proto.SerializeToString()).inputs[0].shape == ("n", None, None, None, None, 3)


def test_functions_of_the_model_are_inlined() -> None:
    proto = model([node("Twice", ["x"], ["y"], domain="mine")], {"x": [2]}, ["y"], mine=1)
    body = [node("Add", ["v", "v"], ["r"])]
    proto.functions.append(helper.make_function("mine", "Twice", ["v"], ["r"], body, [helper.make_opsetid("", 18)]))

    assert run(load_onnx_bytes(proto.SerializeToString()), {"x": ONES})["y"].tolist() == [2, 2]


def _recursive() -> ModelProto:
    proto = model([node("F", ["x"], ["y"], domain="mine")], {"x": [2]}, ["y"], mine=1)
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("mine", 1)]
    for name, other in (("F", "G"), ("G", "F")):
        proto.functions.append(
            helper.make_function("mine", name, ["v"], ["r"], [node(other, ["v"], ["r"], domain="mine")], imports)
        )
    return proto


def _explosive() -> ModelProto:
    proto = model([node("F60", ["x"], ["y"], domain="mine")], {"x": [2]}, ["y"], mine=1)
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("mine", 1)]
    proto.functions.append(helper.make_function("mine", "F0", ["v"], ["r"], [node("Neg", ["v"], ["r"])], imports))
    for i in range(60):
        body = [node(f"F{i}", ["v"], ["t"], domain="mine"), node(f"F{i}", ["t"], ["r"], domain="mine")]
        proto.functions.append(helper.make_function("mine", f"F{i + 1}", ["v"], ["r"], body, imports))
    return proto


def _tensor(m: ModelProto, **fields: object) -> None:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT)
    for name, value in fields.items():
        if isinstance(value, list):
            getattr(tensor, name).extend(value)
        else:
            setattr(tensor, name, value)
    m.graph.initializer[0].CopyFrom(tensor)


def _sparse(m: ModelProto) -> None:
    del m.graph.initializer[:]
    values = numpy_helper.from_array(np.float32([1]), "w")
    sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(np.int64([0])), [1 << 20, 1 << 20])
    m.graph.sparse_initializer.append(sparse)


BAD = {
    "empty": (lambda m: m.Clear(), "file: holds no graph"),
    "no graph": (lambda m: m.ClearField("graph"), "file: holds no graph"),
    "no opset": (lambda m: m.ClearField("opset_import"), "file: no opset_import"),
    "opset 6": (lambda m: setattr(m.opset_import[0], "version", 6), "file: opset 6 of ai.onnx is outside 7"),
    "opset 99": (lambda m: setattr(m.opset_import[0], "version", 99), "file: opset 99"),
    "cyclic": (lambda m: m.graph.node[0].input.__setitem__(1, "y"), "the graph is cyclic: '(add|relu)' -> "),
    "own output": (lambda m: m.graph.node[0].input.__setitem__(1, "a"), "node 'add' .*cyclic"),
    "missing input": (lambda m: m.graph.node[1].input.__setitem__(0, "q"), r"node 'relu' \(Relu\): input 'q' is produced by no node"),
    "output twice": (lambda m: m.graph.node[1].output.__setitem__(0, "a"), "node 'relu' .*'a' is already produced by node 'add'"),
    "output is input": (lambda m: m.graph.node[0].output.__setitem__(0, "x"), "node 'add' .*'x' is already produced by an input"),
    "no such output": (lambda m: setattr(m.graph.output[0], "name", "q"), "output 'q': is produced by no node"),
    "input twice": (lambda m: m.graph.input.append(m.graph.input[0]), "input 'x': is there twice"),
    "initializer twice": (lambda m: m.graph.initializer.append(m.graph.initializer[0]), "initializer 'w': is there twice"),
    "no op type": (lambda m: m.graph.node[0].ClearField("op_type"), "node .*has no op_type"),
    "unknown domain": (lambda m: setattr(m.graph.node[0], "domain", "my.ops"), "node 'add' .*'my.ops' has no opset_import"),
    "too few inputs": (lambda m: m.graph.node[0].input.pop(), r"node 'add' \(Add\): input B \(number 1\) is missing"),
    "too many inputs": (lambda m: m.graph.node[1].input.append("x"), "node 'relu' .*2 inputs; the operator takes at most 1"),
    "too many outputs": (lambda m: m.graph.node[1].output.append("z"), "node 'relu' .*2 outputs"),
    "two types": (
        lambda m: m.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.int64([1, 1]), "w")),
        r"node 'add' .*'x' \(float32\) and 'w' \(int64\) must have one element type; insert a Cast",
    ),
    "type not taken": (
        lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", TensorProto.BOOL),
        "node 'add' .*input 'x' is bool; A takes ",
    ),
    "output type": (
        lambda m: m.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.INT8, [2])),
        "output 'y': declared int8, but it is float32",
    ),
    "type number": (lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", 77), "input 'x': element type number 77"),
    "tensor type number": (lambda m: setattr(m.graph.initializer[0], "data_type", 77), "initializer 'w': element type number 77"),
    "unknown attribute": (
        lambda m: m.graph.node[0].attribute.append(helper.make_attribute("speed", 1)),
        "node 'add' .*has no attribute 'speed'; known: none",
    ),
    "cut off data": (lambda m: _tensor(m, dims=[2], raw_data=b"1234567"), "initializer 'w': .*takes 8 bytes, the file holds 7"),
    "dims 2^40": (lambda m: _tensor(m, dims=[1 << 40], raw_data=b"1234"), "initializer 'w': shape .1099511627776."),
    "dims 2^62 squared": (lambda m: _tensor(m, dims=[1 << 62, 1 << 62]), "initializer 'w': shape"),
    "negative dims": (lambda m: _tensor(m, dims=[-2], float_data=[1.0]), "initializer 'w': shape .-2. has a negative size"),
    "wrong field": (lambda m: _tensor(m, dims=[2], int64_data=[1, 1]), "initializer 'w': .*takes 2 values, the file holds 0"),
    "sparse 2^40": (_sparse, "initializer 'w': sparse shape .* is too large"),
    "recursive function": (lambda m: m.CopyFrom(_recursive()), "function 'F': calls itself"),
    "exploding functions": (lambda m: m.CopyFrom(_explosive()), "file: more than 1000000 nodes"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_model_is_one_sentence_with_node_and_reason(name: str) -> None:
    change, message = BAD[name]

    with pytest.raises(ModelError, match=message) as caught:
        load(changed(change))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("attribute", "message"),
    [("axis", "attribute 'axis' must be of kind int"), (None, "attribute axis is required")],
    ids=["wrong kind", "missing"],
)
def test_attributes_are_checked(attribute: str | None, message: str) -> None:
    attributes = {attribute: "first"} if attribute else {}

    with pytest.raises(ModelError, match=f"node 'c' .*{message}"):
        load(model([node("Concat", ["x", "x"], ["y"], name="c", **attributes)], {"x": [2]}, ["y"]))


def test_an_unknown_operator_loads_and_is_named() -> None:
    g = graph([node("Warp", ["x"], ["y"], name="w1", domain="my.ops")], {"x": [2]}, ["y"], my_ops=1)

    assert [(n.name, reason) for n, reason in unsupported(g)] == [("w1", "this operator is not computed here")]
    with pytest.raises(UnsupportedOp, match=r"node 'w1' \(my.ops::Warp\)"):
        run(g, {"x": ONES})


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00", b"PK\x03\x04 not a model", b"\xff" * 64, np.random.default_rng(0).bytes(64)],
    ids=["empty", "zero", "zip", "ones", "noise"],
)
def test_other_files_are_not_models(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(content)

    with pytest.raises(ModelError):
        load_onnx(tmp_path / "m.onnx")


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.onnx", tmp_path):
        with pytest.raises(ModelError, match=path.name):
            load_onnx(path)


def _external(folder: Path, location: str, **entries: object) -> Path:
    def change(m: ModelProto) -> None:
        _tensor(m, dims=[2], data_location=TensorProto.EXTERNAL)
        for key, value in {"location": location, **entries}.items():
            m.graph.initializer[0].external_data.add(key=key, value=str(value))

    path = folder / "m.onnx"
    path.write_bytes(changed(change).SerializeToString())
    return path


def test_external_data_is_mapped_read_only_at_any_offset(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(b"x" * 5003 + struct.pack("<2f", 3, 4))

    g = load_onnx(_external(tmp_path, "w.bin", offset=5003, length=8))

    assert g.initializers["w"].tolist() == [3, 4] and not g.initializers["w"].flags.writeable
    assert not g.initializers["w"].flags.owndata
    assert run(g, {"x": ONES})["y"].tolist() == [4, 5]


def test_missing_external_data_leaves_shapes_known_and_a_run_impossible(tmp_path: Path) -> None:
    g = load_onnx(_external(tmp_path, "w.bin"))

    assert (g.missing["w"].shape, g.missing["w"].dtype) == ((2,), np.float32)
    assert shapes.infer(g).tensors["y"].shape == (2,)
    with pytest.raises(ModelError, match="1 weights have no data, the first is 'w'; put the external data file"):
        run(g, {"x": ONES})
    assert run(g, {"x": ONES, "w": ONES})["y"].tolist() == [2, 2]


@pytest.mark.parametrize(
    "location", ["../secret.bin", "/etc/hostname", "a/../../secret.bin", "link.bin", "linked/secret.bin"]
)
def test_external_data_outside_the_folder_is_never_read(location: str, tmp_path: Path) -> None:
    inside = tmp_path / "model"
    inside.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(8))
    (inside / "link.bin").symlink_to(tmp_path / "secret.bin")
    (inside / "linked").symlink_to(tmp_path, target_is_directory=True)

    with pytest.raises(ModelError, match=r"initializer 'w': external data .* outside the model's folder"):
        load_onnx(_external(inside, location))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"offset": 4}, "has 8 bytes, the tensor needs 12; it is cut off"),
        ({"offset": -8}, "8 bytes at -8"),
        ({"length": 4}, "4 bytes at 0, but the shape takes 8"),
        ({"offset": "ten"}, "must be integers"),
        ({"offset": 1 << 70}, "cut off"),
        ({"location": ""}, "without a file name"),
        ({"location": "."}, "is not a file"),
        ({"location": "a\0b"}, "without a file name"),
    ],
    ids=["short", "negative", "length", "text", "huge", "no name", "folder", "nul"],
)
def test_external_data_that_does_not_fit_is_refused(entries: dict[str, object], message: str, tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(8))

    with pytest.raises(ModelError, match=message):
        load_onnx(_external(tmp_path, **{"location": "w.bin", **entries}))


ARRAYS = [
    np.arange(-3, 3, dtype=dtype) if np.dtype(dtype).kind != "u" else np.arange(6, dtype=dtype)
    for dtype in (
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    )
] + [np.array([True, False]), np.array(["a", "é"], object)]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: str(a.dtype))
@pytest.mark.parametrize("raw", [True, False], ids=["bytes", "numbers"])
def test_every_element_type_is_read_in_both_forms(array: np.ndarray, raw: bool) -> None:
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    tensor = numpy_helper.from_array(array, "w") if raw else helper.make_tensor("w", kind, array.shape, array)
    proto = model([node("Identity", ["w"], ["y"])], {}, ["y"])
    proto.graph.initializer.append(tensor)

    got = load_onnx_bytes(proto.SerializeToString()).initializers["w"]

    assert got.dtype == array.dtype and got.tolist() == array.tolist()


@pytest.mark.parametrize(
    "name", ["INT4", "UINT4", "INT2", "UINT2", "FLOAT4E2M1", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E5M2"]
)
@pytest.mark.parametrize("raw", [True, False], ids=["bytes", "numbers"])
def test_small_types_are_unpacked_as_onnx_does(name: str, raw: bool) -> None:
    kind = TensorProto.DataType.Value(name)
    values = [0, 1, 0, 1, 1] if name.startswith("U") else [0, -1, 1, -2, 1]
    tensor = helper.make_tensor("w", kind, [5], values)
    if raw:
        tensor = numpy_helper.from_array(numpy_helper.to_array(tensor), "w")
    proto = model([node("Identity", ["w"], ["y"])], {}, ["y"])
    proto.graph.initializer.append(tensor)

    got = load_onnx_bytes(proto.SerializeToString()).initializers["w"]

    want = numpy_helper.to_array(tensor)
    assert got.dtype == want.dtype and got.astype(np.float32).tolist() == want.astype(np.float32).tolist()


def test_a_sparse_initializer_is_written_out() -> None:
    def change(m: ModelProto) -> None:
        del m.graph.initializer[:]
        values = numpy_helper.from_array(np.float32([5]), "w")
        m.graph.sparse_initializer.append(
            helper.make_sparse_tensor(values, numpy_helper.from_array(np.int64([1])), [2])
        )

    assert load_onnx_bytes(changed(change).SerializeToString()).initializers["w"].tolist() == [0, 5]


def _subject() -> bytes:
    """Return a model with most features: a branch, tensors in both forms, attributes of every kind."""
    out = helper.make_tensor_value_info("t", TensorProto.FLOAT, None)
    branch = helper.make_graph([node("Neg", ["a"], ["t"])], "branch", [], [out])
    out = helper.make_tensor_value_info("e", TensorProto.FLOAT, None)
    other = helper.make_graph([node("Concat", ["a", "a"], ["e"], axis=0)], "other", [], [out])
    nodes = [
        node("Conv", ["x", "k"], ["f"], pads=[1, 1], auto_pad="NOTSET"),
        node("LeakyRelu", ["f"], ["g"], alpha=0.5),
        node("Reshape", ["g", "shape"], ["a"]),
        node("Constant", [], ["c"], value=numpy_helper.from_array(np.array(True))),
        node("If", ["c"], ["y"], then_branch=branch, else_branch=other),
    ]
    proto = model(nodes, {"x": ["n", 1, 4]}, ["y"], {"k": np.ones((1, 1, 3), np.float32)})
    proto.graph.initializer.append(helper.make_tensor("shape", TensorProto.INT64, [2], [-1, 2]))
    return proto.SerializeToString()


SUBJECT = _subject()


def _only_sim_errors(data: bytes, folder: Path | None = None) -> None:
    try:
        g = load_onnx_bytes(data, folder)
        unsupported(g)
    except SimError as error:
        assert str(error) and "\n" not in str(error)


@pytest.mark.parametrize("length", range(0, len(SUBJECT), 7))
def test_a_truncated_model_is_a_model_error_or_loads(length: int) -> None:
    _only_sim_errors(SUBJECT[:length])


@settings(max_examples=600, deadline=2000, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, len(SUBJECT) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_changed_bytes_give_only_sim_errors(changes: list[tuple[int, int]]) -> None:
    data = bytearray(SUBJECT)
    for at, value in changes:
        data[at] = value

    _only_sim_errors(bytes(data))


@settings(max_examples=300, deadline=2000)
@given(st.integers(0, len(SUBJECT) - 1), st.integers(0, 40), st.binary(max_size=40))
def test_replaced_stretches_give_only_sim_errors(at: int, length: int, new: bytes) -> None:
    _only_sim_errors(SUBJECT[:at] + new + SUBJECT[at + length :])


@settings(max_examples=200, deadline=2000)
@given(st.binary(max_size=300))
def test_arbitrary_bytes_give_only_sim_errors(data: bytes) -> None:
    _only_sim_errors(data)


def _fields(message: object, path: tuple[object, ...] = ()) -> list[tuple[object, str]]:
    found = []
    for descriptor, value in message.ListFields():  # type: ignore[attr-defined]
        found.append((message, descriptor.name))
        if descriptor.message_type is not None:
            for inner in value if hasattr(value, "__len__") else [value]:
                found += _fields(inner)
    return found


@settings(max_examples=400, deadline=2000)
@given(st.data())
def test_changed_fields_give_only_sim_errors(data: st.DataObject) -> None:
    proto = ModelProto.FromString(SUBJECT)
    for _ in range(data.draw(st.integers(1, 3))):
        message, name = data.draw(st.sampled_from(_fields(proto)))
        field = message.DESCRIPTOR.fields_by_name[name]  # type: ignore[attr-defined]
        value = getattr(message, name)
        if data.draw(st.booleans()) or field.message_type is not None:
            message.ClearField(name)  # type: ignore[attr-defined]
            continue
        numbers = st.sampled_from([-1, 0, 1, 2, 7, 30, (1 << 31) - 1])
        new = data.draw(
            numbers
            if isinstance(value, int) or (hasattr(value, "__len__") and len(value) and isinstance(value[0], int))
            else st.sampled_from(["", "a", "x", "y", "é"])
        )
        if isinstance(new, str) and isinstance(value, bytes):
            new = new.encode()
        try:
            if hasattr(value, "append"):
                value.append(new)
            else:
                setattr(message, name, new)
        except (TypeError, ValueError):
            continue

    _only_sim_errors(proto.SerializeToString())


@settings(max_examples=200, deadline=2000)
@given(location=st.text(max_size=12), offset=st.integers(-(1 << 70), 1 << 70), length=st.integers(-1, 1 << 65))
def test_external_entries_give_only_sim_errors(location: str, offset: int, length: int) -> None:
    def change(m: ModelProto) -> None:
        _tensor(m, dims=[2], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", location), ("offset", offset), ("length", length)):
            m.graph.initializer[0].external_data.add(key=key, value=str(value))

    _only_sim_errors(changed(change).SerializeToString(), Path(__file__).parent)
