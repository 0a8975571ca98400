"""Log bytes as lines: every encoding, every line end, and the way back to the original bytes."""

import bz2
import gzip
import lzma
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.logs.decode import LINE_MOST, Decoder, Line, decoding, lines

DRIVER = "[NFS]partition table absent\n[NDRV]queue 3 attach fail\n加载模型失败，文件 模型.exeom 不存在\n"


def cut(data: bytes, size: int) -> list[Line]:
    return list(lines(data[i : i + size] for i in range(0, len(data), size)))


def check_offsets(data: bytes, found: list[Line]) -> None:
    """The lines cover the log but for line ends and a byte order mark, and each character leads back to its bytes."""
    at = 0
    for line in found:
        assert data[line.start : line.end] == line.raw
        assert not data[at : line.start].strip(b"\r\n\0\xef\xbb\xbf\xff\xfe")
        at = line.end
        begin, end = line.span(0, len(line.text))
        assert line.start <= begin <= end <= line.end
    assert not data[at:].strip(b"\r\n\0\xef\xbb\xbf\xff\xfe")


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gbk", "gb18030"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n"], ids=["lf", "crlf", "cr", "crcrlf"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_and_line_end_reads_the_same(encoding: str, end: str) -> None:
    data = DRIVER.replace("\n", end).encode(encoding)
    found = list(lines(data))

    assert [line.text for line in found] == DRIVER.splitlines()
    assert [line.number for line in found] == [1, 2, 3]
    check_offsets(data, found)
    begin = found[2].text.index("模型.exeom")
    start, stop = found[2].span(begin, begin + 8)
    assert data[start:stop] == "模型.exeom".encode(
        encoding.removesuffix("-sig") if encoding != "utf-16" else "utf-16-le"
    )


@pytest.mark.parametrize(
    ("encoding", "name", "evidence"),
    [
        ("utf-8", "utf-8", "well-formed"),
        ("utf-8-sig", "utf-8-sig", "byte order mark"),
        ("utf-16", "utf-16-le", "byte order mark"),
        ("utf-16-le", "utf-16-le", "zero bytes"),
        ("utf-16-be", "utf-16-be", "zero bytes"),
        ("gb18030", "gb18030", "well-formed"),
    ],
)
def test_decoding_is_named_with_its_evidence(encoding: str, name: str, evidence: str) -> None:
    found = decoding(DRIVER.encode(encoding))

    assert (found.name, found.evidence) == (name, evidence)


def test_decoding_names_ascii_mixed_and_damaged() -> None:
    assert decoding(b"[NOS]thread fail, ret: 4\n").name == "ascii"
    assert decoding("文件不存在\n".encode() + "文件不存在\n".encode("gbk")).name == "mixed"
    assert decoding("文件不\xff存在".encode().replace(b"\xc3\xbf", b"\xff") + b"\nok\n").evidence == "damaged"
    assert decoding(b"").name == "ascii"


def test_mixed_encodings_read_line_by_line() -> None:
    data = "中文路径错误\n".encode() + "中文路径错误\n".encode("gbk") + b"caf\xe9 \xff\n"

    assert [line.text for line in lines(data)] == ["中文路径错误", "中文路径错误", "caf\ufffd \ufffd"]
    assert [line.encoding for line in lines(data)] == ["utf-8", "gb18030", "utf-8"]


# raw text, text, stream, time
PREFIXED = [
    ("[   12.345678] [NDRV]probe", "[NDRV]probe", "", "12.345678"),
    ("<3>[    1.500000] RKNPU: bad", "RKNPU: bad", "", "1.500000"),
    ("[2026-01-02 03:04:05.678] [NFS]x", "[NFS]x", "", "2026-01-02 03:04:05.678"),
    ("[03:04:05.678]收←◆[NFS]x", "[NFS]x", "", "03:04:05.678"),
    ("2026-01-02T03:04:05.678901234Z stderr F [NOS]x", "[NOS]x", "stderr", "2026-01-02T03:04:05.678901234Z"),
    ("2026-01-02T03:04:05+08:00 board infer[42]: hello", "hello", "infer[42]", "2026-01-02T03:04:05+08:00"),
    ("Jan  2 03:04:05 board infer[42]: hello", "hello", "infer[42]", "Jan  2 03:04:05"),
    ("infer-1  | [rank3]: Traceback", "Traceback", "infer-1 rank3", ""),
    ("(RayWorker pid=42, ip=10.0.0.1) E: x", "E: x", "RayWorker pid=42, ip=10.0.0.1", ""),
    ("(EngineCore_0 pid=7) ERROR 01-02", "ERROR 01-02", "EngineCore_0 pid=7", ""),
    ("[1,0]<stderr>:text", "text", "1,0", ""),
    ("[pod/infer-0/main] text", "text", "pod/infer-0/main", ""),
    ('{"log":"[NFS]a \\"b\\" \\u6587\\n","stream":"stdout","time":"T"}', '[NFS]a "b" 文', "stdout", "T"),
    ('{"log":"\\u001b[31mred\\u001b[0m\\ud83d\\ude00\\n"}', "red\U0001f600", "", ""),
    ("\x1b[1;31m[ND\x1b[0mRV]fail\x1b[0m", "[NDRV]fail", "", ""),
    ("\x1b]0;title\x07text\x1b]52;c;AAAA\x1b\\!", "text!", "", ""),
    ("\x00\x00[NDRV]\x00fail", "[NDRV]fail", "", ""),
    ("\x1b]0;never closed", "]0;never closed", "", ""),
    ("[red]markup[/red]", "[red]markup[/red]", "", ""),
    ("[NDRV]no prefix", "[NDRV]no prefix", "", ""),
]


@pytest.mark.parametrize(("raw", "text", "stream", "stamp"), PREFIXED)
def test_prefixes_and_colours_are_set_aside(raw: str, text: str, stream: str, stamp: str) -> None:
    (line,) = lines(raw.encode())

    assert (line.text, line.stream, line.time) == (text, stream, stamp)
    check_offsets(raw.encode(), [line])


def test_span_steps_over_colours_and_json_escapes() -> None:
    data = '前{"log'.encode()[:3] + b"\x1b[31m[ND\x1b[0mRV]f"
    (line,) = lines(data)
    assert line.text == "前[NDRV]f"
    assert data[slice(*line.span(1, 7))] == b"[ND\x1b[0mRV]"

    data = b'{"log":"a\\tb \\u6587c\\n"}'
    (line,) = lines(data)
    assert data[slice(*line.span(1, 5))] == b"\\tb \\u6587"


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=400) | st.lists(st.sampled_from([b"\r", b"\n", b"\0", b"a", b"\xff\xfe", b"\xd6\xd0", "文".encode(), b"\x1b[1m", b'{"log":"', b'"}', b"\\u12"]), max_size=120).map(b"".join), size=st.integers(1, 90))  # fmt: skip
def test_any_bytes_in_any_portions_give_the_same_lines(data: bytes, size: int) -> None:
    found = list(lines(iter([data])))

    assert found == cut(data, size)
    if not data.startswith(b"\x1f\x8b"):
        check_offsets(data, found)
    for line in found:
        line.text.encode()  # no lone surrogate
        ends = [line.span(0, i)[1] for i in range(len(line.text) + 1)]
        assert ends == sorted(ends)


