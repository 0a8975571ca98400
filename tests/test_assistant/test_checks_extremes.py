"""Whatever arguments a check accepts, it computes something printable or refuses with one sentence."""

import json
import math
import random

import pytest

from assistant.checks.run import run_check
from assistant.checks.show import rows, sentence, to_json
from assistant.checks.table import CHECKS
from assistant.checks.types import REQUIRED, Check, Parameter
from assistant.errors import BadInput

NUMBERS = (0, 1, -1, 0.5, 1e-300, -1e-45, 1e-38, 127, 65504, 65520, 1e30, 3.4e38)


def drawn(parameter: Parameter, rng: random.Random) -> object:
    """Return a value within the parameter's range, often one at its ends."""
    low = -1e308 if parameter.low is None else parameter.low
    high = 1e308 if parameter.high is None else parameter.high

    def number() -> float:
        known = [low, high, *(n for n in NUMBERS if low <= n <= high)]
        return rng.choice([*known, rng.uniform(max(low, -1e5), min(high, 1e5)) if low < 1e5 and high > -1e5 else low])

    if parameter.kind == "number":
        return number()
    if parameter.kind == "integer":
        return round(min(max(number(), -1e15), 1e15))
    if parameter.kind == "choice":
        return rng.choice(parameter.choices)
    if parameter.kind == "flag":
        return rng.random() < 0.5
    if parameter.kind == "text":
        return parameter.example
    count = rng.choice([1, 2, 2, 3])
    if parameter.kind == "numbers":
        return [math.nan if rng.random() < 0.03 else number() for _ in range(count)]
    return [round(min(max(number(), -1e9), 1e9)) for _ in range(count)]


@pytest.mark.parametrize(
    "check", [c for c in CHECKS.values() if all(p.kind != "file" for p in c.parameters)], ids=lambda c: c.name
)
def test_random_arguments_are_computed_or_refused(check: Check) -> None:
    rng = random.Random(check.name)
    computed = 0
    for _ in range(25):
        given = {p.name: drawn(p, rng) for p in check.parameters if p.default is REQUIRED or rng.random() < 0.5}
        try:
            outcome = run_check(check, given)
        except BadInput as error:
            assert check.name in str(error) or any(p.name in str(error) for p in check.parameters)
            continue
        json.dumps(to_json(check, outcome), allow_nan=False)
        assert sentence(check, outcome, "zh") and sentence(check, outcome, "en") and rows(check, outcome, "en")
        computed += 1

    assert computed
