"""Numbers of estimates in words: the command line and the window say the same."""

import pytest

from assistant.models.numbers import count, milliseconds, short_size, size


@pytest.mark.parametrize(
    ("bytes_", "want"),
    [
        (0, "0 B"), (1023, "1,023 B"), (1024, "1,024 B (1.0 KiB)"), (1536, "1,536 B (1.5 KiB)"),
        (1 << 20, "1,048,576 B (1.00 MiB)"), (1500 << 20, "1,572,864,000 B (1,500.00 MiB)"),
    ],
)  # fmt: skip
def test_a_size_is_told_exactly_and_in_its_unit(bytes_: int, want: str) -> None:
    assert size(bytes_) == want


def test_a_short_size_keeps_the_sign_of_a_difference() -> None:
    assert [short_size(n) for n in (-1, -2048, 3 << 20)] == ["-1 B", "-2.0 KiB", "3.00 MiB"]


@pytest.mark.parametrize(
    ("value", "want"),
    [(None, "?"), (0.0123456, "0.0123 ms"), (999.4, "999 ms"), (999.7, "1,000 ms"), (12345.6, "12,346 ms")],
)
def test_a_time_has_three_digits_and_no_exponent(value: float | None, want: str) -> None:
    assert milliseconds(value, "?") == want


def test_a_count_marks_thousands_and_is_empty_where_nothing_is_known() -> None:
    assert [count(n) for n in (None, 0, 1234567, 1234.6)] == ["", "0", "1,234,567", "1,235"]