@given(text=st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf"]), max_size=60), encoding=st.sampled_from(["utf-8-sig", "utf-16"]))  # fmt: skip
def test_each_character_leads_back_to_its_bytes(text: str, encoding: str) -> None:
    data = ("|" * 64 + text).encode(encoding)
    (line,) = lines(data)
    plain = "utf-8" if encoding == "utf-8-sig" else "utf-16-le"

    for i, char in enumerate(line.text):
        assert data[slice(*line.span(i, i + 1))].decode(plain) == char


@pytest.mark.parametrize("size", [1, 7, 64, 4096])
def test_chunk_borders_change_nothing(size: int) -> None:
    for encoding in ENCODINGS:
        data = (DRIVER.replace("\n", "\r\n") * 20).encode(encoding)
        assert cut(data, size) == list(lines(data))


@pytest.mark.parametrize("module", [gzip, bz2, lzma], ids=["gzip", "bzip2", "xz"])
def test_packed_log_reads_all_members_and_ends_at_damage(tmp_path: Path, module: Any) -> None:
    packed = module.compress(DRIVER.encode()) + module.compress(b"second\n")
    file = tmp_path / "log"
    file.write_bytes(packed)
    wanted = [*DRIVER.splitlines(), "second"]

    assert [line.text for line in lines(file)] == wanted
    assert [line.text for line in cut(packed, 3)] == wanted
    assert [line.text for line in lines(packed + b"rubbish")] == wanted
    # Three members, as bzip2 gives nothing of a block before it is whole.
    rows = [f"row {i} {i * 7919 % 10007}" for i in range(30_000)]
    long = b"".join(module.compress(("\n".join(rows[i::3]) + "\n").encode()) for i in range(3))
    half = [line.text for line in lines(long[: len(long) // 2])]
    assert len(half) >= 10_000
    assert half[:10_000] == rows[::3]
    assert list(lines(module.compress(b"x")[:10] + b"\x00broken")) == []


def test_text_that_begins_like_a_packed_file_is_text() -> None:
    for text in ("BZh is three letters", "BZh91AY but no more", "BZ"):
        assert [line.text for line in lines(text.encode())] == [text]
        assert [line.text for line in cut(text.encode(), 1)] == [text]


def test_long_line_comes_in_pieces_of_one_number() -> None:
    for data in (b"x" * 300_000, "文".encode() * 100_000, b"ab " * 100_000, ("文" * 100_000).encode("utf-16")):
        data += "\n[NFS]next\n".encode("utf-16-le" if data[:2] == b"\xff\xfe" else "utf-8")
        found = list(lines(data))

        assert {line.number for line in found[:-1]} == {1}
        assert [line.piece for line in found[:-1]] == list(range(len(found) - 1))
        assert all(len(line.raw) <= LINE_MOST for line in found)
        assert not any("\ufffd" in line.text for line in found)
        assert (found[-1].number, found[-1].text) == (2, "[NFS]next")
        assert found == cut(data, 50_001)
        check_offsets(data, found)


@pytest.mark.parametrize(
    "unit", ["[", "\x1b]", "\x1b[", '{"log":"', "\\u00", "\r", "[1,", "a:", " ", "\x00", '"msg":"', "中", "(a pid=1"]
)
def test_hostile_line_takes_linear_time(unit: str) -> None:
    data = (unit * 100_000)[:100_000].encode()
    for text in (data, b'{"log":"' + data + b'"}'):
        began = time.perf_counter()
        list(lines(text))
        assert time.perf_counter() - began < 2


def test_decoder_keeps_no_more_than_one_line() -> None:
    decoder = Decoder()
    sizes = [sum(len(block.data) for block in decoder.feed(b"y" * 100_000)) for _ in range(20)]

    assert 20 * 100_000 - sum(sizes) <= LINE_MOST + 17


def test_blocks_say_whether_raw_bytes_can_be_searched() -> None:
    def plain(data: bytes) -> bool:
        decoder = Decoder()
        return all(block.is_plain for block in decoder.feed(data) + decoder.finish())

    assert plain("[NFS]路径 C:\\a\n".encode("gbk"))
    assert not plain(b"[N\x1b[0mFS]")
    assert not plain("[NFS]a".encode("utf-16"))
    assert not plain(b'{"log":"a\\"b"}')


def test_empty_lines_keep_their_numbers() -> None:
    assert [(line.number, line.text) for line in lines(b"\n\na\n\nb")] == [
        (1, ""),
        (2, ""),
        (3, "a"),
        (4, ""),
        (5, "b"),
    ]
    assert list(lines(b"")) == []
    assert re.sub(r"\D", "", "".join(line.text for line in lines(b"1\r2\r3"))) == "123"


@settings(deadline=None)
@given(
    data=st.lists(st.sampled_from([b"a", b"\n", b"bc", b" "]), min_size=1, max_size=60).map(b"".join),
    places=st.sets(st.integers(0, 100)),
    end=st.sampled_from([b"\n", b"\r\n"]),
)
def test_block_gives_the_lines_at_places(data: bytes, places: set[int], end: bytes) -> None:
    decoder = Decoder()
    data = data.replace(b"\n", end)
    for block in decoder.feed(data) + decoder.finish():
        hits = sorted(place for place in places if place < len(block.data))
        every = list(block.lines())
        after = [line.start for line in every[1:]] + [block.start + len(block.data)]
        wanted = [
            line
            for line, stop in zip(every, after, strict=True)
            if any(line.start <= hit + block.start < stop for hit in hits)
        ]

        assert list(block.at(hits)) == wanted
