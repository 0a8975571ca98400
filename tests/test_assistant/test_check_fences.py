"""`toml check` blocks: what passes, what fails and why, and that a block can do nothing but compute."""

import time
from pathlib import Path

import pytest

from assistant.checks import fence as fence_module
from assistant.checks.fence import Fence, fences, run_fence
from assistant.checks.run import run_check
from assistant.checks.table import CHECKS
from assistant.checks.types import Check, Parameter, Result
from assistant.errors import BadInput
from kb.parse import blocks, parse_file, without_checks
from simcore.errors import BadArgument


def _fence(text: str) -> Fence:
    return Fence("entry", text, "file.en.md", 0)


HEADER = '+++\ntitle = "t"\nplatform = "nano"\nkind = "faq"\n\n[sources]\na = "A"\n+++\n'
META = '```toml entry\nsource = ["a"]\nask = ["1", "2", "3", "4"]\n```\n\n'


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """A check whose function tells what it was called with and can sleep."""
    seen: dict[str, object] = {}

    def function(**arguments: object) -> dict[str, object]:
        seen.update(arguments)
        if arguments["sleep"]:
            time.sleep(float(str(arguments["sleep"])))
        path = arguments["path"]
        assert path is None or isinstance(path, Path)
        return {"length": -1 if path is None else len(path.read_bytes())}

    check = Check(
        "probe", "", "", "", "", (), (),
        (
            Parameter("sleep", "number", "", "", "1", default=0.0),
            Parameter("path", "file", "", "", "a.bin", default=None),
        ),
        (Result("length", "", ""),), "{length}", "{length}", function, "",
    )  # fmt: skip
    monkeypatch.setitem(CHECKS, "probe", check)
    return seen


@pytest.mark.parametrize(
    ("expect", "status"),
    [
        ("expect = 65504", "pass"),
        ("expect = 65504.0", "pass"),
        ("expect = 65503", "fail"),
        ("expect = 65503\ntolerance = 1", "pass"),
        ("expect = 65503\ntolerance = 0.5", "fail"),
        ("expect = 65000\nrelative = 0.01", "pass"),
        ("expect = 65000\nrelative = 0.001", "fail"),
        ("expect = {total = 65504, exact = 100000, overflows = true}", "pass"),
        ("expect = {total = 65504, overflows = false}", "fail"),
        ("expect = {overflows = 1}", "fail"),
        ("expect = nan", "fail"),
        ("expect = inf", "fail"),
        ("expect = inf\ntolerance = inf", "fail"),
        ('expect = "65504"', "fail"),
        ("expect = [65504]", "fail"),
    ],
)
def test_a_block_passes_if_every_expected_result_is_within_the_tolerance(expect: str, status: str) -> None:
    outcome = run_fence(_fence(f'check = "fp16_sum_repeat"\nvalue = 1000\ncount = 100\n{expect}\n'))

    assert outcome.status == status
    assert bool(outcome.reason) == (status == "fail")


def test_a_failure_says_what_was_got_and_what_was_expected() -> None:
    outcome = run_fence(_fence('check = "fp16_sum_repeat"\nvalue = 1000\ncount = 100\nexpect = 100000\n'))

    assert outcome.reason == "total is 65504.0, expected 100000"
    assert outcome.expected == {"total": 100000}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("check = ", "not valid TOML"),
        ('expect = 1\ncheck = "nothing_like_it"', "no check is called 'nothing_like_it'"),
        ('check = "quant_rang"\nexpect = 1', "nearest: quant_range"),
        ("expect = 1", "no check is called '?'"),
        ('check = "quant_range"\nscale = 1', "has no 'expect'"),
        ('check = "quant_range"\nscale = 1\nexpect = {}', "'expect' is empty"),
        ('check = "quant_range"\nscale = 1\nexpect = {middle = 0}', "gives no 'middle'; it gives low, high, step"),
        ('check = "quant_range"\nexpect = 1', "needs scale (number"),
        ('check = "quant_range"\nscale = "__import__(\'os\')"\nexpect = 1', "is no number"),
        ('check = "quant_range"\nscale = 1\nfoo = 2\nexpect = 1', "has no parameter 'foo'"),
        ('check = "quant_range"\nscale = 1\nexpect = 1\ntolerance = "1"', "tolerance is '1'; expected a number"),
        ('check = "quant_range"\nscale = 1\nexpect = 1\ntolerance = -1', "tolerance is -1; expected a number"),
        ('check = "quant_range"\nscale = 0\nexpect = 1', "is too small"),
        ("a = " + "[" * 5000, "not valid TOML"),
        ("#" * 30_000, "longer than"),
    ],
)
def test_a_block_that_cannot_be_used_fails_and_says_why(text: str, problem: str) -> None:
    outcome = run_fence(_fence(text))

    assert outcome.status == "fail"
    assert problem in outcome.reason


