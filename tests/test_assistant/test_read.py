"""The reader: what a sentence says in numbers, and which argument of a check each is."""

import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.checks import values
from assistant.checks.numerals import chinese
from assistant.checks.quantities import read
from assistant.checks.read import READ_MOST, arguments
from assistant.checks.table import CHECKS
from assistant.checks.types import Check, Parameter
from tests.test_assistant import reader_checks as checks
from tests.test_assistant.reader_checks import fake

RANGE, SUM = CHECKS["quant_range"], CHECKS["fp16_sum_repeat"]
ALL = [value for value in vars(checks).values() if isinstance(value, Check)] + [RANGE, SUM]

# (kind, value) or (kind, value, unit) of every token of a text.
TOKENS: list[tuple[str, list[tuple[Any, ...]]]] = [
    # numbers
    ("1_000", [("number", 1000)]),
    ("共 1,000 张", [("number", 1000)]),
    ("12,345,678", [("number", 12345678)]),
    ("1,234.5", [("number", 1234.5)]),
    ("1e-3", [("number", 0.001)]),
    ("2.5E+3", [("number", 2500.0)]),
    (".5", [("number", 0.5)]),
    ("是 0.02。", [("number", 0.02)]),
    ("it is 5.", [("number", 5)]),
    ("1/128", [("number", 1 / 128)]),
    ("0x1F", [("number", 31)]),
    ("2^16", [("number", 65536)]),
    ("2**-7", [("number", 2**-7)]),
    ("2 的 10 次方", [("number", 1024)]),
    ("１２８", [("number", 128)]),
    ("０．５，", [("number", 0.5)]),
    ("－３", [("number", -3)]),
    ("−3.5", [("number", -3.5)]),
    ("零点-3", [("number", -3)]),
    ("+0.25", [("number", 0.25)]),
    ("9007199254740993", [("number", 9007199254740993)]),
    # numerals
    ("一百", [("number", 100)]),
    ("两路", [("number", 2)]),
    ("三千二百", [("number", 3200)]),
    ("三千二", [("number", 3200)]),
    ("一千零二十四", [("number", 1024)]),
    ("十六层", [("number", 16)]),
    ("1.5 万", [("number", 15000)]),
    ("2 亿", [("number", 200_000_000)]),
    ("百万", [("number", 1_000_000)]),
    ("3百万次", [("number", 3_000_000)]),
    ("1万2千", [("number", 12000)]),
    ("二零四八", [("number", 2048)]),
    ("三点五", [("number", 3.5)]),
    ("零点零二", [("number", 0.02)]),
    ("百分之五", [("number", 5, "%")]),
    ("二分之一", [("number", 0.5)]),
    ("128 分之 1", [("number", 1 / 128)]),
    ("半秒", []),  # a numeral without digit is left out: half of what is said in too many ways
    ("两秒半", [("number", 2.5, "s")]),
    ("four thousand times", [("number", 4000)]),
    ("twenty-five frames", [("number", 25)]),
    ("two hundred fifty", [("number", 250)]),
    ("1.5 million", [("number", 1_500_000)]),
    # magnitudes and units
    ("1M", [("number", 1_000_000)]),
    ("2k", [("number", 2000)]),
    ("3G", [("number", 3_000_000_000)]),
    ("4 MB", [("number", 4, "MB")]),
    ("5MiB", [("number", 5, "MiB")]),
    ("512KB", [("number", 512, "KB")]),
    ("64 字节", [("number", 64, "byte")]),
    ("64MHz", [("number", 64, "MHz")]),
    ("1.2 ghz", [("number", 1.2, "GHz")]),
    ("30ms", [("number", 30, "ms")]),
    ("５ 毫秒", [("number", 5, "ms")]),
    ("2 s", [("number", 2, "s")]),
    ("3秒", [("number", 3, "s")]),
    ("20us", [("number", 20, "us")]),
    ("30 fps", [("number", 30, "1/s")]),
    ("每秒 30 帧/秒", [("number", 30, "1/s")]),
    ("10 MB/s", [("number", 10, "MB/s")]),
    ("100 Mbps", [("number", 100, "Mbit/s")]),
    ("20 GOPS", [("number", 20, "GOPS")]),
    ("2.5TOPS", [("number", 2.5, "TOPS")]),
    ("99.9%", [("number", 99.9, "%")]),
    ("95％", [("number", 95, "%")]),
    ("1.2 GMACs", [("number", 1.2, "GMAC")]),
    ("16-bit", [("number", 16, "bit")]),
    ("8 位", [("number", 8, "bit")]),
    # shapes
    ("1x3x224x224", [("shape", (1, 3, 224, 224))]),
    ("1 x 3 x 224 x 224", [("shape", (1, 3, 224, 224))]),
    ("1*3*224*224", [("shape", (1, 3, 224, 224))]),
    ("224×224", [("shape", (224, 224))]),
    ("-1x3x8x8", [("shape", (-1, 3, 8, 8))]),
    ("1X3X8", [("shape", (1, 3, 8))]),
    ("1x64xf32", [("shape", (1, 64)), ("dtype", "fp32")]),
    ("[1,40,-1]", [("list", (1, 40, -1))]),
    ("(2, 3)", [("list", (2, 3))]),
    ("【2，3】", [("list", (2, 3))]),
    ("0.1*4096", [("number", 0.1), ("number", 4096)]),
    ("100x0.5", [("number", 100), ("number", 0.5)]),
    # lists
    ("[0.1, 0.2]", [("list", (0.1, 0.2))]),
    ("[100,200]", [("list", (100, 200))]),
    ("[1, inf, nan]", [("list", (1, math.inf, math.nan))]),
    ("[-inf, 0]", [("list", (-math.inf, 0))]),
    ('"1 2 3"', [("list", (1, 2, 3))]),
    ("60000 和 40000", [("list", (60000, 40000))]),
    ("values: 1, 2", [("list", (1, 2))]),
    ("1、2、3", [("list", (1, 2, 3))]),
    ("1, 2 and 3", [("list", (1, 2, 3))]),
    ("1 -2 3", [("list", (1, -2, 3))]),
    ("0.02 或 0.05", [("list", (0.02, 0.05))]),
    ("4 or 8, 100", [("list", (4, 8)), ("number", 100)]),
    ("3, 5, 2 ms", [("list", (3, 5, 2), "ms")]),
    ("[[1,2],[3,4]]", [("list", (1, 2)), ("list", (3, 4))]),
    ("1 s 500 ms", [("list", (1000, 500), "ms")]),
    ("8 MB 2 s", [("number", 8, "MB"), ("number", 2, "s")]),
    # ranges
    ("-4 到 16", [("range", (-4, 16))]),
    ("[-4, 16]", [("list", (-4, 16))]),
    ("from -4 to 16", [("range", (-4, 16))]),
    ("-4~16", [("range", (-4, 16))]),
    ("-4～16", [("range", (-4, 16))]),
    ("20-30 ms", [("range", (20, 30), "ms")]),
    ("between -1 and 1", [("range", (-1, 1))]),
    ("-1 和 1 之间", [("range", (-1, 1))]),
    ("0..1", [("range", (0, 1))]),
    ("±8", [("range", (-8, 8))]),
    ("0至255", [("range", (0, 255))]),
    # types
    ("int8", [("dtype", "int8")]),
    ("INT16", [("dtype", "int16")]),
    ("s8 u8", [("dtype", "int8"), ("dtype", "uint8")]),
    ("uint8_t", [("dtype", "uint8")]),
    ("int 8", [("dtype", "int8")]),
    ("fp16", [("dtype", "fp16")]),
    ("float16", [("dtype", "fp16")]),
    ("half", [("dtype", "fp16")]),
    ("half of them", []),
    ("in half precision", [("dtype", "fp16")]),
    ("半精度和单精度", [("dtype", "fp16"), ("dtype", "fp32")]),
    ("bfloat16", [("dtype", "bf16")]),
    ("s16*s8", [("dtype", "int16"), ("dtype", "int8")]),
    ("int8xint8", [("dtype", "int8"), ("dtype", "int8")]),
    ("无符号 8 位", [("dtype", "uint8")]),
    ("signed 16-bit", [("dtype", "int16")]),
    # files
    ("mine.npy 和 out/y.bin", [("file", "mine.npy"), ("file", "out/y.bin")]),
    ("比较mine.npy和golden.npy", [("file", "mine.npy"), ("file", "golden.npy")]),
    ('"my file.npy"', [("file", "my file.npy")]),
    ("../a-1.5/resnet50.onnx", [("file", "../a-1.5/resnet50.onnx")]),
    (r"C:\x\y.npy", [("file", r"C:\x\y.npy")]),
    # counts
    ("100 个 1000", [("number", 100), ("number", 1000)]),
    ("100 次", [("number", 100)]),
    ("4096 项", [("number", 4096)]),
    ("8 batch", [("number", 8)]),
    ("batch=8", [("number", 8)]),
    ("257-entry", [("number", 257)]),
    # no quantities
    ("YOLOv5 和 Hi3322V100", []),
    ("035A", []),
    ("resnet50, resnet-50, gpt-2", []),
    ("opset 11", []),
    ("opset=11", []),
    ("opset 版本是 11", []),
    ("ai.onnx::11::Div", []),
    ("报 E19010", []),
    ("错误码 507011", []),
    ("v1.2 1.5.2 10.0.0.1", []),
    ("2024-05-01 12:30:05", []),
    ("第 3 层", []),
    ("第一次", []),
    ("一个 万一 统一 一些 一共", []),
    ("几百个 两三个 数十次", []),
    ("千万别", []),
    ("2x faster", []),
    ("12nm", []),
    ("W8A8", []),
    ("NaN inf", []),
    ("1e999", []),
    ("1e-999", []),
    ("https://x.cn/a?b=12", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), TOKENS, ids=[text for text, _ in TOKENS])
