"""The gold suite of log diagnosis is what it says it is, and perturbations leave what a log says."""

import ipaddress
import random
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from assistant.logs.codes import find_codes
from assistant.logs.decode import lines
from assistant.logs.grammars import GRAMMARS
from assistant.logs.records import head
from assistant.logs.table import table
from tests.test_assistant.log_perturbations import BYTES, PERTURBATIONS, REWRITES

PATH = Path(__file__).parent.parent / "data" / "log_cases.toml"
CASES = tomllib.loads(PATH.read_text("utf-8"))["case"]
IDS = [case["id"] for case in CASES]
FIELDS = {
    "id": str,
    "level": str,
    "origin": str,
    "verdict": str,
    "cause_words": list,
    "wrong_words": list,
    "log": str,
    "deciding": list,
    "codes": list,
}
EXAMPLE_NETWORKS = [ipaddress.ip_network(net) for net in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")]

each_case = pytest.mark.parametrize("case", CASES, ids=IDS)
each_perturbation = pytest.mark.parametrize("name", PERTURBATIONS)


def perturb(name: str, log: str) -> str | bytes:
    return PERTURBATIONS[name](log, random.Random(f"{name} {log}"))


def seen(log: str | bytes) -> list[str]:
    """Return the lines as the reader gets them: decoded, without prefixes and colours."""
    return [line.text for line in lines(log.encode() if isinstance(log, str) else log)]


def messages(log: str) -> list[str]:
    """Return what each line says behind its head, from its first letter or digit to its last."""
    found = []
    for text in seen(log):
        fields = head(text)[1]
        found.append(re.sub(r"^\W+|\W+$", "", fields.get("whole") or fields.get("message", "")))
    return [message for message in found if message]


def joined(name: str, result: str | bytes) -> str:
    return ("" if name.startswith("wrapped") else "\n").join(seen(result))


def codes_of(rows: list[str]) -> Counter[str]:
    return Counter(found.code for row in rows for found in find_codes(row))


class TestCases:
    """The cases are complete, unambiguous and fit to publish."""

    @each_case
    def test_has_the_fields_of_a_case(self, case):
        assert list(case) == list(FIELDS)
        assert {name: type(value) for name, value in case.items()} == FIELDS
        assert case["level"] in ("A", "B")
        assert case["verdict"] in ("cause", "undecided", "clean")
        assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", case["id"])
        assert len(case["origin"]) > 10

    @each_case
    def test_words_are_given_for_causes_only(self, case):
        words = case["cause_words"]
        assert bool(words) == (case["verdict"] == "cause")
        assert all(isinstance(group, list) and group and all(len(word) >= 3 for word in group) for group in words)
        assert not case["deciding"] or case["verdict"] == "cause"
        assert case["verdict"] != "clean" or not case["codes"]

    @each_case
    def test_an_answer_can_have_the_cause_words_without_a_wrong_one(self, case):
        wrong = [word.lower() for word in case["wrong_words"]]
        for group in case["cause_words"]:
            assert any(not any(bad in word.lower() for bad in wrong) for word in group)

    @each_case
    def test_deciding_fragments_occur_and_something_bad_is_left_without_them(self, case):
        rows = case["log"].split("\n")
        for fragment in case["deciding"]:
            assert any(fragment in row for row in rows), fragment
        if case["deciding"]:
            left = [row for row in rows if not any(fragment in row for fragment in case["deciding"])]
            assert re.search(r"(?i)fail|error|-1\b|warn", "\n".join(left))

    @each_case
    def test_codes_stand_in_the_log_and_in_a_table(self, case):
        assert set(case["codes"]) <= set(codes_of(seen(case["log"])))
        assert all(table().of(code) for code in case["codes"])

    @each_case
    def test_has_no_private_data(self, case):
        text = case["log"]
        for address in re.findall(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])", text):
            assert any(ipaddress.ip_address(address) in net for net in EXAMPLE_NETWORKS), address
        assert not re.search(r"(?<![\w/.|])/(?:home|root|mnt|usr|opt|tmp|data|var|srv|work|cache|Users)/", text)
        assert not re.search(r"[A-Za-z]:\\|\w@[\w-]+\.[a-z]{2,}|https?://", text)
        assert not re.search(r"(?i)\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b|token=|password", text)

    def test_no_two_are_the_same(self):
        assert len(set(IDS)) == len(IDS)
        assert len({case["log"].strip() for case in CASES}) == len(CASES)

    def test_there_are_enough_of_each_kind(self):
        nano = [case for case in CASES if case["id"].startswith("nano-") and case["verdict"] == "cause"]
        assert len(CASES) >= 95
        assert len(nano) >= 12
        assert sum(case["verdict"] == "clean" for case in CASES) >= 20
        assert sum(case["id"].startswith("misleading-") for case in CASES) >= 16

    @pytest.mark.parametrize(
        ("start", "least"),
        [("145002", 4), ("545000", 1), ("507899", 3), ("207001", 2), ("207005", 1), ("500001", 3), ("port-16666", 2)],
    )
    def test_every_misleading_number_is_there(self, start, least):
        assert sum(name.startswith(f"misleading-{start}") for name in IDS) >= least

    def test_the_clean_logs_have_every_grammar_of_a_run(self):
        found = {head(text)[0].name for case in CASES if case["verdict"] == "clean" for text in seen(case["log"])}
        of_errors = {"cann-block", "torch-npu", "python-traceback"}
        assert {grammar.name for grammar in GRAMMARS} - of_errors <= found

    def test_no_clean_log_has_a_code(self):
        assert [case["id"] for case in CASES if case["verdict"] == "clean" and codes_of(seen(case["log"]))] == []


