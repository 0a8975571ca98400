"""Checks of fp16 values, sums and norms against exact fractions."""

import math
import struct
from fractions import Fraction

import pytest

from assistant.errors import BadInput
from tests.test_assistant.checking import both, results
from tests.test_simcore import scalar_fp16 as scalar


def half(value: float) -> float:
    """Round by the struct module, infinity where it refuses."""
    try:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


VALUES = [0.0, 0.1, -0.1, 1.0, 2049.0, 21127.0, 65504.0, 65519.0, 65520.0, -1e9, 451354.25, 1e-8, 6e-8, 2.0**-25]


def test_fp16_value_equals_struct_and_fractions() -> None:
    got = results("fp16_value", values=VALUES)

    assert got["fp16"] == [half(v) for v in VALUES] == [scalar.to_fp16(Fraction(v)) for v in VALUES]
    assert got["saturated"] == [min(max(half(v), -65504.0), 65504.0) for v in VALUES]
    for v, below, above, spacing in zip(VALUES, got["below"], got["above"], got["spacing"], strict=True):
        assert below <= v <= above
        assert below == above == v or (math.isinf(above - below) or above - below <= spacing)
    for v, nearest, error in zip(VALUES, got["fp16"], got["errors"], strict=True):
        assert error == nearest - v
    assert got["overflows"] == sum(math.isinf(half(v)) for v in VALUES) == 3
    assert got["changed"] == sum(half(v) != v for v in VALUES)
    assert got["ratio"] == 1e9 / 65504 and got["divisor"] == 2**14


def test_fp16_value_says_what_makes_it_fit() -> None:
    got = results("fp16_value", values=451354.25)

    assert (got["ratio"], got["divisor"]) == (pytest.approx(6.8905, abs=1e-4), 8)
    assert results("fp16_value", values=451354.25 / 8)["overflows"] == 0
    assert results("fp16_value", values=65519)["divisor"] == 1
    assert results("fp16_value", values="nan")["ratio"] == 0
    with pytest.raises(BadInput, match="values"):
        results("fp16_value", values="inf")


@pytest.mark.parametrize("overflow", ["saturate", "infinity"])
@pytest.mark.parametrize("order", ["sequential", "pairwise"])
@pytest.mark.parametrize(
    "values",
    [[60000.0, 60000.0, -60000.0], [2048.0, 1.0, 1.0, 1.0], [0.1] * 100, [1e6, -1e6, 5.0], [3.0], [65504.0, 15.0]],
    ids=["cancel", "stuck", "tenths", "beyond", "one", "tie"],
)
def test_fp16_sum_equals_the_scalar_loop(values, order, overflow) -> None:
    got = results("fp16_sum", values=values, order=order, overflow=overflow)
    loop = scalar.sequential if order == "sequential" else scalar.pairwise
    rules = ("saturate", "zero") if overflow == "saturate" else ("infinity", "keep")
    rounded = [scalar.settle(scalar.to_fp16(Fraction(v)), *rules) for v in values]
    free = loop([scalar.to_fp16(Fraction(v)) for v in values], "infinity", "keep")

    assert scalar.same(got["total"], loop(rounded, *rules))
    assert got["exact"] == float(sum(Fraction(v) for v in values))
    assert got["overflows"] == (not math.isfinite(free))


def test_fp16_sum_in_fp32_rounds_once() -> None:
    got = results("fp16_sum", values=[2048] + [1] * 99, accumulator="fp32")

    assert got["total"] == half(2147) and results("fp16_sum", values=[2048] + [1] * 99)["total"] == 2048
    with pytest.raises(BadInput, match="1 to 1000"):
        results("fp16_sum", values=[1] * 1001)


@pytest.mark.parametrize(("value", "count"), [(1000, 100), (0.1, 4000), (1, 5000), (-60000, 3), (65504, 1)])
def test_fp16_sum_repeat_equals_the_scalar_loop(value, count) -> None:
    got = results("fp16_sum_repeat", value=value, count=count)
    rounded = half(value)

    assert got["total"] == scalar.sequential([rounded] * count)
    assert got["exact"] == rounded * count
    assert got["overflows"] == (abs(scalar.sequential([rounded] * count, "infinity", "keep")) == math.inf)


def test_fp16_sum_repeat_of_a_million() -> None:
    assert results("fp16_sum_repeat", value=1, count=1_000_000)["total"] == 2048
    assert results("fp16_sum_repeat", value=1, count=1_000_000, order="pairwise")["total"] == 65504
    assert results("fp16_sum_repeat", value=0.0625, count=1_000_000, accumulator="fp32")["total"] == 62496
    with pytest.raises(BadInput, match="count"):
        results("fp16_sum_repeat", value=1, count=1_000_001)


@pytest.mark.parametrize(("k", "total"), [(128, 12.796875), (256, 25.59375), (4096, 409.5)])
def test_dot_fp16_of_tenths_by_ones(k, total) -> None:
    got = results("dot_fp16", a=0.1, b=1, k=k)

    assert (got["total"], got["exact_fp16"]) == (total, total)
    assert got["input_error"] == pytest.approx(total - 0.1 * k)
    assert not got["overflows"]


