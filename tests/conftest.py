"""Fixtures shared by all tests: the shipped corpus with a real index, and small corpora with a cheap encoder."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# Workers share the cores among them; before numpy is loaded.
if "PYTEST_XDIST_WORKER" in os.environ:
    for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(_variable, "1")

import numpy as np
import pytest
from hypothesis import settings

from kb import terms
from kb.center import unit
from kb.encode import Source

# Same examples in every run: a property that fails does so for everybody.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "corpus"


class HashEncoder:
    """A real, tiny encoder: a bag of index tokens hashed into 64 dimensions. Counts what it embeds."""

    dim = 64

    def __init__(self, key: str = "hash-1") -> None:
        self.key = key
        self.embedded: list[str] = []

    def queries(self, texts: Sequence[str]) -> np.ndarray:
        return self._encode(texts)

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        self.embedded += texts
        return self._encode(texts)

    def _encode(self, texts: Sequence[str]) -> np.ndarray:
        vectors = np.full((len(texts), self.dim), 1e-3, np.float32)
        for row, text in enumerate(texts):
            for token in terms.tokens(text):
                digest = hashlib.sha256(f"{self.key} {token}".encode()).digest()
                vectors[row, digest[0] % self.dim] += 1 if digest[1] % 2 else -1
        return unit(vectors)


def sources(dense: HashEncoder, use: HashEncoder) -> tuple[Source, Source]:
    """Return both encoders in the form that `build.update` takes."""
    return Source("dense", dense.key, lambda: dense), Source("use", use.key, lambda: use)


ENTRY = """\
## {title} {{#{id}}}

```toml entry
source = ["guide: section {id}"]
ask = [{asks}]
```

{answer}
"""

HEADER = """\
+++
title = "Test"
platform = "{platform}"
kind = "faq"

[sources]
guide = "The guide"
+++

"""


def entry(entry_id: str, title: str, answer: str, asks: Sequence[str] = ()) -> str:
    """Return the Markdown of one entry with at least four phrasings."""
    phrasings = [*asks, *(f"{title} {number}" for number in range(4))]
    return ENTRY.format(id=entry_id, title=title, answer=answer, asks=", ".join(f'"{ask}"' for ask in phrasings))


def write_corpus(root: Path, files: dict[str, list[str]], platform: str = "nano") -> Path:
    """Write entry files, with the resources of the shipped corpus beside them."""
    root.mkdir(parents=True, exist_ok=True)
    for name, entries in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER.format(platform=platform) + "\n".join(entries), "utf-8")
    for name in ("glossary.toml", "identifiers.toml", "onnx_operators.toml"):
        (root / name).write_bytes((CORPUS / name).read_bytes())
    return root


SMALL = {
    "a.en.md": [
        entry("nano-memory", "How much memory does a model take?", "Weights plus instructions plus tensors."),
        entry("nano-burn", "How do I burn an image?", "Use BurnTool with `--port`. It takes code 145002 as an error."),
    ],
    "a.zh.md": [
        entry("nano-memory", "模型占多少内存？", "权重加指令加张量。"),
        entry("nano-burn", "怎么烧录镜像？", "用 BurnTool，带 `--port`。错误码 145002。"),
    ],
}


@pytest.fixture
def small_corpus(tmp_path: Path) -> Path:
    """A corpus of two entries in both languages, in a directory with spaces and Chinese characters."""
    return write_corpus(tmp_path / "资料 库", SMALL)


@pytest.fixture(scope="session")
def shipped_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home directory whose index of the shipped corpus is built."""
    home = tmp_path_factory.mktemp("home")
    done = run_cli("status", home=home)
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture(autouse=True)
def _no_outside_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the developer's own settings out of the tests."""
    for name in ("ASKNPU_HOME", "ASKNPU_CORPUS", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")


def run_cli(
    *arguments: str, home: Path, corpus: Path | None = None, stdin: bytes | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command line in a child process."""
    settings = {
        k: v for k, v in os.environ.items() if not k.startswith("ASKNPU") and k not in ("LC_ALL", "LC_MESSAGES")
    }
    settings |= {"ASKNPU_HOME": str(home), "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT), **environment}
    if corpus is not None:
        settings["ASKNPU_CORPUS"] = str(corpus)
    return subprocess.run(
        [sys.executable, "-m", "assistant", *arguments],
        input=stdin if stdin is not None else b"",
        capture_output=True,
        env=settings,
        timeout=240,
        check=False,
    )
