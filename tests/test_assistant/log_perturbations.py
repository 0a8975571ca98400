"""What happens to a log on its way to a reader, as pure functions: none changes what the log says.

`PERTURBATIONS[name](log, rng)` takes a log of LF lines and returns it as text, or as bytes where the encoding is the
point. The same log and the same state of `rng` give the same result.
"""

import gzip as gzip_module
import json
import random
import re
from collections.abc import Callable, Iterator

__all__ = ["BYTES", "PERTURBATIONS", "REWRITES", "Perturbation"]

Perturbation = Callable[[str, random.Random], str | bytes]

_LEVEL = r"TRACE|DEBUG|INFO|EVENT|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|EXCEPTION"
_SOURCE = r"[\w./+-]{1,160}\.(?:cc|cpp|c|hpp|h|pyx|py|ts)"
# Launchers' prefixes, kept in front of what is put before a line.
_LAUNCHER = re.compile(r"(?:\[(?:rank|default)\d+\]: ?|\([\w.:-]+ pid=\d+\) ?)*")
_BEGINS = re.compile(
    rf"\[(?:NDRV|NFS|NOS|AI_NPU|{_LEVEL})\]|Interface of |[EIWD] ?(?:/|RKNN|rkllm)|(?:{_LEVEL}) \d\d-\d\d "
    r"|[A-Z][A-Z0-9]\d{4}: |\[[\w.-]+\.c:\d+\]|\[PID: |[IWEF]\d{4} "
)
# File and line (and thread) in the head of a record: [model.c:83]8, [api_c.cc:721]4300, [hccl_socket.cc:100] [6057].
_PLACE = re.compile(rf"(?<=\[)(?P<file>{_SOURCE}):(?P<line>\d{{1,6}})\](?P<gap> ?\[?)(?P<tid>\d{{1,10}})?")
_POSITION = re.compile(r'(?P<before>\[LINE:|\.(?:cc|cpp|ts|py|c):|", line )(?P<line>\d{1,6})')
_MODEL = re.compile(r"(?P<stem>[\w-]+(?:\.[\w-]+)*)\.(?P<kind>exeom|om|onnx|rknn|mindir)(?![\w:.])")
_TAG = re.compile(r"\[(?:NDRV|NFS|NOS)\] ?")
_HEAD = re.compile(r"\[ERROR\](?:\[[\w./-]+:\d+\](?:\d+[: ]?)?)?")
_CUT = re.compile(r"\[(?:NDRV|NFS|NOS|ERROR)\]")
_WORD = re.compile(r"[A-Za-z]{5,}")


def other_lines_and_threads(log: str, rng: random.Random) -> str:
    """Give the heads other line numbers and thread ids, the same ones for the same place and thread."""
    lines: dict[tuple[str, str], int] = {}
    threads: dict[str, int] = {}

    def moved(found: re.Match[str]) -> str:
        line = lines.setdefault((found["file"], found["line"]), rng.randrange(10, 4000))
        tid = found["tid"]
        thread = (
            "" if tid is None else str(threads.setdefault(tid, rng.randrange(10 ** (len(tid) - 1), 10 ** len(tid))))
        )
        return f"{found['file']}:{line}]{found['gap']}{thread}"

    return _each(log, lambda line: _PLACE.sub(moved, line, count=1))


def other_source_positions(log: str, rng: random.Random) -> str:
    """Give the positions inside messages and tracebacks other line numbers."""
    lines: dict[str, int] = {}
    return _POSITION.sub(lambda m: m["before"] + str(lines.setdefault(m[0], rng.randrange(10, 4000))), log)


def other_model_names(log: str, rng: random.Random) -> str:
    """Rename model files, to names as long as the old ones."""
    names: dict[str, str] = {}
    letters = "abcdefghijklmnopqrstuvwxyz"
    return _MODEL.sub(
        lambda m: names.setdefault(m["stem"], "".join(rng.choices(letters, k=len(m["stem"])))) + "." + m["kind"], log
    )


def more_noise(log: str, rng: random.Random) -> str:
    """Put harmless lines between the records, one to three at a place, in the style of the log."""
    rows = log.split("\n")
    out = list(_noise(rows, rng, "", rng.randrange(1, 4)))
    for row, following in zip(rows, [*rows[1:], ""], strict=True):
        out.append(row)
        if rng.random() < 0.5 and _is_gap(row, following):
            prefix = _LAUNCHER.match(following)
            out += _noise(rows, rng, prefix[0] if prefix else "", rng.randrange(1, 4))
    return "\n".join(out)


