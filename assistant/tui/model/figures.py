"""What an estimate says, in words: from the object of `estimate --json` to rows, sentences and groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assistant.models.numbers import count, milliseconds, short_size, size
from assistant.texts import texts
from assistant.tui.model.names import cut
from assistant.tui.safe import one_line
from kb.types import Lang

__all__ = ["Figure", "Group", "beside", "figures", "groups", "headline", "layer_rows", "peak_line", "typical_line"]

MARK = "*"
"""Stands behind a figure that rests on an assumption."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One total."""

    name: str
    value: str
    mark: str
    parts: str
    """What it is made of; may be empty."""
    number: float | None
    """For differences; None where there is none."""
    unit: str
    """B, ms or ""."""


@dataclass(frozen=True, slots=True)
class Group:
    """One thing that the device does not support, or limits, with all the nodes that have it."""

    op_type: str
    rule: str
    found: str
    fix: str
    source: str
    nodes: tuple[str, ...]
    is_limit: bool


def figures(one: dict[str, Any], lang: Lang) -> list[Figure]:
    """Return the totals of an estimate, those of the vendor's script first."""
    say, parts = texts(lang), one["parts"]
    unsupported = sorted({finding["op_type"] for finding in one["unsupported"] if finding["op_type"]})
    unknown, latency = say["not_known_figure"], one["latency"]
    low, likely = latency["lower_bound_ms"], latency["estimate_ms"]
    peak = one["peak"]["bytes"]
    return [
        _bytes("TOTAL_WEIGHT_SIZE", one["weight_bytes"], parts["weight"], lang),
        _bytes("TOTAL_MEM_SIZE", one["memory_bytes"], parts["memory"], lang),
        _bytes("TOTAL_EXEOM_SIZE", one["exeom_bytes"], parts["exeom"], lang),
        Figure("TOTAL_NET_OP_TYPE", one_line(", ".join(one["op_types"])), "", "", None, ""),
        Figure("NOT_SUPPORT_OP_TYPE", one_line(", ".join(unsupported)) or say["none"], "", "", None, ""),
        Figure(say["macs"], count(one["macs"]), "", "", one["macs"], ""),
        Figure(say["parameters_count"], count(one["parameters"]), "", "", one["parameters"], ""),
        Figure(say["latency_bound"], milliseconds(low, unknown), "", "", low, "ms"),
        Figure(say["latency_estimate"], milliseconds(likely, unknown), MARK, "", likely, "ms"),
        Figure(say["col_live_b"], size(peak), "", "", peak, "B"),
    ]


def _bytes(name: str, number: int, parts: Sequence[dict[str, Any]], lang: Lang) -> Figure:
    made = " + ".join(f"{part[lang]} {short_size(part['bytes'])}{MARK * part['assumed']}" for part in parts)
    return Figure(name, size(number), MARK * any(part["assumed"] for part in parts), made, number, "B")


def beside(first: dict[str, Any], second: dict[str, Any], lang: Lang) -> list[tuple[str, str, str, str]]:
    """Return (figure, of the first, of the second, difference) of two estimates."""
    rows = []
    for a, b in zip(figures(first, lang), figures(second, lang), strict=True):
        rows.append((a.name, a.value + a.mark, b.value + b.mark, _difference(a, b)))
    return rows


def _difference(a: Figure, b: Figure) -> str:
    if a.number is None or b.number is None:
        return "=" if a.value == b.value else "≠"
    gap = b.number - a.number
    if gap == 0:
        return "="
    much = abs(gap)
    told = short_size(much) if a.unit == "B" else f"{much:,.3g} ms" if a.unit == "ms" else _short_count(much)
    share = f" ({b.number / a.number:,.0f}x)" if a.number and b.number > 10 * a.number else ""
    if a.number and not share:
        share = f" ({gap / a.number:+.1%})"
    return f"{'▲ +' if gap > 0 else '▼ -'}{told}{share}"


def _short_count(number: float) -> str:
    return f"{number / 1e6:,.1f} M" if number >= 1e6 else count(number)


def groups(one: dict[str, Any], lang: Lang) -> list[Group]:
    """Return what is not supported, then what is limited; each kind once."""
    found: dict[tuple[str, str, str, bool], list[dict[str, Any]]] = {}
    for kind in ("unsupported", "limits"):
        for finding in one[kind]:
            key = (finding["op_type"], finding[lang], finding["fix"][lang], kind == "limits")
            found.setdefault(key, []).append(finding)
    return [
        Group(op, same[0]["rule"], told, fix, same[0]["source"], tuple(finding["node"] for finding in same), is_limit)
        for (op, told, fix, is_limit), same in found.items()
    ]


def headline(one: dict[str, Any]) -> tuple[str, dict[str, object]]:
    """Return (key, values) of the sentence that says what was estimated, and what came of it in short."""
    clock = "?" if one["clock_mhz"] is None else f"{one['clock_mhz']:g}"
    values = {
        "name": cut(one["model"].rpartition("/")[2], 18), "device": one["device"], "clock": clock,
        "layers": len(one["layers"]), "unsupported": len(one["unsupported"]),
    }  # fmt: skip
    return "estimated_some" if one["unsupported"] else "estimated", values


def layer_rows(one: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return a row per layer: name, operator, MACs, weight, output, live bytes, cycles at least, cycles, shape."""
    return [
        (
            ("+ " if layer["inserted"] else "") + one_line(layer["name"]),
            one_line(layer["op_type"]),
            layer["macs"],
            layer["weight_bytes"],
            layer["output_bytes"],
            layer["live_bytes"],
            layer["cycles_lower_bound"],
            layer["cycles_estimate"],
            "x".join(map(str, layer["outputs"][0] or ())) if layer["outputs"] else "",
        )
        for layer in one["layers"]
    ]


def peak_line(one: dict[str, Any], lang: Lang) -> str:
    """Return the sentence about the peak, without its tensors."""
    say, peak = texts(lang), one["peak"]
    head = say["peak"].format(bytes=size(peak["bytes"]), layer=one_line(peak["layer"]), tensors="")
    return f"{head.rstrip(' :：')} · {say['lower_bound']} {short_size(peak['lower_bound_bytes'])}"


def typical_line(one: dict[str, Any], lang: Lang) -> str:
    """Return the published models of about that size; "" if there are none."""
    shown = "; ".join(
        f"{model['name'][lang]} {'<' * model['below']}{model['size_mb']:g} MB {model['time_ms']:g} ms"
        for model in one["typical"]
    )
    return f"{texts(lang)['typical']}: {shown}" if shown else ""
