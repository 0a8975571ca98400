"""The soft cap in fp16 equals the scalar loop in exact fractions, in float32 known values."""

import math

import numpy as np
import pytest

from simcore.errors import BadArgument
from simcore.fp16 import IEEE, SATURATE
from simcore.softcap import rounding_to, softcap
from tests.test_simcore import scalar_fp16 as scalar

VALUES = [0.0, 1.0, -3.5, 100.0, 554.0, 560.0, 1000.0, -65504.0]


@pytest.mark.parametrize("mode", [IEEE, SATURATE], ids=["ieee", "saturate"])
def test_fp16_forms_equal_the_scalar_loop(mode) -> None:
    rules = (mode.overflow, mode.nan)
    for x in VALUES:
        y = scalar.div(x, 50.0, *rules)
        up, down = scalar.exp(y, *rules), scalar.exp(-y, *rules)
        top = scalar.mul(50.0, scalar.sub(up, down, *rules), *rules)
        two = scalar.div(top, scalar.add(up, down, *rules), *rules)
        power = scalar.exp(scalar.mul(2.0, y, *rules), *rules)
        fraction = scalar.div(2.0, scalar.add(power, 1.0, *rules), *rules)
        one = scalar.mul(50.0, scalar.sub(1.0, fraction, *rules), *rules)

        assert scalar.same(float(softcap(x, 50.0, "two_powers", "fp16", mode)), two)
        assert scalar.same(float(softcap(x, 50.0, "one_power", "fp16", mode)), one)
        assert scalar.same(float(softcap(x, 50.0, "direct", "fp16", mode)), scalar.mul(50.0, scalar.tanh(y), *rules))


def test_two_powers_leave_float32_and_one_power_does_not() -> None:
    scores = [1.0, 100.0, 1000.0, 5000.0, -10000.0, 4400.0]
    naive, safe = softcap(scores, 50.0, "two_powers", "fp32"), softcap(scores, 50.0, "one_power", "fp32")

    assert np.allclose(naive[:3], [0.999866, 48.201374, 50.0], atol=1e-5)
    assert math.isnan(naive[3]) and math.isnan(naive[4]) and math.isinf(naive[5])
    assert np.allclose(safe, [0.999867, 48.201378, 50.0, 50.0, -50.0, 50.0], atol=1e-5)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(BadArgument, match="cap"):
        softcap(1.0, 1e-9)
    with pytest.raises(BadArgument, match="form"):
        softcap(1.0, 1.0, "best")  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="precision"):
        rounding_to("bf16")  # type: ignore[arg-type]
