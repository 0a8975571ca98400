"""The rules of `corpus/rules/*.toml`: what they look for, and what it means.

The format is described in `corpus/rules/README.md`. Reading checks the form; whether rules make sense together is
the business of `lint`.
"""

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from assistant.errors import BadInput
from assistant.logs.spelling import E_CODE, key
from assistant.logs.types import Role
from assistant.paths import corpus_root

__all__ = ["ROLES", "WINDOW", "Condition", "Role", "Rule", "parse", "rules"]


Certainty = Literal["documented", "confirmed", "inferred"]
ROLES: tuple[Role, ...] = ("cause", "symptom", "benign")
CERTAINTIES: tuple[Certainty, ...] = ("documented", "confirmed", "inferred")

#: Lines that the evidence of one finding spans at most, if the rule does not say.
WINDOW = 2000
#: The shortest text to look for: a shorter one stands in every log.
TEXT_LEAST = 5

_RULE_KEYS = frozenset(
    {
        "id", "role", "certainty", "cause_zh", "cause_en", "steps_zh", "steps_en", "needs_zh", "needs_en", "entry",
        "source", "all", "any", "none", "order", "window", "explains", "spreads", "positive", "negative",
    }
)  # fmt: skip
_CONDITION_KEYS = frozenset({"text", "code", "match", "module", "file"})
_E_CODE = re.compile(E_CODE)


@dataclass(frozen=True, slots=True)
class Condition:
    """What one record must say; all that is given must hold for the same record."""

    texts: tuple[str, ...]
    """Literal fragments, one of which it contains; empty if codes are looked for."""
    codes: tuple[str, ...]
    """Keys of codes, one of which it names; empty if any or none will do."""
    match: re.Pattern[str] | None
    module: str
    file: str

    def anchors(self) -> tuple[str, ...]:
        """Return the literals without one of which no record fits."""
        return self.texts or tuple(dict.fromkeys(one for code in self.codes for one in spellings(code)))


@dataclass(frozen=True, slots=True)
class Rule:
    """If these lines are in a log, this is what they mean."""

    id: str
    platform: str
    role: Role
    certainty: Certainty
    cause_zh: str
    cause_en: str
    steps_zh: tuple[str, ...]
    steps_en: tuple[str, ...]
    needs_zh: tuple[str, ...]
    """Of a symptom: the lines or logs that would decide."""
    needs_en: tuple[str, ...]
    entry: str
    """Id of the corpus entry about it, or empty."""
    source: str
    all: tuple[Condition, ...]
    any: tuple[Condition, ...]
    none: tuple[Condition, ...]
    order: bool
    """Whether the conditions of `all` come in their order."""
    window: int
    """Lines that the evidence spans at most, and how far around it `none` reaches."""
    explains: tuple[str, ...]
    """Causes that are consequences when this one is there."""
    spreads: bool
    """Whether other tasks only wait for it: a cause in another task is the answer."""
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    place: str
    """File and number in it."""


def spellings(code: str) -> tuple[str, ...]:
    """Return the ways in which logs write a code's key: decimal, unsigned, hexadecimal in both cases."""
    if _E_CODE.fullmatch(code):
        return (code,)
    value = int(code)
    values = [value] if value >= 0 else [value, value + (1 << 32), value + (1 << 64)]
    hexadecimal = [f"{one:x}" for one in values if one >= 0]
    return tuple(dict.fromkeys([*map(str, values), *hexadecimal, *(one.upper() for one in hexadecimal)]))


def rules(directory: Path | None = None) -> tuple[Rule, ...]:
    """Return all rules, in the order of their files.

    Args:
        directory: where the files are; None for the corpus in use.

    Raises:
        BadInput: a file is no rule file; the message says where and what is wrong.
    """
    return _read(directory or corpus_root() / "rules")


@functools.lru_cache(maxsize=4)
def _read(directory: Path) -> tuple[Rule, ...]:
    found: dict[str, Rule] = {}
    for path in sorted(directory.glob("*.toml")):
        for rule in parse(path.read_text(encoding="utf-8"), path.name):
            if rule.id in found:
                raise BadInput(f"{rule.place}: the id {rule.id!r} is used twice, first in {found[rule.id].place}")
            found[rule.id] = rule
    return tuple(found.values())


