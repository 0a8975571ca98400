"""Rows: limits that decide whether and how a model converts."""

from typing import Final

from assistant.checks import convert
from assistant.checks.types import Check, Parameter, Result

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="opset_check",
        zh="这个 opset 工具链支持吗",
        en="does the toolchain take this opset",
        help_zh="按各工具链文档写的 ONNX opset 范围判断：Nano ATC 11~15（指导书写 11~18，AMCT 最高 16，"
        "优先不超过 15），CANN ATC 11~18，地平线 hb_mapper（X3/X5）10~11，RKNN 1.5 不超过 12、2.x 不超过 19。"
        "类型串 ai.onnx::17::Conv 中的数字就是 opset。",
        help_en="Judges by the range of ONNX opsets each toolchain documents: ATC for Nano 11 to 15 (its guide says 11 "
        "to 18, AMCT at most 16: stay at or below 15), ATC of CANN 11 to 18, Horizon hb_mapper (X3, X5) 10 to 11, RKNN "
        "1.5 up to 12, 2.x up to 19. The number in ai.onnx::17::Conv is the opset.",
        asks_zh=(
            "opset 17 的模型 Nano 能转吗",
            "ai.onnx::23::Div 没有解析器，atc 支持到多少",
            "hb_mapper 要 opset 几",
            "RKNN 2 支持 opset 19 吗",
        ),
        asks_en=(
            "does ATC for Nano take opset 17",
            "No parser is registered for ai.onnx::23::Div",
            "which opset for hb_mapper",
            "is opset 13 fine for rknn 1.5",
        ),
        parameters=(
            Parameter(
                "opset", "integer", "模型的 opset", "opset of the model", "17", low=1, high=1000,
                words=("opset", "版本", "version", "ai.onnx"),
            ),
            Parameter(
                "toolchain", "choice", "工具链", "toolchain", "nano",
                choices=("nano", "nano-guide", "amct-onnx", "cann-atc", "hb-mapper", "rknn-1.5", "rknn-2"),
                default="nano", words=("toolchain", "工具链", "平台", "atc", "nano", "rknn", "hb_mapper", "amct"),
            ),
        ),
        results=(
            Result("supported", "支持", "supported"),
            Result("low", "最低", "lowest"),
            Result("high", "最高", "highest"),
            Result("use", "可导出的 opset", "opset to export with"),
        ),
        shown_zh="{toolchain} 支持 opset {low} 到 {high}，模型是 {opset}：用 opset {use}",
        shown_en="{toolchain} takes opset {low} to {high}, the model has {opset}: use opset {use}",
        function=convert.opset_check,
        source="Nano AI application, ATC and AMCT guides; CANN graph engine docs, --framework; RDK toolchain FAQ; RKNN "
        "Toolkit2 notes",
        assumptions=(
            (
                "范围是对工具链整体写的，个别算子的范围可能更窄；没有写下限的按 1 计",
                "the range is of the toolchain, that of one operator may be narrower; a lower end not given counts as "
                "1",
            ),
        ),
    ),
    Check(
        name="chw_limit",
        zh="C×H×W 超过 8192 会退回 CPU 吗",
        en="does C*H*W above 8192 fall back to the CPU",
        help_zh="地平线 hb_mapper（X3/X5）提示 Layer xxx will be executed on CPU 时，部分算子的约束是 C*H*W 不超过 "
        "8192。取 shape 最后三维相乘比较。",
        help_en="When hb_mapper (X3, X5) says a layer will be executed on CPU, one limit of some operators is C*H*W of "
        "at most 8192. Multiplies the last three sizes of the shape and compares.",
        asks_zh=(
            "64x12x12 会不会退回 CPU",
            "Layer will be executed on CPU，128x8x8 超限吗",
            "C*H*W 9216 超过 8192 吗",
            "hb_mapper 的 CHW 限制",
        ),
        asks_en=(
            "is 64x12x12 above the BPU limit",
            "layer executed on CPU, shape 128x8x8",
            "hb_mapper C*H*W limit 8192",
            "does 1x32x16x16 stay on the BPU",
        ),
        parameters=(
            Parameter(
                "shape", "shape", "特征图形状（C,H,W 或 N,C,H,W）", "shape (C,H,W or N,C,H,W)", "64x12x12", low=1,
                high=1e9, most=4, words=("shape", "形状", "chw", "尺寸"),
            ),
            Parameter(
                "limit", "integer", "上限", "limit", "8192", low=1, high=1e12, default=convert.BPU_CHW,
                words=("limit", "上限", "限制"),
            ),
        ),
        results=(
            Result("product", "C×H×W", "C*H*W"),
            Result("over", "超过", "above the limit"),
            Result("ratio", "是上限的几倍", "times the limit"),
        ),
        shown_zh="C×H×W = {product}，上限 {limit}，超过：{over}",
        shown_en="C*H*W = {product}, limit {limit}, above it: {over}",
        function=convert.chw_limit,
        source="D-Robotics RDK documentation, toolchain FAQ (X3, X5)",
        assumptions=(
            (
                "只有部分算子有这个限制，文档没有列全",
                "only some operators have this limit; no document lists them all",
            ),
        ),
    ),
    Check(
        name="fast_softmax",
        zh="softmax_optimize_enable 会丢掉多小的概率",
        en="which probabilities softmax_optimize_enable drops",
        help_zh="HiSilicon ATC 的 --softmax_optimize_enable=1 让 axis=-1 的 softmax 快 2~4 倍，"
        "但 (最大值 - x) > 9.010911（= ln 2^13）的小概率会变成 0。给出精确结果和丢掉后的结果。",
        help_en="--softmax_optimize_enable=1 of the HiSilicon ATC makes softmax over the last axis 2 to 4 times "
        "faster, but probabilities with (max - x) > 9.010911 (= ln 2^13) become 0. Gives the exact result and the one "
        "with them dropped.",
        asks_zh=(
            "softmax_optimize_enable 打开后 [10, 0.1] 得多少",
            "小概率全变成 0，是量化问题吗",
            "softmax 优化丢掉多小的概率",
            "9.010911 是什么阈值",
        ),
        asks_en=(
            "softmax of 10 and 0.1 with softmax_optimize_enable",
            "small probabilities became zero after enabling fast softmax",
            "what does softmax_optimize_enable drop",
            "threshold 9.010911",
        ),
        parameters=(
            Parameter(
                "values", "numbers", "softmax 的输入", "inputs of softmax", "10,0.1", low=-1e300, high=1e300,
                most=10_000, read_least=2, words=("values", "输入", "input", "logits", "scores"),
            ),
            Parameter(
                "cut", "number", "阈值", "threshold", "9.010911", low=0, high=1e300, default=convert.SOFTMAX_CUT,
                words=("cut", "阈值", "threshold"),
            ),
        ),
        results=(
            Result("exact", "精确结果", "exact"),
            Result("fast", "优化后结果", "with small ones dropped"),
            Result("dropped", "丢掉的个数", "dropped"),
            Result("smallest_kept", "能保留的最小 e^(x-max)", "least e^(x-max) that is kept"),
            Result("max_error", "最大差", "largest difference"),
        ),
        shown_zh="优化后得 {fast}，精确值 {exact}，丢掉 {dropped} 个",
        shown_en="gives {fast}, exactly {exact}; {dropped} dropped",
        function=convert.fast_softmax,
        source="HiSilicon ATC guide, --softmax_optimize_enable",
        assumptions=(
            (
                "丢掉的项不计入分母是推断（手册例子 [10, 0.1] 得 [1, 0] 与此一致）",
                "that dropped terms leave the denominator too is inferred (the guide's example, [1, 0] for [10, 0.1], "
                "agrees)",
            ),
        ),
    ),
)  # fmt: skip
