"""All rules in order of preference, and the usual way out for operators no rule knows."""

from typing import Final

from simcore.rewrite import activation, arithmetic, linear, normalization, pool, recurrent, shape
from simcore.rewrite.rule import Rule

__all__ = ["FOLDS", "REASONS", "RULES", "WAYS_OUT", "rules_of", "way_out"]

RULES: Final[tuple[Rule, ...]] = (
    *arithmetic.RULES,
    *activation.RULES,
    *linear.RULES,
    *normalization.RULES,
    *pool.RULES,
    *recurrent.RULES,
    *shape.RULES,
)

#: What is done whatever the device has: name -> (what it does, exactness).
FOLDS: Final[dict[str, tuple[str, str]]] = {
    "constant": ("a node whose result is known becomes a constant", "exact"),
    "branch": ("an If of known condition becomes the branch that runs", "exact"),
    "identity": ("Dropout, casts and reorderings that change nothing go", "exact"),
    "unused": ("nodes that no output needs go", "exact"),
    "batch_norm": (
        "BatchNormalization goes into the Conv, ConvTranspose or Gemm before it",
        "equal up to rounding",
    ),
    "opset": ("the node takes the form of the device's operator set", "exact"),
}

#: Why operators stay that no rule rewrites but a fold may.
REASONS: Final[dict[str, str]] = {
    "If": "its condition is not known before the run",
    "Loop": "the number of turns is not known before the run",
    "Scan": "a loop over a sequence is not written out",
}

_CPU: Final = "cut the model there and compute it on the CPU"
_QUANTIZED: Final = (
    "start from the float model: the vendor's tools quantize it themselves, ranges found once instead of at each run"
)

#: What people do where no rule helps. Keys with a domain in front are for operators outside ai.onnx.
WAYS_OUT: Final[dict[str, str]] = {
    "TopK": f"ArgMax where k is 1; else {_CPU}",
    "NonMaxSuppression": f"{_CPU}: box decoding and suppression are no work for the NPU",
    "NonZero": f"{_CPU}: its output has no fixed size; a mask with Where often does",
    "Unique": f"{_CPU}: its output has no fixed size",
    "Compress": f"{_CPU}: its output has no fixed size; Gather where the places are constant",
    "GatherElements": f"Gather where one index serves a whole slice; else {_CPU}",
    "GatherND": f"Gather on a Reshape of the data; else {_CPU}",
    "ScatterND": f"Concat of the parts where the places are constant; else {_CPU}",
    "ScatterElements": f"Where with a constant mask where the places are constant; else {_CPU}",
    "If": "fix the input the condition depends on (give its value), or export one model per case",
    "Loop": "export with a fixed number of turns, so that the body is written out",
    "Scan": "export with a fixed number of turns, so that the body is written out",
    "Einsum": "write it as Transpose, Reshape and MatMul in the training framework",
    "Range": "give the shapes of the inputs, so that it becomes a constant",
    "Resize": "use whole factors and fixed sizes, or a learned ConvTranspose",
    "GridSample": f"{_CPU}, or a fixed grid as a MatMul with a constant matrix",
    "RoiAlign": _CPU,
    "Sin": "a table: Gather with the rounded argument, or a polynomial in a bounded range",
    "Cos": "a table: Gather with the rounded argument, or a polynomial in a bounded range",
    "Mod": f"for positions a constant table and Gather; else {_CPU}",
    "BitShift": "multiply by a power of two",
    "DFT": "MatMul with the constant Fourier matrix; or compute the spectrum before the model",
    "STFT": "Conv with the constant Fourier matrix and the window as weights; or compute it before the model",
    "MelWeightMatrix": "make it a constant in the training framework",
    "DynamicQuantizeLinear": _QUANTIZED,
    "LSTM": "export with a fixed number of moments and constant weights",
    "GRU": "train with linear_before_reset=1 (PyTorch and Keras do), a fixed number of moments, constant weights",
    "RNN": "export with a fixed number of moments and constant weights",
    "com.microsoft::DynamicQuantizeLSTM": _QUANTIZED,
}


def rules_of(op_type: str, chosen: str | None) -> tuple[Rule, ...]:
    """Return the rules for an operator in order of preference, a chosen one first."""
    found = [rule for rule in RULES if op_type in rule.op_types]
    return tuple(sorted(found, key=lambda rule: rule.name != chosen))


def way_out(op_type: str, domain: str) -> str:
    """Return what people do about an operator that is left."""
    if domain:
        special = WAYS_OUT.get(f"{domain}::{op_type}")
        return special or (
            f"export without optimizations of a runtime: {domain} is no ONNX domain; take the model before them"
        )
    return WAYS_OUT.get(op_type, f"replace it in the training framework, or {_CPU}")
