"""What is read: files, directories, archives; rotated files as one log; every byte traced to its file."""

import bz2
import gzip
import io
import lzma
import os
import socket
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.errors import BadInput
from assistant.logs.decode import Decoder
from assistant.logs.gathering.rotation import rotation
from assistant.logs.gathering.sources import Source, gather, gather_some, refuse_damaged, sources

PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def content(source: Source) -> bytes:
    return b"".join(source.portions())


def parts(source: Source) -> list[str]:
    return [Path(part.name).name for part in source.parts]


def write(folder: Path, *names: str) -> list[str]:
    """Write files that hold their own name, packed if it says so."""
    for name in names:
        data = f"{name}\n".encode()
        (folder / name).write_bytes(PACKERS.get(Path(name).suffix, bytes)(data))
    return [str(folder / name) for name in names]


# files, and the logs that they are
SETS = {
    "numbers": (["a.log", "a.log.1", "a.log.2.gz", "a.log.10.gz"], [["a.log.10.gz", "a.log.2.gz", "a.log.1", "a.log"]]),
    "numbers within": (["a.1.log", "a.2.log", "a.log"], [["a.2.log", "a.1.log", "a.log"]]),
    "numbers within alone": (["a.1.log", "a.2.log"], [["a.1.log"], ["a.2.log"]]),
    "dates": (
        ["a.log", "a.log-20260102.gz", "a.log-20260101.gz"],
        [["a.log-20260101.gz", "a.log-20260102.gz", "a.log"]],
    ),
    "dates with dots": (["a.log.2026-01-02", "a.log.2026-01-01"], [["a.log.2026-01-01", "a.log.2026-01-02"]]),
    "times": (
        ["a.log", "a.log.2026-01-01_10-00-00", "a.log.2026-01-01_09-30-00"],
        [["a.log.2026-01-01_09-30-00", "a.log.2026-01-01_10-00-00", "a.log"]],
    ),
    "dates and numbers": (
        ["a.log", "a.log.2026-01-01.2", "a.log.2026-01-01.10"],
        [["a.log.2026-01-01.2", "a.log.2026-01-01.10", "a.log"]],
    ),
    "dates within": (
        ["a.log", "a.2026-01-01.log", "a-20260102.log"],
        [["a.2026-01-01.log", "a-20260102.log", "a.log"]],
    ),
    "starts": (
        ["plog-12_20260101010102.log", "plog-12_20260101010101.log", "plog-13_20260101010101.log"],
        [["plog-12_20260101010101.log", "plog-12_20260101010102.log"], ["plog-13_20260101010101.log"]],
    ),
    "no ending": (["messages", "messages.1", "messages-20260101"], [["messages-20260101", "messages.1", "messages"]]),
    "ranks": (
        ["rank.0", "rank.1", "out-20260101", "out-20260102"],
        [["out-20260101"], ["out-20260102"], ["rank.0"], ["rank.1"]],
    ),
    "no date": (["job.log-12345678", "job.log"], [["job.log"], ["job.log-12345678"]]),
    "separate": (["a.log", "b.log", "a.log.1"], [["a.log.1", "a.log"], ["b.log"]]),
    "Chinese": (["设备 日志.log", "设备 日志.log.1"], [["设备 日志.log.1", "设备 日志.log"]]),
    "packed with others": (["a.log", "a.log.2.bz2", "a.log.3.xz"], [["a.log.3.xz", "a.log.2.bz2", "a.log"]]),
    "packed current": (["a.log", "a.log.gz"], [["a.log"], ["a.log.gz"]]),
}


@pytest.mark.parametrize("how", ["directory", "names"])
@pytest.mark.parametrize("case", SETS)
def test_rotated_files_are_one_log_oldest_first(tmp_path: Path, case: str, how: str) -> None:
    names, expected = SETS[case]
    paths = write(tmp_path, *names)
    found = sources([str(tmp_path)] if how == "directory" else paths)

    assert sorted(parts(source) for source in found) == sorted(expected)
    for source in found:
        assert content(source).decode().split("\n")[:-1] == parts(source)
        assert Path(source.name).name == parts(source)[-1]


