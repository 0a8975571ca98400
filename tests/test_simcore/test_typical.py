"""The table of typical models, and the nearest rows by a ratio."""

import math

import pytest

from simcore.device import device_names
from simcore.errors import BadArgument
from simcore.opset import RANGES
from simcore.typical import load_table, nearest

TABLE = load_table("nano")


def test_the_table_holds_the_fourteen_rows_of_the_guide() -> None:
    assert len(TABLE.models) == 14 and TABLE.clock_mhz == 64 and TABLE.device in device_names()
    assert sum(model.time_ms for model in TABLE.models) == pytest.approx(188.4)
    assert sum(model.size_mb for model in TABLE.models if not model.below) == pytest.approx(5.9)
    assert len({model.code for model in TABLE.models}) == 14


@pytest.mark.parametrize("size", [0.15, 0.25, 0.6, 1.3, 4.0])
def test_nearest_by_size_has_the_smallest_ratio(size: float) -> None:
    found = nearest(TABLE, size_mb=size, count=2)
    worst = max(max(size / m.size_mb, m.size_mb / size) for m in found)
    others = [m for m in TABLE.models if m not in found]
    assert all(max(size / m.size_mb, m.size_mb / size) >= worst - 1e-12 for m in others)


def test_small_models_match_the_rows_below_a_tenth() -> None:
    assert all(model.below for model in nearest(TABLE, size_mb=0.02, count=4))


def test_time_and_part_narrow_the_choice() -> None:
    assert [m.code for m in nearest(TABLE, time_ms=100, count=1)] == ["tts"]
    assert {m.code for m in nearest(TABLE, size_mb=1, part="Transformer", count=14)} == {
        "tts", "fuzzy_word_1", "fuzzy_word_2",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "says"), [({}, "give the size"), ({"size_mb": 0}, "above 0"), ({"size_mb": math.nan}, "above 0"),
                            ({"size_mb": 1, "part": "SNN"}, "no model with SNN")],
)  # fmt: skip
def test_questions_without_a_number_are_refused(arguments: dict, says: str) -> None:
    with pytest.raises(BadArgument, match=says):
        nearest(TABLE, **arguments)


def test_an_unknown_table_is_refused() -> None:
    with pytest.raises(BadArgument, match="no table"):
        load_table("../devices/nano-035a")


def test_opset_ranges_are_ranges() -> None:
    assert all(1 <= known.low <= known.high and known.source for known in RANGES.values())
