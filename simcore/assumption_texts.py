"""What lowering and estimates assume, in Chinese and English; each is shown with the figures that rest on it."""

from typing import Final

__all__ = ["LOWERING", "Text"]

#: A sentence in Chinese and in English.
Text = tuple[str, str]

LOWERING: Final[dict[str, Text]] = {
    "quant": (
        "每个浮点矩阵算子前插入 AscendQuant，后插入 AscendDequant；同一张量只量化一次；位置紧贴 Cube 算子",
        "AscendQuant stands before each float product and AscendDequant behind it; a tensor is quantized once",
    ),
    "trans": (
        "Vector 算子按 ND 计算：其结果进入 Cube 前插入 TransData（在 AscendQuant 之后、以整型搬运），"
        "Cube 结果被 Vector 算子读取前也插入；相邻 Cube 算子格式一致时不插入；两种 Cube 格式之间经 ND 转换",
        "vector operators work in ND: TransData stands behind AscendQuant where their result meets a product, and "
        "behind a product where they read its result; none between products of one format, two between two formats",
    ),
    "int32": (
        "脚本视图不考虑融合：Cube 的 int32 结果先写入内存，再由 AscendDequant 读取",
        "script view, no fusion: int32 results of the cube go to memory before AscendDequant reads them",
    ),
    "fused": (
        "融合视图：反量化以及紧随其后的 Relu/Clip 与 Cube 算子一起执行，int32 结果不写内存；其向量运算仍计周期",
        "fused view: dequantization and a Relu or Clip behind a product run with it, so that its int32 results never "
        "reach memory; their element operations still take cycles",
    ),
    "folding": (
        "融合视图：只依赖常量和 shape 的节点在编译时算好；Identity、推理态 Dropout 去掉；"
        "BatchNormalization 并入前面的 Conv/ConvTranspose/Gemm",
        "fused view: what follows from constants and shapes is computed by the compiler, Identity and Dropout are "
        "gone, BatchNormalization is in the Conv, ConvTranspose or Gemm before it",
    ),
    "weight": (
        "矩阵算子的常量操作数为 int8、按 FRACTAL_Z 存放，MatMul/Gemm 的 [k, n] 视作 [n, k, 1, 1] 的卷积权重",
        "constant operands of products are int8 in FRACTAL_Z; [k, n] of MatMul and Gemm like convolution weights "
        "[n, k, 1, 1]",
    ),
    "group": (
        "分组卷积权重按 CANN 图引擎的分组 FRACTAL_Z 公式存放（各组排在块对角线上，其余补零）；Nano 文档未说明",
        "weights of grouped convolutions are stored by the grouped FRACTAL_Z of CANN's graph engine, groups on the "
        "diagonal of a block, zero elsewhere; the Nano manuals do not say",
    ),
    "scale": (
        "AscendQuant 存 scale 与 offset 共 8 字节，AscendDequant 每个 scale 4 字节（卷积逐输出通道，其它一个）；"
        "bias 为 int32、不补齐",
        "AscendQuant holds a scale and an offset, 8 bytes; AscendDequant 4 bytes per scale, one per output channel of "
        "a convolution, else one; a bias is int32 and not padded",
    ),
    "recurrent": (
        "LSTM/GRU：只有输入 X 由 AscendQuant 量化，状态与输出为 ND fp16，状态在算子内部量化，反量化在算子内部",
        "LSTM and GRU: AscendQuant stands before X only; states and results are fp16 in ND, quantization of the state "
        "and dequantization are inside the operator",
    ),
    "settings": (
        "常量形式的 shape、axes、上下限等编译为算子属性，不占权重；索引与初始状态占",
        "constant sizes, axes and bounds become attributes and take no weight memory; indices and first states do",
    ),
    "no blocks": (
        "{device}：没有块大小的资料，不补齐、不插入格式转换和量化算子；矩阵权重按 int8、其它按 fp16 计",
        "{device}: no source gives its block sizes, so nothing is padded or inserted; weights of products count as "
        "int8, all other floats as fp16",
    ),
}