def test_same_names_in_two_directories_are_two_logs(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    paths = write(tmp_path, "a/x.log", "b/x.log.1")

    assert [len(source.parts) for source in sources(paths)] == [1, 1]
    assert [len(source.parts) for source in sources([str(tmp_path)])] == [1, 1]


@pytest.mark.parametrize("cut", [0, 1, 500, -1], ids=["whole", "little", "half", "other"])
def test_packed_copy_beside_its_original_is_read_once(tmp_path: Path, cut: int) -> None:
    data = os.urandom(3000).hex().encode()
    (tmp_path / "a.log").write_bytes(b"new\n")
    (tmp_path / "a.log.1").write_bytes(data)
    packed = gzip.compress(data if cut >= 0 else data[:-1] + b"?")
    (tmp_path / "a.log.1.gz").write_bytes(packed[: len(packed) - max(cut, 0)])
    found = sources([str(tmp_path)])

    assert content(found[0]) == data + b"new\n"
    assert len(found) == (2 if cut < 0 else 1)


def test_each_file_is_read_once_by_whatever_path(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    write(logs, "a.log")
    (logs / "b.log").symlink_to("a.log")
    (tmp_path / "link").symlink_to("logs")
    os.link(logs / "a.log", tmp_path / "hard.log")
    paths = [str(logs / "a.log"), str(logs / "b.log"), str(logs), str(tmp_path / "link"), str(tmp_path / "hard.log")]

    for order in (paths, paths[::-1], [f"{logs}/../logs/a.log", *paths]):
        assert [content(source) for source in sources(order)] == [b"a.log\n"]


def test_directories_are_walked_in_order_and_links_do_not_hang(tmp_path: Path) -> None:
    for folder in ("b", "a/deep", "目录 1"):
        (tmp_path / folder).mkdir(parents=True)
    write(tmp_path, "b/1.txt", "a/deep/2.txt", "a/3.txt", "目录 1/日 志.txt", "c.txt")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "nowhere").symlink_to("missing")
    found = gather([str(tmp_path)])

    assert [Path(source.name).relative_to(tmp_path).as_posix() for source in found.sources] == [
        "a/3.txt",
        "a/deep/2.txt",
        "b/1.txt",
        "c.txt",
        "目录 1/日 志.txt",
    ]
    skipped = {Path(one.name).name: one.why for one in found.skipped}
    assert skipped["loop"] == "a link to a directory; give it by itself to read it"
    assert skipped["nowhere"] == "a link to nothing"
    assert "symbolic links" in skipped["self"]


TEXT = "2026-01-01 [ERROR] 加载模型失败\n"
# name, content, why it is skipped
MET = [
    ("text.log", TEXT.encode() * 300, ""),
    ("gbk.log", TEXT.encode("gbk") * 300, ""),
    ("utf16.log", TEXT.encode("utf-16") * 300, ""),
    ("utf16be", TEXT.encode("utf-16-be") * 300, ""),
    ("empty.log", b"", ""),
    ("hole.log", bytes(100_000) + TEXT.encode() * 300, ""),
    ("colours.log", b"\x1b[31mred\x1b[0m\r\n\x07" * 300, ""),
    ("noise.log", bytes(range(256)) + TEXT.encode() * 100, ""),
    ("cut.log", b"x" + TEXT.encode() * 300, ""),
    ("text.gz", gzip.compress(TEXT.encode() * 300), ""),
    ("net.exeom", TEXT.encode(), "a model"),
    ("net.OM", TEXT.encode(), "a model"),
    ("net.onnx", TEXT.encode(), "a model"),
    ("lib.so", TEXT.encode(), "a library"),
    ("lib.so.1", TEXT.encode(), "a library"),
    ("tool", b"\x7fELF" + TEXT.encode(), "a program"),
    ("image", b"\x89PNG\r\n" + TEXT.encode(), "an image"),
    ("zip", b"PK\x03\x04" + TEXT.encode(), "a zip archive"),
    ("zeros", bytes(100_000), "binary"),
    ("random", os.urandom(10_000), "binary"),
    ("floats", b"\x00\x00\x80\x3f\x10\x20\x30\xbe" * 1000, "binary"),
    ("proto", b"\n\x07backend\x12\x04conv\x1a\x02\x08\x01\x22\x05\x0a\x03\x01\x02\x03" * 200, "binary"),
    ("random.gz", gzip.compress(os.urandom(10_000)), "binary"),
    ("text.bz2", bz2.compress(TEXT.encode() * 300), ""),
    ("text.xz", lzma.compress(TEXT.encode() * 300), ""),
    ("random.xz", lzma.compress(os.urandom(10_000)), "binary"),
    (".hidden.log", TEXT.encode(), "hidden"),
]


@pytest.mark.parametrize(("name", "data", "why"), MET, ids=[name for name, _, _ in MET])
def test_what_is_no_log_is_skipped_in_a_directory_but_read_if_named(
    tmp_path: Path, name: str, data: bytes, why: str
) -> None:
    (tmp_path / name).write_bytes(data)
    unpackers = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
    expected = unpackers.get(Path(name).suffix, bytes)(data)

    found = gather([str(tmp_path)])
    assert [(one.name, one.why) for one in found.skipped] == ([(str(tmp_path / name), why)] if why else [])
    assert len(found.sources) == (not why)
    for order in ([str(tmp_path), str(tmp_path / name)], [str(tmp_path / name), str(tmp_path)]):
        found = gather(order)
        assert (content(found.sources[0]), found.skipped) == (expected, ())


@pytest.mark.parametrize(
    ("magic", "what"),
    [
        (b"\x28\xb5\x2f\xfd", "packed with zstd"),
        (b"7z\xbc\xaf\x27\x1c", "an archive"),
        (b"Rar!\x1a\x07", "an archive"),
        (b"\x04\x22\x4d\x18", "packed with lz4"),
    ],
)
def test_packing_that_cannot_be_read_is_never_read_as_text(tmp_path: Path, magic: bytes, what: str) -> None:
    (tmp_path / "a.log").write_bytes(magic + TEXT.encode() * 300)

    with pytest.raises(BadInput, match=rf"a\.log: cannot be read: {what}; unpack it, or give another file"):
        gather([str(tmp_path / "a.log")])
    assert [one.why for one in gather([str(tmp_path)]).skipped] == [what]


def test_pipes_and_sockets_in_a_directory_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        found = gather(["."])

        assert [(one.name, one.why) for one in found.skipped] == [
            ("pipe", "a pipe, socket or device"),
            ("socket", "a pipe, socket or device"),
        ]
        with pytest.raises(BadInput, match="socket: cannot be read: it is a socket"):
            sources(["socket"])


def test_named_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (source,) = sources([str(pipe)])
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(b"x" * 200_000),))
    writer.start()

    assert content(source) == b"x" * 200_000
    assert source.size is None
    writer.join()


