"""The box that asks for a file, and what it knows of directories."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from assistant.tui.filebox import FileBox
from assistant.tui.folders import completed, latest, names, why_not
from assistant.tui.words import words
from kb.types import Lang
from tests.test_assistant.window import NARROW, WIDE, click, screen, until

ONNX = (".onnx",)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A directory to work in, with names that are hard to write and to show."""
    for folder in ("模型 二", "empty", ".git"):
        (tmp_path / folder).mkdir()
    for name in ("模型 一.onnx", "b [red].ONNX", "notes.txt", ".hidden.onnx", "模型 二/内.onnx", "odd\x1b[31m.onnx"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "loop").symlink_to("loop")
    with chdir(tmp_path):
        yield tmp_path


def asked(
    act: Callable[[Pilot[Any], FileBox], Awaitable[None]],
    *,
    lang: Lang = "en",
    size: tuple[int, int] = NARROW,
    **options: Any,
) -> list[str | None]:
    """Return what a box answers that is acted on."""
    answers: list[str | None] = []

    async def run() -> None:
        app: App[None] = App()
        async with app.run_test(size=size) as pilot:
            box = FileBox(words("model", lang), "pick", **options)
            app.push_screen(box, answers.append)
            await until(pilot, lambda: box.is_mounted and box.list.option_count > 1)
            await act(pilot, box)

    asyncio.run(run())
    return answers


def lines(box: FileBox) -> list[str]:
    return [str(option.prompt).strip() for option in box.list.options]


def test_names_go_on_as_a_path_begins(place: Path) -> None:
    assert names("", ONNX) == ["empty/", "模型 二/", "b [red].ONNX", "odd\x1b[31m.onnx", "模型 一.onnx"]
    assert names(f"{place}/模型", ONNX) == ["模型 二/", "模型 一.onnx"]
    assert names("n") == ["notes.txt"] and names("n", ONNX) == []
    assert names(".", ONNX) == [".git/", ".hidden.onnx"]
    with pytest.raises(FileNotFoundError):
        names("no/such")


@pytest.mark.parametrize(
    ("typed", "whole"),
    [("b", "b [red].ONNX"), ("./模型", "./模型 二/"), ("模型 二/", "模型 二/内.onnx"), ("notes", None), ("no/such", None),
     ("o", None), ("~nobody-here/x", None), ("\0", None), ("empty/", None)],
)  # fmt: skip
def test_a_path_is_completed_by_what_a_terminal_can_show(place: Path, typed: str, whole: str | None) -> None:
    assert completed(typed, ONNX) == whole


def test_the_home_directory_is_known(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(place))

    assert completed("~/b", ONNX) == "~/b [red].ONNX"


@pytest.mark.parametrize(
    ("path", "why"),
    [("", "no_path"), ("no.onnx", "no_file"), ("notes.txt/x.onnx", "no_file"), ("a\0.onnx", "no_file"),
     ("empty", "is_folder"), ("notes.txt", "wrong_suffix"), ("loop", "unreadable"), ("x" * 300, "unreadable"),
     ("b [red].ONNX", ""), ("模型 二/内.onnx", "")],
)  # fmt: skip
def test_why_a_path_is_no_file(place: Path, path: str, why: str) -> None:
    assert why_not(path, ONNX) == why


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_the_right_to_read_is_refused(place: Path) -> None:
    (place / "notes.txt").chmod(0)

    assert why_not("notes.txt") == "unreadable"


def test_a_directory_or_a_file_to_come_will_do_where_that_is_said(place: Path) -> None:
    assert why_not("empty", may_be_folder=True) == ""
    assert why_not("later.log", may_miss=True) == ""
    assert why_not("empty", may_miss=True) == "is_folder"


def test_what_was_used_last_comes_first_and_once() -> None:
    assert latest(["a", 1, "b"], "b") == ["b", "a"]
    assert latest({"a": 1}) == latest(None) == []
    assert len(latest([str(i) for i in range(20)], "x")) == 8


@pytest.mark.parametrize(("lang", "size"), [("zh", NARROW), ("en", WIDE)], ids=["zh", "en"])
def test_typing_narrows_the_list_and_enter_takes_from_it(place: Path, lang: Lang, size: tuple[int, int]) -> None:
    async def act(pilot: Pilot[Any], box: FileBox) -> None:
        assert box.field.has_focus
        assert "notes.txt" not in lines(box) and "odd\\u001b[31m.onnx" in lines(box)
        assert "\x1b" not in screen(pilot.app) and "b [red].ONNX" in screen(pilot.app)
        await pilot.press("模", "型")
        await until(pilot, lambda: lines(box)[2:] == ["▸ 模型 二/", "模型 一.onnx"])
        await pilot.press("down", "down", "enter")

    assert asked(act, lang=lang, size=size, suffixes=ONNX) == ["模型 一.onnx"]


