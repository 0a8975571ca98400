"""Rows: accuracy of tensors, layers and whole models."""

from typing import Final

from assistant.checks import compare
from assistant.checks.arrays import RAW_DTYPES
from assistant.checks.types import Check, Parameter, Result

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="compare_lists",
        zh="两份数据比对：余弦、SQNR、msaccucmp 指标",
        en="compare two tensors: cosine, SQNR, the metrics of msaccucmp",
        help_zh="mine（待比对）和 golden（标杆）两列数，或两个 .npy/.bin 文件：余弦相似度、最大/平均绝对误差、RMSE、"
        "MSE、SQNR、累积/最大/平均相对误差、相对欧氏距离、KL 散度、均值与标准差，定义与 msaccucmp 相同。"
        "按推荐阈值判断：余弦 > 0.99、相对欧氏距离 < 0.05、KL < 0.005、RMSE < 1、平均相对误差 < 1。",
        help_en="Two lists, mine and golden, or two .npy or .bin files: cosine similarity, largest and mean absolute "
        "error, RMSE, MSE, SQNR, accumulated, largest and mean relative error, relative Euclidean distance, KL "
        "divergence, mean and standard deviation, as msaccucmp defines them. Judged by the recommended limits: cosine "
        "> 0.99, relative Euclidean distance < 0.05, KL < 0.005, RMSE < 1, mean relative error < 1.",
        asks_zh=(
            "[1,2,3] 和 [1.1,1.9,3.2] 的余弦相似度是多少",
            "算一下两个 npy 文件的精度差",
            "SQNR 是多少 dB，mine 1 2 3 golden 1 2 4",
            "MaxAbsoluteError、RelativeEuclideanDistance 怎么算出来的",
            "NPU 输出和标杆比对合格吗",
            "KL 散度、RMSE、平均相对误差",
        ),
        asks_en=(
            "cosine similarity of 1 2 3 and 1.1 1.9 3.2",
            "compare my.npy with golden.npy",
            "SQNR in dB of these outputs",
            "msaccucmp metrics of two lists",
            "is this layer output within the vendor limits",
            "KL divergence and RMSE between NPU and golden",
        ),
        parameters=(
            Parameter(
                "mine", "numbers", "待比对的数", "values to judge", "1.1,1.9,3.2", default=None, most=10_000,
                read_least=2, words=("mine", "我的", "待比对", "npu", "输出", "量化"), in_order=True,
            ),
            Parameter(
                "golden", "numbers", "标杆数据", "golden values", "1,2,3", default=None, most=10_000,
                words=("golden", "标杆", "参考", "真值", "reference", "float", "浮点"), in_order=True,
            ),
            Parameter(
                "mine_file", "file", "待比对的文件（.npy 或 .bin）", "file to judge (.npy or .bin)", "my.npy",
                default=None, words=("mine_file", "mine", "-m"), in_order=True,
            ),
            Parameter(
                "golden_file", "file", "标杆文件（.npy 或 .bin）", "golden file (.npy or .bin)", "golden.npy",
                default=None, words=("golden_file", "golden", "-g"), in_order=True,
            ),
            Parameter(
                "dtype", "choice", "数据类型（.bin；列表只看是否 fp16）",
                "data type (of .bin; for lists only whether fp16)", "float16",
                choices=RAW_DTYPES, default="float32", words=("dtype", "类型", "type"),
            ),
        ),
        results=(
            Result("cosine_similarity", "余弦相似度", "cosine similarity"),
            Result("max_absolute_error", "最大绝对误差", "largest absolute error"),
            Result("accumulated_relative_error", "累积相对误差", "accumulated relative error"),
            Result("relative_euclidean_distance", "相对欧氏距离", "relative Euclidean distance"),
            Result("kullback_leibler_divergence", "KL 散度", "Kullback-Leibler divergence"),
            Result("mean_absolute_error", "平均绝对误差", "mean absolute error"),
            Result("root_mean_square_error", "均方根误差", "root mean square error"),
            Result("max_relative_error", "最大相对误差", "largest relative error"),
            Result("mean_relative_error", "平均相对误差", "mean relative error"),
            Result("mean", "均值（待比对, 标杆）", "means (mine, golden)"),
            Result("standard_deviation", "标准差（待比对, 标杆）", "standard deviations (mine, golden)"),
            Result("mean_square_error", "均方误差", "mean square error"),
            Result("sqnr", "信噪比 SQNR", "SQNR", "dB"),
            Result("worst", "误差最大的位置（从 0 数）", "place of the largest error, from 0"),
            Result("count", "元素个数", "elements"),
            Result("non_finite", "NaN 或 inf 的个数（待比对, 标杆）", "NaN or inf (mine, golden)"),
            Result(
                "overflow", "fp16 溢出（|x| >= 65504）", "fp16 overflow (|x| >= 65504)",
                labels={
                    "yes": ("有", "yes"), "no": ("没有", "no"),
                    "unchecked": ("不检查（不是 fp16）", "not checked (not fp16)"),
                },
            ),
            Result(
                "verdict", "结论", "verdict",
                labels={
                    "within": ("都在推荐阈值内", "all within the recommended limits"),
                    "outside": ("有指标超出推荐阈值", "some metric is outside the recommended limits"),
                    "not_finite": ("含 NaN 或 inf，先处理这些值", "there is a NaN or inf; look at it first"),
                },
            ),
            Result(
                "outside", "超出阈值的指标", "metrics outside",
                labels={
                    "cosine_similarity": ("余弦相似度", "cosine similarity"),
                    "relative_euclidean_distance": ("相对欧氏距离", "relative Euclidean distance"),
                    "kullback_leibler_divergence": ("KL 散度", "Kullback-Leibler divergence"),
                    "root_mean_square_error": ("均方根误差", "root mean square error"),
                    "mean_relative_error": ("平均相对误差", "mean relative error"),
                },
            ),
        ),
        shown_zh="{verdict}：余弦 {cosine_similarity}，最大绝对误差 {max_absolute_error}，相对欧氏距离 "
        "{relative_euclidean_distance}，SQNR {sqnr} dB",
        shown_en="{verdict}: cosine {cosine_similarity}, largest absolute error {max_absolute_error}, relative "
        "Euclidean distance {relative_euclidean_distance}, SQNR {sqnr} dB",
        function=compare.compare_lists,
        example={"mine": "1,2,3", "golden": "1,2.1,2.9"},
        source="Ascend/msprobe msaccucmp, builtin_algorithm and overflow_detection; limits of msprobe and of the Nano "
        "precision tool guide",
        assumptions=(
            (
                "用 float64 计算，msaccucmp 先转 float32，末几位会不同；阈值只是推荐值",
                "computed in float64 where msaccucmp first converts to float32, so last digits differ; limits are "
                "advice",
            ),
            (
                "含 NaN 或 inf 时不给指标；旧版 msaccucmp 的 KL 没有下限，标杆含最小值时会是 inf",
                "with a NaN or inf no metric is given; in older msaccucmp KL has no floor and can be inf",
            ),
        ),
    ),
    Check(
        name="layer_verdict",
        zh="MagicMind 逐层比对：超没超 0.05，下一步做什么",
        en="MagicMind layer comparison: above 0.05 or not, and the next step",
        help_zh="按 MagicMind 的逐层比对步骤：差异 > 0.05 且量化设置未对齐，先对齐再比；已对齐或非量化，"
        "算子实现可能有问题，提升该算子精度，不行到社区求助；未超过，说明框架模拟也有同样现象，算子不适合该精度，"
        "提升精度（量化模型可做敏感度分析）。",
        help_en="By the layer comparison of MagicMind: above 0.05 with quantization settings that differ, align them "
        "and compare again; aligned or not quantized, the operator may be wrong: raise its precision, else ask in the "
        "forum; not above, the simulation in the framework behaves alike and the operator does not suit this "
        "precision: raise it (sensitivity analysis for quantized models).",
        asks_zh=(
            "量化模型某层差异 0.08，设置没对齐，下一步",
            "operator diff 0.03 正常吗",
            "非量化算子差异 0.1 怎么办",
            "MagicMind 差异超过 0.05 该怪谁",
        ),
        asks_en=(
            "layer difference 0.08 in a quantized model, what next",
            "is an operator difference of 0.03 above the threshold",
            "float operator differs by 0.1 in MagicMind",
            "settings aligned and still above 0.05",
        ),
        parameters=(
            Parameter(
                "difference", "number", "该层差异", "difference of the layer", "0.08", low=0, high=1e30,
                words=("difference", "diff", "差异", "误差"),
            ),
            Parameter(
                "quantized", "flag", "是量化模型", "the model is quantized", "true", default=True,
                words=("quantized", "量化", "int8", "qint8"),
            ),
            Parameter(
                "aligned", "flag", "两边量化设置已对齐", "quantization settings are aligned", "false", default=False,
                words=("aligned", "对齐", "一致"),
            ),
            Parameter(
                "threshold", "number", "阈值", "threshold", "0.05", low=1e-12, high=1e30, default=0.05,
                words=("threshold", "阈值", "门限"),
            ),
        ),
        results=(
            Result("above", "超过阈值", "above the threshold"),
            Result(
                "next", "下一步", "next step",
                labels={
                    "align_settings": (
                        "先对齐两边的量化设置，再比对",
                        "align the quantization settings, then compare again",
                    ),
                    "quantized_operator": (
                        "该量化算子的实现可能有问题：提升它的精度，不行到社区论坛求助",
                        "the quantized operator may be implemented wrongly: raise its precision, else ask in the forum",
                    ),
                    "operator": (
                        "该算子的实现可能有问题：提升它的精度，不行到社区论坛求助",
                        "the operator may be implemented wrongly: raise its precision, else ask in the forum",
                    ),
                    "raise_precision": (
                        "框架模拟也有同样现象，算子不适合该精度：提升精度再推理，量化模型可做敏感度分析",
                        "the framework's simulation behaves alike, the operator does not suit this precision: raise it "
                        "and run again; for a quantized model analyse the sensitivity",
                    ),
                },
            ),
            Result("ratio", "是阈值的几倍", "times the threshold"),
        ),
        shown_zh="{next}（差异 {difference}，阈值 {threshold}）",
        shown_en="{next} (difference {difference}, threshold {threshold})",
        function=compare.layer_verdict,
        source="Cambricon MagicMind course, accuracy debugging, question 2",
        assumptions=(
            (
                "课程没有说明差异是哪一种指标；恰好等于阈值按未超过算",
                "the course does not say which metric the difference is; exactly the threshold counts as not above",
            ),
        ),
    ),
    Check(
        name="retention",
        zh="量化后精度保持率达标吗",
        en="does the quantized model keep enough accuracy",
        help_zh="保持率 = 量化后指标 / 浮点指标，默认要求不低于 0.99（损失 1% 以内）。可以一次给多个指标，按顺序成对。",
        help_en="Retention = metric after quantization / metric in float; at least 0.99 is asked by default (a loss of "
        "1 %). Several metrics can be given, paired in order.",
        asks_zh=(
            "检测头从 0.77222 掉到 0.75562，保持率多少",
            "int8 74.47 对 fp32 75.01 掉点正常吗",
            "量化后 mAP 0.353，浮点 0.374，损失百分之几",
            "精度保持 99% 了没有",
        ),
        asks_en=(
            "metric fell from 0.77222 to 0.75562, what retention",
            "is 74.47 against 75.01 an acceptable drop",
            "int8 mAP 0.353, float 0.374, how many percent lost",
            "does it keep 99 percent of the float accuracy",
        ),
        parameters=(
            Parameter(
                "quantized", "numbers", "量化后的指标", "metrics after quantization", "0.75562", low=0, high=1e30,
                words=("quantized", "量化", "int8", "掉到", "到", "to"),
            ),
            Parameter(
                "reference", "numbers", "浮点指标", "metrics in float", "0.77222", low=0, high=1e30,
                words=("reference", "float", "fp32", "浮点", "从", "from", "原始"),
            ),
            Parameter(
                "criterion", "number", "要求的保持率", "retention asked for", "0.99", low=0, high=1, default=0.99,
                words=("criterion", "标准", "要求", "达标"),
            ),
        ),
        results=(
            Result("retention", "保持率", "retention"),
            Result("drop", "下降", "drop"),
            Result("drop_percent", "相对损失", "relative loss", "%"),
            Result("passes", "各项是否达标", "each reaches it"),
            Result("worst", "最低保持率", "least retention"),
            Result(
                "verdict", "结论", "verdict",
                labels={"reached": ("达标", "reached"), "missed": ("未达标", "not reached")},
            ),
        ),
        shown_zh="{verdict}：保持率 {retention}，要求 {criterion}，相对损失 {drop_percent} %",
        shown_en="{verdict}: retention {retention}, asked {criterion}, relative loss {drop_percent} %",
        function=compare.retention,
        source="Horizon PTQ guide, precision tuning practice: quantized / float at least 99 %",
        assumptions=(
            (
                "指标越大越好（准确率、mAP、IoU）；误差类指标不适用",
                "the metric is better when larger (accuracy, mAP, IoU); not for error rates",
            ),
        ),
    ),
)  # fmt: skip
