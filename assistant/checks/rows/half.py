"""Rows: fp16 values, sums and norms."""

from typing import Final

from assistant.checks import half
from assistant.checks.types import Check, Parameter, Result

_ACCUMULATOR: Final = Parameter(
    "accumulator", "choice", "累加器", "accumulator", "fp16", choices=("fp16", "fp32"), default="fp16",
    words=("accumulator", "累加器", "accumulate in", "累加精度"),
)  # fmt: skip
_ORDER: Final = Parameter(
    "order", "choice", "相加次序", "order of additions", "sequential", choices=("sequential", "pairwise"),
    default="sequential", words=("order", "次序", "顺序", "pairwise", "两两"),
)  # fmt: skip
_OVERFLOW: Final = Parameter(
    "overflow", "choice", "溢出时", "on overflow", "saturate", choices=("saturate", "infinity"), default="saturate",
    words=("overflow", "溢出", "saturate", "饱和", "inf"),
)  # fmt: skip
_ORDER_UNKNOWN: Final = (
    "芯片累加的次序没有公开；默认依次相加",
    "the order in which a chip adds is not published; sequential by default",
)

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="fp16_value",
        zh="数在 fp16 里变成多少",
        en="what a number becomes in fp16",
        help_zh="给出每个数最近的 fp16 值、上下相邻值、间隔（ulp）、误差，溢出时饱和为 65504 或变成 inf 的两种结果，"
        "以及除以多少才放得下。整数（如 token id、下标）超过 2048 就不一定能精确表示。",
        help_en="The nearest fp16 value of each number, its neighbours, the spacing (ulp) and error, the result with "
        "saturation to 65504 and with infinities, and the power of two that makes it fit. Whole numbers (token ids, "
        "indices) above 2048 are not all exact.",
        asks_zh=(
            "100000 在 fp16 里是多少",
            "为什么 65519 不变 inf，65520 变 inf",
            "token id 21127 用 fp16 传会变成多少",
            "Fp32ToFp16 overflow Value 451354.25 要除以多少",
            "fp16 能精确表示 2049 吗",
            "0.1 的 fp16 误差",
        ),
        asks_en=(
            "what is 100000 in fp16",
            "is 65519 infinity in half precision",
            "token id 21127 through fp16",
            "fp16 neighbours and spacing at 1000",
            "can fp16 hold 2049 exactly",
            "rounding error of 0.1 in float16",
        ),
        parameters=(
            Parameter(
                "values", "numbers", "要换成 fp16 的数", "the numbers", "65519,0.1,21127", low=-1e300, high=1e300,
                most=1000, words=("values", "value", "数值", "值", "token id", "ids", "id", "x"),
            ),
        ),
        results=(
            Result("fp16", "fp16（溢出为 inf）", "in fp16 (overflow to inf)"),
            Result("saturated", "fp16（溢出饱和）", "in fp16 (overflow saturates)"),
            Result("below", "不大于它的相邻值", "fp16 value at or below"),
            Result("above", "不小于它的相邻值", "fp16 value at or above"),
            Result("spacing", "间隔（ulp）", "spacing (ulp)"),
            Result("errors", "误差", "errors"),
            Result("overflows", "溢出个数", "number that overflow"),
            Result("changed", "不能精确表示的个数", "number that change"),
            Result("ratio", "最大值与 65504 之比", "largest value relative to 65504"),
            Result("divisor", "除以它就放得下", "divisor that makes all fit"),
        ),
        shown_zh="变成 {saturated}（饱和）或 {fp16}（IEEE），{changed} 个有变化，{overflows} 个溢出；误差 {errors}",
        shown_en="they become {saturated} (saturating) or {fp16} (IEEE); {changed} change, {overflows} overflow; "
        "errors {errors}",
        function=half.fp16_value,
        source="IEEE 754-2019, binary16; Nano AI application guide, accuracy advice (saturation to 65504)",
    ),
    Check(
        name="fp16_sum",
        zh="fp16 里把一组数相加",
        en="sum of a list in fp16",
        help_zh="逐个相加，每步舍入到 fp16（或用 fp32 累加器，最后舍入一次），溢出时饱和到 65504 或变 inf。给出结果、"
        "精确和、误差、是否溢出。次序不同结果可能不同。",
        help_en="Adds one by one, each step rounded to fp16 (or in an fp32 accumulator, rounded once at the end), "
        "overflow saturating to 65504 or becoming inf. Gives the sum, the exact sum, the error and whether anything "
        "overflowed. Another order may give another sum.",
        asks_zh=(
            "60000 加 40000 在 NPU 上等于多少",
            "reducesum 这几个数会不会溢出",
            "fp16 累加 60000,60000,-60000",
            "AddN 结果超过 65504 会怎样",
        ),
        asks_en=(
            "60000 plus 40000 on the NPU",
            "sum 60000, 60000 and -60000 in fp16",
            "does ReduceSum of this list overflow",
            "half precision sum against the exact sum",
        ),
        parameters=(
            Parameter(
                "values", "numbers", "相加的数", "the numbers", "60000,40000", low=-1e30, high=1e30, most=1000,
                read_least=2, words=("values", "value", "数值", "值", "sum of"),
            ),
            _ACCUMULATOR, _ORDER, _OVERFLOW,
        ),
        results=(
            Result("total", "fp16 结果", "sum in fp16"),
            Result("exact", "精确和", "exact sum"),
            Result("error", "误差", "error"),
            Result(
                "overflows", "是否溢出", "overflows",
                labels={"true": ("有溢出", "something overflows"), "false": ("没有溢出", "nothing overflows")},
            ),
        ),
        shown_zh="和是 {total}（精确值 {exact}，误差 {error}）；{overflows}",
        shown_en="the sum is {total} (exactly {exact}, error {error}); {overflows}",
        function=half.fp16_sum,
        source="Nano AI application guide, accuracy advice (saturation to 65504); Ascend C API, ReduceSum (pairwise); "
        "IEEE 754 binary16",
        assumptions=(_ORDER_UNKNOWN,),
    ),
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
                words=("count", "个", "次", "times", "k", "n", "ones", "values", "equal values", "项"),
            ),
            _ACCUMULATOR, _ORDER, _OVERFLOW,
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
        assumptions=(_ORDER_UNKNOWN,),
    ),
    Check(
        name="dot_fp16",
        zh="k 个 a*b 在 fp16 里相加",
        en="sum of k products a*b in fp16",
        help_zh="a、b 先变成 fp16，k 个乘积用 fp16 累加（每个积也舍入）或用 fp32 累加最后舍入。区分输入舍入造成的误差"
        "（0.1 的 fp16 是 0.09997559）和累加造成的误差。",
        help_en="a and b are rounded to fp16; k products are added in fp16 (each product rounded too) or in fp32 "
        "with one rounding at the end. Tells the error of the inputs (0.1 is 0.09997559 in fp16) from that of the "
        "additions.",
        asks_zh=(
            "K=4096 的 0.1*1.0 matmul 为什么是 409.5",
            "fp16 矩阵乘累加误差多大",
            "4096 个 0.1 乘 1 用 fp32 累加是多少",
            "点积用 fp16 累加会停住吗",
        ),
        asks_en=(
            "matmul of all 0.1 by all 1.0 with K 4096 in fp16",
            "is the accumulator broken, 409.5 instead of 409.6",
            "fp16 dot product of k equal terms",
            "fp32 against fp16 accumulation for K=256",
        ),
        parameters=(
            Parameter(
                "a", "number", "左元素", "left element", "0.1", low=-65504, high=65504, words=("a", "左", "left"),
                in_order=True,
            ),
            Parameter(
                "b", "number", "右元素", "right element", "1.0", low=-65504, high=65504, default=1.0,
                words=("b", "右", "right"), in_order=True,
            ),
            Parameter(
                "k", "integer", "乘积个数", "number of products", "4096", low=1, high=1_000_000,
                words=("k", "项", "个", "terms", "products", "长度"),
            ),
            Parameter(
                "accumulator", "choice", "累加器", "accumulator", "fp32", choices=("fp16", "fp32"), default="fp32",
                words=("accumulator", "累加器", "accumulate in", "累加精度"),
            ),
            _ORDER, _OVERFLOW,
        ),
        results=(
            Result("total", "结果", "result"),
            Result("exact_fp16", "fp16 输入的精确和", "exact sum of the fp16 inputs"),
            Result("wanted", "原数的精确和", "exact sum of the numbers as given"),
            Result("error", "总误差", "error"),
            Result("input_error", "输入舍入造成的误差", "error from rounding the inputs"),
            Result("a_fp16", "a 的 fp16 值", "a in fp16"),
            Result("b_fp16", "b 的 fp16 值", "b in fp16"),
            Result("overflows", "是否溢出", "overflows"),
        ),
        shown_zh="{k} 个乘积的和是 {total}（应为 {wanted}）；其中输入变成 fp16（{a_fp16} 和 {b_fp16}）就造成 "
        "{input_error}",
        shown_en="the sum of {k} products is {total} (wanted {wanted}); rounding the inputs to fp16 ({a_fp16} and "
        "{b_fp16}) alone causes {input_error}",
        function=half.dot_fp16,
        source="IEEE 754 binary16 and binary32 (the product of two fp16 values is exact in fp32); "
        "airockchip/rknn-toolkit2 issue 471",
        assumptions=(_ORDER_UNKNOWN,),
    ),
    Check(
        name="fp16_norm_limit",
        zh="RMSNorm、LayerNorm、方差在 fp16 里不溢出的最大值",
        en="largest values before a norm or variance overflows fp16",
        help_zh="fp16 里求平方和或均方时，n 个元素最大能多大：一个离群值的上限和全部相等时的上限。"
        "divide_first（先除以 n 再加）：sqrt(65504*n) 和 sqrt(65504)；sum_first（先平方求和再除）：sqrt(65504) 和 "
        "sqrt(65504/n)。",
        help_en="How large n values may be when their squares are summed in fp16 (RMSNorm, LayerNorm, variance, L2 "
        "norm): the limit of one outlier and of n equal values. divide_first (each square divided by n, then added): "
        "sqrt(65504*n) and sqrt(65504); sum_first: sqrt(65504) and sqrt(65504/n).",
        asks_zh=(
            "hidden 896 的 RMSNorm fp16 多大会溢出",
            "LayerNorm 方差在 fp16 里的上限",
            "平方和超过 65504 输出全 0，输入最大能多大",
            "H=4096 单个离群值上限",
        ),
        asks_en=(
            "how large may activations be before fp16 RMSNorm returns zeros, H=896",
            "largest outlier for a hidden size of 4096",
            "fp16 variance overflow limit",
            "layernorm overflow in half precision",
        ),
        parameters=(
            Parameter(
                "size", "integer", "元素个数 n", "number of elements n", "896", low=1, high=100_000_000,
                words=("size", "n", "h", "hidden", "hidden size", "维度", "隐藏"),
            ),
            Parameter(
                "scaling", "choice", "先除还是先加", "when the division by n happens", "divide_first",
                choices=("divide_first", "sum_first"), default="divide_first", words=("scaling", "先除", "先加"),
            ),
        ),
        results=(
            Result("single", "单个离群值的上限", "limit of one outlier"),
            Result("uniform", "全部相等时的上限", "limit of equal values"),
        ),
        shown_zh="单个离群值不超过 {single}，全部相等时不超过 {uniform}（n = {size}，{scaling}）",
        shown_en="one outlier may reach {single}, equal values {uniform} (n = {size}, {scaling})",
        function=half.fp16_norm_limit,
        source="largest fp16 value 65504; microsoft/onnxruntime issue 29034 (mean of squares in fp16)",
        assumptions=(
            (
                "各步舍入会让界线移动千分之几；芯片用哪种次序没有公开",
                "roundings move the limits by parts in a thousand; which order a chip uses is not published",
            ),
        ),
    ),
    Check(
        name="fp16_norm",
        zh="RMSNorm、LayerNorm 在 fp16 里逐步算",
        en="RMSNorm or LayerNorm in fp16, step by step",
        help_zh="对一组数按 fp16 逐步算均方、1/sqrt 和输出，与精确值比较；均方溢出成 inf 时输出会全是 0。可改为 fp32 "
        "累加。",
        help_en="Mean square, 1/sqrt and outputs of a list in fp16 steps against exact values; a mean square of inf "
        "makes all outputs 0. The sums can be taken in fp32 instead.",
        asks_zh=(
            "RMSNorm 输入 300,400,500 用 fp16 算输出是多少",
            "LayerNorm 输出全 0 是不是均方溢出了",
            "fp16 layernorm 误差",
            "方差用 fp32 累加能不能避免溢出",
        ),
        asks_en=(
            "fp16 RMSNorm of 300, 400 and 500",
            "why are all RMSNorm outputs zero in fp16",
            "layernorm steps in half precision",
            "does fp32 accumulation fix the norm",
        ),
        parameters=(
            Parameter(
                "values", "numbers", "输入", "the inputs", "300,400,500", low=-1e30, high=1e30, most=1000,
                read_least=2, words=("values", "value", "输入", "数值", "inputs", "x"),
            ),
            Parameter(
                "kind", "choice", "哪种归一化", "which norm", "rms", choices=("rms", "layer"), default="rms",
                words=("kind", "rmsnorm", "layernorm", "归一化"),
            ),
            Parameter(
                "scaling", "choice", "先除还是先加", "when the division by n happens", "sum_first",
                choices=("sum_first", "divide_first"), default="sum_first", words=("scaling", "先除", "先加"),
            ),
            _ACCUMULATOR,
            Parameter(
                "epsilon", "number", "epsilon", "epsilon", "1e-5", low=0, high=1000, default=1e-5,
                words=("epsilon", "eps"),
            ),
            Parameter(
                "overflow", "choice", "溢出时", "on overflow", "infinity", choices=("infinity", "saturate"),
                default="infinity", words=("overflow", "溢出", "饱和", "saturate", "inf"),
            ),
        ),
        results=(
            Result("outputs", "fp16 输出", "outputs in fp16"),
            Result("exact", "精确输出", "exact outputs"),
            Result("mean_square", "fp16 均方", "mean square in fp16"),
            Result("mean_square_exact", "精确均方", "exact mean square"),
            Result("factor", "1/sqrt(均方 + epsilon)", "1/sqrt(mean square + epsilon)"),
            Result("max_error", "最大绝对误差", "largest absolute error"),
            Result(
                "overflows", "是否溢出", "overflows",
                labels={"true": ("中间结果溢出", "a step overflows"), "false": ("没有溢出", "nothing overflows")},
            ),
            Result("all_zero", "输出是否全 0", "all outputs are 0"),
        ),
        shown_zh="输出 {outputs}（应为 {exact}）；均方 {mean_square}（应为 {mean_square_exact}），{overflows}",
        shown_en="outputs {outputs} (exactly {exact}); mean square {mean_square} (exactly {mean_square_exact}), "
        "{overflows}",
        function=half.fp16_norm,
        source="ONNX LayerNormalization and RMSNormalization; microsoft/onnxruntime issue 29034",
        assumptions=(
            (
                "各步的先后和中间精度是假设，芯片没有公开",
                "the order of steps and their precision are assumed, chips do not publish them",
            ),
        ),
    ),
)  # fmt: skip
