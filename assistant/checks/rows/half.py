"""Rows: fp16 values, sums and norms."""

from typing import Final

from assistant.checks import half
from assistant.checks.types import Check, Parameter, Result

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="fp16_sum_repeat",
        zh="fp16 里把一个数累加 n 次",
        en="add the same number n times in fp16",
        help_zh="在 fp16 中把 value 累加 count 次（reducesum、cumsum）：每一步舍入，溢出时饱和到 65504 或变 inf；"
        "也可以用 fp32 累加器最后舍入一次。给出结果、精确值和误差。",
        help_en="Adds value count times in fp16 (ReduceSum, CumSum): every step is rounded, overflow saturates to "
        "65504 or becomes inf; or an fp32 accumulator rounded once. Gives the result, the exact sum and the error.",
        asks_zh=(
            "reducesum 100 个 1000 在 NPU 上是多少",
            "100 个 1000 相加会溢出吗",
            "cumsum 超过 65504 会怎样",
            "fp16 累加 n 次的结果",
        ),
        asks_en=(
            "what is the sum of 100 times 1000 in fp16",
            "does ReduceSum of 5000 ones overflow on the NPU",
            "fp16 accumulation of n equal values",
            "adding 0.1 four thousand times in half precision",
        ),
        parameters=(
            Parameter(
                "value", "number", "被累加的数", "the number", "1000", low=-65504, high=65504,
                words=("value", "每个", "数值", "值", "of"),
            ),
            Parameter(
                "count", "integer", "个数", "how many times", "100", low=1, high=1_000_000,
                words=("count", "个", "次", "times", "k", "n"),
            ),
            Parameter(
                "accumulator", "choice", "累加器", "accumulator", "fp16", choices=("fp16", "fp32"), default="fp16",
            ),
            Parameter(
                "order", "choice", "次序", "order", "sequential", choices=("sequential", "pairwise"),
                default="sequential",
            ),
            Parameter(
                "overflow", "choice", "溢出时", "on overflow", "saturate", choices=("saturate", "infinity"),
                default="saturate",
            ),
        ),
        results=(
            Result("total", "fp16 结果", "result in fp16"),
            Result("exact", "精确值", "exact sum of the fp16 values"),
            Result("error", "误差", "error"),
            Result("overflows", "是否溢出", "overflows"),
        ),
        shown_zh="{count} 个 {value} 相加得 {total}（精确值 {exact}）",
        shown_en="{count} times {value} adds up to {total} (exactly {exact})",
        function=half.sum_repeat,
        source="Nano AI application guide, accuracy advice (saturation to 65504); IEEE 754 binary16",
    ),
)  # fmt: skip
