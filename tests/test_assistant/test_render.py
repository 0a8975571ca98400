"""What is printed: columns for Chinese, visible control characters, rows under one header, notes."""

import pytest
from wcwidth import wcswidth

from assistant import render
from assistant.logs.types import Brought
from assistant.types import Answer, AnswerEntry, Piece
from kb.types import Span, Unknown

SPAN = Span("nano/a.zh.md", 10, 20, "0" * 64)


def _entry(**changes: object) -> AnswerEntry:
    values: dict[str, object] = {
        "id": "nano-a", "title": "标题？", "platform": "nano", "kind": "faq", "lang": "zh", "text": "正文。", "score": 1.0,
        "source": SPAN, "line": 3, "names": ("指导书 · FAQ",), "focus": (), "hit": None, **changes,
    }  # fmt: skip
    return AnswerEntry(**values)  # type: ignore[arg-type]


def _answer(**changes: object) -> Answer:
    values: dict[str, object] = {
        "question": "q", "status": "answered", "confidence": 0.9, "lang": "zh", "entries": (_entry(),), "related": (),
        "unlisted": (), "unknown": (), "nearest": (), "corrected": (), "degraded": (), "checks": (),
        "computed": None, "brought": Brought((), None), "features": (), "threshold": 0.3, **changes,
    }  # fmt: skip
    return Answer(**values)  # type: ignore[arg-type]


def test_table_columns_count_chinese_as_two() -> None:
    assert render.table([("模型", "b"), ("ab", "时间")], ("x", "yy")) == "x     yy\n模型  b\nab    时间"


@pytest.mark.parametrize("width", [6, 7, 9, 40])
def test_table_is_cut_to_a_width(width: int) -> None:
    lines = render.table([("模型大小", "时间"), ("ab", "c")], ("x", "y"), width).splitlines()

    assert max(wcswidth(line) for line in lines) <= width
    assert ("…" in lines[1]) == (width < 14)


def test_printable_shows_controls() -> None:
    assert render.printable("a\x1b[31mb\u202ec\x9bd 中\n") == "a\\u001b[31mb\\u202ec\\u009bd 中\n"


def test_answer_names_sources_and_place() -> None:
    text = render.answer_markdown(_answer(), 305)

    assert "## 标题？" in text
    assert "来源: 指导书 · FAQ" in text
    assert "`corpus/nano/a.zh.md:3 (10-20)`" in text


@pytest.mark.parametrize(
    "title",
    [
        "为什么写成 [scale*offset, scale*(255+offset)]？", "What does [NDRV] malloc fail mean?", "a_b 和 _c_ 与 __init__",
        "`x` ~~y~~ <b>z</b> C&C++ &amp; \\n", "[a](http://b)", "![a](b) *", "ends with #", "mm_run",
    ],
)  # fmt: skip
def test_titles_and_names_of_sources_are_shown_as_they_are(title: str) -> None:
    answer = _answer(entries=(_entry(title=title, names=(title,)),), related=(("nano-b", title),))
    heading, paragraph, *_, item = _texts(render.answer_markdown(answer, 305))

    assert heading == title
    assert paragraph == "正文。"
    assert item == f"{title} (nano-b)"
    assert f"来源: {title}" in _texts(render.entry_markdown(_entry(names=(title,))))[-1]


def test_a_title_without_markup_is_not_changed() -> None:
    assert render.escaped("mm_run 与 C&C++，x < y：怎么算？") == "mm_run 与 C&C++，x < y：怎么算？"


def _texts(markdown: str) -> list[str]:
    """Return the text of each block, as a reader of Markdown shows it."""
    from markdown_it import MarkdownIt

    blocks = [token for token in MarkdownIt().enable("strikethrough").parse(markdown) if token.type == "inline"]
    return ["".join(part.content or "\n" for part in block.children or []) for block in blocks]


def test_rows_of_one_table_share_their_header() -> None:
    head = "| a | b |\n|---|---|"
    pieces = (
        Piece("引子", SPAN, False),
        Piece(f"{head}\n| 1 | 2 |", SPAN, True),
        Piece(f"{head}\n| 3 | 4 |", SPAN, True),
    )

    text = render.entry_markdown(_entry(focus=pieces))

    assert f"引子\n\n{head}\n| 1 | 2 |\n| 3 | 4 |" in text
    assert "全文：asknpu show nano-a" in text


def test_check_fences_are_not_shown_as_text() -> None:
    text = render.entry_markdown(_entry(text='Yes.\n\n```toml check\ncheck = "x"\n```\n\nMore.'))

    assert "toml check" not in text
    assert "More." in text


def test_abstaining_says_what_was_searched_and_shows_no_source() -> None:
    unknown = Unknown("145\x1b009", "code", ("145002",), True)
    text = render.answer_markdown(
        _answer(status="abstained", entries=(), unknown=(unknown,), nearest=(("nano-b", "近的"),)), 305
    )

    assert "不知道" in text
    assert "305" in text
    assert "错误码 `145\\u001b009`（相近的有：`145002`）" in text
    assert "- 近的 (`nano-b`)" in text
    assert "来源" not in text


def test_corrections_and_degradation_are_said() -> None:
    text = render.answer_markdown(
        _answer(corrected=(("modle", "model"),), degraded=("use channel is off: no vectors",)), 305
    )

    assert "按 “model” 检索" in text
    assert "注意: “按意思（USE）”通道没有工作：no vectors" in text