def test_standard_input_is_one_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"text\n"))))
    (source,) = sources(["-", "-"])

    assert (source.name, content(source), source.size) == ("standard input", b"text\n", None)


@pytest.mark.parametrize("name", ["missing.log", "日志 缺.log", "a\0b", "x" * 300, ""])
def test_path_that_leads_nowhere_is_one_clear_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput) as caught:
        sources([str(tmp_path / name) if name else ""])

    assert "; " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_file_without_permission_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = write(tmp_path, "a.log")

    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(BadInput, match=r"a\.log: cannot be read: Permission denied; ask for the right"):
        sources([path])


def test_part_that_vanished_is_bad_input_and_one_that_was_renamed_is_found(tmp_path: Path) -> None:
    paths = write(tmp_path, "a.log", "b.log")
    kept, gone = sources(paths)
    (tmp_path / "a.log").rename(tmp_path / "a.log.1")
    (tmp_path / "a.log").write_bytes(b"new\n")
    (tmp_path / "b.log").unlink()

    assert content(kept) == b"a.log\n"
    with pytest.raises(BadInput, match=r"b\.log: cannot be read: No such file"):
        content(gone)


MEMBERS = {
    "logs/app.log": b"new\n",
    "logs/app.log.1": b"old\n" * 100_000,
    "logs/app.log.2.gz": gzip.compress(b"older\n"),
    "日志/设备 1.log": "中文\n".encode() * 9,
    "../../etc/evil.log": b"evil\n",
    "/abs/olute.log": b"absolute\n",
    "net.onnx": b"model",
    ".hidden": b"hidden",
    "inner.zip": b"PK",
}


def pack(path: Path, names: dict[str, bytes]) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in names.items():
                archive.writestr(name, data)
        return path
    how = {".tar": "w", ".bz2": "w:bz2", ".tbz2": "w:bz2", ".xz": "w:xz", ".txz": "w:xz"}.get(path.suffix, "w:gz")
    with tarfile.open(path, how) as tar:  # type: ignore[call-overload]
        for name, data in names.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("link.log")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    return path


