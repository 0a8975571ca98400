"""The log rules of the corpus: form, samples, and whether each of their parts is needed."""

import pytest

from assistant.logs.lint import form_problems, mutation_problems, sample_problems
from assistant.logs.rules import Rule, rules
from tests.conftest import ROOT

FILES = sorted(path.name for path in (ROOT / "corpus" / "rules").glob("*.toml"))


def of_file(name: str) -> list[Rule]:
    return [rule for rule in rules() if rule.place.startswith(f"corpus/rules/{name},")]


def entry_ids() -> frozenset[str]:
    import re

    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "corpus").glob("*/*.en.md")]
    return frozenset(found for text in texts for found in re.findall(r"(?m)^## .*\{#([\w-]+)\}", text))


def test_form() -> None:
    problems = form_problems(rules(), entry_ids())

    assert problems == []


@pytest.mark.parametrize("name", FILES)
def test_samples(name: str) -> None:
    problems = [problem for rule in of_file(name) for problem in sample_problems(rule, rules())]

    assert problems == []


@pytest.mark.parametrize("name", FILES)
def test_every_part_of_a_rule_is_needed(name: str) -> None:
    problems = [problem for rule in of_file(name) for problem in mutation_problems(rule)]

    assert problems == []
