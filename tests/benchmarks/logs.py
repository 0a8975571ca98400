"""Measure log diagnosis beside GNU grep, ripgrep and plain reading: ratios of one interleaved run, one thread each.

Run: python tests/benchmarks/logs.py [--megabytes 200] [--huge] [--only TEXT] [--repeats 3] [--json]

    mixed ... quiet  speed and memory on long logs: 2 % of the lines match, all, none
    one line         100 MB without a line end
    stream           1 GB (with --huge 10 GB) in one log, for its memory
    coloured ...     encodings, line ends and containers of 20 MB each
    seams            lines at every border that the scanner knows, only to count them
    follow           from writing the deciding line to reading the answer of a running process
    redact           text without what is private in it

All rules of the corpus are loaded. Each measurement is a child process whose processor time and memory the system
tells; the product's time counts from the first byte read to the diagnosis, and in the column "with start" from the start
of Python. The peers look for the same texts, as bytes, in the same file; they only count lines, and all counts must be
equal. The figure is the median of the processor times. If hyperscan is installed (the extra `fast`), the rows "... fast" are
measured with it, all others without; "engine" is the engine alone over the same bytes, which is what is left to gain.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assistant.logs.keywords import Keywords

ROOT = Path(__file__).resolve().parent.parent.parent
Row = dict[str, Any]

#: Bytes that are written anew; longer logs repeat them.
UNIQUE = 16 << 20
OTHERS_MB = 20
LINE_MB = 100
#: Lines that match in a mixed log, and so many texts are in them: a log repeats few of them, some much more often.
SHARE = 0.02
TEXTS = 24
TRIALS = 50

RSS_BAR_MB = 100
MIXED_BAR_MB_S = 200
STORM_BAR_MB_S = 100
RIPGREP_BAR = 0.5
FOLLOW_BAR_MS = 200

VOCABULARY = """
    alloc attach batch begin bind block board buffer bytes cache channel chunk clock commit complete config copy
    core cycle data decode device dispatch done draw driver engine enter event fetch fill flush frame free graph
    handle heap host index infer init input kernel latency layer length level load loop map mbuf memory merge
    model notify offset op output pack page parse poll pool port queue rank read ready record register release
    reset resize result resume rows run sample schedule send set shape size slice start state step stop stream
    submit switch sync task tensor thread tick token trace transfer tune unload update use vector wait weight
    width window work write 模型 加载 推理 完成 输入 输出 内存 任务 开始
