"""The check blocks of the shipped corpus: all pass, the same in both languages, and most computable entries have one."""

import tomllib
from collections import Counter

import pytest

from assistant.checks.fence import Fence, fences, run_fence
from assistant.checks.proof import ALL
from assistant.checks.table import CHECKS
from kb import corpus
from kb.parse import blocks
from kb.types import Entry
from tests.conftest import CORPUS

ENTRIES = corpus.entries(corpus.read(CORPUS))
BLOCKS = {(entry.id, entry.lang): fences(entry) for entry in ENTRIES}
CARRYING = [entry for entry in ENTRIES if BLOCKS[entry.id, entry.lang]]
COMPUTABLE = tomllib.loads((CORPUS / "computable.toml").read_text("utf-8"))


def _texts(entry_id: str, lang: str) -> list[str]:
    return [fence.text for fence in BLOCKS[entry_id, lang]]  # type: ignore[index]


def _places(entry: Entry) -> list[int]:
    """Return how many paragraphs, rows, items and fences of the answer stand before each of its blocks."""
    pieces = [piece.start for piece in blocks(entry)]
    return [sum(start < fence.start for start in pieces) for fence in BLOCKS[entry.id, entry.lang]]


@pytest.mark.parametrize("entry", CARRYING, ids=lambda entry: f"{entry.id}-{entry.lang}")
def test_the_blocks_of_an_entry_pass(entry: Entry) -> None:
    outcomes = [run_fence(fence, limit=60.0) for fence in BLOCKS[entry.id, entry.lang]]

    assert [(o.check, o.reason) for o in outcomes if o.status != "pass"] == []


def test_every_block_is_found() -> None:
    written = {(e.id, e.lang): e.text.count("```toml check") for e in ENTRIES}

    assert {key: len(found) for key, found in BLOCKS.items()} == written
    assert sum(data.count(b"toml check") for data in corpus.read(CORPUS).documents.values()) == sum(written.values())


@pytest.mark.parametrize("entry", [e for e in CARRYING if e.lang == "zh"], ids=lambda entry: entry.id)
def test_twins_carry_the_same_blocks_at_the_same_places(entry: Entry) -> None:
    twin = next(other for other in ENTRIES if other.id == entry.id and other.lang == "en")

    assert _texts(entry.id, "zh") == _texts(entry.id, "en")
    assert _places(entry) == _places(twin)


def test_a_block_only_in_one_language_would_be_noticed() -> None:
    assert {e.id for e in CARRYING if e.lang == "zh"} == {e.id for e in CARRYING if e.lang == "en"}


def test_no_entry_repeats_a_block() -> None:
    for key, found in BLOCKS.items():
        assert len({fence.text for fence in found}) == len(found), key


def test_blocks_touch_no_file() -> None:
    files = {name: {p.name for p in check.parameters if p.kind == "file"} for name, check in CHECKS.items()}

    def named(fence: Fence) -> set[str]:
        table = tomllib.loads(fence.text)
        return files[table["check"]] & set(table)

    assert [fence.entry_id for found in BLOCKS.values() for fence in found if named(fence)] == []


def test_computable_names_entries_once_in_the_order_of_the_corpus() -> None:
    order = [entry.id for entry in ENTRIES if entry.lang == "zh"]

    assert set(COMPUTABLE) == {"entries", "without_block"}
    assert COMPUTABLE["entries"] == [entry_id for entry_id in order if entry_id in set(COMPUTABLE["entries"])]


def test_computable_holds_every_entry_with_a_block_and_a_reason_for_the_others() -> None:
    carrying = {entry.id for entry in CARRYING}
    listed = set(COMPUTABLE["entries"])

    assert carrying - listed == set()
    assert set(COMPUTABLE["without_block"]) == listed - carrying
    assert all(len(reason) >= 20 for reason in COMPUTABLE["without_block"].values())


def test_most_computable_entries_carry_a_block() -> None:
    share = len({entry.id for entry in CARRYING}) / len(COMPUTABLE["entries"])

    assert share >= 0.60


def test_the_blocks_use_many_checks_and_an_answer_has_time_for_them() -> None:
    used = Counter(tomllib.loads(fence.text)["check"] for found in BLOCKS.values() for fence in found)

    assert len(used) >= 20
    assert max(len(found) for found in BLOCKS.values()) <= 6, f"an answer has {ALL:g} s for all blocks it shows"
