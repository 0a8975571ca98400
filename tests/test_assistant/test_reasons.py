"""Reasons of simcore and of the checks in Chinese: complete for models and rewrites, and for what checks refuse."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.checks import show
from assistant.checks.run import run_check
from assistant.checks.table import CHECKS
from assistant.checks.types import Check, Parameter
from assistant.errors import BadInput
from assistant.reasons import in_language, shown
from simcore.rewrite.table import REASONS, RULES, WAYS_OUT, way_out

ROOT = Path(__file__).resolve().parents[2]
TABLE = tomllib.loads((ROOT / "assistant" / "reasons.zh.toml").read_text("utf-8"))
SENTENCES = {en: zh for name, section in TABLE.items() if isinstance(section, dict) for en, zh in section.items()}
#: Errors that models and rewrites end with, whatever the arguments.
KINDS = {"ModelError", "UnsupportedOp", "Declined", "Inapplicable"}
#: Files in which wrong arguments are wrong models: operators, shapes, feeds.
OF_MODELS = ("ops/", "shapes.py", "open_inputs.py", "execute.py", "graph.py", "plan.py", "estimate.py")
#: Written with a word in a blank; both sentences that come of it stand in the table.
TWO_SENTENCES = "has 7 7; the operator takes at most 7"
#: Written with a sentence in a blank, by `execute`; see the reasons below.
ANY_PROBLEM = "7; the inputs are 7"


def _written(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values)
    return None


def _raised() -> Iterator[tuple[str, str]]:
    """Yield (place, sentence) of every error that simcore writes out for models, 7 in its blanks."""
    for path in sorted((ROOT / "simcore").rglob("*.py")):
        place = path.relative_to(ROOT / "simcore").as_posix()
        kinds = KINDS | ({"BadArgument"} if place.startswith(OF_MODELS) else set())
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds and node.args:
                sentence = _written(node.args[0])
                if sentence is not None:
                    yield f"{place}:{node.lineno}", sentence


def test_every_sentence_that_simcore_refuses_a_model_with_has_a_chinese_one() -> None:
    raised = list(_raised())
    missing = [(place, sentence) for place, sentence in raised if in_language(sentence, "zh") is None]

    assert len(raised) > 200
    assert [one for one in missing if one[1] not in (TWO_SENTENCES, ANY_PROBLEM)] == []


@pytest.mark.parametrize(
    "reasons",
    [
        [*WAYS_OUT.values(), way_out("Unheard", ""), way_out("Unheard", "com.microsoft")],
        [*REASONS.values()],
        [rule.exactness for rule in RULES],
    ],
    ids=["ways out", "operators without a rule", "exactness"],
)
def test_every_word_about_a_rewrite_has_a_chinese_one(reasons: list[str]) -> None:
    assert [reason for reason in reasons if in_language(reason, "zh") is None] == []


def test_every_chinese_sentence_has_the_blanks_of_its_english_one() -> None:
    for english, chinese in SENTENCES.items():
        names = re.findall(r"\{(\w+)\}", english)

        assert sorted(names) == sorted(set(names)), english
        assert set(re.findall(r"\{(\w+)\}", chinese)) <= set(names), english
        assert re.search("[\u4e00-\u9fff]", chinese) or "Amdahl" in chinese, english


def _ends(parameter: Parameter) -> list[str]:
    ends = [
        str(int(end)) if parameter.kind in ("integer", "integers") else repr(float(end))
        for end in (parameter.low, parameter.high)
        if end is not None and parameter.kind in ("number", "integer", "numbers", "integers")
    ]
    if parameter.kind in ("numbers", "integers"):
        return [*ends, "1", "1,2,3"]
    return [*ends, *parameter.choices, *(["true", "false"] if parameter.kind == "flag" else [])]


def _refused(check: Check) -> Iterator[str]:
    """Yield what a check says of its example with one value, or two neighbours, at an end of their range."""
    example = show.example(check)
    changes = [{p.name: end} for p in check.parameters for end in _ends(p)]
    pairs = zip(check.parameters, check.parameters[1:], strict=False)
    changes += [{a.name: x, b.name: y} for a, b in pairs for x in _ends(a)[:2] for y in _ends(b)[:2]]
    for change in changes:
        try:
            run_check(check, {**example, **change}, limit=2.0)
        except BadInput as error:
            yield str(error).removeprefix(f"{check.name}: ")


def test_what_checks_refuse_is_said_in_chinese() -> None:
    cheap = [check for check in CHECKS.values() if check.name not in ("estimate_model", "rnn_drift")]
    said = {reason for check in cheap for reason in _refused(check)}

    assert len(said) > 30
    assert [reason for reason in sorted(said) if in_language(reason, "zh") is None] == []


@pytest.mark.parametrize(
    ("reason", "want"),
    [
        ("no axis is left to normalize over", "没有剩下可归一化的轴"),
        (
            "/x/模型.onnx: node 'a: b; c' (Conv): input W (number 1) is missing",
            "/x/模型.onnx：节点 'a: b; c' (Conv)：缺少输入 W（第 1 个，从 0 数起）",
        ),
        (
            "zeros, seed 0: graph 'g': 2 weights have no data, the first is 'w'; "
            "put the external data file beside the model",
            "全零输入（种子 0）：图 'g'：2 个权重没有数据，第一个是 'w'；请把外部数据文件放在模型旁边",
        ),
        (
            "the rank of 'x' is not known; give the shapes of the inputs; the factors are not whole",
            "'x' 的轴数不明；请给出输入形状；倍数不是整数",
        ),
        ("-o x.onnx: cannot be written: Permission denied", "-o x.onnx：写不进去：没有权限"),
        ("shape [1] is too large (inputs: float32 [1])", "形状 [1] 太大（输入：float32 [1]）"),
        ("no feed for x, y; the inputs are x, y", "没有给输入 x, y；输入有 x, y"),
        ("has 3 inputs; the operator takes at most 2", "有 3 个输入；这个算子最多 2 个"),
        ("the element type of '{x} [red]' is not known; give the shapes of the inputs",
         "'{x} [red]' 的数据类型不明；请给出输入形状"),
    ],
)  # fmt: skip
def test_a_reason_in_chinese(reason: str, want: str) -> None:
    assert in_language(reason, "zh") == want
    assert in_language(reason, "en") == reason


def test_an_unknown_reason_is_introduced_in_chinese() -> None:
    assert in_language("quite another thing", "zh") is None
    assert shown("quite another thing", "zh") == "程序的原话：quite another thing"
    assert shown("quite another thing", "en") == "quite another thing"


@pytest.mark.parametrize("text", ["", ": ", "a: b; " * 4000, "; : " * 400, "{}" * 900])
def test_a_hostile_text_is_unknown_and_nothing_else(text: str) -> None:
    assert in_language(text, "zh") is None
