"""`asknpu diagnose` as its user meets it: files, pipes, archives, following, redaction, hostile text, exit codes."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.conftest import run_cli as run_bytes

NOT_INIT = """\
[NFS]region not init
[NFS]file open fail
[ERROR][model_segment_load.c:41]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] [open][file] failed, file wake.exeom
[ERROR][ge_executor.c:99]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] Load file[wake.exeom] failed, ret = [145002]
[model.c:210]7:REPORT_CALL_ERROR query partition size failed, ge ret[145002]
"""
RULE = "nano-file-system-not-init"
CLEAN = "[INFO][model.c:83]8 model loaded\n[AI_NPU] frame 1 done, error: 0\n"


def run_cli(*arguments: str, home: Path, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
    done = run_bytes(*arguments, home=home, stdin=(stdin or "").encode())
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def diagnosed(home: Path, *arguments: str, stdin: str | None = None) -> dict[str, object]:
    done = run_cli("diagnose", *arguments, "--json", home=home, stdin=stdin)
    assert done.returncode in (0, 1), done.stderr
    data = json.loads(done.stdout)
    assert isinstance(data, dict)
    return data


def test_a_file_in_both_languages(shipped_home: Path, tmp_path: Path) -> None:
    log = tmp_path / "板 端 日志.log"
    log.write_text(NOT_INIT, encoding="utf-8")

    english = run_cli("diagnose", str(log), "--lang", "en", home=shipped_home)
    chinese = run_cli("diagnose", str(log), "--lang", "zh", home=shipped_home)

    assert (english.returncode, chinese.returncode) == (0, 0)
    assert english.stdout.startswith("Cause: ")
    assert "file system" in english.stdout.splitlines()[0]
    assert "uapi_npu_file_sys_init" in english.stdout
    assert f"{log}:1  [NFS]region not init" in english.stdout
    assert "nano-log-145002-case" in english.stdout
    assert "文件系统" in chinese.stdout.splitlines()[0]
    # The short form has no offsets and no codes; the long one has.
    assert "[0-20]" not in english.stdout
    assert "[0-20]" in run_cli("diagnose", str(log), "-v", "--lang", "en", home=shipped_home).stdout


def test_json_has_the_fields_of_the_contract(shipped_home: Path, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(NOT_INIT, encoding="utf-8")

    data = diagnosed(shipped_home, str(log), "--lang", "en")

    assert data["schema"] == 1
    assert data["verdict"] == "cause"
    first = data["findings"][0]  # type: ignore[index]
    assert (first["rule"], first["platform"], first["primary"]) == (RULE, "nano", True)
    assert 0.9 <= first["confidence"] <= 1
    assert first["entry"] == "nano-log-145002-case"
    evidence = first["evidence"][0]
    assert (evidence["file"], evidence["line"], evidence["start"], evidence["end"]) == (str(log), 1, 0, 20)
    assert log.read_bytes()[evidence["start"] : evidence["end"]].decode() == evidence["text"]
    codes = {code["code"]: code for code in data["codes"]}  # type: ignore[union-attr]
    assert codes["145002"]["platform"] == "ascend-ge"
    assert {"code", "platform", "name", "meaning", "line"} <= set(codes["545000"])
    assert data["needed"] == []


@pytest.mark.parametrize(
    ("text", "verdict", "code"),
    [
        (NOT_INIT, "cause", 0),
        (CLEAN, "clean", 0),
        ("", "clean", 0),
        ("[model.c:127]8:REPORT_CALL_ERROR sync execute model failed, ret[507899], modelId[1]\n", "undecided", 1),
        ("[ERROR] the pump broke in a way that nobody has seen\n", "undecided", 1),
    ],
)
def test_verdicts_and_exit_codes_from_a_pipe(shipped_home: Path, text: str, verdict: str, code: int) -> None:
    done = run_cli("diagnose", "-", "--json", home=shipped_home, stdin=text)

    assert (json.loads(done.stdout)["verdict"], done.returncode) == (verdict, code)
    if verdict == "undecided":
        assert json.loads(done.stdout)["needed"]


def test_packed_logs_archives_and_directories(shipped_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "incident"
    folder.mkdir()
    (folder / "app.log").write_text(CLEAN, encoding="utf-8")
    (folder / "npu.log.gz").write_bytes(gzip.compress(NOT_INIT.encode()))
    (folder / "model.exeom").write_bytes(bytes(range(256)) * 64)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("board/npu.log", NOT_INIT)

    for path in (folder, folder / "npu.log.gz", tmp_path / "all.zip"):
        data = diagnosed(shipped_home, str(path))
        assert data["verdict"] == "cause", path
        assert data["findings"][0]["evidence"][0]["line"] == 1  # type: ignore[index]
    told = run_cli("diagnose", str(folder), "-v", "--lang", "en", home=shipped_home)
    assert "model.exeom" in told.stderr


def test_evidence_in_a_rotated_file_is_cited_there(shipped_home: Path, tmp_path: Path) -> None:
    (tmp_path / "npu.log.1").write_text(CLEAN * 3, encoding="utf-8")
    (tmp_path / "npu.log").write_text(NOT_INIT, encoding="utf-8")

    data = diagnosed(shipped_home, str(tmp_path))
    evidence = data["findings"][0]["evidence"][0]  # type: ignore[index]

    assert (Path(evidence["file"]).name, evidence["line"], evidence["start"]) == ("npu.log", 1, 0)


def test_a_damaged_log_is_told_and_the_others_are_read(shipped_home: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "a.log.gz"
    damaged.write_bytes(gzip.compress(b"well\n")[:10] + b"\xff" * 40)
    alone = run_cli("diagnose", str(damaged), "--lang", "en", home=shipped_home)
    (tmp_path / "b.log").write_text("[NDRV]tsdrv_sqe_err_irq_handle\n")
    both = run_cli("diagnose", str(tmp_path), "--lang", "en", home=shipped_home)

    assert (alone.returncode, alone.stdout) == (2, "")
    assert "a.log.gz: nothing of it can be unpacked" in alone.stderr
    assert both.returncode == 0
    assert "b.log:1" in both.stdout and "a.log.gz is damaged" in both.stderr


@pytest.mark.parametrize(
    "arguments",
    [("diagnose",), ("diagnose", "missing.log"), ("diagnose", "--follow"), ("diagnose", "--follow", "a", "b")],
)
def test_bad_input_is_one_sentence(shipped_home: Path, arguments: tuple[str, ...]) -> None:
    done = run_cli(*arguments, home=shipped_home)

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


HOSTILE = [
    "[red]not red[/red] [bold]x",
    "\x1b]8;;http://evil.example/\x07click\x1b]8;;\x07",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b[2J\x1b[H wiped",
    "\x9b31m c1",
    "\u202e reversed",
    "[link=http://evil.example]x[/link]",
    "`*_<script>alert(1)</script>",
    "\x07bell",
]


@pytest.mark.parametrize("flags", [(), ("-v",), ("--redact",), ("--json",)])
def test_text_of_logs_stays_text(shipped_home: Path, flags: tuple[str, ...]) -> None:
    log = "".join(
        f"[NFS]region not init {text}\n[ERROR] strange {i} {text} fault\n[model.c:1]7:REPORT_CALL_ERROR {text} ret[545000]\n"
        for i, text in enumerate(HOSTILE)
    )

    for sample in (log, log.replace("region not init", "nothing")):
        done = run_cli("diagnose", "-", *flags, "--lang", "en", home=shipped_home, stdin=sample)
        controls = [c for c in done.stdout + done.stderr if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]
        assert controls == []
        assert "[red]not red[/red]" in done.stdout
        assert "Traceback" not in done.stderr
        if "--json" not in flags:
            assert "\u202e" not in done.stdout


def test_ask_with_pasted_lines_keeps_them_text(shipped_home: Path) -> None:
    question = NOT_INIT.replace("region not init", "region not init ``` \x1b[31m [red]")

    done = run_cli("ask", question, "--lang", "en", home=shipped_home)

    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "[red]" in done.stdout
    assert "file system was never initialised" in done.stdout


def test_ask_tells_codes_and_causes(shipped_home: Path) -> None:
    done = run_cli("ask", NOT_INIT, "--json", "--lang", "zh", home=shipped_home)
    data = json.loads(done.stdout)

    assert data["status"] == "answered"
    assert data["log"]["findings"][0]["rule"] == RULE
    assert data["entries"][0]["id"] == "nano-log-145002-case"
    assert [code["code"] for code in data["codes"]] == ["545000", "145002"]

    done = run_cli("ask", "ret = [0x7BC80], what is it", "--json", home=shipped_home)
    data = json.loads(done.stdout)
    assert (data["status"], done.returncode) == ("answered", 0)
    assert data["codes"][0]["code"] == "507008"
    assert data["unknown"] == []


def test_redacted_output_has_nothing_private(shipped_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "alice-secret"
    folder.mkdir()
    log = folder / "npu.log"
    private = "user=alice from 10.20.30.40 mac 02:1a:2b:3c:4d:5e token=ghp_abcdefghij0123456789abcdefghij012345"
    log.write_text(f"[NFS]region not init {private}\n[ERROR] broke {private}\n", encoding="utf-8")

    for flags in (("--redact", "-v"), ("--redact", "--json")):
        done = run_cli("diagnose", str(log), *flags, home=shipped_home)
        for item in ("alice", "10.20.30.40", "02:1a:2b:3c:4d:5e", "ghp_", str(folder)):
            assert item not in done.stdout, item
        assert "<ip-1>" in done.stdout
    assert "10.20.30.40" in run_cli("diagnose", str(log), home=shipped_home).stdout


# Following ------------------------------------------------------------------------------------------------------------


def following(home: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "assistant", "diagnose", "--follow", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", cwd=ROOT,
        env={**os.environ, "ASKNPU_HOME": str(home), "LANG": "C.UTF-8", "PYTHONUTF8": "1"},
    )  # fmt: skip


def next_answer(process: subprocess.Popen[str]) -> dict[str, object]:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.stderr.read() if process.stderr else ""
    data = json.loads(line)
    assert isinstance(data, dict)
    return data


def rules_of(data: dict[str, object]) -> list[str]:
    return [finding["rule"] for finding in data["findings"]]  # type: ignore[attr-defined]


def test_follow_shows_a_cause_when_its_line_comes_and_once(shipped_home: Path, tmp_path: Path) -> None:
    log = tmp_path / "serial.log"
    log.write_text(CLEAN, encoding="utf-8")
    process = following(shipped_home, str(log), "--json")
    try:
        time.sleep(0.3)
        with log.open("a", encoding="utf-8") as file:
            file.write("[NFS]region not init")
            file.flush()
            # A line is read before it ends: the board may have stopped in it.
            assert rules_of(next_answer(process)) == [RULE]
            file.write("\n" + CLEAN + "[NFS]region not init\n")
        # Rotation: the new file is another log, whose cause is told again, with its own line numbers.
        log.rename(tmp_path / "serial.log.1")
        log.write_text("[AI_NPU] boot\n[NDRV]rtsq_request fail\n", encoding="utf-8")
        data = next_answer(process)
        assert data["findings"][0]["evidence"][0]["line"] == 2  # type: ignore[index]
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err


def test_follow_of_a_pipe_ends_with_it(shipped_home: Path) -> None:
    process = following(shipped_home, "-", "--json")
    out, err = process.communicate(NOT_INIT, timeout=60)

    assert [rules_of(json.loads(line)) for line in out.splitlines()] == [[RULE]]
    assert (process.returncode, err) == (0, "")


def test_a_reader_that_goes_away_is_no_error(shipped_home: Path, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(NOT_INIT, encoding="utf-8")
    command = f"{sys.executable} -m assistant diagnose {log} -v | head -c 10"

    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, "ASKNPU_HOME": str(shipped_home)},
    )  # fmt: skip

    assert done.stderr == ""
