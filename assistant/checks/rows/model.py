"""Rows: whole models, layers on a systolic array."""

from typing import Final

from assistant.checks import model
from assistant.checks.types import Check, Parameter, Result

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="estimate_model",
        zh="估算一个 ONNX 模型：权重、内存、flash、时延、不支持的算子",
        en="estimate an ONNX model: weights, memory, flash, latency, unsupported operators",
        help_zh="读入模型文件，给出 TOTAL_WEIGHT_SIZE、TOTAL_MEM_SIZE、TOTAL_EXEOM_SIZE、参数个数、MACs、"
        "内存峰值、时延下限与估计、"
        "设备不支持的算子。动态输入用 shape 给出。更详细的用 asknpu estimate。",
        help_en="Reads a model file and gives TOTAL_WEIGHT_SIZE, TOTAL_MEM_SIZE, TOTAL_EXEOM_SIZE, parameters, MACs, "
        "memory peak, a lower bound and an estimate of the latency, and the operators that the device "
        "does not run. shape is that of an open input. asknpu estimate gives more.",
        asks_zh=(
            "估算一下 model.onnx 能不能放进 Nano",
            "net.onnx 在 035A 上要多少内存和 flash",
            "这个模型 yolo.onnx 1x3x320x320 要跑多久",
            "a.onnx 有哪些算子不支持",
        ),
        asks_en=(
            "estimate model.onnx for Nano",
            "will net.onnx fit, how much RAM and flash does it need",
            "how long does yolo.onnx take at 1x3x320x320 on Nano",
            "which operators of a.onnx are not supported",
        ),
        parameters=(
            Parameter("model", "file", "模型文件", "model file", "model.onnx", words=("model", "模型", "onnx")),
            Parameter(
                "shape", "shape", "动态输入的形状", "shape of an open input", "1x3x224x224", low=1, high=1 << 32,
                default=None, most=8, words=("shape", "input", "输入", "形状"),
            ),
            Parameter(
                "device", "choice", "设备", "device", "nano-035a",
                choices=("nano-035a", "nano-035b", "j6", "magicmind"), default="nano-035a", words=("device", "设备"),
                spoken={"nano-035a": ("nano", "035a", "ascend035a"), "nano-035b": ("035b", "ascend035b")},
            ),
            Parameter(
                "clock", "number", "主频（不给为设备的参考主频）", "clock (default: the device's reference)", "64",
                unit="MHz", low=1e-3, high=1e5, default=None, words=("clock", "主频", "频率", "frequency"),
            ),
            Parameter(
                "view", "choice", "数法", "how it counts", "script", choices=("fused", "script"), default="fused",
                words=("view",),
            ),
        ),
        results=(
            Result("weight_bytes", "权重 TOTAL_WEIGHT_SIZE", "weights, TOTAL_WEIGHT_SIZE", "byte"),
            Result("memory_bytes", "内存 TOTAL_MEM_SIZE（含假设）", "memory, TOTAL_MEM_SIZE (assumptions)", "byte"),
            Result("exeom_bytes", "TOTAL_EXEOM_SIZE（含假设）", "TOTAL_EXEOM_SIZE (assumptions)", "byte"),
            Result("parameters", "参数个数", "parameters"),
            Result("macs", "乘加次数", "multiply-adds", "MAC"),
            Result("peak_bytes", "中间张量峰值", "peak of intermediate tensors", "byte"),
            Result("peak_layer", "峰值所在层", "layer of the peak"),
            Result("lower_bound_ms", "时延下限", "latency, lower bound", "ms"),
            Result("estimate_ms", "时延估计（含假设）", "latency, estimate (assumptions)", "ms"),
            Result("op_types", "算子类型", "operator types"),
            Result("unsupported", "不支持的算子", "unsupported operators"),
        ),
        shown_zh="权重 {weight_bytes}，内存 {memory_bytes}，exeom {exeom_bytes} 字节；"
        "时延至少 {lower_bound_ms} ms，估计 {estimate_ms} ms；不支持：{unsupported}",
        shown_en="weights {weight_bytes}, memory {memory_bytes}, exeom {exeom_bytes} bytes; latency at least "
        "{lower_bound_ms} ms, estimated {estimate_ms} ms; not supported: {unsupported}",
        function=model.estimate_model,
        source="Nano AI application guide, model evaluation; operator list; figures of the device",
        assumptions=(
            (
                "指令大小、exeom 头、格式转换的位置、向量单元速率没有公开资料；逐条见 asknpu estimate",
                "instruction sizes, the exeom header, where formats are converted and the rate of the vector unit have "
                "no source; asknpu estimate lists each assumption",
            ),
        ),
    ),
    Check(
        name="systolic_cycles",
        zh="卷积在脉动阵列上要多少周期",
        en="cycles of a convolution on a systolic array",
        help_zh="按 SCALE-Sim 的闭式公式算 os、ws、is 三种数据流的周期数（无带宽停顿）。"
        "sizes=scalesim 用它的输出尺寸（向上取整），sizes=onnx 用 ONNX 的向下取整。输入尺寸要含填充。",
        help_en="Closed forms equal to SCALE-Sim for the dataflows os, ws and is, without bandwidth stalls. "
        "sizes=scalesim takes its output size (rounded up), sizes=onnx that of ONNX (rounded down). The input size "
        "includes padding.",
        asks_zh=(
            "56x56 64 通道 3x3 卷积在 32x32 脉动阵列上多少周期",
            "weight stationary 和 output stationary 周期差多少",
            "SCALE-Sim 的周期数怎么算",
            "脉动阵列的利用率",
        ),
        asks_en=(
            "cycles of a 3x3 convolution with 64 channels on a 32x32 systolic array",
            "weight stationary versus output stationary cycles",
            "SCALE-Sim cycle count of a layer",
            "utilisation of a 16x16 systolic array",
        ),
        parameters=(
            Parameter("height", "integer", "输入高（含填充）", "input height, padding included", "58", low=1,
                      high=100_000, in_order=True, words=("height", "高")),
            Parameter("width", "integer", "输入宽（含填充）", "input width, padding included", "58", low=1,
                      high=100_000, in_order=True, words=("width", "宽")),
            Parameter("kernel", "integer", "卷积核边长", "kernel side", "3", low=1, high=1000,
                      words=("kernel", "卷积核", "核")),
            Parameter("channels", "integer", "输入通道", "input channels", "64", low=1, high=100_000,
                      words=("channels", "通道", "输入通道", "cin")),
            Parameter("filters", "integer", "输出通道", "filters", "64", low=1, high=100_000,
                      words=("filters", "输出通道", "cout")),
            Parameter("stride", "integer", "步幅", "stride", "1", low=1, high=1000, default=1,
                      words=("stride", "步幅")),
            Parameter("rows", "integer", "阵列行数", "rows of the array", "32", low=1, high=4096, default=32,
                      words=("rows", "行")),
            Parameter("columns", "integer", "阵列列数", "columns of the array", "32", low=1, high=4096, default=32,
                      words=("columns", "列")),
            Parameter("dataflow", "choice", "数据流", "dataflow", "ws", choices=("os", "ws", "is"), default="os",
                      words=("dataflow", "数据流"),
                      spoken={"os": ("output stationary",), "ws": ("weight stationary",), "is": ("input stationary",)}),
            Parameter("sizes", "choice", "输出尺寸的取整", "rounding of output sizes", "scalesim",
                      choices=("onnx", "scalesim"), default="onnx", words=("sizes",),
                      spoken={"scalesim": ("scale-sim", "scalesim")}),
        ),
        results=(
            Result("cycles", "周期数", "cycles"),
            Result("macs", "乘加次数", "multiply-adds", "MAC"),
            Result("outputs", "输出点数", "output positions"),
            Result("utilisation", "乘法器利用率", "utilisation of the multipliers"),
        ),
        shown_zh="{cycles} 个周期（{rows}x{columns} 阵列，{dataflow}），利用率 {utilisation}",
        shown_en="{cycles} cycles on a {rows}x{columns} array ({dataflow}), utilisation {utilisation}",
        function=model.systolic_cycles,
        source="SCALE-Sim 3.0.0, total cycles without stalls; ONNX Conv for the output size",
    ),
)  # fmt: skip