def parse(text: str, name: str) -> tuple[Rule, ...]:
    """Return the rules of one file.

    Args:
        text: TOML.
        name: of the file, for messages.

    Raises:
        BadInput: the text is no rule file.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"corpus/rules/{name}: {error}") from error
    platform = data.get("platform")
    if not isinstance(platform, str) or set(data) - {"platform", "rule"}:
        raise BadInput(f"corpus/rules/{name}: expected 'platform' and [[rule]] only")
    rows = data.get("rule", [])
    return tuple(_rule(row, platform, f"corpus/rules/{name}, rule {row.get('id', i)!r}") for i, row in enumerate(rows))


def _rule(row: dict[str, Any], platform: str, place: str) -> Rule:
    if unknown := set(row) - _RULE_KEYS:
        raise BadInput(f"{place}: unknown key {sorted(unknown)[0]!r}")
    role, certainty = row.get("role", "cause"), row.get("certainty")
    if role not in ROLES or certainty not in CERTAINTIES:
        raise BadInput(f"{place}: 'role' is one of {', '.join(ROLES)}, 'certainty' one of {', '.join(CERTAINTIES)}")
    window = row.get("window", WINDOW)
    if not isinstance(window, int) or isinstance(window, bool) or window < 1:
        raise BadInput(f"{place}: 'window' is a number of lines, at least 1")
    return Rule(
        id=_text(row, "id", place),
        platform=platform,
        role=cast(Role, role),
        certainty=cast(Certainty, certainty),
        cause_zh=_text(row, "cause_zh", place),
        cause_en=_text(row, "cause_en", place),
        steps_zh=_texts(row, "steps_zh", place),
        steps_en=_texts(row, "steps_en", place),
        needs_zh=_texts(row, "needs_zh", place),
        needs_en=_texts(row, "needs_en", place),
        entry=row.get("entry", ""),
        source=_text(row, "source", place),
        all=_conditions(row, "all", place),
        any=_conditions(row, "any", place),
        none=_conditions(row, "none", place),
        order=bool(row.get("order", False)),
        window=window,
        explains=_texts(row, "explains", place),
        spreads=bool(row.get("spreads", False)),
        positive=_texts(row, "positive", place),
        negative=_texts(row, "negative", place),
        place=place,
    )


def _text(row: dict[str, Any], name: str, place: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{place}: {name!r} is missing or no text")
    return value


def _texts(row: dict[str, Any], name: str, place: str) -> tuple[str, ...]:
    value = row.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadInput(f"{place}: {name!r} is a list of texts")
    return tuple(value)


def _conditions(row: dict[str, Any], name: str, place: str) -> tuple[Condition, ...]:
    value = row.get(name, [])
    if not isinstance(value, list):
        raise BadInput(f"{place}: {name!r} is a list of conditions")
    return tuple(_condition(one, f"{place}, {name}[{i}]") for i, one in enumerate(value))


def _condition(value: object, place: str) -> Condition:
    data = {"text": value} if isinstance(value, str) else value
    if not isinstance(data, dict) or set(data) - _CONDITION_KEYS:
        raise BadInput(f"{place}: a condition is a text or a table of {', '.join(sorted(_CONDITION_KEYS))}")
    texts, codes = _alternatives(data, "text", place), _alternatives(data, "code", place)
    if not texts and not codes:
        raise BadInput(f"{place}: give a 'text' or a 'code' to look for")
    if short := [text for text in texts if len(text) < TEXT_LEAST and text.isascii()]:
        raise BadInput(f"{place}: {short[0]!r} is too short to look for")
    keys = tuple(key(code) for code in codes)
    if bad := [code for code, one in zip(codes, keys, strict=True) if one is None]:
        raise BadInput(f"{place}: {bad[0]!r} is no code")
    if not texts and (short := [code for code in codes if len(code.lstrip("-")) < TEXT_LEAST]):
        raise BadInput(f"{place}: the code {short[0]} is too short to look for without a 'text'")
    try:
        match = re.compile(data["match"]) if "match" in data else None
    except re.error as error:
        raise BadInput(f"{place}: 'match' is no regular expression: {error}") from error
    return Condition(texts, tuple(one for one in keys if one), match, data.get("module", ""), data.get("file", ""))


def _alternatives(data: dict[str, Any], name: str, place: str) -> tuple[str, ...]:
    value = data.get(name, [])
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) and one for one in values):
        raise BadInput(f"{place}: {name!r} is a text or a list of texts")
    return tuple(values)
