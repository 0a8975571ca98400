"""Rows: scales, offsets and codes."""

from typing import Final

from assistant.checks import quantization
from assistant.checks.types import Check, Parameter, Result

_DTYPES: Final = ("int4", "uint4", "int8", "uint8", "int16", "uint16")

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="quant_range",
        zh="scale 和 offset 能表示的范围",
        en="range that a scale and zero point can represent",
        help_zh="由 scale、zero_point（offset）和整数类型算出可表示的最小值、最大值和步长：(q - zero_point) * step。"
        "form 说明 scale 的写法：step（ONNX、AMCT 的步长）或 reciprocal（海思 GFPQ 记录里的 1/步长）。",
        help_en="From scale, zero point (offset) and integer type: the smallest and largest real value and the step, "
        "(q - zero_point) * step. form says how the scale is written: step (ONNX, AMCT) or reciprocal (HiSilicon GFPQ "
        "records hold 1/step).",
        asks_zh=(
            "scale 0.02 的对称 int8 能表示多大范围",
            "这个 scale 和 offset 会不会饱和，最大能到多少",
            "量化参数对应的取值范围",
            "int16 scale 的可表示范围",
        ),
        asks_en=(
            "what range can int8 with scale 0.02 represent",
            "largest value before saturation for this scale and offset",
            "representable range of scale and zero point",
            "min and max of uint8 with zero point 128",
        ),
        parameters=(
            Parameter(
                "scale", "number", "量化 scale", "quantization scale", "0.02", low=1e-38, high=1e38,
                words=("scale", "scale_d", "步长", "缩放因子", "量化因子"),
            ),
            Parameter(
                "zero_point", "integer", "零点（offset）", "zero point (offset)", "-3", low=-65536, high=65536,
                default=0, words=("zero_point", "zero point", "zp", "offset", "offset_d", "零点", "偏移"),
            ),
            Parameter(
                "dtype", "choice", "码的整数类型", "integer type of the codes", "int8", choices=_DTYPES, default="int8",
            ),
            Parameter(
                "form", "choice", "scale 的写法", "how the scale is written", "step", choices=("step", "reciprocal"),
                default="step",
            ),
        ),
        results=(
            Result("low", "最小值", "smallest value"),
            Result("high", "最大值", "largest value"),
            Result("step", "步长", "step"),
        ),
        shown_zh="{dtype} 可表示 {low} 到 {high}，步长 {step}；超出就饱和",
        shown_en="{dtype} represents {low} to {high} in steps of {step}; values outside saturate",
        function=quantization.quant_range,
        source="AMCT guide, quantization principle; ONNX DequantizeLinear; HiSilicon ATC guide, GFPQ parameter file",
    ),
)  # fmt: skip
