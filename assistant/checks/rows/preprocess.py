"""Rows: input preprocessing."""

from typing import Final

from assistant.checks import preprocess
from assistant.checks.types import Check, Parameter, Result

_MOST: Final = 64

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="normalization",
        zh="归一化参数换算：mean/std、scale、var 在各工具链怎么填",
        en="normalization constants between toolchains: mean and std, scale, var",
        help_zh="同一个归一化 y=(像素-mean)/std 在各工具链的写法：地平线 mean_value=255*mean、scale_value=1/(255*std)；"
        "MagicMind var=std 的平方；HiSilicon/ATC AIPP 的 var_reci_chn=1/std（不是方差），mean_chn 只能填整数，"
        "小数放 min_chn；RKNN std_values；ncnn norm_vals=1/std。convention 说明你手里的数是哪一种"
        "（auto 按给出的是 std、scale 还是 var 判断，都不大于 1 的 mean/std 算 unit）："
        "unit（x/255 后的 mean/std）、pixel（0~255 的 mean/std）、horizon、magicmind、aipp、rknn、ncnn。",
        help_en="One normalization y = (pixel - mean) / std as each toolchain writes it: Horizon mean_value = "
        "255*mean, scale_value = 1/(255*std); MagicMind var = std squared; AIPP of HiSilicon/ATC var_reci_chn = 1/std "
        "(no variance), mean_chn takes whole numbers and min_chn the rest; RKNN std_values; ncnn norm_vals = 1/std. "
        "convention says what your numbers are: unit (mean and std after x/255), pixel (mean and std of 0..255), "
        "horizon, magicmind, aipp, rknn, ncnn.",
        asks_zh=(
            "x/255 再减 0.485 除 0.229，yaml 的 mean_value 和 scale_value 填多少",
            "mean 123.675 std 58.395 在 AIPP 里怎么写 var_reci_chn",
            "ImageNet 归一化在 RKNN 的 mean_values std_values",
            "MagicMind 的 var 是方差还是标准差，该填多少",
            "ncnn2table 的 mean 和 norm 填什么",
        ),
        asks_en=(
            "mean 0.485 std 0.229 as Horizon mean_value and scale_value",
            "which mean and norm for ncnn2table with 1/255",
            "var_reci_chn and min_chn for ImageNet",
            "convert scale_value 0.017 to std_values of RKNN",
            "MagicMind vars for std 58.395",
        ),
        parameters=(
            Parameter(
                "mean", "numbers", "均值", "mean", "0.485,0.456,0.406", low=-1e6, high=1e6, most=_MOST,
                words=("mean", "均值", "mean_value", "mean_values", "mean_vals", "mean_chn", "减"),
            ),
            Parameter(
                "std", "numbers", "标准差", "standard deviation", "0.229,0.224,0.225", low=1e-12, high=1e12,
                default=None, most=_MOST, words=("std", "标准差", "std_values", "std_value", "除"),
            ),
            Parameter(
                "scale", "numbers", "乘的系数（scale_value、norm、var_reci_chn）",
                "factor (scale_value, norm, var_reci_chn)",
                "0.0171,0.0175,0.0174", low=1e-12, high=1e12, default=None, most=_MOST,
                words=("scale", "scale_value", "norm", "norm_vals", "var_reci_chn", "系数", "乘"),
            ),
            Parameter(
                "var", "numbers", "方差", "variance", "3409.976", low=1e-12, high=1e12, default=None, most=_MOST,
                words=("var", "vars", "方差", "variance"),
            ),
            Parameter(
                "convention", "choice", "你的数是哪种写法", "what your numbers are", "unit",
                choices=("auto", "unit", "pixel", "horizon", "magicmind", "aipp", "rknn", "ncnn"), default="auto",
                words=("convention", "写法", "toolchain", "from"),
            ),
            Parameter(
                "pixel", "number", "试算的像素", "pixel to try", "200", low=0, high=255, default=128.0,
                words=("pixel", "像素", "像素值"),
            ),
        ),
        results=(
            Result("out", "该像素归一化后", "the pixel normalized"),
            Result("unit_mean", "x/255 后的 mean", "mean after x/255"),
            Result("unit_std", "x/255 后的 std", "std after x/255"),
            Result("horizon_mean_value", "地平线 mean_value", "Horizon mean_value"),
            Result("horizon_scale_value", "地平线 scale_value", "Horizon scale_value"),
            Result("magicmind_mean", "MagicMind mean", "MagicMind mean"),
            Result("magicmind_var", "MagicMind var", "MagicMind var"),
            Result("aipp_mean_chn", "AIPP mean_chn", "AIPP mean_chn"),
            Result("aipp_min_chn", "AIPP min_chn", "AIPP min_chn"),
            Result("aipp_var_reci_chn", "AIPP var_reci_chn", "AIPP var_reci_chn"),
            Result("rknn_mean_values", "RKNN mean_values", "RKNN mean_values"),
            Result("rknn_std_values", "RKNN std_values", "RKNN std_values"),
            Result("ncnn_mean_vals", "ncnn mean_vals", "ncnn mean_vals"),
            Result("ncnn_norm_vals", "ncnn norm_vals", "ncnn norm_vals"),
            Result("spread", "各写法之间的最大差", "largest difference between the forms"),
        ),
        shown_zh="地平线 mean_value {horizon_mean_value}、scale_value {horizon_scale_value}；MagicMind var "
        "{magicmind_var}；AIPP mean_chn {aipp_mean_chn} 加 min_chn {aipp_min_chn}、var_reci_chn {aipp_var_reci_chn}；"
        "RKNN std_values {rknn_std_values}；ncnn norm_vals {ncnn_norm_vals}；像素 {pixel} 变成 {out}",
        shown_en="Horizon mean_value {horizon_mean_value}, scale_value {horizon_scale_value}; MagicMind var "
        "{magicmind_var}; AIPP mean_chn {aipp_mean_chn} plus min_chn {aipp_min_chn}, var_reci_chn {aipp_var_reci_chn}; "
        "RKNN std_values {rknn_std_values}; ncnn norm_vals {ncnn_norm_vals}; pixel {pixel} becomes {out}",
        function=preprocess.normalization,
        example={"mean": "0.485,0.456,0.406", "std": "0.229,0.224,0.225"},
        source="RDK toolchain FAQ; Cambricon magicmind_edge gen_model; CANN ATC guide, AIPP normalization and "
        "template; RKNN Toolkit2 rknn.config; ncnn Mat::substract_mean_normalize",
        assumptions=(
            (
                "AIPP 在 Nano 上不支持；这里把整数部分放 mean_chn、小数放 min_chn 是我们的写法，两者之和才起作用",
                "Nano has no AIPP; putting whole part into mean_chn and rest into min_chn is our way, only their sum "
                "counts",
            ),
        ),
    ),
    Check(
        name="int8_pixel",
        zh="图像输入减 128 后是多少",
        en="an image pixel as int8 input (minus 128)",
        help_zh="地平线 X3/X5 量化模型的图像输入是 int8：像素 - 128（input_offset=128）；前处理节点再算 "
        "((q+128)-mean)*scale。featuremap 输入不减。",
        help_en="Image inputs of quantized models on Horizon X3 and X5 are int8: pixel - 128 (input_offset=128); the "
        "preprocess node then computes ((q+128)-mean)*scale. Feature map inputs are not shifted.",
        asks_zh=(
            "像素 200 的 int8 输入是多少",
            "HB_ONNXRuntime 图像输入要不要 -128",
            "像素 200 减 128 再过前处理节点得多少",
            "input_offset=128 怎么用",
        ),
        asks_en=(
            "int8 input of pixel 200",
            "do I subtract 128 from the image",
            "pixel 200 through the preprocess node with mean 123.675 scale 0.0171",
            "what does input_offset 128 do",
        ),
        parameters=(
            Parameter("pixel", "integer", "像素", "pixel", "200", low=0, high=255, words=("pixel", "像素", "像素值")),
            Parameter(
                "mean", "number", "均值（0~255）", "mean (0..255)", "123.675", low=-1e6, high=1e6, default=0.0,
                words=("mean", "均值", "mean_value"),
            ),
            Parameter(
                "scale", "number", "系数", "scale", "0.01712475", low=-1e6, high=1e6, default=1.0,
                words=("scale", "scale_value", "系数"),
            ),
        ),
        results=(
            Result("int8", "int8 输入", "int8 input"),
            Result("out", "前处理节点输出", "output of the preprocess node"),
        ),
        shown_zh="int8 输入 {int8}，前处理节点输出 {out}",
        shown_en="int8 input {int8}, the preprocess node gives {out}",
        function=preprocess.int8_pixel,
        source="D-Robotics RDK documentation, toolchain FAQ: image input minus 128, node (data - mean) * scale",
    ),
)  # fmt: skip
