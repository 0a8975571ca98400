"""Numbers as an NPU holds them and whole models layer by layer, in vectorised numpy; no knowledge of kb.

Read in this order; each group stands on those above it.

    errors               what can go wrong: SimError, BadArgument, ModelError, UnsupportedOp

    Numbers
    rounding             rounding modes, saturating and wrapping casts, the integer types
    quantize             real numbers to codes and back; scale and zero point from a range in each vendor's convention
    requantize           int32 sums to codes of the next layer: by float scale, or by multiplier and shift
    accumulator          the worst sum of k integer products, and a dot product in registers of any width
    matmul               integer matrix product, exact through float BLAS; int16 operands as high and low bytes
    conv, conv_transpose integer convolution, exact: grouped, depthwise, transposed
    fp16, fp16_sum       half precision as the vector unit computes it, saturating or with IEEE infinities; its sums
    activations          softmax, tanh, sigmoid, exp in the forms users meet, in half precision
    softcap, fp16_norm   the soft cap of scores, RMSNorm and LayerNorm, in half precision step by step
    curves, lut          activation curves; functions read from a table, with their error
    recurrent            LSTM and GRU frame by frame in float; recurrent_quantized: with quantized state; drift: the gap
    layout               ND, NC1HWC0, FRACTAL_Z, FRACTAL_NZ: sizes and round trips

    Models
    element_types        the ONNX element types and the numpy dtypes that hold them
    graph, signature     a model as plain values, and what an operator accepts
    load_onnx, save_onnx ONNX files as such values (tensor_data, external_data: the weights), and back
    ops/                 ONNX operators as plain functions, a file per family; ops/table lists them
    plan, shapes         a graph made ready to run; the shape of every tensor
    execute              runs a graph, every tensor on request

    As the NPU computes
    precision            rules for how each node computes: float32, fp16, quantized; by network, operator, node
    npu/                 nodes under such rules: the vector unit in fp16, products on codes, recurrent state
    presets              the modes of Nano, MagicMind and Horizon as such rules, with what is assumed in them

    What a model costs
    bodies               what is known inside the subgraphs of a node, and how often they run
    macs, element_ops    multiply-adds and element operations, by definition; parameters: elements of the weights
    inline, liveness     subgraphs in line; when each tensor is alive, and which share memory
    fuse, held           what a compiler merges; how a tensor lies in memory: type, format, bytes
    lower, lowered       the NPU graph: formats, inserted conversions and quantization; what it is good for
    memory               offsets of buffers in one arena, as small as can be
    cost, systolic       cycles and latency: lower bound and estimate with its assumptions; cycles of systolic arrays
    open_inputs          input sizes completed by what is given
    estimate             what a model needs on a device, every figure with its parts and assumptions
    assumption_texts     those assumptions in Chinese and English

    For a device
    device               figures of the devices, read from devices/*.toml
    support              what a device supports of a model: each finding with its source and the way out
    support_table, support_checks  rules as data, read from support_rules/*.toml, and the checks they name
    rewrite/             a model said with the operators a device has, and the proof that it is the same
    typical              models whose size and time a vendor published, read from typical_models/*.toml
    opset                ONNX opset versions that each toolchain takes

    Around a run
    metrics              how far a tensor is from the golden one: cosine, SQNR, msaccucmp's metrics and limits
    normalization        one input normalization in the words of each toolchain
    sizes                bytes of aligned blocks, images, recurrent layers; peak of a chain of tensors
    timing               throughput, pipelines, instances, cycles

Import a thing from the file that defines it. Every function is pure: same arguments, same bits.
"""