"""
#: Heads of several grammars; their fields are numbers of the line.
HEADS = (
    "[NDRV][npu_task_submit:{a}]",
    "[NOS][I][{a}.{b:03}][tid {c}]",
    "[INFO] RUNTIME({c},python3):2026-03-{d:02}-{e:02}:{f:02}:{f:02}.{b:03}.{b:03} [stream.cc:{a}]{c} [Submit]",
    "[INFO] GE({c},python3):2026-03-{d:02}-{e:02}:{f:02}:{f:02}.{b:03}.{b:03} [graph_manager.cc:{a}]{c} Run:",
    "2026-03-{d:02} {e:02}:{f:02}:{f:02},{b:03} - worker.py:{a} - INFO -",
    "[INFO] ME({c}:{b},MainProcess):2026-03-{d:02}-{e:02}:{f:02}:{f:02}.{b:03}.{b:03} [mindspore/train/model.py:{a}]",
    "I03{d:02} {e:02}:{f:02}:{f:02}.{b:06}  {c} engine.cpp:{a}]",
    "Mar {d:2} {e:02}:{f:02}:{f:02} board kernel: [{a:5}.{b:06}]",
    "I RKNN: [{e:02}:{f:02}:{f:02}.{b:03}]",
    "{e:02}:{f:02}:{f:02}.{b:03}>",
)
STORM_HEADS = (
    "[ERROR] RUNTIME({c},python3):2026-03-{d:02}-{e:02}:{f:02}:{f:02}.{b:03}.{b:03} [stream.cc:{a}]{c} [Submit]",
    "2026-03-{d:02} {e:02}:{f:02}:{f:02},{b:03} - worker.py:{a} - ERROR -",
    "E03{d:02} {e:02}:{f:02}:{f:02}.{b:06}  {c} engine.cpp:{a}] error code {a},",
    "[NDRV][npu_task_submit:{a}] submit fail, ret={b}",
    "E RKNN: [{e:02}:{f:02}:{f:02}.{b:03}] failed to",
)
#: One case of the Nano runtime: what comes before, and the line that decides.
CASE = (
    "[AI_NPU] round {} begin\n",
    "[NDRV]rtsq_request fail, round {}\n",
)


# --- logs ---


def keywords() -> "Keywords":
    """Return what the product looks for with all rules."""
    sys.path.insert(0, str(ROOT))
    from assistant.logs.diagnose import Diagnoser

    return Diagnoser()._wanted.keywords


def lines(heads: tuple[str, ...], share: float, wanted: "Keywords", seed: int) -> Iterator[str]:
    """Return endless log lines of 40 to 300 characters; a `share` of them, all or none, has one of the texts."""
    rng, vocabulary = random.Random(seed), VOCABULARY.split()
    texts = rng.sample(sorted({text.decode() for text in wanted.anchors if _is_utf8(text)}), TEXTS)
    often = list(itertools.accumulate(1 / (rank + 1) for rank in range(TEXTS)))
    while True:
        n = rng.getrandbits(30)
        head = rng.choice(heads).format(
            a=n % 9973, b=n % 997, c=1000 + n % 31, d=1 + n % 28, e=n % 24, f=n % 60
        )  # fmt: skip
        middle = f" {rng.choices(texts, cum_weights=often)[0]}" if share and rng.random() < share else ""
        size = rng.randint(40, 300) - len(head) - len(middle)
        words: list[str] = []
        while size > 0:
            words.append(rng.choice(vocabulary) if rng.random() < 0.8 else str(n % (10 << len(words))))
            size -= len(words[-1]) + 1
        line = f"{head} {' '.join(words[::2])}{middle} {' '.join(words[1::2])}"
        if bool(wanted.find(line.encode())) == bool(middle):
            yield line


def _is_utf8(text: bytes) -> bool:
    try:
        return bool(text.decode())
    except UnicodeDecodeError:
        return False


def log(rows: Iterator[str], size: int) -> str:
    """Return lines of about `size` bytes in UTF-8 together."""
    taken, left = [], size
    for row in rows:
        taken.append(row)
        left -= len(row.encode()) + 1
        if left <= 0:
            return "\n".join(taken) + "\n"
    raise AssertionError("the lines are endless")


def seams(wanted: "Keywords") -> bytes:
    """Return a log with a text at every border of a portion, a piece, a MiB and a terminal."""
    rng = random.Random(5)
    texts = [text for text in wanted.anchors if _is_utf8(text)]
    plain = iter(lines(HEADS, 0.0, wanted, 6))
    parts = [b"".join(_wrapped(row.encode(), 120) for row in itertools.islice(lines(HEADS, 0.1, wanted, 7), 3000))]
    for border in (1 << 16, 2 << 16, 1 << 20, 3 << 20):
        for shift in (-40, -3, 0, 1, 40):
            filler = b" ".join(next(plain).encode() for _ in range(border // 100))[: border + shift]
            parts += [filler, rng.choice(texts), b" end\n", next(plain).encode(), b"\n"]
            parts += [filler, b"\r\n\n\n", b" \t" + rng.choice(texts), b"\r\n"]
    return b"".join([*parts, rng.choice(texts)])


def _wrapped(line: bytes, width: int) -> bytes:
    return b"".join(line[i : i + width] + b"\n" for i in range(0, len(line), width))


def make(folder: Path, megabytes: int) -> None:
    """Write the texts and the logs."""
    wanted = keywords()
    (folder / "texts").write_bytes(b"\n".join(dict.fromkeys(wanted.anchors)) + b"\n")
    (folder / "texts.utf8").write_bytes(b"\n".join(t for t in dict.fromkeys(wanted.anchors) if _is_utf8(t)) + b"\n")
    unique = min(UNIQUE, megabytes * 10**6)
    for name, heads, share in (("mixed", HEADS, SHARE), ("storm", STORM_HEADS, 1.0), ("quiet", HEADS, 0.0)):
        data = log(lines(heads, share, wanted, 1), unique).encode()
        _write(folder / name, data, megabytes * 10**6)
    size = min(OTHERS_MB, megabytes) * 10**6
    text = log(lines(HEADS, SHARE, wanted, 2), size)
    _write(folder / "one line", text.replace("\n", " ").encode(), min(LINE_MB, megabytes) * 10**6)
    rows = text.splitlines()
    (folder / "coloured").write_text("".join(f"\x1b[32m{row[:30]}\x1b[0m{row[30:]}\n" for row in _cut(rows)))
    (folder / "utf-16").write_bytes(b"\xff\xfe" + text.encode("utf-16-le"))
    (folder / "utf-16.utf8").write_text(text)
    (folder / "gbk").write_text(text, encoding="gb18030")
    (folder / "crlf").write_bytes(text.replace("\n", "\r\n").encode())
    stamp = '"stream":"stdout","time":"2026-03-01T01:02:03.000000004Z"'
    docker = [json.dumps({"log": f"{row}\n"}, ensure_ascii=False)[:-1] + f",{stamp}}}\n" for row in rows]
    (folder / "containers").write_text("".join(docker))
    (folder / "seams").write_bytes(seams(wanted))


def _cut(rows: list[str]) -> list[str]:
    """Return the lines in which no text lies where the colour ends."""
    wanted = keywords()
    return [
        r for r in rows if bool(wanted.find(r.encode())) == any(map(wanted.find, (r[:30].encode(), r[30:].encode())))
    ]


def _write(path: Path, data: bytes, size: int) -> None:
    with path.open("wb") as file:
        for _ in range(max(1, round(size / len(data)))):
            file.write(data)


# --- measurements in child processes ---


def search(path: Path) -> Row:
    """Return what the engine alone takes to find all texts."""
    find = keywords().find
    find(b"")
    cpu, wall = time.process_time(), time.perf_counter()
    with path.open("rb") as file:
        count = sum(len(find(portion)) for portion in iter(lambda: file.read(1 << 17), b""))
    return {"cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall, "count": count}


def diagnose(path: Path, times: int) -> Row:
    """Return what the product takes for a log that is the file, `times` over."""
    sys.path.insert(0, str(ROOT))
    from assistant.logs.diagnose import Diagnoser
    from assistant.logs.unpack import chunks

    diagnoser = Diagnoser()
    diagnoser._wanted.keywords.find(b"")
    cpu, wall = time.process_time(), time.perf_counter()
    number = diagnoser.add()
    for _ in range(times):
        for portion in chunks(path):
            diagnoser.feed(number, portion)
    diagnoser.end(number)
    scanned = time.process_time() - cpu
    found = diagnoser.diagnosis()
    return {
        "cpu_s": time.process_time() - cpu,
        "wall_s": time.perf_counter() - wall,
        "diagnosis_s": time.process_time() - cpu - scanned,
        "count": found.matched_lines,
        "verdict": found.verdict,
    }


def read(path: Path) -> Row:
    """Return what reading alone takes, with counting the lines."""
    cpu, wall = time.process_time(), time.perf_counter()
    with path.open("rb") as file:
        count = sum(portion.count(b"\n") for portion in iter(lambda: file.read(1 << 20), b""))
    return {"cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall, "count": count}


def redact(path: Path) -> Row:
    """Return what taking private items out of the first 2 MB takes, line by line."""
    sys.path.insert(0, str(ROOT))
    from assistant.logs.redaction.redact import Redactor

    text = path.read_text()[: 2 * 10**6]
    rows = [f"{row} from 192.0.2.{i % 250}" if i % 20 == 0 else row for i, row in enumerate(text.splitlines())]
    redactor = Redactor()
    cpu, wall = time.process_time(), time.perf_counter()
    for row in rows:
        redactor.text(row)
    taken = {"cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall}
    return {**taken, "bytes": sum(len(row.encode()) + 1 for row in rows), "count": len(redactor.mapping)}


def run(command: list[str]) -> Row:
    """Return what a command prints last, and its processor time, wall time and peak memory."""
    wall = time.perf_counter()
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    printed = process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{command[0]} failed with {process.returncode}")
    return {
        "whole_cpu_s": usage.ru_utime + usage.ru_stime,
        "whole_wall_s": time.perf_counter() - wall,
        "rss_mb": usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10),
        "printed": printed.decode().strip() or "0",
    }


def child(what: str, path: Path, times: int = 1, *, is_fast: bool = False) -> Row:
    """Return a measurement of this file's in a process of its own, with hyperscan or without."""
    fast = ["--fast"] if is_fast else []
    row = run([sys.executable, __file__, "--child", what, "--path", str(path), "--times", str(times), *fast])
    return {**row, **json.loads(row.pop("printed"))}


