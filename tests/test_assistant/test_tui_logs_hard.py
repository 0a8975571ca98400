"""The area Logs of the window with logs that are hard: packed, hostile, huge, growing, endless; and with none."""

import gzip
import tarfile
import threading
import zipfile
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from assistant.logs.diagnose import Diagnoser
from assistant.tui.filebox import FileBox
from assistant.tui.logs.pane import LogsPane
from assistant.tui.services import Services
from kb.types import Lang
from tests.test_assistant.logs_area import (
    FAULT,
    box,
    done,
    line_of,
    opened,
    play,
    rows_shown,
    told,
)
from tests.test_assistant.window import until

HOSTILE = (
    "[red]bold[/red] [NDRV]x[/]",
    "\x1b[2J\x1b[31mred\x1b[0m",
    "\x1b]8;;http://example.com\x07link\x1b]8;;\x07",
    "\x1b]52;c;ZXZpbA==\x07clip",
    "nul\0nul \u202eright to left",
    "emoji 😀 中文\ttab",
)


def test_every_kind_of_file_opens(logs_home: Path, logs_services: Services) -> None:
    plain = FAULT.encode()
    (logs_home / "a.log.gz").write_bytes(gzip.compress(plain * 50))
    (logs_home / "gbk.log").write_bytes(("错误：文件系统\n" + FAULT).encode("gb18030"))
    (logs_home / "wide.log").write_bytes(("文件系统\r\n" + FAULT).encode("utf-16"))
    with zipfile.ZipFile(logs_home / "two.zip", "w") as archive:
        archive.writestr("x/one.log", "[INFO] fine\n")
        archive.writestr("x/two.log", plain)
    (logs_home / "many").mkdir()
    (logs_home / "many" / "b.log").write_bytes(b"[INFO] ok\n")
    (logs_home / "many" / "c.log").write_bytes(plain)
    (logs_home / "many" / "c.log.1").write_bytes(b"[INFO] older\n" * 3)
    with tarfile.open(logs_home / "t.tar.gz", "w:gz") as tar:
        tar.add(logs_home / "many", "many")
    kinds = {"a.log.gz": 1, "gbk.log": 1, "wide.log": 1, "two.zip": 2, "many": 2, "t.tar.gz": 2}

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        body = pane.body
        for name, logs in kinds.items():
            pane.begin("open", str(logs_home / name))
            await done(pilot, pane)
            assert pane.reading is not None
            assert (pane.reading.phase, len(pane.reading.logs)) == ("done", logs), (name, pane.reading.problem)
            assert body.items[0].group == "answer", name
            assert any("● " in row and "region not init" in row for row in rows_shown(pane)), name
            if name in ("gbk.log", "wide.log"):
                assert any("文件系统" in row for row in rows_shown(pane))
        before = body.shown
        body.view.focus()
        await pilot.press("right_square_bracket")
        assert body.shown != before and any("[INFO] ok" in row for row in rows_shown(pane))
        await pilot.press("left_square_bracket")
        assert body.shown == before
        (logs_home / "none.tar").write_bytes(b"nothing")
        for name in ("none.tar", "missing [red].log"):
            pane.begin("open", str(logs_home / name))
            await done(pilot, pane)
            assert pane.reading is not None and pane.reading.phase == "failed"
            assert name in told(pane, "logs-status")

    play(journey, logs_services, size=(140, 45))


@pytest.mark.parametrize(("lang", "size"), [("zh", (80, 24)), ("en", (140, 45))], ids=["zh-80", "en-140"])
def test_hostile_text_is_shown_as_text(
    logs_home: Path, logs_services: Services, lang: Lang, size: tuple[int, int]
) -> None:
    log = logs_home / "evil [red].log"
    log.write_bytes(("\n".join(HOSTILE) + "\n" + FAULT).encode() + b"[red]y" * 300_000 + b"\nend\n")

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await opened(pilot, pane, log)
        view = pane.body.view
        view.focus()
        await pilot.press("g")
        rows = rows_shown(pane)
        assert "[red]bold[/red] [NDRV]x[/]" in rows[0]
        assert "clip" in rows[3] and "emoji 😀 中文    tab" in rows[5]
        assert all("\x1b" not in row and "\0" not in row and "\u202e" not in row for row in rows)
        assert {view.render_line(y).cell_length for y in range(view.size.height)} == {view.size.width}
        assert "evil [red].log" in str(view.border_title).replace("\\[", "[")
        await pilot.press("G")
        assert line_of(pane) == 12
        # A line without end comes in pieces.
        await pilot.press("up", "right", "right", "left")
        assert line_of(pane) == 11 and view.scroll_offset.x == 16
        assert any(" + │ " in row and "[red]y[red]y" in row for row in rows_shown(pane))
        await pilot.press("slash", *"end", "enter")
        await until(pilot, lambda: line_of(pane) == 12)

    play(journey, logs_services, lang=lang, size=size)


