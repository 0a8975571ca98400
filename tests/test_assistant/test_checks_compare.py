"""Checks of accuracy: plain sums, files good and hostile, the vendor's procedure, one sentence each."""

import io
import math
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from assistant.checks import arrays
from assistant.checks.run import run_check
from assistant.checks.table import CHECKS
from assistant.errors import BadInput
from tests.test_assistant.spoken import run, spoken


def test_lists_against_plain_sums() -> None:
    a, b = [1.1, 1.9, 3.2], [1.0, 2.0, 3.0]
    result = run("compare_lists", {"mine": a, "golden": b}).result
    error = math.sqrt(math.fsum((x - y) ** 2 for x, y in zip(a, b, strict=True)))
    assert result["cosine_similarity"] == pytest.approx(
        math.fsum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)
    )
    assert result["relative_euclidean_distance"] == pytest.approx(error / math.hypot(*b))
    assert result["accumulated_relative_error"] == pytest.approx(0.1 + 0.05 + 0.2 / 3)
    assert result["sqnr"] == pytest.approx(20 * math.log10(math.hypot(*b) / error))
    assert (result["verdict"], result["worst"], result["overflow"]) == ("outside", 2, "unchecked")
    assert result["outside"] == ["relative_euclidean_distance", "kullback_leibler_divergence"]


@pytest.mark.parametrize(
    ("mine", "dtype", "overflow", "verdict"),
    [
        ("65504,2", "float16", "yes", "within"),
        ("65503,2", "float16", "yes", "within"),  # rounds to 65504
        ("100,2", "float16", "no", "within"),
        ("70000,2", "float16", "yes", "not_finite"),
        ("70000,2", "float32", "unchecked", "within"),
        ("nan,2", "float32", "unchecked", "not_finite"),
    ],
)
def test_overflow_is_looked_for_in_fp16(mine: str, dtype: str, overflow: str, verdict: str) -> None:
    result = run("compare_lists", {"mine": mine, "golden": mine, "dtype": dtype}).result
    assert (result["overflow"], result["verdict"]) == (overflow, verdict)


def test_files_give_what_their_lists_give(tmp_path: Path) -> None:
    a, b = (np.random.default_rng(i).normal(size=(4, 5)).astype(np.float32) for i in range(2))
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", np.asfortranarray(b))
    a.tofile(tmp_path / "a.bin")
    b.astype(">f4").tofile(tmp_path / "big.bin")
    b.tofile(tmp_path / "b.bin")
    listed = run("compare_lists", {"mine": a.ravel().tolist(), "golden": b.ravel().tolist()}).result
    for mine, golden in (("a.npy", "b.npy"), ("a.bin", "b.bin")):
        given = {"mine_file": str(tmp_path / mine), "golden_file": str(tmp_path / golden)}
        assert run("compare_lists", given).result == listed
    mixed = {"mine_file": str(tmp_path / "a.bin"), "golden": b.ravel().tolist()}
    assert run("compare_lists", mixed).result == listed


