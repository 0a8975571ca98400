"""Root causes: the gold logs as they are and as they come to a reader, evidence by the byte, portions of any size."""

import gzip
import random
import tomllib
from functools import cache
from typing import Any

import pytest

from assistant.logs.decode import Decoder, lines
from assistant.logs.diagnose import Diagnoser, diagnose
from assistant.logs.keywords import Keywords
from assistant.logs.rules import parse, rules
from assistant.logs.scan import FIRST, LATER, SUSPECTS_MOST, Scanner
from assistant.logs.store import Store
from assistant.logs.types import Diagnosis
from tests.conftest import ROOT
from tests.test_assistant.log_perturbations import PERTURBATIONS

CASES: list[dict[str, Any]] = tomllib.loads((ROOT / "tests/data/log_cases.toml").read_text(encoding="utf-8"))["case"]
BY_ID = {case["id"]: case for case in CASES}
#: Share of the gold logs whose right cause comes first, as they are and under every perturbation.
RIGHT_LEAST = 0.95
SYMPTOMS = {rule.id for rule in rules() if rule.role == "symptom"}


def data_of(case: dict[str, Any], name: str = "") -> bytes:
    if not name:
        return case["log"].encode()
    changed = PERTURBATIONS[name](case["log"], random.Random(f"{case['id']} {name}"))
    return changed.encode() if isinstance(changed, str) else changed


@cache
def diagnosed(case_id: str, name: str = "") -> Diagnosis:
    return diagnose(data_of(BY_ID[case_id], name))


def answer(diagnosis: Diagnosis) -> str:
    """Return the text of the first answer, empty if there is none."""
    first = next((finding for finding in diagnosis.findings if finding.primary), None)
    return first.cause_en.lower() if first else ""


def is_right(case: dict[str, Any], diagnosis: Diagnosis) -> bool:
    if diagnosis.verdict != case["verdict"]:
        return False
    text = answer(diagnosis)
    words = all(any(word.lower() in text for word in words) for words in case.get("cause_words", []))
    return words and not any(word.lower() in text for word in case.get("wrong_words", []))


def wrong(name: str) -> list[str]:
    return [case["id"] for case in CASES if not is_right(case, diagnosed(case["id"], name))]


def test_the_right_cause_comes_first() -> None:
    missed = wrong("")

    assert len(missed) <= (1 - RIGHT_LEAST) * len(CASES), missed


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_the_right_cause_comes_first_however_the_log_comes(name: str) -> None:
    missed = wrong(name)

    assert len(missed) <= (1 - RIGHT_LEAST) * len(CASES), missed


@pytest.mark.parametrize("name", ["", *PERTURBATIONS])
def test_no_wrapper_is_an_answer_and_no_harmless_log_has_a_cause(name: str) -> None:
    for case in CASES:
        diagnosis = diagnosed(case["id"], name)
        assert not [f.rule for f in diagnosis.findings if f.primary and f.rule in SYMPTOMS], case["id"]
        if case["verdict"] != "cause":
            assert answer(diagnosis) == "", case["id"]


@pytest.mark.parametrize("case", [c for c in CASES if c.get("deciding")], ids=lambda case: case["id"])
def test_without_the_deciding_line_nothing_is_decided(case: dict[str, Any]) -> None:
    left = [line for line in case["log"].splitlines() if not any(text in line for text in case["deciding"])]

    diagnosis = diagnose("\n".join(left).encode())

    assert diagnosis.verdict == "undecided", answer(diagnosis)
    assert diagnosis.needed


def test_codes_of_the_log_are_explained() -> None:
    for case in CASES:
        told = {code.code for code in diagnosed(case["id"]).codes}
        assert set(case.get("codes", [])) <= told, case["id"]


@pytest.mark.parametrize("name", ["", *PERTURBATIONS])
def test_evidence_stands_where_it_says(name: str) -> None:
    for case in CASES:
        data = data_of(case, name)
        unpacked = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        diagnosis = diagnosed(case["id"], name)
        # Cited bytes are read as their place in the log would be: with the form that its beginning decides.
        decoder = Decoder()
        every = [line for block in [*decoder.feed(unpacked), *decoder.finish()] for line in block.lines()]
        at = {line.start: line for line in every}
        for finding in diagnosis.findings:
            assert finding.evidence, finding.rule
            for one in finding.evidence:
                line = at[one.start]
                assert line.number == one.line
                # A broken line goes on in the next ones.
                text = "".join(other.text for other in every if one.start <= other.start and other.end <= one.end)
                assert one.text == text[: len(one.text)]
                assert one.text


