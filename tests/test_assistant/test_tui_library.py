"""The library area, driven by its keys and by the mouse."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from rich.cells import cell_len
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from assistant.checks.types import Outcome
from assistant.tui.app import Window
from assistant.tui.library.pane import LibraryPane
from assistant.tui.library.place import History, Place
from assistant.tui.library.popups import Choice
from assistant.tui.library.shelf import Shelf, read_shelf
from assistant.tui.painted import TOP
from assistant.tui.services import Services
from assistant.tui.words import words
from kb.errors import CorpusError
from tests.test_assistant.window import play, until

Journey = Callable[[Window, LibraryPane, Pilot], Awaitable[None]]
CARD = Place("card", "nano-quant-symmetric", "zh")
ENTRY = Place("entry", "nano-quant-symmetric", "zh")


@pytest.fixture(scope="module")
def services() -> Services:
    found = Services()
    found.shelf()
    return found


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASKNPU_HOME", str(tmp_path))
    return tmp_path


async def settled(pane: LibraryPane, pilot: Pilot) -> None:
    def is_calm() -> bool:
        mine = [one for one in pane.workers if (one.group or "").startswith("library") and not one.is_finished]
        return pane.desk.shelf is not None and not pane.desk.is_painting and not mine

    await until(pilot, is_calm)
    await pilot.pause()
    await until(pilot, is_calm)


def drive(journey: Journey, services: Services, lang: str = "zh", size: tuple[int, int] = (80, 24)) -> None:
    async def begin(pilot: Pilot, pane: LibraryPane) -> None:
        await settled(pane, pilot)
        await journey(pilot.app, pane, pilot)

    play(begin, LibraryPane, lang=lang, size=size, services=services)


async def show(pane: LibraryPane, pilot: Pilot, place: Place) -> None:
    pane.way.go(place)
    pane.desk.reader.focus()
    await settled(pane, pilot)


def text(pane: LibraryPane) -> str:
    return "\n".join(pane.desk.reader.page.texts)


async def find(pane: LibraryPane, pilot: Pilot, wanted: str) -> None:
    await show(pane, pilot, ENTRY)
    await pilot.press("slash")
    pane.bottom.box.value = wanted
    await pilot.press("enter")
    assert pane.desk.reader.has_focus


def said(pane: LibraryPane, name: str) -> str:
    return str(pane.query_one(f"#library-{name}", Static).content)


# ---- every key: a function does the keys that its name names, and leaves them in that order


async def find__find_next__find_previous__cancel(app, pane, pilot):
    reader = pane.desk.reader
    await show(pane, pilot, ENTRY)
    await pilot.press("slash", "s", "c")
    assert pane.bottom.box.value == "sc"
    pane.bottom.box.value = "scale"
    await pilot.pause()
    count = len(reader.matches)
    assert count == text(pane).count("scale") > 3
    assert f"共 {count} 处" in said(pane, "hint")
    await pilot.press("enter")
    assert reader.has_focus and reader.current == 0
    for number in (1, 2, count - 1, 0):
        reader.step((number - 1 - reader.current) % count)
        await pilot.press("n")
        assert reader.current == number
        assert reader.line <= reader.matches[number].line < reader.line + reader.size.height
    await pilot.press("N")
    assert reader.current == count - 1
    await pilot.press("escape")
    assert reader.matches == [] and reader.wanted == "" and reader.has_focus
    await find(pane, pilot, "zzzz")
    assert reader.matches == [] and said(pane, "hint") == pane.say("no_match")
    await pilot.press("n")
    assert reader.current == -1
    await pilot.press("slash", "escape")
    assert not pane.bottom.is_open and reader.has_focus
    await pilot.press("escape")
    assert pane.side.tree_of_shelf.has_focus


async def contents(app, pane, pilot):
    await show(pane, pilot, ENTRY)
    await pilot.press("t")
    await until(pilot, lambda: isinstance(app.screen, Choice))
    options = app.screen.query_one(OptionList)
    document = pane.desk.shelf.documents["nano/quantization"]
    assert options.option_count >= len(document.ids)
    assert options.highlighted == document.ids.index(ENTRY.key)
    await pilot.press("j", "j", "k", "enter")
    await until(pilot, lambda: pane.desk.place != ENTRY)
    assert pane.desk.place.key in document.ids


async def glossary(app, pane, pilot):
    await show(pane, pilot, ENTRY)
    await pilot.press("g")
    await until(pilot, lambda: isinstance(app.screen, Choice))
    lines = [str(option.prompt) for option in app.screen.query_one(OptionList).options]
    assert any("quantization" in line and "量化" in line for line in lines)
    await pilot.press("enter")
    await until(pilot, lambda: pane.desk.place != ENTRY)
    assert pane.desk.place.kind == "entry"


async def twin(app, pane, pilot):
    await show(pane, pilot, ENTRY)
    await pilot.press("z")
    await settled(pane, pilot)
    assert pane.desk.shelf.entry(ENTRY.key, "en").title.split()[0] in text(pane)
    assert app.lang == "zh" and "[en]" in said(pane, "where")
    await pilot.press("z")
    assert pane.desk.place == ENTRY


async def learn(app, pane, pilot):
    assert pane.side.mode == "read"
    await pilot.press("p")
    assert pane.side.mode == "learn" and pane.side.tree_of_shelf.has_focus
    assert any("第一天" in str(node.label) for node in pane.side.tree_of_shelf._all())
    await pilot.press("p")
    assert pane.side.mode == "read"


async def reveal__knew__not_yet(app, pane, pilot):
    await show(pane, pilot, CARD)
    answer = "对称量化取"
    assert answer not in text(pane).replace("\n", "")
    await pilot.press("1")
    assert pane.notes.marks == {} and pane.desk.place == CARD
    await pilot.press("space")
    await settled(pane, pilot)
    assert answer in text(pane).replace("\n", "")
    assert "simcore" in text(pane) and "✓" in text(pane)
    await pilot.press("1")
    assert pane.notes.marks == {CARD.key: "known"}
    second = pane.desk.place
    assert second.kind == "card" and second.key != CARD.key and not pane.desk.is_open
    await pilot.press("space", "2")
    assert pane.notes.marks == {CARD.key: "known", second.key: "learning"}
    await settled(pane, pilot)


async def page__back__forward(app, pane, pilot):
    document = Place("document", "nano/faq", "zh")
    await show(pane, pilot, document)
    await pilot.press("space", "space")
    await settled(pane, pilot)
    line = pane.desk.reader.line
    assert line > 10
    await show(pane, pilot, ENTRY)
    await pilot.press("left_square_bracket")
    await settled(pane, pilot)
    assert pane.desk.place == document
    # The badges of the checks may take other lines while they run.
    assert abs(pane.desk.reader.line - line) <= 3
    await pilot.press("alt+right")
    assert pane.desk.place == ENTRY
    await pilot.press("alt+left", "right_square_bracket", "right_square_bracket")
    assert pane.desk.place == ENTRY
    await settled(pane, pilot)


async def next__previous(app, pane, pilot):
    await show(pane, pilot, ENTRY)
    await pilot.press("full_stop")
    await settled(pane, pilot)
    ids = pane.desk.shelf.documents["nano/quantization"].ids
    assert pane.desk.place.key == ids[ids.index(ENTRY.key) + 1]
    assert pane.side.tree_of_shelf.cursor_node.data.place.key == pane.desk.place.key
    await pilot.press("comma")
    assert pane.desk.place == ENTRY


async def whole(app, pane, pilot):
    await show(pane, pilot, ENTRY)
    await pilot.press("d")
    await settled(pane, pilot)
    assert pane.desk.place == Place("document", "nano/quantization", "zh")
    assert pane.desk.reader.line == pane.desk.reader.page.anchors[ENTRY.key] > 0
    await pilot.press("d")
    await settled(pane, pilot)
    assert pane.desk.place == ENTRY


async def bookmark__bookmarks(app, pane, pilot):
    await show(pane, pilot, ENTRY)
    await pilot.press("m")
    assert [one.key for one in pane.notes.bookmarks] == [ENTRY.key] and "★" in said(pane, "where")
    await pilot.press("full_stop", "M")
    await until(pilot, lambda: isinstance(app.screen, Choice))
    await pilot.press("enter")
    await settled(pane, pilot)
    assert pane.desk.place == ENTRY
    await pilot.press("m")
    assert pane.notes.bookmarks == [] and "★" not in said(pane, "where")


async def copy(app, pane, pilot):
    await show(pane, pilot, ENTRY)
    await pilot.press("c")
    entry = pane.desk.shelf.entry(ENTRY.key, "zh")
    assert app.clipboard.startswith(f"## {entry.title}")
    assert f"corpus/{entry.span.file}:{entry.line}" in app.clipboard and entry.sources[0] in app.clipboard
    assert "toml check" not in app.clipboard


async def edit(app, pane, pilot):
    await show(pane, pilot, ENTRY)
    await pilot.press("e")
    entry = pane.desk.shelf.entry(ENTRY.key, "zh")
    # Where no editor is set the place is said instead.
    told = [str(one.message) for one in app._notifications]
    assert any("EDITOR" in one and entry.span.file in one and f"第 {entry.line} 行" in one for one in told)


async def side(app, pane, pilot):
    reader = pane.desk.reader
    wide = reader.size.width
    await pilot.press("s")
    await settled(pane, pilot)
    assert reader.size.width > wide + 20 and reader.has_focus
    await pilot.press("s")
    await settled(pane, pilot)
    assert reader.size.width == wide and pane.side.tree_of_shelf.has_focus


async def down__up(app, pane, pilot):
    await show(pane, pilot, ENTRY)
    await pilot.press("j", "j")
    assert pane.desk.reader.line == 2
    await pilot.press("k")
    assert pane.desk.reader.line == 1


async def link__link_before__follow(app, pane, pilot):
    table = Place("entry", "nano-atc-parameter-table", "zh")
    reader = pane.desk.reader
    await show(pane, pilot, table)
    targets = [one.target for one in reader.page.links]
    number = targets.index("#nano-atc-framework")
    assert number > 0
    for _ in range(number + 1):
        await pilot.press("l")
    assert reader.link == number and pane.desk.shelf.title("nano-atc-framework", "zh") in said(pane, "hint")
    await pilot.press("L")
    assert reader.link == number - 1
    await pilot.press("l", "enter")
    await settled(pane, pilot)
    assert pane.desk.place == Place("entry", "nano-atc-framework", "zh")
    await pilot.press("left_square_bracket")
    await settled(pane, pilot)
    assert pane.desk.place == table and reader.link == number and reader.has_focus
    await pilot.press("escape")
    assert reader.link == -1 and reader.has_focus


KEYS = (
    find__find_next__find_previous__cancel, contents, glossary, twin, learn, reveal__knew__not_yet, page__back__forward,
    next__previous, whole, bookmark__bookmarks, copy, edit, side, down__up, link__link_before__follow,
)  # fmt: skip


def test_every_binding_has_a_test():
    names = {one.id.removeprefix("library.") for one in LibraryPane.BINDINGS if isinstance(one, Binding)}
    assert names == {name for one in KEYS for name in one.__name__.split("__")}


async def afresh(pane: LibraryPane, pilot: Pilot) -> None:
    """Bring the area back to its start."""
    if pane.side.mode == "learn":
        pane.action_learn()
    pane.notes.marks.clear()
    pane.notes.bookmarks.clear()
    pane.way.history = History()
    pane.desk.place, pane.desk.is_open = None, False
    pane.side.tree_of_shelf.focus()
    pane.desk.paint(TOP)
    await settled(pane, pilot)


def test_every_key_does_its_work(services: Services, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)

    async def journey(app, pane, pilot):
        for one in KEYS:
            await afresh(pane, pilot)
            await one(app, pane, pilot)

    drive(journey, services)


def test_the_mouse_opens_nodes_changes_the_mode_and_presses_what_the_hint_says(services: Services):
    async def journey(app, pane, pilot):
        await pilot.click("#library-tree", offset=(6, 1))
        await pilot.click("#library-tree", offset=(8, 2))
        await until(pilot, lambda: pane.desk.place is not None and pane.desk.place.kind == "document")
        await pilot.click("#library-modes", offset=(8, 0))
        await until(pilot, lambda: pane.side.mode == "learn")
        await show(pane, pilot, CARD)
        for said_there, is_done in (("看答案", lambda: pane.desk.is_open), ("会了", lambda: pane.notes.marks)):
            line = said(pane, "hint")
            await pilot.click("#library-hint", offset=(1 + cell_len(line[: line.index(said_there)]), 0))
            await until(pilot, is_done)
        assert pane.notes.marks == {CARD.key: "known"}

    drive(journey, services)


# ---- links

ADDRESS = "https://example.org/路/a_b?q=1"
LINKED = f"""See [the steps](#j-b), [Below](#below-here), [all](b.zh.md) and [this page]({ADDRESS.replace("路", "x")}).

[run](javascript:alert(1)) [read](file:///etc/passwd) [gone](#no-such) and again https://example.org/z.

### Below here

```text
curl https://example.org/in/fence
```
"""


@pytest.fixture
def linked(services: Services, tmp_path: Path) -> Services:
    """A corpus with links of every kind."""
    for name, ids in (("a", ["j-a"]), ("b", ["j-b", "j-c"])):
        for lang in ("zh", "en"):
            head = f'+++\ntitle = "{name}"\nplatform = "nano"\nkind = "faq"\n\n[sources]\ng = "G"\n+++\n'
            body = "".join(
                f"\n## Title of {key}? {{#{key}}}\n\n```toml entry\nsource = ['g']\nask = ['1', '2', '3', '4']\n```\n\n"
                + (LINKED if key == "j-a" else "So.\n")
                for key in ids
            )
            (tmp_path / f"{name}.{lang}.md").write_text(head + body, "utf-8")
    found = Services()
    found._shelf = read_shelf(tmp_path)
    return found


def target(pane: LibraryPane, wanted: str) -> int:
    return [one.target for one in pane.desk.reader.page.links].index(wanted)


async def follow(pane: LibraryPane, pilot: Pilot, wanted: str) -> None:
    pane.desk.reader.choose_link(target(pane, wanted))
    await pilot.press("enter")
    await settled(pane, pilot)


START = Place("entry", "j-a", "zh")


def test_links_lead_to_entries_headings_and_documents_and_back_to_the_same_place(linked: Services):
    async def journey(app, pane, pilot):
        reader = pane.desk.reader
        await show(pane, pilot, START)
        for wanted, place in (("#j-b", Place("entry", "j-b", "zh")), ("b.zh.md", Place("document", "b", "zh"))):
            await follow(pane, pilot, wanted)
            assert pane.desk.place == place and reader.has_focus
            await pilot.press("left_square_bracket")
            await settled(pane, pilot)
            assert pane.desk.place == START and reader.link == target(pane, wanted)
        await pilot.resize_terminal(80, 8)
        await settled(pane, pilot)
        reader.go(0)
        await follow(pane, pilot, "#below-here")
        heading = next(line for text, _, line in reader.page.headings if text == "Below here")
        assert pane.desk.place == START and reader.line <= heading < reader.line + reader.size.height
        assert reader.line > 0
        await pilot.press("left_square_bracket")
        await settled(pane, pilot)
        assert pane.desk.place == START and reader.line == 0 and reader.link == target(pane, "#below-here")
        await follow(pane, pilot, "#no-such")
        assert pane.desk.place == START
        assert "资料里没有 #no-such" in [str(one.message) for one in app._notifications]

    drive(journey, linked)


def test_an_address_is_shown_and_opened_or_copied_only_when_that_is_chosen(
    linked: Services, monkeypatch: pytest.MonkeyPatch
):
    opened = []
    monkeypatch.setattr(Window, "open_url", lambda self, url, new_tab=True: opened.append(url))
    address = ADDRESS.replace("路", "x")

    async def journey(app, pane, pilot):
        await show(pane, pilot, START)
        for keys, is_done in (
            (("escape",), lambda: opened == [] and app.clipboard == ""),
            (("down", "enter"), lambda: opened == [] and app.clipboard == address),
            (("enter",), lambda: opened == [address]),
        ):
            await follow(pane, pilot, address)
            await until(pilot, lambda: isinstance(app.screen, Choice))
            assert address in str(app.screen.query_one(".title", Static).content) and opened == []
            await pilot.press(*keys)
            await until(pilot, lambda: not isinstance(app.screen, Choice))
            assert is_done()
        assert pane.desk.place == START

    drive(journey, linked)


def test_other_schemes_are_text_and_addresses_are_found_in_text_and_code(linked: Services):
    async def journey(app, pane, pilot):
        await show(pane, pilot, START)
        targets = [one.target for one in pane.desk.reader.page.links]
        assert not [one for one in targets if "javascript" in one or "file:" in one]
        assert "javascript:alert(1)" in text(pane) and "file:///etc/passwd" in text(pane)
        assert {"https://example.org/z", "https://example.org/in/fence"} <= set(targets)
        assert f"this page ({ADDRESS.replace('路', 'x')})" in text(pane)

    drive(journey, linked, size=(140, 45))


def test_the_mouse_follows_a_link_and_a_term_opens_the_glossary(services: Services):
    async def journey(app, pane, pilot):
        await show(pane, pilot, Place("entry", "nano-dump-steps", "zh"))
        reader = pane.desk.reader
        links = {one.target: one for one in reader.page.links}
        line, start, _ = links["term:板端"].parts[0]
        await pilot.click(reader, offset=(2 + start, line - reader.line))
        await until(pilot, lambda: isinstance(app.screen, Choice))
        lines = [str(option.prompt) for option in app.screen.query_one(OptionList).options]
        assert "板端" in lines[0] and "on-device" in lines[0] and not any("余弦" in one for one in lines)
        await pilot.press("escape")
        await pilot.click(reader, offset=(2 + start - 1, line - reader.line))
        await pilot.pause()
        assert not isinstance(app.screen, Choice)
        line, start, _ = links["#nano-dump-dbg-file"].parts[0]
        await pilot.click(reader, offset=(3 + start, line - reader.line))
        await settled(pane, pilot)
        assert pane.desk.place.key == "nano-dump-dbg-file"
        # A term that no other entry asks about offers nothing to open.
        await show(pane, pilot, ENTRY)
        await follow(pane, pilot, "term:int8")
        await until(pilot, lambda: isinstance(app.screen, Choice))
        assert str(app.screen.query_one(".hint", Static).content) == pane.say("close")
        await pilot.press("enter", "escape")
        await until(pilot, lambda: not isinstance(app.screen, Choice))
        assert pane.desk.place == ENTRY

    drive(journey, services)


def test_the_way_back_leads_to_the_open_card(services: Services):
    async def journey(app, pane, pilot):
        card = Place("card", "nano-acl-call-order", app.lang, "nano")
        await show(pane, pilot, card)
        assert not pane.desk.reader.page.links
        await pilot.press("space")
        await settled(pane, pilot)
        # At 80 columns, too, the footer names the keys of the card.
        footer = app.screen._compositor.render_strips()[-1].text
        assert pane.say("library_knew") in footer and pane.say("library_not_yet") in footer
        await follow(pane, pilot, "#nano-acl-init-count")
        assert pane.desk.place == Place("entry", "nano-acl-init-count", app.lang) and pane.side.mode == "read"
        await pilot.press("left_square_bracket")
        await settled(pane, pilot)
        assert pane.desk.place == card and pane.desk.is_open and pane.side.mode == "learn"

    for lang in ("zh", "en"):
        drive(journey, services, lang)


# ---- journeys


@pytest.mark.parametrize(("lang", "size"), [("zh", (80, 24)), ("en", (140, 45))])
def test_a_newcomer_learns_the_first_day_and_finds_it_kept(
    services: Services, home: Path, lang: str, size: tuple[int, int]
):
    async def first(app, pane, pilot):
        path = pane.desk.shelf.paths[0]
        await pilot.press("p", "down", "enter", "down", "enter")
        await settled(pane, pilot)
        assert pane.desk.place == Place("card", path.ids[0], lang, path.platform)
        assert pane.desk.reader.has_focus and not pane.desk.is_open
        await pilot.press("space", "1")
        await settled(pane, pilot)
        await pilot.press("space", "2")
        await settled(pane, pilot)
        assert pane.desk.place.key == path.ids[2]
        assert f"3/{len(path.ids)}" in said(pane, "where")
        await pilot.press("ctrl+q")

    drive(first, services, lang, size)
    assert json.loads((home / "window.json").read_text())["areas"]["library"]["marks"]

    async def second(app, pane, pilot):
        path = pane.desk.shelf.paths[0]
        assert (
            pane.side.mode == "learn" and pane.desk.place.key == path.ids[2] and pane.desk.place.path == path.platform
        )
        assert pane.notes.marks == {path.ids[0]: "known", path.ids[1]: "learning"}
        nodes = {node.data.key: node for node in pane.side.tree_of_shelf._all()}
        style = pane.rich_style
        label = {
            n: pane.side.tree_of_shelf.render_label(nodes[f"s:{path.ids[n]}"], style, style).plain for n in range(3)
        }
        assert [label[n][0] for n in range(3)] == ["✓", "◐", "·"]
        assert (
            f"1/{len(path.ids)}"
            in pane.side.tree_of_shelf.render_label(nodes[f"path:{path.platform}"], style, style).plain
        )

    drive(second, services, lang, size)


def test_a_reader_opens_from_the_tree_and_the_place_is_restored(services: Services):
    seen = {}

    async def first(app, pane, pilot):
        await pilot.press("down", "enter", "down", "enter")
        await settled(pane, pilot)
        assert pane.desk.place.kind == "document"
        await pilot.press("down", "enter")
        await settled(pane, pilot)
        assert pane.desk.place.kind == "entry" and pane.desk.reader.has_focus
        await pilot.press("j", "j", "m")
        seen.update(place=pane.desk.place, line=pane.desk.reader.line, bookmarks=pane.notes.bookmarks)
        await pilot.press("ctrl+q")

    async def second(app, pane, pilot):
        assert (pane.desk.place, pane.desk.reader.line, pane.notes.bookmarks) == (
            seen["place"],
            seen["line"],
            seen["bookmarks"],
        )

    drive(first, services, "en", (140, 45))
    drive(second, services, "en", (140, 45))


@pytest.mark.parametrize(("lang", "other"), [("zh", "en"), ("en", "zh")])
def test_the_language_changes_at_the_same_place(services: Services, lang: str, other: str):
    async def journey(app, pane, pilot):
        await show(pane, pilot, Place("document", "nano/faq", lang))
        key = pane.desk.shelf.documents["nano/faq"].ids[4]
        pane.desk.reader.go(pane.desk.reader.page.anchors[key])
        await pilot.pause()
        await pilot.press("ctrl+l")
        await settled(pane, pilot)
        assert app.lang == other and pane.desk.place == Place("document", "nano/faq", other)
        assert pane.desk.entry().id == key and pane.desk.entry().lang == other
        assert words("library", other)("learn") in said(pane, "modes")
        assert words("library", other)("library_find") in {
            one.binding.description for one in app.active_bindings.values()
        }
        assert pane.side.tree_of_shelf.cursor_node.data.key.endswith(":nano/faq")

    drive(journey, services, lang)


def test_a_resize_keeps_the_entry_and_the_matches(services: Services):
    async def journey(app, pane, pilot):
        await show(pane, pilot, Place("document", "nano/faq", "zh"))
        await pilot.press("slash", *"Nano", "enter", "n", "n", "n")
        count, key = len(pane.desk.reader.matches), pane.desk.entry().id
        await pilot.resize_terminal(140, 45)
        await settled(pane, pilot)
        assert len(pane.desk.reader.matches) == count and pane.desk.reader.current == 3 and pane.desk.entry().id == key
        assert max(one.cell_length for one in pane.desk.reader.page.strips) <= pane.desk.reader.size.width
        await pilot.resize_terminal(60, 15)
        await settled(pane, pilot)
        assert max(one.cell_length for one in pane.desk.reader.page.strips) <= pane.desk.reader.size.width

    drive(journey, services)


# ---- what goes wrong


class Changed(Services):
    """Services with another shelf."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__()
        self._given = shelf

    def shelf(self) -> Shelf:
        return self._given


def test_hostile_entries_are_text_in_tree_reader_and_lists(services: Services):
    shelf = services.shelf()
    entries = dict(shelf.entries)
    for lang in ("zh", "en"):
        old = entries["nano-quant-symmetric", lang]
        entries["nano-quant-symmetric", lang] = replace(
            old,
            title="[NDRV] [red]x[/red] \x1b[31m <b>🙂" + "长" * 200,
            text="[NFS]fail [bold]y[/] \x07 [a](http://x)\n\n" + "x" * 5000,
            sources=("[link=x]S\x1b",),
            asks=("[blink]q", "\x1b]0;t\x07"),
        )
    hostile = Changed(replace(shelf, entries=MappingProxyType(entries)))

    async def journey(app, pane, pilot):
        await show(pane, pilot, ENTRY)
        assert "[NDRV] [red]x[/red] \\u001b[31m" in text(pane).replace("\n", "")
        assert "[NFS]fail [bold]y[/] \\u0007" in text(pane)
        assert max(one.cell_length for one in pane.desk.reader.page.strips) <= pane.desk.reader.size.width
        node = pane.side.tree_of_shelf.cursor_node
        assert str(node.label).startswith("[NDRV] [red]x[/red] \\u001b[31m <b>🙂")
        await pilot.press("escape")
        assert said(pane, "hint").startswith("[NDRV] [red]x")
        for key in ("t", "g"):
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, Choice))
            await pilot.press("escape")
        await pilot.press("m", "M")
        await until(pilot, lambda: isinstance(app.screen, Choice))
        assert "[NDRV]" in str(app.screen.query_one(OptionList).options[0].prompt)
        await pilot.press("escape", "c")
        await show(pane, pilot, CARD)
        assert "[blink]q" in text(pane)

    drive(journey, hostile)


