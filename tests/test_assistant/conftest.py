"""Fixtures of several test files of the assistant."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from assistant.tui.services import Services
    from tests.test_assistant.model_area import KeptEngine


@pytest.fixture
def home(shipped_home: Path, tmp_path: Path) -> Path:
    """A home of its own for each test, with the indexes of the shipped corpus."""
    place = tmp_path / "home"
    place.mkdir()
    for path in shipped_home.iterdir():
        if path.is_dir():
            (place / path.name).symlink_to(path)
    return place


@pytest.fixture(scope="session")
def logs_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a small indexed corpus that has an entry about a log."""
    from tests.test_assistant.logs_area import make_home

    return make_home(tmp_path_factory.mktemp("logs"))


@pytest.fixture
def logs_home(logs_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to work in; the window was never open before."""
    monkeypatch.setenv("ASKNPU_HOME", str(logs_corpus))
    monkeypatch.setenv("ASKNPU_CORPUS", str(logs_corpus / "corpus"))
    (logs_corpus / "window.json").unlink(missing_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def logs_services() -> "Iterator[Services]":
    """The opened corpus, shared by all windows of a file."""
    from tests.test_assistant.logs_area import kept_services

    with kept_services() as kept:
        yield kept


@pytest.fixture(scope="module")
def kept_engine() -> "Iterator[KeptEngine]":
    """The second process of the area Model, shared by all windows of a file."""
    from tests.test_assistant.model_area import KeptEngine

    kept = KeptEngine()
    yield kept
    kept.end()


@pytest.fixture
def model_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The window was never open before."""
    monkeypatch.setenv("ASKNPU_HOME", str(tmp_path / "home"))


@pytest.fixture
def model_window(model_home: None, kept_engine: "KeptEngine", monkeypatch: pytest.MonkeyPatch) -> None:
    """Likewise, and its second process runs already."""
    monkeypatch.setattr("assistant.tui.model.running.Engine", lambda: kept_engine)


@pytest.fixture
def conv(tmp_path: Path) -> Path:
    """A small model in a directory of its own."""
    from tests.test_assistant.model_area import write_conv

    (tmp_path / "models").mkdir()
    return write_conv(tmp_path / "models" / "模型 [red] 1.onnx")


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small corpus of the snapshots, and its index, beside each other."""
    from tests.test_assistant.tui_small_corpus import write

    return write(tmp_path_factory.mktemp("snapshots"))


@pytest.fixture
def place(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in, and a window that was never open and shows nothing that changes."""
    from tests.test_assistant.tui_small_corpus import encoders
    from tests.test_assistant.tui_stage import unpainted

    (small / "home" / "window.json").unlink(missing_ok=True)
    monkeypatch.setenv("ASKNPU_HOME", "home")  # as the help shows it, however long the path of a test is
    monkeypatch.setenv("USER", "someone")
    monkeypatch.setattr("assistant.session.encoders", encoders)
    monkeypatch.setattr("textual._compositor.Compositor.render_update", unpainted)
    # Everything takes no time.
    monkeypatch.setattr("time.perf_counter", lambda: 0.0)
    monkeypatch.setattr("assistant.tui.model.progress.monotonic", lambda: 0.0)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "home").symlink_to(small / "home")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def small_shown(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The window shows the small corpus."""
    monkeypatch.setenv("ASKNPU_CORPUS", str(small / "corpus"))
