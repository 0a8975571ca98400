"""The area Logs of the window: lines that no rule knows lead to the corpus."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Markdown, OptionList

from assistant.tui.app import Window
from assistant.tui.ask.box import QuestionBox
from assistant.tui.logs.dialogs import ChoiceBox, TextBox
from assistant.tui.logs.pane import LogsPane
from assistant.tui.services import Services
from kb.types import Lang
from tests.test_assistant.logs_area import (
    TITLES,
    UNKNOWN,
    box,
    closed,
    listed,
    opened,
    play,
    told,
)
from tests.test_assistant.window import until


@pytest.mark.parametrize(("lang", "size"), [("zh", (80, 24)), ("en", (140, 45))], ids=["zh-80", "en-140"])
def test_unknown_lines_lead_to_the_nearest_entries_and_to_ask(
    logs_home: Path, logs_services: Services, lang: Lang, size: tuple[int, int]
) -> None:
    log = logs_home / "odd.log"
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

    play(journey, logs_services, lang=lang, size=size)