def damaged(path: Path) -> dict[str, Path]:
    """Files that must be refused, by what the refusal says."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (10**15,)})
    pickled = io.BytesIO()
    np.save(pickled, np.array([{"a": 1}], object), allow_pickle=True)
    whole = io.BytesIO()
    np.save(whole, np.ones(10))
    text = io.BytesIO()
    np.save(text, np.array(["a"]))
    contents = {
        "needs 4000000000000000 bytes": header.getvalue(),
        "never pickled": pickled.getvalue(),
        "the file has 79": whole.getvalue()[:-1],
        "holds <U1": text.getvalue(),
        "header is damaged": b"\x93NUMPY\x01\x00\x10\x00{'descr': os}   ",
        "is no .npy file": pickle.dumps([1, 2]),
    }
    found = {}
    for i, (says, data) in enumerate(contents.items()):
        found[says] = path / f"{i}.npy"
        found[says].write_bytes(data)
    for says, data in {"no whole number of float32": b"12345", "has 0 elements": b""}.items():
        found[says] = path / f"{len(found)}.bin"
        found[says].write_bytes(data)
    return found


def test_hostile_files_are_refused(tmp_path: Path) -> None:
    for says, path in damaged(tmp_path).items():
        with pytest.raises(BadInput, match=says):
            run("compare_lists", {"mine_file": str(path), "golden": "1"})


def test_files_over_the_bounds_are_refused(tmp_path: Path) -> None:
    many, large = tmp_path / "many.bin", tmp_path / "large.bin"
    for path, size in ((many, arrays.MAX_ELEMENTS + 1), (large, arrays.MAX_FILE_BYTES + 1)):
        with path.open("wb") as file:
            file.truncate(size)
    with pytest.raises(BadInput, match="can be compared at a time"):
        run("compare_lists", {"mine_file": str(many), "golden": "1", "dtype": "int8"})
    with pytest.raises(BadInput, match="larger than 64 MiB"):
        run("compare_lists", {"mine_file": str(large), "golden": "1", "dtype": "int8"})
    with pytest.raises(BadInput, match="1 to 10000"):
        run("compare_lists", {"mine": [0.0] * 10_001, "golden": "1"})


def test_only_regular_files_inside_the_folder_are_read(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out.bin"
    inside.mkdir()
    outside.write_bytes(bytes(4))
    os.mkfifo(inside / "pipe")
    (inside / "link.bin").symlink_to(outside)
    for name in ("pipe", "link.bin", "../out.bin", "."):
        with pytest.raises(BadInput, match="mine_file"):
            run_check(CHECKS["compare_lists"], {"mine_file": name, "golden": "0"}, base=inside)


@pytest.mark.parametrize(
    ("check", "given", "says"),
    [
        ("compare_lists", {"golden": "1"}, "give either the list mine or the file mine_file"),
        ("compare_lists", {"mine": "1,2", "golden": "1"}, "same shape"),
        ("compare_lists", {"mine": "1e200", "golden": "1"}, "scale both down"),
        ("layer_verdict", {"difference": -1}, "difference"),
        ("layer_verdict", {"difference": 1, "threshold": 0}, "threshold"),
        ("retention", {"quantized": "1,2", "reference": "1"}, "give pairs"),
        ("retention", {"quantized": "1", "reference": "0"}, "above 0"),
        ("retention", {"quantized": "1", "reference": "nan"}, "above 0"),
    ],
)
def test_what_does_not_fit_is_named(check: str, given: dict, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        run(check, given)


@pytest.mark.parametrize(
    ("difference", "quantized", "aligned", "step"),
    [
        (0.08, True, False, "align_settings"),
        (0.08, True, True, "quantized_operator"),
        (0.08, False, False, "operator"),
        (0.08, False, True, "operator"),
        (0.05, True, False, "raise_precision"),
        (0.03, False, False, "raise_precision"),
    ],
)
def test_layer_verdict_walks_the_four_cases(difference: float, quantized: bool, aligned: bool, step: str) -> None:
    given = {"difference": difference, "quantized": quantized, "aligned": aligned}
    assert run("layer_verdict", given).result["next"] == step


def test_retention_of_a_known_case() -> None:
    given = {"quantized": "0.75562,0.76866,0.81813,0.84732", "reference": "0.77222,0.77222,0.85376,0.85376"}
    result = run("retention", given).result
    assert [round(kept, 4) for kept in result["retention"]] == [0.9785, 0.9954, 0.9583, 0.9925]
    assert result["passes"] == [False, True, False, True]
    assert result["verdict"] == "missed"


@pytest.mark.parametrize(
    ("check", "given", "zh", "en"),
    [
        ("compare_lists", {"mine": "1.1,1.9,3.2", "golden": "1,2,3"},
         "有指标超出推荐阈值：余弦 0.9986，最大绝对误差 0.2，相对欧氏距离 0.0654654，SQNR 23.6798 dB",
         "some metric is outside the recommended limits: cosine 0.9986, largest absolute error 0.2, relative Euclidean "
         "distance 0.0654654, SQNR 23.6798 dB"),
        ("layer_verdict", {"difference": 0.08}, "先对齐两边的量化设置，再比对（差异 0.08，阈值 0.05）",
         "align the quantization settings, then compare again (difference 0.08, threshold 0.05)"),
        ("retention", {"quantized": "74.47", "reference": "75.01"},
         "达标：保持率 [0.992801]，要求 0.99，相对损失 [0.719904] %",
         "reached: retention [0.992801], asked 0.99, relative loss [0.719904] %"),
    ],
)  # fmt: skip
def test_outcomes_as_sentences(check: str, given: dict, zh: str, en: str) -> None:
    assert spoken(check, given) == (zh, en)