def test_a_corpus_that_cannot_be_read_is_one_sentence():
    class Broken(Services):
        def shelf(self) -> Shelf:
            raise CorpusError("[x]/a.md:3: broken \x1b[31m")

    async def run() -> None:
        app = Window("en", services=Broken())
        app.animation_level = "none"
        app.saved["area"] = "library"
        async with app.run_test(size=(80, 24)) as pilot:
            pane = app.pane("library")
            await until(pilot, lambda: pane.problem)
            assert said(pane, "where") == "The corpus cannot be read: [x]/a.md:3: broken \\u001b[31m"
            # No key needs the corpus to be there.
            for binding in pane.BINDINGS:
                await app.run_action(binding.action, default_namespace=pane)
            await pilot.press("ctrl+l")
            await pilot.pause()
            assert "资料读不出来" in said(pane, "where")
            assert pane.state()["place"] is None

    asyncio.run(run())


def test_keys_work_while_the_corpus_is_being_read_and_the_state_is_not_lost(services: Services, home: Path):
    place = {"kind": "entry", "key": "nano-faq-rnn-seq-len", "lang": "zh", "path": ""}
    (home / "window.json").write_text(
        json.dumps({"version": 1, "areas": {"library": {"place": place, "spot": ["nano-faq-rnn-seq-len", 0.5]}}})
    )
    gate = threading.Event()

    class Slow(Services):
        def shelf(self) -> Shelf:
            assert gate.wait(20)
            return services.shelf()

    async def run() -> None:
        app = Window("zh", services=Slow())
        app.animation_level = "none"
        app.saved["area"] = "library"
        async with app.run_test(size=(80, 24)) as pilot:
            pane = app.pane("library")
            await pilot.press("p", "p", "slash", "escape", "n", "ctrl+l", "ctrl+l")
            assert said(pane, "where") == pane.say("reading")
            assert pane.state()["place"] == place and pane.state()["spot"] == ["nano-faq-rnn-seq-len", 0.5]
            gate.set()
            await settled(pane, pilot)
            assert pane.desk.place == Place("entry", "nano-faq-rnn-seq-len", "zh") and pane.desk.reader.line > 3

    try:
        asyncio.run(run())
    finally:
        gate.set()


