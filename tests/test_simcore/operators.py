"""What the operator tests share: the functions by ONNX name and version, single-operator models for ONNX Runtime."""

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from simcore.ops import (
    activation,
    conv_transpose,
    convolution,
    elementwise,
    linear,
    normalization,
    pool,
    recurrent,
    reduce,
    softmax,
)

#: (op_type, first version) of each function where versions differ; others by op_type alone.
FUNCTIONS = {
    **{
        name: getattr(elementwise, function)
        for name, function in {
            "Abs": "abs_", "Acos": "acos", "Acosh": "acosh", "Add": "add", "And": "and_", "Asin": "asin", "Asinh": "asinh",
            "Atan": "atan", "Atanh": "atanh", "BitShift": "bit_shift", "BitwiseAnd": "bitwise_and", "BitwiseNot": "bitwise_not",
            "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor", "Ceil": "ceil", "Clip": "clip", "Cos": "cos", "Cosh": "cosh",
            "Div": "div", "Equal": "equal", "Exp": "exp", "Floor": "floor", "Greater": "greater",
            "GreaterOrEqual": "greater_or_equal", "IsInf": "isinf", "IsNaN": "isnan", "Less": "less",
            "LessOrEqual": "less_or_equal", "Log": "log", "Max": "max_", "Mean": "mean", "Min": "min_", "Mod": "mod", "Mul": "mul",
            "Neg": "neg", "Not": "not_", "Or": "or_", "Pow": "pow_", "Reciprocal": "reciprocal", "Round": "round_", "Sign": "sign",
            "Sin": "sin", "Sinh": "sinh", "Sqrt": "sqrt", "Sub": "sub", "Sum": "sum_", "Tan": "tan", "Xor": "xor",
        }.items()
    },
    **{
        name: getattr(activation, function)
        for name, function in {
            "Celu": "celu", "Elu": "elu", "Erf": "erf", "Gelu": "gelu", "HardSigmoid": "hard_sigmoid", "HardSwish": "hard_swish",
            "LeakyRelu": "leaky_relu", "Mish": "mish", "PRelu": "prelu", "Relu": "relu", "Selu": "selu", "Shrink": "shrink",
            "Sigmoid": "sigmoid", "Softplus": "softplus", "Softsign": "softsign", "Swish": "swish", "Tanh": "tanh",
            "ThresholdedRelu": "thresholded_relu",
        }.items()
    },
    **{
        name: getattr(reduce, function)
        for name, function in {
            "ArgMax": "argmax", "ArgMin": "argmin", "CumProd": "cumprod", "CumSum": "cumsum", "ReduceL1": "reduce_l1",
            "ReduceL2": "reduce_l2", "ReduceLogSum": "reduce_log_sum", "ReduceLogSumExp": "reduce_log_sum_exp",
            "ReduceMax": "reduce_max", "ReduceMean": "reduce_mean", "ReduceMin": "reduce_min", "ReduceProd": "reduce_prod",
            "ReduceSum": "reduce_sum", "ReduceSumSquare": "reduce_sum_square",
        }.items()
    },
    "Softmax": softmax.softmax,
    "LogSoftmax": softmax.log_softmax,
    "Hardmax": softmax.hardmax,
    "MatMul": linear.matmul,
    "Gemm": linear.gemm,
    "Einsum": linear.einsum,
    "Conv": convolution.conv,
    "ConvTranspose": conv_transpose.conv_transpose,
    "AveragePool": pool.average_pool,
    "LpPool": pool.lp_pool,
    "MaxPool": pool.max_pool,
    "GlobalAveragePool": pool.global_average_pool,
    "GlobalLpPool": pool.global_lp_pool,
    "GlobalMaxPool": pool.global_max_pool,
    "BatchNormalization": normalization.batch_normalization,
    "GroupNormalization": normalization.group_normalization,
    "InstanceNormalization": normalization.instance_normalization,
    "LayerNormalization": normalization.layer_normalization,
    "LRN": normalization.lrn,
    "LpNormalization": normalization.lp_normalization,
    "MeanVarianceNormalization": normalization.mean_variance_normalization,
    "RMSNormalization": normalization.rms_normalization,
    "GRU": recurrent.gru,
    "LSTM": recurrent.lstm,
    "RNN": recurrent.rnn,
}  # fmt: skip

#: Functions for opsets before the one in FUNCTIONS: op_type -> ((first version, function), ...), oldest first.
OLDER = {
    "Clip": ((6, elementwise.clip_attributes), (11, elementwise.clip)),
    "Softmax": ((1, softmax.softmax_flattened), (13, softmax.softmax)),
    "LogSoftmax": ((1, softmax.log_softmax_flattened), (13, softmax.log_softmax)),
    "Hardmax": ((1, softmax.hardmax_flattened), (13, softmax.hardmax)),
    "GroupNormalization": ((18, normalization.group_normalization_groups), (21, normalization.group_normalization)),
}

#: Operators whose function asks how many outputs the node has.
COUNTED = ("BatchNormalization", "LayerNormalization", "MaxPool")


def function_of(op_type, opset):
    """Return the function that serves op_type in this opset."""
    for since, function in reversed(OLDER.get(op_type, ())):
        if opset >= since:
            return function
    return FUNCTIONS[op_type]


def run_node(node, opset, inputs):
    """Return the outputs of one NodeProto as a tuple; inputs in the order of the node's names, absent ones None."""
    attributes = {a.name: _attribute(a) for a in node.attribute}
    if node.op_type in COUNTED:
        attributes["num_outputs"] = len(node.output)
    result = function_of(node.op_type, opset)(*inputs, **attributes)
    return result if isinstance(result, tuple) else (result,)


def _attribute(a):
    value = helper.get_attribute_value(a)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return tuple(v.decode() if isinstance(v, bytes) else v for v in value)
    return value


def node_of(op_type, inputs, outputs=1, domain="", **attributes):
    """Return a NodeProto; inputs that are None get no name."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    return helper.make_node(op_type, names, [f"y{i}" for i in range(outputs)], domain=domain, **attributes)


def onnxruntime_run(node, opset, inputs, domains=(), constant=()):
    """Return the outputs of ONNX Runtime for a model of this one node, on one thread.

    Args:
        node: NodeProto.
        opset: Version of the default domain.
        inputs: Arrays or None.
        domains: Further (domain, version) pairs.
        constant: Positions of inputs that are initializers.
    """
    given = [(i, name, x) for i, (name, x) in enumerate(zip(node.input, inputs, strict=False)) if name]
    feeds = {name: x for i, name, x in given if i not in constant}
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in feeds.items()],
        [onnx.ValueInfoProto(name=name) for name in node.output if name],
        [numpy_helper.from_array(x, name) for i, name, x in given if i in constant],
    )
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(*d) for d in domains)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return tuple(session.run(None, feeds))


def assert_near(got, expected, rtol=1e-5, atol=1e-6):
    """Assert equal type and shape and values near expected, relative to the tensor's largest value."""
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    if expected.dtype.kind not in "fV":
        assert np.array_equal(got, expected)
        return
    finite = np.abs(expected[np.isfinite(expected)].astype(np.float64))
    size = float(finite.max()) if finite.size else 1.0
    np.testing.assert_allclose(
        got.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=max(atol, rtol * size)
    )
