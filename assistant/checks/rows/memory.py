"""Rows: bytes of tensors, images, recurrent layers and chains; padding."""

from typing import Final

from assistant.checks import memory
from assistant.checks.types import Check, Parameter, Result

_DTYPES: Final = (
    "float32", "float16", "bfloat16", "float64", "int4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
    "uint64", "bool",
)  # fmt: skip
_DTYPE_WORDS: Final = ("dtype", "数据类型", "类型", "精度", "type", "precision")
_BATCH: Final = Parameter(
    "batch", "integer", "批大小", "batch size", "8", low=1, high=1_000_000, default=1,
    words=("batch", "batch size", "批", "批大小", "张"),
)  # fmt: skip
_LIMIT: Final = Parameter(
    "limit", "number", "上限", "limit", "2097152", unit="byte", low=1, high=1e18, default=None,
    words=("limit", "上限", "限制", "可用", "只有", "available", "at most"),
)  # fmt: skip
_FITS: Final = Result(
    "fits", "是否放得下", "fits the limit",
    labels={"yes": ("放得下", "fits"), "no": ("放不下", "does not fit"), "no_limit": ("没有给上限", "no limit given")},
)  # fmt: skip

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="tensor_bytes",
        zh="张量占多少字节",
        en="bytes of a tensor",
        help_zh="由 shape、数据类型、布局算元素个数和字节数：紧凑、按布局补齐（NC1HWC0 的 C0*字节=32、NC4HW4 按 4 通"
        "道、FRACTAL_Z、FRACTAL_NZ）、每行对齐（stride）、整块对齐加余量。NHWC 的 shape 按 N,H,W,C 写，"
        "其余四维布局按 N,C,H,W 写。allocator 选 aclrtMalloc 时按 Nano 规则：向上取 32 的倍数再加 32 字节；"
        "aclrtMallocAlign32 不加；自己切分同 aclrtMalloc。",
        help_en="From shape, data type and layout: elements and bytes, plain, padded by the layout (NC1HWC0 with C0 of "
        "32 bytes, NC4HW4 with 4 channels, FRACTAL_Z, FRACTAL_NZ), with aligned rows (stride), and the whole aligned "
        "with a surplus. Write the shape of NHWC as N,H,W,C, that of the other four-axis layouts as N,C,H,W. allocator "
        "aclrtMalloc follows the rule of Nano: up to a multiple of 32, then 32 more; aclrtMallocAlign32 adds none; "
        "pieces cut by yourself are as with aclrtMalloc.",
        asks_zh=(
            "1x3x224x224 的 fp16 输入占多少字节",
            "NC1HWC0 格式下 1x40x1x100 的 int8 张量多大",
            "aclrtMalloc 申请 100 字节实际占多少",
            "NC4HW4 布局 elementSize 为什么是 200704",
            "自己切分 device 内存每段要留多大",
            "每行按 32 字节对齐后输入内存要多少",
        ),
        asks_en=(
            "how many bytes is a 1x3x224x224 float16 tensor",
            "size of an int8 feature map in NC1HWC0",
            "how much does aclrtMalloc take for 100 bytes",
            "memory of a FRACTAL_Z weight 64x3x3x3",
            "input bytes with rows aligned to 32",
            "tensor size batch 8 int16 [40,100]",
        ),
        parameters=(
            Parameter(
                "shape", "shape", "形状", "shape", "1x3x224x224", low=1, high=1e9, most=8,
                words=("shape", "形状", "维度", "尺寸", "tensor", "张量", "dims"),
            ),
            Parameter(
                "dtype", "choice", "数据类型", "data type", "float16", choices=_DTYPES, default="float32",
                words=_DTYPE_WORDS,
            ),
            Parameter(
                "layout", "choice", "布局", "layout", "NC1HWC0",
                choices=("ND", "NCHW", "NHWC", "NC1HWC0", "NC1HWC0_C04", "NC4HW4", "FRACTAL_Z", "FRACTAL_NZ"),
                default="ND", words=("layout", "format", "布局", "格式", "排布"), spoken={"NC4HW4": ("mnn",)},
            ),
            _BATCH,
            Parameter(
                "group", "integer", "分组数（FRACTAL_Z 权重）", "groups (FRACTAL_Z weights)", "2", low=1, high=65536,
                default=1, words=("group", "groups", "分组"),
            ),
            Parameter(
                "row_align", "integer", "每行对齐到", "rows aligned to", "32", unit="byte", low=1, high=65536,
                default=1, words=("row_align", "stride", "internal_stride", "每行", "行对齐", "rows"),
            ),
            Parameter(
                "align", "integer", "整块对齐到", "whole aligned to", "64", unit="byte", low=1, high=1 << 30, default=1,
                words=("align", "alignment", "对齐"),
            ),
            Parameter(
                "surplus", "integer", "另加余量", "surplus", "32", unit="byte", low=0, high=1 << 30, default=0,
                words=("surplus", "余量", "另加", "extra"),
            ),
            Parameter(
                "allocator", "choice", "申请方式", "allocator", "aclrtMalloc",
                choices=("none", "aclrtMalloc", "aclrtMallocAlign32", "split"), default="none",
                words=("allocator", "malloc", "申请", "分配", "切分"),
            ),
        ),
        results=(
            Result("elements", "元素个数", "elements"),
            Result("bytes", "紧凑字节数", "plain bytes", "byte"),
            Result("stored_shape", "存储形状", "stored shape"),
            Result("stored_elements", "存储元素个数", "stored elements"),
            Result("row_bytes", "每行字节数", "bytes of a row", "byte"),
            Result("stored_bytes", "按布局和行对齐的字节数", "bytes with layout and row padding", "byte"),
            Result("total_bytes", "实际占用", "bytes taken", "byte"),
            Result("mib", "实际占用", "taken", "MiB"),
        ),
        shown_zh="占 {total_bytes} 字节（{mib} MiB）：{elements} 个 {dtype} 元素，紧凑 {bytes} 字节，"
        "{layout} 布局存 {stored_elements} 个元素",
        shown_en="takes {total_bytes} bytes ({mib} MiB): {elements} elements of {dtype}, {bytes} bytes plain, "
        "{stored_elements} elements as {layout} stores them",
        function=memory.tensor_bytes,
        source="ATC guide, data formats (C0 = 32 bytes / bytes of an element); CANN aclFormat; open graph engine, "
        "format_transfer_fractal_z; AscendCL guide, secondary memory allocation and aclrtMalloc (32 + 32 bytes); "
        "HiSilicon ATC guide, --internal_stride; MNN NC4HW4",
        assumptions=(
            (
                "int4 的 C0=64 和 1、8 字节类型的 C0 由“32 字节”通式推出，文档没有逐类型列出",
                "C0 of int4 (64) and of 1- and 8-byte types follows from the rule of 32 bytes; no document lists it",
            ),
        ),
    ),
    Check(
        name="image_bytes",
        zh="NV12/YUV/RGB 图像要多少内存",
        en="memory of an NV12, YUV or RGB image",
        help_zh="由宽、高、格式和行对齐（stride）算 8 位图像的字节数：NV12/YUV420 为 stride*h*1.5，"
        "YUV422 为 2*stride*h，YUV444 为 3*stride*h，RGB 每行 3*w 再对齐。device 选 j6h/j6p 时 stride 按 64 对齐，"
        "j6e/j6m/j6b 按 32。",
        help_en="From width, height, format and row alignment (stride) of an 8-bit image: NV12 and YUV420 take "
        "stride*h*1.5, YUV422 2*stride*h, YUV444 3*stride*h, RGB aligns rows of 3*w. Device j6h or j6p aligns the "
        "stride to 64, j6e, j6m and j6b to 32.",
        asks_zh=(
            "1000x720 的 NV12 要申请多少内存",
            "memSize should >= tensor aligned shape size，1000x720 NV12 该给多大",
            "1920x1080 yuv420 一帧多少字节",
            "J6 上 nv12 stride 对齐后的大小",
        ),
        asks_en=(
            "how much memory does a 1000x720 NV12 frame need",
            "aligned size of nv12 on J6P",
            "bytes of a 1920x1080 yuv420 frame",
            "stride of an image 1000 wide aligned to 64",
        ),
        parameters=(
            Parameter(
                "width", "integer", "宽", "width", "1000", low=1, high=65536, words=("width", "宽", "宽度", "w"),
                in_order=True,
            ),
            Parameter(
                "height", "integer", "高", "height", "720", low=1, high=65536, words=("height", "高", "高度", "h"),
                in_order=True,
            ),
            Parameter(
                "form", "choice", "图像格式", "image format", "nv12",
                choices=("nv12", "yuv420p", "yuv422", "yuv444", "gray", "rgb"), default="nv12",
                words=("format", "格式", "form"),
            ),
            Parameter(
                "row_align", "integer", "行对齐到", "rows aligned to", "64", unit="byte", low=1, high=65536, default=1,
                words=("stride", "row_align", "align", "对齐", "行对齐"),
            ),
            Parameter(
                "device", "choice", "芯片", "chip", "j6p", choices=("none", "j6b", "j6e", "j6m", "j6h", "j6p"),
                default="none", words=("device", "芯片", "chip", "平台"),
            ),
            _BATCH,
        ),
        results=(
            Result("plain_bytes", "不对齐的字节数", "bytes without padding", "byte"),
            Result("stride", "对齐后的行跨度", "stride", "byte"),
            Result("bytes", "需要的字节数", "bytes needed", "byte"),
            Result("missing", "比不对齐多", "more than without padding", "byte"),
            Result("mib", "需要", "needed", "MiB"),
        ),
        shown_zh="需要 {bytes} 字节：stride {stride}，比不对齐的 {plain_bytes} 字节多 {missing}",
        shown_en="needs {bytes} bytes: stride {stride}, {missing} more than the {plain_bytes} bytes without padding",
        function=memory.image,
        source="Linux V4L2 pixel formats (NV12); strides of Journey 6: posts of the vendor's developer community",
        assumptions=(
            (
                "只对齐每行，高度不对齐；YUV444、RGB 等用同一行对齐是推断",
                "only rows are aligned, not the height; the same row alignment for YUV444, RGB and so on is inferred",
            ),
        ),
    ),
    Check(
        name="recurrent_size",
        zh="RNN/LSTM/GRU 有多少参数、多大",
        en="parameters and size of RNN, LSTM or GRU",
        help_zh="权重 = 方向数 * 门数 * hidden * (输入 + hidden)，门数 RNN 1、LSTM 4、GRU 3；"
        "后面各层的输入是 方向数*hidden。给出偏置个数（ONNX/PyTorch 每门两个）、字节数、MiB 和每帧的乘加次数。",
        help_en="Weights = directions * gates * hidden * (input + hidden), with 1 gate for RNN, 4 for LSTM, 3 for GRU; "
        "later layers take directions*hidden. Gives the biases (ONNX and PyTorch hold two per gate), bytes, MiB and "
        "the multiply-adds of a frame.",
        asks_zh=(
            "30 层 LSTM 隐藏 256，fp16 模型多大",
            "GRU 输入 40 隐藏 128 有多少参数",
            "双向 LSTM 两层 int8 权重占多少",
            "lstm 每帧多少 MAC",
        ),
        asks_en=(
            "how big is an LSTM with input 64 and hidden 256 in int8",
            "parameters of a 2-layer bidirectional GRU",
            "MACs per frame of an LSTM",
            "fp16 size of 30 RNN layers, hidden 256",
        ),
        parameters=(
            Parameter(
                "kind", "choice", "种类", "kind", "LSTM", choices=("RNN", "LSTM", "GRU"),
                words=("kind", "网络", "层类型"),
            ),
            Parameter(
                "input_size", "integer", "输入维数", "input size", "40", low=1, high=1_000_000,
                words=("input", "input_size", "输入", "特征", "features"),
            ),
            Parameter(
                "hidden", "integer", "隐藏维数", "hidden size", "128", low=1, high=1_000_000,
                words=("hidden", "hidden_size", "隐藏", "隐藏层", "num_output"),
            ),
            Parameter(
                "layers", "integer", "层数", "layers", "2", low=1, high=10_000, default=1,
                words=("layers", "层", "layer"),
            ),
            Parameter(
                "directions", "integer", "方向数", "directions", "2", low=1, high=2, default=1,
                words=("directions", "方向", "双向", "bidirectional"),
            ),
            Parameter(
                "bias", "choice", "偏置的存法", "how biases are kept", "double",
                choices=("none", "single", "double", "ncnn"), default="double", words=("bias", "偏置"),
            ),
            Parameter(
                "dtype", "choice", "数据类型", "data type", "int8", choices=_DTYPES, default="float32",
                words=_DTYPE_WORDS,
            ),
        ),
        results=(
            Result("weights", "权重个数", "weights"),
            Result("biases", "偏置个数", "biases"),
            Result("parameters", "参数个数", "parameters"),
            Result("weight_bytes", "权重字节数", "bytes of the weights", "byte"),
            Result("weight_mib", "权重", "weights", "MiB"),
            Result("bytes", "总字节数", "bytes in all", "byte"),
            Result("mib", "总大小", "in all", "MiB"),
            Result("macs_per_frame", "每帧乘加", "multiply-adds per frame", "MAC"),
        ),
        shown_zh="{dtype} 权重 {weight_mib} MiB（{weights} 个），连偏置 {mib} MiB，每帧 {macs_per_frame} 次乘加",
        shown_en="weights take {weight_mib} MiB in {dtype} ({weights} of them), {mib} MiB with biases; "
        "{macs_per_frame} multiply-adds per frame",
        function=memory.recurrent,
        source="ONNX operators RNN, LSTM and GRU (shapes of W, R, B); ncnn layers rnn, lstm, gru",
        assumptions=(
            (
                "偏置按与权重相同的类型计字节；量化模型的偏置常为 int32，会略大",
                "biases are counted in the type of the weights; quantized models often hold them in int32, which is "
                "more",
            ),
        ),
    ),
    Check(
        name="byte_units",
        zh="字节换算成 KiB/MiB/GiB，放不放得下",
        en="bytes in KiB, MiB, GiB, and whether they fit",
        help_zh="把字节数换成二进制单位（1 MiB = 1048576 字节）和十进制单位（1 MB = 1000000 字节），并和上限比较。"
        "malloc 失败日志里的 size、模型文件大小、权重大小都可以这样看。",
        help_en="Converts bytes to binary units (1 MiB = 1048576 bytes) and decimal units (1 MB = 1000000 bytes) and "
        "compares with a limit: the size in a failed malloc, a model file, its weights.",
        asks_zh=(
            "10485760 字节是多少 MiB",
            "failed to malloc npu memory size 59187712 是多少兆",
            "1427746880 字节是几个 G",
            "19588032 字节的权重和 133MB 的文件差几倍",
        ),
        asks_en=(
            "how many MiB are 10485760 bytes",
            "malloc size 1427746880, how many GiB is that",
            "does 59187712 bytes fit into 12 MB",
            "19588032 bytes against a file of 133 MB",
        ),
        parameters=(
            Parameter(
                "value", "number", "字节数", "bytes", "10485760", unit="byte", low=0, high=1e18,
                words=("value", "size", "字节", "bytes", "大小", "malloc"),
            ),
            _LIMIT,
        ),
        results=(
            Result("kib", "KiB", "KiB", "KiB"),
            Result("mib", "MiB", "MiB", "MiB"),
            Result("gib", "GiB", "GiB", "GiB"),
            Result("kb", "KB（十进制）", "kB (decimal)", "kB"),
            Result("mb", "MB（十进制）", "MB (decimal)", "MB"),
            Result("gb", "GB（十进制）", "GB (decimal)", "GB"),
            _FITS,
            Result("times_limit", "是上限的几倍", "times the limit"),
            Result("limit_times", "上限是它的几倍", "the limit is times the value"),
        ),
        shown_zh="{value} 字节 = {mib} MiB = {gib} GiB（十进制 {mb} MB）；{fits}",
        shown_en="{value} bytes = {mib} MiB = {gib} GiB ({mb} MB decimal); {fits}",
        function=memory.byte_units,
        source="IEC 80000-13 (binary prefixes), SI (decimal prefixes)",
    ),
    Check(
        name="activation_peak",
        zh="一串张量的激活峰值",
        en="peak of the activations of a chain",
        help_zh="链式网络逐层执行时，同时活着的只有一层的输入和输出：峰值 = 相邻两个张量之和的最大值。"
        "给出每个张量的字节数、峰值、全部之和；权重不算在内。",
        help_en="While a chain runs layer by layer only the input and output of one layer are alive: the peak is the "
        "largest sum of two neighbouring tensors. Gives the bytes of each tensor, the peak and the sum; weights are "
        "not included.",
        asks_zh=(
            "1x64x32x32、1x32x32x32、1x32x16x16 三个 int8 张量的峰值内存",
            "KPU 2MB 内存放得下 1x64x112x112 吗",
            "arena 要多大，激活峰值怎么算",
            "相邻两层输入加输出最大多少",
        ),
        asks_en=(
            "peak memory of a chain 1x64x32x32, 1x32x32x32, 1x32x16x16 in int8",
            "does input plus output of each layer fit into 2 MB",
            "how large must the tensor arena be",
            "activation memory of neighbouring layers",
        ),
        parameters=(
            Parameter(
                "shapes", "text", "各张量的形状，分号隔开", "shapes of the tensors, separated by semicolons",
                "1x64x32x32;1x32x32x32;1x32x16x16", words=("shapes", "形状", "张量", "tensors", "层"),
            ),
            Parameter(
                "dtype", "choice", "数据类型", "data type", "int8", choices=_DTYPES, default="int8", words=_DTYPE_WORDS,
            ),
            _LIMIT,
        ),
        results=(
            Result("sizes", "各张量字节数", "bytes of each tensor", "byte"),
            Result("peak_bytes", "峰值", "peak", "byte"),
            Result("peak_at", "峰值从第几个张量开始", "the pair starts at tensor number"),
            Result("sum_bytes", "全部之和", "sum of all", "byte"),
            Result("largest_bytes", "最大的一个", "largest one", "byte"),
            _FITS,
        ),
        shown_zh="峰值 {peak_bytes} 字节（第 {peak_at} 个张量和下一个），全部之和 {sum_bytes} 字节；{fits}",
        shown_en="peak {peak_bytes} bytes (tensor {peak_at} and the next), {sum_bytes} bytes in all; {fits}",
        function=memory.activation_peak,
        source="liveness of a chain: input and output of the running layer (TensorFlow Lite Micro memory planner)",
        assumptions=(
            (
                "没有分支、没有原地计算、没有对齐和临时缓存",
                "no branches, no in-place layers, no alignment and no scratch buffers",
            ),
        ),
    ),
    Check(
        name="channel_padding",
        zh="通道对齐后浪费多少",
        en="what padding of channels wastes",
        help_zh="通道数向上取对齐的整数倍，利用率 = 原通道数 / 补齐后。J6 BPU 卷积通道按 16 对齐；"
        "Nano 的 NC1HWC0 中 fp16 按 16、int8 按 32 对齐。",
        help_en="Channels go up to a multiple of the alignment; utilisation = channels / padded. The BPU of J6 aligns "
        "convolution channels to 16; NC1HWC0 of Nano holds 16 channels in fp16 and 32 in int8.",
        asks_zh=(
            "100 通道按 16 对齐补到多少，利用率多少",
            "通道数 33 在 NPU 上会浪费多少",
            "卷积通道对齐 32 的利用率",
            "channel 20 按 16 对齐",
        ),
        asks_en=(
            "100 channels aligned to 16, what is the utilisation",
            "how much does channel padding waste for 33 channels",
            "padded channels with alignment 32",
            "is 20 a bad number of channels",
        ),
        parameters=(
            Parameter(
                "channels", "integer", "通道数", "channels", "100", low=1, high=1_000_000_000,
                words=("channels", "channel", "通道", "通道数"),
            ),
            Parameter(
                "align", "integer", "对齐到", "alignment", "16", low=1, high=65536, default=16,
                words=("align", "alignment", "对齐", "aligned"),
            ),
        ),
        results=(
            Result("padded", "补齐后的通道数", "padded channels"),
            Result("wasted", "补的通道数", "added channels"),
            Result("utilisation", "利用率", "utilisation"),
        ),
        shown_zh="{channels} 通道补到 {padded}，利用率 {utilisation}",
        shown_en="{channels} channels are padded to {padded}, utilisation {utilisation}",
        function=memory.channel_padding,
        source="HorizonRobotics OE-Skills, hb-analyzer-performance (16); ATC guide, data formats (C0)",
    ),
    Check(
        name="head_padding",
        zh="注意力 head_dim 对齐后浪费多少",
        en="what padding of attention heads wastes",
        help_zh="head_dim = embed / heads，向上取对齐的整数倍（J6 BPU 为 64）；利用率 = head_dim / 补齐后。"
        "另给出不浪费的头数（不超过原头数；0 表示没有）。",
        help_en="head_dim = embed / heads goes up to a multiple of the alignment (64 on the BPU of J6); utilisation = "
        "head_dim / padded. Also gives a number of heads that wastes nothing (not more than now; 0 if there is none).",
        asks_zh=(
            "embed 384、8 个头在 J6 上为什么慢",
            "head_dim 48 补到多少，利用率",
            "ViT 头数改成几个合适",
            "attention 头维度按 64 对齐",
        ),
        asks_en=(
            "embed 384 with 8 heads on J6, what is the utilisation",
            "head_dim 48 padded to 64",
            "how many heads waste nothing for embed 384",
            "attention head size alignment",
        ),
        parameters=(
            Parameter(
                "embed", "integer", "嵌入维数", "embedding size", "384", low=1, high=1_000_000,
                words=("embed", "embedding", "嵌入", "hidden", "dim"),
            ),
            Parameter(
                "heads", "integer", "头数", "heads", "8", low=1, high=100_000, words=("heads", "head", "头", "头数"),
            ),
            Parameter(
                "align", "integer", "对齐到", "alignment", "64", low=1, high=65536, default=64,
                words=("align", "alignment", "对齐", "aligned"),
            ),
        ),
        results=(
            Result("head_dim", "每头维数", "size of a head"),
            Result("padded", "补齐后", "padded"),
            Result("utilisation", "利用率", "utilisation"),
            Result("full_heads", "不浪费的头数", "heads that waste nothing"),
        ),
        shown_zh="head_dim {head_dim} 补到 {padded}，利用率 {utilisation}；不浪费的头数 {full_heads}",
        shown_en="head_dim {head_dim} is padded to {padded}, utilisation {utilisation}; heads that waste nothing: "
        "{full_heads}",
        function=memory.head_padding,
        source="HorizonRobotics OE-Skills, hb-analyzer-performance: head_dim aligned to 64",
    ),
    Check(
        name="padded_sequence",
        zh="序列输入按最大帧数分配多占多少",
        en="what a sequence input allocated for the longest costs",
        help_zh="输入内存 = 帧数 * 每帧维数 * 字节。HiSilicon ATC 的 recurrent_max_total_t 默认 1024（1~1024），"
        "按它分配；改成实际最大帧数可以省下差额，但不能小于最长的一句。",
        help_en="Input memory = frames * width * bytes. The HiSilicon ATC option recurrent_max_total_t is 1024 by "
        "default (1 to 1024) and the memory follows it; the real maximum saves the difference but must not be below "
        "the longest one.",
        asks_zh=(
            "每句话最多 80 帧、每帧 40 维，输入内存能降多少",
            "recurrent_max_total_t 1024 改成 80 省多少",
            "Caffe LSTM 上板输入内存特别大",
            "序列长度默认 1024 占多少字节",
        ),
        asks_en=(
            "80 frames of 40 values instead of 1024, how much memory is saved",
            "input memory with recurrent_max_total_t 1024",
            "why is the input of the Caffe LSTM so large",
            "sequence padded to 1024 frames",
        ),
        parameters=(
            Parameter(
                "frames", "integer", "实际最大帧数", "frames of the longest sequence", "80", low=1, high=1024,
                words=("frames", "帧", "帧数", "时间步", "steps"),
            ),
            Parameter(
                "width", "integer", "每帧维数", "values per frame", "40", low=1, high=10_000_000,
                words=("width", "维", "每帧", "values", "features", "d"),
            ),
            Parameter(
                "allocated", "integer", "分配的帧数", "allocated frames", "1024", low=1, high=1024, default=1024,
                words=("allocated", "recurrent_max_total_t", "默认", "max_total_t"),
            ),
            Parameter(
                "dtype", "choice", "数据类型", "data type", "float32", choices=_DTYPES, default="float32",
                words=_DTYPE_WORDS,
            ),
        ),
        results=(
            Result("allocated_bytes", "分配的字节数", "bytes allocated", "byte"),
            Result("needed_bytes", "需要的字节数", "bytes needed", "byte"),
            Result("ratio", "倍数", "ratio"),
            Result("saved_bytes", "可省", "can be saved", "byte"),
        ),
        shown_zh="改成 {frames} 帧只要 {needed_bytes} 字节；按 {allocated} 帧分配是 {allocated_bytes} 字节，{ratio} 倍",
        shown_en="{frames} frames need {needed_bytes} bytes; allocated for {allocated} they take {allocated_bytes}, "
        "{ratio} times as much",
        function=memory.padded_sequence,
        source="HiSilicon ATC guide, --recurrent_max_total_t (1 to 1024, default 1024)",
        assumptions=(
            (
                "输入默认按 float32 计，没有行对齐",
                "the input is counted as float32 unless given, without row alignment",
            ),
        ),
    ),
)  # fmt: skip
