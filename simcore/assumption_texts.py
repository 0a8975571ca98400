"""What lowering and estimates assume, in Chinese and English; each is shown with the figures that rest on it."""

import re
from typing import Final

__all__ = ["ESTIMATE", "LOWERING", "Text", "translated"]

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
        "BatchNormalization 并入前面的 Conv/ConvTranspose/Gemm；Cube 算子直接读 DequantizeLinear 之前的整型数据",
        "fused view: what follows from constants and shapes is computed by the compiler, Identity and Dropout are "
        "gone, BatchNormalization is in the Conv, ConvTranspose or Gemm before it; products read the codes before "
        "a DequantizeLinear",
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

#: What an estimate assumes beyond lowering.
ESTIMATE: Final[dict[str, Text]] = {
    "script": (
        "脚本视图：按文件中的节点逐个计算，不融合、不折叠常量，每个输出单独占内存",
        "script view: every node of the file by itself, no fusion, no folding; every output has memory of its own",
    ),
    "sharing": (
        "融合视图：Reshape 一类与输入共用内存，逐元素算子可写回其输入",
        "fused view: Reshape and the like share the memory of their input, elementwise operators may overwrite theirs",
    ),
    "sizes": (
        "每块缓冲区按 ALIGN_UP(长度,{size})+{surplus} 字节、首址 {address} 字节对齐（AscendCL 指南的切分规则）；"
        "假设编译器的中间张量也按此规则",
        "each buffer takes its bytes rounded up to {size}, plus {surplus}, at an address aligned to {address} "
        "(AscendCL guide, cutting up memory); intermediate tensors of the compiler are assumed to follow the same rule",
    ),
    "no sizes": (
        "{device}：没有内存对齐的资料，缓冲区不补齐",
        "{device}: no source gives its alignment of memory, so buffers are not padded",
    ),
    "interface": (
        "输入输出由应用持有，整个推理期间不复用",
        "inputs and outputs are held by the application and never reused during a run",
    ),
    "instructions": (
        "指令大小没有资料，假设：每种算子 {kernel} 字节代码 + 每层 {task} 字节任务描述；"
        "exeom 头：{header} 字节 + 每个输入/输出 {tensor} 字节",
        "no source gives instruction sizes; assumed: {kernel} bytes of code per operator type and {task} bytes of task "
        "per layer; header of the exeom: {header} bytes and {tensor} per input or output",
    ),
    "missing": (
        "{count} 个权重没有数据（外部文件缺失），按声明的 shape 计算",
        "{count} weights have no data (their external file is missing); they count by their declared shapes",
    ),
    "no rates": (
        "{device}：没有算力资料，无法估计时延",
        "{device}: no source gives its rates, so the latency is unknown",
    ),
    "no clock": (
        "{device}：没有默认时钟，给出时钟后才能换算时延",
        "{device}: no source gives its clock; give one to get a latency",
    ),
    "unknown work": (
        "有 {count} 层的计算量或张量大小只有运行时才知道，未计入合计",
        "the work or size of {count} layers is known to a run only and not in the sums",
    ),
    "branches": (
        "If 只计一个分支（会执行的，或占内存较大的）；另一分支的权重不在权重大小内，但在参数量内",
        "of an If one branch counts, the one that runs or the larger; weights of the other are in the parameters only",
    ),
    "loops": (
        "循环体的层按循环次数计乘加与周期，内存只算一次",
        "layers inside a loop count their multiply-adds and cycles once per iteration, their memory once",
    ),
}

#: English sentences of the other modules, as patterns, with their Chinese.
_SENTENCES: Final = tuple(
    (re.compile(pattern, re.DOTALL), zh)
    for pattern, zh in (
        (
            r"one multiply-add counts as two of the published (\S+) operations per cycle \((.*)\)",
            r"公布的每周期 \1 次运算中，一次乘加算两次（\2）",
        ),
        (
            r"vector operators, memory traffic and instructions take no cycles.*",
            "向量算子、访存、指令不计周期：没有资料",
        ),
        (r"(\S+) multiply-adds per cycle: (.*)", r"每周期 \1 次乘加（假设：\2）"),
        (r"(\S+) multiply-adds per cycle \((.*)\)", r"每周期 \1 次乘加（\2）"),
        (r"products run in whole blocks of (.*) \(rows x sum x columns\)", r"矩阵乘按 \1（行 x 累加 x 列）整块计算"),
        (
            r"products and vector work do not overlap; memory traffic and instructions take no cycles",
            "矩阵与向量计算不重叠；访存与指令不计周期",
        ),
        (r"int16 activations run at half the int8 rate.*", "int16 数据按 int8 一半的速率计：公布的数字只针对 int8"),
        (
            r"the vector unit takes (\d+) elements per cycle, whatever the operation: no source gives its rate",
            r"向量单元每周期处理 \1 个元素，不论何种运算：没有资料",
        ),
        (r"every sequence is taken to have the full length.*", "sequence_lens 未知，按所有序列满长计"),
        (r"an Einsum of more than two operands.*", "多于两个操作数的 Einsum 按直接循环计，两两相乘可能更少"),
        (r"a loop is taken to run its full trip count.*", "循环按最大次数计，条件可能使其提前结束"),
        (r"the carried tensors of a loop .*", "循环携带的张量按保持初始 shape 计"),
        (
            r"output (.*) has its own buffer and is copied to state (.*) after the call.*",
            r"输出 \1 单独占内存，推理后再拷到状态 \2",
        ),
        (r"a subgraph of (.*) has unknown shapes and takes no memory here", r"\1 的一个子图 shape 未知，不计内存"),
        (r"an If whose condition is not known takes the branch.*", "条件未知的 If 取与输入 shape 相符的分支"),
        (
            r"an If whose condition is not known takes the memory of its larger branch",
            "条件未知的 If 按占内存较大的分支计",
        ),
        (
            r"node (.*) \(If\) takes the branch that fits the inputs; the other one fails: (.*)",
            r"If 节点 \1 取与输入 shape 相符的分支；另一分支不成立：\2",
        ),
    )
)


#: What devices say of their figures, inside of a sentence.
_FIGURES: Final = {
    "derived: 16 GOPS / 64 MHz and 50 GOPS / 200 MHz of the Nano AI application guide":
        "由 Nano AI应用开发指导书 的 16 GOPS / 64 MHz 与 50 GOPS / 200 MHz 推得",
    "250 operations per cycle are 125 multiply-adds if one counts as two; 128 is the next power of two.":
        "每周期 250 次运算，一次乘加算两次就是 125 次；128 是下一个 2 的幂",
}  # fmt: skip


def translated(sentence: str) -> Text:
    """Return an English sentence of simcore in Chinese and English; in English twice if it is not known here."""
    for pattern, zh in _SENTENCES:
        found = pattern.fullmatch(sentence)
        if found:
            chinese = found.expand(zh)
            for english, figure in _FIGURES.items():
                chinese = chinese.replace(english, figure)
            return chinese, sentence
    return sentence, sentence