def test_directories_are_entered_and_left_by_key(place: Path) -> None:
    async def act(pilot: Pilot[Any], box: FileBox) -> None:
        await pilot.press(*"./模型", "tab")
        assert box.field.value == "./模型 二/"
        await until(pilot, lambda: "内.onnx" in lines(box))
        await pilot.press("down", "backspace")
        await until(pilot, lambda: "b [red].ONNX" in lines(box))
        assert box.field.value == f"{place}/" and box.list.has_focus
        await pilot.press("enter")
        await until(pilot, lambda: "Nothing here goes on so." in lines(box))
        assert box.field.value == f"{place}/empty/"

    assert asked(act, suffixes=ONNX) == []


def test_everything_goes_by_mouse(place: Path) -> None:
    async def act(pilot: Pilot[Any], box: FileBox) -> None:
        await click(pilot, "模型 二")
        await until(pilot, lambda: "内.onnx" in lines(box))
        await click(pilot, "↑ ..")
        await until(pilot, lambda: "b [red].ONNX" in lines(box))
        await click(pilot, "b [red]")

    assert asked(act, path="./", suffixes=ONNX) == [f"{place}/b [red].ONNX"]


def test_buttons_take_and_leave(place: Path) -> None:
    async def take(pilot: Pilot[Any], box: FileBox) -> None:
        await pilot.click("#take")

    async def leave(pilot: Pilot[Any], box: FileBox) -> None:
        await pilot.click("#leave")

    assert asked(take, path="empty", may_be_folder=True) == ["empty"]
    assert asked(leave) == [None]


def test_recent_files_are_offered_until_something_is_typed(place: Path) -> None:
    recent = [f"{place}/模型 二/内.onnx", "/gone/[red] old.onnx"]

    async def first(pilot: Pilot[Any], box: FileBox) -> None:
        assert lines(box)[:3] == ["Recent", f"↺ {recent[0]}", f"↺ {recent[1]}"]
        await pilot.press("down", "enter")

    async def gone(pilot: Pilot[Any], box: FileBox) -> None:
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: "There is no file /gone/[red] old.onnx." in screen(pilot.app))
        box.field.focus()
        await pilot.press("b")
        await until(pilot, lambda: lines(box)[2:] == ["b [red].ONNX"])
        assert "There is no file" not in screen(pilot.app)

    assert asked(first, recent=recent, suffixes=ONNX, size=WIDE) == [recent[0]]
    assert asked(gone, recent=recent, suffixes=ONNX, size=WIDE) == []


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [("", "Give the path of an .onnx model."), ("no.onnx", "There is no file no.onnx."), ("notes.txt", "notes.txt is no .onnx file"),
     ("loop", "loop cannot be read.")],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence(place: Path, typed: str, sentence: str) -> None:
    async def act(pilot: Pilot[Any], box: FileBox) -> None:
        box.field.choose(typed)
        await pilot.press("enter")
        await until(pilot, lambda: sentence in str(box.query_one("#problem", Static).render()))
        assert pilot.app.screen is box

    assert asked(act, suffixes=ONNX) == []


@pytest.mark.parametrize("typed", ["'{}/b [red].ONNX'", "{}/b\\ \\[red\\].ONNX", " {}/b [red].ONNX "])
def test_a_file_dropped_on_the_terminal_is_found(place: Path, typed: str) -> None:
    async def act(pilot: Pilot[Any], box: FileBox) -> None:
        box.field.choose(typed.format(place))
        await pilot.press("enter")

    assert asked(act, suffixes=ONNX) == [f"{place}/b [red].ONNX"]


def test_a_long_directory_is_cut_and_says_so(place: Path) -> None:
    for i in range(600):
        (place / "empty" / f"{i:03}.onnx").touch()

    async def act(pilot: Pilot[Any], box: FileBox) -> None:
        await pilot.press(*"empty/")
        await until(pilot, lambda: lines(box)[-1] == "… 100 more; type on")
        await pilot.press("5", "9", "9")
        await until(pilot, lambda: lines(box)[2:] == ["599.onnx"])
        box.field.choose(f"{place}/none/")
        await until(pilot, lambda: lines(box)[-1] == f"There is no directory {place}/none.")

    assert asked(act, suffixes=ONNX, size=WIDE) == []


def test_an_odd_name_is_chosen_as_it_is(place: Path) -> None:
    async def act(pilot: Pilot[Any], box: FileBox) -> None:
        await click(pilot, "odd\\u001b")

    assert asked(act, suffixes=ONNX) == ["odd\x1b[31m.onnx"]


def test_the_list_is_an_option_list_that_keeps_the_focus(place: Path) -> None:
    async def act(pilot: Pilot[Any], box: FileBox) -> None:
        await pilot.press("down")
        assert isinstance(pilot.app.focused, OptionList)
        await pilot.press("enter")
        await until(pilot, lambda: box.field.value.endswith("/"))
        assert pilot.app.focused is box.list

    assert asked(act, suffixes=ONNX) == []
