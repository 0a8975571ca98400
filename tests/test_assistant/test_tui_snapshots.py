"""Every screen and state of the window as a snapshot: both languages, two sizes, dark, light and without colour.

A walk leads one window from state to state, and names each where it is to be compared; see `tui_snapshots`.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from assistant import paths
from assistant.tui.app import Window
from assistant.tui.library.pane import LibraryPane
from assistant.tui.library.place import Place
from assistant.tui.library.shelf import Shelf
from assistant.tui.pathfield import PathField
from assistant.tui.services import Services
from assistant.types import Answer
from kb import build, corpus
from kb.encode import Source
from kb.errors import CorpusError, IndexUnavailable
from kb.store import Store
from kb.types import Lang
from tests.conftest import HashEncoder, entry, sources, write_corpus
from tests.test_assistant.model_area import write_conv
from tests.test_assistant.tui_snapshots import SIZES, busy, calm, compare, shown

pytestmark = pytest.mark.window

CHECK = """\
It is 100, or 65504 in fp16.

```toml check
check = "fp16_sum"
values = [60000, 40000]
expect = {{total = {total}, exact = 100000, overflows = true}}
```
"""
MEMORY, BURN, WRONG, FIRST = "nano-memory", "nano-burn", "nano-sum", "nano-first"
CORPUS = {
    "a.en.md": [
        entry(MEMORY, "How much memory does a model take?", "Weights plus tensors.\n\n" + CHECK.format(total=65504)),
        entry(
            BURN, "How do I burn an image?", "Use `BurnTool` with `--port`, [red]not markup[/red] 😀.\n\n- one\n- two"
        ),
        entry(WRONG, "What is the sum in fp16?", CHECK.format(total=100000)),
    ],
    "a.zh.md": [
        entry(MEMORY, "模型占多少内存？", "权重加张量。\n\n" + CHECK.format(total=65504)),
        entry(BURN, "怎么烧录镜像？", "用 `BurnTool`，带 `--port`，[red]不是标记[/red] 😀。\n\n- 一\n- 二"),
        entry(WRONG, "fp16 里的和是多少？", CHECK.format(total=100000)),
    ],
}
ASKED: dict[Lang, str] = {"en": "How do I burn an image?", "zh": "怎么烧录镜像？"}
REFUTED: dict[Lang, str] = {"en": "What is the sum in fp16?", "zh": "fp16 里的和是多少？"}
COURSE: dict[str, list[str]] = {
    "course.en.md": [entry(FIRST, "What is a scale?", "The step between two codes.\n\n" + CHECK.format(total=65504))],
    "course.zh.md": [entry(FIRST, "scale 是什么？", "相邻两个码的间隔。\n\n" + CHECK.format(total=65504))],
}
PATHS = """
[nano]
zh = "第一天"
en = "First day"
path = ["nano-memory", "nano-burn"]
courses = ["course"]
"""
UNKNOWN: dict[Lang, str] = {"en": "What does error 0x7777ABCD mean?", "zh": "错误码 0x7777ABCD 是什么意思？"}
FAULT = """\
[INFO] 开始 [red]not markup[/red] \x1b[31mno colour\x1b[0m 😀
[NFS]file open fail
[ERROR][model_segment_load.c:24]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] [open][file] failed, file gesture.exeom
[ERROR][ge_executor.c:107]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] Load file[gesture.exeom] failed, ret = [145002]
"""
UNDECIDED = "[ERROR] something failed, ret = [1]\n"


class Waiting(Services):
    """Gives nothing until the window is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.is_closed = threading.Event()

    def answer(self, *_: object, **__: object) -> Answer:
        """Wait."""
        self.is_closed.wait(60)
        raise IndexUnavailable("closed")

    def shelf(self) -> Shelf:
        """Wait."""
        self.is_closed.wait(60)
        raise CorpusError("closed")


class Failing(Services):
    """Finds everything broken."""

    def answer(self, *_: object, **__: object) -> Answer:
        """Fail."""
        raise IndexUnavailable("the index cannot be read: [red]disk[/red] on fire")

    def shelf(self) -> Shelf:
        """Fail."""
        raise CorpusError("a.en.md:3: expected [red]a title[/red]")


