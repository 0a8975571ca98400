"""LSTM and GRU nodes with quantized state: ONNX's arguments put into the form of simcore.recurrent_quantized.

One scale each for x, h, W and R; states and gates in fp16. Only what the vendor's quantizer takes is computed: default
activations, no clip, peepholes, sequence_lens or coupled gates. Source: AMCT guide, layers of uniform quantization.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from simcore.errors import UnsupportedOp
from simcore.graph import Node, Tensor, described
from simcore.npu.calibrated import Ranges, quantization
from simcore.ops.recurrent import DIRECTIONS
from simcore.precision import Half, Quantized
from simcore.recurrent import Weights, weights
from simcore.recurrent_quantized import Quantization, run_quantized_gru, run_quantized_lstm

__all__ = ["quantized_layer"]

Call = Callable[..., Any]

#: The activations that are computed, per direction.
_ACTIVATIONS: Final = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh")}


def quantized_layer(call: Call, node: Node, rule: Quantized, ranges: Ranges) -> Call:
    """Return the function of an LSTM or GRU node under a rule.

    Args:
        call: the float32 operator with its attributes; measures the hidden state (with its initial value) where that
            has no calibrated range.
        node: LSTM or GRU.
        rule: types and conventions; `output` must be Half.
        ranges: calibrated ranges; that of the output Y serves the hidden state.

    Raises:
        UnsupportedOp: an attribute or input outside the scheme, or an output other than Half.
    """
    attributes = dict(node.attributes)
    optional = dict(zip(("sequence_lens", "", "", "P"), (*node.inputs[4:8], "", "", "", ""), strict=False))
    if node.op_type == "GRU":
        optional.pop("P", None)
    extra = [name for name in ("clip", "input_forget") if attributes.get(name)]
    directions = DIRECTIONS.get(str(attributes.get("direction", "forward")), (False,))
    named = attributes.get("activations")
    if isinstance(named, tuple) and named and named != _ACTIVATIONS[node.op_type] * len(directions):
        extra.insert(0, "activations")
    extra += [name for name in ("sequence_lens", "P") if optional.get(name)]
    if extra:
        raise UnsupportedOp(
            f"the quantized form has no {', '.join(extra)}; set Half or Float32 for this node", described(node)
        )
    half = rule.output
    if not isinstance(half, Half):
        raise UnsupportedOp("the quantized form computes its gates in fp16; set output=Half()", described(node))
    is_batch_first = bool(attributes.get("layout", 0))
    state_name = node.outputs[0] if node.outputs and node.outputs[0] else ""

    def quantized(x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None, *rest: Tensor | None) -> tuple[Tensor, ...]:
        measured = call(x, w, r, b, *rest)
        frames = (x.swapaxes(0, 1) if is_batch_first else x).astype(np.float32)
        starts = [*rest[1:], None, None][:2]
        # The state enters the product as it starts, too: a range of y alone could cut the first one off.
        seen = measured[0] if starts[0] is None else np.concatenate([measured[0].ravel(), starts[0].ravel()])
        finals: list[tuple[Tensor, ...]] = []
        outputs: list[Tensor] = []
        for d, backward in enumerate(directions):
            layer = weights(
                "LSTM" if node.op_type == "LSTM" else "GRU",
                w[d].astype(np.float32),
                r[d].astype(np.float32),
                None if b is None else b[d].astype(np.float32),
            )
            how = _quantization(node.inputs[0], state_name, frames, seen, layer, rule, half, ranges)
            state = [None if s is None else (s[:, d] if is_batch_first else s[d]).astype(np.float32) for s in starts]
            ordered = frames[::-1] if backward else frames
            y, *last = _run(ordered, layer, how, state, attributes.get("linear_before_reset", 0) != 0)
            outputs.append(y[::-1] if backward else y)
            finals.append(tuple(last))
        stacked = np.stack(outputs, axis=1).astype(x.dtype)
        axis = 1 if is_batch_first else 0
        states = (np.stack(each, axis=axis).astype(x.dtype) for each in zip(*finals, strict=True))
        return (stacked.transpose(2, 0, 1, 3) if is_batch_first else stacked, *states)

    return quantized


def _run(
    x: Tensor, layer: Weights, how: Quantization, state: list[Tensor | None], is_reset_last: bool
) -> tuple[Tensor, ...]:
    if layer.kind == "LSTM":
        return run_quantized_lstm(x, layer, how, state[0], state[1])
    return run_quantized_gru(x, layer, how, state[0], int(is_reset_last))


def _quantization(
    x_name: str, y_name: str, x: Tensor, y: Tensor, layer: Weights, rule: Quantized, half: Half, ranges: Ranges
) -> Quantization:
    found = Quantization(
        x=quantization(x_name, x, rule.activation, rule.convention, ranges),
        h=quantization(y_name, y, rule.activation, rule.convention, ranges),
        w=quantization("", layer.w, rule.weight, rule.weight_convention, {}),
        r=quantization("", layer.r, rule.weight, rule.weight_convention, {}),
        overflow=rule.overflow,
        mode=half.mode,
    )
    return replace(found, sigmoid=half.sigmoid, tanh=half.tanh)
