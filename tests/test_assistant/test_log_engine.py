"""The engines that find many texts at once: both find what a plain search finds, and diagnose alike."""

import random
import sys
import tomllib
from collections.abc import Callable

import pytest

from assistant.logs import diagnose, engine
from tests.conftest import ROOT

ENGINES = {"automaton": engine._automaton, "hyperscan": engine._hyperscan}
LOGS = [case["log"] for case in tomllib.loads((ROOT / "tests/data/log_cases.toml").read_text(encoding="utf-8"))["case"]]


def plainly(texts: list[bytes], data: bytes) -> list[engine.Occurrence]:
    return sorted(
        (number, start, start + len(text))
        for number, text in enumerate(texts)
        for start in range(len(data) - len(text) + 1)
        if data[start : start + len(text)] == text
    )


@pytest.mark.parametrize("build", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("alphabet", [b"ab", b"aA\n.[*\\$^", bytes(range(1, 256))])
def test_an_engine_finds_every_occurrence(build: Callable[[list[bytes]], engine.Find | None], alphabet: bytes) -> None:
    rng = random.Random(len(alphabet))
    for _ in range(60):
        data = bytes(rng.choices(alphabet, k=rng.randint(0, 300)))
        texts = {bytes(rng.choices(alphabet, k=rng.randint(1, 6))) for _ in range(rng.randint(1, 40))}
        texts |= {data[i : i + rng.randint(1, 70)] for i in range(0, len(data), 50)}
        wanted = sorted(texts)
        find = build(wanted)
        assert find is not None

        found = find(data)

        assert sorted(found) == plainly(wanted, data)
        assert [end for _, _, end in found] == sorted(end for _, _, end in found)


@pytest.mark.parametrize("texts", [[], [b"\0"], [b"ab\0cd", b"x"]])
def test_texts_with_zeros_and_no_texts_are_found(texts: list[bytes]) -> None:
    data = b"ab\0cc ab\0cd x\0"

    assert sorted(engine.engine(texts)(data)) == plainly(texts, data)


def test_both_engines_diagnose_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    assert engine.name() == "hyperscan"
    with_it = [diagnose.diagnose(log.encode()) for log in LOGS]
    monkeypatch.setitem(sys.modules, "hyperscan", None)
    diagnose._wanted.cache_clear()
    try:
        assert engine.name() == "Aho-Corasick"
        assert [diagnose.diagnose(log.encode()) for log in LOGS] == with_it
    finally:
        diagnose._wanted.cache_clear()