@dataclass(frozen=True, slots=True)
class Stage:
    """A running window."""

    pilot: Pilot[int]
    app: Window
    lang: Lang
    place: Path
    """An empty directory, the current one."""

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until all is done."""
        await self.pilot.press(*keys)
        await self.rest()

    async def rest(self) -> None:
        """Wait until all is done."""
        await calm(self.pilot)

    async def until(self, is_so: Callable[[], object]) -> None:
        """Wait until something holds."""
        for _ in range(1500):
            if is_so():
                await self.pilot.pause()
                return
            await self.pilot.pause(0.02)
        raise AssertionError("never came to hold:\n" + "\n".join(shown(self.app)))

    async def seen(self, text: str) -> None:
        """Wait until a text is on the screen, whatever still runs."""
        await self.until(lambda: text in "\n".join(shown(self.app)))

    async def asked(self, question: str) -> None:
        """Ask a question in the place of the one before."""
        pane = self.app.pane("ask")
        assert pane is not None
        box = pane.first_focus()
        assert isinstance(box, Input)
        box.focus()
        box.value = question
        await self.pilot.press("enter")


Walk = Callable[[Stage], AsyncIterator[str]]


async def ask(stage: Stage) -> AsyncIterator[str]:
    await stage.until(lambda: "word_searcher" in vars(stage.app.services))
    await stage.rest()
    yield "ask-empty"
    await stage.press("f1")
    yield "window-help"
    await stage.press("f1")
    await stage.press("ctrl+p")
    yield "window-palette"
    await stage.press("escape")
    await stage.asked(ASKED[stage.lang])
    await stage.rest()
    yield "ask-result"
    await stage.asked(REFUTED[stage.lang])
    await stage.rest()
    yield "ask-failed"
    await stage.asked(UNKNOWN[stage.lang])
    await stage.rest()
    yield "ask-abstained"


async def ask_running(stage: Stage) -> AsyncIterator[str]:
    await stage.asked(ASKED[stage.lang])
    await stage.until(lambda: len(busy(stage.app)) == 1 and "BurnTool" in "\n".join(shown(stage.app)))
    yield "ask-running"


async def ask_error(stage: Stage) -> AsyncIterator[str]:
    await stage.asked(ASKED[stage.lang])
    await stage.seen("[red]disk[/red]")
    await stage.rest()
    yield "ask-error"


async def logs(stage: Stage) -> AsyncIterator[str]:
    await stage.rest()
    yield "logs-empty"
    await _paste(stage, FAULT)
    yield "logs-result"
    await _paste(stage, UNDECIDED)
    yield "logs-abstained"
    await _open_log(stage, "missing.log")
    await stage.rest()
    yield "logs-error"
    await stage.press("escape")
    path = stage.place / "live.log"
    path.write_text(FAULT, "utf-8")
    await stage.pilot.press("f")
    await _open_log(stage, path.name, key="")
    await stage.seen("145002")
    yield "logs-running"


async def _paste(stage: Stage, text: str) -> None:
    await stage.pilot.press("p")
    await stage.until(lambda: isinstance(stage.app.focused, TextArea))
    box = stage.app.focused
    assert isinstance(box, TextArea)
    box.text = text
    await stage.press("ctrl+s")


async def _open_log(stage: Stage, name: str, key: str = "o") -> None:
    if key:
        await stage.pilot.press(key)
    await stage.until(lambda: isinstance(stage.app.focused, Input))
    box = stage.app.focused
    assert isinstance(box, Input)
    box.value = name
    await stage.pilot.press("enter")


async def model(stage: Stage) -> AsyncIterator[str]:
    await stage.rest()
    yield "model-empty"
    (stage.place / "bad.onnx").write_bytes(b"no model")
    await _estimate(stage, "bad.onnx")
    yield "model-error"
    write_conv(stage.place / "conv.onnx")
    await _estimate(stage, "conv.onnx")
    yield "model-result"
    for number, name in enumerate(("layers", "unsupported", "memory"), start=2):
        await stage.press(str(number))
        yield f"model-{name}"


async def _estimate(stage: Stage, name: str) -> None:
    box = stage.app.query_one("#model-path", PathField)
    box.choose(name)
    box.focus()
    await stage.press("enter")


async def lab(stage: Stage) -> AsyncIterator[str]:
    await stage.rest()
    yield "lab-empty"
    box = stage.app.focused
    assert isinstance(box, Input)
    box.value = "softmax_fp16"
    await stage.press("enter")
    yield "lab-result"
    await stage.press("ctrl+u", *"1,x")
    yield "lab-error"


async def library(stage: Stage) -> AsyncIterator[str]:
    await stage.rest()
    yield "library-empty"
    await _go(stage, "entry", BURN)
    yield "library-result"
    await _go(stage, "entry", WRONG)
    yield "library-failed"
    await stage.press("p")
    yield "learn-empty"
    await _go(stage, "card", FIRST)
    yield "learn-card"
    await stage.press("space")
    yield "learn-result"


async def _go(stage: Stage, kind: str, key: str) -> None:
    pane = stage.app.pane("library")
    assert isinstance(pane, LibraryPane)
    pane.way.go(Place(kind, key, stage.lang))  # type: ignore[arg-type]
    pane.desk.reader.focus()
    await stage.rest()


async def library_running(stage: Stage) -> AsyncIterator[str]:
    await stage.until(lambda: busy(stage.app))
    yield "library-running"


async def library_error(stage: Stage) -> AsyncIterator[str]:
    await stage.rest()
    yield "library-error"


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus that no change of the shipped one touches, and its index, beside each other."""
    folder = tmp_path_factory.mktemp("snapshots")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASKNPU_HOME", str(folder / "home"))
        patch.setenv("ASKNPU_CORPUS", str(write_corpus(folder / "corpus", CORPUS | COURSE)))
        for name in COURSE:
            path = folder / "corpus" / name
            path.write_text(path.read_text("utf-8").replace('kind = "faq"', 'kind = "course"'), "utf-8")
        (folder / "corpus" / "paths.toml").write_text(PATHS, "utf-8")
        store = Store(paths.index_directory())
        build.update(corpus.read(paths.corpus_root()), store, _encoders(), may_embed=True)
        store.close()
    return folder