def peer(command: list[str]) -> Row:
    """Return the measurement of a command that prints a count."""
    row = run(command)
    return {**row, "cpu_s": row["whole_cpu_s"], "wall_s": row["whole_wall_s"], "count": int(row.pop("printed"))}


def median(rows: list[Row]) -> Row:
    """Return the medians of the times, the largest memory, and what all rows have in common."""
    times = [name for name in rows[0] if name.endswith("_s")]
    return {
        **rows[0],
        **{name: statistics.median(row[name] for row in rows) for name in times},
        "rss_mb": max(row["rss_mb"] for row in rows),
    }


# --- the table ---


def log_row(folder: Path, name: str, repeats: int, with_ripgrep: bool, is_fast: bool) -> Row:
    """Return the figures of one log: the product's, grep's, ripgrep's, the engine's and those of reading."""
    path = folder / name.removesuffix(FAST)
    same = folder / f"{name}.utf8"
    plain = same if same.exists() else path
    ways: dict[str, Callable[[], Row]] = {
        "ours": lambda: child("diagnose", path, is_fast=is_fast),
        "grep": lambda: peer(["grep", "-a", "-F", "-c", "-f", str(folder / "texts"), str(plain)]),
        "read": lambda: child("read", path),
        "engine": lambda: child("search", path, is_fast=is_fast),
    }
    if with_ripgrep:
        # ripgrep takes patterns in UTF-8 only, and decodes the file instead.
        encoding = ["-E", "gbk"] if name == "gbk" else []
        ripgrep = ["rg", "-j1", "-a", "-F", "-c", *encoding, "-f", str(folder / "texts.utf8"), str(path)]
        ways["rg"] = lambda: peer(ripgrep)
    taken: dict[str, list[Row]] = {way: [] for way in ways}
    for _ in range(repeats):
        for way, measure in ways.items():
            taken[way].append(measure())
    found = {way: median(rows) for way, rows in taken.items()}
    for way in ("grep", "rg"):
        assert way not in found or found[way]["count"] == found["ours"]["count"], (
            f"{name}: we count {found['ours']['count']} lines, {way} {found[way]['count']}"
        )
    megabytes = path.stat().st_size / 1e6
    ours = found["ours"]
    row: Row = {"name": name, "mb": megabytes, "count": ours["count"], "rss_mb": ours["rss_mb"]}
    row |= {"mb_s": megabytes / ours["cpu_s"], "wall_mb_s": megabytes / ours["wall_s"]}
    row |= {"whole_mb_s": megabytes / ours["whole_cpu_s"], "diagnosis_ms": ours["diagnosis_s"] * 1e3}
    for way in found.keys() - {"ours"}:
        row[f"{way}_mb_s"] = megabytes / found[way]["cpu_s"]
        row[f"{way}_rss_mb"] = found[way]["rss_mb"]
        # Of three neighbours in time each, so that a change of the machine's pace cancels out.
        pairs = zip(taken["ours"], taken[way], strict=True)
        row[f"x_{way}"] = statistics.median(theirs["cpu_s"] / mine["cpu_s"] for mine, theirs in pairs)
    return row


