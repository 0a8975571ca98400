"""Checks of preprocessing and conversion: training code as the oracle, known cases, one sentence each."""

from fractions import Fraction

import numpy as np
import pytest

from assistant.errors import BadInput
from simcore.device import load_device, number
from simcore.opset import RANGES
from tests.test_assistant.spoken import run, spoken

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def test_imagenet_constants_in_every_toolchain() -> None:
    result = run("normalization", {"mean": MEAN, "std": STD, "pixel": 200}).result
    assert result["horizon_mean_value"] == pytest.approx([123.675, 116.28, 103.53])
    assert result["horizon_scale_value"] == pytest.approx([0.01712475, 0.017507, 0.01742919], abs=1e-8)
    assert result["magicmind_var"] == pytest.approx([float((255 * Fraction(str(s))) ** 2) for s in STD])
    assert result["rknn_std_values"] == pytest.approx([58.395, 57.12, 57.375])
    assert result["aipp_mean_chn"] == [123, 116, 103]
    assert result["aipp_min_chn"] == pytest.approx([0.675, 0.28, 0.53])
    trained = (np.full(3, 200) / 255 - np.array(MEAN)) / np.array(STD)
    assert result["out"] == pytest.approx(trained.tolist())
    assert round(result["out"][0], 6) == 1.307047
    assert result["spread"] < 1e-12


@pytest.mark.parametrize(
    ("convention", "mean", "second"),
    [
        ("pixel", "rknn_mean_values", ("std", "rknn_std_values")),
        ("rknn", "rknn_mean_values", ("std", "rknn_std_values")),
        ("horizon", "horizon_mean_value", ("scale", "horizon_scale_value")),
        ("ncnn", "ncnn_mean_vals", ("scale", "ncnn_norm_vals")),
        ("magicmind", "magicmind_mean", ("var", "magicmind_var")),
    ],
)
def test_what_one_toolchain_gets_leads_back_to_the_training_code(convention: str, mean: str, second: tuple) -> None:
    first = run("normalization", {"mean": MEAN, "std": STD}).result
    given = {"mean": first[mean], second[0]: first[second[1]], "convention": convention}
    back = run("normalization", given).result
    assert back["unit_mean"] == pytest.approx(MEAN)
    assert back["unit_std"] == pytest.approx(STD)
    assert back["out"] == pytest.approx(first["out"])


def test_one_number_counts_for_all_channels() -> None:
    result = run("normalization", {"mean": "0,0,0", "scale": "1/255", "convention": "ncnn", "pixel": 255}).result
    assert result["ncnn_norm_vals"] == pytest.approx([0.00392156862745] * 3)
    assert result["out"] == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("pixel", [0, 1, 127, 128, 200, 255])
def test_pixels_as_int8(pixel: int) -> None:
    result = run("int8_pixel", {"pixel": pixel, "mean": 123.675, "scale": 0.01712475}).result
    assert result["int8"] == int(np.uint8(pixel).astype(np.int16) - 128)
    assert -128 <= result["int8"] <= 127
    assert result["out"] == pytest.approx((pixel - 123.675) * 0.01712475)


@pytest.mark.parametrize(
    ("opset", "toolchain", "supported", "use"),
    [
        (23, "cann-atc", False, 18), (17, "hb-mapper", False, 11), (13, "hb-mapper", False, 11), (15, "nano", True, 15),
        (16, "nano", False, 15), (9, "nano", False, 11), (19, "rknn-2", True, 19), (13, "rknn-1.5", False, 12),
    ],
)  # fmt: skip
def test_opsets(opset: int, toolchain: str, supported: bool, use: int) -> None:
    result = run("opset_check", {"opset": opset, "toolchain": toolchain}).result
    assert (result["supported"], result["use"]) == (supported, use)


def test_the_opsets_of_nano_are_those_of_the_device() -> None:
    device = load_device("nano-035a")
    assert (RANGES["nano"].low, RANGES["nano"].high) == (
        number(device, "min_opset", "1"),
        number(device, "max_opset", "1"),
    )


