"""The rules of operator support and their texts, read from support_rules/*.toml.

A rule file holds tables [[rules]] with

    id, severity            short name; unsupported, limit or note
    check                   name of a function of support_checks, which reads the keys not named here
    op_types, except        operators it looks at; all but those
    figure                  figure of the device it needs: without it the rule does not hold, with it that is the source
    when                    only if asked for, such as "qat"
    once                    one finding for all nodes, with their number
    folded                  also for nodes that constant folding removes, because the vendor's tools read the file
    zh, en, fix_zh, fix_en  what is wrong and what to do; {op}, {device} and what the check found are filled in
    source                  document and chapter

support_rules/common.toml holds for all devices; the figure `support_rules` of a device names further files.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

from simcore.device import Device
from simcore.errors import BadArgument

__all__ = ["Rule", "Severity", "Text", "Texts", "load_rules", "load_texts", "rules_of"]

Severity = Literal["unsupported", "limit", "note"]

_SEVERITIES: Mapping[str, Severity] = {"unsupported": "unsupported", "limit": "limit", "note": "note"}


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence and what to do, in both languages; empty where there is none."""

    zh: str
    en: str
    fix_zh: str
    fix_en: str
    source: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One condition on a model or a node."""

    id: str
    #: Name of the function that checks it.
    check: str
    severity: Severity
    #: Operators it looks at; empty: all.
    op_types: frozenset[str]
    #: Operators it passes over.
    excepted: frozenset[str]
    #: Figure of the device it needs; empty: none.
    figure: str
    #: What has to be asked for; empty: nothing.
    when: str
    #: Whether all nodes make one finding.
    once: bool
    #: Whether nodes count that constant folding removes.
    folded: bool
    text: Text
    #: What is left for the check.
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Sentences that belong to no rule, and the ways out by operator."""

    #: By name: static, not_taken, rewritable, other, foreign, not_checked, unknown_device.
    plain: Mapping[str, Text]
    #: Operators that `asknpu fix` can rewrite.
    rewritable: frozenset[str]
    #: What people do about an operator that is not in the list; "domain::Name" outside ai.onnx.
    ways: Mapping[str, Text]


def rules_of(device: Device) -> tuple[Rule, ...]:
    """Return the rules that hold on a device: those for all, and those of the files it names.

    Raises:
        BadArgument: the device names a file that is not there.
    """
    named = device.figures.get("support_rules")
    more = () if named is None else named.value if isinstance(named.value, tuple) else (named.value,)
    found = [rule for name in ("common", *map(str, more)) for rule in load_rules(name)]
    return tuple(rule for rule in found if not rule.figure or rule.figure in device.figures)


@cache
def load_rules(name: str) -> tuple[Rule, ...]:
    """Return the rules of a file that ships with simcore, such as `nano`.

    Raises:
        BadArgument: no such file, or a severity that does not exist.
    """
    return tuple(_rule(entry, name) for entry in _table(name)["rules"])


@cache
def load_texts() -> Texts:
    """Return the sentences and ways out of support_rules/common.toml."""
    table = _table("common")
    return Texts(
        MappingProxyType({name: _text(entry) for name, entry in table["texts"].items()}),
        frozenset(table["rewritable"]["op_types"]),
        MappingProxyType({name: Text("", "", entry["zh"], entry["en"]) for name, entry in table["ways"].items()}),
    )


def _table(name: str) -> dict[str, Any]:
    path = files("simcore").joinpath("support_rules").joinpath(f"{name}.toml")
    if not name.isidentifier() or not path.is_file():
        raise BadArgument(f"support_rules: no file {name!r}; a device names files of simcore/support_rules.")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _text(entry: dict[str, Any]) -> Text:
    zh, en, fix_zh, fix_en, source = (entry.pop(key, "") for key in ("zh", "en", "fix_zh", "fix_en", "source"))
    return Text(zh, en, fix_zh, fix_en, source)


def _rule(entry: dict[str, Any], name: str) -> Rule:
    severity = _SEVERITIES.get(entry.pop("severity"))
    if severity is None:
        raise BadArgument(f"support_rules/{name}.toml: {entry['id']}: severity is one of {', '.join(_SEVERITIES)}.")
    return Rule(
        entry.pop("id"),
        entry.pop("check"),
        severity,
        frozenset(entry.pop("op_types", ())),
        frozenset(entry.pop("except", ())),
        entry.pop("figure", ""),
        entry.pop("when", ""),
        entry.pop("once", False),
        entry.pop("folded", False),
        _text(entry),
        MappingProxyType(entry),
    )