class TestPerturbations:
    """A perturbation does what it says and nothing else."""

    @each_perturbation
    def test_says_in_one_line_what_it_does(self, name):
        function = PERTURBATIONS[name]
        assert function.__name__ == name
        assert function.__doc__ and "\n" not in function.__doc__.strip()

    @each_perturbation
    def test_gives_the_same_for_the_same_seed(self, name):
        for case in CASES:
            assert perturb(name, case["log"]) == perturb(name, case["log"])

    @each_perturbation
    def test_gives_bytes_only_where_the_encoding_is_the_point(self, name):
        assert isinstance(perturb(name, CASES[0]["log"]), bytes) == (name in BYTES)

    @each_perturbation
    def test_changes_some_log(self, name):
        assert any(perturb(name, case["log"]) not in (case["log"], case["log"].encode()) for case in CASES) or (
            name == "utf_8"
        )

    @pytest.mark.parametrize("name", [name for name in PERTURBATIONS if name not in REWRITES])
    def test_leaves_every_message_in_its_order(self, name):
        for case in CASES:
            text, place = joined(name, perturb(name, case["log"])), 0
            for message in messages(case["log"]):
                place = text.find(message, place)
                assert place >= 0, (case["id"], message)
                place += len(message)

    @pytest.mark.parametrize("name", sorted(REWRITES))
    def test_rewriting_leaves_the_lines_and_the_deciding_fragments(self, name):
        for case in CASES:
            result = perturb(name, case["log"])
            assert result.count("\n") == case["log"].count("\n")
            assert all(fragment in result for fragment in case["deciding"])

    @pytest.mark.parametrize("name", [name for name in PERTURBATIONS if not name.startswith("wrapped")])
    def test_leaves_the_codes(self, name):
        for case in CASES:
            assert codes_of(seen(perturb(name, case["log"]))) == codes_of(seen(case["log"])), case["id"]

    def test_noise_is_harmless(self):
        for case in CASES:
            noisy = str(perturb("more_noise", case["log"])).split("\n")
            added = set(noisy) - set(case["log"].split("\n"))
            other = {row for row in str(perturb("second_task", case["log"])).split("\n") if row.startswith("monitor-1")}
            assert added and other
            assert not [row for row in added | other if re.search(r"(?i)err|fail|warn|invalid|time-?out|lost", row)]

    def test_renamed_models_keep_kind_and_length(self):
        log = "Load file[a/gesture.exeom] failed\nLoad file[a/gesture.exeom] failed, optype ai.onnx::11::X\n"
        result = perturb("other_model_names", log)
        assert "gesture" not in result
        assert re.fullmatch(
            r"Load file\[a/(\w{7})\.exeom\] failed\nLoad file\[a/\1\.exeom\] failed, optype ai\.onnx::11::X\n", result
        )

    def test_threads_and_lines_stay_the_same_for_the_same_place(self):
        log = "[ERROR][model.c:83]8 x\n[ERROR][model.c:83]8 y\n[ERROR][ge_executor.c:132]8:z\n"
        found = re.findall(r"(\w+\.c):(\d+)\](\d+)", perturb("other_lines_and_threads", log))
        assert found[0] == found[1]
        assert {tid for _, _, tid in found} == {found[0][2]}
        assert found[0][1:] != ("83", "8")

    @pytest.mark.parametrize("width", [80, 120])
    def test_wrapped_lines_have_the_width_of_the_terminal(self, width):
        log = "[ERROR][model.c:83]8 " + "word " * 60 + "\n  " + "continuation " * 20 + "\n"
        first, *rest = str(perturb(f"wrapped_{width}", log)).split("\n")
        assert len(first) == width
        assert rest[-2].startswith("  continuation")
        assert len(rest[-2]) > width

    def test_lost_heads_leave_the_text_of_the_message(self):
        log = "[ERROR][model.c:83]8 hal execute failed ret[-1].\n[ERROR]x\n"
        for name, least in (
            ("lost_heads", "hal execute failed ret[-1]."),
            ("lost_levels", "[model.c:83]8 hal execute"),
        ):
            results = {str(PERTURBATIONS[name](log, random.Random(seed))) for seed in range(20)}
            assert any(result.startswith(least) for result in results)
            assert all("hal execute failed ret[-1]." in result for result in results)
