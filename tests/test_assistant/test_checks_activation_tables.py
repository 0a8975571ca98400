"""Checks of softmax, activations, masks and tables against scalar loops of the math module."""

import math
from fractions import Fraction

import pytest

from assistant.errors import BadInput
from tests.test_assistant.checking import both, results
from tests.test_simcore import scalar_fp16 as scalar


def half(value: float) -> float:
    return scalar.to_fp16(Fraction(value))


def exact_softmax(values: list[float]) -> list[float]:
    powers = [math.exp(v - max(values)) for v in values]
    return [p / sum(powers) for p in powers]


def scalar_softmax(values: list[float], shift: str, rules: tuple[str, str]) -> list[float]:
    x = [scalar.settle(half(v), *rules) for v in values]
    if shift == "max":
        x = [scalar.sub(v, max(x), *rules) for v in x]
    powers = [scalar.exp(v, *rules) for v in x]
    total = scalar.sequential(powers, *rules)
    return [scalar.div(p, total, *rules) for p in powers]


@pytest.mark.parametrize("shift", ["max", "none"])
@pytest.mark.parametrize("overflow", ["saturate", "infinity"])
@pytest.mark.parametrize("values", [[10.0, 0.1], [1.0, 2.0, 3.0], [12.0, 12.5, -4.0], [0.0], [-70000.0, 1.0]])
def test_softmax_equals_the_scalar_loop(values, shift, overflow) -> None:
    got = results("softmax_fp16", values=values, shift=shift, overflow=overflow)
    rules = ("saturate", "zero") if overflow == "saturate" else ("infinity", "keep")
    want = scalar_softmax(values, shift, rules)

    assert all(scalar.same(g, w) for g, w in zip(got["probabilities"], want, strict=True))
    assert got["exact"] == pytest.approx(exact_softmax(values))
    if all(math.isfinite(w) for w in want):
        assert got["max_error"] == pytest.approx(max(abs(w - e) for w, e in zip(want, got["exact"], strict=True)))


def test_softmax_that_drops_small_powers() -> None:
    got = results("softmax_fp16", values="10,0.1", cut=9.010911)

    assert (got["probabilities"], got["lost"], got["total"]) == ([1, 0], 1, 1)
    assert got["exact"] == pytest.approx([0.9999498, 5.02e-5], abs=1e-6)
    assert results("softmax_fp16", values="10,1.5", cut=9.010911)["lost"] == 0
    with pytest.raises(BadInput, match="values"):
        results("softmax_fp16", values=[0.0] * 1001)


FORMS = {
    "tanh": lambda x: scalar.tanh(x),
    "sigmoid": lambda x: scalar.sigmoid(x),
    "exp": lambda x: scalar.exp(x),
}
EXACT = {"tanh": math.tanh, "sigmoid": lambda x: 1 / (1 + math.exp(-x)), "exp": math.exp}


@pytest.mark.parametrize("function", sorted(FORMS))
def test_activations_in_direct_form_are_correctly_rounded(function) -> None:
    values = [0.0, 0.01, 2.0, -3.3, 7.9375, 10.5]
    got = results("activation_fp16", values=values, function=function)

    assert got["fp16"] == [FORMS[function](half(v)) for v in values]
    assert got["exact"] == pytest.approx([EXACT[function](v) for v in values], rel=1e-14)
    assert got["input_fp16"] == [half(v) for v in values]
    assert got["max_relative"] <= 2**-11


def test_activation_forms_differ_where_powers_overflow() -> None:
    def tanh_of_20(form: str, overflow: str) -> float:
        return results("activation_fp16", values=20, function="tanh", form=form, overflow=overflow)["fp16"][0]

    assert tanh_of_20("exponential", "saturate") == 1 and math.isnan(tanh_of_20("exponential", "infinity"))
    assert tanh_of_20("exp_minus_2x", "infinity") == 1
    with pytest.raises(BadInput, match="sigmoid form: 'exp_2x'"):
        results("activation_fp16", values=1, function="sigmoid", form="exp_2x")


def test_softcap_forms_of_a_published_report() -> None:
    scores = [1, 100, 1000, 5000, -10000, 4400]
    naive = results("softcap_scores", values=scores, precision="fp32")
    safe = results("softcap_scores", values=scores, precision="fp32", form="one_power")

    assert naive["results"][:3] == pytest.approx([0.999866, 48.201374, 50.0], abs=1e-5)
    assert [math.isnan(v) for v in naive["results"][3:5]] == [True, True] and naive["results"][5] == math.inf
    assert naive["broken"] == 3 and safe["broken"] == 0
    assert safe["results"] == pytest.approx([0.999867, 48.201378, 50, 50, -50, 50], abs=1e-5)
    assert safe["exact"] == pytest.approx([50 * math.tanh(s / 50) for s in scores])
    assert results("softcap_scores", values=1)["exp_limit"] == pytest.approx(11.09, abs=1e-2)
    with pytest.raises(BadInput, match="cap"):
        results("softcap_scores", values=1, cap=0)


def test_mask_constants_in_fp16() -> None:
    huge, small = results("attention_mask", fill=-1e9), results("attention_mask", fill=-1e4)

    assert (huge["fill_infinity"], huge["fill_saturate"], huge["representable"]) == (-math.inf, -65504, False)
    assert (small["fill_infinity"], small["exp_fill"], small["representable"]) == (-10000, 0, True)
    assert huge["weights"] == small["weights"] == scalar_softmax([1, 2, -10000], "max", ("infinity", "keep"))
    assert huge["leak"] == 0 and not huge["broken"]


