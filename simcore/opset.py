"""ONNX opset versions that each toolchain says it takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = ["RANGES", "Range"]


@dataclass(frozen=True, slots=True)
class Range:
    """Opset versions, both ends included."""

    low: int
    """1 where the source names no lower end."""
    high: int
    source: str


#: By toolchain. Where documents of one toolchain disagree, each has its own entry and the narrow one comes first.
RANGES: Final[Mapping[str, Range]] = MappingProxyType(
    {
        "nano": Range(11, 15, "Nano ATC guide, --framework; up to 15 every document of Nano agrees"),
        "nano-guide": Range(11, 18, "Nano AI application guide, operator availability"),
        "amct-onnx": Range(1, 16, "AMCT guide, convert_qat_model: at most opset 16"),
        "cann-atc": Range(11, 18, "open graph engine of CANN (hicann/ge), docs, --framework"),
        "hb-mapper": Range(10, 11, "D-Robotics RDK documentation, toolchain FAQ (X3, X5)"),
        "rknn-1.5": Range(1, 12, "Rockchip RKNN Toolkit2 1.5 notes"),
        "rknn-2": Range(1, 19, "Rockchip RKNN Toolkit2 2.x notes"),
    }
)
