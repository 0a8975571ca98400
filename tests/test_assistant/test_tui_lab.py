"""The lab driven by keys: search, forms, results, plots, in both languages and sizes."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Select, Static, Switch

from assistant.checks import show
from assistant.checks.run import run_check
from assistant.checks.table import CHECKS
from assistant.tui.help import HelpScreen
from assistant.tui.lab.form import start_values
from assistant.tui.lab.history import HistoryScreen
from assistant.tui.lab.pane import LabPane
from assistant.tui.lab.plot import Plot
from assistant.tui.lab.result import ResultView
from tests.test_assistant.lab_area import field, lab, opened, settled, shown
from tests.test_assistant.window import until

SIZES = ((80, 24), (140, 45))


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the state of the window in a directory of the test; the lab needs no corpus."""
    monkeypatch.setenv("ASKNPU_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("size", SIZES)
def test_the_journey_from_search_to_copied_command(size: tuple[int, int]) -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        assert pilot.app.focused is pane.query_one("#lab-filter")
        await pilot.press(*"softmax_fp16")
        await pilot.press("enter")
        await until(pilot, lambda: pane.opened == "softmax_fp16")
        await settled(pilot, pane)
        assert pilot.app.focused is field(pane, "values").query_one(Input)
        await pilot.press("ctrl+u", *"1,2,3")
        await settled(pilot, pane)

        want = run_check(CHECKS["softmax_fp16"], start_values(CHECKS["softmax_fp16"]) | {"values": "1,2,3"})
        assert pane.done is not None
        assert pane.done[0].result == want.result
        await pilot.press("ctrl+y")
        assert pilot.app.clipboard == "asknpu run softmax_fp16 values=1,2,3"
        assert pane.query(Plot)
        assert all(len(line) <= size[0] for line in shown(pane).splitlines() if "│" in line)

    lab("en", test, size)


def test_search_finds_names_titles_and_questions_of_both_languages() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        box, found = pane.query_one("#lab-filter", Input), pane.query_one("#lab-list", OptionList)

        def names() -> set[str]:
            return {option.id for option in found.options if option.id}

        for text in ("rnn_drift", "误差随帧", "DRIFTS over"):
            box.value = text
            await until(pilot, lambda: names() == {"rnn_drift"})
        question = CHECKS["byte_units"].asks_zh[0]
        box.value = question
        await until(pilot, lambda: "byte_units" in names() and len(names()) < 5)
        box.value = "[red] no such thing"
        await until(pilot, lambda: not names())
        assert "Esc" in str(pane.query_one(".count", Static).render())
        await pilot.press("escape")
        await until(pilot, lambda: len(names()) == len(CHECKS))

    lab("zh", test, (80, 24))


def test_the_arrow_keys_of_the_box_move_in_the_list_and_a_click_opens() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        await pilot.press("down", "down", "up", "enter")
        await until(pilot, lambda: pane.opened == "quant_params")
        await pilot.press("ctrl+f")
        assert pilot.app.focused is pane.query_one("#lab-filter")
        before = pane.opened
        await pilot.press("pagedown", "enter")
        await until(pilot, lambda: pane.opened != before)
        await pilot.press("ctrl+f", "pageup", "enter")
        await pilot.click("#lab-list", offset=(4, 3))
        await until(pilot, lambda: pilot.app.focused is not None and pane.opened in CHECKS)

    lab("zh", test, (80, 24))


def test_every_key() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        names = list(CHECKS)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: pane.opened == names[1])
        await pilot.press("ctrl+b")
        await until(pilot, lambda: pane.opened == names[0])
        await settled(pilot, pane)

        field(pane, "scale").put("0.5")
        await settled(pilot, pane)
        await pilot.press("ctrl+g")
        await settled(pilot, pane)
        assert field(pane, "scale").text == CHECKS["quant_range"].parameters[0].example

        view = pane.query_one(ResultView)
        field(pane, "scale").query_one(Input).focus()
        await pilot.press("pagedown")
        await until(pilot, lambda: view.scroll_y > 0)
        # The focus brings a line of help, which takes one from the page: the way back may end a line short.
        down = view.scroll_y
        await pilot.press("pageup")
        await until(pilot, lambda: view.scroll_y < down)

        await pilot.press("ctrl+r")
        await until(pilot, lambda: pane.runs[0].is_kept)
        field(pane, "scale").put("x")
        pane.query_one("#lab-filter").focus()
        await pilot.press("ctrl+r")
        assert pilot.app.focused is field(pane, "scale").query_one(Input)
        await pilot.press("ctrl+y")

        await pilot.press("ctrl+o")
        assert isinstance(pilot.app.screen, HistoryScreen)
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, HistoryScreen)
        await pilot.press("f1")
        assert isinstance(pilot.app.screen, HelpScreen)
        await pilot.press("escape")

    lab("en", test, (80, 24))


