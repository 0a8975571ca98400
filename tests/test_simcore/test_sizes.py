"""Sizes: against plain loops and arrays that are really made."""

import numpy as np
import onnx.helper
import pytest

from simcore import sizes
from simcore.errors import BadArgument


@pytest.mark.parametrize("size", range(0, 70))
@pytest.mark.parametrize("alignment", [1, 2, 3, 16, 32, 64])
def test_align_up_is_the_next_multiple(size: int, alignment: int) -> None:
    assert sizes.align_up(size, alignment) == next(m for m in range(size, size + alignment) if m % alignment == 0)


@pytest.mark.parametrize(("w", "h"), [(2, 2), (1000, 720), (1920, 1080), (30, 10)])
@pytest.mark.parametrize("alignment", [1, 32, 64])
def test_images_count_the_bytes_of_their_planes(w: int, h: int, alignment: int) -> None:
    stride = -(-w // alignment) * alignment
    rgb = -(-3 * w // alignment) * alignment
    planes = {
        "nv12": [(h, stride), (h // 2, stride)],
        "yuv420p": [(h, stride), (h // 2, stride // 2), (h // 2, stride // 2)],
        "yuv422": [(h, stride), (h, stride)],
        "yuv444": [(h, stride)] * 3,
        "gray": [(h, stride)],
        "rgb": [(h, rgb)],
    }
    for form, parts in planes.items():
        expected = sum(np.empty(part, np.uint8).nbytes for part in parts)
        assert sizes.image_bytes(w, h, form, alignment) == (rgb if form == "rgb" else stride, expected)


@pytest.mark.parametrize(
    ("w", "h", "form", "says"),
    [
        (3, 2, "nv12", "width 3 must be even"),
        (2, 3, "yuv420p", "height 3"),
        (0, 2, "gray", "width 0"),
        (2, 2, "p010", "unknown"),
    ],
)
def test_impossible_images_are_refused(w: int, h: int, form: str, says: str) -> None:
    with pytest.raises(BadArgument, match=says):
        sizes.image_bytes(w, h, form)


@pytest.mark.parametrize(("kind", "gates"), [("RNN", 1), ("LSTM", 4), ("GRU", 3)])
@pytest.mark.parametrize(("layers", "directions"), [(1, 1), (3, 1), (1, 2), (4, 2)])
def test_recurrent_layers_hold_what_torch_would(kind: str, gates: int, layers: int, directions: int) -> None:
    weights = biases = 0
    for layer in range(layers):
        taken = 5 if layer == 0 else 7 * directions
        for _ in range(directions):
            weights += np.empty((gates * 7, taken)).size + np.empty((gates * 7, 7)).size
            biases += 2 * np.empty(gates * 7).size
    found = sizes.recurrent_size(kind, 5, 7, layers, directions)
    assert (found.weights, found.biases, found.macs_per_frame) == (weights, biases, weights)


def test_bias_forms_count_their_vectors() -> None:
    forms = {
        form: sizes.recurrent_size("GRU", 2, 10, bias=form).biases for form in ("none", "single", "double", "ncnn")
    }
    assert forms == {"none": 0, "single": 30, "double": 60, "ncnn": 40}
    assert onnx.helper.make_tensor("B", 1, (1, 60), [0.0] * 60).dims[1] == forms["double"]


@pytest.mark.parametrize("arguments", [("MLP", 1, 1), ("GRU", 0, 1), ("GRU", 1, 1, 0), ("GRU", 1, 1, 1, 3)])
def test_recurrent_refuses_what_cannot_be(arguments: tuple) -> None:
    with pytest.raises(BadArgument, match="recurrent_size"):
        sizes.recurrent_size(*arguments)


@pytest.mark.parametrize(
    ("chain", "expected"),
    [([5], (5, 0)), ([65536, 32768, 8192], (98304, 0)), ([1, 2, 9, 3, 9, 3], (12, 2)), ([0, 0], (0, 0))],
)
def test_chain_peak_is_the_first_largest_pair(chain: list[int], expected: tuple[int, int]) -> None:
    assert sizes.chain_peak(chain) == expected


def test_chain_peak_needs_a_tensor() -> None:
    with pytest.raises(BadArgument, match="at least one"):
        sizes.chain_peak([])


@pytest.mark.parametrize(("embed", "heads", "expected"), [(384, 8, 6), (512, 8, 8), (100, 8, 0), (64, 100, 1)])
def test_full_heads_divide_and_fill(embed: int, heads: int, expected: int) -> None:
    assert sizes.full_heads(embed, heads, 64) == expected
