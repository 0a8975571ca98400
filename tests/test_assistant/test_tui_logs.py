"""The area Logs of the window, as its user goes through it: open, read, jump, find, ask, export; every key."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual import events
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import Checkbox, Input, Markdown, OptionList, TextArea, Tree

from assistant.tui.app import Window
from assistant.tui.ask.box import QuestionBox
from assistant.tui.logs.dialogs import ChoiceBox, LineBox, PasteBox, SaveBox, TextBox
from assistant.tui.logs.pane import LogsPane
from assistant.tui.logs.paths import FileBox
from assistant.tui.services import Services
from kb.types import Lang
from tests.test_assistant.logs_area import (
    FAULT,
    TITLES,
    UNKNOWN,
    box,
    closed,
    done,
    kept_services,
    line_of,
    listed,
    make_home,
    opened,
    play,
    rows_shown,
    told,
    until,
)


@pytest.fixture(scope="module")
def kept_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_home(tmp_path_factory.mktemp("logs"))


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    with kept_services() as kept:
        yield kept


@pytest.fixture(autouse=True)
def home(kept_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose window was never open, and a directory to work in."""
    monkeypatch.setenv("ASKNPU_HOME", str(kept_home))
    monkeypatch.setenv("ASKNPU_CORPUS", str(kept_home / "corpus"))
    (kept_home / "window.json").unlink(missing_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("lang", "size"), [("zh", (80, 24)), ("en", (140, 45))], ids=["zh-80", "en-140"])
def test_a_journey_from_file_to_report(home: Path, services: Services, lang: Lang, size: tuple[int, int]) -> None:
    """Open, read the finding, jump, read codes and entry, find, go to a line, export; with every key on the way."""
    log = home / "board [red].log"
    log.write_text("[INFO] boot from 10.20.30.40\n" * 300 + FAULT + "[INFO] after\n" * 300)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        body = pane.body
        assert pane.has_class("empty") and pilot.app.focused is pane.query_one("#logs-start")
        await opened(pilot, pane, log)
        assert pane.reading is not None and pane.reading.phase == "done"
        assert line_of(pane) == 301
        assert any(row.startswith("● ") and "region not init" in row for row in rows_shown(pane))
        assert pane.say("group_answer") in listed(pane)
        detail = told(pane, "logs-detail")
        assert "95%" in detail and "region not init" in detail and "uapi_npu_file_sys_init" in detail
        # The entry comes with its title and how its checks come out.
        await until(pilot, lambda: f"145002 {lang}" in told(pane, "logs-detail"))
        assert "✓" in told(pane, "logs-detail")
        await pilot.press("e")
        text = await box(pilot, TextBox)
        await until(pilot, lambda: "[NDRV]" in text.query_one(Markdown).source)
        await pilot.press("escape")

        body.list.focus()
        await pilot.press("home", "enter")
        assert line_of(pane) == 301
        await pilot.press("n")
        assert line_of(pane) == 302 and pilot.app.focused is body.view
        await pilot.press("N", "N")
        assert line_of(pane) == 303
        await pilot.press("G")
        assert line_of(pane) == 604
        await pilot.press("g")
        assert line_of(pane) == 1
        await pilot.press("down", "j", "k", "pagedown", "space", "pageup", "end", "home")
        assert line_of(pane) == 1

        for key in ("colon", "ctrl+g"):
            await pilot.press(key)
            await box(pilot, LineBox)
            await pilot.press(*"304", "enter")
            await until(pilot, lambda: line_of(pane) == 304)
        await closed(pilot, LineBox)
        await until(pilot, lambda: "545000" in told(pane, "logs-code"))
        for key in ("c", "enter"):
            await pilot.press(key)
            await box(pilot, TextBox)
            await pilot.press("escape")
            await closed(pilot, TextBox)

        await pilot.press("slash", *"after", "enter")
        await until(pilot, lambda: line_of(pane) == 305)
        await pilot.press("n")
        await until(pilot, lambda: line_of(pane) == 306)
        await pilot.press("N")
        await until(pilot, lambda: line_of(pane) == 305)
        await pilot.press("escape")
        assert not body.bar.query_text
        await pilot.press("slash", *"no such", "enter")
        await until(pilot, lambda: pane.say("found_none", query="no such") in told(pane, "logs-status"))
        await pilot.press("escape", "slash", "escape")
        assert not body.bar.is_open and pilot.app.focused is body.view

        await pilot.press("d")
        assert not body.details.display
        await pilot.press("d")
        assert body.details.display
        await pilot.press("r")
        assert not pane.redact and pane.say("redact_off") in told(pane, "logs-status")
        await pilot.press("r")
        assert pane.redact

        target = home / "out.md"
        await pilot.press("x")
        (await box(pilot, SaveBox)).query_one("#path", Input).value = str(target)
        await pilot.press("enter")
        await until(pilot, target.exists)
        text_of = target.read_text("utf-8")
        assert text_of.startswith(f"# {pane.say('report_title')}") and ".log:301: [NFS]region not init" in text_of

    play(journey, services, lang=lang, size=size)