def follow_row(folder: Path) -> Row:
    """Return the latencies of answers: each task of a growing log meets the same cause."""
    path = folder / "followed"
    path.write_text("")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ASKNPU_HOME": str(folder), "PYTHONUTF8": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "assistant", "diagnose", "--follow", "--json", str(path)],
        stdout=subprocess.PIPE, env=environment,
    )  # fmt: skip
    assert process.stdout is not None
    rng = random.Random(3)
    taken: list[float] = []
    try:
        with path.open("a", buffering=1) as file:
            # The first answer only says that the process is ready.
            for trial in range(TRIALS + 1):
                before, deciding = (f"infer-{trial}  | {line.format(100 + trial)}" for line in CASE)
                file.write(before)
                time.sleep(rng.uniform(0.1, 0.3))
                started = time.perf_counter()
                file.write(deciding)
                answer = json.loads(process.stdout.readline())
                taken.append((time.perf_counter() - started) * 1e3)
                assert answer["findings"], answer
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
    return {"name": "follow", "trials": TRIALS, "median_ms": statistics.median(taken[1:]), "worst_ms": max(taken[1:])}


def bars(rows: list[Row]) -> Iterator[tuple[str, float, str, float]]:
    """Return each figure with a bar: what, its value, how it compares, the bar."""
    for row in rows:
        name = row["name"]
        if "rss_mb" in row:
            yield f"{name}, peak memory, MB", row["rss_mb"], "<=", RSS_BAR_MB
        if name in ("mixed", "mixed fast"):
            yield f"{name}, MB/s", row["mb_s"], ">=", MIXED_BAR_MB_S
        if name in ("storm", "storm fast"):
            yield f"{name}, MB/s", row["mb_s"], ">=", STORM_BAR_MB_S
        if name.removesuffix(FAST) in ("mixed", "storm", "quiet") and "x_rg" in row:
            yield f"{name}, speed over ripgrep's", row["x_rg"], ">=", RIPGREP_BAR
        if name == "follow":
            yield "follow, worst latency, ms", row["worst_ms"], "<=", FOLLOW_BAR_MS


