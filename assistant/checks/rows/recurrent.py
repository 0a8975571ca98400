"""Rows: LSTM and GRU."""

from typing import Final

from assistant.checks import recurrent
from assistant.checks.types import Check, Parameter, Result

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="rnn_drift",
        zh="LSTM/GRU 量化后误差随帧怎么变",
        en="how quantized LSTM or GRU drifts over frames",
        help_zh="随机权重和随机输入的单层单向 LSTM 或 GRU：浮点跑一遍，再按整数矩阵乘、fp16 向量跑一遍，"
        "给出若干帧的相对误差|h-h'|/|h|、最大误差、后一半帧的平均。看误差是一直累积还是趋于稳定，以及 int16 "
        "激活能好多少。",
        help_en="A one-layer, one-direction LSTM or GRU with random weights and inputs, in float and again with "
        "integer products and fp16 vectors: the relative error |h-h'|/|h| at some frames, its maximum and its mean "
        "over the second half. Shows whether the error accumulates or settles, and what int16 activations gain.",
        asks_zh=(
            "LSTM 量化误差跑 200 帧会累积吗",
            "GRU hidden 64 int8 和 int16 激活差多少",
            "循环网络量化后越跑越偏",
            "RNN 100 帧漂移多大",
        ),
        asks_en=(
            "does LSTM quantization error accumulate over 200 frames",
            "GRU hidden 64 with int8 or int16 activations",
            "drift of a quantized recurrent network",
            "RNN error after 100 frames",
        ),
        parameters=(
            Parameter(
                "kind", "choice", "类型", "kind", "LSTM", choices=("LSTM", "GRU"), default="LSTM",
                words=("kind", "lstm", "gru", "类型"),
            ),
            Parameter(
                "hidden", "integer", "隐藏单元数", "hidden size", "64", low=1, high=256, default=64,
                words=("hidden", "hidden_size", "hidden size", "隐藏", "h"),
            ),
            Parameter(
                "inputs", "integer", "输入维度", "input size", "40", low=1, high=256, default=40,
                words=("inputs", "input", "input size", "输入", "维"),
            ),
            Parameter(
                "frames", "integer", "帧数", "number of frames", "200", low=1, high=200, default=30,
                words=("frames", "帧", "帧数", "steps", "时间步"),
            ),
            Parameter(
                "activation", "choice", "激活类型", "activation type", "int8", choices=("int8", "int16"),
                default="int8", words=("activation", "激活", "act"),
            ),
            Parameter(
                "weight", "choice", "权重类型", "weight type", "int8", choices=("int4", "int8"),
                default="int8", words=("weight", "权重", "wts"),
            ),
            Parameter(
                "gain", "number", "权重范围 ±gain/sqrt(hidden)", "weights within +-gain/sqrt(hidden)", "1", low=0.01,
                high=10, default=1.0, words=("gain",),
            ),
            Parameter(
                "seed", "integer", "随机种子", "random seed", "0", low=0, high=2**31, default=0,
                words=("seed", "种子"),
            ),
        ),
        results=(
            Result("frames_shown", "帧", "frames"),
            Result("relative", "这些帧的相对误差", "relative error at these frames"),
            Result("cosine", "这些帧的余弦相似度", "cosine similarity at these frames"),
            Result("first", "第一帧的相对误差", "relative error of the first frame"),
            Result("last", "最后一帧的相对误差", "relative error of the last frame"),
            Result("largest", "最大相对误差", "largest relative error"),
            Result("settled", "后一半帧的平均相对误差", "mean relative error of the second half"),
            Result("max_error", "最大绝对误差", "largest absolute error"),
            Result("lowest_cosine", "最低余弦相似度", "lowest cosine similarity"),
        ),
        shown_zh="第 {frames_shown} 帧的相对误差 {relative}，最大 {largest}，后一半平均 {settled}（{kind}，激活 "
        "{activation}，权重 {weight}，随机权重）",
        shown_en="relative errors {relative} at frames {frames_shown}, at most {largest}, {settled} on average over "
        "the second half ({kind}, {activation} activations, {weight} weights, random weights)",
        function=recurrent.rnn_drift,
        source="ONNX LSTM and GRU; Nano AI application guide (integer cube, fp16 vectors); AMCT guide (per tensor "
        "for LSTM and GRU)",
        assumptions=(
            (
                "权重在 ±gain/sqrt(hidden) 均匀随机（PyTorch 的初始化），输入为标准正态；真实模型会不同，以实测为准",
                "weights uniform within +-gain/sqrt(hidden) (PyTorch's initialization), inputs standard normal; a "
                "real model differs, measure it",
            ),
            (
                "量化范围取自同一次浮点运行，状态以 fp16 传到下一帧；芯片的融合方式没有公开",
                "ranges come from the same float run and the state stays in fp16; how a chip fuses the steps is not "
                "published",
            ),
        ),
    ),
    Check(
        name="gru_convention",
        zh="GRU 的 linear_before_reset 0 和 1 差多少",
        en="GRU with linear_before_reset 0 and 1",
        help_zh="单个单元一步 GRU：linear_before_reset=0 为 tanh(Wx+Wb+(r*h)*R+Rb)，=1 为 "
        "tanh(Wx+Wb+r*(h*R+Rb))（PyTorch 导出、Nano 只支持非 0）；h'=(1-z)*n+z*h。另给出更新门取反（海思手册 "
        "h'=(1-Z)*h+Z*n）的结果。",
        help_en="One step of a GRU with one unit: linear_before_reset=0 is tanh(Wx+Wb+(r*h)*R+Rb), 1 is "
        "tanh(Wx+Wb+r*(h*R+Rb)) (PyTorch exports; the only one on Nano); h'=(1-z)*n+z*h. Also the result with the "
        "update gate the other way round (HiSilicon manual: h'=(1-Z)*h+Z*n).",
        asks_zh=(
            "GRU linear_before_reset 0 和 1 结果差在哪",
            "PyTorch GRU 搬到 Caffe GRU 输出不对",
            "复位门先乘 h 还是先过矩阵",
            "GRU 更新门要不要取反",
        ),
        asks_en=(
            "difference between linear_before_reset 0 and 1",
            "PyTorch GRU weights give wrong output in a Caffe style GRU",
            "does the reset gate act before or after the matrix",
            "is the update gate inverted",
        ),
        parameters=(
            Parameter("x", "number", "输入 x", "input x", "1", low=-1e6, high=1e6, default=1.0, words=("x", "输入")),
            Parameter(
                "h", "number", "上一状态 h", "previous state h", "0.5", low=-1e6, high=1e6, default=0.5,
                words=("h", "状态", "state"),
            ),
            Parameter(
                "w", "number", "输入权重 W", "input weight W", "1", low=-1e6, high=1e6, default=1.0, words=("w",),
            ),
            Parameter(
                "r", "number", "循环权重 R", "recurrence weight R", "1", low=-1e6, high=1e6, default=1.0, words=("r",),
            ),
            Parameter(
                "wb", "number", "输入偏置 Wb", "input bias Wb", "0", low=-1e6, high=1e6, default=0.0, words=("wb",),
            ),
            Parameter(
                "rb", "number", "循环偏置 Rb", "recurrence bias Rb", "1",
                low=-1e6, high=1e6, default=1.0, words=("rb",),
            ),
            Parameter(
                "reset", "number", "复位门 r 的值", "value of the reset gate", "0.5", low=0, high=1, default=0.5,
                words=("reset", "复位门"),
            ),
            Parameter(
                "update", "number", "更新门 z 的值", "value of the update gate", "0.5", low=0, high=1, default=0.5,
                words=("update", "更新门", "z"),
            ),
        ),
        results=(
            Result("candidate_0", "候选值（linear_before_reset=0）", "candidate (linear_before_reset=0)"),
            Result("candidate_1", "候选值（linear_before_reset=1）", "candidate (linear_before_reset=1)"),
            Result("state_0", "新状态（0）", "new state (0)"),
            Result("state_1", "新状态（1）", "new state (1)"),
            Result("difference", "新状态之差", "difference of the new states"),
            Result("state_0_flipped", "新状态（0，更新门取反）", "new state (0, update gate the other way round)"),
        ),
        shown_zh="新状态 {state_0}（linear_before_reset=0）对 {state_1}（=1），候选值 {candidate_0} 对 {candidate_1}",
        shown_en="new state {state_0} (linear_before_reset=0) against {state_1} (1); candidates {candidate_0} against "
        "{candidate_1}",
        function=recurrent.gru_convention,
        source="ONNX GRU, attribute linear_before_reset; HiSilicon ATC guide, GRU formula",
    ),
)  # fmt: skip
