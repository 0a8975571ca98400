"""Rows: softmax, activations, attention masks and lookup tables."""

from typing import Final

from assistant.checks import activation_tables
from assistant.checks.types import Check, Parameter, Result

_OVERFLOW: Final = Parameter(
    "overflow", "choice", "溢出时", "on overflow", "saturate", choices=("saturate", "infinity"), default="saturate",
    words=("overflow", "溢出", "saturate", "饱和", "inf"),
)  # fmt: skip
_IEEE_OVERFLOW: Final = Parameter(
    "overflow", "choice", "fp16 溢出时", "on overflow of fp16", "infinity", choices=("infinity", "saturate"),
    default="infinity", words=("overflow", "溢出", "saturate", "饱和", "inf"),
)  # fmt: skip
_FORM_UNKNOWN: Final = (
    "芯片内部用哪种写法没有公开；form 用来比较不同写法",
    "which form a chip uses inside is not published; form lets you compare them",
)

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="softmax_fp16",
        zh="fp16 里的 softmax",
        en="softmax in fp16",
        help_zh="按 fp16 逐步算 softmax：减不减最大值、除法还是乘倒数、fp16 还是 fp32 求和，与精确值比较。cut "
        "表示与最大值之差超过它的概率直接变 0（海思 softmax_optimize_enable 为 9.010911）。",
        help_en="Softmax in fp16 steps, with or without subtracting the maximum, dividing or multiplying by a "
        "reciprocal, summing in fp16 or fp32, against the exact one. cut: powers further than this below the maximum "
        "become 0 (HiSilicon softmax_optimize_enable: 9.010911).",
        asks_zh=(
            "softmax 输入 10 和 0.1 用 fp16 是多少",
            "softmax_optimize_enable=1 小概率变成 0",
            "fp16 softmax 不减最大值会怎样",
            "softmax 误差有多大",
        ),
        asks_en=(
            "softmax of 10 and 0.1 in fp16",
            "small probabilities become 0 with softmax_optimize_enable",
            "softmax without subtracting the max in half precision",
            "error of fp16 softmax",
        ),
        parameters=(
            Parameter(
                "values", "numbers", "输入", "the inputs", "10,0.1", low=-1e30, high=1e30, most=1000,
                read_least=2, words=("values", "输入", "logits", "scores", "inputs", "x"),
            ),
            Parameter(
                "shift", "choice", "先减最大值吗", "subtract the maximum first", "max", choices=("max", "none"),
                default="max", words=("shift", "减最大值", "subtract"),
                spoken={
                    "none": (
                        "不减最大值", "不减 max", "没减最大值", "没有减最大值", "without subtracting",
                        "no max subtraction", "without max subtraction", "without subtraction of the maximum",
                    ),
                },
            ),
            Parameter(
                "normalize", "choice", "归一方式", "how it is normalized", "divide", choices=("divide", "reciprocal"),
                default="divide", words=("normalize", "归一", "倒数"),
            ),
            Parameter(
                "accumulator", "choice", "累加器", "accumulator", "fp16", choices=("fp16", "fp32"), default="fp16",
                words=("accumulator", "累加器"),
            ),
            _OVERFLOW,
            Parameter(
                "cut", "number", "与最大值之差超过它就算 0", "distance from the maximum beyond which powers are 0",
                "9.010911",
                low=0, high=1e6, default=None, words=("cut", "softmax_optimize_enable", "截断", "threshold"),
            ),
        ),
        results=(
            Result("probabilities", "fp16 概率", "probabilities in fp16"),
            Result("exact", "精确概率", "exact probabilities"),
            Result("max_error", "最大绝对误差", "largest absolute error"),
            Result("total", "概率之和", "sum of the probabilities"),
            Result("lost", "变成 0 的个数", "number that become 0"),
        ),
        shown_zh="概率 {probabilities}（应为 {exact}）；最大误差 {max_error}，{lost} 个变成 0",
        shown_en="probabilities {probabilities} (exactly {exact}); largest error {max_error}, {lost} become 0",
        function=activation_tables.softmax_fp16,
        source="ONNX Softmax; HiSilicon ATC guide, softmax_optimize_enable (9.010911); IEEE 754 binary16",
        assumptions=(_FORM_UNKNOWN,),
    ),
    Check(
        name="activation_fp16",
        zh="sigmoid、tanh、exp 在 fp16 里的结果",
        en="sigmoid, tanh or exp in fp16",
        help_zh="一组输入的 sigmoid、tanh 或 exp 在 fp16 里的值，与精确值比较。form 是写法：direct（一次舍入）；tanh "
        "还有 exponential、exp_2x、exp_minus_2x、sigmoid；sigmoid 还有 exponential、exp_positive、tanh；exp 还有 "
        "base2。",
        help_en="sigmoid, tanh or exp of a list in fp16 against exact values. form: direct (rounded once); for tanh "
        "also exponential, exp_2x, exp_minus_2x, sigmoid; for sigmoid exponential, exp_positive, tanh; for exp base2.",
        asks_zh=(
            "fp16 里 sigmoid(2) 是多少",
            "exp(12) 在 fp16 会溢出吗",
            "tanh 用指数写法，输入 20 会不会 nan",
            "tanh 小输入的相对误差",
        ),
        asks_en=(
            "sigmoid of 2 in fp16",
            "does exp(12) overflow half precision",
            "tanh written with exponentials at 20 in fp16",
            "relative error of fp16 tanh near zero",
        ),
        parameters=(
            Parameter(
                "values", "numbers", "输入", "the inputs", "0.01,2,20", low=-1e30, high=1e30, most=1000,
                words=("values", "输入", "x", "inputs", "at"),
            ),
            Parameter(
                "function", "choice", "函数", "function", "tanh", choices=("sigmoid", "tanh", "exp"),
                words=("function", "函数", "sigmoid", "tanh", "exp"),
            ),
            Parameter(
                "form", "choice", "写法", "form", "direct",
                choices=(
                    "direct", "exponential", "exp_2x", "exp_minus_2x", "sigmoid", "exp_positive", "tanh", "base2",
                ),
                default="direct", words=("form", "写法"),
                spoken={"exponential": ("指数形式", "指数写法", "用指数", "exponential form", "exponentials")},
            ),
            _OVERFLOW,
        ),
        results=(
            Result("fp16", "fp16 结果", "results in fp16"),
            Result("exact", "精确值", "exact values"),
            Result("input_fp16", "输入的 fp16 值", "inputs in fp16"),
            Result("max_error", "最大绝对误差", "largest absolute error"),
            Result("max_relative", "对 fp16 输入的最大相对误差", "largest relative error for the fp16 inputs"),
        ),
        shown_zh="{function} 的结果是 {fp16}（应为 {exact}）；最大误差 {max_error}",
        shown_en="{function} gives {fp16} (exactly {exact}); largest error {max_error}",
        function=activation_tables.activation_fp16,
        source="ONNX Sigmoid, Tanh, Exp; IEEE 754 binary16; Nano AI application guide (vector unit in fp16)",
        assumptions=(_FORM_UNKNOWN,),
    ),
    Check(
        name="softcap_scores",
        zh="soft cap：cap*tanh(s/cap) 哪种写法会 NaN",
        en="soft cap cap*tanh(s/cap): which form gives NaN",
        help_zh="cap*tanh(s/cap) 的三种写法：direct；two_powers 为 cap*(e^y-e^-y)/(e^y+e^-y)，|y| 大时 inf/inf = "
        "NaN（fp16 从 11.09，fp32 从 88.7 起）；one_power 为 cap*(1-2/(e^2y+1))，大数时饱和到 ±cap。",
        help_en="cap*tanh(s/cap) in three forms: direct; two_powers cap*(e^y-e^-y)/(e^y+e^-y), inf/inf = NaN for "
        "large |y| (from 11.09 in fp16, 88.7 in fp32); one_power cap*(1-2/(e^2y+1)), which ends at +-cap.",
        asks_zh=(
            "logit soft cap 用指数写法大数出 NaN",
            "cap 50 score 5000 的 soft cap 是多少",
            "softcap 哪种写法安全",
            "tanh 用 exp 展开 fp16 从多大开始溢出",
        ),
        asks_en=(
            "logit soft-cap gives NaN for large scores",
            "softcap of 5000 with cap 50",
            "which soft cap form is safe in fp16",
            "cap*tanh(s/cap) written with exponentials",
        ),
        parameters=(
            Parameter(
                "values", "numbers", "分数 s", "scores s", "1,100,5000", low=-1e30, high=1e30, most=1000,
                words=("values", "score", "scores", "分数", "logit", "logits"),
            ),
            Parameter(
                "cap", "number", "cap", "cap", "50", low=1e-4, high=60000, default=50.0, words=("cap", "上限"),
            ),
            Parameter(
                "form", "choice", "写法", "form", "two_powers", choices=("two_powers", "one_power", "direct"),
                default="two_powers", words=("form", "写法"),
            ),
            Parameter(
                "precision", "choice", "精度", "precision", "fp32", choices=("fp16", "fp32"), default="fp16",
                words=("precision", "精度"),
            ),
            _IEEE_OVERFLOW,
        ),
        results=(
            Result("results", "结果", "results"),
            Result("exact", "精确值", "exact values"),
            Result("broken", "NaN、inf 或超出 cap 的个数", "results that are NaN, inf or beyond the cap"),
            Result("max_error", "最大绝对误差", "largest absolute error"),
            Result("exp_limit", "|s/cap| 超过它 exp 溢出", "|s/cap| from which exp overflows"),
        ),
        shown_zh="结果 {results}（应为 {exact}），{broken} 个坏值；{precision} 的 exp 从 {exp_limit} 起溢出",
        shown_en="results {results} (exactly {exact}), {broken} broken; exp overflows {precision} from {exp_limit}",
        function=activation_tables.softcap_scores,
        source="identity tanh(y) = 1 - 2/(e^2y + 1); IEEE 754 binary16 and binary32; vllm-project/vllm issue 56579",
        assumptions=(_FORM_UNKNOWN,),
    ),
    Check(
        name="attention_mask",
        zh="注意力掩码常数在 fp16/fp32 里的效果",
        en="what an attention mask constant does in fp16 or fp32",
        help_zh="掩码常数（-1e9、-1e4、-65504、-inf 附近）变成 fp16 后是多少、exp 后是否为 0、注意力权重是多少、"
        "整行被掩掉时会不会 NaN。掩码在最后 masked 个位置，replace 为替换，add 为相加。",
        help_en="What a mask constant (-1e9, -1e4, -65504) becomes in fp16, whether its exp is 0, the attention "
        "weights it gives, and whether a fully masked row becomes NaN. The last `masked` positions are masked by "
        "replacing or adding.",
        asks_zh=(
            "attention mask 用 -1e9 在 fp16 上行不行",
            "-10000 代替 -inf 结果一样吗",
            "掩码常数取多大合适",
            "整行都被 mask 的 softmax 为什么是 NaN",
        ),
        asks_en=(
            "is -1e9 fine as an attention mask in fp16",
            "replace -inf by -10000, same weights",
            "which mask constant is safe on an fp16 NPU",
            "fully masked row gives NaN",
        ),
        parameters=(
            Parameter(
                "fill", "number", "掩码常数", "mask constant", "-1e9", low=-1e38, high=1e38,
                words=("fill", "mask", "掩码", "常数", "constant"),
            ),
            Parameter(
                "scores", "numbers", "一行分数", "scores of a row", "1,2,3", low=-1e30, high=1e30, most=1000,
                default=(1.0, 2.0, 3.0), words=("scores", "分数", "score"),
            ),
            Parameter(
                "masked", "integer", "最后几个被掩掉", "how many of the last are masked", "1",
                low=0, high=1000, default=1, words=("masked", "掩掉"),
            ),
            Parameter(
                "how", "choice", "替换还是相加", "replace or add", "replace", choices=("replace", "add"),
                default="replace", words=("how", "替换", "相加"),
            ),
            Parameter(
                "precision", "choice", "精度", "precision", "fp16", choices=("fp16", "fp32"), default="fp16",
                words=("precision", "精度"),
            ),
            _IEEE_OVERFLOW,
        ),
        results=(
            Result("fill_infinity", "常数的 fp16 值（IEEE）", "constant in fp16 (IEEE)"),
            Result("fill_saturate", "常数的 fp16 值（饱和）", "constant in fp16 (saturating)"),
            Result(
                "representable", "fp16 放得下", "fits fp16",
                labels={"true": ("放得下", "fits fp16"), "false": ("放不下", "does not fit fp16")},
            ),
            Result("exp_fill", "常数的 exp", "exp of the constant"),
            Result("weights", "注意力权重", "attention weights"),
            Result("leak", "被掩位置的权重之和", "weight of the masked positions"),
            Result("broken", "出现 NaN", "gives NaN"),
        ),
        shown_zh="{fill} {representable}（fp16 为 {fill_infinity}，饱和时 {fill_saturate}）；权重 {weights}，"
        "漏到被掩位置 {leak}，出现 NaN：{broken}",
        shown_en="{fill} {representable} ({fill_infinity}, or {fill_saturate} when saturating); weights {weights}, "
        "{leak} on masked positions, NaN: {broken}",
        function=activation_tables.attention_mask,
        source="IEEE 754 binary16 and binary32; ONNX Softmax; NVIDIA/apex issue 93 and ahrefs/ocannl issue 548 (fill "
        "values)",
    ),
    Check(
        name="table_error",
        zh="查表激活的误差",
        en="error of an activation read from a lookup table",
        help_zh="n 个等距表项、最近或线性插值、表项为 fp16、fp32、int8 或 int16：对区间内所有 fp16 "
        "输入求最大绝对误差和相对误差（在哪个 x），以及某个 x 的值。线性插值误差约 h^2/8*max|f''|。"
        "表的范围以外取边界值。",
        help_en="n entries at equal distances, nearest or linear, stored as fp16, fp32, int8 or int16: the largest "
        "absolute and relative error over every fp16 input of a range and where, and the value at one x. Linear "
        "interpolation errs about h^2/8*max|f''|. Outside the table its end values are read.",
        asks_zh=(
            "257 点线性插值的 tanh 表误差多大",
            "sigmoid 查表 64 项误差",
            "tanh 表只到 [-3,3]，截断损失多少",
            "查表激活在 0 附近相对误差为什么大",
            "LUT 用最近点和线性插值差多少",
        ),
        asks_en=(
            "error of a 257-entry linear tanh table over -8 to 8",
            "what does a 65-entry sigmoid lookup table lose",
            "clipping the tanh table to -3..3",
            "relative error of a LUT near zero",
            "nearest against linear lookup",
        ),
        parameters=(
            Parameter(
                "function", "choice", "函数", "function", "tanh",
                choices=("sigmoid", "tanh", "exp", "gelu", "silu", "erf", "softplus"),
                words=("function", "函数", "sigmoid", "tanh", "exp", "gelu", "silu", "swish"),
            ),
            Parameter(
                "entries", "integer", "表项数", "number of entries", "257", low=2, high=100_000,
                words=("entries", "表项", "项", "点", "entry", "points", "size"),
            ),
            Parameter(
                "low", "number", "表的最小 x", "x of the first entry", "-8", low=-1000, high=1000, default=-8.0,
                words=("low", "from", "从", "下限"),
            ),
            Parameter(
                "high", "number", "表的最大 x", "x of the last entry", "8", low=-1000, high=1000, default=8.0,
                words=("high", "to", "到", "上限"),
            ),
            Parameter(
                "interpolation", "choice", "插值", "interpolation", "linear", choices=("linear", "nearest"),
                default="linear", words=("interpolation", "插值", "线性", "最近"),
            ),
            Parameter(
                "output", "choice", "表项类型", "type of the entries", "fp16",
                choices=("fp16", "fp32", "int8", "int16"), default="fp32", words=("output", "表项类型", "类型", "type"),
            ),
            Parameter(
                "scale", "number", "整数表项的步长（不给为 1/128 或 1/32768）",
                "step of integer entries (1/128 or 1/32768 if left out)", "0.0078125", low=1e-9, high=1e9,
                default=None, words=("scale", "步长"),
            ),
            Parameter(
                "from_x", "number", "从哪个 x 起测（不给为表的范围）", "measure from this x (the table's range if "
                "left out)",
                "-8", low=-65504, high=65504, default=None, words=("from_x", "测试范围"),
            ),
            Parameter(
                "to_x", "number", "测到哪个 x", "measure up to this x", "8", low=-65504, high=65504, default=None,
                words=("to_x",),
            ),
            Parameter("x", "number", "看哪个 x", "an x to look at", "0.01", low=-65504, high=65504, default=0.0),
        ),
        results=(
            Result("max_error", "最大绝对误差", "largest absolute error"),
            Result("max_error_at", "最大绝对误差处的 x", "x of the largest absolute error"),
            Result("max_relative", "最大相对误差", "largest relative error"),
            Result("max_relative_at", "最大相对误差处的 x", "x of the largest relative error"),
            Result("rms_error", "均方根误差", "root mean square error"),
            Result("spacing", "表项间隔", "distance of entries"),
            Result("value", "x 处的查表值", "value read at x"),
            Result("exact", "x 处的精确值", "exact value at x"),
            Result("value_error", "x 处的误差", "error at x"),
            Result("points", "测了多少个输入", "inputs measured"),
        ),
        shown_zh="最大误差 {max_error}（x = {max_error_at}），最大相对误差 {max_relative}（x = {max_relative_at}）；"
        "{entries} 项，间隔 {spacing}",
        shown_en="the largest error is {max_error} (at x = {max_error_at}), the largest relative error "
        "{max_relative} (at x = {max_relative_at}); {entries} entries, {spacing} apart",
        function=activation_tables.table_error_of,
        source="linear interpolation error h^2/8 * max|f''|; Nano AI application guide (tables err relatively near 0); "
        "nvdla/hw issues 57 and 99 (257 and 65 entries)",
        assumptions=(
            (
                "表项数、范围和插值方式是参数：芯片的查表结构没有公开",
                "entries, range and interpolation are arguments: how a chip lays out its tables is not published",
            ),
        ),
    ),
)  # fmt: skip
