"""Normalizations: every convention puts a pixel where training code puts it."""

from fractions import Fraction
from typing import get_args

import pytest

from simcore.errors import BadArgument
from simcore.normalization import Convention, aipp_mean, apply, from_convention

MEAN, STD = Fraction(485, 1000), Fraction(229, 1000)
PAIRS = {
    "unit": (MEAN, STD),
    "pixel": (255 * MEAN, 255 * STD),
    "rknn": (255 * MEAN, 255 * STD),
    "horizon": (255 * MEAN, 1 / (255 * STD)),
    "ncnn": (255 * MEAN, 1 / (255 * STD)),
    "aipp": (255 * MEAN, 1 / (255 * STD)),
    "magicmind": (255 * MEAN, (255 * STD) ** 2),
}


@pytest.mark.parametrize("convention", get_args(Convention))
@pytest.mark.parametrize("pixel", [0, 1, 128, 200, 255])
def test_each_convention_reads_and_writes_the_same_pixel(convention: str, pixel: int) -> None:
    how = from_convention(convention, *(float(number) for number in PAIRS[convention]))
    exact = float((Fraction(pixel, 255) - MEAN) / STD)
    for other in get_args(Convention):
        assert apply(other, how, pixel) == pytest.approx(exact, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("mean", [0.0, 0.5, 123.675, 255.0, 255.5, -3.25, 300.0])
def test_aipp_mean_is_a_uint8_and_the_rest(mean: float) -> None:
    whole, rest = aipp_mean(mean)
    assert 0 <= whole <= 255 and isinstance(whole, int)
    assert whole + rest == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(
    ("convention", "mean", "second"), [("keras", 0, 1), ("unit", 0, 0), ("ncnn", 0, -1), ("rknn", float("nan"), 1)]
)
def test_numbers_that_normalize_nothing_are_refused(convention: str, mean: float, second: float) -> None:
    with pytest.raises(BadArgument, match="normalization"):
        from_convention(convention, mean, second)
