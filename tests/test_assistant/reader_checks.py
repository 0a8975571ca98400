"""Small checks with the parameters that real ones have, to read sentences for; they compute nothing."""

from collections.abc import Mapping
from typing import Any

from assistant.checks.types import Check, Parameter


def _nothing(**_: object) -> Mapping[str, Any]:
    return {}


def fake(name: str, *parameters: Parameter) -> Check:
    """Return a check of some parameters."""
    return Check(name, name, name, "", "", (), (), parameters, (), "", "", _nothing, "")


def number(
    name: str, *words: str, unit: str = "", low: float | None = None, high: float | None = None, **more: Any
) -> Parameter:
    return Parameter(name, "number", name, name, "1", unit, low, high, words=words, **more)


def integer(name: str, *words: str, low: float | None = 1, high: float | None = 1e9, **more: Any) -> Parameter:
    return Parameter(name, "integer", name, name, "1", low=low, high=high, words=words, **more)


def choice(name: str, choices: str, *words: str, zh: str = "", **more: Any) -> Parameter:
    return Parameter(
        name, "choice", zh or name, name, choices.split()[0], choices=tuple(choices.split()), words=words, **more
    )


def many(name: str, kind: Any, *words: str, **more: Any) -> Parameter:
    return Parameter(name, kind, name, name, "1", words=words, **more)


INTS = "int4 uint4 int8 uint8 int16 uint16"

THROUGHPUT = fake(
    "throughput",
    integer("batch", "batch size", "批大小", "批"),
    integer("launches", "launch", "runs", "次", "推理次数"),
    number("seconds", "wall time", "耗时", "用时", unit="s", low=1e-9),
    integer("instances", "instance", "路", "实例", default=1),
)
STAGES = fake(
    "stages", many("stages", "numbers", "阶段", "各阶段", unit="ms"), integer("cores", "core", "核", "实例", default=1)
)
CYCLES = fake(
    "cycles",
    number("macs", "mac", "乘加", unit="MAC", low=0),
    number("clock", "frequency", "主频", "频率", "时钟", unit="MHz", low=1e-3),
    number("utilization", "利用率", low=0, high=1, default=1.0),
)
RECURRENT = fake(
    "recurrent",
    choice("cell", "lstm gru rnn"),
    integer("input", "input size", "输入", "特征"),
    integer("hidden", "hidden size", "隐藏", "隐层", "hidden_size"),
    integer("layers", "layer", "层", "层数", default=1),
    integer("frames", "frame", "帧", "时间步", "seq_len", "t", default=1),
    choice("dtype", "int8 int16 fp16 fp32", default="fp32"),
)
TABLE = fake(
    "lut_error",
    choice("function", "tanh sigmoid"),
    integer("entries", "entry", "点", "项", "表项"),
    number("low", "下限", default=-8.0),
    number("high", "上限", default=8.0),
    choice("method", "linear nearest", default="linear"),
)
TENSOR = fake(
    "tensor_bytes",
    many("shape", "shape", "形状", "维度"),
    choice("dtype", "int8 uint8 int16 fp16 fp32", "类型"),
    integer("align", "alignment", "对齐", default=1),
    integer("batch", "批", default=1),
    choice("layout", "nchw nhwc nc4hw4", "布局", default="nchw"),
)
ACCUMULATE = fake(
    "accumulator",
    choice("a", INTS, "左", "激活"),
    choice("b", INTS, "右", "权重"),
    integer("k", "terms", "项", "累加", "products"),
    choice("accumulator", "int16 int32 int48", "累加器", default="int32"),
)
QUANTIZE = fake(
    "quantize",
    many("values", "numbers", "value", "值", "数值"),
    number("scale", "步长", low=1e-38),
    integer("zero_point", "zp", "offset", "零点", low=-65536, high=65536, default=0),
    choice("dtype", INTS, default="int8"),
)
FROM_RANGE = fake(
    "scale_from_range",
    number("low", "min", "最小值", "最小"),
    number("high", "max", "最大值", "最大"),
    choice("dtype", INTS, default="int8"),
    choice("form", "symmetric asymmetric", default="symmetric"),
    many("narrow", "flag", "narrow range", "窄范围", default=False),
)
NORMALISE = fake(
    "normalise",
    many("mean", "numbers", "means", "均值"),
    many("std", "numbers", "标准差"),
    number("pixel", "像素", default=None),
)
COMPARE = fake(
    "compare",
    many("mine", "file", "实测", "output"),
    many("golden", "file", "标杆", "reference"),
    number("threshold", "阈值", low=0, high=1, default=0.99),
)
METRICS = fake("metrics", many("a", "numbers"), many("b", "numbers"))
MEMORY = fake(
    "memory",
    number("weights", "权重", unit="byte", low=0),
    number("limit", "上限", "内存", "budget", unit="byte", low=0),
    number("bandwidth", "带宽", unit="GB/s", default=None),
)
TIMEOUT = fake("timeout", number("wait", "timeout", "超时", "等待", unit="ms", low=0))
TWO_TIMES = fake("speedup", number("before", "优化前", unit="ms"), number("after", "优化后", unit="ms"))