def test_the_language_changes_and_keeps_what_is_typed_and_shown() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        await opened(pilot, pane, "quant_params")
        field(pane, "low").put("-3.5")
        await settled(pilot, pane)
        zh = shown(pane)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: shown(pane) != zh and bool(pane.query(Plot)))

        outcome = run_check(CHECKS["quant_params"], start_values(CHECKS["quant_params"]) | {"low": "-3.5"})
        assert field(pane, "low").text == "-3.5"
        assert show.sentence(CHECKS["quant_params"], outcome, "en") in shown(pane)
        assert CHECKS["quant_params"].en in str(pane.query_one(".name", Static).render())
        assert pilot.app.screen.active_bindings["ctrl+r"].binding.description == "Run"
        await pilot.press("ctrl+l")
        await until(pilot, lambda: CHECKS["quant_params"].zh in str(pane.query_one(".name", Static).render()))
        assert pilot.app.screen.active_bindings["ctrl+r"].binding.description == "计算"

    lab("zh", test, (140, 45))


def test_choices_and_switches_change_by_keys() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        await opened(pilot, pane, "quant_range")
        chooser = field(pane, "dtype").query_one(Select)
        chooser.focus()
        await pilot.press("enter", "down", "enter")
        await until(pilot, lambda: field(pane, "dtype").text == "uint8")
        await settled(pilot, pane)
        assert pane.done is not None
        assert pane.done[0].arguments["dtype"] == "uint8"

        await opened(pilot, pane, "layer_verdict")
        switch = field(pane, "aligned").query_one(Switch)
        switch.focus()
        await pilot.press("enter")
        await settled(pilot, pane)
        assert pane.done is not None
        assert pane.done[0].arguments["aligned"] is True
        assert "yes" in str(field(pane, "aligned").query_one(".unit", Static).render())

    lab("en", test, (80, 24))


def test_hostile_text_is_shown_as_text() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        bad = "[red]\x1b[31m😀漢字[/red] [@click=app.quit]x[/]"
        await opened(pilot, pane, "activation_peak", {"shapes": bad})
        assert "shapes" in shown(pane)
        assert "\x1b" not in shown(pane)
        pane.query_one("#lab-filter", Input).value = bad
        await pilot.pause()
        await opened(pilot, pane, "fp16_value", {"values": "9" * 3000})
        await pilot.pause()

    lab("zh", test, (80, 24))


def test_a_resize_draws_the_plots_to_the_new_width() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        await opened(pilot, pane, "table_error")
        widths = []
        for size in ((80, 24), (140, 45), (60, 20), (100, 30)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            plot = pane.query(Plot).first()
            await until(pilot, lambda plot=plot: plot.size.width > 0)
            lines = str(plot.render()).splitlines()
            assert max(map(len, lines)) <= plot.size.width
            widths.append(max(map(len, lines)))
        assert widths[1] > widths[3] > widths[2]

    lab("en", test, (80, 24))
