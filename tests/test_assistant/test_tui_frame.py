"""The window opens, every area can be entered, language and state hold; the long tests are in the files beside."""

import asyncio
import json
from pathlib import Path

import pytest

from assistant.tui.app import AREAS, Window


def test_every_area_can_be_entered_in_both_languages(shipped_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKNPU_HOME", str(shipped_home))

    async def visit() -> None:
        app = Window("zh")
        app.animation_level = "none"
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            assert app.focused is not None
            for number, area in enumerate(AREAS, start=2):
                await pilot.press(f"f{number}")
                await pilot.pause()
                assert app.area == area
                assert app.pane(area) is not None
            await pilot.press("ctrl+l")
            await pilot.pause()
            assert app.lang == "en"
            assert {pane.lang for pane in map(app.pane, AREAS) if pane} == {"en"}
            await pilot.resize_terminal(140, 45)
            await pilot.press("ctrl+q")
        assert app.return_code == 0

    asyncio.run(visit())
    saved = json.loads((shipped_home / "window.json").read_text("utf-8"))
    assert (saved["lang"], saved["area"]) == ("en", "library")
    (shipped_home / "window.json").unlink()


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"version": 1, "theme": 7, "area": ["lab"], "areas": []}'])
def test_a_broken_state_file_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("ASKNPU_HOME", str(tmp_path))
    (tmp_path / "window.json").write_text(text, encoding="utf-8")

    async def start() -> str:
        app = Window("en")
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            return app.area

    assert asyncio.run(start()) == "ask"