def lost_tags(log: str, rng: random.Random) -> str:
    """Lose the tags `[NDRV]`, `[NFS]`, `[NOS]` of about half of their lines."""
    return _lose(log, rng, _TAG)


def lost_levels(log: str, rng: random.Random) -> str:
    """Lose `[ERROR]` at the beginning of about half of the lines that have it."""
    return _lose(log, rng, re.compile(r"\[ERROR\] ?"))


def lost_heads(log: str, rng: random.Random) -> str:
    """Lose `[ERROR]`, or `[ERROR][file:line]tid:`, at the beginning of about half of the lines that have it."""
    return _lose(log, rng, _HEAD)


def lost_characters(log: str, rng: random.Random) -> str:
    """Lose the first characters of tag or level of about half of the lines."""

    def cut(line: str) -> str:
        found = _CUT.match(line)
        return line[rng.randrange(1, len(found[0]) - 1) :] if found and rng.random() < 0.5 else line

    return _each(log, cut)


def serial_stamps(log: str, rng: random.Random) -> str:
    """Put a serial tool's time before each line, in one of its styles."""
    style = rng.choice(["[2026-04-02 {}] ", "[{}] ", "[{}]收←◆", "{}> "])
    clock = _clock(rng)
    return _each(log, lambda line: style.format(next(clock)) + line)


def kubernetes(log: str, rng: random.Random) -> str:
    """Put before each line what a container runtime of Kubernetes does."""
    clock = _clock(rng)
    stream = rng.choice(["stdout", "stderr"])
    return _each(log, lambda line: f"2026-04-02T{next(clock)}000118Z {stream} F {line}")


def kubectl(log: str, rng: random.Random) -> str:
    """Put `[pod/name/container] ` before each line."""
    pod = f"[pod/infer-{rng.randrange(10)}/main] "
    return _each(log, lambda line: pod + line)


def docker_json(log: str, rng: random.Random) -> str:
    """Write each line as the JSON object in which Docker keeps it."""
    clock = _clock(rng)

    def wrapped(line: str) -> str:
        time = f"2026-04-02T{next(clock)}000118Z"
        return json.dumps({"log": line + "\n", "stream": "stdout", "time": time}, ensure_ascii=False)

    return _each(log, wrapped)


def compose(log: str, rng: random.Random) -> str:
    """Put `service-1  | ` before each line."""
    service = rng.choice(["infer-1  | ", "board-1 | ", "model-server-1    | "])
    return _each(log, lambda line: service + line)


def syslog(log: str, rng: random.Random) -> str:
    """Put date, host and process before each line."""
    clock = _clock(rng)
    process = f"board infer[{rng.randrange(100, 9999)}]: "
    return _each(log, lambda line: f"Apr 02 {next(clock)[:8]} {process}{line}")


def rank_prefix(log: str, rng: random.Random) -> str:
    """Put `[rankN]: ` before each line."""
    rank = f"[rank{rng.randrange(16)}]: "
    return _each(log, lambda line: rank + line)


def coloured_lines(log: str, rng: random.Random) -> str:
    """Colour whole lines."""
    return _each(log, lambda line: f"\x1b[{rng.choice(['31', '1;31', '33', '0;36'])}m{line}\x1b[0m")


def coloured_words(log: str, rng: random.Random) -> str:
    """Switch a colour on and off inside words, as a search tool that marks its hits does."""

    def marked(found: re.Match[str]) -> str:
        if rng.random() < 0.6:
            return found[0]
        cut = rng.randrange(1, len(found[0]))
        return f"{found[0][:cut]}\x1b[01;31m\x1b[K{found[0][cut:]}\x1b[m\x1b[K"

    # A colour inside a container's JSON object would be one of the object's own characters.
    return _each(log, lambda line: line if line.startswith("{") else _WORD.sub(marked, line))


def crlf(log: str, rng: random.Random) -> str:
    """End the lines with CR LF."""
    return log.replace("\n", "\r\n")


def cr(log: str, rng: random.Random) -> str:
    """End the lines with CR alone."""
    return log.replace("\n", "\r")