def test_read_finds_the_quantities(text: str, expected: list[tuple[Any, ...]]) -> None:
    found = [(token.kind, token.value, token.unit) for token in read(text)]

    wanted = [(kind, value, *(unit or [""])) for kind, value, *unit in expected]
    assert repr(found) == repr(wanted) or found == pytest.approx(wanted) if not wanted else _same(found, wanted)


def _same(found: list[Any], wanted: list[Any]) -> bool:
    assert len(found) == len(wanted), found
    for (kind, value, unit), (kind_, value_, unit_) in zip(found, wanted, strict=True):
        assert (kind, unit) == (kind_, unit_), found
        if isinstance(value_, str):
            assert value == value_
        else:
            assert value == pytest.approx(value_, rel=1e-15, abs=0, nan_ok=True), found
    return True


C = checks
# check, question, the arguments that it gives (nothing missing, nothing ambiguous).
COMPLETE: list[tuple[Check, str, dict[str, Any]]] = [
    (RANGE, "scale 0.02 的对称 int8 能表示多大范围", {"scale": 0.02, "dtype": "int8"}),
    (RANGE, "what range can int8 with scale 0.02 represent", {"scale": 0.02, "dtype": "int8"}),
    (RANGE, "scale=0.02, zero_point=-3, dtype=uint8", {"scale": 0.02, "zero_point": -3, "dtype": "uint8"}),
    (RANGE, "scale: 0.02 zp: 128 u8", {"scale": 0.02, "zero_point": 128, "dtype": "uint8"}),
    (RANGE, "0.02 的 scale，零点-3，u8", {"scale": 0.02, "zero_point": -3, "dtype": "uint8"}),
    (RANGE, "scale是零点零二，零点是一百二十八，无符号8位", {"scale": 0.02, "zero_point": 128, "dtype": "uint8"}),
    (RANGE, "步长为0.5的INT16", {"scale": 0.5, "dtype": "int16"}),
    (RANGE, "int8 offset -3 scale 0.02", {"scale": 0.02, "zero_point": -3, "dtype": "int8"}),
    (RANGE, "int16 scale 1/128 range?", {"scale": 1 / 128, "dtype": "int16"}),
    (RANGE, "0.05, int16", {"scale": 0.05, "dtype": "int16"}),
    (RANGE, "reciprocal form, scale 52.24", {"scale": 52.24, "form": "reciprocal"}),
    (RANGE, "scale 的倒数是 52.24 吗，scale=52.24，倒数写法", {"scale": 52.24, "form": "reciprocal"}),
    (RANGE, "ＳＣＡＬＥ＝０．０２", {"scale": 0.02}),
    (RANGE, "Scale (0.02)", {"scale": 0.02}),
    (RANGE, "scale `2e-2` on opset 13", {"scale": 0.02}),
    (RANGE, "YOLOv5 的 scale 0.0157", {"scale": 0.0157}),
    (SUM, "reducesum 100 个 1000 在 NPU 上是多少", {"value": 1000, "count": 100}),
    (SUM, "what is the sum of 100 times 1000 in fp16", {"value": 1000, "count": 100, "accumulator": "fp16"}),
    (SUM, "adding 0.1 four thousand times in half precision", {"value": 0.1, "count": 4000, "accumulator": "fp16"}),
    (SUM, "一百个一千相加", {"value": 1000, "count": 100}),
    (SUM, "fp32 累加 4096 次 0.1", {"value": 0.1, "count": 4096, "accumulator": "fp32"}),
    (SUM, "value 1000 count 100", {"value": 1000, "count": 100}),
    (SUM, "1.5 万个 0.5，两两相加", {"value": 0.5, "count": 15000, "order": "pairwise"}),
    (SUM, "100 个 1000，溢出变 inf", {"value": 1000, "count": 100, "overflow": "infinity"}),
    (SUM, "100 个 1000，饱和", {"value": 1000, "count": 100, "overflow": "saturate"}),
    (SUM, "1000 加 100 次", {"value": 1000, "count": 100}),
    (SUM, "count=1e3 value=-2", {"value": -2, "count": 1000}),
    (SUM, "0.1*4096", {"value": 0.1, "count": 4096}),
    (SUM, "sum of 4096 x 0.1 in fp16", {"value": 0.1, "count": 4096, "accumulator": "fp16"}),
    (RANGE, "scale0.02 zp3 int8", {"scale": 0.02, "zero_point": 3, "dtype": "int8"}),
    (SUM, "100 个 -0.5", {"value": -0.5, "count": 100}),
    (C.THROUGHPUT, "batch 8, 100 launches in 2 s, qps?", {"batch": 8, "launches": 100, "seconds": 2}),
    (C.THROUGHPUT, "batch=8 launches=100 seconds=2", {"batch": 8, "launches": 100, "seconds": 2}),
    (C.THROUGHPUT, "8 batch 100 launches 2s", {"batch": 8, "launches": 100, "seconds": 2}),
    (C.THROUGHPUT, "batch8 跑 100 次用了 2 秒", {"batch": 8, "launches": 100, "seconds": 2}),
    (
        C.THROUGHPUT,
        "两路 batch 4，跑了 1000 次，耗时 1.5 秒",
        {"batch": 4, "launches": 1000, "seconds": 1.5, "instances": 2},
    ),
    (C.THROUGHPUT, "batch size 16, 50 runs, wall time 500 ms", {"batch": 16, "launches": 50, "seconds": 0.5}),
    (C.THROUGHPUT, "100launches batch 8 2 s", {"batch": 8, "launches": 100, "seconds": 2}),
    (C.THROUGHPUT, "batch 8 launches 100 2000ms", {"batch": 8, "launches": 100, "seconds": 2}),
    (C.THROUGHPUT, "1.5 万次 batch 1 共 30 秒", {"batch": 1, "launches": 15000, "seconds": 30}),
    (C.THROUGHPUT, "批大小为 32，推理次数 200，用时 4s", {"batch": 32, "launches": 200, "seconds": 4}),
    (
        C.THROUGHPUT,
        "100 launches of batch 8 took 2.5 seconds on two instances",
        {"batch": 8, "launches": 100, "seconds": 2.5, "instances": 2},
    ),
    (C.STAGES, "H2D 3 ms, compute 5 ms, D2H 2 ms", {"stages": (3, 5, 2)}),
    (C.STAGES, "stages 3, 5, 2 ms", {"stages": (3, 5, 2)}),
    (C.STAGES, "stages=[3,5,2]", {"stages": (3, 5, 2)}),
    (
        C.STAGES,
        "前处理 103.489 ms，推理 33.591 ms，后处理 4.332 ms，三核",
        {"stages": (103.489, 33.591, 4.332), "cores": 3},
    ),
    (C.STAGES, "H2D 500us compute 0.01 s", {"stages": (0.5, 10)}),
    (C.CYCLES, "300M MAC at 64 MHz", {"macs": 3e8, "clock": 64}),
    (C.CYCLES, "3 亿乘加，主频 64MHz，利用率 50%", {"macs": 3e8, "clock": 64, "utilization": 0.5}),
    (C.CYCLES, "1.2 GMACs @ 1GHz", {"macs": 1.2e9, "clock": 1000}),
    (C.CYCLES, "64MHz 跑 100 MMAC 要多久", {"macs": 1e8, "clock": 64}),
    (C.CYCLES, "macs=1e8 clock=64", {"macs": 1e8, "clock": 64}),
    (C.CYCLES, "频率 0.5 GHz，1 百万 MACs", {"macs": 1e6, "clock": 500}),
    (C.RECURRENT, "LSTM input 40 hidden 128 int8", {"cell": "lstm", "input": 40, "hidden": 128, "dtype": "int8"}),
    (
        C.RECURRENT,
        "GRU 输入 64 维，隐藏 256，两层，fp16",
        {"cell": "gru", "input": 64, "hidden": 256, "layers": 2, "dtype": "fp16"},
    ),
    (
        C.RECURRENT,
        "30 层 RNN，隐藏 256，输入 256，半精度",
        {"cell": "rnn", "input": 256, "hidden": 256, "layers": 30, "dtype": "fp16"},
    ),
    (
        C.RECURRENT,
        "lstm hidden_size=128 input=40 frames=80",
        {"cell": "lstm", "input": 40, "hidden": 128, "frames": 80},
    ),
    (C.RECURRENT, "T=18、隐藏 128 的 lstm，输入 40", {"cell": "lstm", "input": 40, "hidden": 128, "frames": 18}),
    (
        C.RECURRENT,
        "lstm 输入 40 隐藏 128，每句话最多只有 80 帧",
        {"cell": "lstm", "input": 40, "hidden": 128, "frames": 80},
    ),
    (C.TABLE, "257-entry tanh table over [-8,8]", {"function": "tanh", "entries": 257, "low": -8, "high": 8}),
    (C.TABLE, "sigmoid 65 项查表 -4 到 4", {"function": "sigmoid", "entries": 65, "low": -4, "high": 4}),
    (C.TABLE, "tanh 表 1024 点 最近邻", {"function": "tanh", "entries": 1024, "method": "nearest"}),
    (
        C.TABLE,
        "sigmoid 的 512 项表，±8，线性插值",
        {"function": "sigmoid", "entries": 512, "low": -8, "high": 8, "method": "linear"},
    ),
    (
        C.TABLE,
        "tanh lut 256 entries nearest from -6 to 6",
        {"function": "tanh", "entries": 256, "low": -6, "high": 6, "method": "nearest"},
    ),
    (C.TENSOR, "1x3x224x224 fp16 多少字节", {"shape": (1, 3, 224, 224), "dtype": "fp16"}),
    (C.TENSOR, "[1,40,-1] int8", {"shape": (1, 40, -1), "dtype": "int8"}),
    (C.TENSOR, "shape (2, 3) u8", {"shape": (2, 3), "dtype": "uint8"}),
    (C.TENSOR, "1*3*224*224 float32 nc4hw4", {"shape": (1, 3, 224, 224), "dtype": "fp32", "layout": "nc4hw4"}),
    (
        C.TENSOR,
        "形状 1×64×32×32，int8，batch 8，对齐 32",
        {"shape": (1, 64, 32, 32), "dtype": "int8", "align": 32, "batch": 8},
    ),
    (
        C.TENSOR,
        "batch 4 的 3x224x224 uint8 NHWC",
        {"shape": (3, 224, 224), "dtype": "uint8", "batch": 4, "layout": "nhwc"},
    ),
    (C.TENSOR, "MNN 里 1x3x224x224 的输入 tensor，单精度", {"shape": (1, 3, 224, 224), "dtype": "fp32"}),
    (C.TENSOR, "dtype=fp16 layout=NHWC shape=[8,8]", {"shape": (8, 8), "dtype": "fp16", "layout": "nhwc"}),
    (
        C.ACCUMULATE,
        "int16 的 MatMul 累加 4096 项会溢出 int32 吗",
        {"a": "int16", "b": "int16", "k": 4096, "accumulator": "int32"},
    ),
    (C.ACCUMULATE, "s16*s8 K=1024", {"a": "int16", "b": "int8", "k": 1024}),
    (C.ACCUMULATE, "int8xint8 一千零二十四项", {"a": "int8", "b": "int8", "k": 1024}),
    (C.ACCUMULATE, "u8*s8 两项 int16 累加器", {"a": "uint8", "b": "int8", "k": 2, "accumulator": "int16"}),
    (C.ACCUMULATE, "int8 dot of 9 products in int16", {"a": "int8", "b": "int8", "k": 9, "accumulator": "int16"}),
    (C.ACCUMULATE, "a=int16 b=int8 k=256", {"a": "int16", "b": "int8", "k": 256}),
    (C.ACCUMULATE, "激活 int16 权重 int8 累加 512 项", {"a": "int16", "b": "int8", "k": 512}),
    (C.QUANTIZE, "scale 0.02 values 1, 2, 3", {"values": (1, 2, 3), "scale": 0.02}),
    (
        C.QUANTIZE,
        "[0.1, 0.2] scale 0.05 zp 3 uint8",
        {"values": (0.1, 0.2), "scale": 0.05, "zero_point": 3, "dtype": "uint8"},
    ),
    (C.QUANTIZE, "scale 0.02, 0.5 和 100 量化成多少", {"values": (0.5, 100), "scale": 0.02}),
    (C.QUANTIZE, "用 0.5 的步长量化 1.25", {"values": (1.25,), "scale": 0.5}),
    (
        C.QUANTIZE,
        "quantize 0.3 0.49 0.9 with scale 1.0 zp -128",
        {"values": (0.3, 0.49, 0.9), "scale": 1, "zero_point": -128},
    ),
    (C.FROM_RANGE, "min -4 max 16 uint8 非对称", {"low": -4, "high": 16, "dtype": "uint8", "form": "asymmetric"}),
    (C.FROM_RANGE, "-4 到 16 int8", {"low": -4, "high": 16, "dtype": "int8"}),
    (C.FROM_RANGE, "[-4, 16] asymmetric", {"low": -4, "high": 16, "form": "asymmetric"}),
    (C.FROM_RANGE, "from -4 to 16", {"low": -4, "high": 16}),
    (C.FROM_RANGE, "-4~16 对称", {"low": -4, "high": 16, "form": "symmetric"}),
    (C.FROM_RANGE, "最小值-1.5 最大值3", {"low": -1.5, "high": 3}),
    (C.FROM_RANGE, "最大 6 最小 0", {"low": 0, "high": 6}),
    (C.FROM_RANGE, "low=-1 high=1 narrow range", {"low": -1, "high": 1, "narrow": True}),
    (C.FROM_RANGE, "low=-1 high=1 narrow=false", {"low": -1, "high": 1, "narrow": False}),
    (C.FROM_RANGE, "between -1 and 1, int16 symmetric", {"low": -1, "high": 1, "dtype": "int16", "form": "symmetric"}),
    (C.FROM_RANGE, "x 在 -4 和 16 之间", {"low": -4, "high": 16}),
    (
        C.NORMALISE,
        "mean [0.485, 0.456, 0.406] std [0.229, 0.224, 0.225]",
        {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)},
    ),
    (
        C.NORMALISE,
        "均值 123.675 116.28 103.53，标准差 58.395 57.12 57.375",
        {"mean": (123.675, 116.28, 103.53), "std": (58.395, 57.12, 57.375)},
    ),
    (C.NORMALISE, "mean 0 std 255", {"mean": (0,), "std": (255,)}),
    (C.NORMALISE, "mean=[0,0,0] std=[255,255,255] 像素 200", {"mean": (0, 0, 0), "std": (255,) * 3, "pixel": 200}),
    (C.COMPARE, "golden.npy 和 mine.npy 阈值 0.95", {"mine": "mine.npy", "golden": "golden.npy", "threshold": 0.95}),
    (C.COMPARE, "output out/y.bin reference ref/y.bin", {"mine": "out/y.bin", "golden": "ref/y.bin"}),
    (C.COMPARE, "比较a.npy，标杆是b.npy 阈值 99%", {"mine": "a.npy", "golden": "b.npy", "threshold": 0.99}),
    (C.METRICS, "[1,2,3] 和 [1.1,2,3] 的余弦", {"a": (1, 2, 3), "b": (1.1, 2, 3)}),
    (C.METRICS, "b=[1,2] a=[3,4]", {"a": (3, 4), "b": (1, 2)}),
    (C.MEMORY, "权重 1M 内存 2 MiB", {"weights": 1e6, "limit": 2097152}),
    (C.MEMORY, "512 KiB weights, budget 1MB", {"weights": 524288, "limit": 1e6}),
    (C.MEMORY, "带宽 10 GB/s 权重 1MB 上限 2MB", {"weights": 1e6, "limit": 2e6, "bandwidth": 10}),
    (C.TIMEOUT, "1.5 s", {"wait": 1500}),
    (C.TIMEOUT, "超时 2 秒", {"wait": 2000}),
    (C.TIMEOUT, "wait 300", {"wait": 300}),
    (C.TIMEOUT, "timeout=20us", {"wait": 0.02}),
    (C.TWO_TIMES, "优化前 30.7 ms 优化后 14.3 ms", {"before": 30.7, "after": 14.3}),
    (C.TWO_TIMES, "after 500ms, before 2 s", {"before": 2000, "after": 500}),
]