def test_evidence_in_a_very_long_line_is_the_part_that_matters() -> None:
    data = b"x" * 200_000 + b" [NFS]region not init " + "模型".encode() * 40_000 + b"\nnext\n"

    finding = next(f for f in diagnose(data).findings if f.primary)
    one = finding.evidence[0]

    assert b"region not init" in data[one.start : one.end]
    assert data[one.start : one.end].decode() == one.text
    assert one.line == 1


def test_a_text_across_two_pieces_of_a_long_line_is_found() -> None:
    for shift in range(0, 30, 3):
        data = b"y" * (65_536 - shift) + b"region not init" + b"z" * 70_000 + b"\n"
        assert diagnose(data).verdict == "cause", shift


# Portions --------------------------------------------------------------------------------------------------------------


@cache
def _keywords() -> Keywords:
    return Diagnoser()._wanted.keywords


def scanned(portions: list[bytes]) -> Store:
    """Return what scanning finds; the diagnosis is a function of it alone."""
    store = Store()
    decoder, scanner = Decoder(), Scanner(0, _keywords(), store)
    for portion in portions:
        for block in decoder.feed(portion):
            scanner.scan(block)
    for block in decoder.finish():
        scanner.scan(block)
    scanner.finish()
    return store


def split(data: bytes, rng: random.Random) -> list[bytes]:
    if rng.random() < 0.2:
        size = rng.choice([1, 2, 3, 7, 64])
        return [data[i : i + size] for i in range(0, len(data), size)]
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(1, 12)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@pytest.mark.parametrize("group", range(8))
def test_portions_change_nothing(group: int) -> None:
    """10,400 splits in all groups: 1,300 in each."""
    rng = random.Random(group)
    names = [name for name in PERTURBATIONS if name != "gzip"]
    for _ in range(260):
        case, name = rng.choice(CASES), rng.choice(names)
        data = data_of(case, name)
        whole = scanned([data])
        for _ in range(5):
            portions = split(data, rng)
            assert scanned(portions) == whole, (case["id"], name, [len(one) for one in portions])


def test_portions_of_a_long_mixed_log_change_nothing() -> None:
    rng = random.Random(7)
    pieces = []
    for _ in range(120):
        pieces.append(
            data_of(rng.choice(CASES), rng.choice(["", "coloured_lines", "wrapped_80", "more_noise"])) + b"\n"
        )
        if rng.random() < 0.15:
            pieces.append(
                b"w" * rng.randrange(60_000, 200_000) + b" region not init " + b"v" * rng.randrange(90_000) + b"\n"
            )
    data = b"".join(pieces)
    whole = scanned([data])

    for size in (1000, 4096, 65_536, 99_991, 1 << 20):
        assert scanned([data[i : i + size] for i in range(0, len(data), size)]) == whole, size


def test_a_growing_log_shows_what_the_whole_shows() -> None:
    """What follow would show at the end is what reading at once shows; in between no line is lost."""
    rng = random.Random(11)
    for case in rng.sample(CASES, 15):
        data = data_of(case)
        diagnoser = Diagnoser()
        log = diagnoser.add()
        for portion in split(data, rng)[:50]:
            diagnoser.feed(log, portion)
            diagnoser.diagnosis()
        fed = b"".join(split(data, random.Random(0)))
        assert fed == data
        other = Diagnoser()
        other_log = other.add()
        for portion in split(data, rng):
            other.feed(other_log, portion)
            other.diagnosis()
        assert other.diagnosis() == diagnose(data), case["id"]


def test_the_last_line_counts_before_it_ends() -> None:
    diagnoser = Diagnoser()
    log = diagnoser.add()
    diagnoser.feed(log, b"[NFS]region not init")

    assert diagnoser.diagnosis().verdict == "cause"

    diagnoser.feed(log, b"ialised, said the test\n")

    assert diagnoser.diagnosis().findings[0].evidence[0].text == "[NFS]region not initialised, said the test"


# What is kept is bounded ------------------------------------------------------------------------------------------------


