"""Models whose figures a vendor published, read from typical_models/*.toml; the nearest to a size or a time."""

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from simcore.errors import BadArgument

__all__ = ["Model", "Table", "load_table", "nearest"]


@dataclass(frozen=True, slots=True)
class Model:
    """One row of a table of typical models."""

    code: str
    zh: str
    en: str
    parts: tuple[str, ...]
    """Kinds of network it is made of: CNN, RNN, FIFO, Transformer."""
    size_mb: float
    below: bool
    """Whether the size is only known to be smaller than size_mb."""
    time_ms: float
    """Time of one inference at the clock of the table."""


@dataclass(frozen=True, slots=True)
class Table:
    """A vendor's table of typical models."""

    device: str
    source: str
    clock_mhz: float
    models: tuple[Model, ...]


@cache
def load_table(name: str) -> Table:
    """Return a table that ships with simcore, such as `nano`.

    Raises:
        BadArgument: No such table.
    """
    path = files("simcore").joinpath("typical_models").joinpath(f"{name}.toml")
    if not name.isidentifier() or not path.is_file():
        raise BadArgument(f"typical: no table {name!r}; there is 'nano'.")
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    models = tuple(
        Model(
            row["code"], row["zh"], row["en"], tuple(row["parts"]), float(row["size_mb"]), row.get("below", False),
            float(row["time_ms"]),
        )
        for row in table["models"]
    )  # fmt: skip
    return Table(table["device"], table["source"], float(table["clock_mhz"]), models)


def nearest(
    table: Table, size_mb: float | None = None, time_ms: float | None = None, part: str = "", count: int = 3
) -> tuple[Model, ...]:
    """Return up to `count` models whose size or time has the smallest ratio to the one given, nearest first.

    The ratio is taken both ways, `|log(value / row)|`; equal ones keep the order of the table. A size up to the bound
    of a row that is only known to be below it counts as equal to that row. With both a size and a time, the sum counts.

    Args:
        table: from `load_table`.
        size_mb: size of the model, MB.
        time_ms: time of one inference at the clock of the table.
        part: only models with this kind of network; empty for all.
        count: at most so many.

    Raises:
        BadArgument: Neither size nor time, one that is not above 0, or a kind of network that no row has.
    """
    given = [value for value in (size_mb, time_ms) if value is not None]
    if not given or any(not value > 0 or math.isinf(value) for value in given):
        raise BadArgument("typical: give the size in MB or the time in ms of the model, above 0.")
    rows = [model for model in table.models if not part or part in model.parts]
    if not rows:
        known = sorted({part for model in table.models for part in model.parts})
        raise BadArgument(f"typical: no model with {part}; the kinds are {', '.join(known)}.")

    def distance(model: Model) -> float:
        far = 0.0
        if size_mb is not None and not (model.below and size_mb <= model.size_mb):
            far += abs(math.log(size_mb / model.size_mb))
        if time_ms is not None:
            far += abs(math.log(time_ms / model.time_ms))
        return far

    return tuple(sorted(rows, key=distance)[:count])
