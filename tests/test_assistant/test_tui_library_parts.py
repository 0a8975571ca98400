"""The parts of the library area that need no window."""

import tomllib
from pathlib import Path

import pytest
from rich.cells import cell_len

from assistant.checks.types import Outcome
from assistant.tui.library.finding import find
from assistant.tui.library.glossed import Asking, glosses
from assistant.tui.library.hanging import Hanging
from assistant.tui.library.mentions import mentions
from assistant.tui.library.page import sections
from assistant.tui.library.place import History, Place, Visit, neighbour, read_marks, read_place, read_places
from assistant.tui.library.shelf import Shelf, read_shelf
from assistant.tui.library.tree import branches
from assistant.tui.markdown import column_widths, paint
from assistant.tui.painted import Section
from assistant.tui.safe import plain
from assistant.tui.words import words
from assistant.tui.wrapping import breaks
from kb.errors import CorpusError

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
DARK = {"primary": "#4fa3ff", "accent": "#ffb454", "secondary": "#7dd3c0"}


@pytest.fixture(scope="module")
def shelf() -> Shelf:
    return read_shelf(CORPUS)


def test_a_first_day_names_eight_to_twelve_entries_and_all_exist(shelf: Shelf):
    data = tomllib.loads((CORPUS / "paths.toml").read_text("utf-8"))
    assert {"nano", "magicmind", "horizon", "ascend"} <= set(data)
    for platform, table in data.items():
        assert 8 <= len(table["path"]) <= 12, platform
        assert len(set(table["path"])) == len(table["path"]), platform
        assert table["zh"].strip() and table["en"].strip()
        assert [key for key in table["path"] if key not in shelf.home] == []
        assert {shelf.documents[shelf.home[key]].platform for key in table["path"]} == {platform}
        assert [key for key in table["courses"] if key not in shelf.documents] == []
    assert shelf.problem == ""


def test_every_course_of_the_corpus_is_taught_once(shelf: Shelf):
    taught = [course.document for course in shelf.courses]
    kinds = {shelf.home[entry.id] for entry in shelf.entries.values() if entry.kind == "course"}
    assert kinds <= set(taught)
    assert len(set(taught)) == len(taught)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_tree_has_every_entry_once_in_document_order(shelf: Shelf, lang: str):
    found = branches(shelf, "read", lang, words("library", lang))
    ids = [key for branch in found for key in branch.ids()]
    assert sorted(ids) == sorted(shelf.home)
    for platform in found:
        for kind in platform.below:
            for document in kind.below:
                order = shelf.documents[document.place.key].ids
                shown = list(document.ids())
                assert shown == sorted(shown, key=order.index)
                assert {shelf.entry(key, lang).kind for key in shown} == {kind.key.rpartition(":")[2]}


def test_the_way_to_learn_begins_with_the_first_day(shelf: Shelf):
    for platform in branches(shelf, "learn", "en", words("library", "en")):
        key = platform.key.removeprefix("p:")
        first = next((day for day in shelf.paths if day.platform == key), None)
        if first is not None:
            assert tuple(platform.below[0].ids()) == first.ids


def test_a_broken_file_of_paths_is_told_and_hides_nothing(tmp_path: Path):
    (tmp_path / "a.en.md").write_text(
        '+++\ntitle = "T"\nplatform = "nano"\nkind = "faq"\n\n[sources]\ng = "G"\n+++\n\n## Why? {#a}\n\n'
        '```toml entry\nsource = ["g"]\nask = ["1", "2", "3", "4"]\n```\n\nSo.\n'
    )
    (tmp_path / "paths.toml").write_text("[nano\n")
    found = read_shelf(tmp_path)
    assert "paths.toml" in found.problem
    assert list(found.home) == ["a"]
    with pytest.raises(CorpusError):
        read_shelf(tmp_path / "missing")