def test_very_frequent_lines_are_kept_in_part_and_the_rare_one_is_found() -> None:
    storm = b"[ERROR][model.c:127]8:REPORT_CALL_ERROR sync execute model failed, ret[507899], modelId[1]\n"
    count = (3 << 20) // len(storm)
    data = storm * count + b"[NDRV]tsdrv_sqe_err_irq_handle\n" + storm * 10

    store = scanned([data])
    diagnosis = diagnose(data)

    assert all(len(hits) <= FIRST + LATER * 4 for hits in store.hits.values())
    assert store.matched_lines == count + 11
    assert diagnosis.verdict == "cause"
    assert diagnosis.findings[0].evidence[0].line == count + 1


def test_lines_matched_are_those_that_grep_counts() -> None:
    rng = random.Random(3)
    data = b"".join(data_of(rng.choice(CASES), rng.choice(["", "more_noise", "crlf"])) + b"\n" for _ in range(60))
    patterns = _keywords().anchors

    expected = sum(any(pattern in line for pattern in patterns) for line in data.split(b"\n"))

    assert scanned([data]).matched_lines == expected


def test_lines_of_alarm_count_by_their_form_only_and_again_in_each_mib() -> None:
    alarm = b"worker failed badly at step 7\n"
    data = alarm * ((2 << 20) // len(alarm) + 1) + b"another thing failed\n" + b"[NDRV]tsdrv_sqe_err_irq_handle\n"

    store = scanned([data])
    diagnosis = diagnose(data)

    assert store.matched_lines == 1
    assert [suspect.count for suspect in store.suspects.values()] == [2 * SUSPECTS_MOST, 1]
    assert [(one.count, one.at_least) for one in diagnosis.unknown] == [(2 * SUSPECTS_MOST, True), (1, True)]
    assert diagnosis.verdict == "cause"


def test_a_growing_log_tells_of_lines_of_alarm() -> None:
    diagnoser = Diagnoser()
    log = diagnoser.add()
    before = diagnoser.found_lines
    diagnoser.feed(log, b"all is well\n")
    calm = diagnoser.found_lines
    diagnoser.feed(log, b"worker failed badly\n" * 3)

    assert (before, calm, diagnoser.found_lines) == (0, 0, 3)


# Several logs, tasks, platforms ----------------------------------------------------------------------------------------


RULES = parse(
    """
platform = "nano"
[[rule]]
id = "first"
certainty = "documented"
cause_zh = "甲 {what}"
cause_en = "cause one: {what}"
steps_zh = []
steps_en = []
source = "s"
all = [{ text = "alpha broke", match = "alpha broke: (?P<what>[a-z]{1,20})" }, "beta follows"]
order = true
window = 5
none = ["gamma is there"]
explains = ["second"]
[[rule]]
id = "second"
certainty = "confirmed"
cause_zh = "乙"
cause_en = "cause two"
source = "s"
all = ["delta broke"]
[[rule]]
id = "waits"
certainty = "documented"
spreads = true
cause_zh = "丙"
cause_en = "another task stopped"
source = "s"
all = ["peer is gone"]
[[rule]]
id = "outer"
role = "symptom"
certainty = "documented"
cause_zh = "丁"
cause_en = "outer"
needs_zh = ["更多"]
needs_en = ["more"]
source = "s"
all = [{ code = "507899" }]
[[rule]]
id = "fine"
role = "benign"
certainty = "documented"
cause_zh = "戊"
cause_en = "fine"
source = "s"
all = ["ERROR but harmless"]
""",
    "test.toml",
)


def told(*logs: str) -> tuple[str, list[str]]:
    diagnosis = diagnose([[log.encode()] for log in logs], RULES)
    return diagnosis.verdict, [finding.rule for finding in diagnosis.findings if finding.primary]


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("alpha broke: pump\nbeta follows\n", ("cause", ["first"])),
        ("beta follows\nalpha broke: pump\n", ("clean", [])),
        ("alpha broke: pump\n" + "x\n" * 5 + "beta follows\n", ("clean", [])),
        ("alpha broke: pump\n" + "x\n" * 3 + "beta follows\n", ("cause", ["first"])),
        ("alpha broke: 77\nbeta follows\n", ("clean", [])),
        ("alpha broke: pump\nbeta follows\ngamma is there\n", ("clean", [])),
        ("gamma is there\n" + "x\n" * 9 + "alpha broke: pump\nbeta follows\n", ("cause", ["first"])),
        # A consequence is no answer, wherever it stands; a wrapper never is.
        ("delta broke\nalpha broke: pump\nbeta follows\n", ("cause", ["first"])),
        ("ret[507899]\ndelta broke\n", ("cause", ["second"])),
        ("ret[507899]\n", ("undecided", [])),
        ("ERROR but harmless\n", ("clean", [])),
        ("ERROR of a kind that nobody knows\n", ("undecided", [])),
        ("all is well, 0 errors, ret = 0\n", ("clean", [])),
        # The earliest cause of a task is the answer.
        ("delta broke\npeer is gone\n", ("cause", ["second"])),
        ("peer is gone\n", ("cause", ["waits"])),
        # Each task has its own.
        ("[rank0]: delta broke\n[rank1]: alpha broke: pump\n[rank1]: beta follows\n", ("cause", ["second", "first"])),
        ("[rank0]: alpha broke: pump\n[rank1]: beta follows\n", ("clean", [])),
        ("[rank0]: peer is gone\n[rank1]: delta broke\n", ("cause", ["second"])),
    ],
)
def test_how_evidence_is_weighed(log: str, expected: tuple[str, list[str]]) -> None:
    assert told(log) == expected