def test_masks_in_fp32_and_rows_that_are_masked_completely() -> None:
    got = results("attention_mask", fill=-10000, scores="1,2,0", precision="fp32")

    assert got["weights"] == pytest.approx([0.26894142, 0.73105858, 0], abs=1e-7)
    assert results("attention_mask", fill=-1e9, masked=3)["broken"]
    assert not results("attention_mask", fill=-1e4, masked=3)["broken"]
    leaking = results("attention_mask", fill=-5, scores="1,2,3", how="add", precision="fp32")
    assert leaking["leak"] == pytest.approx(exact_softmax([1, 2, -2])[2], rel=1e-6)
    with pytest.raises(BadInput, match="masked: 4 of 3"):
        results("attention_mask", fill=-1, masked=4)


def interpolated(function, n: int, low: float, high: float, x: float) -> float:
    t = min(max((x - low) * (n - 1) / (high - low), 0), n - 1)
    i = min(int(t), n - 2)
    nodes = [low + (high - low) * j / (n - 1) for j in (i, i + 1)]
    return function(nodes[0]) + (function(nodes[1]) - function(nodes[0])) * (t - i)


@pytest.mark.parametrize(("entries", "error", "at"), [(257, 0.000376, 0.656), (65, 0.005967, 0.6255)])
def test_linear_tanh_tables(entries, error, at) -> None:
    got = results("table_error", function="tanh", entries=entries, output="fp32", x=0.3)
    spacing = 16 / (entries - 1)

    assert got["max_error"] == pytest.approx(error, abs=1e-6)
    assert abs(got["max_error_at"]) == pytest.approx(at, abs=1e-3)
    assert got["max_error"] <= spacing**2 / 8 * 0.7698 + 1e-7 and got["spacing"] == spacing
    assert got["value"] == pytest.approx(interpolated(math.tanh, entries, -8, 8, 0.3), abs=1e-7)
    assert got["exact"] == math.tanh(0.3) and got["value_error"] == got["value"] - got["exact"]


def test_tables_in_other_forms() -> None:
    nearest = results("table_error", function="tanh", entries=257, interpolation="nearest", output="fp32")
    clipped = results("table_error", function="tanh", entries=4097, low=-3, high=3, output="fp32", from_x=-8, to_x=8)
    codes = results("table_error", function="sigmoid", entries=64, output="int8", x=8)

    assert nearest["max_error"] == pytest.approx(math.tanh(1 / 32), abs=1e-5)
    assert clipped["max_error"] == pytest.approx(math.tanh(8) - math.tanh(3), abs=1e-6)
    assert codes["value"] == 127 / 128
    for given, message in (
        ({"entries": 100_001}, "entries"),
        ({"entries": 9, "low": 1, "high": 1}, "low"),
        ({"entries": 9, "scale": 1}, "scale"),
        ({"entries": 9, "from_x": 2, "to_x": 1}, "low 2"),
    ):
        with pytest.raises(BadInput, match=message):
            results("table_error", function="tanh", **given)


@pytest.mark.parametrize(
    ("name", "given", "zh", "en"),
    [
        (
            "softmax_fp16",
            {"values": "10,0.1", "cut": 9.010911},
            "概率 [1, 0]（应为 [0.9999498, 5.017216e-5]）；最大误差 5.017216e-5，1 个变成 0",
            "probabilities [1, 0] (exactly [0.9999498, 5.017216e-5]); largest error 5.017216e-5, 1 become 0",
        ),
        (
            "activation_fp16",
            {"values": 2, "function": "sigmoid"},
            "sigmoid 的结果是 [0.8808594]（应为 [0.8807971]）；最大误差 6.229702e-5",
            "sigmoid gives [0.8808594] (exactly [0.8807971]); largest error 6.229702e-5",
        ),
        (
            "softcap_scores",
            {"values": "5000", "precision": "fp32"},
            "结果 [nan]（应为 [50]），1 个坏值；fp32 的 exp 从 88.72284 起溢出",
            "results [nan] (exactly [50]), 1 broken; exp overflows fp32 from 88.72284",
        ),
        (
            "attention_mask",
            {"fill": -1e9},
            "-1e9 放不下（fp16 为 -inf，饱和时 -65504）；权重 [0.2687988, 0.730957, 0]，漏到被掩位置 0，出现 NaN：否",
            "-1e9 does not fit fp16 (-inf, or -65504 when saturating); weights [0.2687988, 0.730957, 0], 0 on masked "
            "positions, NaN: no",
        ),
        (
            "table_error",
            {"function": "tanh", "entries": 65, "output": "fp32"},
            "最大误差 0.005966729（x = -0.6254883），最大相对误差 0.02032541（x = -6.66976e-5）；65 项，间隔 0.25",
            "the largest error is 0.005966729 (at x = -0.6254883), the largest relative error 0.02032541 (at x = "
            "-6.66976e-5); 65 entries, 0.25 apart",
        ),
    ],
)
def test_outcomes_read_as_sentences(name, given, zh, en) -> None:
    assert both(name, **given) == (zh, en)
