"""Text or TOML values -> typed arguments of a check, each within its range; one sentence for what does not fit."""

import math
import re
from collections.abc import Mapping
from pathlib import Path

from assistant.checks.types import REQUIRED, Check, Parameter, Value
from assistant.errors import BadInput

__all__ = ["arguments", "described", "value_of"]

#: Longest text of one value.
MAX_TEXT = 100_000

_NUMBER = re.compile(r"[+-]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?|[+-]?(?:inf|nan)")
_SPECIAL = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}


def arguments(check: Check, given: Mapping[str, object], base: Path | None = None) -> dict[str, Value]:
    """Return all arguments of a check, typed and within range, defaults filled in.

    Args:
        check: the check.
        given: values by parameter name, as text or as TOML gives them.
        base: directory that file arguments must lie in; None allows any path that is named.

    Raises:
        BadInput: an unknown name, a missing value, or one of another type or outside its range.
    """
    known = {parameter.name: parameter for parameter in check.parameters}
    for name in given:
        if name not in known:
            raise BadInput(f"{check.name} has no parameter {name!r}; it takes {', '.join(known)}")
    typed: dict[str, Value] = {}
    for name, parameter in known.items():
        if name in given:
            typed[name] = value_of(parameter, given[name], base)
        elif parameter.default is REQUIRED:
            raise BadInput(f"{check.name} needs {described(parameter)}")
        else:
            typed[name] = parameter.default
    return typed


def described(parameter: Parameter) -> str:
    """Return a parameter's name, type, range and an example, for messages."""
    parts = [parameter.kind if parameter.kind != "choice" else f"one of {', '.join(parameter.choices)}"]
    if parameter.unit:
        parts.append(f"in {parameter.unit}")
    if parameter.low is not None and parameter.high is not None:
        parts.append(f"{parameter.low:g} to {parameter.high:g}")
    elif parameter.low is not None:
        parts.append(f"at least {parameter.low:g}")
    elif parameter.high is not None:
        parts.append(f"at most {parameter.high:g}")
    return f"{parameter.name} ({', '.join(parts)}), for example {parameter.name}={parameter.example}"


def value_of(parameter: Parameter, raw: object, base: Path | None = None) -> Value:
    """Return one argument, typed.

    Raises:
        BadInput: the value is of another type or outside the range; the message describes the parameter.
    """
    try:
        return _typed(parameter, raw, base)
    except (ValueError, OverflowError) as error:
        shown = str(raw)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        raise BadInput(f"{parameter.name}={shown}: {error}; expected {described(parameter)}") from None


def _typed(parameter: Parameter, raw: object, base: Path | None) -> Value:
    if isinstance(raw, str) and len(raw) > MAX_TEXT:
        raise ValueError(f"is longer than {MAX_TEXT:,} characters")
    kind = parameter.kind
    if kind == "flag":
        return _flag(raw)
    if kind == "choice":
        if raw not in parameter.choices:
            raise ValueError("is not one of the choices")
        return raw
    if kind == "text":
        return str(raw)
    if kind == "file":
        return _file(str(raw), base)
    if kind == "number":
        return _ranged(_number(raw), parameter)
    if kind == "integer":
        return int(_ranged(_whole(raw), parameter))
    items = _items(raw)
    if not 1 <= len(items) <= parameter.most:
        raise ValueError(f"has {len(items)} items, allowed are 1 to {parameter.most}")
    read = _number if kind == "numbers" else _whole
    return tuple(_ranged(read(item), parameter) for item in items)


def _flag(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw.strip().lower() in _SPECIAL:
        return _SPECIAL[raw.strip().lower()]
    raise ValueError("is neither true nor false")


def _number(raw: object) -> float:
    if isinstance(raw, bool):
        raise ValueError("is no number")
    if isinstance(raw, int | float):
        return float(raw)
    if isinstance(raw, str):
        text = raw.strip().lower()
        if re.fullmatch(r"[+-]?0x[0-9a-f]{1,16}", text):
            return float(int(text, 16))
        if re.fullmatch(r"[^/]{1,40}/[^/]{1,40}", text):
            top, bottom = (part.strip() for part in text.split("/"))
            if _NUMBER.fullmatch(top) and _NUMBER.fullmatch(bottom) and float(bottom) != 0:
                return float(top) / float(bottom)
        if _NUMBER.fullmatch(text):
            return float(text)
    raise ValueError("is no number")


def _whole(raw: object) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    number = _number(raw)
    if not math.isfinite(number) or number != int(number):
        raise ValueError("is no whole number")
    return int(number)


def _ranged(number: float, parameter: Parameter) -> float:
    if math.isnan(number) and parameter.kind != "numbers":
        raise ValueError("is not a number")
    if parameter.low is not None and number < parameter.low:
        raise ValueError("is too small")
    if parameter.high is not None and number > parameter.high:
        raise ValueError("is too large")
    return number


def _items(raw: object) -> list[object]:
    if isinstance(raw, list | tuple):
        return list(raw)
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return [raw]
    if isinstance(raw, str):
        text = raw.strip().strip("[]()")
        parts = (
            re.split(r"[\s,;，；、]+", text)
            if not re.fullmatch(r"\d+(?:[x×*]\d+)+", text)
            else re.split(r"[x×*]", text)
        )
        return [part for part in parts if part]
    raise ValueError("is no list")


def _file(raw: str, base: Path | None) -> Path:
    if "\0" in raw or not raw.strip():
        raise ValueError("is no file name")
    path = Path(raw) if base is None else base / raw
    if base is not None:
        inside = base.resolve()
        if Path(raw).is_absolute() or not path.resolve().is_relative_to(inside):
            raise ValueError("lies outside the folder of its document")
    if not path.is_file():
        raise ValueError("is no such file")
    return path
