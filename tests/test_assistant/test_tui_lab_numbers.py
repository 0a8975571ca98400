"""Labels and values of an outcome, laid out to a width."""

import pytest
from rich.cells import cell_len

from assistant.tui.lab.numbers import number_lines

ROWS = [("步长", "0.02"), ("stored shape", "[1, 3, 224, 224]"), ("number of a very long label", "x" * 40)]


@pytest.mark.parametrize("width", [4, 20, 33, 80])
def test_no_line_is_wider_and_all_values_begin_in_one_column(width: int) -> None:
    lines = number_lines(ROWS, width)

    assert all(cell_len(label) + cell_len(value) <= width for label, value in lines)
    assert len({cell_len(label) for label, _ in lines}) == 1
    assert "".join(value for _, value in lines).replace(" ", "") == "".join(v for _, v in ROWS).replace(" ", "")
    assert "".join(label for label, _ in lines).replace(" ", "") == "".join(n for n, _ in ROWS).replace(" ", "")


def test_a_long_value_goes_on_below_itself() -> None:
    assert number_lines([("shape", "[1, 3, 224, 224]")], 17) == [("shape  ", "[1, 3,"), ("       ", "224, 224]")]