@pytest.mark.parametrize(
    ("check", "text", "expected"), COMPLETE, ids=[f"{check.name}: {text}" for check, text, _ in COMPLETE]
)
def test_arguments_are_read_from_a_question(check: Check, text: str, expected: dict[str, Any]) -> None:
    reading = arguments(check, text)

    assert (reading.missing, dict(reading.ambiguous)) == ((), {})
    assert reading.arguments.keys() == expected.keys()
    for name, value in expected.items():
        read_value = reading.arguments[name]
        assert read_value == value if isinstance(value, str | bool) else read_value == pytest.approx(value, rel=1e-15)
        source = reading.evidence[name]
        assert source.text == text[source.start : source.end]
        assert source.value == read_value


@pytest.mark.parametrize(
    ("check", "text"),
    [(check, text) for check, text, _ in COMPLETE if check in (RANGE, SUM)],
    ids=lambda value: str(value)[:40],
)
def test_arguments_fit_the_check(check: Check, text: str) -> None:
    values.arguments(check, arguments(check, text).arguments)


# check, question, arguments, missing, ambiguous (name -> values), texts of the unused.
PARTIAL: list[tuple[Check, str, dict[str, Any], tuple[str, ...], dict[str, list[Any]], list[str]]] = [
    (RANGE, "int16 scale 的可表示范围", {"dtype": "int16"}, ("scale",), {}, []),
    (RANGE, "这个 scale 和 offset 会不会饱和", {}, ("scale",), {}, []),
    (RANGE, "min and max of uint8 with zero point 128", {"zero_point": 128, "dtype": "uint8"}, ("scale",), {}, []),
    (RANGE, "scale 0.02 或 0.05 的 int8", {"dtype": "int8"}, (), {"scale": [0.02, 0.05]}, []),
    (RANGE, "scale=0.02 scale=0.05", {}, (), {"scale": [0.02, 0.05]}, []),
    (RANGE, "scale 有 0.02 和 0.05 两个", {}, (), {"scale": [0.02, 0.05]}, []),
    (RANGE, "scale 从 0.02 改成 0.05", {}, (), {"scale": [0.02, 0.05]}, []),
    (RANGE, "scale 0.02 instead of 0.05", {}, (), {"scale": [0.02, 0.05]}, []),
    (RANGE, "scale 0.02 和 0.05", {}, (), {"scale": [0.02, 0.05]}, []),
    (RANGE, "int8 和 int16，scale 0.1", {"scale": 0.1}, (), {"dtype": ["int8", "int16"]}, []),
    (RANGE, "0.5 或者 0.25", {}, (), {"scale": [0.5, 0.25]}, []),
    (RANGE, "scale 64MHz", {}, ("scale",), {}, ["64MHz"]),
    (RANGE, "scale 0.02，跑了 3 ms", {"scale": 0.02}, (), {}, ["3 ms"]),
    (RANGE, "opset 13 的 scale", {}, ("scale",), {}, []),
    (RANGE, "量化对不对，foo=3", {}, ("scale",), {}, ["3"]),
    (SUM, "cumsum 超过 65504 会怎样", {}, (), {"value": [65504], "count": [65504]}, []),
    (SUM, "100 1000", {}, (), {"value": [100, 1000], "count": [100, 1000]}, []),
    (SUM, "fp16 累加 n 次的结果", {"accumulator": "fp16"}, ("value", "count"), {}, []),
    (SUM, "100 次", {"count": 100}, ("value",), {}, []),
    (SUM, "加两次", {"count": 2}, ("value",), {}, []),
    (SUM, "不饱和，100 个 1000，先 fp16 再 fp32", {"value": 1000, "count": 100}, (), {"accumulator": ["fp16", "fp32"]}, []),
    (C.THROUGHPUT, "batch 4 or 8, 100 launches, 2 s", {"launches": 100, "seconds": 2}, (), {"batch": [4, 8]}, []),
    (C.THROUGHPUT, "跑 100 次 2 秒", {"launches": 100, "seconds": 2}, ("batch",), {}, []),
    (C.THROUGHPUT, "batch 8, 100 launches, 2 s then 3 s", {"batch": 8, "launches": 100}, (), {"seconds": [2, 3]}, []),
    (C.CYCLES, "100 ms 64MHz", {"clock": 64}, ("macs",), {}, ["100 ms"]),
    (C.CYCLES, "64MHz 和 128MHz，1M MAC", {"macs": 1e6}, (), {"clock": [64, 128]}, []),
    (C.RECURRENT, "batch 4 lstm，隐藏128，输入40", {"cell": "lstm", "input": 40, "hidden": 128}, (), {}, ["4"]),
    (C.RECURRENT, "lstm 还是 gru，输入 40 隐藏 128", {"input": 40, "hidden": 128}, (), {"cell": ["lstm", "gru"]}, []),
    (
        C.TENSOR, "1x3x224x224 和 1x64x112x112 int8", {"dtype": "int8"}, (),
        {"shape": [(1, 3, 224, 224), (1, 64, 112, 112)]}, [],
    ),
    (C.QUANTIZE, "值 100,200 scale 0.1", {"scale": 0.1}, (), {"values": [(100200,), (100, 200)]}, []),
    (C.FROM_RANGE, "min 0", {"low": 0}, ("high",), {}, []),
    (C.FROM_RANGE, "-4 到 16 还有 -1 到 1", {}, (), {"low": [-4, -1], "high": [16, 1]}, []),
    (
        C.NORMALISE, "[1,2,3] [4,5,6]", {}, (),
        {"mean": [(1, 2, 3), (4, 5, 6)], "std": [(1, 2, 3), (4, 5, 6)]}, [],
    ),
    (C.COMPARE, "a.npy b.npy", {}, (), {"mine": ["a.npy", "b.npy"], "golden": ["a.npy", "b.npy"]}, []),
    (C.MEMORY, "4 MB", {}, (), {"weights": [4e6], "limit": [4e6]}, []),
    (C.TIMEOUT, "timeout 64MHz", {}, ("wait",), {}, ["64MHz"]),
    (C.TWO_TIMES, "30.7 ms 14.3 ms", {}, (), {"before": [30.7, 14.3], "after": [30.7, 14.3]}, []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("check", "text", "given_", "missing", "ambiguous", "unused"),
    PARTIAL,
    ids=[f"{row[0].name}: {row[1]}" for row in PARTIAL],
)
def test_what_is_not_said_is_missing_and_what_is_said_twice_is_ambiguous(
    check: Check,
    text: str,
    given_: dict[str, Any],
    missing: tuple[str, ...],
    ambiguous: dict[str, list[Any]],
    unused: list[str],
) -> None:
    reading = arguments(check, text)

    assert reading.arguments == given_
    assert reading.missing == missing
    assert {name: [c.value for c in found] for name, found in reading.ambiguous.items()} == ambiguous
    assert [token.text for token in reading.unused] == unused


def test_text_parameters_are_read_from_a_key_only() -> None:
    check = fake("t", Parameter("name", "text", "", "", "x"))

    assert arguments(check, 'name="Conv 12"').arguments == {"name": "Conv 12"}
    assert arguments(check, "name=Conv_12, 3").arguments == {"name": "Conv_12"}
    assert arguments(check, "some name Conv").missing == ("name",)


def test_a_list_longer_than_its_parameter_is_left_out() -> None:
    check = fake("t", Parameter("values", "numbers", "", "", "1", most=3))

    assert arguments(check, "values [1,2,3]").arguments == {"values": (1, 2, 3)}
    assert arguments(check, "values [1,2,3,4]").missing == ("values",)


def test_flag_is_denied_by_a_word_before_it() -> None:
    check = fake("t", Parameter("saturate", "flag", "", "", "true", default=True, words=("饱和", "saturation")))

    assert arguments(check, "不饱和").arguments == {"saturate": False}
    assert arguments(check, "without saturation").arguments == {"saturate": False}
    assert arguments(check, "会饱和").arguments == {"saturate": True}
    assert arguments(check, "saturate=off").arguments == {"saturate": False}


@pytest.mark.parametrize(
    ("run", "value"),
    [("十", 10), ("十二", 12), ("二十", 20), ("一百零五", 105), ("一百五", 150), ("两千", 2000), ("一万零一", 10001),
     ("十万", 100_000), ("一千二百万", 12_000_000), ("三亿五千万", 350_000_000), ("一万亿", 10**12), ("零", 0),
     ("万一", None), ("三四", None), ("百", None), ("千百", None), ("", None), ("一" * 21, None), ("二十三十", None)],
)  # fmt: skip
def test_chinese_numerals(run: str, value: int | None) -> None:
    assert chinese(run) == value


# What the reader looks at, in arbitrary order: likelier to break it than arbitrary characters.
PARTS = (
    "1 12 0.5 1e3 .5 -3 1,000 , ， 、 [ ] ( ) x × * = : 到 ~ - ± / 和 或 and or to 个 次 一 百 万 两 半 零点 点 分之 % ms MHz k M "
    'int8 fp16 scale zp batch launches values 是 的 对称 不 nan inf a.npy 0x1f opset 第 \n \0 \ud800 İ ١ " `'
)
PIECES = st.lists(
    st.sampled_from(PARTS.split(" ")),
    max_size=30,
)  # fmt: skip


@given(st.text(max_size=60) | PIECES.map("".join) | PIECES.map(" ".join))
def test_no_text_is_refused_and_spans_hold(text: str) -> None:
    end = 0
    for token in read(text):
        assert end <= token.start < token.end <= len(text)
        assert token.text == text[token.start : token.end]
        assert all(token.start <= item.start < item.end <= token.end for item in token.items)
        end = token.end
    for check in ALL:
        reading = arguments(check, text)
        names = {parameter.name for parameter in check.parameters}
        assert names >= reading.arguments.keys() | reading.ambiguous.keys() | set(reading.missing)
        assert not reading.arguments.keys() & (reading.ambiguous.keys() | set(reading.missing))
        assert reading.evidence.keys() == reading.arguments.keys()
        assert all(found for found in reading.ambiguous.values())
        for source in reading.evidence.values():
            assert source.text == text[source.start : source.end]


@given(st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_formatted_number_reads_back(number: float) -> None:
    (token,) = read(f"值是 {number!r} 吗")

    assert token.value == number
    assert arguments(SUM, f"value={number!r} count=3").arguments["value"] == number


@given(st.integers(0, 10**15))
def test_a_number_with_separators_reads_back(number: int) -> None:
    assert [token.value for token in read(f"{number:,}")] == [number]
    assert [token.value for token in read(f"{number:_}")] == [number]


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=6))
def test_a_shape_reads_back(shape: list[int]) -> None:
    (token,) = read("x".join(map(str, shape)))

    assert (token.kind, token.value) == ("shape", tuple(shape))


