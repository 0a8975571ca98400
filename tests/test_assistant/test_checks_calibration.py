"""Checks of calibration against scalar arithmetic."""

import math

import pytest

from assistant.errors import BadInput
from tests.test_assistant.checking import both, results


def test_concat_shares_the_step_of_its_widest_branch() -> None:
    got = results("concat_shared_scale", maxima=[8.0, 0.5, 3.0])
    steps = [8 / 127, 0.5 / 127, 3 / 127]

    assert got["shared_step"] == pytest.approx(8 / 127, rel=1e-6)
    assert got["own_steps"] == pytest.approx(steps, rel=1e-6)
    assert got["loss_factors"] == pytest.approx([1, 16, 8 / 3], rel=1e-6)
    assert (got["loss_factor"], got["bits_lost"]) == (pytest.approx(16, rel=1e-6), pytest.approx(4, rel=1e-6))
    assert got["codes_used"] == [127, 8, 48]
    assert (got["value"], got["value_shared"]) == (0.5, pytest.approx(8 * 8 / 127, rel=1e-6))
    assert got["value_own"] == pytest.approx(0.5, rel=1e-6)


def test_concat_of_published_reports() -> None:
    q_format = results("concat_shared_scale", maxima="7.5,0.4", power_of_two="true")
    tokens = results(
        "concat_shared_scale", maxima="4000,7.5", convention="hisilicon", dtype="int12", value=2.878
    )  # fmt: skip

    assert (q_format["shared_step"], q_format["own_steps"][1], q_format["loss_factor"]) == (0.0625, 0.00390625, 16)
    assert tokens["bits_lost"] == pytest.approx(9.0589, abs=1e-4)
    assert tokens["value_shared"] == pytest.approx(1.953602, abs=1e-6)
    assert tokens["value_own"] == pytest.approx(2.879121, abs=1e-6)


def test_concat_with_minima_uses_the_whole_range() -> None:
    got = results("concat_shared_scale", maxima="640,1", minima="0,0", convention="hisilicon")

    assert got["shared_step"] == pytest.approx(640 / 255, rel=1e-6) and got["value_shared"] == 0
    assert results("concat_shared_scale", maxima="127", power_of_two="yes")["shared_step"] == 1
    for given, message in (
        ({"maxima": "1,2", "minima": "0"}, "minima: 1 values"),
        ({"maxima": "1,2", "minima": "0,3"}, "above its maximum"),
        ({"maxima": "0,1"}, "maxima"),
        ({"maxima": [1.0] * 201}, "1 to 200"),
    ):
        with pytest.raises(BadInput, match=message):
            results("concat_shared_scale", **given)


def test_per_channel_loss_of_two_channels() -> None:
    got = results("per_channel_loss", maxima="10,0.05,0.03,0")

    assert got["tensor_step"] == pytest.approx(10 / 127, rel=1e-6)
    assert got["channel_steps"][1] == pytest.approx(0.05 / 127, rel=1e-6)
    assert got["tensor_codes"] == [127, 1, 0, 0] and got["channel_codes"] == [127, 127, 127, 0]
    assert got["tensor_back"][1] == pytest.approx(0.0787402, abs=1e-7)
    assert got["zero_below"] == pytest.approx(0.0393701, abs=1e-7)
    assert got["bits_lost"][:2] == pytest.approx([0, math.log2(200)], abs=1e-6)
    assert (got["lost_channels"], got["worst_error"]) == (1, 1.0)
    with pytest.raises(BadInput, match="maxima"):
        results("per_channel_loss", maxima="0,0")


def test_kl_threshold_is_the_middle_of_the_bin() -> None:
    got = results("kl_threshold", absmax=10, bins=2048, best_bin=1024)

    assert got["threshold"] == 1024.5 * 10 / 2048
    assert got["scale"] == pytest.approx(0.039389, abs=1e-6)
    assert results("kl_threshold", absmax=1, bins=2, best_bin=2)["clipped_above"] == 1
    with pytest.raises(BadInput, match="best_bin"):
        results("kl_threshold", absmax=1, bins=128, best_bin=129)


