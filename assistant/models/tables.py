"""Estimates as text for a terminal: the figures of the vendor's script first, then what they are made of."""

from collections.abc import Sequence
from typing import Final

from assistant.models.loading import Estimated, typical_models
from assistant.models.numbers import count, milliseconds, size
from assistant.plain import printable
from assistant.render import table, terminal_width
from assistant.texts import texts
from kb.types import Lang
from simcore.estimate import Estimate, Part

__all__ = ["layer_table", "summary", "together"]

_MARK: Final = "*"
"""Stands behind a figure that rests on an assumption."""
_FINDINGS: Final = 20


def summary(one: Estimated, lang: Lang) -> str:
    """Return one estimate."""
    say, found = texts(lang), one.estimate
    view = say[f"view_{found.view}"]
    lines = [f"{printable(one.path)} · {found.device} · {_number(found.clock_mhz)} MHz · {view}", ""]
    lines.append(table(_figures(found, lang), (say["figure"], "", "")))
    lines += ["", _parts(say["made_of_memory"], found.memory_parts, lang)]
    lines += [_parts(say["made_of_weight"], found.weight_parts, lang)]
    lines += [_parts(say["made_of_exeom"], found.exeom_parts, lang), ""]
    tensors = ", ".join(f"{printable(name)} {size(held)}" for name, held in found.peak.tensors[:6])
    lines.append(
        say["peak"].format(bytes=size(found.peak.bytes), layer=printable(found.peak.layer), tensors=tensors)
        + (f" ({say['lower_bound']} {size(found.peak.lower_bound_bytes)})")
    )
    lines += ["", *_findings(found, lang)]
    typical = typical_models(found)
    if typical:
        shown = "; ".join(
            f"{m.zh if lang == 'zh' else m.en} {'<' if m.below else ''}{m.size_mb:g} MB {m.time_ms:g} ms"
            for m in typical
        )
        lines += [f"{say['typical']}: {shown}", ""]
    if found.unknown:
        lines.append(f"{say['unknown_parts']}: {', '.join(map(printable, found.unknown[:10]))}")
    lines += [f"{_MARK} {zh if lang == 'zh' else en}" for zh, en in found.assumptions]
    return "\n".join(lines).rstrip()


def _figures(found: Estimate, lang: Lang) -> list[tuple[str, str, str]]:
    say = texts(lang)
    return [
        ("TOTAL_WEIGHT_SIZE", size(found.weight_bytes), _assumed(found.weight_parts)),
        ("TOTAL_MEM_SIZE", size(found.memory_bytes), _assumed(found.memory_parts)),
        ("TOTAL_EXEOM_SIZE", size(found.exeom_bytes), _assumed(found.exeom_parts)),
        ("TOTAL_NET_OP_TYPE", ", ".join(found.op_types), ""),
        ("NOT_SUPPORT_OP_TYPE", ", ".join(unsupported(found)) or say["none"], ""),
        (say["macs"], count(found.macs), ""),
        (say["parameters_count"], count(found.parameters), ""),
        (say["latency_bound"], milliseconds(found.latency_lower_bound_ms, say["not_known_figure"]), ""),
        (say["latency_estimate"], milliseconds(found.latency_estimate_ms, say["not_known_figure"]), _MARK),
    ]


def unsupported(found: Estimate) -> list[str]:
    """Return the operator types that the device does not run, sorted."""
    return sorted({finding.op_type for finding in found.findings if finding.severity == "unsupported"})


def _assumed(parts: Sequence[Part]) -> str:
    return _MARK if any(part.assumed for part in parts) else ""


def _parts(title: str, parts: Sequence[Part], lang: Lang) -> str:
    shown = " + ".join(
        f"{part.zh if lang == 'zh' else part.en} {size(part.bytes)}{_MARK if part.assumed else ''}" for part in parts
    )
    return f"{title}: {shown}"


def _findings(found: Estimate, lang: Lang) -> list[str]:
    """Return what the device does not run or limits, each kind once with its nodes, and what to do."""
    say = texts(lang)
    groups: dict[tuple[str, str, str], list[str]] = {}
    for finding in found.findings:
        if finding.severity == "note":
            continue
        told, fix = (finding.zh, finding.fix_zh) if lang == "zh" else (finding.en, finding.fix_en)
        groups.setdefault((finding.op_type, told, fix), []).append(finding.node)
    lines = []
    for (op_type, told, fix), nodes in list(groups.items())[:_FINDINGS]:
        more = f" … ({len(nodes)})" if len(nodes) > 3 else ""
        where = ", ".join(printable(node) for node in nodes[:3]) + more
        head = f"{printable(op_type)}: " if op_type else ""
        lines.append(f"✗ {head}{told}" + (f" [{where}]" if where.strip() else ""))
        if fix:
            lines.append(f"    {say['to_do']}: {fix}")
    if len(groups) > _FINDINGS:
        lines.append(f"… {len(groups) - _FINDINGS}")
    return [*lines, ""] if lines else []


def layer_table(one: Estimated, lang: Lang) -> str:
    """Return the layers of an estimate, inserted ones marked."""
    say = texts(lang)
    rows = [
        (
            ("+ " if layer.is_inserted else "") + printable(layer.name),
            layer.op_type,
            "x".join(map(str, layer.outputs[0] or ())) if layer.outputs else "",
            count(layer.macs),
            count(layer.weight_bytes),
            count(layer.output_bytes),
            count(layer.live_bytes),
            count(layer.cycles_lower_bound),
            count(layer.cycles_estimate),
        )
        for layer in one.estimate.layers
    ]
    names = ("layer", "op", "shape", "MACs", "weights_b", "output_b", "live_b", "cycles_bound", "cycles_estimate")
    header = tuple(say.get(f"col_{name}", name) for name in names)
    return table(rows, header, terminal_width())


def together(all_of: Sequence[Estimated], lang: Lang) -> str:
    """Return several estimates side by side, a column each."""
    say = texts(lang)
    columns = [dict((name, f"{value}{mark}") for name, value, mark in _figures(one.estimate, lang)) for one in all_of]
    names = list(columns[0])
    rows = [(name, *(_short(column[name]) for column in columns)) for name in names]
    rows.append((say["col_live_b"], *(size(one.estimate.peak.bytes) for one in all_of)))
    header = (say["figure"], *(printable(one.path.rsplit("/", 1)[-1]) for one in all_of))
    shown = table(rows, header, terminal_width())
    seen: dict[str, None] = {}
    for one in all_of:
        for zh, en in one.estimate.assumptions:
            seen.setdefault(f"{_MARK} {zh if lang == 'zh' else en}")
    return "\n".join([shown, "", *seen])


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"
