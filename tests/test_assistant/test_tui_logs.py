"""The area Logs of the window: open, paste, follow; findings, jumps, find, codes, export; hostile and huge logs."""

import asyncio
import gzip
import random
import tarfile
import time
import zipfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import Checkbox, Input, OptionList, Static, TextArea, Tree

from assistant.logs.decode import lines as decoded
from assistant.tui.app import Window
from assistant.tui.logs.dialogs import FileBox, LineBox, PasteBox, SaveBox, TextBox
from assistant.tui.logs.find import find, found_in, shown
from assistant.tui.logs.pane import LogsPane
from assistant.tui.logs.rows import Rows
from assistant.tui.services import Services

pytestmark = pytest.mark.window

SERVICES = Services()
FAULT = """\
[NFS]region not init
[NFS]file open fail
[ERROR][model_segment_load.c:24]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] [open][file] failed, file gesture.exeom
[ERROR][ge_executor.c:107]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] Load file[gesture.exeom] failed, ret = [145002]
"""
HOSTILE = (
    "[red]bold[/red] [NDRV]x[/]",
    "\x1b[2J\x1b[31mred\x1b[0m",
    "\x1b]8;;http://example.com\x07link\x1b]8;;\x07",
    "\x1b]52;c;ZXZpbA==\x07clip",
    "nul\0nul \u202eright to left",
    "emoji 😀 中文\ttab",
)