@pytest.mark.parametrize(
    "saved",
    [
        3,
        {"place": 3, "marks": 3, "bookmarks": 3, "spot": "x"},
        {
            "place": {"kind": "entry", "key": "gone", "lang": "zh", "path": ""},
            "spot": [3],
            "bookmarks": [{"kind": "entry", "key": "gone", "lang": "zh"}],
        },
    ],
    ids=["number", "values", "gone"],
)
def test_a_state_that_makes_no_sense_starts_at_the_welcome(services: Services, home: Path, saved: object):
    (home / "window.json").write_text(json.dumps({"version": 1, "areas": {"library": saved}}))

    async def journey(app, pane, pilot):
        assert pane.desk.place is None and "363" not in said(pane, "where")
        assert str(len(pane.desk.shelf.home)) in text(pane)
        await pilot.press("M")
        await until(pilot, lambda: isinstance(app.screen, Choice))
        await pilot.press("escape")

    drive(journey, services)


def test_escape_stops_the_calculations_and_late_results_of_another_place_are_not_shown(
    services: Services, monkeypatch: pytest.MonkeyPatch
):
    gate = threading.Event()

    def slow(entries):
        assert gate.wait(20)
        return tuple((one.id, Outcome("quant_params", {}, "fail", {}, {}, 0.0, "LATE")) for one in entries)

    monkeypatch.setattr("assistant.checks.proof.outcomes", slow)

    async def journey(app, pane, pilot):
        pane.way.go(ENTRY)
        pane.desk.reader.focus()
        await until(pilot, lambda: "◌" in text(pane))
        await pilot.press("escape")
        await until(pilot, lambda: pane.say("not_run") in text(pane).replace("\n▌ ", ""))
        gate.set()
        await settled(pane, pilot)
        assert "LATE" not in text(pane)

    try:
        drive(journey, services)
    finally:
        gate.set()


def test_a_check_that_disagrees_is_shown_as_such(services: Services, monkeypatch: pytest.MonkeyPatch):
    def wrong(entries):
        return tuple((one.id, Outcome("quant_params", {}, "fail", {}, {}, 0.0, "scale is 3")) for one in entries)

    monkeypatch.setattr("assistant.checks.proof.outcomes", wrong)

    async def journey(app, pane, pilot):
        await show(pane, pilot, replace(CARD, lang="en"))
        await pilot.press("space")
        await settled(pane, pilot)
        assert "✗" in text(pane) and "scale is 3" in text(pane)

    drive(journey, services, "en")