@pytest.mark.parametrize(("lang", "size"), [("zh", (80, 24)), ("en", (140, 45))], ids=["zh-80", "en-140"])
def test_unknown_lines_lead_to_the_nearest_entries_and_to_ask(
    home: Path, services: Services, lang: Lang, size: tuple[int, int]
) -> None:
    log = home / "odd.log"
    log.write_text("[INFO] boot\n" * 20 + UNKNOWN)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await opened(pilot, pane, log)
        body = pane.body
        # A code stays whole in the form of the lines, and markup is text.
        form = "[ERROR] frobnicator of core N could not be armed: [red] E41234 window lost"
        assert [row for row in listed(pane) if form in row and "3×" in row], listed(pane)
        body.list.focus()
        await pilot.press("home")
        while (item := body.list.chosen) is None or item.group != "unknown":
            await pilot.press("down")
        await until(pilot, lambda: TITLES[lang] in told(pane, "logs-detail"))
        assert pane.say("near_title") in told(pane, "logs-detail")
        near = body.details.told.near
        assert near is not None and near.entries[0][0] == "nano-frobnicator"

        await pilot.press("e")
        choices = await box(pilot, ChoiceBox)
        assert TITLES[lang] in str(choices.query_one(OptionList).get_option_at_index(0).prompt)
        await pilot.press("enter")
        text = await box(pilot, TextBox)
        assert TITLES[lang] in text.query_one(Markdown).source
        await pilot.press("escape")
        await closed(pilot, TextBox)

        body.list.focus()
        await pilot.press("a")
        app = pilot.app
        assert isinstance(app, Window)
        await until(pilot, lambda: app.area == "ask" and isinstance(app.focused, QuestionBox))
        assert isinstance(app.focused, QuestionBox)
        assert app.focused.question == UNKNOWN.splitlines()[0]

        # In the log it is the row of the cursor.
        await app.action_enter("logs")
        body.view.focus()
        await pilot.press("G", "a")
        await until(pilot, lambda: app.area == "ask")
        assert app.query_one(QuestionBox).question == UNKNOWN.splitlines()[2]

    play(journey, services, lang=lang, size=size)


def test_export_redacts_and_never_replaces_silently(home: Path, services: Services) -> None:
    log = home / "board.log"
    log.write_text(FAULT.replace("region not init", "region not init on 10.20.30.40 user=alice.smith1"))
    target = home / "out.md"
    target.write_text("mine")

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        async def save(redact: bool, key: str) -> None:
            await pilot.press("x")
            asked = await box(pilot, SaveBox)
            asked.query_one("#path", Input).value = str(target)
            asked.query_one("#redact", Checkbox).value = redact
            await pilot.press("enter")
            assert pilot.app.screen is asked and target.read_text() == "mine"
            await pilot.press(key)
            await closed(pilot, SaveBox)

        await opened(pilot, pane, log)
        await save(True, "escape")
        assert target.read_text() == "mine"
        await save(True, "enter")
        await until(pilot, lambda: target.read_text() != "mine")
        assert "10.20.30.40" not in target.read_text() and "<ip-1>" in target.read_text()
        target.write_text("mine")
        await save(False, "enter")
        await until(pilot, lambda: target.read_text() != "mine")
        assert "10.20.30.40" in target.read_text()
        # A directory that is not there is one sentence.
        await pilot.press("x")
        (await box(pilot, SaveBox)).query_one("#path", Input).value = str(home / "no" / "out.md")
        await pilot.press("enter")
        await until(pilot, lambda: str(home / "no") in pane.note)

    play(journey, services)


def test_pasting_in_the_box_and_without_it(services: Services) -> None:
    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await pilot.press("p")
        asked = await box(pilot, PasteBox)
        await pilot.press("ctrl+s")
        assert pilot.app.screen is asked
        asked.query_one(TextArea).text = FAULT
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pane.reading is not None)
        await done(pilot, pane)
        assert pane.body.items[0].group == "answer" and "path" not in pane.state()

        # What is surely a log is read at once.
        await pilot.press("ctrl+v")
        await box(pilot, PasteBox)
        pilot.app.post_message(events.Paste("[INFO] fine\n" * 4_000))
        await closed(pilot, PasteBox)
        await until(pilot, lambda: pane.body.view.rows is not None and pane.body.view.rows.lines == 4_000)

        pane.body.view.focus()
        pilot.app.post_message(events.Paste(FAULT + "[red]\x1b[2J\x1b]52;c;aa\x07"))
        await until(pilot, lambda: pane.body.view.rows is not None and pane.body.view.rows.lines == 5)
        await done(pilot, pane)
        assert pane.body.items[0].group == "answer"

    play(journey, services)


