"""An estimate as the JSON object of `estimate --json`; every assumed figure is marked."""

from typing import Any

from assistant.models.loading import Estimated, typical_models
from simcore.estimate import Estimate, Part
from simcore.support import Finding

__all__ = ["estimate_json"]


def estimate_json(one: Estimated) -> dict[str, Any]:
    """Return an estimate as an object of strict JSON."""
    found = one.estimate
    return {
        "model": one.path,
        "device": found.device,
        "view": found.view,
        "clock_mhz": found.clock_mhz,
        "weight_bytes": found.weight_bytes,
        "memory_bytes": found.memory_bytes,
        "exeom_bytes": found.exeom_bytes,
        "parts": {
            "weight": [_part(part) for part in found.weight_parts],
            "memory": [_part(part) for part in found.memory_parts],
            "exeom": [_part(part) for part in found.exeom_parts],
        },
        "op_types": list(found.op_types),
        "unsupported": [_finding(f) for f in found.findings if f.severity == "unsupported"],
        "limits": [_finding(f) for f in found.findings if f.severity == "limit"],
        "notes": [_finding(f) for f in found.findings if f.severity == "note"],
        "parameters": found.parameters,
        "macs": found.macs,
        "peak": {
            "bytes": found.peak.bytes,
            "lower_bound_bytes": found.peak.lower_bound_bytes,
            "layer": found.peak.layer,
            "tensors": [{"name": name, "bytes": size} for name, size in found.peak.tensors],
        },
        "latency": {
            "lower_bound_ms": found.latency_lower_bound_ms,
            "estimate_ms": found.latency_estimate_ms,
            "estimate_is_assumed": True,
        },
        "typical": [
            {"name": {"zh": m.zh, "en": m.en}, "size_mb": m.size_mb, "below": m.below, "time_ms": m.time_ms}
            for m in typical_models(found)
        ],
        "assumptions": [{"zh": zh, "en": en} for zh, en in found.assumptions],
        "unknown": list(found.unknown),
        "layers": _layers(found),
    }


def _part(part: Part) -> dict[str, Any]:
    return {"name": part.name, "bytes": part.bytes, "zh": part.zh, "en": part.en, "assumed": part.assumed}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "node": finding.node,
        "op_type": finding.op_type,
        "rule": finding.rule,
        "zh": finding.zh,
        "en": finding.en,
        "fix": {"zh": finding.fix_zh, "en": finding.fix_en},
        "source": finding.source,
    }


def _layers(found: Estimate) -> list[dict[str, Any]]:
    return [
        {
            "name": layer.name,
            "op_type": layer.op_type,
            "inputs": [None if shape is None else list(shape) for shape in layer.inputs],
            "outputs": [None if shape is None else list(shape) for shape in layer.outputs],
            "macs": layer.macs,
            "parameters": layer.parameters,
            "weight_bytes": layer.weight_bytes,
            "output_bytes": layer.output_bytes,
            "live_bytes": layer.live_bytes,
            "cycles_lower_bound": layer.cycles_lower_bound,
            "cycles_estimate": layer.cycles_estimate,
            "inserted": layer.is_inserted,
        }
        for layer in found.layers
    ]
