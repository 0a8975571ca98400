"""Which plots an outcome has: its own curve, and one for every list among its results, chosen by what the list is."""

import itertools
import math
from collections.abc import Sequence
from typing import Any, Final

from assistant.checks.show import shown_value
from assistant.checks.types import Check, Outcome
from assistant.tui.lab.chart import Bars, Curve, Curves
from assistant.tui.lab.curves import Picture
from kb.types import Lang

__all__ = ["plots"]

#: Lists up to this length are bars with their numbers, longer ones curves.
MOST_BARS: Final = 16
#: Points of a curve; longer lists show the largest of each stretch.
MOST_POINTS: Final = 2000


def plots(
    check: Check, outcome: Outcome, picture: Picture | None, item: str, lang: Lang
) -> list[tuple[str, Bars | Curves]]:
    """Return (title, plot) of everything that can be drawn of an outcome.

    Args:
        check: the check.
        outcome: what it gave.
        picture: the curve computed beside it, if any.
        item: what the numbers of an axis without values count, such as "no.".
        lang: language of titles and axes.
    """
    found: list[tuple[str, Bars | Curves]] = []
    if picture is not None:
        found.append((picture.told(picture.title, lang), _drawn(picture, lang)))
    places = _places(check, outcome)
    for result in check.results:
        values: Any = outcome.result.get(result.name)
        if not _is_list(values) or result.name == places:
            continue
        title = result.zh if lang == "zh" else result.en
        title = f"{title} · {result.unit}" if result.unit else title
        if len(values) <= MOST_BARS:
            names = _names(check, outcome, places, len(values), lang)
            found.append((title, Bars(tuple((n, float(v)) for n, v in zip(names, values, strict=True)), item)))
        else:
            xs, ys = _thinned([float(value) for value in values])
            found.append((title, Curves((Curve(title, xs, ys),), item, title)))
    return found


def _drawn(picture: Picture, lang: Lang) -> Curves:
    lines = tuple(Curve(picture.told(line.name, lang), line.xs, line.ys, line.is_dotted) for line in picture.lines)
    return Curves(lines, picture.told(picture.x, lang), picture.told(picture.y, lang))


def _is_list(values: object) -> bool:
    """Return whether it is a list that says more as a plot: two or more numbers, one of them finite."""
    if not isinstance(values, list | tuple) or len(values) < 2:
        return False
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return False
    return any(math.isfinite(value) for value in values)


def _places(check: Check, outcome: Outcome) -> str:
    """Return the name of the result that says where the others were taken: the first list, if it only ascends."""
    first = check.results[0].name
    values: Any = outcome.result.get(first)
    if not _is_list(values) or any(p.kind in ("numbers", "integers") for p in check.parameters):
        return ""
    whole = all(isinstance(value, int) for value in values)
    return first if whole and all(a < b for a, b in itertools.pairwise(values)) else ""


def _names(check: Check, outcome: Outcome, places: str, count: int, lang: Lang) -> list[str]:
    """Return what each item stands for: the place or the input that belongs to it, or its number."""
    if places and len(outcome.result[places]) == count:
        return [str(place) for place in outcome.result[places]]
    for parameter in check.parameters:
        given = outcome.arguments.get(parameter.name)
        if parameter.kind in ("numbers", "integers") and isinstance(given, tuple) and len(given) == count:
            return [shown_value(value, lang) for value in given]
    return [str(place) for place in range(1, count + 1)]


def _thinned(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return places and values, the largest in size of each stretch where there are too many."""
    stride = max(1, math.ceil(len(values) / MOST_POINTS))
    xs, ys = [], []
    for start in range(0, len(values), stride):
        stretch = values[start : start + stride]
        best = max(range(len(stretch)), key=lambda at: abs(stretch[at]) if math.isfinite(stretch[at]) else -1.0)
        xs.append(float(start + best + 1))
        ys.append(stretch[best])
    return xs, ys