@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".zip"])
@pytest.mark.parametrize("how", ["name", "directory"])
def test_archive_is_read_as_a_directory(tmp_path: Path, ending: str, how: str) -> None:
    (tmp_path / "现场").mkdir()
    path = pack(tmp_path / "现场" / f"包 1{ending}", MEMBERS)
    found = gather([str(path if how == "name" else path.parent), str(path)])
    names = {source.name.removeprefix(f"{path}/"): content(source) for source in found.sources}

    assert names == {
        "logs/app.log": b"older\n" + b"old\n" * 100_000 + b"new\n",
        "日志/设备 1.log": "中文\n".encode() * 9,
        "../../etc/evil.log": b"evil\n",
        "/abs/olute.log": b"absolute\n",
    }
    skipped = {one.name.removeprefix(f"{path}/"): one.why for one in found.skipped}
    skipped.pop("link.log", None)
    assert skipped == {
        "net.onnx": "a model",
        ".hidden": "hidden",
        "inner.zip": "an archive within an archive; unpack that and give its directory",
    }
    assert [path.name for path in (tmp_path / "现场").iterdir()] == [path.name]


def test_members_can_be_read_in_any_order_and_side_by_side(tmp_path: Path) -> None:
    names = {f"{i}.txt": os.urandom(200_000).hex().encode() for i in range(8)}
    found = sources([str(pack(tmp_path / "a.tar.gz", names)), str(pack(tmp_path / "b.zip", names))])

    for source in reversed(found):
        assert content(source) == names[Path(source.name).name]
    both = [source.portions() for source in (*found[:3], *found[-3:])]
    got = [b""] * len(both)
    for turn in range(1000):
        got[turn % len(both)] += next(both[turn % len(both)], b"")
    assert got == [*list(names.values())[:3], *list(names.values())[-3:]]


def test_names_in_chinese_encodings_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("XXXX.log")
        archive.writestr(info, b"1\n")
    path.write_bytes(path.read_bytes().replace(b"XXXX", "日志".encode("gbk")))

    assert [source.name for source in sources([str(path)])] == [f"{path}/日志.log"]