def test_dot_fp16_in_fp16_rounds_products_and_sums() -> None:
    product = scalar.mul(half(0.3), half(0.7))
    got = results("dot_fp16", a=0.3, b=0.7, k=700, accumulator="fp16")

    assert got["total"] == scalar.sequential([product] * 700)
    assert got["wanted"] == 0.3 * 0.7 * 700
    big = results("dot_fp16", a=300, b=300, k=2, accumulator="fp16", overflow="infinity")
    assert (big["total"], big["overflows"]) == (math.inf, True)
    assert results("dot_fp16", a=300, b=300, k=2)["total"] == 65504
    assert results("dot_fp16", a=65504, b=-65504, k=1_000_000, accumulator="fp32")["total"] == -65504


@pytest.mark.parametrize(("size", "single"), [(896, 7661.04), (1024, 8190.0), (4096, 16379.999)])
def test_fp16_norm_limit_of_published_sizes(size, single) -> None:
    got = results("fp16_norm_limit", size=size)
    first = results("fp16_norm_limit", size=size, scaling="sum_first")

    assert got["single"] == pytest.approx(single, abs=0.01) and got["uniform"] == pytest.approx(255.94, abs=0.01)
    assert first["uniform"] ** 2 * size == pytest.approx(65504) and first["single"] == got["uniform"]
    with pytest.raises(BadInput, match="size"):
        results("fp16_norm_limit", size=0)


@pytest.mark.parametrize("kind", ["rms", "layer"])
def test_fp16_norm_is_near_the_exact_norm(kind) -> None:
    values = [1.5, -2.25, 3.0, 0.125]
    got = results("fp16_norm", values=values, kind=kind, epsilon=0)
    mean = sum(values) / 4 if kind == "layer" else 0.0
    exact_square = sum((v - mean) ** 2 for v in values) / 4
    exact = [(v - mean) / math.sqrt(exact_square) for v in values]

    assert got["exact"] == pytest.approx(exact) and got["mean_square_exact"] == pytest.approx(exact_square)
    assert got["outputs"] == pytest.approx(exact, rel=3e-3)
    assert got["max_error"] == pytest.approx(max(abs(g - e) for g, e in zip(got["outputs"], exact, strict=True)))
    assert not got["overflows"] and not got["all_zero"]


def test_fp16_norm_of_large_values_is_zero_without_nan() -> None:
    got = results("fp16_norm", values=[300, 400, 500])

    assert (got["mean_square"], got["outputs"], got["all_zero"]) == (math.inf, [0, 0, 0], True)
    assert not results("fp16_norm", values=[300, 400, 500], accumulator="fp32")["overflows"]
    assert results("fp16_norm", values=[0, 0], epsilon=0, overflow="saturate")["outputs"] == [0, 0]


@pytest.mark.parametrize(
    ("name", "given", "zh", "en"),
    [
        (
            "fp16_value",
            {"values": "65519,65520"},
            "变成 [65504, 65504]（饱和）或 [65504, inf]（IEEE），2 个有变化，1 个溢出；误差 [-15, inf]",
            "they become [65504, 65504] (saturating) or [65504, inf] (IEEE); 2 change, 1 overflow; errors [-15, inf]",
        ),
        (
            "fp16_sum",
            {"values": "60000,40000"},
            "和是 65504（精确值 100000，误差 -34496）；有溢出",
            "the sum is 65504 (exactly 100000, error -34496); something overflows",
        ),
        (
            "fp16_sum_repeat",
            {"value": 1000, "count": 100},
            "100 个 1000 相加得 65504（精确值 100000）",
            "100 times 1000 adds up to 65504 (exactly 100000)",
        ),
        (
            "dot_fp16",
            {"a": 0.1, "k": 4096},
            "4096 个乘积的和是 409.5（应为 409.6）；其中输入变成 fp16（0.09997559 和 1）就造成 -0.1",
            "the sum of 4096 products is 409.5 (wanted 409.6); rounding the inputs to fp16 (0.09997559 and 1) alone "
            "causes -0.1",
        ),
        (
            "fp16_norm_limit",
            {"size": 4096},
            "单个离群值不超过 16380，全部相等时不超过 255.9375（n = 4096，divide_first）",
            "one outlier may reach 16380, equal values 255.9375 (n = 4096, divide_first)",
        ),
        (
            "fp16_norm",
            {"values": "300,400,500"},
            "输出 [0, 0, 0]（应为 [0.7348469, 0.9797959, 1.224745]）；均方 inf（应为 166666.7），中间结果溢出",
            "outputs [0, 0, 0] (exactly [0.7348469, 0.9797959, 1.224745]); mean square inf (exactly 166666.7), a step "
            "overflows",
        ),
    ],
)
def test_outcomes_read_as_sentences(name, given, zh, en) -> None:
    assert both(name, **given) == (zh, en)
