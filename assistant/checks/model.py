"""Checks of whole models and single layers on hardware: what a model file needs, cycles of a systolic array."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from simcore.errors import BadArgument

__all__ = ["estimate_model", "systolic_cycles"]

#: Larger files are for `asknpu estimate`, which has no time limit.
_LARGEST = 64 << 20


def estimate_model(
    model: Path, shape: tuple[int, ...] | None, device: str, clock: float | None, view: str
) -> Mapping[str, Any]:
    """Return what an ONNX model needs on a device."""
    # What estimates models is loaded for this check only.
    from simcore.device import load_device
    from simcore.estimate import estimate
    from simcore.load_onnx import load_onnx

    if model.stat().st_size > _LARGEST:
        raise BadArgument(f"model: {model.name} is larger than {_LARGEST >> 20} MiB; use asknpu estimate for it.")
    graph = load_onnx(model)
    open_ones = [info.name for info in graph.inputs if not all(isinstance(size, int) for size in info.shape or ("?",))]
    if shape is not None and len(open_ones) > 1:
        raise BadArgument(f"shape: the inputs {', '.join(open_ones)} are open; use asknpu estimate --input for each.")
    inputs = {} if shape is None else {(open_ones or [info.name for info in graph.inputs])[0]: shape}
    found = estimate(
        graph, device=load_device(device), inputs=inputs, clock_mhz=clock,
        view="script" if view == "script" else "fused",
    )  # fmt: skip
    return {
        "weight_bytes": found.weight_bytes,
        "memory_bytes": found.memory_bytes,
        "exeom_bytes": found.exeom_bytes,
        "parameters": found.parameters,
        "macs": found.macs,
        "peak_bytes": found.peak.bytes,
        "peak_layer": found.peak.layer,
        "lower_bound_ms": found.latency_lower_bound_ms,
        "estimate_ms": found.latency_estimate_ms,
        "op_types": list(found.op_types),
        "unsupported": sorted({f.op_type for f in found.findings if f.severity == "unsupported" and f.op_type}),
    }


def systolic_cycles(
    height: int,
    width: int,
    kernel: int,
    channels: int,
    filters: int,
    stride: int,
    rows: int,
    columns: int,
    dataflow: Literal["os", "ws", "is"],
    sizes: str,
) -> Mapping[str, Any]:
    """Return the cycles of a convolution on a systolic array, and the share of its multipliers that work."""
    from simcore.systolic import Array, ConvLayer, array_cycles, conv_product

    if kernel > min(height, width):
        raise BadArgument(f"kernel: {kernel} is larger than the input {height} x {width}; give the padded size.")
    layer = ConvLayer(height, width, kernel, kernel, channels, filters, stride, stride)
    product = conv_product(layer, "ceil" if sizes == "scalesim" else "floor")
    cycles = array_cycles(product, Array(rows, columns, dataflow))
    return {
        "cycles": cycles,
        "macs": product.macs,
        "outputs": product.m,
        "utilisation": product.macs / (cycles * rows * columns),
    }