def wrapped_80(log: str, rng: random.Random) -> str:
    """Break the first lines of records at 80 columns."""
    return _each(log, lambda line: _wrapped(line, 80))


def wrapped_120(log: str, rng: random.Random) -> str:
    """Break the first lines of records at 120 columns."""
    return _each(log, lambda line: _wrapped(line, 120))


def second_task(log: str, rng: random.Random) -> str:
    """Interleave the log with another container's, in which nothing is wrong."""
    out = []
    rows = log.split("\n")
    for number, row in enumerate(rows):
        out.append(f"infer-1    | {row}")
        if number == 0 or rng.random() < 0.5:
            out += [f"monitor-1  | {line}" for line in _noise(rows, rng, "", rng.randrange(1, 4))]
    return "\n".join(out)


def utf_8(log: str, rng: random.Random) -> bytes:
    """Encode as UTF-8."""
    return log.encode()


def utf_8_bom(log: str, rng: random.Random) -> bytes:
    """Encode as UTF-8 with a byte order mark."""
    return log.encode("utf-8-sig")


def gbk(log: str, rng: random.Random) -> bytes:
    """Encode as GBK, and by GB 18030 what GBK does not have."""
    return log.encode("gb18030")


def utf_16_le(log: str, rng: random.Random) -> bytes:
    """Encode as UTF-16, low byte first, with a byte order mark."""
    return b"\xff\xfe" + log.encode("utf-16-le")


def utf_16_be(log: str, rng: random.Random) -> bytes:
    """Encode as UTF-16, high byte first, with a byte order mark."""
    return b"\xfe\xff" + log.encode("utf-16-be")


def zeros_in_front(log: str, rng: random.Random) -> bytes:
    """Put a block of zero bytes in front, as a file has that was cut to nothing while it was written."""
    return b"\0" * rng.randrange(1, 5000) + log.encode()


