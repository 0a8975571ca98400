"""An outcome as a sentence, as rows of a table, and as a JSON object; no terminal here."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from assistant.checks.types import REQUIRED, Check, Outcome, Parameter, Result, Value
from assistant.reasons import shown

__all__ = ["Lang", "description", "example", "json_value", "rows", "sentence", "shown_value", "to_json"]

Lang = Literal["zh", "en"]

#: Items of a list that are shown; the count follows.
MOST_ITEMS: Final = 8
#: From here on whole numbers get thousands separators.
SEPARATED_FROM: Final = 10_000


def sentence(check: Check, outcome: Outcome, lang: Lang) -> str:
    """Return the check's sentence filled in; for an outcome without results the reason why there are none."""
    if not outcome.result:
        return shown(outcome.reason, lang)
    texts = {name: shown_value(value, lang) for name, value in outcome.arguments.items()}
    for result in check.results:
        if result.name in outcome.result:
            texts[result.name] = shown_value(outcome.result[result.name], lang, result)
    return (check.shown_zh if lang == "zh" else check.shown_en).format_map(texts)


def rows(check: Check, outcome: Outcome, lang: Lang) -> list[tuple[str, str]]:
    """Return (label, value with its unit) of each result, in the order of the table."""
    return [
        (
            result.zh if lang == "zh" else result.en,
            _with_unit(shown_value(outcome.result[result.name], lang, result), result.unit),
        )
        for result in check.results
        if result.name in outcome.result
    ]


def to_json(check: Check, outcome: Outcome) -> dict[str, Any]:
    """Return the outcome as an object of strict JSON: infinities and NaN are the strings "inf", "-inf" and "nan"."""
    return {
        "schema": 1,
        "check": check.name,
        "arguments": json_value(outcome.arguments),
        "status": outcome.status,
        "result": json_value(outcome.result),
        "units": {result.name: result.unit for result in check.results if result.unit},
        "expected": json_value(outcome.expected),
        "reason": outcome.reason,
        "assumptions": [{"zh": zh, "en": en} for zh, en in check.assumptions],
        "source": check.source,
        "seconds": round(outcome.seconds, 6),
    }


def description(check: Check) -> dict[str, Any]:
    """Return what a check is as an object of strict JSON: titles, help, parameters and results."""
    return {
        "check": check.name,
        "title": {"zh": check.zh, "en": check.en},
        "help": {"zh": check.help_zh, "en": check.help_en},
        "parameters": [_parameter(parameter) for parameter in check.parameters],
        "results": [{"name": r.name, "zh": r.zh, "en": r.en, "unit": r.unit} for r in check.results],
        "example": example(check),
        "assumptions": [{"zh": zh, "en": en} for zh, en in check.assumptions],
        "source": check.source,
    }


def example(check: Check) -> dict[str, str]:
    """Return arguments, as text, with which a check runs: its example, else the examples of the required ones."""
    return dict(check.example) or {p.name: p.example for p in check.parameters if p.default is REQUIRED}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    is_required = parameter.default is REQUIRED
    return {
        "name": parameter.name,
        "kind": parameter.kind,
        "zh": parameter.zh,
        "en": parameter.en,
        "unit": parameter.unit,
        "low": parameter.low,
        "high": parameter.high,
        "choices": list(parameter.choices),
        "required": is_required,
        "default": None if is_required else json_value(parameter.default),
        "example": parameter.example,
    }


def shown_value(value: Value, lang: Lang, result: Result | None = None) -> str:
    """Return one value as text.

    Numbers have at most 7 significant digits, whole numbers from 10,000 up thousands separators (never in lists, where
    commas separate); a code word or a truth value has its label if the result gives one.

    Args:
        value: As a check takes or returns it.
        lang: Language of labels and of yes and no.
        result: What the value is, for its labels.
    """
    labels = result.labels if result is not None else {}
    key = str(value).lower() if isinstance(value, bool) else value
    if isinstance(key, str) and key in labels:
        return labels[key][0 if lang == "zh" else 1]
    if isinstance(value, bool):
        return ("是" if value else "否") if lang == "zh" else ("yes" if value else "no")
    if value is None:
        return "未给" if lang == "zh" else "not given"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= SEPARATED_FROM else str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, list | tuple):
        return _list(value, lang, result)
    return value.name if isinstance(value, Path) else str(value)


def _list(values: list[Value] | tuple[Value, ...], lang: Lang, result: Result | None) -> str:
    # A plain int in a list keeps its digits together: "[10000, -3]".
    texts = [
        str(value) if isinstance(value, int) and not isinstance(value, bool) else shown_value(value, lang, result)
        for value in values[:MOST_ITEMS]
    ]
    inside = ", ".join(texts)
    if len(values) <= MOST_ITEMS:
        return f"[{inside}]"
    return f"[{inside}, … 共 {len(values)} 个]" if lang == "zh" else f"[{inside}, … {len(values)} in all]"


def _float(value: float) -> str:
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    digits, _, exponent = f"{value:.7g}".partition("e")
    if exponent:
        return f"{digits}e{int(exponent)}"
    return "0" if digits == "-0" else digits


def _with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit else text


def json_value(value: Value) -> Value:
    """Return a value as strict JSON has it: infinities and NaN as strings, tuples as lists, paths as text."""
    if isinstance(value, Mapping):
        return {str(name): json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return _float(value)
    return str(value) if isinstance(value, Path) else value
