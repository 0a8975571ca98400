"""Lines that look bad and that no rule knows, grouped by their form."""

import re
from collections.abc import Iterable

from assistant.logs.facts import Fact, evidence, facts
from assistant.logs.store import Store, Suspect
from assistant.logs.types import UnknownLines

__all__ = ["ALARMS", "looks_bad", "template", "unknown_lines"]

#: Words that make a line suspicious; whether it is, `looks_bad` decides.
ALARMS = (
    "ERROR", "Error", "error", "FATAL", "Fatal", "fatal", "CRITICAL", "fail", "Fail", "FAIL", "Traceback",
    "xception", "EXCEPTION", "panic", "abort", "Abort", "timed out", "timeout", "Timeout", "time out", "denied",
    "refused",
    "cannot ", "Cannot ", "can't ", "unable to", "Unable to", "not found", "No such", "invalid", "Invalid", "illegal",
    "overflow",     "corrupt", "Segmentation", "core dumped", "错误", "失败", "异常", "超时", "无法", "非法",
)  # fmt: skip

_STRONG = re.compile(
    r"(?<![A-Za-z0-9_./-])(?i:error|errors|failed|failure|fail|fatal|panic|aborted|refused|denied|timed out|"
    r"core dumped|segmentation fault|corrupt(?:ed)?)(?![A-Za-z0-9_./=-])"
    r"|\b[A-Z][A-Za-z]{2,40}(?:Error|Exception)\b(?=:|$)"
    r"|(?<![无没0])(?:错误|失败|异常|超时)"
)
# What takes the alarm out of the words: counts of zero, denials, names.
_CALM = re.compile(
    r"(?i)\b(?:no|without|zero|0|none|any|if|on|ignor\w{1,6}) {1,2}(?:an |any |more )?(?:\w{1,20} )?"
    r"(?:errors?|failures?|failed|exceptions?|timeouts?)\b"
    r"|\b(?:errors?|failures?|failed|fails?|exceptions?|err(?:or)?[ _-]?(?:code|no|count)|ret(?:urn)?(?:code| code)?)"
    r"['\"]?(?: (?:is|count|number|code))?\s{0,2}[:=]?\s{0,2}[\[(]?\s{0,2}(?:0x)?0+(?:\.0*)?(?![0-9.x])"
    r"|\b(?:errors?|failures?)\s{0,2}[:=]\s{0,2}(?:none|null|nil|false|\[\]|ok|success)\b"
    r"|\b(?:relative|absolute|mean|max|rounding|quanti[sz]ation|cosine|squared|rms|l2|l1) error\b"
    r"|(?:无|没有|未发现|未出现|0 ?个)(?:任何)?(?:错误|异常|失败)"
    r"|(?:错误|失败|异常)(?:数|次数|码)?\s{0,2}(?:[:：=为是]|(?<= ))\s{0,2}0(?![0-9.x])"
)
_CALM_LEVELS = frozenset({"debug", "info"})
_BAD_LEVELS = frozenset({"error", "critical"})

_PARTS = re.compile(
    r"(?P<time>\d{4}-\d{1,2}-\d{1,2}[-T ]\d{1,2}:\d{2}:\d{2}[.\d,:]{0,16}|\d{1,2}:\d{2}:\d{2}[.,]?\d{0,9})"
    r"|(?P<hex>0[xX][0-9a-fA-F]{1,16}|\b(?=[0-9a-f]{0,31}[0-9])(?=[0-9a-f]{0,31}[a-f])[0-9a-f]{8,64}\b)"
    r"|(?P<path>(?<![\w.])(?:~|\.{1,2})?(?:/[\w.+@-]{1,100}){2,40}/?)"
    r"|(?P<number>(?<![A-Za-z0-9])-?\d{1,20}(?:\.\d{1,20})?)"
)


def template(text: str) -> str:
    """Return a text with placeholders for what differs between lines of one form."""
    return _PARTS.sub(lambda found: _NAMES[found.lastgroup or ""], text[:400]).strip()


_NAMES = {"time": "<time>", "hex": "<hex>", "path": "<path>", "number": "N"}


def looks_bad(fact: Fact) -> bool:
    """Return whether a line reports something bad: by its level, else by its words."""
    if fact.level in _BAD_LEVELS:
        return True
    if fact.level in _CALM_LEVELS:
        return False
    text = fact.text[:2000]
    return _STRONG.search(text) is not None and _STRONG.search(_CALM.sub(" ", text)) is not None


def unknown_lines(store: Store, known: Iterable[Fact]) -> tuple[UnknownLines, ...]:
    """Return the bad-looking lines by form, most frequent first.

    Args:
        store: what was found.
        known: the evidence of all findings; lines of its forms are known.
    """
    told = {template(text) for text in {fact.text for fact in known}}
    groups: dict[str, list[tuple[Suspect, Fact]]] = {}
    for suspect in store.suspects.values():
        for fact in facts(suspect.first):
            form = template(fact.text)
            if form and form not in told and looks_bad(fact):
                groups.setdefault(form, []).append((suspect, fact))
    found = [
        UnknownLines(
            form,
            sum(suspect.count for suspect, _ in rows),
            store.are_alarms_cut or store.others > 0,
            min((evidence(fact) for _, fact in rows), key=lambda one: (one.log, one.start)),
        )
        for form, rows in groups.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.count, one.first.log, one.first.start)))