def test_boxes_complete_choose_and_leave(home: Path, services: Services) -> None:
    (home / "board [red].log").write_text(FAULT)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await pilot.press("o")
        asked = await box(pilot, FileBox)
        tree = asked.query_one(Tree)
        await until(pilot, lambda: any("board [red].log" in str(node.label) for node in tree.root.children))
        path = asked.query_one("#path", Input)
        path.value = f"{home}/bo"
        path.cursor_position = len(path.value)
        await until(pilot, lambda: "board [red].log" in path._suggestion)
        await pilot.press("tab")
        assert path.value == f"{home}/board [red].log"
        await pilot.press("tab")
        assert pilot.app.focused is tree
        await pilot.press("down", "enter")
        await closed(pilot, FileBox)
        await done(pilot, pane)
        assert pane.body.items[0].group == "answer"
        pane.body.view.focus()
        await pilot.press("colon")
        await box(pilot, LineBox)
        await pilot.press("escape")
        await closed(pilot, LineBox)
        assert pane.recent == [str(home / "board [red].log")]

    play(journey, services)


def test_language_changes_and_keeps_the_place(home: Path, services: Services) -> None:
    log = home / "board.log"
    log.write_text("[INFO] boot\n" * 50 + FAULT)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await opened(pilot, pane, log)
        body = pane.body
        body.list.focus()
        await pilot.press("down", "down")
        chosen, row, zh = body.list.chosen, body.view.row, listed(pane)
        assert chosen is not None
        await pilot.press("ctrl+l")
        await until(pilot, lambda: listed(pane)[0] == "Root cause")
        now = body.list.chosen
        assert now is not None and now.key == chosen.key and body.view.row == row
        assert not {row for row in zh if "#" not in row} & set(listed(pane))
        labels = {one.description for same in pane._bindings.key_to_bindings.values() for one in same if one.id}
        assert {"Open", "Follow", "Ask", "Find"} <= labels
        for width, height in ((140, 45), (60, 16)):
            await pilot.resize_terminal(width, height)
            await until(pilot, lambda width=width: pilot.app.size.width == width)  # type: ignore[misc]
            await pilot.pause()
            assert body.view.size.height >= 2 and body.view.size.width > width // 2

    play(journey, services)


def test_the_next_start_opens_the_same_line(home: Path, services: Services) -> None:
    log = home / "board.log"
    log.write_text("".join(f"[INFO] boot {i}\n" for i in range(900)) + FAULT)

    async def first(pilot: Pilot[int], pane: LogsPane) -> None:
        await opened(pilot, pane, log)
        pane.body.go_line(456)
        await until(pilot, lambda: line_of(pane) == 456)
        assert isinstance(pilot.app, Window)
        pilot.app.save_state()

    async def second(pilot: Pilot[int], pane: LogsPane) -> None:
        await done(pilot, pane)
        assert pane.path == str(log) and line_of(pane) == 456 and pane.recent == [str(log)]

    play(first, services)
    play(second, services)


def test_the_mouse_does_what_the_keys_do(home: Path, services: Services) -> None:
    """A click on a row explains the code under it; a click on a line of evidence goes there."""
    log = home / "board.log"
    log.write_text("[INFO] boot\n" * 40 + FAULT)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await opened(pilot, pane, log)
        row = next(y for y, text in enumerate(rows_shown(pane)) if "ret = [145002]" in text)
        column = rows_shown(pane)[row].index("145002") + 2
        await pilot.click("#logs-view", offset=(column, row + 1))
        await until(pilot, lambda: line_of(pane) == 44 and told(pane, "logs-code").startswith("145002"))

        evidence = pane.query_one("#logs-detail")
        lines = [evidence.render_line(y).text for y in range(evidence.size.height)]
        row = next(y for y, text in enumerate(lines) if text.lstrip().startswith("41 "))
        await pilot.click("#logs-detail", offset=(lines[row].index("41"), row))
        await until(pilot, lambda: line_of(pane) == 41)

    play(journey, services, size=(200, 60))


def test_the_start_page_does_what_its_keys_do(home: Path, services: Services) -> None:
    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        start = pane.query_one("#logs-start", OptionList)
        for index, kind in ((1, FileBox), (2, PasteBox), (3, FileBox)):
            start.focus()
            start.highlighted = index
            await pilot.press("enter")
            await box(pilot, kind)  # type: ignore[type-var]
            await pilot.press("escape")
            await closed(pilot, kind)  # type: ignore[arg-type]
        # Nothing that needs a log is offered before there is one.
        offered = {active.binding.id for active in pilot.app.active_bindings.values()}
        needing = {"logs.export", "logs.find", "logs.next", "logs.ask", "logs.codes", "logs.line", "logs.entry"}
        assert "logs.open" in offered and not needing & offered
        assert needing < {one.id for one in pane.BINDINGS if isinstance(one, Binding)}

    play(journey, services)
