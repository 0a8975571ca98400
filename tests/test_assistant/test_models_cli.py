"""`asknpu estimate` and `fix` as a user meets them: figures, contract, reports, refusals."""

import json
import math
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from assistant.models import charts
from tests.conftest import run_cli
from tests.test_simcore.graphs import model

W = np.random.default_rng(0).normal(size=(8, 3, 3, 3)).astype(np.float32)


def _conv(path: Path, name: str = "conv", size: object = 16, tail: str = "Relu") -> Path:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name=name, pads=[1, 1, 1, 1]),
        helper.make_node(tail, ["c"], ["y"], name=f"{name}/tail"),
    ]
    onnx.save(model(nodes, {"x": [1, 3, size, size]}, ["y"], {"w": W}, opset=13), path)
    return path


@pytest.fixture
def conv(tmp_path: Path) -> Path:
    return _conv(tmp_path / "模型 1.onnx")


def test_the_five_figures_of_the_vendor_script_come_first(conv: Path, tmp_path: Path) -> None:
    done = run_cli("estimate", "-m", str(conv), "-p", "--lang", "en", home=tmp_path)
    text = done.stdout.decode()

    assert done.returncode == 0, done.stderr
    names = ["TOTAL_WEIGHT_SIZE", "TOTAL_MEM_SIZE", "TOTAL_EXEOM_SIZE", "TOTAL_NET_OP_TYPE", "NOT_SUPPORT_OP_TYPE"]
    assert sorted(names, key=text.index) == names
    assert "conv/tail" in text or "conv" in text.split("layer", 1)[1]


def test_json_follows_the_contract(conv: Path, tmp_path: Path) -> None:
    data = json.loads(run_cli("estimate", str(conv), "--json", home=tmp_path).stdout)

    assert data["schema"] == 1 and data["device"] == "nano-035a" and data["clock_mhz"] == 64
    assert data["macs"] == 16 * 16 * 8 * 27 and data["parameters"] == 216
    assert data["op_types"] == ["Conv"] and data["unsupported"] == []
    assert data["peak"]["bytes"] >= data["peak"]["lower_bound_bytes"] > 0
    assert data["latency"]["lower_bound_ms"] == pytest.approx(math.ceil(data["macs"] / 125) / 64e3)
    assert data["weight_bytes"] == sum(part["bytes"] for part in data["parts"]["weight"])
    assert data["memory_bytes"] == sum(part["bytes"] for part in data["parts"]["memory"])
    assert all({"zh", "en"} <= set(text) for text in data["assumptions"])


def test_the_script_view_counts_what_fusion_takes_away(conv: Path, tmp_path: Path) -> None:
    script, fused = (
        json.loads(run_cli("estimate", str(conv), "--view", view, "--json", home=tmp_path).stdout)
        for view in ("script", "fused")
    )

    assert (script["op_types"], fused["op_types"]) == (["Conv", "Relu"], ["Conv"])
    assert script["memory_bytes"] > fused["memory_bytes"] and script["macs"] == fused["macs"]


def test_a_higher_clock_is_faster_in_proportion(conv: Path, tmp_path: Path) -> None:
    slow, fast = (
        json.loads(run_cli("estimate", str(conv), "--clock", clock, "--json", home=tmp_path).stdout)["latency"]
        for clock in ("64", "128")
    )

    assert slow["lower_bound_ms"] == pytest.approx(2 * fast["lower_bound_ms"])
    assert slow["estimate_ms"] == pytest.approx(2 * fast["estimate_ms"])


def test_several_models_stand_side_by_side(conv: Path, tmp_path: Path) -> None:
    other = _conv(tmp_path / "b.onnx", tail="Sqrt")
    text = run_cli("estimate", str(conv), str(other), "--lang", "zh", home=tmp_path).stdout.decode()
    data = json.loads(run_cli("estimate", str(conv), str(other), "--json", home=tmp_path).stdout)

    head = next(line for line in text.splitlines() if "b.onnx" in line)
    assert "模型 1.onnx" in head
    assert [m["unsupported"] != [] for m in data["models"]] == [False, True]


def test_an_unsupported_operator_is_named_with_what_to_do(tmp_path: Path) -> None:
    path = _conv(tmp_path / "a.onnx", tail="Sqrt")
    done = run_cli("estimate", str(path), "--lang", "en", home=tmp_path)

    assert done.returncode == 0
    assert b"Sqrt" in done.stdout and b"to do" in done.stdout


