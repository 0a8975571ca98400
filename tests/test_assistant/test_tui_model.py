"""The area Model of the window: pick, estimate, sort, see what is unsupported, rewrite, compare."""

from pathlib import Path

import onnx
import pytest
from rich.cells import cell_len
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Button, Input, Select

from assistant.tui.filebox import FileBox
from assistant.tui.model.charts import Charts
from assistant.tui.model.fixed import Fix
from assistant.tui.model.layers import Layers
from assistant.tui.model.pane import ModelPane
from assistant.tui.model.rowtable import RowTable
from assistant.tui.model.tabs import TABS
from assistant.tui.model.totals import Totals
from assistant.tui.pathfield import PathField
from kb.types import Lang
from tests.test_assistant.model_area import (
    choose,
    estimate,
    play,
    said,
    settle,
    tab,
)
from tests.test_assistant.window import screen, until

pytestmark = pytest.mark.usefixtures("model_window")


@pytest.mark.parametrize(("lang", "size"), [("zh", (80, 24)), ("en", (140, 45))], ids=["zh-80", "en-140"])
def test_the_journey(conv: Path, lang: Lang, size: tuple[int, int]) -> None:
    async def journey(pilot: Pilot[int], pane: ModelPane) -> None:
        app = pilot.app
        assert app.focused is pane.query_one("#model-path")

        # Pick in the list.
        choose(pane, conv.parent)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, FileBox) and "[red]" in screen(pilot.app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: pane.models and not pane.running.doing)
        assert pane.query_one("#model-path", PathField).path == str(conv)
        assert "64 MHz" in said(pilot) and "✗ 1" in said(pilot)

        # Totals, then layers sorted by multiply-adds.
        await settle(pilot, "TOTAL_MEM_SIZE")
        await settle(pilot, "✗ HardSigmoid")
        await pilot.press("2")
        await settle(pilot, "55,296")
        layers, table = pane.query_one(Layers), pane.query_one(RowTable)
        assert layers.order == sorted(layers.order) and len(layers.order) > 3
        await pilot.press("s")
        await until(pilot, lambda: layers.by == 2 and table.row_count == len(layers.rows))
        assert layers.rows[layers.order[0]][2] == 55296
        assert "[red]卷积" in screen(pilot.app) and "\x1b" not in screen(pilot.app)

        # What is unsupported, with rule and way out; charts.
        await pilot.press("3")
        await settle(pilot, "operator-list")
        await settle(pilot, "asknpu fix")
        await pilot.press("4")
        await settle(pilot, "▲")
        assert "KiB" in screen(pilot.app) and "█" in screen(pilot.app)

        # Rewrite to the path that was confirmed.
        await pilot.press("f7")
        out = pane.query_one("#fix-out", PathField)
        await until(pilot, lambda: app.focused is out)
        assert out.path == str(conv.with_name("模型 [red] 1-fixed.onnx")) and not Path(out.path).exists()
        await pilot.press("enter")
        await until(pilot, lambda: pane.proof is not None and not pane.running.doing)
        await settle(pilot, "Mul Add Clip")
        await settle(pilot, "只差舍入" if lang == "zh" else "equal up to rounding")
        assert pane.proof is not None and pane.proof["clean"] and pane.proof["proof"]["ok"]
        onnx.checker.check_model(out.path)
        assert not list(conv.parent.glob(".asknpu*"))

        # Side by side with the result: the unsupported operator is gone.
        pane.query_one("#fix-beside", Button).press()
        await until(pilot, lambda: len(pane.models) == 2 and not pane.running.doing)
        await settle(pilot, "NOT_SUPPORT_OP_TYPE")
        assert "B - A" in screen(pilot.app) and "≠" in screen(pilot.app)
        assert pane.models[0]["unsupported"] and not pane.models[1]["unsupported"]

        # The other language keeps what is shown, and its next window starts with it.
        before = pane.models
        await pilot.press("ctrl+l")
        assert pane.models is before and tab(pane) == "compare"
        await settle(pilot, "Side by side" if lang == "zh" else "并排")

    play(journey, lang=lang, size=size)


