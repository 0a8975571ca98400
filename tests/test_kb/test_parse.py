"""Entries keep the exact bytes of their file; broken files are named by file and line."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.errors import CorpusError
from kb.parse import blocks, parse_file, split_row
from tests.conftest import HEADER, entry

TABLE = "Lead 句子。\n\n| name 名 | time |\n|---|---|\n| wake 唤醒 | 7.2 ms |\n| a \\| b | 1 |\n\n- one\n- two\n  more\n\n```sh\natc --mode=30\n```"


def _file(*entries: str) -> bytes:
    return (HEADER.format(platform="nano") + "\n".join(entries)).encode()


def test_span_is_the_exact_answer() -> None:
    data = _file(entry("nano-a", "甲？", TABLE), entry("nano-b", "B?", "second"))

    first, second = parse_file("x.zh.md", data)

    assert first.text == TABLE
    assert data[first.span.start : first.span.end] == TABLE.encode()
    assert hashlib.sha256(TABLE.encode()).hexdigest() == first.span.sha256
    assert (second.id, second.text, second.sources) == ("nano-b", "second", ("The guide · section nano-b",))


def test_blocks_are_rows_items_and_fences_with_their_bytes() -> None:
    data = _file(entry("nano-a", "甲？", TABLE))
    (only,) = parse_file("x.zh.md", data)

    found = blocks(only)

    assert [data[b.start : b.end].decode() for b in found] == [
        "Lead 句子。", "| wake 唤醒 | 7.2 ms |", "| a \\| b | 1 |", "- one", "- two\n  more", "```sh\natc --mode=30\n```",
    ]  # fmt: skip
    assert found[1].index_text == "name 名: wake 唤醒; time: 7.2 ms"
    assert found[1].text.splitlines()[0] == "| name 名 | time |"


def test_check_fences_are_opaque() -> None:
    check = '```toml check\ncheck = "sum_fp16"\n```'
    (only,) = parse_file("x.en.md", _file(entry("nano-a", "A?", f"Answer.\n\n{check}")))

    assert check in only.text
    assert [b.text for b in blocks(only)] == ["Answer."]


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="#`+"), min_size=1), min_size=1)
)
def test_any_text_comes_back_byte_for_byte(paragraphs: list[str]) -> None:
    answer = "\n\n".join(paragraphs).strip()
    if not answer or answer != answer.strip("\n") or not answer.encode().strip():
        return
    data = _file(entry("nano-a", "A?", answer), entry("nano-b", "B?", "x"))

    for found in parse_file("x.en.md", data):
        assert data[found.span.start : found.span.end].decode() == found.text
        for block in blocks(found):
            assert data[block.start : block.end].decode() in block.text


def test_split_row_keeps_escaped_bars() -> None:
    assert split_row(r"| a \| b | `c` |") == ["a | b", "`c`"]


GOOD = entry("nano-a", "A?", "x").encode()


@pytest.mark.parametrize(
    ("path", "data", "message"),
    [
        ("x.md", _file(entry("nano-a", "A?", "x")), "x.md:1: the name must end in .zh.md or .en.md"),
        ("x.en.md", b"## A {#a}\n", "x.en.md:1: no +++ TOML header"),
        ("x.en.md", b"+++\ntitle = \n+++\n", "x.en.md:2: header is not valid TOML"),
        ("x.en.md", b'+++\ntitle = "t"\n+++\n', "x.en.md:1: the header has no 'platform'"),
        ("x.en.md", _file() + b"\nno heading\n", "x.en.md:9: no entry"),
        ("x.en.md", _file() + b"## A\n\ntext\n", "x.en.md:10: heading 'A' must end in an id"),
        ("x.en.md", _file() + b"## A {#a}\n\ntext\n", "x.en.md:11: after the heading comes a fence"),
        ("x.en.md", _file() + GOOD.replace(b'source = ["guide', b'source = ["guid'), "x.en.md:12: source key 'guid'"),
        ("x.en.md", _file() + GOOD.replace(b"ask = [", b"ask = [ oops"), "x.en.md:14: entry fence is not valid TOML"),
        ("x.en.md", _file() + GOOD.replace(b"A? 3", b"A? 2"), "x.en.md:12: 'ask' needs at least 4 different"),
        ("x.en.md", _file() + GOOD.replace(b"ask =", b'kind = "tale"\nask ='), "x.en.md:12: unknown kind 'tale'"),
        ("x.en.md", _file() + GOOD.replace(b"ask =", b"asks = []\nask ="), "x.en.md:12: unknown key 'asks'"),
        ("x.en.md", _file() + GOOD.replace(b"\nx\n", b"\n"), "x.en.md:10: entry 'nano-a' has no answer"),
        (
            "x.en.md",
            _file(entry("nano-a", "A?", "x"), entry("nano-a", "B?", "y")),
            "id 'nano-a' is used before, on line 10",
        ),
        ("x.en.md", _file() + GOOD + b"\xff\xfe", "not valid UTF-8"),
        ("x.en.md", (_file() + GOOD).replace(b"\n", b"\r\n"), "x.en.md:1: has carriage returns"),
    ],
)
def test_broken_files_are_named_by_line(path: str, data: bytes, message: str) -> None:
    with pytest.raises(CorpusError) as caught:
        parse_file(path, data)

    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}:")