@pytest.mark.parametrize("suffix", [".md", ".html"])
def test_a_report_is_one_file_with_escaped_names(tmp_path: Path, suffix: str) -> None:
    path = _conv(tmp_path / "a.onnx", name="<b>\x1b[31m")
    target = tmp_path / f"r{suffix}"
    done = run_cli("estimate", str(path), "--report", str(target), home=tmp_path)
    text = target.read_text("utf-8")

    assert done.returncode == 0, done.stderr
    assert "TOTAL_MEM_SIZE" in text and "\x1b" not in text
    assert b"\x1b" not in done.stdout
    assert suffix == ".md" or ("<svg" in text and "<b>" not in text)
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith((".r", "r"))) == [target.name]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("estimate",), b"give an .onnx model"),
        (("estimate", "missing.onnx"), b"missing.onnx: no such file"),
        (("estimate", "{bad}"), b"bad.onnx: "),
        (("estimate", "{conv}", "--device", "tpu"), b"--device tpu: unknown; choose one of"),
        (("estimate", "{conv}", "--input", "x"), b"--input x: expected name:1,3,224,224"),
        (("estimate", "{conv}", "--input", "x:1", "--input", "x:2"), b"x is given twice"),
        (("estimate", "{conv}", "--input", "x:1,3"), b"input 'x'"),
        (("estimate", "{open}"), b"'x' is declared [1, 3, n, n]"),
        (("estimate", "{conv}", "--report", "r.pdf"), b"ends in .md or .html"),
        (("estimate", "{conv}", "--report", "no/such/folder/r.md"), b"cannot be written"),
        (("fix", "{conv}", "-o", "out.txt"), b"must end in .onnx"),
        (("fix", "{conv}", "-o", "{conv}", "--force"), b"exists already; give another name"),
        (("fix", "missing.onnx", "-o", "out.onnx"), b"missing.onnx: no such file"),
        (("fix", "{bad}", "-o", "out.onnx"), b"bad.onnx: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    conv: Path, tmp_path: Path, arguments: tuple[str, ...], problem: bytes
) -> None:
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(conv.read_bytes()[:200])
    places = {"conv": conv, "bad": bad, "open": _conv(tmp_path / "open.onnx", size="n")}
    before = set(tmp_path.iterdir())
    done = run_cli(*(a.format(**places) for a in arguments), home=tmp_path)

    assert done.returncode == 2 and done.stdout == b""
    assert problem in done.stderr and done.stderr.count(b"\n") == 1 and b"Traceback" not in done.stderr
    assert set(tmp_path.iterdir()) == before


def test_fix_writes_a_proved_model(tmp_path: Path) -> None:
    path, out = _conv(tmp_path / "a.onnx", tail="HardSwish"), tmp_path / "结果.onnx"
    _conv(path, tail="HardSigmoid")
    done = run_cli("fix", str(path), "-o", str(out), "--json", home=tmp_path)
    data = json.loads(done.stdout)
    after = json.loads(run_cli("estimate", str(out), "--json", home=tmp_path).stdout)

    assert done.returncode == 0, done.stderr
    onnx.checker.check_model(str(out))
    assert data["written"] == str(out) and data["proof"]["ok"] and len(data["proof"]["runs"]) >= 4
    assert [c["op_type"] for c in data["changes"]].count("HardSigmoid") == 1
    assert after["unsupported"] == []


def test_fix_refuses_what_is_above_the_tolerance(tmp_path: Path) -> None:
    path, out = _conv(tmp_path / "a.onnx", tail="Erf"), tmp_path / "o.onnx"
    done = run_cli("fix", str(path), "-o", str(out), "--tolerance", "0", "--lang", "en", home=tmp_path)

    # The rule states its own error, so a tolerance of 0 still allows that; rounding beyond it is refused.
    assert (done.returncode == 0) == out.exists()
    assert (b"REFUSED" in done.stdout) != out.exists()


@pytest.mark.parametrize(
    ("lang", "reason", "way_out"),
    [("en", "no rule knows it", "ArgMax where k is 1"), ("zh", "也没有改写规则", "k 为 1 时用 ArgMax")],
)
def test_fix_names_what_it_leaves_in_the_language(tmp_path: Path, lang: str, reason: str, way_out: str) -> None:
    nodes = [helper.make_node("TopK", ["x", "k"], ["v", "i"], name="top")]
    onnx.save(model(nodes, {"x": [1, 8]}, ["v"], {"k": np.int64([2])}, opset=13), tmp_path / "t.onnx")
    done = run_cli("fix", str(tmp_path / "t.onnx"), "-o", str(tmp_path / "o.onnx"), "--lang", lang, home=tmp_path)

    assert done.returncode == 1
    assert all(text in done.stdout.decode() for text in ("TopK [top]", reason, way_out))


def test_fix_does_not_replace_a_file_unless_told(tmp_path: Path) -> None:
    path, out = _conv(tmp_path / "a.onnx"), tmp_path / "o.onnx"
    out.write_text("mine")
    refused = run_cli("fix", str(path), "-o", str(out), home=tmp_path)
    kept = out.read_text("utf-8")
    forced = run_cli("fix", str(path), "-o", str(out), "--force", home=tmp_path)

    assert (refused.returncode, kept) == (2, "mine")
    assert forced.returncode == 0 and out.read_bytes() != b"mine"


def test_charts_are_well_formed_and_escaped() -> None:
    from xml.etree import ElementTree

    for chart in (charts.bars([("<a> & b", 3.0), ("c", 0.0)], "T<", "B"), charts.steps([], "T", "B"),
                  charts.steps([("<x>", 1.0), ("y", 2.0)], "T", "B", 1.5)):  # fmt: skip
        ElementTree.fromstring(chart)