def test_several_logs_of_one_incident() -> None:
    assert told("alpha broke: pump\n", "beta follows\n") == ("cause", ["first"])
    assert told("[rank0]: peer is gone\n", "[rank1]: delta broke\n") == ("cause", ["second"])
    assert told("alpha broke: pump\nbeta follows\n", "gamma is there\n") == ("clean", [])
    # By their times, not by the order in which they are given.
    late = "2026-01-02 03:04:09 ERROR [rank0] peer is gone\n2026-01-02 03:04:10 ERROR delta broke\n"
    early = "2026-01-02 03:04:05 ERROR alpha broke: pump\n2026-01-02 03:04:06 ERROR beta follows\n"
    assert told(late, early)[1][:1] == ["first"]


def test_what_was_captured_is_told() -> None:
    finding = diagnose(b"alpha broke: pump\nbeta follows\n", RULES).findings[0]

    assert (finding.cause_en, finding.cause_zh) == ("cause one: pump", "甲 pump")
    assert [one.line for one in finding.evidence] == [1, 2]


def test_tied_causes_are_candidates_of_half_the_confidence() -> None:
    twin = parse(
        'platform="nano"\n'
        + "\n".join(
            f'[[rule]]\nid="{name}"\ncertainty="documented"\ncause_zh="x"\ncause_en="{name}"\nsource="s"\nall=["both said"]\n'
            for name in ("left", "right")
        ),
        "twin.toml",
    )

    diagnosis = diagnose(b"both said\n", twin)

    assert [(f.rule, f.primary, f.confidence) for f in diagnosis.findings] == [
        ("left", True, 0.475),
        ("right", True, 0.475),
    ]


def test_unknown_lines_are_grouped_with_counts() -> None:
    log = "".join(f"[ERROR] pump {i} stopped at 0x{i:04x} after {i}.5 s in /data/run{i}/log.txt\n" for i in range(40))
    log += "[ERROR] valve stuck\n[INFO] no error here\n[WARN] slow\n"

    unknown = diagnose(log.encode(), RULES).unknown

    assert [(one.template, one.count) for one in unknown] == [
        ("[ERROR] pump N stopped at <hex> after N s in <path>", 40),
        ("[ERROR] valve stuck", 1),
    ]
    assert unknown[0].first.line == 1


@pytest.mark.parametrize(
    "line",
    [
        "[INFO] error handler registered",
        "errors=0 warnings=2",
        "no error found",
        "0 failed, 12 passed",
        "error code: 0",
        "mean error 0.013, max error 0.2",
        "ret = 0, error_count: 0",
        "没有错误，失败次数：0",
        "2026-01-02 03:04:05 DEBUG retry after timeout failed once",
        "test_failure_path.py ok",
        "sha 145002e5f507899aa545000",
    ],
)
def test_lines_that_only_sound_bad_are_clean(line: str) -> None:
    assert diagnose(line.encode() + b"\n").verdict == "clean"


def test_a_hostile_log_takes_linear_time_and_breaks_nothing() -> None:
    for text in (
        b"[" * 300_000,
        b"[ERROR]" * 40_000,
        b"\x1b]8;;http://x\x07" * 20_000 + b"region not init",
        b"{" + b'"log":"' * 30_000,
        bytes(range(256)) * 1_000,
        b"\r" * 200_000,
        b"\xff\xfe" + b"\x00\xd8" * 50_000,
        b"ret = [" * 30_000,
    ):
        diagnose(text)
        assert len(list(lines(text))) < 400_000