def gzip(log: str, rng: random.Random) -> bytes:
    """Pack with gzip, in one member or two."""
    data = log.encode()
    cut = rng.choice([0, len(data) // 2])
    return b"".join(gzip_module.compress(part, mtime=0) for part in (data[:cut], data[cut:]) if part)


PERTURBATIONS: dict[str, Perturbation] = {
    "other_lines_and_threads": other_lines_and_threads,
    "other_source_positions": other_source_positions,
    "other_model_names": other_model_names,
    "more_noise": more_noise,
    "lost_tags": lost_tags,
    "lost_levels": lost_levels,
    "lost_heads": lost_heads,
    "lost_characters": lost_characters,
    "serial_stamps": serial_stamps,
    "kubernetes": kubernetes,
    "kubectl": kubectl,
    "docker_json": docker_json,
    "compose": compose,
    "syslog": syslog,
    "rank_prefix": rank_prefix,
    "coloured_lines": coloured_lines,
    "coloured_words": coloured_words,
    "crlf": crlf,
    "cr": cr,
    "wrapped_80": wrapped_80,
    "wrapped_120": wrapped_120,
    "second_task": second_task,
    "utf_8": utf_8,
    "utf_8_bom": utf_8_bom,
    "gbk": gbk,
    "utf_16_le": utf_16_le,
    "utf_16_be": utf_16_be,
    "zeros_in_front": zeros_in_front,
    "gzip": gzip,
}

#: These change names or positions inside the messages; all others leave every message as it is.
REWRITES = frozenset({"other_lines_and_threads", "other_source_positions", "other_model_names"})
#: These return bytes.
BYTES = frozenset({"utf_8", "utf_8_bom", "gbk", "utf_16_le", "utf_16_be", "zeros_in_front", "gzip"})

# Style -> (what a log of it has, harmless lines of it).
_STYLES: dict[str, tuple[re.Pattern[str], tuple[str, ...]]] = {
    "nano": (
        re.compile(r"\[(?:NDRV|NFS|NOS|AI_NPU)\]|GE_ERRORNO_STR|REPORT_CALL_ERROR|Interface of "),
        (
            "[INFO][context.c:{n}]{t} use current context",
            "[DEBUG][model_desc.c:{n}]{t}:[GE][MODULE] input {n} of the model is read",
            "[AI_NPU] frame {n} queued",
            "[INFO][model.c:{n}]{t}:[ACL][MODULE] dataset buffer {n} added",
        ),
    ),
    "mindspore": (
        re.compile(r"mindspore/ccsrc"),
        (
            "[INFO] DEVICE({t},ffff8ba74480,python):{d} [mindspore/ccsrc/runtime/device/memory.cc:{n}] Use] block {n} in use",
            "[INFO] MD({t},ffff8ba74480,python):{d} [mindspore/ccsrc/minddata/dataset/engine/op.cc:{n}] Run] batch {n}",
        ),
    ),
    "vllm": (
        re.compile(r"(?:INFO|ERROR|WARNING) \d\d-\d\d \d\d:"),
        (
            "INFO 04-02 10:00:00 [loggers.py:{n}] Avg prompt throughput: {n}.0 tokens/s, Running: {n} reqs",
            "INFO 04-02 10:00:00 [launcher.py:{n}] Route: /metrics, Methods: GET",
        ),
    ),
    "plog": (
        re.compile(rf"\[(?:{_LEVEL})\] [A-Z][\w-]+\(\d+,"),
        (
            "[INFO] RUNTIME({t},python):{d} [stream.cc:{n}]{t} GetStream:stream {n} in use",
            "[EVENT] PROFILING({t},python):{d} [prof_acl_mgr.cpp:{n}] >>> (tid:{t}) profiling is off",
            "[INFO] GE({t},python):{d} [graph_manager.cc:{n}]{t} Prepare: node {n} prepared",
        ),
    ),
    "rknn": (
        re.compile(r"RKNN|rkllm|-->"),
        (
            "I RKNN: [10:00:00.{m}] input {n} is NHWC",
            "D RKNN: [10:00:00.{m}] core {n} idle",
            "I rknn-toolkit2 step {n}",
        ),
    ),
    "any": (
        re.compile(""),
        (
            "2026-04-02 10:00:00,{m} - tool.step - INFO - step {n}",
            "INFO:tool:step {n} of 4000",
            "[INFO] step {n} is done",
        ),
    ),
}


def _each(log: str, change: Callable[[str], str]) -> str:
    """Return the log with each line changed; the end of its last line stays an end."""
    end = "\n" if log.endswith("\n") else ""
    return "\n".join(change(line) for line in log[: len(log) - len(end)].split("\n")) + end


def _lose(log: str, rng: random.Random, head: re.Pattern[str]) -> str:
    """Take `head` off about half of the lines that begin with it and have more; off at least one."""
    rows = log.split("\n")
    having = [i for i, row in enumerate(rows) if (found := head.match(row)) and row[found.end() :].strip()]
    if having:
        for i in {rng.choice(having), *(i for i in having if rng.random() < 0.5)}:
            rows[i] = head.sub("", rows[i], count=1)
    return "\n".join(rows)


def _wrapped(line: str, width: int) -> str:
    if not _BEGINS.match(line):
        return line
    return "\n".join(line[i : i + width] for i in range(0, len(line), width))


def _clock(rng: random.Random) -> Iterator[str]:
    """Yield times of one day, each a little later than the one before."""
    now = rng.randrange(0, 60_000_000)
    while True:
        now += rng.randrange(1, 40)
        hours, rest = divmod(now, 3_600_000)
        minutes, rest = divmod(rest, 60_000)
        yield f"{hours:02}:{minutes:02}:{rest // 1000:02}.{rest % 1000:03}"


def _noise(rows: list[str], rng: random.Random, prefix: str, count: int) -> Iterator[str]:
    """Yield harmless lines of the style of the log, or of any style."""
    text = "\n".join(rows)
    own = next(lines for pattern, lines in _STYLES.values() if pattern.search(text))
    for _ in range(count):
        line = rng.choice(own)
        yield prefix + line.format(
            n=rng.randrange(1, 400),
            t=rng.randrange(2, 90),
            m=f"{rng.randrange(1000):03}",
            d=f"2026-04-02-10:00:00.{rng.randrange(1000):03}.118",
        )


def _is_gap(row: str, following: str) -> bool:
    """Whether a record ends with `row`: the next begins with a head, and not with the one that `row` has."""
    head, next_head = _LAUNCHER.match(row), _LAUNCHER.match(following)
    rest, next_rest = row[head.end() if head else 0 :], following[next_head.end() if next_head else 0 :]
    if not _BEGINS.match(next_rest):
        return False
    place, _, message = next_rest.partition("] ")
    return not message.startswith("  ") and rest.partition("] ")[0] != place
