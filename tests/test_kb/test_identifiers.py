"""Identifiers are told from ordinary words and numbers, and unknown ones are named with the nearest known."""

import pytest

from kb import identifiers
from tests.conftest import CORPUS

KINDS = identifiers.load_kinds("identifiers.toml", (CORPUS / "identifiers.toml").read_bytes())
ONNX = identifiers.load_vocabulary("onnx_operators.toml", (CORPUS / "onnx_operators.toml").read_bytes())
KNOWN = identifiers.collect(
    [
        "报错 145002",
        "ONNX opset V11~V18",
        "use --soc_version=Ascend035A",
        "Hi3322V100",
        "onnxruntime 1.16.0",
        "aclInit",
    ],
    KINDS,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("错误码 145002 是什么", [("code", "145002")]),
        ("it returned ret = [507899]", [("code", "507899")]),
        ("145003", [("code", "145003")]),
        ("status 0x110", [("code", "0x110")]),
        ("E19999 出现了", [("code", "E19999")]),
        ("100000 变成 65504", []),
        ("ERROR (2024-05-05) alloc failed", []),
        ("[ERROR] 2024/05/05 12:00:01", []),
        ("报错 2024-05-05 之后", []),
        ("ERROR 2024-05-05: ret -1001", [("code", "-1001")]),
        ("1.5 万张图，1024 个 bin，64MHz", []),
        ("use --input_fp16_nodes=x -p", [("option", "--input_fp16_nodes")]),
        ("Ascend310 和 RK3588 上", [("chip", "Ascend310"), ("chip", "RK3588")]),
        ("昇腾310", [("chip", "昇腾310")]),
        ("opset 20 可以吗", [("version", "opset 20")]),
        ("Python 3.12", [("version", "Python 3.12")]),
        ("int8 fp16 s16*s8 float32 conv2d", []),
        ("search_range_start", [("name", "search_range_start")]),
        ("my_model.onnx and /tmp/my_dir/x_y", []),
        ("aclmdlLoadFromFile", [("name", "aclmdlLoadFromFile")]),
        ("63 个算子", []),
    ],
)
def test_extract(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(found.kind.name, found.text) for found in identifiers.extract(text, KINDS)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "错误码 145002",
        "opset 11",
        "opset v15 到 v18",
        "--soc_version",
        "ascend035a",
        "hi3322",
        "onnxruntime 1.16",
        "ACLINIT",
    ],
)
def test_known_identifiers_are_not_reported(text: str) -> None:
    assert identifiers.unknown(text, KINDS, KNOWN, [ONNX]) == ()


@pytest.mark.parametrize(
    ("text", "name", "nearest"),
    [
        ("错误码 145003", "145003", ("145002",)),
        ("--soc_versions", "--soc_versions", ("--soc_version",)),
        ("opset 19", "opset 19", ()),
        ("onnxruntime 1.17", "onnxruntime 1.17", ("onnxruntime 1.16.0",)),
        ("Ascend036A", "Ascend036A", ("Ascend035A",)),
    ],
)
def test_unknown_identifiers_name_the_nearest(text: str, name: str, nearest: tuple[str, ...]) -> None:
    (found,) = identifiers.unknown(text, KINDS, KNOWN, [ONNX])

    assert (found.text, found.blocking) == (name, True)
    assert set(nearest) <= set(found.nearest)


def test_an_operator_of_no_vocabulary_blocks_only_as_an_operator() -> None:
    (operator,) = identifiers.unknown("支持 FancyFoldOp 算子吗", KINDS, KNOWN, [ONNX])
    (name,) = identifiers.unknown("how fast is MobileNet", KINDS, KNOWN, [ONNX])

    assert (operator.kind, operator.blocking) == ("operator", True)
    assert (name.kind, name.blocking) == ("name", False)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("AveragePool 支持吗", ("AveragePool",)),
        ("支持 div 和 Where 吗", ("Div", "Where")),
        ("is layernorm supported", ("LayerNormalization",)),
        ("where and what size is it, if not equal", ()),
        ("does the Where operator run", ("Where",)),
        ("can it run Resize", ("Resize",)),
        ("BatchNorm 和 BatchNormalization", ("BatchNormalization",)),
        ("the add op", ("Add",)),
    ],
)
def test_names_in(text: str, names: tuple[str, ...]) -> None:
    assert identifiers.names_in(text, ONNX) == names