@given(st.lists(st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_a_list_reads_back(items: list[float]) -> None:
    (token,) = read(str(items))

    assert (token.kind, token.value) == ("list", tuple(items))


HOSTILE = [
    "1", "1,", "1,000,", "1 ", "[", "[1,", "一", "一百", "千万", " ", "1x", "-", "1-", "a1", ".", "1.", "1.1", "0x", "1e",
    "scale ", "scale 1 ", "scale=", "int8 ", "int8x", "u8*s8 ", "半", "两个", "1/", "a/", "a.", '"', '"a.npy', "±1", "1到",
    "9" * 99 + " ", "half ", "three ", "百分之", "零点", "https://", "2**", "[nan,", "饱和", "symmetric ", "\0", "第1", "\n",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE, ids=[ascii(piece)[:16] for piece in HOSTILE])
def test_reading_takes_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        started = time.process_time()
        read(text)
        return time.process_time() - started

    # Four times the text may take four times as long; sixteen times would be quadratic. Small times are noise.
    whole = seconds(100_000)
    assert whole < 1 or whole < 9 * seconds(25_000)


@pytest.mark.parametrize(
    "piece", ["scale 1 ", "1 scale ", "8 batch ", "1,", "s16*s8 ", "a.npy ", "[1] ", "1x1 ", "k=1 "]
)
def test_a_question_without_end_is_read_to_a_limit(piece: str) -> None:
    text = piece * (100_000 // len(piece))

    started = time.process_time()
    readings = [arguments(check, text) for check in (RANGE, C.QUANTIZE, C.ACCUMULATE, C.COMPARE)]

    assert time.process_time() - started < 20
    assert all(c.end <= READ_MOST for r in readings for found in r.ambiguous.values() for c in found)


@pytest.mark.parametrize(
    "text", ["9" * 5000, "1e" + "9" * 5000, "0." + "0" * 5000 + "1", "2^99", "1/0", "0^-3", "[" * 5000 + "1"]
)
def test_numbers_beyond_measure_do_no_harm(text: str) -> None:
    for check in ALL:
        arguments(check, f"value {text} scale {text} k={text}")
