"""The table of layers: searched by key and mouse, sorted, and quick with thousands of rows."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input

from assistant.tui.model.layers import Layers
from assistant.tui.model.pane import ModelPane
from assistant.tui.model.rowtable import RowTable
from kb.types import Lang
from tests.test_assistant.model_area import estimate, play, settle
from tests.test_assistant.window import click, screen, until

pytestmark = pytest.mark.usefixtures("model_window")

#: What an estimate says of a layer, as far as the table shows it.
_LAYER = {
    "op_type": "Conv", "inputs": [[1, 3, 8, 8]], "outputs": [[1, 8, 8, 8]], "macs": 1, "parameters": 0, "weight_bytes": 2,
    "output_bytes": 512, "live_bytes": 1024, "cycles_lower_bound": None, "cycles_estimate": 7, "inserted": False,
}  # fmt: skip


def _names(layers: Layers) -> list[str]:
    return [layers.rows[i][0] for i in layers.order]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_layers_are_found_by_name_and_operator(conv: Path, lang: Lang) -> None:
    async def search(pilot: Pilot[int], pane: ModelPane) -> None:
        await estimate(pilot, pane, conv)
        layers, table = pane.query_one(Layers), pane.query_one(RowTable)
        await pilot.press("2")
        await until(pilot, lambda: table.row_count == len(layers.rows) > 3)
        every = len(layers.rows)

        await pilot.press("slash", *"RELU")
        await until(pilot, lambda: table.row_count == 1)
        assert _names(layers) == ["relu"]
        await settle(pilot, f"1 / {every}" if lang == "zh" else f"1 of {every}")

        # Enter goes to the table; the search stays until Esc, and the cursor stays on what was found.
        await pilot.press("enter")
        assert pilot.app.focused is table and table.row_count == 1
        await pilot.press("escape")
        await until(pilot, lambda: table.row_count == every)
        assert pilot.app.focused is table and layers.rows[layers.order[table.row]][0] == "relu"
        assert not layers.query_one(Input).display

        # The name has Chinese and what looks like markup; several words must all be there; sorting keeps the search.
        await pilot.press("slash", *"[red] 卷积")
        await until(pilot, lambda: table.row_count == 1)
        await pilot.press("enter", "s")
        assert layers.by == 2 and table.row_count == 1
        await pilot.press("slash", "end", "x")
        await until(pilot, lambda: table.row_count == 0)
        assert "[red]" in layers.query_one(Input).value and "Traceback" not in screen(pilot.app)
        await pilot.press("escape", "escape")
        assert pilot.app.focused is pane.query_one("#model-path")

    play(search, lang=lang)


def test_the_mouse_searches_and_shows_all_again(conv: Path) -> None:
    async def search(pilot: Pilot[int], pane: ModelPane) -> None:
        await estimate(pilot, pane, conv)
        layers, table = pane.query_one(Layers), pane.query_one(RowTable)
        await pilot.press("2")
        await settle(pilot, "/ search")
        await click(pilot, "/ search")
        await pilot.press(*"conv")
        await until(pilot, lambda: 0 < table.row_count < len(layers.rows))
        await click(pilot, "Esc shows all")
        await until(pilot, lambda: table.row_count == len(layers.rows))
        await pilot.click(table, offset=(3, 3))
        assert table.row == 2
        await pilot.click(table, offset=(3, 0))
        await until(pilot, lambda: layers.by == 0)
        await pilot.click(table, offset=(60, 0))
        await until(pilot, lambda: layers.by not in (0, None))

    play(search)


def test_of_ten_thousand_layers_those_on_the_screen_are_drawn(conv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = 0
    render = RowTable.render_line

    def counted(table: RowTable, y: int) -> Strip:
        nonlocal drawn
        drawn += 1
        return render(table, y)

    monkeypatch.setattr(RowTable, "render_line", counted)

    async def many(pilot: Pilot[int], pane: ModelPane) -> None:
        await estimate(pilot, pane, conv)
        layers, table = pane.query_one(Layers), pane.query_one(RowTable)
        await pilot.press("2")
        rows = [{**_LAYER, "name": f"block{i // 4}/conv_{i}", "macs": i * 7919 % 10_007} for i in range(10_000)]
        layers.show({**pane.models[0], "layers": rows}, "en", pane.say)
        await until(pilot, lambda: table.row_count == 10_000)

        for key in ("end", "home", "pagedown", "down", "right", "left", "up", "pageup"):
            before = drawn
            await pilot.press(key)
            await pilot.pause()
            assert drawn - before <= 3 * table.size.height
        layers.sort(2)
        await until(pilot, lambda: "10006" in screen(pilot.app).replace(",", ""))
        assert table.row == 0
        assert [layers.rows[i][2] for i in layers.order[:3]] == [10_006, 10_005, 10_004]
        await pilot.press("slash", *"_9")
        await until(pilot, lambda: table.row_count == sum("_9" in name for name in _names(layers)) == 1111)

    play(many, size=(140, 45))
