"""What the commands take beside model files: input shapes and devices."""

import re
from collections.abc import Sequence
from typing import Final

from assistant.errors import BadInput

__all__ = ["device_name", "input_shapes", "input_values"]

_INPUT: Final = re.compile(r"(.+?)[:=]\s*\[?\s*(\d+(?:\s*[,xX×]\s*\d+)*)?\s*\]?")
#: Largest size of one axis, and most axes.
_LARGEST: Final = 1 << 32
_AXES: Final = 16


def input_shapes(given: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of `name:1,3,224,224` by input name; `name:` is a scalar.

    Raises:
        BadInput: an item is not of that form, or a name stands twice.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for item in given:
        match = _INPUT.fullmatch(item.strip())
        if match is None:
            raise BadInput(f"--input {item}: expected name:1,3,224,224")
        name, sizes = match[1].strip(), re.split(r"\s*[,xX×]\s*", match[2]) if match[2] else []
        if name in shapes:
            raise BadInput(f"--input: {name} is given twice")
        shape = tuple(int(size) for size in sizes)
        if len(shape) > _AXES or any(size > _LARGEST for size in shape):
            raise BadInput(f"--input {item}: at most {_AXES} axes of at most {_LARGEST} each")
        shapes[name] = shape
    return shapes


def input_values(given: Sequence[str]) -> dict[str, float]:
    """Return the numbers of `name:16000` by input name.

    Raises:
        BadInput: an item is not of that form, or a name stands twice.
    """
    values: dict[str, float] = {}
    for item in given:
        name, sign, number = item.strip().rpartition(":") if ":" in item else item.strip().rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not sign or not name or value != value:
            raise BadInput(f"--value {item}: expected name:16000")
        if name in values:
            raise BadInput(f"--value: {name} is given twice")
        values[name] = value
    return values


def device_name(given: str) -> str:
    """Return the name of a device, in any case and with spaces or underscores.

    Raises:
        BadInput: there is no such device; the known ones are named.
    """
    from simcore.device import device_names

    names = device_names()
    wanted = re.sub(r"[ _]+", "-", given.strip().lower())
    aliases = {"ascend035a": "nano-035a", "ascend035b": "nano-035b", "nano": "nano-035a", "035a": "nano-035a",
               "035b": "nano-035b", "hi3322v100": "nano-035a"}  # fmt: skip
    found = aliases.get(wanted, wanted)
    if found not in names:
        raise BadInput(f"--device {given}: unknown; choose one of {', '.join(names)}")
    return found