def _encoders(*_: object, **__: object) -> tuple[Source, Source]:
    return sources(HashEncoder("one"), HashEncoder("two"))


@pytest.fixture
def place(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in, and a window that was never open."""
    (small / "home" / "window.json").unlink(missing_ok=True)
    monkeypatch.setenv("ASKNPU_HOME", "home")  # as the help shows it, however long the path of a test is
    monkeypatch.setenv("USER", "someone")
    monkeypatch.setattr("assistant.session.encoders", _encoders)
    monkeypatch.setattr("time.perf_counter", lambda: 0.0)  # everything takes no time
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "home").symlink_to(small / "home")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def _compare(walk: Walk, area: str, lang: Lang, place: Path, services: Services, pictures: str = "") -> None:
    """Lead a window from state to state, and compare each."""

    async def run() -> list[str]:
        app = Window(lang, services=services)
        app.animation_level = "none"
        app.saved["area"] = area
        wrong = []
        async with app.run_test(size=SIZES[1]) as pilot:
            await pilot.pause(0.3)  # until the keys are in the footer
            try:
                async for state in walk(Stage(pilot, app, lang, place)):
                    wrong += await compare(pilot, f"{state}.{lang}", with_picture=state in pictures.split())
            finally:
                if isinstance(services, Waiting):
                    services.is_closed.set()
        return wrong

    wrong = asyncio.run(run())
    assert not wrong, "\n".join(wrong)


LANGS = pytest.mark.parametrize("lang", ["zh", "en"])


@LANGS
class TestAsk:
    """What a question can lead to."""

    @pytest.fixture(autouse=True)
    def _small(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ASKNPU_CORPUS", str(small / "corpus"))

    def test_answers_and_abstentions(self, lang: Lang, place: Path) -> None:
        _compare(ask, "ask", lang, place, Services(), "ask-empty ask-result ask-failed ask-abstained")

    def test_while_it_runs(self, lang: Lang, place: Path) -> None:
        _compare(ask_running, "ask", lang, place, Waiting())

    def test_errors(self, lang: Lang, place: Path) -> None:
        _compare(ask_error, "ask", lang, place, Failing(), "ask-error")


@LANGS
class TestLibrary:
    """Reading and learning."""

    @pytest.fixture(autouse=True)
    def _small(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ASKNPU_CORPUS", str(small / "corpus"))

    def test_reading_and_learning(self, lang: Lang, place: Path) -> None:
        _compare(library, "library", lang, place, Services(), "library-result learn-card")

    def test_while_it_runs(self, lang: Lang, place: Path) -> None:
        _compare(library_running, "library", lang, place, Waiting())

    def test_errors(self, lang: Lang, place: Path) -> None:
        _compare(library_error, "library", lang, place, Failing())


@LANGS
class TestLogs:
    """Diagnosis, by the shipped rules."""

    def test_logs(self, lang: Lang, place: Path) -> None:
        _compare(logs, "logs", lang, place, Services(), "logs-empty logs-result")


@LANGS
class TestModel:
    """Estimates."""

    def test_models(self, lang: Lang, place: Path) -> None:
        _compare(model, "model", lang, place, Services(), "model-result model-memory")


@LANGS
class TestLab:
    """Calculations."""

    def test_calculations(self, lang: Lang, place: Path) -> None:
        _compare(lab, "lab", lang, place, Services(), "lab-result")
