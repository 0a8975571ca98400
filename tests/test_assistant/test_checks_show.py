"""Outcomes as sentence, rows and JSON; and what every row of the table must keep."""

import json
import math
import string
from pathlib import Path

import pytest

from assistant.checks.run import run_check
from assistant.checks.show import example, rows, sentence, shown_value, to_json
from assistant.checks.table import CHECKS
from assistant.checks.types import REQUIRED, Check, Outcome, Parameter, Result
from assistant.checks.values import value_of

SAMPLE = Check(
    name="sample",
    zh="样例",
    en="sample",
    help_zh="",
    help_en="",
    asks_zh=(),
    asks_en=(),
    parameters=(Parameter("n", "integer", "个数", "count", "3"),),
    results=(
        Result("size", "大小", "size", unit="byte"),
        Result("fits", "放得下", "fits"),
        Result("verdict", "判断", "verdict", labels={"ok": ("可以", "fine"), "true": ("是的", "indeed")}),
        Result("limit", "上限", "limit", unit="MHz"),
    ),
    shown_zh="{n} 个共 {size}：{verdict}，{fits}",
    shown_en="{n} take {size}: {verdict}, {fits}",
    function=dict,
    source="none",
    assumptions=(("假设", "assumed"),),
)
FOUND = {"size": 123456, "fits": True, "verdict": "ok", "limit": math.inf}
OUTCOME = Outcome("sample", {"n": 20000}, "fail", FOUND, {"limit": -math.inf}, 0.00123456789, "differs")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9999, "9999"), (10000, "10,000"), (-1234567, "-1,234,567"), (0.1 + 0.2, "0.3"), (1 / 3, "0.3333333"),
        (65504.0, "65504"), (1e9, "1e9"), (1.5e-7, "1.5e-7"), (-0.0, "0"), (123456789.0, "1.234568e8"),
        (math.inf, "inf"), (-math.inf, "-inf"), (math.nan, "nan"), ([10000, -3], "[10000, -3]"),
        ((0.5, True, 2.0), "[0.5, yes, 2]"), (list(range(9)), "[0, 1, 2, 3, 4, 5, 6, 7, … 9 in all]"),
        (list(range(8)), "[0, 1, 2, 3, 4, 5, 6, 7]"), (False, "no"), (None, "not given"), ("int8", "int8"),
        (Path("/a/b.npy"), "b.npy"), ([], "[]"),
    ],
)  # fmt: skip
def test_values_as_text(value, text) -> None:
    assert shown_value(value, "en") == text


def test_chinese_values_and_labels() -> None:
    assert shown_value(True, "zh") == "是" and shown_value(False, "zh") == "否" and shown_value(None, "zh") == "未给"
    assert shown_value(list(range(20)), "zh").endswith("… 共 20 个]")
    verdict = SAMPLE.results[2]
    assert [shown_value("ok", lang, verdict) for lang in ("zh", "en")] == ["可以", "fine"]
    assert shown_value(True, "zh", verdict) == "是的" and shown_value("other", "zh", verdict) == "other"
    assert shown_value(["ok", "x"], "en", verdict) == "[fine, x]"


def test_sentence_and_rows() -> None:
    assert sentence(SAMPLE, OUTCOME, "zh") == "20,000 个共 123,456：可以，是"
    assert sentence(SAMPLE, OUTCOME, "en") == "20,000 take 123,456: fine, yes"
    assert rows(SAMPLE, OUTCOME, "zh") == [
        ("大小", "123,456 byte"), ("放得下", "是"), ("判断", "可以"), ("上限", "inf MHz"),
    ]  # fmt: skip
    assert rows(SAMPLE, OUTCOME, "en")[2] == ("verdict", "fine")


def test_an_outcome_without_results_shows_its_reason() -> None:
    skipped = Outcome("sample", {"n": 1}, "skip", {}, {}, 5.0, "took longer than 5 s and was given up")

    assert sentence(SAMPLE, skipped, "en") == "took longer than 5 s and was given up"
    assert sentence(SAMPLE, skipped, "zh") == "超过 5 秒，已放弃" and rows(SAMPLE, skipped, "en") == []


def test_json_is_strict_and_complete() -> None:
    data = to_json(SAMPLE, OUTCOME)

    assert json.loads(json.dumps(data, allow_nan=False)) == {
        "schema": 1,
        "check": "sample",
        "arguments": {"n": 20000},
        "status": "fail",
        "result": {"size": 123456, "fits": True, "verdict": "ok", "limit": "inf"},
        "units": {"size": "byte", "limit": "MHz"},
        "expected": {"limit": "-inf"},
        "reason": "differs",
        "assumptions": [{"zh": "假设", "en": "assumed"}],
        "source": "none",
        "seconds": 0.001235,
    }


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_row_is_complete_in_both_languages(check: Check) -> None:
    known = {parameter.name for parameter in check.parameters} | {result.name for result in check.results}

    for template in (check.shown_zh, check.shown_en):
        fields = {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
        assert fields <= known and fields & {result.name for result in check.results}
    assert 4 <= len(check.asks_zh) <= 8 and 4 <= len(check.asks_en) <= 8
    assert all((check.zh, check.en, check.help_zh, check.help_en, check.source))
    assert all(result.zh and result.en for result in check.results)


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_examples_and_defaults_are_valid(check: Check) -> None:
    for parameter in check.parameters:
        if parameter.kind == "file":
            continue
        value_of(parameter, parameter.example)
        if parameter.default is not REQUIRED and parameter.default is not None:
            assert value_of(parameter, parameter.default) == parameter.default


@pytest.mark.parametrize("check", [c for c in CHECKS.values() if c.name != "estimate_model"], ids=lambda c: c.name)
def test_examples_run_and_give_plain_results(check: Check) -> None:
    outcome = run_check(check, example(check))

    assert outcome.status == "done" and list(outcome.result) == [r.name for r in check.results]
    json.dumps(to_json(check, outcome), allow_nan=False)
    assert "{" not in sentence(check, outcome, "zh") + sentence(check, outcome, "en")
    assert all(type(v) in (int, float, bool, str, list, type(None)) for v in outcome.result.values())