#: Ends the names of rows that are measured with hyperscan.
FAST = " fast"
NAMES = ("mixed", "storm", "quiet", "one line", "coloured", "utf-16", "gbk", "crlf", "containers", "seams")


def say(row: Row) -> None:
    """Print a row."""
    peers = "".join(
        f"  {way} {row[f'{way}_mb_s']:6.0f} MB/s x {row[f'x_{way}']:5.2f}" for way in ("grep", "rg", "read", "engine") if f"x_{way}" in row
    )  # fmt: skip
    print(
        f"{row['name']:11} {row['mb']:6.0f} MB {row['count']:8} lines match {row['mb_s']:6.0f} MB/s"
        f" (wall {row['wall_mb_s']:4.0f}, with start {row['whole_mb_s']:4.0f}) {row['rss_mb']:4.0f} MB RSS,"
        f" diagnosis {row['diagnosis_ms']:4.0f} ms{peers}",
        flush=True,
    )


def measure(folder: Path, options: argparse.Namespace) -> list[Row]:
    """Measure and print all that is asked for."""
    rows: list[Row] = []
    tell: Callable[[Row], None] = (lambda row: None) if options.json else say
    run([sys.executable, __file__, "--child", "make", "--path", str(folder), "--megabytes", str(options.megabytes)])
    with_ripgrep = shutil.which("rg") is not None
    fast = [f"{name}{FAST}" for name in NAMES[:3]] if find_spec("hyperscan") else []
    for name in (*NAMES, *fast):
        if options.only in name:
            rows.append(log_row(folder, name, options.repeats, with_ripgrep, name in fast))
            tell(rows[-1])
    if options.only in "stream":
        times = max(1, round((10_000 if options.huge else 1000) / options.megabytes))
        found = child("diagnose", folder / "mixed", times)
        megabytes = times * (folder / "mixed").stat().st_size / 1e6
        row = {"name": "stream", "mb": megabytes, "count": found["count"], "rss_mb": found["rss_mb"]}
        row |= {"mb_s": megabytes / found["cpu_s"], "wall_mb_s": megabytes / found["wall_s"]}
        row |= {"whole_mb_s": megabytes / found["whole_cpu_s"], "diagnosis_ms": found["diagnosis_s"] * 1e3}
        rows.append(row)
        tell(row)
    if options.only in "follow":
        rows.append(follow_row(folder))
    if options.only in "redact":
        found = median([child("redact", folder / "mixed") for _ in range(options.repeats)])
        rows.append({"name": "redact", "mb_s": found["bytes"] / 1e6 / found["cpu_s"], "hidden": found["count"]})
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--megabytes", type=int, default=200, help="of each long log")
    parser.add_argument("--huge", action="store_true", help="stream 10 GB, not 1")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the rows with this in their name")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--fast", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--times", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child and not options.fast:
        # As if it were not installed.
        sys.modules["hyperscan"] = None  # type: ignore[assignment]
    if options.child == "make":
        make(options.path, options.megabytes)
    elif options.child:
        ways = {
            "diagnose": lambda path: diagnose(path, options.times),
            "read": read,
            "search": search,
            "redact": redact,
        }
        print(json.dumps(ways[options.child](options.path)))
    else:
        with tempfile.TemporaryDirectory() as folder:
            rows = measure(Path(folder), options)
        met = [(what, value, sign, bar) for what, value, sign, bar in bars(rows)]
        if options.json:
            print(json.dumps({"rows": rows, "bars": met}))
            return
        for row in rows:
            if row["name"] == "follow":
                print(
                    f"follow      {row['trials']} answers, median {row['median_ms']:.0f} ms, worst {row['worst_ms']:.0f} ms"
                )
            if row["name"] == "redact":
                print(f"redact      {row['mb_s']:.2f} MB/s, {row['hidden']} items")
        for what, value, sign, bar in met:
            is_met = value >= bar if sign == ">=" else value <= bar
            print(f"  => {what}: {value:.2f}; bar {sign} {bar:g}: {'met' if is_met else 'NOT met'}")


if __name__ == "__main__":
    main()