@pytest.fixture
def home(shipped_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose window was never open, and a directory to work in."""
    monkeypatch.setenv("ASKNPU_HOME", str(shipped_home))
    (shipped_home / "window.json").unlink(missing_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module", autouse=True)
def _one_corpus() -> Iterator[None]:
    """Let all windows share the opened corpus, and close it after the last test."""
    yield
    opened_one = SERVICES.__dict__.get("session")
    if opened_one is not None:
        opened_one.store.close()


def run(
    journey: Callable[[Pilot[int], LogsPane], Awaitable[None]], *, lang: str = "zh", size: tuple[int, int] = (80, 24)
) -> None:
    """Run a journey in the area."""

    async def main() -> None:
        app = Window("zh" if lang == "zh" else "en", services=SERVICES)
        app.animation_level = "none"
        async with app.run_test(size=size) as pilot:
            await app.action_enter("logs")
            pane = app.pane("logs")
            assert isinstance(pane, LogsPane)
            await pilot.pause()
            await journey(pilot, pane)

    asyncio.run(main())


async def until(pilot: Pilot[int], holds: Callable[[], bool], seconds: float = 15) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        await pilot.pause(0.02)


async def done(pilot: Pilot[int], pane: LogsPane) -> None:
    """Wait until the log is read and shown."""
    await until(pilot, lambda: pane.reading is not None and not pane.reading.is_busy)
    await until(pilot, lambda: pane.reading is None or pane._seen is pane.reading.diagnosis)
    await pilot.pause()


async def opened(pilot: Pilot[int], pane: LogsPane, path: Path) -> None:
    """Open a file as the user does: key, path, Enter."""
    pane.view.focus() if not pane.has_class("empty") else None
    await pilot.press("o")
    await until(pilot, lambda: isinstance(pilot.app.screen, FileBox))
    pilot.app.screen.query_one("#path", Input).value = str(path)
    await pilot.press("enter")
    await until(pilot, lambda: not isinstance(pilot.app.screen, FileBox))
    await done(pilot, pane)


def texts_of(pane: LogsPane) -> list[str]:
    """Return what the list shows."""
    return [str(option.prompt) for option in pane.list.options]


def screen_of(pane: LogsPane) -> list[str]:
    """Return what the log shows."""
    return [pane.view.render_line(y).text for y in range(pane.view.size.height)]


def told(pane: LogsPane, name: str) -> str:
    """Return the text of a line."""
    return str(pane.query_one(f"#{name}", Static).render())


@contextmanager
def rows_of(data: bytes, tmp_path: Path, portions: int = 1 << 18) -> Iterator[Rows]:
    """Return an indexed log."""
    path = tmp_path / "rows.log"
    path.write_bytes(data)
    rows = Rows("rows.log", path)
    for at in range(0, len(data), portions):
        rows.feed(data[at : at + portions])
    rows.finish()
    yield rows
    rows.release()


def line_of(pane: LogsPane) -> int:
    """Return the line of the cursor."""
    assert pane.view.rows is not None
    line = pane.view.rows.row(pane.view.row)
    return line.number if line is not None else 0


ENCODED = {
    "utf-8": "中文 line {i} ret = [507899]\n".encode(),
    "gb18030": "错误 line {i}\n".encode("gb18030"),
    "crlf": b"line {i}\r\n",
    "cr": b"progress {i}\r",
    "docker": b'{"log":"line {i}\\n","stream":"stderr","time":"2024-01-02T03:04:05.6Z"}\n',
}


@pytest.mark.parametrize("kind", [*ENCODED, "utf-16", "long", "mixed", "empty", "tiny"])
@pytest.mark.parametrize("portions", [7_001, 1 << 18])
def test_rows_are_the_lines_that_the_decoder_gives(kind: str, portions: int, tmp_path: Path) -> None:
    if kind in ENCODED:
        data = b"".join(ENCODED[kind].replace(b"{i}", str(i).encode()) for i in range(3_000)) + b"no end"
    elif kind == "utf-16":
        data = "\ufeff".encode("utf-16-le") + "".join(f"行 {i}\n" for i in range(9_000)).encode("utf-16-le")
    elif kind == "long":
        data = b"first\n" + b"x" * 200_000 + b"\n" + "长".encode() * 90_000 + b"\nlast\nend"
    elif kind == "mixed":
        dice = random.Random(7)
        data = b"".join(
            bytes(dice.choice(b"abc \r\n\t\0\x1b\xd6\xd0") for _ in range(dice.randrange(90))) for _ in range(900)
        )
    else:
        data = b"" if kind == "empty" else b"a\nb\r\n\nc"
    expected = list(decoded(data))
    with rows_of(data, tmp_path, portions) as rows:
        assert rows.count == len(expected)
        assert [rows.row(i) for i in range(rows.count)] == expected
        assert rows.row(rows.count) is None and rows.row(-1) is None
        if expected:
            assert rows.lines == expected[-1].number
            for index in {0, len(expected) // 2, len(expected) - 1}:
                line = expected[index]
                assert rows.row_at(line.start) == index or not line.raw
                first = next(i for i, one in enumerate(expected) if one.number == line.number)
                assert rows.row_of(line.number) == first


def test_rows_are_seen_while_they_come(tmp_path: Path) -> None:
    path = tmp_path / "growing.log"
    rows = Rows("growing.log", path)
    with path.open("ab", buffering=0) as file:
        for i in range(4_000):
            data = f"line {i}\npart".encode()
            file.write(data)
            rows.feed(data)
    last, tail = rows.row(rows.count - 2), rows.row(rows.count - 1)
    rows.release()
    assert last is not None and last.text == "partline 3999"
    assert tail is not None and tail.text == "part"
    assert rows.lines == 4_001
    assert len(rows._starts) < 10


def test_find_goes_both_ways_and_round(tmp_path: Path) -> None:
    text = "".join(f"{'中文 NEEDLE' if i in (10, 5_000, 19_000) else 'hay'} {i}\n" for i in range(20_000))
    with rows_of(text.encode(), tmp_path) as rows:

        def at(query: str, row: int, *, back: bool = False) -> int | None:
            return find(rows, query, row, back=back, stop=lambda: False, on_block=lambda done: None)

        assert [at("needle", row) for row in (-1, 10, 5_000, 19_000)] == [10, 5_000, 19_000, 10]
        assert [at("中文 needle", row, back=True) for row in (19_500, 19_000, 5_000, 10)] == [19_000, 5_000, 10, 19_000]
        assert at("nothing", 5) is None
        assert at("hay 7777", 7_777) == 7_777
        assert find(rows, "needle", 0, back=False, stop=lambda: True, on_block=lambda done: None) is None
        assert found_in("aAa", "A") == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize(("lang", "size"), [("zh", (80, 24)), ("en", (140, 45))])
def test_a_journey_from_file_to_report(home: Path, lang: str, size: tuple[int, int]) -> None:
    """Open, read the finding, jump, read codes and entry, find, go to a line, export with redaction."""
    log = home / "board.log"
    log.write_text("[INFO] boot from 10.20.30.40\n" * 300 + FAULT + "[INFO] after\n" * 300)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        assert pane.has_class("empty") and pilot.app.focused is pane.query_one("#logs-start")
        await opened(pilot, pane, log)
        assert pane.reading is not None and pane.reading.phase == "done"
        assert line_of(pane) == 301
        assert any(row.startswith("● ") and "region not init" in row for row in screen_of(pane))
        assert pane.say("group_answer") in texts_of(pane)
        detail = told(pane, "logs-detail")
        assert "95%" in detail and "region not init" in detail and "uapi_npu_file_sys_init" in detail
        # The entry comes with its title.
        item = pane._chosen()
        assert item is not None
        if entry := getattr(item.value, "entry", ""):
            await until(pilot, lambda: (entry, pane.lang) in pane._entries)
            await pilot.press("e")
            await until(pilot, lambda: isinstance(pilot.app.screen, TextBox))
            await pilot.press("escape")

        pane.list.focus()
        await pilot.press("home", "enter")
        assert line_of(pane) == 301
        await pilot.press("n")
        assert line_of(pane) == 302 and pilot.app.focused is pane.view
        await pilot.press("N", "N")
        assert line_of(pane) != 301
        await pilot.press("G")
        assert line_of(pane) == 604
        await pilot.press("g")
        assert line_of(pane) == 1

        await pilot.press("colon", *"304", "enter")
        await until(pilot, lambda: line_of(pane) == 304)
        await pilot.pause()
        assert "545000" in told(pane, "logs-code")
        await pilot.press("c")
        await until(pilot, lambda: isinstance(pilot.app.screen, TextBox))
        await pilot.press("escape")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, TextBox))
        await pilot.press("escape")

        await pilot.press("slash", *"after", "enter")
        await until(pilot, lambda: line_of(pane) == 305)
        await pilot.press("n")
        await until(pilot, lambda: line_of(pane) == 306)
        await pilot.press("N")
        await until(pilot, lambda: line_of(pane) == 305)
        await pilot.press("escape")
        assert not pane.query_text

        await pilot.press("d")
        assert not pane.query_one("#logs-detail-box").display
        await pilot.press("d")
        await pilot.press("r", "r")
        assert pane.redact

        target = home / "out.md"
        await pilot.press("x")
        await until(pilot, lambda: isinstance(pilot.app.screen, SaveBox))
        pilot.app.screen.query_one("#path", Input).value = str(target)
        await pilot.press("enter")
        await until(pilot, target.exists)
        text = target.read_text()
        assert text.startswith(f"# {pane.say('report_title')}") and "region not init" in text and ".log:301: " in text

    run(journey, lang=lang, size=size)


def test_export_redacts_and_never_replaces_silently(home: Path) -> None:
    log = home / "board.log"
    log.write_text(FAULT.replace("region not init", "region not init on 10.20.30.40 user=alice.smith1"))
    target = home / "out.md"
    target.write_text("mine")

    async def save(pilot: Pilot[int], redact: bool, *keys: str) -> None:
        await pilot.press("x")
        await until(pilot, lambda: isinstance(pilot.app.screen, SaveBox))
        pilot.app.screen.query_one("#path", Input).value = str(target)
        pilot.app.screen.query_one("#redact", Checkbox).value = redact
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, SaveBox) and target.read_text() == "mine"
        await pilot.press(*keys)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await opened(pilot, pane, log)
        await save(pilot, True, "escape")
        assert target.read_text() == "mine"
        await save(pilot, True, "enter")
        await until(pilot, lambda: target.read_text() != "mine")
        assert "10.20.30.40" not in target.read_text() and "<ip-1>" in target.read_text()
        target.write_text("mine")
        await save(pilot, False, "enter")
        await until(pilot, lambda: target.read_text() != "mine")
        assert "10.20.30.40" in target.read_text()
        # A directory that is not there is one sentence.
        await pilot.press("x")
        pilot.app.screen.query_one("#path", Input).value = str(home / "no" / "out.md")
        await pilot.press("enter")
        await until(pilot, lambda: str(home / "no") in pane._note)

    run(journey)


def test_pasting_in_the_box_and_without_it(home: Path) -> None:
    from textual import events

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await pilot.press("p")
        await until(pilot, lambda: isinstance(pilot.app.screen, PasteBox))
        await pilot.press("ctrl+s")
        assert isinstance(pilot.app.screen, PasteBox)
        pilot.app.screen.query_one(TextArea).text = FAULT
        await pilot.press("ctrl+s")
        await done(pilot, pane)
        assert pane.items and pane.items[0].group == "answer"
        assert "path" not in pane.state()

        await pilot.press("ctrl+v")
        await until(pilot, lambda: isinstance(pilot.app.screen, PasteBox))
        pilot.app.post_message(events.Paste("[INFO] fine\n" * 4_000))
        await until(pilot, lambda: not isinstance(pilot.app.screen, PasteBox))
        await done(pilot, pane)
        assert pane.view.rows is not None and pane.view.rows.lines == 4_000

        pane.view.focus()
        pilot.app.post_message(events.Paste(FAULT + "[red]\x1b[2J\x1b]52;c;aa\x07"))
        await until(pilot, lambda: pane.view.rows is not None and pane.view.rows.lines == 5)
        await done(pilot, pane)
        assert pane.items[0].group == "answer"

    run(journey)


def test_every_kind_of_file_opens(home: Path) -> None:
    plain = FAULT.encode()
    (home / "a.log.gz").write_bytes(gzip.compress(plain * 50))
    (home / "gbk.log").write_bytes(("错误：文件系统\n" + FAULT).encode("gb18030"))
    (home / "wide.log").write_bytes(("文件系统\r\n" + FAULT).encode("utf-16"))
    with zipfile.ZipFile(home / "two.zip", "w") as archive:
        archive.writestr("x/one.log", "[INFO] fine\n")
        archive.writestr("x/two.log", plain)
    (home / "many").mkdir()
    (home / "many" / "b.log").write_bytes(b"[INFO] ok\n")
    (home / "many" / "c.log").write_bytes(plain)
    (home / "many" / "c.log.1").write_bytes(b"[INFO] older\n" * 3)
    with tarfile.open(home / "t.tar.gz", "w:gz") as tar:
        tar.add(home / "many", "many")

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        for name, logs in (
            ("a.log.gz", 1),
            ("gbk.log", 1),
            ("wide.log", 1),
            ("two.zip", 2),
            ("many", 2),
            ("t.tar.gz", 2),
        ):
            pane._begin("open", str(home / name))
            await done(pilot, pane)
            assert pane.reading is not None
            assert pane.reading.phase == "done", (name, pane.reading.problem)
            assert len(pane.reading.logs) == logs
            assert pane.items[0].group == "answer", name
            assert any("● " in row and "region not init" in row for row in screen_of(pane)), name
            if name in ("gbk.log", "wide.log"):
                assert any("文件系统" in row for row in screen_of(pane))
        before = pane.shown
        pane.view.focus()
        await pilot.press("right_square_bracket")
        assert pane.shown != before
        await pilot.press("left_square_bracket")
        assert pane.shown == before
        (home / "none.tar").write_bytes(b"nothing")
        for name in ("none.tar", "missing.log"):
            pane._begin("open", str(home / name))
            await done(pilot, pane)
            assert pane.reading is not None and pane.reading.phase == "failed" and name in told(pane, "logs-status")

    run(journey, size=(140, 45))


def test_hostile_text_is_shown_as_text(home: Path) -> None:
    log = home / "evil [red].log"
    log.write_bytes(("\n".join(HOSTILE) + "\n" + FAULT).encode() + b"y" * 2_000_000 + b"\nend\n")

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await opened(pilot, pane, log)
        await pilot.press("g")
        rows = screen_of(pane)
        assert "[red]bold[/red] [NDRV]x[/]" in rows[0]
        assert "clip" in rows[3] and "emoji 😀 中文    tab" in rows[5]
        assert all("\x1b" not in row and "\0" not in row and "\u202e" not in row for row in rows)
        assert {pane.view.render_line(y).cell_length for y in range(pane.view.size.height)} == {pane.view.size.width}
        await pilot.press("G")
        assert line_of(pane) == 12
        began = time.perf_counter()
        await pilot.press("up", "right", "right", "left")
        screen_of(pane)
        assert time.perf_counter() - began < 2
        assert any(" + │ yyy" in row for row in screen_of(pane))
        for offset in (0, 3, 16, 23):
            pane.view.scroll_to(x=offset, y=0, animate=False, immediate=True)
            assert {pane.view.render_line(y).cell_length for y in range(6)} == {pane.view.size.width}

    run(journey)


def test_a_big_log_jumps_to_its_last_line_at_once(home: Path) -> None:
    log = home / "big.log"
    log.write_bytes(b"".join(b"2024-01-02 03:04:05 [INFO] step %d of the training loop\n" % i for i in range(200_000)))

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        pane._begin("open", str(log))
        await until(pilot, lambda: pane.view.rows is not None and pane.view.rows.lines >= 200_000)
        pane.view.focus()
        took = []
        for key in ("G", "g", "G"):
            began = time.perf_counter()
            await pilot.press(key)
            took.append(time.perf_counter() - began)
        assert line_of(pane) == 200_000 and min(took) < 0.5
        assert any("199999" in row for row in screen_of(pane))
        await pilot.press("colon", *"123456", "enter")
        await until(pilot, lambda: line_of(pane) == 123_456)
        await done(pilot, pane)
        assert len(pane.view.rows._blocks) <= 24 if pane.view.rows else False

    run(journey)


def test_escape_ends_a_reading_and_keeps_what_it_found(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from assistant.logs.diagnose import Diagnoser

    log = home / "slow.log"
    log.write_bytes(FAULT.encode() + b"[INFO] filler filler filler\n" * 100_000)
    feed = Diagnoser.feed

    def slow(self: Diagnoser, number: int, data: bytes) -> None:
        time.sleep(0.05)
        feed(self, number, data)

    monkeypatch.setattr(Diagnoser, "feed", slow)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        pane._begin("open", str(log))
        await until(pilot, lambda: bool(pane.items))
        assert pane.reading is not None and pane.reading.is_busy
        assert "%" in told(pane, "logs-status") and "/s" in told(pane, "logs-status")
        pane.list.focus()
        await pilot.press("escape")
        await done(pilot, pane)
        assert pane.reading is not None and pane.reading.phase == "stopped" and pane.items[0].group == "answer"
        assert pane.say("stopped") in told(pane, "logs-status")

    run(journey)


def test_following_shows_causes_as_they_come(home: Path) -> None:
    log = home / "live.log"
    log.write_text("[INFO] start\n" * 100)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await pilot.press("f")
        await until(pilot, lambda: isinstance(pilot.app.screen, FileBox))
        pilot.app.screen.query_one("#path", Input).value = str(log)
        await pilot.press("enter")
        await until(pilot, lambda: pane.reading is not None and pane.reading.phase == "following")
        await until(pilot, lambda: line_of(pane) == 100)
        with log.open("a") as file:
            file.write(FAULT)
        await until(pilot, lambda: bool(pane.items) and pane.items[0].group == "answer")
        await until(pilot, lambda: line_of(pane) == 104)
        # Who scrolls up stays there.
        pane.view.focus()
        await pilot.press("g")
        with log.open("a") as file:
            file.write("[INFO] more\n" * 10)
        await until(pilot, lambda: pane.view.rows is not None and pane.view.rows.lines >= 114)
        await pilot.pause()
        assert line_of(pane) == 1
        await pilot.press("G")
        with log.open("a") as file:
            file.write("[INFO] last\n")
        await until(pilot, lambda: line_of(pane) == 115)
        # A truncated log begins again as another one.
        log.write_text("[INFO] again\n")
        await until(pilot, lambda: pane.reading is not None and len(pane.reading.logs) == 2 and pane.shown == 1)
        await pilot.press("escape")
        await until(pilot, lambda: pane.reading is not None and pane.reading.phase == "stopped")

    run(journey)


def test_language_changes_and_keeps_the_place(home: Path) -> None:
    log = home / "board.log"
    log.write_text("[INFO] boot\n" * 50 + FAULT)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await opened(pilot, pane, log)
        pane.list.focus()
        await pilot.press("down", "down")
        chosen, row = pane._chosen(), pane.view.row
        assert chosen is not None
        zh = texts_of(pane)
        await pilot.press("ctrl+l")
        await pilot.pause()
        now = pane._chosen()
        assert now is not None and now.key == chosen.key and pane.view.row == row
        assert texts_of(pane) != zh and "Root cause" in texts_of(pane)[0]
        labels = {
            b.description for same in pane._bindings.key_to_bindings.values() for b in same if b.id == "logs.open"
        }
        assert labels == {"Open"}
        await pilot.resize_terminal(140, 45)
        await pilot.pause()
        assert pane.view.size.width > 80
        await pilot.resize_terminal(60, 16)
        await pilot.pause()
        assert pane.view.size.height >= 2

    run(journey)


def test_the_next_start_opens_the_same_line(home: Path) -> None:
    log = home / "board.log"
    log.write_text("".join(f"[INFO] boot {i}\n" for i in range(900)) + FAULT)

    async def first(pilot: Pilot[int], pane: LogsPane) -> None:
        await opened(pilot, pane, log)
        pane.view.focus()
        await pilot.press("colon", *"456", "enter")
        await until(pilot, lambda: line_of(pane) == 456)
        assert isinstance(pilot.app, Window)
        pilot.app.save_state()

    async def second(pilot: Pilot[int], pane: LogsPane) -> None:
        await done(pilot, pane)
        assert pane.path == str(log) and line_of(pane) == 456 and pane.recent == [str(log)]

    run(first)
    run(second)


def test_mouse_puts_the_cursor_and_explains_the_code_under_it(home: Path) -> None:
    log = home / "board.log"
    log.write_text(FAULT)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await opened(pilot, pane, log)
        row = next(y for y, text in enumerate(screen_of(pane)) if "ret = [145002]" in text)
        column = screen_of(pane)[row].index("145002") + 2
        await pilot.click("#logs-view", offset=(column, row + 1))
        await until(pilot, lambda: line_of(pane) == 4)
        await until(pilot, lambda: told(pane, "logs-code").startswith("145002"))

    run(journey, size=(200, 45))


def test_boxes_complete_choose_and_leave(home: Path) -> None:
    (home / "board [red].log").write_text(FAULT)

    async def journey(pilot: Pilot[int], pane: LogsPane) -> None:
        await pilot.press("o")
        box = pilot.app.screen
        assert isinstance(box, FileBox)
        tree = box.query_one(Tree)
        await until(pilot, lambda: any("board [red].log" in str(node.label) for node in tree.root.children))
        path = box.query_one("#path", Input)
        path.value = f"{home}/bo"
        path.cursor_position = len(path.value)
        await until(pilot, lambda: "board [red].log" in path._suggestion)
        await pilot.press("tab")
        assert path.value == f"{home}/board [red].log"
        await pilot.press("tab")
        assert pilot.app.focused is tree
        await pilot.press("down", "enter")
        await done(pilot, pane)
        assert pane.items[0].group == "answer"
        pane.view.focus()
        await pilot.press("colon", "escape")
        assert not isinstance(pilot.app.screen, LineBox)
        # The start page offers it again.
        assert [str(option.prompt) for option in pane.query_one("#logs-start", OptionList).options][-1].endswith(
            ".log"
        ) or pane.recent

    run(journey)


def test_texts_are_complete_in_both_languages() -> None:
    import tomllib

    import assistant.tui

    folder = Path(assistant.tui.__file__).parent / "texts"
    zh, en = (tomllib.loads((folder / f"logs.{lang}.toml").read_text("utf-8")) for lang in ("zh", "en"))
    assert zh.keys() == en.keys()
    ids = {binding.id for binding in LogsPane.BINDINGS if isinstance(binding, Binding) and binding.id}
    for name in ids:
        key = name.replace(".", "_")
        assert key in zh and f"about_{key}" in zh


def test_shown_text_has_no_control_characters() -> None:
    assert shown("a\tb\x1b[2J\x07") == "a    b\\u001b[2J\\u0007"
