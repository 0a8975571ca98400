"""Of a long answer the parts that matter are chosen; short ones and questions about the whole stay whole."""

import pytest

from kb import terms
from kb.focus import focus
from kb.parse import blocks, parse_file
from tests.conftest import HEADER, entry

TABLE = "The times are:\n\n| model | time |\n|---|---|\n" + "\n".join(
    f"| {name} | {i}.5 ms |" for i, name in enumerate(["wake", "heart rate", "gesture", "noise", "speech", "call"])
)
LONG = "The short answer.\n\n" + "\n\n".join(
    f"Paragraph about {word}. " + "Filler text goes on. " * 12
    for word in ("alignment", "saturation", "drivers", "burning")
)


def _chosen(answer: str, question: str) -> list[str]:
    data = (HEADER.format(platform="nano") + entry("nano-a", "How long do models take?", answer)).encode()
    (only,) = parse_file("x.en.md", data)
    found = focus(blocks(only), "en", terms.tokens(question), frozenset(), set(terms.tokens(only.title)))
    return [block.text.rsplit("\n", 1)[-1] for block in found]


@pytest.mark.parametrize(
    ("question", "row"), [("gesture latency", "| gesture | 2.5 ms |"), ("heart rate", "| heart rate | 1.5 ms |")]
)
def test_a_question_about_one_row_gets_that_row(question: str, row: str) -> None:
    assert _chosen(TABLE, question) == ["The times are:", row]


def test_two_rows_that_are_asked_for_both_stay() -> None:
    assert _chosen(TABLE, "wake and call") == ["The times are:", "| wake | 0.5 ms |", "| call | 5.5 ms |"]


@pytest.mark.parametrize("question", ["how long do models take", "time of every model", "zebra"])
def test_a_question_about_the_whole_table_gets_it_whole(question: str) -> None:
    assert _chosen(TABLE, question) == []


def test_a_long_answer_leads_with_its_first_paragraph_and_the_part_that_matters() -> None:
    chosen = _chosen(LONG, "what about saturation")

    assert [text.split(".")[0] for text in chosen] == ["The short answer", "Paragraph about saturation"]


def test_a_short_answer_stays_whole() -> None:
    assert _chosen("One.\n\nTwo about saturation.", "saturation") == []
