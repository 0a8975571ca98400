"""The table of log grammars: how each origin writes the head of a record.

Named groups fill the fields of a record: level, module, file, line, pid, tid, time, code, stream, message. A head that
lost its first characters still matches where what is left is unmistakable. Every pattern is tried at the start of a
line only, and its parts are bounded, so that it takes linear time.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["GRAMMARS", "LEVELS", "TEXT", "Grammar", "level_of"]

#: Name of the grammar of lines that no other reads.
TEXT = "text"


@dataclass(frozen=True, slots=True)
class Grammar:
    """How one origin writes its records."""

    name: str
    pattern: re.Pattern[str]
    needs: tuple[str, ...] = ()
    """A line without any of these words is not tried; empty: any line is."""
    more: re.Pattern[str] | None = None
    """What a following line without a head of its own looks like, besides an indented one."""
    cut: re.Pattern[str] | None = None
    """A head that a terminal broke: the next line belongs behind it."""
    wraps: bool = False
    """Whether a terminal of fixed width may have broken the message."""
    level: str = ""
    """Level of records that do not say it."""
    traces: bool = False
    """Whether the record is a Python traceback: it ends with the first line that is not indented."""


#: Spelling in a log (upper case) -> level.
LEVELS = {
    "TRACE": "debug",
    "DEBUG": "debug",
    "DBG": "debug",
    "VERBOSE": "debug",
    "INFO": "info",
    "NOTICE": "info",
    "EVENT": "info",
    "WARN": "warning",
    "WARNING": "warning",
    "ERR": "error",
    "ERROR": "error",
    "CRITICAL": "critical",
    "FATAL": "critical",
    "V": "debug",
    "D": "debug",
    "I": "info",
    "N": "info",
    "A": "info",
    "W": "warning",
    "E": "error",
    "C": "critical",
    "F": "critical",
}

_STAMP = r"\d{4}-\d{2}-\d{2}[-T ]\d{2}:\d{2}:\d{2}(?:[.,:]\d{1,9}){0,3}"
_WORD = r"TRACE|DEBUG|INFO|EVENT|NOTICE|WARN|WARNING|ERR|ERROR|CRITICAL|FATAL"
# The same, and what is left of them when the first characters are lost.
_LOST = rf"{_WORD}|EBUG|BUG|NFO|VENT|ARN|ARNING|RNING|RROR|ROR|OR|R|RITICAL|ATAL"
_FILE = r"[\w.+/\\~-]{1,200}?\.(?:c|cc|cpp|cxx|h|hpp|py|pyx)"
# [LEVEL][file:line]tid of the Nano stack, with the front of it lost or not.
_NANO = rf"(?:\[?(?P<level>{_LOST})\])?\[?(?P<file>{_FILE}):(?P<line>\d{{1,6}})\](?P<tid>\d{{1,10}})?"
_NANO_CUT = re.compile(rf"\[(?:{_WORD})\](?:\[[\w./-]{{0,120}}(?::\d{{0,6}}\]?\d{{0,10}})?)?$|\[N(?:DRV|FS|OS)?$")

#: In the order in which they are tried; the first that matches reads the line.
GRAMMARS: tuple[Grammar, ...] = (
    Grammar(
        "nano-driver",
        re.compile(
            r"\[?(?P<module>NDRV|NFS|NOS)\] ?(?:\[(?P<level>ERROR|WARN|INFO|DEBUG)\] ?)?(?P<message>.*)", re.DOTALL
        ),
        needs=("NDRV]", "NFS]", "NOS]"),
        cut=_NANO_CUT,
        wraps=True,
    ),
    Grammar(
        "nano-ge",
        re.compile(
            rf"(?:{_NANO} ?:? ?)?(?:Error|rror|ror|or|r)?No:(?P<code>-?\d{{1,10}})\((?:GE_ERRORNO_STR|\w{{0,60}})\)?"
            r" ?\[(?P<module>GE)\](?:\[\w{1,40}\])? ?(?P<message>.*)",
            re.DOTALL,
        ),
        needs=("[GE]",),
        cut=_NANO_CUT,
        wraps=True,
        level="error",
    ),
    Grammar(
        "nano-acl",
        re.compile(
            rf"(?:{_NANO} ?:? ?)?(?P<module>REPORT_(?:CALL|INNER|INPUT|ENV)_ERROR|\[ACL\])(?:\[\w{{1,40}}\])?"
            r"[: ]{0,2}(?P<message>.*)",
            re.DOTALL,
        ),
        needs=("REPORT_", "[ACL]"),
        cut=_NANO_CUT,
        wraps=True,
        level="error",
    ),
    Grammar(
        "nano-sample",
        re.compile(
            r"\[(?P<module>AI_NPU)\] ?(?P<message>.*)"
            r"|(?P<whole>Interface of \w{1,80} return failed.*)",
            re.DOTALL,
        ),
        needs=("[AI_NPU]", "Interface of "),
        wraps=True,
    ),
    Grammar(
        "mindspore",
        re.compile(
            rf"\[?(?P<level>{_LOST})\] ?(?P<module>[A-Z][\w-]{{1,40}})\((?P<pid>\d{{1,10}})[,:]"
            rf"(?P<tid>[0-9a-fx]{{1,18}}),[^)\n]{{0,120}}\):(?P<time>{_STAMP}) ?"
            r"\[(?P<file>[^\]:\n]{1,240}):(?P<line>\d{1,6})\] ?(?P<message>.*)",
            re.DOTALL,
        ),
        needs=("):",),
        more=re.compile(r"-{4,}|(?:The function call stack|C\+\+ Call Stack|In file |# \d|[0-9]+ +# )|- [A-Z]"),
    ),
    Grammar(
        "cann-plog",
        re.compile(
            rf"\[?(?P<level>{_LOST})\] ?(?P<module>[A-Z][\w-]{{1,40}})\((?P<pid>-?\d{{1,10}})(?:,[^)\n]{{0,120}})?\)"
            rf" ?:? ?(?P<time>{_STAMP})? ?(?:\[(?P<file>[^\]:\n]{{1,200}}):(?P<line>\d{{1,6}})\])? ?"
            r"(?:\[?(?P<tid>\d{1,10})\]?:? ?)?(?P<message>.*)",
            re.DOTALL,
        ),
        needs=(")",),
    ),
    Grammar(
        "torch-npu",
        re.compile(
            rf"\[(?P<level>{_WORD}|[EWI])\] ?(?P<time>{_STAMP}) \(PID: ?(?P<pid>\d{{1,10}}), ?Device: ?-?\d{{1,6}}, ?"
            r"RankID: ?(?P<rank>-?\d{1,6})\) ?(?P<code>ERR\d{5}) ?(?P<module>[A-Z_]{1,20}\b)? ?(?P<message>.*)"
            r"|\[(?P<level2>[EWI])(?P<time2>\d{2,4} ?\d{0,4} ?\d{2}:\d{2}:\d{2}\.\d{1,9}) "
            r"(?P<file>[\w.+/-]{1,200}):(?P<line>\d{1,6})\] ?(?P<message2>.*)"
            r"|(?P<code3>ERR\d{5}) (?P<module3>[A-Z_]{2,20}) (?P<message3>.*)",
            re.DOTALL,
        ),
        needs=("ERR", "PID:", "] "),
    ),
    Grammar(
        "cann-block",
        re.compile(
            r"(?P<code>E[1-9A-Z]\d{4}|W[0-9A-Z]\d{4}): ?(?:\[PID: ?(?P<pid>\d{1,10})\] ?)?"
            rf"(?P<time>{_STAMP})? ?(?P<message>.*)"
            r"|(?:\[PID: ?(?P<pid2>\d{1,10})\] ?)?"
            rf"(?P<time2>{_STAMP})? ?(?P<module>[A-Z]\w{{2,80}})\((?P<code2>[EW][0-9A-Z]\d{{4}})\): ?(?P<message2>.*)",
            re.DOTALL,
        ),
        needs=(":",),
        more=re.compile(
            r"E[1-9A-Z]\d{4} {1,8}\S|TraceBack|\[(?:FUNC|Possible Cause|Solution)\b"
            r"|(?:Possible Cause|Solution|Cause)\b ?:"
        ),
        level="error",
    ),
    Grammar(
        "python-traceback",
        re.compile(
            r"(?P<message>(?:[+| ]{1,12}(?:Exception Group )?)?Traceback \(most recent call last\):.*)", re.DOTALL
        ),
        needs=("Traceback (most",),
        level="error",
        traces=True,
    ),
    Grammar(
        "vllm",
        re.compile(
            rf"(?P<level>{_WORD}) (?P<time>\d{{2}}-\d{{2}} \d{{2}}:\d{{2}}:\d{{2}}) "
            r"\[(?P<file>[\w./-]{1,120}):(?P<line>\d{1,6})\] ?(?P<message>.*)",
            re.DOTALL,
        ),
        needs=(" [",),
    ),
    Grammar(
        "horizon-runtime",
        re.compile(
            r"\[(?P<level>[VDIWEFAC])\]\[(?P<module>[A-Z_]{2,20})\](?:\[?(?P<file>[\w./-]{1,120}):(?P<line>\d{1,6})\])?"
            r"(?:\[[\w /-]{1,40}\])?(?:\((?P<time>[\d,:. -]{8,32})\))? ?(?:\[HorizonRT\] ?)?(?P<message>.*)"
            r"|\[(?P<level2>[VDIWEFAC])\]\[(?P<pid2>\d{1,10})\]\[(?P<time2>\d{2}-\d{2}\]\[\d{2}:\d{2}:\d{2}:\d{3})\]"
            r"\[(?P<file2>[\w./-]{1,120}):(?P<line2>\d{1,6})\](?:\[[\w.-]{1,60}\])?\[(?P<module2>\w{2,20})\] ?"
            r"(?P<message2>.*)"
            r"|\[(?P<module3>BPU_PLAT|HBRT|DNN|EasyDNN|HorizonRT|UCPT?|VPU?|HPL)\]:? ?(?P<message3>.*)",
            re.DOTALL,
        ),
        needs=("][", "[BPU_PLAT]", "[HBRT]", "DNN]", "[HorizonRT]", "[UCP", "[VP", "[HPL]"),
    ),
    Grammar(
        "horizon-build",
        re.compile(
            rf"(?P<time>{_STAMP}) (?:file: (?P<file>[\w./-]{{1,80}}) func: \w{{1,80}} line No: (?P<line>\d{{1,6}}) ?)"
            r"(?P<message>.*)"
            rf"|(?:(?P<time2>{_STAMP}) )?\[?(?P<level>{_WORD}|error|warning)\]?[: ] ?"
            r"\[?(?P<module>horizon_\w{1,30}|HorizonNN|hb_\w{1,30}|hbdk[\w-]{0,20}|hmct)\]?[: ] ?(?P<message2>.*)",
            re.DOTALL,
        ),
        needs=("line No:", "orizon", "hb_", "hbdk", "hmct"),
    ),
    Grammar(
        "rknn",
        re.compile(
            # Android's logcat puts date, process and thread in front.
            r"(?:(?P<time4>(?:\d{4}-)?\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{3}) {1,8}"
            r"(?P<pid4>\d{1,10})[ -]{1,8}\d{1,10} )?(?P<level>[VDIWEF])[ /]"
            r"(?P<module>RKNN(?:API)?|RKNPU|NPUTransfer|rkllm|rknn[\w-]{0,40})"
            r"(?: [0-9a-f]{1,16}\.npu)? {0,8}(?:\( ?(?P<pid>\d{1,10})\))?[:,]? ?"
            r"(?:\[?(?P<time>\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?)\]? ?)?(?P<message>.*)"
            r"|(?P<level2>[DIWE]) "
            r"(?P<module2>(?:load|build|init|export|inference|hybrid|config|eval|__init__|run)\w{0,40})"
            r": ?(?P<message2>.*)"
            r"|(?P<level5>[DIWE]) (?P<message5>(?:Catch exception|Traceback|Query dynamic|There is no valid|Exception:|"
            r"The target_platform|target set by|Can not find file|Model is not|Invalid RKNN|Please feedback).*)"
            r"|(?P<module3>RKNPU)(?: [0-9a-f]{1,16}\.npu)?: (?P<message3>.*)"
            r"|--> ?(?P<whole>.*)",
            re.DOTALL,
        ),
        needs=("RKN", "rknn", "rkllm", "NPUTransfer", "-->", ": ", "E ", "W "),
    ),
    Grammar(
        "cambricon",
        re.compile(
            rf"(?:\[?(?P<time>{_STAMP}|\d{{4}}-\d{{1,2}}-\d{{1,2}} "
            r"\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d{1,9})?)\]?:? ?)?"
            r"(?:\[(?P<module>cn[a-z]{1,12}|mlu[a-z]{0,8}|magicmind)(?P<level>Error|Warning|Info|Debug|Fatal)\]"
            r"|\[(?P<module2>CN[A-Z]{1,12}|MLU(?:OP)?|MagicMind|MAGICMIND|mm)\] ?"
            r"\[?(?P<level2>ERROR|WARNING|WARN|INFO|DEBUG|FATAL|Error|Warning|Info|Debug|Fatal)?\]?:?)"
            r" ?(?:\[(?P<pid>\d{1,10})\] ?)?(?:\[Card ?: ?(?P<card>\d{1,4})\] ?)?"
            r"(?:\[(?P<file>[\w./-]{1,200}):(?P<line>\d{1,6})\] ?)?(?P<message>.*)"
            rf"|(?P<time3>{_STAMP}): (?P<level3>ERROR|WARNING|INFO|FATAL): {{1,3}}"
            r"(?P<file3>magicmind/[\w./-]{1,200}):(?P<line3>\d{1,6})\] {1,3}(?P<message3>.*)",
            re.DOTALL,
        ),
        needs=("[cn", "[mlu", "[magicmind", "[CN", "[ML", "[Ma", "[MA", "[mm]", " magicmind/"),
    ),
    Grammar(
        "glog",
        re.compile(
            r"(?P<level>[IWEF])(?P<time>(?:\d{4})?\d{4} \d{2}:\d{2}:\d{2}\.\d{1,9}) {1,8}(?P<tid>\d{1,10}) "
            r"(?P<file>[\w.+/-]{1,200}):(?P<line>\d{1,6})\] ?(?P<message>.*)",
            re.DOTALL,
        ),
        needs=("]",),
    ),
    Grammar(
        "nano-runtime", re.compile(rf"{_NANO}[ :] ?(?P<message>.*)", re.DOTALL), needs=("]",), cut=_NANO_CUT, wraps=True
    ),
    Grammar(
        "python-logging",
        re.compile(
            rf"(?P<time>{_STAMP}) (?:- (?P<module>[\w.]{{1,80}}) - )?\[?(?P<level>{_WORD})\]?(?: ?- ?|: ?| )"
            r"(?P<message>.*)",
            re.DOTALL,
        ),
        needs=(":",),
    ),
    Grammar(
        "level",
        re.compile(
            rf"\[(?P<level>{_WORD})\] ?(?P<message>.*)|(?:(?P<time>{_STAMP}) ?[:-]? ?)(?P<message2>.*)", re.DOTALL
        ),
        cut=_NANO_CUT,
    ),
)


@lru_cache(maxsize=256)
def level_of(word: str) -> str:
    """Return the level that a spelling means, also one that lost its first characters; empty if none."""
    upper = word.upper()
    if upper in LEVELS and (len(upper) > 1 or word.isupper()):
        return LEVELS[upper]
    return next((level for name, level in LEVELS.items() if len(upper) > 1 and name.endswith(upper)), "")
