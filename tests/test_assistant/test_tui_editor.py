"""A file at its line in the user's editor: what is run, and what is said if nothing can be."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.app import App

from assistant.tui.editor import command, edit
from assistant.tui.words import words


@pytest.fixture(autouse=True)
def _no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("vi", ["vi", "+7", "/c/a.md"]),
        ("vim", ["vim", "+7", "/c/a.md"]),
        ("nvim -p", ["nvim", "-p", "+7", "/c/a.md"]),
        ("/usr/bin/nano", ["/usr/bin/nano", "+7", "/c/a.md"]),
        ("emacs -nw", ["emacs", "-nw", "+7", "/c/a.md"]),
        ("emacsclient -t", ["emacsclient", "-t", "+7", "/c/a.md"]),
        ("code", ["code", "--goto", "/c/a.md:7"]),
        ("code -w", ["code", "-w", "--goto", "/c/a.md:7"]),
        ("/opt/codium --wait", ["/opt/codium", "--wait", "--goto", "/c/a.md:7"]),
        ("hx", ["hx", "/c/a.md:7"]),
        ("subl -w", ["subl", "-w", "/c/a.md:7"]),
        ("'/opt/my editor/vi' -R", ["/opt/my editor/vi", "-R", "+7", "/c/a.md"]),
        ("'", ["'", "+7", "/c/a.md"]),
        ("", []),
        ("  ", []),
    ],
)
def test_editors_take_the_line_in_their_way(chosen: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", chosen)

    assert command(Path("/c/a.md"), 7) == expected


def test_visual_comes_before_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "ed")
    assert command(Path("a"), 1) == ["ed", "+1", "a"]
    monkeypatch.setenv("VISUAL", "code")
    assert command(Path("a"), 1) == ["code", "--goto", "a:1"]
    monkeypatch.setenv("VISUAL", " ")
    assert command(Path("a"), 1) == ["ed", "+1", "a"]


def test_no_editor_is_no_command() -> None:
    assert command(Path("a"), 1) == []


class Suspending(App[None]):
    """An app with a terminal to give away."""

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Do as if."""
        yield


def _editing(folder: Path, code: int = 0) -> Path:
    """Write an editor that notes what it is given, in a folder whose name has a space and Chinese characters."""
    editor = folder / "我的 编辑器" / "ed it"
    editor.parent.mkdir()
    editor.write_text(f'#!/bin/sh\nfor one in "$@"; do echo "$one" >> "{folder}/given"; done\nexit {code}\n', "utf-8")
    editor.chmod(0o755)
    return editor


def test_the_editor_gets_a_path_with_spaces_and_chinese_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", str(_editing(tmp_path)))
    file = tmp_path / "资料 库" / "量化 'a'.md"

    assert edit(Suspending(), file, 12, words("ask", "zh")) == ""
    assert (tmp_path / "given").read_text("utf-8").splitlines() == ["+12", str(file)]


@pytest.mark.parametrize("area", ["ask", "library"])
@pytest.mark.parametrize(("lang", "told"), [("zh", "第 12 行"), ("en", "line 12")])
def test_without_an_editor_the_place_is_said(area: str, lang: Any, told: str) -> None:
    sentence = edit(Suspending(), Path("/c/a.md"), 12, words(area, lang))

    assert "VISUAL" in sentence and "EDITOR" in sentence and "/c/a.md" in sentence and told in sentence


def test_an_editor_that_is_not_there_or_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    say = words("ask", "en")
    monkeypatch.setenv("EDITOR", "/nowhere/ed")
    assert edit(Suspending(), Path("a"), 1, say) == say(
        "editor_failed", editor="/nowhere/ed", error="No such file or directory"
    )
    editor = _editing(tmp_path, code=3)
    monkeypatch.setenv("EDITOR", str(editor))
    assert edit(Suspending(), Path("a"), 1, say) == say("editor_failed", editor=editor, error=3)


def test_a_terminal_that_cannot_be_given_away_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "vi")

    async def run() -> str:
        app: App[None] = App()
        async with app.run_test():
            return edit(app, Path("/c/a.md"), 12, words("ask", "en"))

    assert asyncio.run(run()) == words("ask", "en")("no_suspend", file="/c/a.md", line=12)