def test_a_block_over_its_limit_is_skipped(probe: dict[str, object]) -> None:
    started = time.perf_counter()
    outcome = run_fence(_fence('check = "probe"\nsleep = 20\nexpect = 1'), limit=0.05)

    assert (outcome.status, outcome.expected) == ("skip", {"length": 1})
    assert "longer than 0.05 s" in outcome.reason
    assert time.perf_counter() - started < 10


def test_a_block_cannot_name_a_file_unless_its_document_has_a_folder(probe: dict[str, object]) -> None:
    outcome = run_fence(_fence('check = "probe"\npath = "a.bin"\nexpect = 1'))

    assert outcome.status == "fail"
    assert not probe


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "link", "sub/../../secret", "missing", "", "sub"])
def test_a_block_reads_no_file_outside_its_folder(name: str, tmp_path: Path, probe: dict[str, object]) -> None:
    (tmp_path / "secret").write_bytes(b"outside")
    inside = tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    (inside / "link").symlink_to(tmp_path / "secret")

    outcome = run_fence(_fence(f'check = "probe"\npath = "{name}"\nexpect = 7'), base=inside)

    assert outcome.status == "fail"
    assert not probe


def test_a_block_reads_the_file_it_names_in_its_folder(tmp_path: Path, probe: dict[str, object]) -> None:
    (tmp_path / "数据 1.bin").write_bytes(b"1234")

    outcome = run_fence(_fence('check = "probe"\npath = "数据 1.bin"\nexpect = 4'), base=tmp_path)

    assert outcome.status == "pass"


@pytest.mark.parametrize(
    ("raised", "seen"),
    [(ZeroDivisionError, BadInput), (MemoryError, BadInput), (BadArgument, BadInput), (KeyError, KeyError)],
)
def test_numbers_that_cannot_be_computed_are_bad_input_and_defects_are_not(
    raised: type[Exception], seen: type[Exception]
) -> None:
    def broken(**_: object) -> dict[str, object]:
        raise raised("why")

    check = Check("broken", "", "", "", "", (), (), (), (Result("x", "", ""),), "", "", broken, "")

    with pytest.raises(seen):
        run_check(check, {})


def test_blocks_are_found_with_their_place_in_the_file_and_are_no_passages() -> None:
    block = '```toml check\ncheck = "quant_range"\nscale = 1\nexpect = -128\n```\n'
    text = f"{HEADER}\n## 范围？ {{#nano-x}}\n\n{META}回答。\n\n{block}\nMore.\n\n{block}"
    (entry,) = parse_file("a.zh.md", text.encode())

    found = fences(entry)

    assert [text.encode()[f.start :].startswith(b"```toml check") for f in found] == [True, True]
    assert [run_fence(f).status for f in found] == ["pass", "pass"]
    assert [b.text for b in blocks(entry)] == ["回答。", "More."]
    assert without_checks(entry.text) == "回答。\n\n\nMore."


def test_other_fences_are_no_checks() -> None:
    text = f'{HEADER}\n## Q {{#nano-x}}\n\n{META}A.\n\n```toml\ncheck = "quant_range"\n```\n'
    (entry,) = parse_file("a.en.md", text.encode())

    assert fences(entry) == ()


def test_the_longest_block_is_bounded() -> None:
    assert fence_module.MAX_FENCE <= 100_000
