"""Pasted editor markup is reduced to its words; plain text, comparisons and placeholders stay as they are."""

from pathlib import Path

import pytest

from kb import paste

DATA = Path(__file__).resolve().parent.parent / "data"


def _words(text: str) -> str:
    return "".join(character for character in text if character.isalnum() or character in ".:{}/")


def test_real_lark_paste_gives_every_line_of_the_document() -> None:
    raw = (DATA / "lark-paste.raw.txt").read_text("utf-8")
    clean = (DATA / "lark-paste.clean.txt").read_text("utf-8")

    found = paste.words(raw)

    for line in clean.splitlines():
        assert _words(line) in _words(found), line
    assert len(found) < 1.2 * len(clean)


@pytest.mark.parametrize("noise", ["recordId", "apool", "data-lark", "%3e", "snapshot", "author", "<span"])
def test_no_markup_of_the_lark_paste_is_left(noise: str) -> None:
    raw = (DATA / "lark-paste.raw.txt").read_text("utf-8")

    assert noise in raw
    assert noise not in paste.words(raw)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b and c > d", "a < b and c > d"),
        ("convert -d <dump_file> [-t <npy/bin>]", "convert -d <dump_file> [-t <npy/bin>]"),
        ("<p>how <b>big</b> is a &lt;model&gt;?</p>", "how big is a <model>?"),
        ("<div>use <dump_file><br>here</div>", "use <dump_file>\nhere"),
        ("<ul><li>一</li><li>二</li></ul>", "一\n二"),
        ("<style>p{}</style><script>alert(1)</script><p>x</p>", "x"),
        ('<p>cut off</p><span data-x=\'{"a":1', "cut off"),
        ("", ""),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert paste.words(text) == expected


def test_a_broken_record_leaves_the_visible_text() -> None:
    assert paste.words('<p>visible</p><span data-lark-record-data="{broken">x</span>') == "visible\nx"
