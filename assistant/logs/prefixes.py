"""What serial tools, containers, journals and launchers put before a log line, set aside.

Every pattern is anchored and bounded, so that a hostile line costs no more than its length.
"""

import re

__all__ = ["PREFIXES", "json_line", "prefix_of"]

_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:[.,:]\d{1,9})?"
_DATE = r"\d{4}[-/]\d{1,2}[-/]\d{1,2}"
_ZONE = r"(?:Z|[+-]\d{2}:?\d{2})"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"

#: (name, pattern): `time` and `stream` are kept, the rest of the match is dropped. The first that matches is taken off.
PREFIXES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        # 2026-01-02T03:04:05.678901234Z stderr F text
        ("kubernetes", rf"(?P<time>{_DATE}T{_CLOCK}{_ZONE}) (?P<stream>stdout|stderr) [FP] "),
        # [pod/infer-0/main] text
        ("kubectl", r"\[(?P<stream>pod/[\w./-]{1,200})\] "),
        # infer-1  | text
        ("compose", r"(?P<stream>[A-Za-z][\w.-]{0,60}) {1,30}\| "),
        # Jan 02 03:04:05 board kernel: text, 2026-01-02T03:04:05+08:00 board infer[42]: text
        (
            "journal",
            rf"(?P<time>{_MONTH} {{1,2}}\d{{1,2}} {_CLOCK}|{_DATE}T{_CLOCK}{_ZONE}) [\w.-]{{1,64}} "
            r"(?P<stream>[\w./@-]{1,64}(?:\[\d{1,10}\])?): ",
        ),
        # <3>[   12.345678] text
        ("dmesg", r"(?:<\d{1,3}>)?\[ {0,8}(?P<time>\d{1,9}\.\d{3,9})\](?:\[ {0,6}[TC]\d{1,7}\])? ?"),
        # (RayWorker pid=42, ip=10.0.0.1) text, (EngineCore_0 pid=42) text
        ("ray", r"\((?P<stream>[\w.:-]{1,80} pid=\d{1,10}(?:, ip=[\w.:]{1,45})?)\) ?"),
        # [Wed Apr  1 10:09:24 2026] text
        ("dmesg -T", rf"\[(?P<time>[A-Z][a-z]{{2}} {_MONTH} {{1,2}}\d{{1,2}} {_CLOCK} \d{{4}})\] ?"),
        # [detector-3] text of ROS
        ("ros", r"\[(?P<stream>[A-Za-z][A-Za-z0-9_.]{0,60}-\d{1,4})\] "),
        # [rank0]: text, [default0]:text
        ("rank", r"\[(?P<stream>(?:rank|default)\d{1,6})\]: ?"),
        # [1,0]<stderr>:text
        ("mpi", r"\[(?P<stream>\d{1,6},\d{1,6})\]<std(?:out|err)>: ?"),
        # [2026-01-02 03:04:05.678] text, [03:04:05.678]收←◆text
        (
            "serial",
            rf"\[(?P<time>(?:{_DATE}[ _T-])?{_CLOCK})\]"
            r"(?:[收发][←→][◆◇] ?| ?[RT]X[:<>-]{0,3} ?| ?[:<>-]{1,3} ?| ?)",
        ),
        # 2026-01-02T03:04:05.678Z text
        ("stamp", rf"(?P<time>{_DATE}T{_CLOCK}{_ZONE}) "),
        # 03:04:05.678> text
        ("terminal", rf"(?P<time>{_CLOCK}) ?(?:->|[>|]) ?"),
    )
)

_MONTHS = re.compile(_MONTH)
_JSON_TEXT = re.compile(r'"(?:log|message|msg)" ?: ?"(?P<text>(?:[^"\\]++|\\.)*+)"')
_JSON_TIME = re.compile(r'"(?:time|timestamp|@timestamp|ts)" ?: ?"(?P<text>[^"\\]{1,64})"')
_JSON_STREAM = re.compile(r'"(?:stream|container_name|container)" ?: ?"(?P<text>[^"\\]{1,128})"')
_JSON_CHAR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]|\\")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def prefix_of(text: str, start: int) -> tuple[int, str, str]:
    """Return where the prefix that begins at `start` ends (`start` if there is none), its time and its stream."""
    # Most lines of a log begin with a letter and have no prefix.
    if text[start : start + 1].isalpha() and not ("| " in text[start : start + 100] or _MONTHS.match(text, start)):
        return start, "", ""
    for _, pattern in PREFIXES:
        if found := pattern.match(text, start):
            named = found.groupdict()
            return found.end(), named.get("time") or "", named.get("stream") or ""
    return start, "", ""


def json_line(text: str) -> tuple[list[tuple[str, int, int]], str, str] | None:
    """Return the logged characters of a container's JSON line, each with its place in `text`, the time and the stream.

    None if the line is no JSON object with a text in it. A line end at the end of the text is dropped.
    """
    if not (text.startswith("{") and text.rstrip().endswith("}")):
        return None
    found = _JSON_TEXT.search(text)
    if found is None:
        return None
    begin = found.start("text")
    chars = [(_unescaped(m[0]), begin + m.start(), begin + m.end()) for m in _JSON_CHAR.finditer(found["text"])]
    while chars and chars[-1][0] in "\r\n":
        chars.pop()
    time, stream = _JSON_TIME.search(text), _JSON_STREAM.search(text)
    return chars, time["text"] if time else "", stream["text"] if stream else ""


def _unescaped(char: str) -> str:
    if len(char) == 12:
        return chr(0x10000 + ((int(char[2:6], 16) - 0xD800) << 10) + int(char[8:], 16) - 0xDC00)
    if len(char) == 6:
        code = int(char[2:], 16)
        return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)
    return _ESCAPES.get(char[1], char[1]) if len(char) == 2 else char
