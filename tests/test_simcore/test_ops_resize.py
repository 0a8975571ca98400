"""Resize and Upsample against ONNX Runtime."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.errors import BadArgument
from simcore.ops.resize import resize, upsample
from tests.test_simcore.graphs import both

RNG = np.random.default_rng(3)
IMAGE = RNG.standard_normal((1, 2, 7, 10)).astype(np.float32)
COORDINATES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]


def _close(op_type: str, inputs: dict[str, Any], **options: Any) -> None:
    ((ours, theirs),) = both(op_type, inputs, **options)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("coordinate", COORDINATES)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize(
    "factors", [(2, 2), (1.5, 3), (0.6, 0.4), (0.5, 2.3), (1, 0.3)], ids=lambda pair: f"{pair[0]}x{pair[1]}"
)
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_scales(coordinate: str, mode: str, factors: tuple[float, float], opset: int) -> None:
    scales = np.float32([1, 1, *factors])

    _close(
        "Resize",
        {"x": IMAGE, "r": np.zeros(0, np.float32), "s": scales},
        opset=opset,
        mode=mode,
        coordinate_transformation_mode=coordinate,
    )


@pytest.mark.parametrize("coordinate", COORDINATES)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("size", [(14, 20), (3, 11), (1, 1), (7, 10), (21, 5)], ids=lambda pair: f"{pair[0]}x{pair[1]}")
def test_sizes(coordinate: str, mode: str, size: tuple[int, int]) -> None:
    sizes = np.int64([1, 2, *size])

    _close(
        "Resize",
        {"x": IMAGE, "r": None, "s": None, "n": sizes},
        opset=13,
        mode=mode,
        coordinate_transformation_mode=coordinate,
    )


@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("coordinate", ["half_pixel", "asymmetric", "align_corners"])
def test_nearest_modes(nearest: str, coordinate: str) -> None:
    sizes = np.int64([1, 2, 14, 4])

    _close(
        "Resize",
        {"x": IMAGE, "r": None, "s": None, "n": sizes},
        opset=13,
        nearest_mode=nearest,
        coordinate_transformation_mode=coordinate,
    )


def test_nearest_for_tensorflow_before_version_13() -> None:
    inputs = {"x": IMAGE, "r": np.zeros(0, np.float32), "s": np.float32([1, 1, 1.7, 0.6])}

    _close("Resize", inputs, opset=11, coordinate_transformation_mode="tf_half_pixel_for_nn")


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_crop_fills_what_lies_outside(mode: str) -> None:
    roi = np.float32([0, 0, -0.2, 0.3, 1, 1, 0.6, 1.4])
    inputs = {"x": IMAGE, "r": roi, "s": None, "n": np.int64([1, 2, 5, 6])}

    _close(
        "Resize",
        inputs,
        opset=13,
        mode=mode,
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=9.0,
    )


@pytest.mark.parametrize("a", [-0.75, -0.5])
def test_cubic_without_taps_outside(a: float) -> None:
    inputs = {"x": IMAGE, "r": None, "s": np.float32([1, 1, 1.9, 0.7])}

    _close("Resize", inputs, opset=13, mode="cubic", cubic_coeff_a=a, exclude_outside=1)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_one_scale_for_all_axes(policy: str) -> None:
    inputs = {"x": IMAGE, "r": None, "s": None, "n": np.int64([9, 15])}

    _close("Resize", inputs, opset=18, axes=[2, 3], mode="linear", keep_aspect_ratio_policy=policy)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("scales", [[1.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.5, 2.6]], ids=["whole", "broken"])
def test_upsample_and_resize_10(mode: str, scales: list[float]) -> None:
    _close("Upsample", {"x": IMAGE}, opset=7, mode=mode, scales=scales)
    _close("Upsample", {"x": IMAGE, "s": np.float32(scales)}, opset=9, mode=mode)
    _close("Resize", {"x": IMAGE, "s": np.float32(scales)}, opset=10, mode=mode)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_resize_10_shrinks_as_onnx_runtime(mode: str) -> None:
    _close("Resize", {"x": IMAGE, "s": np.float32([1, 1, 0.45, 0.7])}, opset=10, mode=mode)


@settings(max_examples=60, deadline=None)
@given(size=st.integers(1, 9), out=st.integers(1, 20), coordinate=st.sampled_from(COORDINATES), data=st.data())
def test_linear_equals_its_definition(size: int, out: int, coordinate: str, data: st.DataObject) -> None:
    x = np.float64(data.draw(st.lists(st.integers(-9, 9), min_size=size, max_size=size)))
    want = []
    for i in range(out):
        scale = out / size
        at = {
            "half_pixel": (i + 0.5) / scale - 0.5,
            "pytorch_half_pixel": (i + 0.5) / scale - 0.5 if out > 1 else 0.0,
            "align_corners": i * (size - 1) / (out - 1) if out > 1 else 0.0,
            "asymmetric": i / scale,
        }[coordinate]
        at = min(max(at, 0), size - 1)
        low = min(int(at), size - 1)
        high = min(low + 1, size - 1)
        want.append(x[low] + (at - low) * (x[high] - x[low]))

    got = resize(x, sizes=np.int64([out]), mode="linear", coordinate_transformation_mode=coordinate)

    np.testing.assert_allclose(got, want, atol=1e-4)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "float16", "float64"])
def test_linear_keeps_the_type_and_its_range(dtype: str) -> None:
    x = np.array([[0, 100, 7]], dtype)

    y = resize(x, scales=np.float32([1, 2]), mode="cubic")

    assert y.dtype == x.dtype and y.shape == (1, 6)
    assert dtype != "uint8" or y.min() == 0


def test_growing_a_constant_leaves_it_constant() -> None:
    for mode in ("linear", "cubic"):
        y = resize(np.full((3, 3), 5, np.float32), scales=np.float32([0.4, 2.5]), mode=mode, antialias=1)
        np.testing.assert_allclose(y, 5, rtol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scales": np.float32([1, 1]), "sizes": np.int64([1, 1])},
        {"scales": np.float32([1])},
        {"scales": np.float32([0, 1])},
        {"scales": np.float32([np.nan, 1])},
        {"scales": np.float32([1e12, 1])},
        {"sizes": np.int64([-1, 1])},
        {"sizes": np.int64([4, 4]), "mode": "lanczos"},
        {"sizes": np.int64([4, 4]), "axes": (0, 0)},
        {"sizes": np.int64([4, 4]), "keep_aspect_ratio_policy": "fit"},
        {"sizes": np.int64([4, 4]), "coordinate_transformation_mode": "tf_crop_and_resize"},
    ],
)
def test_arguments_that_do_not_fit_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadArgument):
        resize(np.zeros((2, 3), np.float32), **options)


def test_upsample_refuses_a_missing_scale() -> None:
    with pytest.raises(BadArgument):
        upsample(np.zeros((2, 3), np.float32), np.float32([2]))
