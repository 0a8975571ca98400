"""Rows: shared scales, thresholds and calibration settings."""

from typing import Final

from assistant.checks import calibration
from assistant.checks.types import Check, Parameter, Result

_SIGNED: Final = ("int4", "int8", "int12", "int16")
_DTYPE: Final = Parameter(
    "dtype", "choice", "码的整数类型", "integer type of the codes", "int8", choices=_SIGNED, default="int8",
    words=("dtype", "类型", "位宽", "type", "bits"),
)  # fmt: skip

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="concat_shared_scale",
        zh="concat 各支共用一个 scale 损失多少分辨率",
        en="resolution lost when branches of a concat share one scale",
        help_zh="concat（或同一张量混了几种量级的数据）只能有一个 scale，由范围最大的一支决定。给出共用步长、"
        "各支单独的步长、两者之比和丢掉的位数、多小的值会变成 0。power_of_two 表示步长只能取 2 的幂（Q 格式）。",
        help_en="A concat (or one tensor that holds data of several magnitudes) has one scale, set by its widest "
        "branch. Gives the shared step, the step each branch would have alone, their ratio and the bits lost, and "
        "the magnitude below which values become 0. power_of_two: steps are powers of two (Q formats).",
        asks_zh=(
            "concat 两支最大值 7.5 和 0.4，共用 scale 精度掉多少",
            "坐标 0~640 和分数 0~1 拼在一起量化，分数为什么全是 0",
            "首 token 边界 4000 后面 7.5，一起校准丢几位",
            "Q 格式 concat 分辨率损失",
        ),
        asks_en=(
            "two concat branches with maxima 7.5 and 0.4 share one scale",
            "boxes up to 640 and scores up to 1 in one tensor, scores are 0",
            "bits lost when ranges 4000 and 7.5 are calibrated together",
            "concat forced to one power-of-two format",
        ),
        parameters=(
            Parameter(
                "maxima", "numbers", "各支的最大值", "maximum of each branch", "7.5,0.4",
                low=-1e30, high=1e30, most=200,
                read_least=2, words=("maxima", "max", "最大值", "branch", "各支", "边界", "bound", "bounds"),
            ),
            Parameter(
                "minima", "numbers", "各支的最小值（不给则对称）", "minimum of each branch (symmetric if left out)",
                "0,0",
                low=-1e30, high=1e30, most=200, default=None, words=("minima", "min", "最小值"),
            ),
            Parameter(
                "convention", "choice", "哪家的约定", "whose convention", "amct_symmetric",
                choices=("amct_symmetric", "amct_asymmetric", "onnx_dynamic", "hisilicon", "horizon"),
                default="amct_symmetric", words=("convention", "约定"),
                spoken={
                    "amct_asymmetric": ("非对称", "asymmetric", "amct 非对称", "amct asymmetric", "asymmetric amct"),
                    "onnx_dynamic": ("onnx", "onnx runtime", "dynamic", "动态量化", "dynamicquantizelinear"),
                    "hisilicon": ("海思", "gfpq", "hisi"),
                    "horizon": ("地平线", "j6", "threshold/128", "threshold / 128", "threshold/32768"),
                },
            ),
            _DTYPE,
            Parameter(
                "power_of_two", "flag", "步长取 2 的幂", "steps are powers of two", "true", default=False,
                words=("power_of_two", "power of two", "2 的幂", "q 格式", "q format", "q7"),
            ),
            Parameter(
                "value", "number", "看哪个值（不给则取损失最大那支的最大值）",
                "a value to follow (the peak of the branch that loses most if left out)", "2.878", low=-1e30, high=1e30,
                default=None, words=("value", "x", "值"),
            ),
        ),
        results=(
            Result("shared_step", "共用步长", "shared step"),
            Result("own_steps", "各支单独的步长", "step of each branch alone"),
            Result("loss_factors", "各支步长变大的倍数", "how many times coarser for each branch"),
            Result("loss_factor", "损失最大的倍数", "largest loss factor"),
            Result("bits_lost", "损失的位数", "bits lost", unit="bit"),
            Result("zero_below", "绝对值小于它就变成 0", "magnitude below which a value becomes 0"),
            Result("codes_used", "各支最大值的码（离零点）", "code of each branch's peak (from the zero point)"),
            Result("value", "所看的值", "value followed"),
            Result("value_shared", "共用 scale 下变成", "what it becomes with the shared scale"),
            Result("value_own", "单独 scale 下变成", "what it becomes with a scale of its own"),
        ),
        shown_zh="共用步长 {shared_step}，损失最大的一支变粗 {loss_factor} 倍（丢 {bits_lost} 位）；"
        "绝对值小于 {zero_below} 的都变成 0",
        shown_en="the shared step is {shared_step}, {loss_factor} times coarser for the worst branch ({bits_lost} bits "
        "lost); magnitudes below {zero_below} become 0",
        function=calibration.concat_shared_scale,
        source="scale rules as in quant_params; majianjia/nnom issue 52 (concat in one Q format); bits lost = log2 "
        "of the ratio of the steps",
        assumptions=(
            (
                "所有支用同一种约定，且工具没有先缩放某一支",
                "all branches follow one convention, and the tool rescales none of them first",
            ),
        ),
    ),
    Check(
        name="per_channel_loss",
        zh="按张量量化比按通道量化损失多少",
        en="per-tensor against per-channel weight scales",
        help_zh="给出各通道权重的最大绝对值：整层一个对称 scale 时每个通道的最大值变成哪个码、还原成多少、"
        "几个通道全变 0、丢几位；与每通道一个 scale 对比。depthwise 卷积最常见。",
        help_en="From the largest |w| of each channel: the code and value each peak gets with one symmetric scale "
        "for the layer, how many channels vanish, the bits lost, against one scale per channel. Typical of depthwise "
        "convolutions.",
        asks_zh=(
            "通道最大值 10 和 0.05，per-tensor 量化会怎样",
            "depthwise 卷积 per-tensor 掉点多少",
            "per-channel 和 per-tensor 差几位",
            "小通道权重会不会全变 0",
        ),
        asks_en=(
            "channel maxima 10 and 0.05 with one per-tensor scale",
            "why does per-tensor quantization hurt depthwise conv",
            "bits lost by per-tensor weights",
            "do small channels become zero",
        ),
        parameters=(
            Parameter(
                "maxima", "numbers", "各通道权重的最大绝对值", "largest |w| of each channel", "10,0.05",
                low=0, high=1e30,
                most=1000, read_least=2, words=("maxima", "max", "通道最大值", "channel maxima", "channels", "通道"),
            ),
            _DTYPE,
        ),
        results=(
            Result("tensor_step", "整层一个 scale 的步长", "step with one scale"),
            Result("channel_steps", "每通道 scale 的步长", "steps with a scale per channel"),
            Result("tensor_codes", "整层 scale 下各通道最大值的码", "codes of the peaks with one scale"),
            Result("channel_codes", "每通道 scale 下的码", "codes of the peaks with a scale per channel"),
            Result("tensor_back", "整层 scale 下还原成", "values of those codes with one scale"),
            Result("zero_below", "绝对值小于它就变成 0", "magnitude below which a weight becomes 0"),
            Result("bits_lost", "各通道损失的位数", "bits lost by each channel", unit="bit"),
            Result("lost_channels", "全变 0 的通道数", "channels that become all 0"),
            Result("worst_error", "最大值的最大相对误差", "largest relative error of a peak"),
        ),
        shown_zh="整层步长 {tensor_step}，各通道最大值的码是 {tensor_codes}，{lost_channels} 个通道全变 0；"
        "绝对值小于 {zero_below} 的权重变成 0",
        shown_en="with one step of {tensor_step} the peaks get the codes {tensor_codes} and {lost_channels} channels "
        "vanish; weights below {zero_below} become 0",
        function=calibration.per_channel_loss,
        source="symmetric scale max|w| / (2^(bits-1) - 1): ONNX Runtime static quantization, AMCT guide; "
        "qualcomm/aimet issue 2474 (depthwise)",
    ),
    Check(
        name="kl_threshold",
        zh="KL 校准的直方图阈值",
        en="threshold from the best bin of a KL histogram",
        help_zh="threshold = (i + 0.5) * absmax / bins，i 是 KL 散度最小的区间；scale = threshold / 127。"
        "超过阈值的值被截断。",
        help_en="threshold = (i + 0.5) * absmax / bins, i the bin with the least KL divergence; scale = threshold / "
        "127. Values above are clipped.",
        asks_zh=(
            "KL 阈值怎么由直方图算，absmax 10，2048 个 bin，最优 1024",
            "KL 校准 best bin 换成 scale",
            "直方图 bin 对应的截断阈值",
            "kl threshold 公式",
        ),
        asks_en=(
            "KL threshold for absmax 10, 2048 bins and best bin 1024",
            "turn the best histogram bin into an int8 scale",
            "how is the KL clipping threshold computed",
            "histogram calibration threshold",
        ),
        parameters=(
            Parameter(
                "absmax", "number", "最大绝对值", "largest |x|", "10", low=1e-30, high=1e30,
                words=("absmax", "|x|max", "max", "最大绝对值", "最大值"),
            ),
            Parameter(
                "bins", "integer", "直方图区间数", "number of bins", "2048", low=2, high=1_000_000, default=2048,
                words=("bins", "bin 数", "区间数", "num_bin", "个 bin", "个bin", "个区间"),
            ),
            Parameter(
                "best_bin", "integer", "最优区间 i", "best bin i", "1024", low=1, high=1_000_000,
                words=("best_bin", "best bin", "i", "最优", "best", "最佳 bin", "最佳", "最优区间", "最佳区间"),
            ),
            _DTYPE,
        ),
        results=(
            Result("threshold", "阈值", "threshold"),
            Result("scale", "scale", "scale"),
            Result("scale_unclipped", "不截断时的 scale", "scale without clipping"),
            Result("kept", "阈值与最大绝对值之比", "threshold relative to the largest |x|"),
            Result("clipped_above", "绝对值超过它被截断", "magnitude above which values are clipped"),
        ),
        shown_zh="阈值 {threshold}，{dtype} scale {scale}（不截断时 {scale_unclipped}）",
        shown_en="threshold {threshold}, {dtype} scale {scale} ({scale_unclipped} without clipping)",
        function=calibration.kl_threshold,
        source="tpu-mlir developer manual, calibration: (i + 0.5) * |max| / bins",
        assumptions=(
            (
                "scale 按 threshold / 127 算；别的工具的 KL 规则细节可能不同",
                "the scale is threshold / 127; other tools' KL rules may differ in detail",
            ),
        ),
    ),
    Check(
        name="ifmr_candidates",
        zh="IFMR 搜索多少个候选阈值",
        en="how many thresholds IFMR tries",
        help_zh="从 search_range_start 到 search_range_end 每隔 search_step 试一个截断阈值（初始值乘以它），两端都算："
        "(end - start) / step + 1。给出个数以及首尾阈值和 scale。",
        help_en="From search_range_start to search_range_end in steps of search_step, each a clipping threshold "
        "relative to the initial one, both ends counted: (end - start) / step + 1. Gives the count and the first and "
        "last threshold and scale.",
        asks_zh=(
            "ifmr search_range 0.7 到 1.3 步长 0.01 有几个候选",
            "search_step 改成 0.02 会少算多少次",
            "IFMR 搜索次数",
            "校准搜索范围对应的 scale",
        ),
        asks_en=(
            "ifmr candidates from 0.7 to 1.3 in steps of 0.01",
            "how many thresholds does search_step 0.02 give",
            "number of IFMR search steps",
            "scales covered by the IFMR search range",
        ),
        parameters=(
            Parameter(
                "start", "number", "search_range_start", "search_range_start", "0.7", low=0.001, high=10, default=0.7,
                words=("start", "search_range_start", "from", "从", "起点"),
            ),
            Parameter(
                "end", "number", "search_range_end", "search_range_end", "1.3", low=0.001, high=10, default=1.3,
                words=("end", "search_range_end", "to", "到", "终点"),
            ),
            Parameter(
                "search_step", "number", "search_step", "search_step", "0.01", low=0.00001, high=10, default=0.01,
                words=("search_step", "step", "步长"),
            ),
            Parameter(
                "clip_max", "number", "初始截断值", "initial threshold", "6", low=1e-30, high=1e30, default=None,
                words=("clip_max", "max", "最大值", "初始值"),
            ),
            _DTYPE,
        ),
        results=(
            Result("count", "候选个数", "number of candidates"),
            Result("first", "第一个阈值", "first threshold"),
            Result("last", "最后一个阈值", "last threshold"),
            Result("scale_first", "第一个 scale", "first scale"),
            Result("scale_last", "最后一个 scale", "last scale"),
        ),
        shown_zh="{count} 个候选，阈值从 {first} 到 {last}",
        shown_en="{count} candidates, thresholds from {first} to {last}",
        function=calibration.ifmr_candidates,
        source="AMCT guide, IFMR: search_range_start, search_range_end, search_step",
        assumptions=(
            (
                "两端都算候选；手册没有写明",
                "both ends are counted; the guide does not say so",
            ),
            (
                "没给 clip_max 时阈值以初始值的倍数表示",
                "without clip_max, thresholds are multiples of the initial one",
            ),
        ),
    ),
    Check(
        name="calibration_images",
        zh="校准用了多少张图，够不够",
        en="how many calibration images are used, and is that enough",
        help_zh="校准图片数 = batch_num * batch_size。建议：AMCT（Nano、昇腾）16 或 32 张，配置说明另写不超过 50 张；"
        "海思 SVP 的 image_list 3~5 张典型图；地平线 100 张以上。",
        help_en="Images = batch_num * batch_size. Advice: AMCT (Nano, Ascend) 16 or 32, its configuration notes say at "
        "most 50; HiSilicon SVP image_list 3-5 typical images; Horizon 100 and more.",
        asks_zh=(
            "batch_num 2 batch_size 16 用了多少张校准图",
            "batch_num 是不是越大越好",
            "校准集要多少张图",
            "image_list 放几张图合适",
        ),
        asks_en=(
            "how many images do batch_num 2 and batch size 16 use",
            "is a larger batch_num better",
            "how many calibration images does AMCT need",
            "calibration set size for Horizon",
        ),
        parameters=(
            Parameter(
                "batch_num", "integer", "batch_num", "batch_num", "2", low=1, high=1_000_000,
                words=("batch_num", "batch 数", "批数", "batches"),
            ),
            Parameter(
                "batch_size", "integer", "batch_size", "batch_size", "16", low=1, high=100_000, default=1,
                words=("batch_size", "batch size", "batch", "每批"),
            ),
            Parameter(
                "inputs", "integer", "模型输入个数", "number of model inputs", "1", low=1, high=1000, default=1,
                words=("inputs", "输入个数", "路输入"),
            ),
            Parameter(
                "tool", "choice", "工具", "tool", "nano", choices=("nano", "ascend", "hisilicon", "horizon"),
                default="nano", words=("tool", "平台", "platform", "工具"),
            ),
        ),
        results=(
            Result("images", "校准图片数", "calibration images"),
            Result("samples", "所有输入的样本数", "samples of all inputs"),
            Result(
                "verdict", "判断", "verdict",
                labels={
                    "few": ("比建议的少", "fewer than advised"),
                    "advised": ("在建议范围内", "within the advice"),
                    "many": ("比建议的多，通常不再提升", "more than advised, which rarely helps"),
                    "above_limit": ("超过配置说明的 50 张", "above the 50 of the configuration notes"),
                },
            ),
            Result(
                "advice", "建议", "advice",
                labels={
                    "nano": ("16 或 32 张，不超过 50 张", "16 or 32, at most 50"),
                    "ascend": ("16 或 32 张，不超过 50 张", "16 or 32, at most 50"),
                    "hisilicon": ("3 到 5 张典型图", "3 to 5 typical images"),
                    "horizon": ("100 张以上", "100 and more"),
                },
            ),
            Result("batch_num_needed", "达到下限的 batch_num", "batch_num that reaches the advice"),
        ),
        shown_zh="用 {images} 张图（batch_num {batch_num} × batch_size {batch_size}），{verdict}；建议 {advice}",
        shown_en="{images} images (batch_num {batch_num} times batch_size {batch_size}), {verdict}; advised: {advice}",
        function=calibration.calibration_images,
        source="AMCT guide, manual tuning (16 or 32) and config.json (at most 50); HiSilicon ATC guide, image_list "
        "(3-5 images); Horizon OpenExplorer, cal_data_dir (100 and more)",
        assumptions=(
            (
                "资料只写 16 或 32，这里把 16 到 32 都算在建议范围内",
                "the guide names 16 or 32; everything between them counts as advised here",
            ),
        ),
    ),
)  # fmt: skip
