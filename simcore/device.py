"""Figures of the devices, read from devices/*.toml: each with its unit and its source, or marked as assumed.

A device file holds

    name = "..."            the file's name
    title = "..."           what it is, for people
    extends = "..."         optional: another device whose figures hold here too
    unknown = ["...", ...]  figures that were looked for and that no source gives
    [figures.NAME]          value, unit, and either source = "..." or assumed = true with a note saying why

Code asks for a figure by name and decides nothing by the device's name.
"""

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

from simcore.errors import BadArgument

__all__ = ["UNITS", "Device", "Figure", "Value", "device_names", "figure", "load_device", "number", "parse_device"]

Value = int | float | bool | str | tuple[int | float | str, ...]

UNITS: Mapping[str, str] = MappingProxyType(
    {
        "1": "a plain number, a count or a truth value",
        "name": "a name or a list of names",
        "byte": "bytes",
        "element": "tensor elements",
        "MHz": "10**6 cycles per second",
        "GOPS": "10**9 operations per second as the source counts them, usually two per multiply-add",
        "TOPS": "10**12 operations per second as the source counts them, usually two per multiply-add",
        "op/cycle": "operations per clock cycle as the source counts them",
        "MAC/cycle": "multiply-adds per clock cycle",
    }
)
"""The units a figure may have, with their meaning."""

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a device."""

    name: str
    value: Value
    unit: str
    """A key of UNITS."""
    source: str
    """Where the figure stands; empty if assumed."""
    assumed: bool
    """True if no source gives it: results that use it must say so."""
    note: str
    """Conditions, conflicts between sources, or the reason of an assumption; may be empty for a sourced figure."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device and what is known about it."""

    name: str
    title: str
    figures: Mapping[str, Figure]
    """By name, read-only."""
    unknown: tuple[str, ...]
    """Figures that no source gives."""


def device_names() -> tuple[str, ...]:
    """Return the names of the devices that ship with simcore, in alphabetical order."""
    found = (entry.name for entry in files("simcore").joinpath("devices").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def load_device(name: str) -> Device:
    """Return a device that ships with simcore.

    Raises:
        BadArgument: No such device (the known ones are listed), or its file does not follow the module's schema.
    """
    if name not in device_names():
        raise BadArgument(f"device: {name!r} is unknown; choose one of {', '.join(device_names())}.")
    resource = files("simcore").joinpath("devices").joinpath(f"{name}.toml")
    device = parse_device(resource.read_text(encoding="utf-8"), f"devices/{name}.toml")
    if device.name != name:
        raise BadArgument(f"devices/{name}.toml: name is {device.name!r}; it must be the file's name.")
    return device


def parse_device(text: str, where: str) -> Device:
    """Return the device described by TOML text.

    Args:
        text: A device file, see the module.
        where: Named at the start of each error, usually the file.

    Raises:
        BadArgument: The text is no TOML, a key is missing, unknown or of the wrong type, a figure has neither or both
            of a source and an assumption, an assumption has no note, a number is not finite, a unit is unknown, a
            figure is listed as unknown, or the extended device is missing.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadArgument(f"{where}: not valid TOML: {error}.") from None
    _keys(table, {"name", "title", "figures"}, {"extends", "unknown"}, where)
    name, title = _text(table, "name", where), _text(table, "title", where)
    base = load_device(_text(table, "extends", where)) if "extends" in table else None
    own = table["figures"]
    if not isinstance(own, dict):
        raise BadArgument(f"{where}: figures is {type(own).__name__}; expected tables [figures.NAME].")
    figures = dict(base.figures) if base else {}
    figures.update({key: _figure(key, entry, f"{where}: figures.{key}") for key, entry in own.items()})
    unknown = _names(table.get("unknown", []), f"{where}: unknown")
    unknown += tuple(key for key in (base.unknown if base else ()) if key not in unknown and key not in own)
    if both := sorted(set(unknown) & set(figures)):
        raise BadArgument(f"{where}: {', '.join(both)} cannot be both a figure and unknown.")
    return Device(name, title, MappingProxyType(figures), unknown)


def figure(device: Device, name: str) -> Figure:
    """Return a figure by name.

    Raises:
        BadArgument: No source gives it, or the device file does not know the name (the known ones are listed).
    """
    if name in device.unknown:
        raise BadArgument(f"{device.name}: no source gives {name}; pass your own value and say that it is assumed.")
    if name not in device.figures:
        raise BadArgument(f"{device.name}: no figure {name!r}; it has {', '.join(sorted(device.figures))}.")
    return device.figures[name]


def number(device: Device, name: str, unit: str) -> float:
    """Return the value of a figure that is one number in the given unit.

    Raises:
        BadArgument: As `figure`; or the figure is no number, or has another unit.
    """
    found = figure(device, name)
    if isinstance(found.value, bool) or not isinstance(found.value, int | float):
        raise BadArgument(f"{device.name}: {name} is {found.value!r}, no number.")
    if found.unit != unit:
        raise BadArgument(f"{device.name}: {name} is in {found.unit}, asked for in {unit}.")
    return float(found.value)


def _figure(name: str, entry: object, where: str) -> Figure:
    if not _NAME.fullmatch(name):
        raise BadArgument(f"{where}: names are lower case words joined by underscores.")
    if not isinstance(entry, dict):
        raise BadArgument(f"{where}: found {type(entry).__name__}; expected a table with value, unit and source.")
    _keys(entry, {"value", "unit"}, {"source", "assumed", "note"}, where)
    unit, note = _text(entry, "unit", where), _text(entry, "note", where) if "note" in entry else ""
    if unit not in UNITS:
        raise BadArgument(f"{where}: unit {unit!r} is unknown; choose one of {', '.join(UNITS)}.")
    assumed = entry.get("assumed", False)
    if not isinstance(assumed, bool) or assumed is ("source" in entry):
        raise BadArgument(f"{where}: needs either a source or assumed = true, not both and not neither.")
    if assumed and not note:
        raise BadArgument(f"{where}: an assumed figure needs a note that says why.")
    source = "" if assumed else _text(entry, "source", where)
    return Figure(name, _value(entry["value"], where), unit, source, assumed, note)


def _value(value: object, where: str) -> Value:
    if isinstance(value, list):
        parts = tuple(_scalar(part, where) for part in value)
        if not parts or any(isinstance(part, bool) for part in parts) or len({isinstance(p, str) for p in parts}) > 1:
            raise BadArgument(f"{where}: a list value must hold only numbers or only texts, at least one.")
        return parts
    return _scalar(value, where)


def _scalar(value: object, where: str) -> int | float | str:
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, int | float) and math.isfinite(value):
        return value
    raise BadArgument(f"{where}: value {value!r} is no finite number, truth value, text or list of these.")


def _names(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(part, str) and _NAME.fullmatch(part) for part in value):
        raise BadArgument(f"{where}: expected a list of figure names.")
    return tuple(value)


def _text(table: Mapping[str, object], key: str, where: str) -> str:
    value = table[key]
    if not isinstance(value, str) or not value.strip():
        raise BadArgument(f"{where}: {key} is {value!r}; expected text.")
    return value


def _keys(table: Mapping[str, object], needed: set[str], optional: set[str], where: str) -> None:
    if missing := sorted(needed - set(table)):
        raise BadArgument(f"{where}: {', '.join(missing)} missing.")
    if surplus := sorted(set(table) - needed - optional):
        raise BadArgument(
            f"{where}: unknown key {', '.join(surplus)}; known are {', '.join(sorted(needed | optional))}."
        )
