"""Checks of integer sums and products against Python integers and C registers."""

import ctypes

import pytest

from assistant.errors import BadInput
from tests.test_assistant.checking import both, results


@pytest.mark.parametrize(
    ("given", "worst", "overflows", "largest_k"),
    [
        ({"k": 2, "a": "uint8", "b_max": 127, "accumulator": "int16"}, 64770, True, 1),
        ({"k": 2, "a": "uint8", "b_max": 63, "accumulator": "int16"}, 32130, False, 2),
        ({"k": 2, "a_max": 127, "b_max": 127, "accumulator": "int16"}, 32258, False, 2),
        ({"k": 2, "accumulator": "int16"}, 32768, True, 1),
        ({"k": 9, "a_max": 127, "b_max": 127, "accumulator": "int16"}, 145161, True, 2),
        ({"k": 4096, "a": "int16", "b": "int16"}, 4096 * 2**30, True, 1),
        ({"k": 4096, "a": "int16", "b": "int8"}, 4096 * 2**22, True, 511),
        ({"k": 131071}, 131071 * 2**14, False, 131071),
        ({"k": 131072}, 2**31, True, 131071),
        (
            {"k": 10**15, "a": "uint16", "b": "uint16", "accumulator": "int64"},
            10**15 * 65535**2,
            True,
            (2**63 - 1) // 65535**2,
        ),
    ],
)
def test_accumulator_width_of_known_cases(given, worst, overflows, largest_k) -> None:
    got = results("accumulator_width", **given)

    assert (got["worst"], got["overflows"], got["largest_k"]) == (worst, overflows, largest_k)
    assert -(2 ** (got["bits"] - 1)) <= got["low"] and got["high"] < 2 ** (got["bits"] - 1)
    assert not (-(2 ** (got["bits"] - 2)) <= got["low"] and got["high"] < 2 ** (got["bits"] - 2))


def test_accumulator_width_names_what_does_not_fit() -> None:
    with pytest.raises(BadInput, match="b_max: 200 does not fit int8"):
        results("accumulator_width", k=1, b_max=200)
    with pytest.raises(BadInput, match="k=0"):
        results("accumulator_width", k=0)


def test_dot_product_wraps_like_c_and_saturates_at_each_step() -> None:
    a, b = [256, 512, 1024, 1024], [128, 256, 2048, 1024]
    got = results("dot_product", a=a, b=b, product="int16")

    assert got["products"] == [ctypes.c_int16(x * y).value for x, y in zip(a, b, strict=True)] == [-32768, 0, 0, 0]
    assert (got["total"], got["exact"], got["overflow_at"]) == (-32768, 3309568, 0)
    assert results("dot_product", a=a, b=b)["total"] == 3309568
    clamped = results("dot_product", a=[100, 100, -1], b=[200, 300, 100], accumulator="int16", overflow="saturate")
    assert (clamped["total"], clamped["overflow_at"], clamped["overflows"]) == (32667, 1, True)
    with pytest.raises(BadInput, match="a has 1 values and b has 2"):
        results("dot_product", a="1", b="1,2")
    with pytest.raises(BadInput, match="1 to 1000"):
        results("dot_product", a=[1] * 1001, b=[1])


@pytest.mark.parametrize("low", ["unsigned", "signed"])
@pytest.mark.parametrize(("a", "b"), [(12345, -6789), (-32768, -32768), (32767, 255), (0, 5), (-1, 1)])
def test_split_product_adds_up(a, b, low) -> None:
    got = results("split_product", a=a, b=b, low=low)
    (a_high, a_low), (b_high, b_low) = got["a_parts"], got["b_parts"]

    assert (256 * a_high + a_low, 256 * b_high + b_low) == (a, b)
    assert got["products"] == [a_high * b_high, a_high * b_low, a_low * b_high, a_low * b_low]
    assert sum(p << s for p, s in zip(got["products"], got["shifts"], strict=True)) == got["exact"] == a * b
    assert (got["lost"], got["without_low"]) == (a_low * b_low, a * b - a_low * b_low)
    assert got["lost_relative"] == (a_low * b_low / abs(a * b) if a * b else 0)


@pytest.mark.parametrize(
    ("name", "given", "zh", "en"),
    [
        (
            "accumulator_width",
            {"k": 4096, "a": "int16", "b": "int16"},
            "会溢出：4096 个 int16×int16 的和在 -4,397,912,293,376 到 4,398,046,511,104，要 44 位；int32 最多安全 1 项",
            "it can overflow: the sum of 4096 products int16 times int16 lies in -4,397,912,293,376 to "
            "4,398,046,511,104 and needs 44 bits; int32 is safe up to 1 products",
        ),
        (
            "dot_product",
            {"a": "256,512,1024,1024", "b": "128,256,2048,1024", "product": "int16"},
            "结果 -32,768（精确值 3,309,568）；有溢出，乘积寄存器里是 [-32768, 0, 0, 0]",
            "the result is -32,768 (exactly 3,309,568); something overflows, products are held as [-32768, 0, 0, 0]",
        ),
        (
            "split_product",
            {"a": 12345, "b": -6789},
            "乘积 -83,810,205，四个部分积 [-1296, 5904, -1539, 7011] 左移 [16, 8, 8, 0] 位相加；省掉低×低得 "
            "-83,817,216，丢 7011",
            "the product is -83,810,205: the parts [-1296, 5904, -1539, 7011] shifted left by [16, 8, 8, 0]; without "
            "low*low it is -83,817,216, 7011 is lost",
        ),
    ],
)
def test_outcomes_read_as_sentences(name, given, zh, en) -> None:
    assert both(name, **given) == (zh, en)