@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".zip"])
def test_damaged_archive_gives_what_is_left_or_a_clear_error(tmp_path: Path, ending: str) -> None:
    names = {f"{i}.txt": os.urandom(5_000).hex().encode() for i in range(5)}
    whole = pack(tmp_path / f"whole{ending}", names).read_bytes()
    path = tmp_path / f"a{ending}"
    for size in range(0, len(whole), len(whole) // 40):
        path.write_bytes(whole[:size])
        try:
            found = sources([str(path)])
        except BadInput as error:
            assert "archive" in str(error)
            assert [one.why.startswith("it is no") for one in gather([str(tmp_path)]).skipped if "/a." in one.name] == [
                True
            ]
            continue
        for source in found:
            assert names[Path(source.name).name].startswith(content(source))
    for place in range(0, len(whole), len(whole) // 60):
        path.write_bytes(whole[:place] + b"\xff\xff\xff\xff" + whole[place + 4 :])
        try:
            for source in sources([str(path)]):
                content(source)
        except BadInput:
            continue


@pytest.mark.parametrize("module", [gzip, bz2, lzma])
def test_damage_of_a_packed_log_is_told(tmp_path: Path, module: Any) -> None:
    whole = b"".join(b"line %d\n" % i for i in range(200_000))
    packed = module.compress(whole)
    path = tmp_path / "a.log.gz"
    path.write_bytes(packed[: len(packed) // 2] + b"\xff" * 64 + packed[len(packed) // 2 + 64 :])

    (source,) = sources([str(path)])
    read = content(source)

    assert source.damaged == [str(path)]
    # What is nonsense is noticed a little late.
    assert read.startswith(whole[: len(whole) // 4])
    path.write_bytes(packed[:-20])
    assert whole.startswith(content(source))
    assert source.damaged == []
    path.write_bytes(packed[:16] + b"\xff" * 64)
    with pytest.raises(BadInput, match="nothing of it can be unpacked"):
        refuse_damaged([source], len(content(source)))


def test_a_directory_without_logs_is_told_with_the_reasons(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"{tmp_path}: no log in it$"):
        gather_some([str(tmp_path)])
    (tmp_path / ".hidden").write_bytes(b"[NDRV]x\n")
    with pytest.raises(BadInput, match=r"no log in it \(.*hidden\)"):
        gather_some([str(tmp_path)])


def test_hostile_headers_end_the_archive(tmp_path: Path) -> None:
    info = tarfile.TarInfo("a.log")
    info.size = 4
    good = info.tobuf() + b"abc\n" + bytes(508)
    back = tarfile.TarInfo("back")
    back.size = -1536
    long = tarfile.TarInfo("long")
    long.type, long.size = tarfile.XHDTYPE, 1 << 40
    nested = tarfile.TarInfo("nested")
    nested.type, nested.size = tarfile.XHDTYPE, 12
    deep = (nested.tobuf() + b"12 path=abc\n" + bytes(500)) * 5000
    path = tmp_path / "a.tar"
    for bad in (back.tobuf(tarfile.GNU_FORMAT), long.tobuf(tarfile.GNU_FORMAT), deep):
        path.write_bytes(good + bad + good)
        assert content(sources([str(path)])[0]) == b"abc\n"


@pytest.mark.parametrize("name", ["a.log", "a.log.gz", "x.tar", "x.tar.gz", "x.zip"])
def test_progress_ends_at_the_size(tmp_path: Path, name: str) -> None:
    data = os.urandom(2_000_000).hex().encode()
    path = tmp_path / name
    if name.startswith("a"):
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        (tmp_path / "a.log.1").write_bytes(data)
    else:
        pack(path, {"a.log": data, "a.log.1": data})
    (source,) = sources([str(tmp_path / name)] + ([str(tmp_path / "a.log.1")] if name.startswith("a") else []))
    seen: list[int] = []
    assert b"".join(source.portions(seen.append)) == data * 2

    assert seen == sorted(seen)
    assert len(set(seen)) > 3
    assert source.size == seen[-1]
    if name == "a.log.gz":
        assert source.size == path.stat().st_size + len(data)


ENDS = st.sampled_from(["\n", "\r\n", "\r", ""])
FILE = st.lists(st.tuples(st.sampled_from(["", "a", "错误", "x" * 70_000]), ENDS), max_size=6)


@settings(max_examples=40)
@given(st.lists(FILE, min_size=2, max_size=4), st.sampled_from(["utf-8", "gbk"]))
def test_every_line_is_found_in_its_own_file(
    tmp_path_factory: pytest.TempPathFactory, files: list, encoding: str
) -> None:
    folder = tmp_path_factory.mktemp("set")
    data = {}
    for number, rows in enumerate(files):
        name = f"a.log.{number + 1}"
        # A file that begins where a line of the one before goes on, or ends, is counted from its own first line.
        data[str(folder / name)] = ("start\n" + "".join(text + end for text, end in rows) + "last\n").encode(encoding)
        (folder / name).write_bytes(data[str(folder / name)])
    (source,) = sources([str(folder)])
    decoder = Decoder()
    seen = 0
    portions = source.portions()
    blocks = [block for portion in portions for block in decoder.feed(portion)] + decoder.finish()
    for block in blocks:
        for line in block.lines():
            place = source.place(line.start, line.number)
            own = data[place.part]
            assert own[place.offset :].startswith(line.raw)
            before = list(starts_of_lines(own))
            assert (place.offset, place.line) in before
            seen += 1
    assert seen == sum(len(list(starts_of_lines(own))) for own in data.values())
    assert len(source.starts) == len(files)


def starts_of_lines(data: bytes) -> list[tuple[int, int]]:
    decoder = Decoder()
    return [(line.start, line.number) for block in decoder.feed(data) + decoder.finish() for line in block.lines()]


def test_line_that_goes_on_in_the_next_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.log.1").write_bytes(b"1\n2 begins")
    (tmp_path / "a.log").write_bytes(b" and ends\nnext\n")
    (source,) = sources([str(tmp_path)])
    decoder = Decoder()
    lines = [line for portion in source.portions() for block in decoder.feed(portion) for line in block.lines()]
    lines += [line for block in decoder.finish() for line in block.lines()]

    assert [line.text for line in lines] == ["1", "2 begins and ends", "next"]
    places = [source.place(line.start, line.number) for line in lines]
    assert [(Path(place.part).name, place.offset, place.line) for place in places] == [
        ("a.log.1", 0, 1),
        ("a.log.1", 2, 2),
        ("a.log", 10, 2),
    ]
    assert [source.place(start.offset).offset for start in source.starts] == [0, 0]


@given(st.text(st.sampled_from("a.-_0129logz"), min_size=1, max_size=250))
def test_any_name_has_a_place(name: str) -> None:
    turn = rotation(name)

    assert turn.base
    assert turn.order