@pytest.mark.parametrize(
    ("shape", "product", "over"), [("64x12x12", 9216, True), ("128x8x8", 8192, False), ("1x128x8x8", 8192, False)]
)
def test_chw(shape: str, product: int, over: bool) -> None:
    result = run("chw_limit", {"shape": shape}).result
    assert (result["product"], result["over"]) == (product, over)


def test_fast_softmax_of_the_guide() -> None:
    result = run("fast_softmax", {"values": "10,0.1"}).result
    assert result["exact"] == pytest.approx([0.9999498, 5.02e-05], abs=1e-6)
    assert result["fast"] == [1.0, 0.0]
    assert result["smallest_kept"] == pytest.approx(2.0**-13, rel=1e-5)


def test_fast_softmax_keeps_what_is_near() -> None:
    values = np.array([3.0, -6.0, 2.5, -6.02])
    powers = np.exp(values - 3)
    result = run("fast_softmax", {"values": values.tolist()}).result
    assert result["exact"] == pytest.approx((powers / powers.sum()).tolist())
    powers[3] = 0
    assert result["fast"] == pytest.approx((powers / powers.sum()).tolist())
    assert result["dropped"] == 1


@pytest.mark.parametrize(
    ("check", "given", "says"),
    [
        ("normalization", {"mean": "0"}, "give std"),
        ("normalization", {"mean": "0", "std": "1", "var": "1"}, "leave var out"),
        ("normalization", {"mean": "0", "std": "1", "convention": "horizon"}, "leave std out"),
        ("normalization", {"mean": "0,0", "std": "1,1,1"}, "mean has 2 channels"),
        ("normalization", {"mean": "0", "std": "0"}, "std"),
        ("normalization", {"mean": "nan", "std": "1"}, "mean nan"),
        ("normalization", {"mean": [0.0] * 65, "std": "1"}, "1 to 64"),
        ("int8_pixel", {"pixel": 256}, "pixel"),
        ("opset_check", {"opset": 0}, "opset"),
        ("opset_check", {"opset": 11, "toolchain": "tvm"}, "toolchain"),
        ("chw_limit", {"shape": "3x3"}, "found 2 sizes"),
        ("fast_softmax", {"values": "nan"}, "finite"),
        ("fast_softmax", {"values": [0.0] * 10_001}, "1 to 10000"),
    ],
)
def test_what_does_not_fit_is_named(check: str, given: dict, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        run(check, given)


@pytest.mark.parametrize(
    ("check", "given", "zh", "en"),
    [
        ("normalization", {"mean": "0.485", "std": "0.229", "pixel": 200},
         "地平线 mean_value [123.675]、scale_value [0.0171248]；MagicMind var [3409.98]；"
         "AIPP mean_chn [123] 加 min_chn [0.675]、var_reci_chn [0.0171248]；RKNN std_values [58.395]；"
         "ncnn norm_vals [0.0171248]；像素 200 变成 [1.30705]",
         "Horizon mean_value [123.675], scale_value [0.0171248]; MagicMind var [3409.98]; AIPP mean_chn [123] plus "
         "min_chn [0.675], var_reci_chn [0.0171248]; RKNN std_values [58.395]; ncnn norm_vals [0.0171248]; pixel 200 "
         "becomes [1.30705]"),
        ("int8_pixel", {"pixel": 200}, "int8 输入 72，前处理节点输出 200", "int8 input 72, the preprocess node gives 200"),
        ("opset_check", {"opset": 17}, "nano 支持 opset 11 到 15，模型是 17：用 opset 15",
         "nano takes opset 11 to 15, the model has 17: use opset 15"),
        ("chw_limit", {"shape": "64x12x12"}, "C×H×W = 9216，上限 8192，超过：是", "C*H*W = 9216, limit 8192, above it: yes"),
        ("fast_softmax", {"values": "10,0.1"}, "优化后得 [1, 0]，精确值 [0.99995, 5.01722e-05]，丢掉 1 个",
         "gives [1, 0], exactly [0.99995, 5.01722e-05]; 1 dropped"),
    ],
)  # fmt: skip
def test_outcomes_as_sentences(check: str, given: dict, zh: str, en: str) -> None:
    assert spoken(check, given) == (zh, en)
