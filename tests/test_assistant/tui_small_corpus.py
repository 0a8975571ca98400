"""The small corpus that snapshots of the window show: no change of the shipped one touches them."""

from pathlib import Path

import pytest

from assistant import paths
from kb import build, corpus
from kb.encode import Source
from kb.store import Store
from kb.types import Lang
from tests.conftest import HashEncoder, entry, sources, write_corpus

__all__ = ["ASKED", "BURN", "FIRST", "REFUTED", "UNKNOWN", "WRONG", "encoders", "write"]

_CHECK = """\
It is 100, or 65504 in fp16.

```toml check
check = "fp16_sum"
values = [60000, 40000]
expect = {{total = {total}, exact = 100000, overflows = true}}
```
"""
_RIGHT, _FALSE = _CHECK.format(total=65504), _CHECK.format(total=100000)
MEMORY, BURN, WRONG, FIRST = "nano-memory", "nano-burn", "nano-sum", "nano-first"
_FILES = {
    "a.en.md": [
        entry(MEMORY, "How much memory does a model take?", "Weights plus tensors.\n\n" + _RIGHT),
        entry(
            BURN, "How do I burn an image?", "Use `BurnTool` with `--port`, [red]not markup[/red] 😀.\n\n- one\n- two"
        ),
        entry(WRONG, "What is the sum in fp16?", _FALSE),
    ],
    "a.zh.md": [
        entry(MEMORY, "模型占多少内存？", "权重加张量。\n\n" + _RIGHT),
        entry(BURN, "怎么烧录镜像？", "用 `BurnTool`，带 `--port`，[red]不是标记[/red] 😀。\n\n- 一\n- 二"),
        entry(WRONG, "fp16 里的和是多少？", _FALSE),
    ],
}
_COURSE: dict[str, list[str]] = {
    "course.en.md": [entry(FIRST, "What is a scale?", "The step between two codes.\n\n" + _RIGHT)],
    "course.zh.md": [entry(FIRST, "scale 是什么？", "相邻两个码的间隔。\n\n" + _RIGHT)],
}
_PATHS = """
[nano]
zh = "第一天"
en = "First day"
path = ["nano-memory", "nano-burn"]
courses = ["course"]
"""
ASKED: dict[Lang, str] = {"en": "How do I burn an image?", "zh": "怎么烧录镜像？"}
REFUTED: dict[Lang, str] = {"en": "What is the sum in fp16?", "zh": "fp16 里的和是多少？"}
UNKNOWN: dict[Lang, str] = {"en": "What does error 0x7777ABCD mean?", "zh": "错误码 0x7777ABCD 是什么意思？"}


def write(folder: Path) -> Path:
    """Write the corpus and its index beside each other, `corpus` and `home`."""
    root = write_corpus(folder / "corpus", _FILES | _COURSE)
    for name in _COURSE:
        path = root / name
        path.write_text(path.read_text("utf-8").replace('kind = "faq"', 'kind = "course"'), "utf-8")
    (root / "paths.toml").write_text(_PATHS, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASKNPU_HOME", str(folder / "home"))
        patch.setenv("ASKNPU_CORPUS", str(root))
        store = Store(paths.index_directory())
        build.update(corpus.read(paths.corpus_root()), store, encoders(), may_embed=True)
        store.close()
    return folder


def encoders(*_: object, **__: object) -> tuple[Source, Source]:
    """Return encoders that need no model."""
    return sources(HashEncoder("one"), HashEncoder("two"))