def test_every_key_does_its_action(conv: Path) -> None:
    async def keys(pilot: Pilot[int], pane: ModelPane) -> None:
        app = pilot.app
        await estimate(pilot, pane, conv)
        for number, name in enumerate(TABS, start=1):
            pane.query_one("#model-tabs Tabs").focus()
            await pilot.press(str(number))
            assert tab(pane) == name
        await pilot.press("f8")
        assert app.focused is pane.query_one("#model-other")
        await pilot.press("escape")
        assert app.focused is pane.query_one("#model-path")
        await pilot.press("f7")
        await until(pilot, lambda: app.focused is pane.query_one("#fix-out"))
        before = pane.models
        await pilot.press("ctrl+r")
        await until(pilot, lambda: pane.models is not before)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, FileBox))
        assert isinstance(app.screen, FileBox) and app.screen.recent == [str(conv)]
        await pilot.press("escape")
        assert not isinstance(app.screen, FileBox)
        layers = pane.query_one(Layers)
        pane.query_one("#model-tabs Tabs").focus()
        await pilot.press("s")
        assert layers.by == 2
        await pilot.press("r")
        assert [layers.rows[i][2] for i in layers.order if layers.rows[i][2]][-1] == 55296
        seen = []
        for _ in range(len(Layers.COLUMNS)):
            layers.sort_next()
            seen.append(layers.by)
        assert seen == [3, 4, 5, 6, 7, 0, 1, 8, None]

    play(keys)


def test_a_click_sorts_settings_estimate_again_and_a_resize_lays_out(conv: Path) -> None:
    async def changes(pilot: Pilot[int], pane: ModelPane) -> None:
        await estimate(pilot, pane, conv)
        await pilot.press("2")
        layers, table = pane.query_one(Layers), pane.query_one(RowTable)
        await until(pilot, lambda: layers.rows and table.row_count == len(layers.rows))
        for is_reversed in (False, True):
            await pilot.click("#layers", offset=(3, 0))
            await until(pilot, lambda want=is_reversed: layers.by == 0 and layers.is_reversed == want)
            await until(pilot, lambda: table.row_count == len(layers.rows))
        names = [layers.rows[i][0] for i in layers.order]
        assert names == sorted(names, reverse=True)
        assert layers._name_room() > 22

        slow, before = pane.models[0]["latency"]["lower_bound_ms"], pane.models
        pane.query_one("#set-clock", Input).value = "128"
        pane.query_one("#set-view", Select).value = "script"
        await until(pilot, lambda: pane.models is not before and not pane.running.doing)
        assert pane.models[0]["view"] == "script" and pane.models[0]["clock_mhz"] == 128
        assert pane.models[0]["latency"]["lower_bound_ms"] == pytest.approx(slow / 2)

        for size, shown_tabs in (
            ((80, 24), ("layers", "charts")),
            ((40, 12), ("totals", "layers", "charts", "compare")),
        ):
            await pilot.resize_terminal(*size)
            for name in shown_tabs:
                pane.action_tab(name)
                await pilot.pause()
                shown = screen(pilot.app).split("\n")
                assert len(shown) == size[1] and all(cell_len(line) == size[0] for line in shown)

    play(changes, size=(140, 45))


def test_what_is_laid_out_for_a_width_is_as_high_as_its_lines(conv: Path) -> None:
    async def narrow(pilot: Pilot[int], pane: ModelPane) -> None:
        await estimate(pilot, pane, conv)
        fixed = pane.query_one(Fix).query_one("#fix-scroll").children[0]
        for name, parts in (
            ("totals", pane.query_one(Totals).children), ("charts", pane.query_one(Charts).children), ("fixed", [fixed]),
        ):  # fmt: skip
            pane.action_tab(name)
            for size in ((140, 45), (80, 24), (50, 24)):
                await pilot.resize_terminal(*size)
                for part in parts:
                    content = part.render()
                    assert isinstance(content, Content)
                    assert part.size.height == content.get_height(part.styles, part.size.width), (name, size)

    play(narrow, lang="zh", size=(140, 45))