def test_a_big_log_is_read_where_it_is_looked_at(logs_home: Path, logs_services: Services) -> None:
    log = logs_home / "big.log"
    log.write_bytes(b"".join(b"2024-01-02 03:04:05 [INFO] step %d of the training loop\n" % i for i in range(100_000)))

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        pane.begin("open", str(log))
        view = pane.body.view
        await until(pilot, lambda: view.rows is not None and view.rows.lines >= 100_000)
        view.focus()
        await pilot.press("G", "g", "G")
        assert line_of(pane) == 100_000
        assert any("99999" in row for row in rows_shown(pane))
        await pilot.press("colon", *"56789", "enter")
        await until(pilot, lambda: line_of(pane) == 56_789)
        await pilot.press("slash", *"step 777 ", "enter")
        await until(pilot, lambda: line_of(pane) == 778)
        await done(pilot, pane)
        # Neither the lines nor an offset of each are in memory.
        assert view.rows is not None and len(view.rows._blocks) <= 32 and len(view.rows._starts) < 300
        assert pane.reading is not None and pane.reading.phase == "done"

    play(journey, logs_services)


def test_escape_ends_a_reading_and_keeps_what_it_found(
    logs_home: Path, logs_services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = logs_home / "slow.log"
    log.write_bytes(FAULT.encode() + b"[INFO] filler filler filler\n" * 100_000)
    feed, may_go_on, portions = Diagnoser.feed, threading.Event(), []

    def slow(self: Diagnoser, number: int, data: bytes) -> None:
        portions.append(number)
        if len(portions) == 2:
            may_go_on.wait(60)
        feed(self, number, data)

    monkeypatch.setattr(Diagnoser, "feed", slow)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        pane.begin("open", str(log))
        await until(pilot, lambda: bool(pane.body.items))
        assert pane.reading is not None and pane.reading.is_busy
        await until(pilot, lambda: "%" in told(pane, "logs-status") and "/s" in told(pane, "logs-status"))
        assert pane.say("esc_stops") in told(pane, "logs-status")
        pane.body.list.focus()
        await pilot.press("escape")
        may_go_on.set()
        await done(pilot, pane)
        assert pane.reading.phase == "stopped" and pane.body.items[0].group == "answer"
        assert pane.say("stopped") in told(pane, "logs-status")

    play(journey, logs_services)


def test_following_shows_causes_as_they_come(logs_home: Path, logs_services: Services) -> None:
    log = logs_home / "live.log"
    log.write_text("[INFO] start\n" * 100)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        body = pane.body

        def write(text: str) -> None:
            with log.open("a") as file:
                file.write(text)

        await pilot.press("f")
        (await box(pilot, FileBox)).query_one("#path", Input).value = str(log)
        await pilot.press("enter")
        await until(pilot, lambda: pane.reading is not None and pane.reading.phase == "following")
        await until(pilot, lambda: line_of(pane) == 100)
        write(FAULT)
        await until(pilot, lambda: bool(body.items) and body.items[0].group == "answer")
        await until(pilot, lambda: line_of(pane) == 104)
        # Who goes up stays there.
        body.view.focus()
        await pilot.press("g")
        write("[INFO] more\n" * 10)
        await until(pilot, lambda: body.view.rows is not None and body.view.virtual_size.height >= 114)
        assert line_of(pane) == 1
        await pilot.press("G")
        write("[INFO] last\n")
        await until(pilot, lambda: line_of(pane) == 115)
        # A truncated log begins again as another one.
        log.write_text("[INFO] again\n")
        await until(pilot, lambda: pane.reading is not None and len(pane.reading.logs) == 2 and body.shown == 1)
        await pilot.press("escape")
        await until(pilot, lambda: pane.reading is not None and pane.reading.phase == "stopped")

    play(journey, logs_services)
