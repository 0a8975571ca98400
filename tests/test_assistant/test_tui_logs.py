"""The area Logs of the window, as its user goes through it: every key from a file to a report; both languages."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Markdown

from assistant.tui.logs.dialogs import LineBox, SaveBox, TextBox
from assistant.tui.logs.pane import LogsPane
from assistant.tui.services import Services
from kb.types import Lang
from tests.test_assistant.logs_area import (
    FAULT,
    box,
    closed,
    line_of,
    listed,
    opened,
    play,
    rows_shown,
    told,
)
from tests.test_assistant.window import until


@pytest.mark.parametrize(("lang", "size"), [("zh", (80, 24)), ("en", (140, 45))], ids=["zh-80", "en-140"])
def test_a_journey_from_file_to_report(
    logs_home: Path, logs_services: Services, lang: Lang, size: tuple[int, int]
) -> None:
    """Open, read the finding, jump, read codes and entry, find, go to a line, export; with every key on the way."""
    log = logs_home / "board [red].log"
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

        target = logs_home / "out.md"
        await pilot.press("x")
        (await box(pilot, SaveBox)).query_one("#path", Input).value = str(target)
        await pilot.press("enter")
        await until(pilot, target.exists)
        text_of = target.read_text("utf-8")
        assert text_of.startswith(f"# {pane.say('report_title')}") and ".log:301: [NFS]region not init" in text_of

    play(journey, logs_services, lang=lang, size=size)


def test_language_changes_and_keeps_the_place(logs_home: Path, logs_services: Services) -> None:
    log = logs_home / "board.log"
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

    play(journey, logs_services)
