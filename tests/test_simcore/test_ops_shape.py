"""Operators that move data, in their old and new versions, against ONNX Runtime: equal element for element."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.errors import BadArgument, UnsupportedOp
from simcore.ops import cast, index, pad, shape
from tests.test_simcore.graphs import both

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
I = np.int64  # noqa: E741

#: id -> operator, inputs, options.
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "slice 1": ("Slice", {"x": X}, {"opset": 9, "starts": [1, -3], "ends": [9, -1], "axes": [0, 2]}),
    "slice 10 back": ("Slice", {"x": X, "s": I([-1, 3]), "e": I([-9, -5]), "a": I([1, 2]), "t": I([-1, -2])}, {"opset": 10}),
    "slice 13 limits": ("Slice", {"x": X, "s": I([-(1 << 63)]), "e": I([(1 << 63) - 1])}, {"opset": 13}),
    "split 2 equal": ("Split", {"x": X}, {"opset": 11, "count": 2, "axis": 2}),
    "split 2 sizes": ("Split", {"x": X}, {"opset": 11, "count": 2, "axis": -1, "split": [1, 3]}),
    "split 13 equal": ("Split", {"x": X}, {"opset": 13, "count": 3, "axis": 1}),
    "split 13 sizes": ("Split", {"x": X, "s": I([3, 0, 1])}, {"opset": 13, "count": 3, "axis": 2}),
    "split 18 uneven": ("Split", {"x": X}, {"opset": 18, "count": 3, "axis": 2, "num_outputs": 3}),
    "squeeze 1": ("Squeeze", {"x": X[:1, :, :1]}, {"opset": 11, "axes": [0, -1]}),
    "squeeze 13 all": ("Squeeze", {"x": X[:1, :, :1]}, {"opset": 13}),
    "squeeze 13": ("Squeeze", {"x": X[:1, :, :1], "a": I([-1])}, {"opset": 13}),
    "unsqueeze 1": ("Unsqueeze", {"x": X}, {"opset": 11, "axes": [0, 4]}),
    "unsqueeze 13": ("Unsqueeze", {"x": X, "a": I([-1, 0])}, {"opset": 13}),
    "pad 2": ("Pad", {"x": X}, {"opset": 9, "pads": [0, 1, 2, 1, -1, 0], "value": 7.0}),
    "pad 2 edge": ("Pad", {"x": X}, {"opset": 9, "pads": [1, 1, 1, 0, 0, 2], "mode": "edge"}),
    "pad 11 reflect": ("Pad", {"x": X, "p": I([0, 2, 3, 1, 0, 1])}, {"opset": 11, "mode": "reflect"}),
    "pad 11 reflect twice": ("Pad", {"x": X, "p": I([0, 0, 3, 0, 0, 3])}, {"opset": 11, "mode": "reflect"}),
    "pad 13 fill": ("Pad", {"x": X, "p": I([0, -1, 1, 1, 0, 0]), "v": np.float32(9)}, {"opset": 13}),
    "pad 18 axes": ("Pad", {"x": X, "p": I([1, 2, 0, 1]), "v": None, "a": I([-1, 0])}, {"opset": 18}),
    "pad 19 wrap": ("Pad", {"x": X, "p": I([0, 0, 3, 0, 0, 2])}, {"opset": 19, "mode": "wrap"}),
    "top k 1": ("TopK", {"x": X}, {"opset": 9, "count": 2, "k": 2, "axis": 1}),
    "top k 10": ("TopK", {"x": X, "k": I([3])}, {"opset": 10, "count": 2}),
    "top k ties": ("TopK", {"x": np.float32([[2, 1, 2, 1, 2]]), "k": I([4])}, {"opset": 11, "count": 2}),
    "top k least": ("TopK", {"x": np.int64([[2, 1, 2, 1, 2]]), "k": I([3])}, {"opset": 11, "count": 2, "largest": 0}),
    "gather back": ("Gather", {"x": X, "i": I([[-1, 0], [1, -2]])}, {"opset": 11, "axis": 1}),
    "gather scalar": ("Gather", {"x": X, "i": I(2)}, {"opset": 13, "axis": 2}),
    "gather elements": ("GatherElements", {"x": X, "i": I([[[0, -1]], [[2, 1]]])}, {"opset": 13, "axis": 2}),
    "gather nd batch": ("GatherND", {"x": X, "i": I([[[-1, 2]], [[0, 1]]])}, {"opset": 12, "batch_dims": 1}),
    "scatter 9": ("Scatter", {"x": X, "i": I([[[0, 2]]]), "u": X[:1, :1, :2]}, {"opset": 10, "axis": 1}),
    "scatter elements add": ("ScatterElements", {"x": X, "i": I([[[0, 0, -1]]]), "u": X[1:, :1, :3]}, {"opset": 16, "axis": 2, "reduction": "add"}),
    "scatter elements max": ("ScatterElements", {"x": X, "i": I([[[0, 0, -1]]]), "u": X[1:, :1, :3]}, {"opset": 18, "axis": 2, "reduction": "max"}),
    "scatter nd": ("ScatterND", {"x": X, "i": I([[1, -1], [0, 0]]), "u": X[0, :2]}, {"opset": 13}),
    "scatter nd mul": ("ScatterND", {"x": X, "i": I([[1], [1]]), "u": X}, {"opset": 16, "reduction": "mul"}),
    "compress flat": ("Compress", {"x": X, "c": np.array([False, True, True])}, {"opset": 11}),
    "compress axis": ("Compress", {"x": X, "c": np.array([True, False, True])}, {"opset": 11, "axis": -2}),
    "non zero": ("NonZero", {"x": X % 3}, {"opset": 13}),
    "one hot": ("OneHot", {"i": I([[1, -1], [5, 0]]), "d": I(3), "v": np.float32([2, 9])}, {"opset": 11, "axis": 1}),
    "depth to space 11": ("DepthToSpace", {"x": X.reshape(1, 12, 1, 2)}, {"opset": 11, "blocksize": 2, "mode": "CRD"}),
    "depth to space 1": ("DepthToSpace", {"x": X.reshape(1, 12, 1, 2)}, {"opset": 9, "blocksize": 2}),
    "space to depth": ("SpaceToDepth", {"x": X.reshape(1, 1, 4, 6)}, {"opset": 13, "blocksize": 2}),
    "dropout 7": ("Dropout", {"x": X}, {"opset": 7, "ratio": 0.4}),
    "dropout 10": ("Dropout", {"x": X}, {"opset": 10}),
    "dropout 12": ("Dropout", {"x": X, "r": np.float32(0.5)}, {"opset": 12, "count": 2}),
    "expand both ways": ("Expand", {"x": X[:, :1], "s": I([3, 1, 1, 4])}, {"opset": 13}),
    "reshape zero and rest": ("Reshape", {"x": X, "s": I([0, -1])}, {"opset": 13}),
    "reshape allowzero": ("Reshape", {"x": X[:0], "s": I([3, 0, 7])}, {"opset": 14, "allowzero": 1}),
    "flatten 0": ("Flatten", {"x": X}, {"opset": 9, "axis": 0}),
    "flatten back": ("Flatten", {"x": X}, {"opset": 13, "axis": -1}),
    "shape part": ("Shape", {"x": X}, {"opset": 15, "start": -2, "end": 9}),
    "tile": ("Tile", {"x": X, "r": I([2, 1, 3])}, {"opset": 13}),
    "transpose": ("Transpose", {"x": X}, {"opset": 13}),
    "trilu lower": ("Trilu", {"x": X, "k": I(-1)}, {"opset": 14, "upper": 0}),
    "eye like": ("EyeLike", {"x": X[0]}, {"opset": 9, "k": 1, "dtype": 6}),
    "range down": ("Range", {"a": I(7), "b": I(-4), "d": I(-3)}, {"opset": 11}),
    "range none": ("Range", {"a": np.float32(7), "b": np.float32(9), "d": np.float32(-3)}, {"opset": 11}),
    "range odd": ("Range", {"a": np.float32(1), "b": np.float32(2), "d": np.float32(0.375)}, {"opset": 11}),
    "concat": ("Concat", {"x": X, "y": X[:, :1]}, {"opset": 13, "axis": -2}),
    "where": ("Where", {"c": X > 5, "x": X, "y": X[:1, :1]}, {"opset": 16}),
    "cast truncates": ("Cast", {"x": np.float32([-2.7, 2.7, 0.5])}, {"opset": 13, "to": 6}),
    "cast overflows": ("Cast", {"x": np.float32([65519, 65520, 1e9])}, {"opset": 13, "to": 10}),
    "cast to bool": ("Cast", {"x": np.float32([0, -0.0, 0.1, np.nan])}, {"opset": 13, "to": 9}),
    "cast low bits": ("Cast", {"x": I([300, -1, 128])}, {"opset": 13, "to": 3}),
    "cast text": ("Cast", {"x": np.array(["1.5", "-inf", "2e3"], object)}, {"opset": 13, "to": 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_equals_onnx_runtime(name: str) -> None:
    op_type, inputs, options = CASES[name]

    for ours, theirs in both(op_type, inputs, **options):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_array_equal(ours, theirs)


@settings(max_examples=200, deadline=None)
@given(
    size=st.integers(0, 6),
    start=st.integers(-9, 9),
    end=st.integers(-9, 9),
    step=st.sampled_from([-3, -2, -1, 1, 2, 3]),
)
def test_slice_equals_its_definition(size: int, start: int, end: int, step: int) -> None:
    def clamp(value: int, low: int, high: int) -> int:
        return min(max(value + size if value < 0 else value, low), high)

    first, stop = (
        (clamp(start, 0, size), clamp(end, 0, size))
        if step > 0
        else (clamp(start, -1, size - 1), clamp(end, -1, size - 1))
    )
    want = list(range(first, stop, step))

    got = shape.slice_(np.arange(size), np.array([start]), np.array([end]), None, np.array([step]))

    assert got.tolist() == want


@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.integers(-2, 2), min_size=1, max_size=9), largest=st.booleans(), data=st.data())
def test_top_k_keeps_equal_values_in_order(values: list[int], largest: bool, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, len(values)))
    order = sorted(range(len(values)), key=lambda i: (-values[i] if largest else values[i], i))[:k]

    found, at = index.top_k(np.array(values), np.array([k]), largest=int(largest))

    assert at.tolist() == order and found.tolist() == [values[i] for i in order]


@pytest.mark.parametrize(
    "call",
    [
        lambda: shape.reshape(X, I([2, 3, 4, 0])),
        lambda: shape.split(X, I([1, 2]), axis=2, num_outputs=2),
        lambda: shape.split(X, axis=5, num_outputs=2),
        lambda: shape.slice_(X, I([0]), I([1]), I([0]), I([0])),
        lambda: shape.slice_(X, I([0, 0]), I([1, 1]), I([0, -3])),
        lambda: shape.range_(I(0), I(1), I(0)),
        lambda: shape.range_(np.float32(0), np.float32(np.inf), np.float32(1)),
        lambda: shape.constant(value_int=1, value_float=1.0),
        lambda: shape.depth_to_space(X[None], blocksize=2),
        lambda: shape.tile(X, I([2])),
        lambda: shape.tile(X, I([1 << 40, 1, 1])),
        lambda: pad.pad(X, I([0, 0, -3, 0, 0, -3])),
        lambda: pad.pad(X, I([0, 0, 1]), mode="constant"),
        lambda: pad.pad(X, I([0] * 6), mode="mirror"),
        lambda: index.top_k(X, I([5])),
        lambda: index.scatter_nd(X, I([[0]]), X[0]),
        lambda: index.scatter_elements(X, I([[[0]]]), X),
        lambda: index.gather_nd(X, I([[0, 0, 0, 0]])),
        lambda: cast.cast(np.array(["three"], object), to=1),
        lambda: cast.cast(X, to=24, round_mode="odd"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(call: Any) -> None:
    with pytest.raises(BadArgument):
        call()


def test_dropout_in_training_mode_is_unsupported() -> None:
    with pytest.raises(UnsupportedOp, match="random"):
        shape.dropout(X, np.float32(0.5), np.array(True))


def test_large_constants_take_no_memory() -> None:
    assert shape.constant_of_shape(I([1 << 10, 1 << 10])).strides == (0, 0)
    assert shape.expand(X[:1], I([1000, 3, 4])).base is not None


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_repeating_pads_equal_numpy(mode: str, size: int) -> None:
    x = np.arange(size, dtype=np.float32)

    got = pad.pad(x, I([7, 12]), mode=mode)

    assert got.tolist() == np.pad(x, (7, 12), mode=mode).tolist()


def test_an_axis_is_inserted_only_once() -> None:
    with pytest.raises(BadArgument, match="twice"):
        shape.unsqueeze(X, I([0, -5]))