@pytest.mark.parametrize(
    "text",
    ["量化后的模型（scale，offset）比原模型小。" * 5, "a_very_long_identifier" * 9, "词 word 词 " * 20, "🙂👍" * 30],
)
@pytest.mark.parametrize("width", [8, 20, 47])
def test_a_line_breaks_into_pieces_that_fit_and_loses_nothing(text: str, width: int):
    cuts = [0, *breaks(text, width), len(text)]
    pieces = [text[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]
    assert "".join(pieces) == text
    assert max(cell_len(piece.rstrip()) for piece in pieces) <= width
    assert all(piece for piece in pieces)


def test_no_line_starts_with_a_closing_mark():
    text = "甲乙丙丁，戊己庚辛。" * 8
    cuts = breaks(text, 12)
    assert cuts
    assert not {text[cut] for cut in cuts} & set("，。")


HOSTILE = (
    "[NDRV] [red]x[/] <b>tag</b> \x1b[31m \x07 [a](http://x) ![i](y)\n\n[r]: http://z\n\n`[bold]` 🙂 " + "长" * 300
)


@pytest.mark.parametrize("width", [20, 46, 100])
def test_hostile_text_is_painted_as_text_and_fits(width: int):
    from assistant.plain import printable

    page = paint([Section("x", printable(HOSTILE))], width, DARK)
    text = "".join(line.strip() for line in page.texts).replace(" ", "")
    for shown in ("[NDRV]", "[red]x[/]", "<b>tag</b>", "\\u001b[31m", "[r]:http://z", "[bold]"):
        assert shown in text, shown
    assert text.count("长") == 300
    assert all(strip.cell_length <= width for strip in page.strips)
    assert not any("\x1b" in line or "\x07" in line for line in page.texts)
    assert not any(one.style and one.style.link for strip in page.strips for one in strip)


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("key", ["nano/operators", "ascend/codes", "magicmind/mixed-precision"])
def test_a_whole_document_fits_the_width(shelf: Shelf, key: str, lang: str):
    place = Place("document", key, lang)
    page = paint(sections(shelf, place, {}, words("library", lang)), 46, DARK)
    assert set(shelf.documents[key].ids) <= set(page.anchors)
    assert max(strip.cell_length for strip in page.strips) <= 46
    assert [text for text, level, _ in page.headings if level == 2]


def test_a_spot_is_the_same_entry_at_another_width(shelf: Shelf):
    say = words("library", "zh")
    pages = [paint(sections(shelf, Place("document", "nano/faq", "zh"), {}, say), width, DARK) for width in (30, 100)]
    key = shelf.documents["nano/faq"].ids[5]
    spot = pages[0].spot(pages[0].anchors[key] + 3)
    assert spot[0] == key
    assert pages[1].spot(pages[1].line(spot))[0] == key
    assert pages[0].line(pages[0].spot(40)) == 40


def test_find_counts_across_line_breaks_and_ignores_case():
    lines = ["  量化之后的模", "  型要比较。Model", "", "model", "a b", "c"]
    assert [one.parts for one in find(lines, "模型")] == [((0, 12, 14), (1, 2, 4))]
    assert [one.line for one in find(lines, "MODEL")] == [1, 3]
    assert len(find(lines, "b c")) == 1
    assert find(lines, "模\n型x") == find(lines, "  ") == []
    assert len(find(["[red] a.b"], "[red]")) == 1
    assert find(["[red] a.b"], "a?b") == []


@pytest.mark.parametrize(("status", "badge"), [("pass", "✓"), ("fail", "✗"), ("skip", "–")])
def test_a_check_block_is_a_badge_where_it_stands(shelf: Shelf, status: str, badge: str):
    entry = next(one for one in shelf.entries.values() if one.text.count("```toml check") == 1 and one.lang == "en")
    place, say = Place("entry", entry.id, "en"), words("library", "en")
    before = sections(shelf, place, {}, say)[0].markdown
    assert "◌" in before and "```toml check" not in before
    outcome = Outcome("quant_params", {}, status, {}, {}, 0.001, "because")
    done = sections(shelf, place, {(entry.id, "en"): (outcome,)}, say)[0].markdown
    assert badge in done and "because" in done and "◌" not in done
    assert say("not_run") in sections(shelf, place, {(entry.id, "en"): ()}, say)[0].markdown


def test_a_closed_card_holds_nothing_of_the_answer(shelf: Shelf):
    place, say = Place("card", "nano-quant-symmetric", "zh"), words("library", "zh")
    entry = shelf.entry(place.key, "zh")
    closed = sections(shelf, place, {}, say, is_open=False)[0].markdown
    assert entry.title in closed and entry.asks[0] in closed
    assert not any(line in closed for line in entry.text.splitlines() if len(line) > 8)
    assert entry.text.splitlines()[0] in sections(shelf, place, {}, say)[0].markdown


def test_the_glossary_of_an_entry_has_both_languages_and_explaining_entries(shelf: Shelf):
    found = {one.used: one for one in glosses(shelf, shelf.entry("nano-quant-symmetric", "zh"), {})}
    assert "quantization" in found["量化"].term.en
    assert found["量化"].entries and "nano-quant-symmetric" not in found["量化"].entries
    english = glosses(shelf, shelf.entry("nano-quant-symmetric", "en"), {})
    assert any("量化" in one.term.zh for one in english)


def test_reading_order_ends_at_both_ends(shelf: Shelf):
    first = shelf.paths[0].ids[0]
    assert neighbour(shelf, Place("card", first, "zh", shelf.paths[0].platform), -1) is None
    after = neighbour(shelf, Place("card", first, "zh", shelf.paths[0].platform), 1)
    assert after == Place("card", shelf.paths[0].ids[1], "zh", shelf.paths[0].platform)
    last = shelf.documents[shelf.courses[-1].document].ids[-1]
    assert neighbour(shelf, Place("card", last, "zh"), 1) is None
    # A card of a document that is no course leads through that document.
    assert neighbour(shelf, Place("document", "nano/faq", "zh"), 1).kind == "document"


def test_history_goes_back_and_forward_and_forgets_what_was_ahead():
    a, b, c = (Visit(Place("entry", key, "zh"), (key, 0.5), is_open=key == "a", link=3) for key in "abc")
    history = History()
    assert history.back(a) is None
    history.leave(a)
    assert history.back(b) == a
    assert history.forward(a) == b
    history.back(b)
    history.leave(a)
    assert history.forward(c) is None


@pytest.mark.parametrize(
    "data", [None, 3, [], {}, {"kind": "x"}, {"kind": "entry", "key": 3, "lang": "zh"}, {"kind": [], "lang": {}}]
)
def test_a_saved_state_that_makes_no_sense_is_nothing(data: object):
    assert read_place(data) is None
    assert read_places([data]) == read_places(data) == []
    assert read_marks(data) == {}
    assert read_marks({"a": "known", "b": 3, "c": "learning"}) == {"a": "known", "c": "learning"}


@pytest.mark.parametrize("width", [20, 33, 60])
def test_what_goes_on_below_a_line_of_a_list_stands_below_its_text(width: int):
    from textual.style import Style
    from textual.visual import RenderOptions

    from assistant.tui.breaking import break_chinese

    break_chinese()
    rows = [
        ("  中 ", "量化因子、缩放系数、比例因子、缩放因子、步长系数" * 2),
        ("  → ", "What is the scale of " * 6),
        ("", "scale"),
    ]
    hanging = Hanging(*((plain(mark), plain(text)) for mark, text in rows))
    strips = hanging.render_strips(width, None, Style(), RenderOptions(lambda _: Style(), {}, None, None))
    assert hanging.get_height({}, width) == len(strips) > 5 - width // 60
    lines = [strip.text for strip in strips]
    assert all(cell_len(line.rstrip()) <= width for line in lines)
    firsts = [line for line in lines if line.startswith(("  中 ", "  → ", "scale"))]
    assert len(firsts) == len(rows)
    for line in lines:
        if line not in firsts:
            indent = 5 if cell_len(line.strip()) > len(line.strip()) else 4
            assert line[:indent].strip() == "" and line[indent].strip(), lines
    told = "".join(line.strip() for line in lines).replace(" ", "")
    assert told == "".join(f"{mark}{text}" for mark, text in rows).replace(" ", "")


LINKS = {"--mode": "#nano-atc-mode", "scale": "term:scale", "缩放因子": "term:scale", "dump": "term:dump"}


@pytest.mark.parametrize(
    ("markdown", "targets"),
    [
        ("a scale, a Scale and `--mode`", ["term:scale", "#nano-atc-mode"]),
        ("缩放因子是 scale", ["term:scale"]),
        ("rescaled scales dumps `x --mode`", []),
        ("## scale\n\n`dump`", ["term:dump"]),
        ("[x](#a-b) <https://e.org/q> (https://e.org/p).", ["#a-b", "https://e.org/q", "https://e.org/p"]),
        ("[x](https://e.org/scale) 见https://e.org/b_c的说明", ["https://e.org/scale", "https://e.org/b_c"]),
        ("[x](javascript:a) [x](file:///a) [x](ftp://a.b) [x](data:text/html,a) [x](vbscript:a) [x](../../etc/x)", []),
        ("[x](JaVaScRiPt:a) <javascript:a> javascript:a file:///a", []),
        ("```\ncurl https://e.org/f\n```\n\n| scale | b |\n|---|---|\n| dump | `--mode` |", 4),
    ],
    ids=["once", "one-term", "whole-words", "heading", "kinds", "chinese", "unsafe", "hidden", "blocks"],
)
@pytest.mark.parametrize("width", [12, 60])
def test_what_leads_somewhere_is_found_and_all_is_shown(markdown: str, targets: list[str] | int, width: int):
    page = paint([Section("x", markdown, LINKS)], width, DARK)
    found = [one.target for one in page.links]
    assert (len(found) if isinstance(targets, int) else found) == targets
    assert all(not (one.style and (one.style.link or one.style.meta)) for strip in page.strips for one in strip)
    told = "".join(line.strip("│ ") for line in page.texts).replace(" ", "")
    for target in found:
        assert not target.startswith("http") or target in told
    for scheme in ("javascript:a", "file:///a", "ftp://a.b"):
        assert told.casefold().count(scheme) == markdown.casefold().count(scheme)
    lines = page.texts
    for link in page.links:
        assert all(0 <= start < end <= cell_len(lines[line]) for line, start, end in link.parts)


def test_no_link_is_made_of_a_text_that_is_only_shown():
    page = paint([Section("x", "[a](#b) scale https://e.org")], 60, DARK)
    assert page.links == () and "a (#b)" in page.texts[0]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_an_entry_leads_to_the_entries_about_the_options_that_it_names(shelf: Shelf, lang: str):
    found = mentions(shelf, shelf.entry("nano-atc-parameter-table", lang))
    assert found["--framework"] == "#nano-atc-framework" and found["--soc_version"] == "#nano-atc-soc-version"
    everywhere = {
        (entry.id, name, target) for entry in shelf.entries.values() for name, target in mentions(shelf, entry).items()
    }
    assert len(everywhere) > 150
    assert all(target[1:] in shelf.home and target[1:] != key for key, _, target in everywhere)
    assert not {"all", "make", "src", "null", "0.05"} & {name for _, name, _ in everywhere}


def test_titles_questions_and_sources_are_shown_character_by_character(shelf: Shelf):
    say = words("library", "en")
    marked = [
        one for one in shelf.entries.values() if set("*_[<`") & set("".join((one.title, *one.asks[:3], *one.sources)))
    ]
    assert len(marked) > 30
    for entry in (shelf.entry("nano-quant-asymmetric", "en"), *marked[:: len(marked) // 30]):
        for is_open, shown in (
            (False, (entry.title, *entry.asks[:3])),
            (True, (entry.title, "; ".join(entry.sources))),
        ):
            page = paint(sections(shelf, Place("card", entry.id, entry.lang), {}, say, is_open=is_open), 110, DARK)
            told = "".join("".join(page.texts).replace("•", "").split())
            assert all("".join(one.split()) in told for one in shown)


@pytest.mark.parametrize(("width", "lines"), [(46, 46), (78, 26), (110, 18)])
def test_a_table_gives_its_cells_to_the_columns_that_need_them(shelf: Shelf, width: int, lines: int):
    entry = shelf.entry("nano-atc-parameter-table", "zh")
    table = next(part for part in entry.text.split("\n\n") if part.startswith("|"))
    page = paint([Section("x", table)], width, DARK)
    assert len(page.texts) <= lines
    assert max(strip.cell_length for strip in page.strips) <= width
    told = "".join("".join(page.texts).split())
    assert all(told.count(one) == table.count(one) for one in "数字句点节")
    if width > 46:
        for name in ("--input_fp16_nodes", "--soc_version", "--output_type=FP16"):
            assert any(name in line for line in page.texts), name


def test_columns_take_what_they_need_and_no_more():
    from rich.text import Text

    def widths(*rows: tuple[str, ...], room: int) -> list[int | None]:
        return column_widths([[Text(cell) for cell in row] for row in rows], room)

    assert widths(("a", "b"), ("word", "量化"), room=80) == [4, 4]
    assert widths(("k", "text"), ("key", "word " * 20), room=40) == [3, 37]
    assert widths(("k", "t"), ("a_long_identifier", "字" * 40), room=40) == [17, 23]
    assert widths(("a_long_identifier", "a_long_identifier"), room=20) == [10, 10]
    assert widths(("a_long_identifier", "a_long_identifier"), room=10) == [None, None]
    assert widths(("a", "b"), ("1",), room=9) == [1, 1]


def test_the_terms_of_an_entry_do_not_depend_on_what_was_looked_up_before(shelf: Shelf):
    asking: Asking = {}
    for entry in list(shelf.entries.values())[::40]:
        assert glosses(shelf, entry, asking) == glosses(shelf, entry, {})
        assert all(entry.id not in gloss.entries for gloss in glosses(shelf, entry, asking))