@pytest.mark.parametrize(
    ("start", "end", "step", "count"),
    [(0.7, 1.3, 0.01, 61), (0.8, 1.2, 0.02, 21), (0.7, 1.3, 0.07, 9), (1, 1, 0.1, 1), (0.5, 1, 2, 1)],
)
def test_ifmr_counts_both_ends(start, end, step, count) -> None:
    got = results("ifmr_candidates", start=start, end=end, search_step=step, clip_max=6)
    tried = [start]
    while tried[-1] + step <= end + 1e-9:
        tried.append(tried[-1] + step)

    assert got["count"] == count == len(tried)
    assert got["last"] == pytest.approx(tried[-1] * 6)
    assert got["scale_first"] == pytest.approx(start * 6 / 127)


def test_ifmr_refuses_a_reversed_range() -> None:
    with pytest.raises(BadInput, match="start"):
        results("ifmr_candidates", start=1.3, end=0.7)


@pytest.mark.parametrize(
    ("given", "images", "verdict", "needed"),
    [
        ({"batch_num": 2, "batch_size": 16}, 32, "advised", 1),
        ({"batch_num": 1, "batch_size": 8}, 8, "few", 2),
        ({"batch_num": 3, "batch_size": 16}, 48, "many", 1),
        ({"batch_num": 51, "tool": "ascend"}, 51, "above_limit", 16),
        ({"batch_num": 4, "tool": "hisilicon"}, 4, "advised", 3),
        ({"batch_num": 99, "tool": "horizon"}, 99, "few", 100),
        ({"batch_num": 5000, "tool": "horizon"}, 5000, "advised", 100),
    ],
)
def test_calibration_images_against_the_advice(given, images, verdict, needed) -> None:
    got = results("calibration_images", inputs=3, **given)

    assert (got["images"], got["samples"]) == (images, 3 * images)
    assert (got["verdict"], got["batch_num_needed"]) == (verdict, needed)


@pytest.mark.parametrize(
    ("name", "given", "zh", "en"),
    [
        (
            "concat_shared_scale",
            {"maxima": "7.5,0.4", "power_of_two": "true"},
            "共用步长 0.0625，损失最大的一支变粗 16 倍（丢 4 位）；绝对值小于 0.03125 的都变成 0",
            "the shared step is 0.0625, 16 times coarser for the worst branch (4 bits lost); magnitudes below 0.03125 "
            "become 0",
        ),
        (
            "per_channel_loss",
            {"maxima": "10,0.05"},
            "整层步长 0.07874016，各通道最大值的码是 [127, 1]，0 个通道全变 0；绝对值小于 0.03937008 的权重变成 0",
            "with one step of 0.07874016 the peaks get the codes [127, 1] and 0 channels vanish; weights below "
            "0.03937008 become 0",
        ),
        (
            "kl_threshold",
            {"absmax": 10, "best_bin": 1024},
            "阈值 5.002441，int8 scale 0.0393893（不截断时 0.07874016）",
            "threshold 5.002441, int8 scale 0.0393893 (0.07874016 without clipping)",
        ),
        ("ifmr_candidates", {}, "61 个候选，阈值从 0.7 到 1.3", "61 candidates, thresholds from 0.7 to 1.3"),
        (
            "calibration_images",
            {"batch_num": 2, "batch_size": 16},
            "用 32 张图（batch_num 2 × batch_size 16），在建议范围内；建议 16 或 32 张，不超过 50 张",
            "32 images (batch_num 2 times batch_size 16), within the advice; advised: 16 or 32, at most 50",
        ),
    ],
)
def test_outcomes_read_as_sentences(name, given, zh, en) -> None:
    assert both(name, **given) == (zh, en)
