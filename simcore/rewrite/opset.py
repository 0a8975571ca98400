"""Nodes in the form of an older operator set: axes as attributes, sizes written out, new attributes dropped.

`FORMS` says for each operator at which version its form changed and how a node gets the form before; `FIRST` from
which version on an operator exists at all. Source: the change log of the ONNX operator sets 11 to 28.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from simcore.element_types import dtype_of
from simcore.rewrite.rule import Declined, Site

__all__ = ["FIRST", "FORMS", "lowered"]

#: Version from which on an operator exists, where that is after 11.
FIRST: Final[dict[str, int]] = {
    "Celu": 12, "Einsum": 12, "GreaterOrEqual": 12, "LessOrEqual": 12,
    "NegativeLogLikelihoodLoss": 12, "SoftmaxCrossEntropyLoss": 12,
    "HardSwish": 14, "Trilu": 14,
    "Bernoulli": 15, "CastLike": 15, "Optional": 15, "OptionalGetElement": 15, "OptionalHasElement": 15,
    "GridSample": 16,
    "BlackmanWindow": 17, "DFT": 17, "HammingWindow": 17, "HannWindow": 17, "LayerNormalization": 17,
    "MelWeightMatrix": 17, "STFT": 17, "SequenceMap": 17,
    "BitwiseAnd": 18, "BitwiseNot": 18, "BitwiseOr": 18, "BitwiseXor": 18, "CenterCropPad": 18, "Col2Im": 18,
    "GroupNormalization": 18, "Mish": 18,
    "DeformConv": 19,
    "AffineGrid": 20, "Gelu": 20, "ImageDecoder": 20, "RegexFullMatch": 20, "StringConcat": 20, "StringSplit": 20,
    "Attention": 23, "RMSNormalization": 23, "RotaryEmbedding": 23,
    "Swish": 24, "TensorScatter": 24,
    "BitCast": 26, "CumProd": 26,
    "CausalConvWithState": 27, "LinearAttention": 27,
    "SwiGLU": 28,
}  # fmt: skip

_Form = Callable[[Site], str | tuple[str, ...]]


def lowered(site: Site, version: int, target: int) -> tuple[str, ...] | None:
    """Return the results of a node written in the form of `target`; None where its form is the same in both.

    Args:
        site: the node, with room for what replaces it; its opset is `target`.
        version: in whose form the node is.
        target: an older one.

    Raises:
        Declined: the older version cannot say it.
    """
    steps = [form for since, form in FORMS.get(site.node.op_type, ()) if target < since <= version]
    if not steps:
        return None
    results: str | tuple[str, ...] = ()
    for form in steps:
        results = form(site)
        (last,) = site.nodes[-1:] or (None,)
        if form is not steps[-1] and last is not None:
            # The next form goes on with this one's node, which is the only one so far.
            assert len(site.nodes) == 1, "only forms that keep one node are followed by others"
            site.node = type(last)(site.node.name, last.op_type, "", last.inputs, site.node.outputs, last.attributes)
            site.nodes.clear()
    return (results,) if isinstance(results, str) else results


def _again(site: Site, inputs: list[str], attributes: dict[str, Any]) -> tuple[str, ...]:
    """Return the outputs of the same operator with other inputs and attributes."""
    return site.ops(site.node.op_type, inputs, len(site.node.outputs), **attributes)


def _without(*names: str, **defaults: Any) -> _Form:  # noqa: ANN401
    """Return the form without attributes: `names` whatever they are, `defaults` if they have that value."""

    def form(site: Site) -> tuple[str, ...]:
        attributes: dict[str, Any] = dict(site.node.attributes)
        for name in names:
            attributes.pop(name, None)
        for name, default in defaults.items():
            found = attributes.pop(name, default)
            if found != default and found != (default,) * (len(found) if isinstance(found, tuple) else 0):
                raise Declined(f"{name} is {found}, the older version knows {default} only")
        return _again(site, list(site.node.inputs), attributes)

    return form


def _axes_to_attribute(site: Site) -> tuple[str, ...]:
    attributes: dict[str, Any] = dict(site.node.attributes)
    has_noop = attributes.pop("noop_with_empty_axes", 0)
    axes = np.empty(0, np.int64)
    if site.input(1):
        axes = site.constant(site.input(1), "axes").reshape(-1)
    if axes.size:
        attributes["axes"] = tuple(axes.tolist())
    elif has_noop and site.node.op_type.startswith("Reduce"):
        return (site.op("Identity", site.input(0)),)
    return _again(site, [site.input(0)], attributes)


def _split_sizes(site: Site) -> tuple[str, ...]:
    """Return Split with its sizes instead of their number: equal ones, the last smaller."""
    attributes: dict[str, Any] = dict(site.node.attributes)
    count = attributes.pop("num_outputs", None)
    inputs = list(site.node.inputs)
    if count is not None and not site.input(1):
        size, parts = site.size(site.input(0), attributes.get("axis", 0)), len(site.node.outputs)
        each = -(-size // parts)
        inputs = [inputs[0], site.ints(*(max(0, min(each, size - i * each)) for i in range(parts)))]
    return _again(site, inputs, attributes)


def _split_attribute(site: Site) -> tuple[str, ...]:
    attributes: dict[str, Any] = dict(site.node.attributes)
    if site.input(1):
        attributes["split"] = tuple(site.constant(site.input(1), "split").reshape(-1).tolist())
    return _again(site, [site.input(0)], attributes)


def _pad_all_axes(site: Site) -> tuple[str, ...]:
    if not site.input(3):
        return _again(site, list(site.node.inputs[:3]), dict(site.node.attributes))
    pads, axes = (site.constant(site.input(i), what).reshape(-1) for i, what in ((1, "pads"), (3, "axes")))
    full = np.zeros((2, site.rank(site.input(0))), np.int64)
    full[:, axes] = pads.reshape(2, -1)
    return _again(site, [site.input(0), site.ints(*full.reshape(-1).tolist()), site.input(2)], site.node.attributes)  # type: ignore[arg-type]


def _resize_all_axes(site: Site) -> tuple[str, ...]:
    attributes: dict[str, Any] = dict(site.node.attributes)
    if attributes.pop("antialias", 0):
        raise Declined("antialias is set, the older version has no such filter")
    if attributes.pop("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise Declined("keep_aspect_ratio_policy is set, the older version stretches only")
    axes = attributes.pop("axes", None)
    inputs = list(site.node.inputs)
    if axes is not None:
        if site.input(1) and site.constant(site.input(1), "roi").size:
            raise Declined("roi of some axes only")
        x = site.input(0)
        full: Any
        if site.input(2) and site.constant(site.input(2), "scales").size:
            full = np.ones(site.rank(x), np.float32)
            full[list(axes)] = site.constant(site.input(2), "scales").reshape(-1)
            inputs = [x, "", site.const(full, hint="scales")]
        else:
            full = np.array(site.shape(x), np.int64)
            full[list(axes)] = site.constant(site.input(3), "sizes").reshape(-1)
            inputs = [x, "", "", site.const(full, hint="sizes")]
    return _again(site, inputs, attributes)


def _resize_all_inputs(site: Site) -> tuple[str, ...]:
    inputs = [*site.node.inputs, "", ""][: max(3, len(site.node.inputs))]
    empty = site.const(np.empty(0, np.float32), hint="empty")
    return _again(site, [inputs[0], inputs[1] or empty, inputs[2] or empty, *inputs[3:]], dict(site.node.attributes))


def _shape_all(site: Site) -> str:
    start, end = site.attribute("start", 0), site.attribute("end", None)
    whole = site.op("Shape", site.input(0))
    if start == 0 and end is None:
        return whole
    return site.slice(whole, 0, start, np.iinfo(np.int64).max if end is None else end)


def _softmax_last(site: Site) -> str:
    """Return a softmax over one axis where the older operator takes all from `axis` on: that axis brought last."""
    x, axis = site.input(0), site.attribute("axis", -1)
    if axis == -1 or axis == site.rank(x) - 1:
        return site.op(site.node.op_type, x, axis=-1)
    order = [*range(site.rank(x))]
    order[axis], order[-1] = order[-1], order[axis]
    return site.transpose(site.op(site.node.op_type, site.transpose(x, *order), axis=-1), *order)


def _quantize_plain(site: Site) -> tuple[str, ...]:
    """Return QuantizeLinear or DequantizeLinear without blocks, the code type told by a zero point."""
    attributes: dict[str, Any] = dict(site.node.attributes)
    if attributes.pop("block_size", 0):
        raise Declined("it is quantized in blocks, the older version knows tensors and channels only")
    attributes.pop("precision", None)
    number = attributes.pop("output_dtype", 0)
    inputs = list(site.node.inputs)
    if number and site.node.op_type == "QuantizeLinear" and not site.input(2):
        zeros = np.zeros(site.shape(site.input(1)), dtype_of(number))
        inputs = [*inputs[:2], site.const(zeros, hint="zero_point")]
    return _again(site, inputs, attributes)


def _quantize_tensor(site: Site) -> tuple[str, ...]:
    attributes: dict[str, Any] = dict(site.node.attributes)
    attributes.pop("axis", None)
    if site.shape(site.input(1)) not in ((), (1,)):
        raise Declined("it is quantized per channel, the older version knows whole tensors only")
    return _again(site, list(site.node.inputs), attributes)


_REDUCTIONS: Final = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")

#: Operator -> ((version since which the form is new, how to say it in the one before), ...), the newest first.
FORMS: Final[dict[str, tuple[tuple[int, _Form], ...]]] = {
    **{f"Reduce{kind}": ((18, _axes_to_attribute),) for kind in _REDUCTIONS},
    "ReduceSum": ((13, _axes_to_attribute),),
    "Squeeze": ((13, _axes_to_attribute),),
    "Unsqueeze": ((13, _axes_to_attribute),),
    "Split": ((18, _split_sizes), (13, _split_attribute)),
    "Pad": ((18, _pad_all_axes),),
    "Resize": ((18, _resize_all_axes), (13, _resize_all_inputs)),
    "Shape": ((15, _shape_all),),
    "Softmax": ((13, _softmax_last),),
    "LogSoftmax": ((13, _softmax_last),),
    "Hardmax": ((13, _softmax_last),),
    "AveragePool": ((19, _without(dilations=1)),),
    "Cast": ((24, _without(round_mode="up")), (19, _without(saturate=1))),
    "CastLike": ((24, _without(round_mode="up")), (19, _without(saturate=1))),
    "QuantizeLinear": ((21, _quantize_plain), (19, _without(saturate=1)), (13, _quantize_tensor)),
    "DequantizeLinear": ((21, _quantize_plain), (13, _quantize_tensor)),
    "Reshape": ((14, _without(allowzero=0)),),
    "ScatterElements": ((16, _without(reduction="none")),),
    "ScatterND": ((16, _without(reduction="none")),),
    "BatchNormalization": ((14, _without(training_mode=0)),),
    "LSTM": ((14, _without(layout=0)),),
    "GRU": ((14, _without(layout=0)),),
    "RNN": ((14, _without(layout=0)),),
    "ArgMax": ((12, _without(select_last_index=0)),),
    "ArgMin": ((12, _without(select_last_index=0)),),
    "GatherND": ((12, _without(batch_dims=0)),),
}
