"""Typing errors are corrected to a word of the corpus; its own words, names and stop words are left alone."""

from pathlib import Path

import pytest

from kb import build, corpus, spelling
from kb.store import Store
from tests.conftest import HashEncoder, entry, sources, write_corpus


@pytest.mark.parametrize(
    ("question", "corrected"),
    [
        ("how much memroy does it take", {"memroy": "memory"}),
        ("how much memory does it take", {}),
        ("which would these be", {}),
        ("what is a Softmex", {}),
        ("its memo", {}),
    ],
)
def test_only_typing_errors_are_corrected(question: str, corrected: dict[str, str], tmp_path: Path) -> None:
    root = write_corpus(tmp_path / "c", {"a.en.md": [entry("a-memory", "Which memory in this world?", "Thesis.")]})
    with Store(tmp_path / "i") as store:
        build.update(corpus.read(root), store, sources(HashEncoder("d"), HashEncoder("u")), may_embed=True)

        assert spelling.corrections(question, store, lambda word: word == "softmex") == corrected
