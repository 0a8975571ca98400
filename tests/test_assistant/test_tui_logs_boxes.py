"""The area Logs of the window: its boxes, its start page, the mouse, the next start."""

from pathlib import Path

from textual import events
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import Checkbox, Input, OptionList, TextArea

from assistant.tui.app import Window
from assistant.tui.filebox import FileBox
from assistant.tui.logs.dialogs import LineBox, PasteBox, SaveBox
from assistant.tui.logs.pane import LogsPane
from assistant.tui.services import Services
from tests.test_assistant.logs_area import (
    FAULT,
    box,
    closed,
    done,
    line_of,
    opened,
    play,
    rows_shown,
    told,
)
from tests.test_assistant.window import until


def test_export_redacts_and_never_replaces_silently(logs_home: Path, logs_services: Services) -> None:
    log = logs_home / "board.log"
    log.write_text(FAULT.replace("region not init", "region not init on 10.20.30.40 user=alice.smith1"))
    target = logs_home / "out.md"
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
        (await box(pilot, SaveBox)).query_one("#path", Input).value = str(logs_home / "no" / "out.md")
        await pilot.press("enter")
        await until(pilot, lambda: str(logs_home / "no") in pane.note)

    play(journey, logs_services)


def test_pasting_in_the_box_and_without_it(logs_home: Path, logs_services: Services) -> None:
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

    play(journey, logs_services)


def test_boxes_complete_choose_and_leave(logs_home: Path, logs_services: Services) -> None:
    (logs_home / "board [red].log").write_text(FAULT)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await pilot.press("o")
        asked = await box(pilot, FileBox)
        files = asked.query_one("#files", OptionList)
        await until(pilot, lambda: any("board [red].log" in str(line.prompt) for line in files.options))
        path = asked.query_one("#path", Input)
        path.value = f"{logs_home}/bo"
        path.cursor_position = len(path.value)
        await until(pilot, lambda: "board [red].log" in path._suggestion)
        await pilot.press("tab")
        assert path.value == f"{logs_home}/board [red].log"
        await pilot.press("tab")
        assert pilot.app.focused is files
        await pilot.press("enter")
        await closed(pilot, FileBox)
        await done(pilot, pane)
        assert pane.body.items[0].group == "answer"
        pane.body.view.focus()
        await pilot.press("colon")
        await box(pilot, LineBox)
        await pilot.press("escape")
        await closed(pilot, LineBox)
        assert pane.recent == [str(logs_home / "board [red].log")]

    play(journey, logs_services)


def test_the_next_start_opens_the_same_line(logs_home: Path, logs_services: Services) -> None:
    log = logs_home / "board.log"
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

    play(first, logs_services)
    play(second, logs_services)


def test_the_mouse_does_what_the_keys_do(logs_home: Path, logs_services: Services) -> None:
    """A click on a row explains the code under it; a click on a line of evidence goes there."""
    log = logs_home / "board.log"
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

    play(journey, logs_services, size=(200, 60))


def test_the_start_page_does_what_its_keys_do(logs_home: Path, logs_services: Services) -> None:
    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        start = pane.query_one("#logs-start", OptionList)
        for index, kind in ((1, FileBox), (2, PasteBox), (3, FileBox)):
            start.focus()
            start.highlighted = index
            await pilot.press("enter")
            await box(pilot, kind)
            await pilot.press("escape")
            await closed(pilot, kind)
        # Nothing that needs a log is offered before there is one.
        offered = {active.binding.id for active in pilot.app.active_bindings.values()}
        needing = {"logs.export", "logs.find", "logs.next", "logs.ask", "logs.codes", "logs.line", "logs.entry"}
        assert "logs.open" in offered and not needing & offered
        assert needing < {one.id for one in pane.BINDINGS if isinstance(one, Binding)}

    play(journey, logs_services)
