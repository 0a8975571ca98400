"""The precision modes of the vendors as `Precision` values; what no source says is listed in `assumptions`.

nano(...)                 int8 or int16 activations x int8 weights on the cube, fp16 vector unit, tables
magicmind(mode, ...)      force_float32 ... qint8_mixed_float16, with operator and node settings over the network's
horizon(qtype, ...)       int8, int16, dual-int16, float16, float32, by model, operator type and node
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final, Literal

import numpy as np

from simcore.errors import BadArgument
from simcore.fp16 import IEEE, SATURATE, Real
from simcore.lut import Table, build_table
from simcore.precision import Float32, Half, Precision, Quantized, Setting

__all__ = ["HORIZON_QTYPES", "MAGICMIND_MODES", "horizon", "magicmind", "nano"]

Ranges = Mapping[str, tuple[float, float]]

_NANO_ASSUMPTIONS: Final = (
    "Nano: a NaN result becomes 0 (documented for the saturation mode of other Ascend products).",
    "Nano: sums of the vector unit are pairwise in fp16 (documented for Ascend C; the order on Nano is not published).",
    "Nano: the 32-bit accumulator saturates.",
    "Nano: sigmoid and tanh are read from tables of 2049 fp16 entries over [-8, 8], the nearest entry without "
    "interpolation; that they are tables is documented, size, range and interpolation are not.",
    "Nano: compound vector operators run in the steps of their ONNX formulas, each step rounded to fp16.",
    "Nano: quantized LSTM and GRU round both partial products to fp16 before they are added.",
)

_MAGICMIND_ASSUMPTIONS: Final = (
    "MagicMind: quantized operators are Conv, ConvTranspose, MatMul and Gemm; all others compute in the mixed type.",
    "MagicMind: qint8 and qint16 mean activations and weights of that type, scale = max|x| / (2^(bits-1) - 1).",
    "MagicMind: the accumulator of integer products does not overflow, the bias is added as a float.",
    "MagicMind: float16 follows IEEE 754 (overflow gives inf), products and sums accumulate in float32.",
)

_HORIZON_ASSUMPTIONS: Final = (
    "Horizon: every operator that computes reads its inputs through codes of the chosen type, one scale per tensor; "
    "constants of operators without weights stay floats.",
    "Horizon: weights have one scale per output channel and threshold / 128 as step.",
    "Horizon: int16 has int8 weights; a product of two computed tensors has int16 x int8 operands.",
    "Horizon: the accumulator does not overflow, results are float32 until they are quantized again.",
    "Horizon: float16 follows IEEE 754, products and sums accumulate in float32.",
    "Horizon: LSTM and GRU compute in float32.",
)


def nano(
    activation: Literal["int8", "int16"] = "int8",
    *,
    is_asymmetric: bool = True,
    is_per_channel: bool = True,
    is_table: bool = True,
    ranges: Ranges | None = None,
) -> Precision:
    """Return how HiSilicon Nano (035A, 035B) computes a model quantized by AMCT.

    Cube: activations int8 or int16, per tensor; weights int8, symmetric, per output channel of Conv and ConvTranspose
    and per tensor elsewhere; a product of two computed tensors int8 x int8, symmetric; bias int32. Vector: fp16,
    saturating. Source: Nano AI application guide (types of cube and vector unit, saturation, tables), AMCT guide
    (quantizable layers and their granularity).

    Args:
        activation: AMCT dst_type of the data.
        is_asymmetric: AMCT activation_offset.
        is_per_channel: AMCT channel_wise.
        is_table: read sigmoid and tanh from tables; False computes them correctly rounded.
        ranges: calibrated ranges by tensor name; missing ones are measured in the run.
    """
    tables = (_table("sigmoid"), _table("tanh")) if is_table else ("direct", "direct")
    half = Half(SATURATE, "fp16", "pairwise", sigmoid=tables[0], tanh=tables[1])  # type: ignore[arg-type]
    convention = "amct_asymmetric" if is_asymmetric else "amct_symmetric"
    channelwise = Quantized(activation, "int8", convention, is_per_channel=is_per_channel, output=half)
    whole = Quantized(activation, "int8", convention, is_per_channel=False, output=half)
    return Precision(
        Setting(f"nano {activation}", channelwise, half, whole),
        operators={"MatMul": whole, "Gemm": whole},
        ranges=ranges or {},
        assumptions=_NANO_ASSUMPTIONS if is_table else tuple(a for a in _NANO_ASSUMPTIONS if "tables" not in a),
    )


@lru_cache(2)
def _table(name: Literal["sigmoid", "tanh"]) -> Table:
    return build_table(np.tanh if name == "tanh" else _sigmoid, 2049, -8.0, 8.0, interpolation="nearest")


def _sigmoid(x: Real) -> Real:
    return np.asarray(1 / (1 + np.exp(-x)))


_IEEE_HALF: Final = Half(IEEE, "fp32", "pairwise")


def _magicmind_setting(mode: str, convention: str, is_per_channel: bool) -> Setting:
    if mode not in MAGICMIND_MODES:
        raise BadArgument(f"mode {mode!r} is not known; use one of {', '.join(MAGICMIND_MODES)}")
    base: Half | Float32 = _IEEE_HALF if mode.endswith("float16") else Float32()
    if mode.startswith("force"):
        return Setting(mode, base, base, base)
    bits = "int8" if mode.startswith("qint8") else "int16"
    cube = Quantized(
        bits, bits, convention, "onnx_symmetric", is_per_channel, (bits, bits), "float", "wide", base
    )  # fmt: skip
    return Setting(mode, cube, base, base)


#: The values of precision_mode. Source: Cambricon magicmind_cloud, buildin/python_common/build_param.py.
MAGICMIND_MODES: Final = (
    "force_float32",
    "force_float16",
    "qint8_mixed_float32",
    "qint8_mixed_float16",
    "qint16_mixed_float32",
    "qint16_mixed_float16",
)


def magicmind(
    mode: str = "force_float32",
    *,
    operators: Mapping[str, str] | None = None,
    nodes: Mapping[str, str] | None = None,
    is_asymmetric: bool = False,
    is_per_axis: bool = False,
    ranges: Ranges | None = None,
) -> Precision:
    """Return how Cambricon MagicMind computes in one of its six modes; LSTM and GRU use the mixed type.

    Source: Cambricon magicmind_cloud (modes, activation_quant_algo, weight_quant_granularity); the setting of an
    operator is stronger than that of the network (MagicMind course, mixed precision).

    Args:
        mode: precision_mode of the network.
        operators: modes by operator type.
        nodes: modes by node name.
        is_asymmetric: activation_quant_algo asymmetric.
        is_per_axis: weight_quant_granularity per_axis.
        ranges: calibrated ranges by tensor name; missing ones are measured in the run.

    Raises:
        BadArgument: an unknown mode.
    """
    convention = "onnx_dynamic" if is_asymmetric else "onnx_symmetric"

    def setting(name: str) -> Setting:
        return _magicmind_setting(name, convention, is_per_axis)

    return Precision(
        setting(mode),
        {op: setting(chosen) for op, chosen in (operators or {}).items()},
        {name: setting(chosen) for name, chosen in (nodes or {}).items()},
        ranges or {},
        _MAGICMIND_ASSUMPTIONS,
    )


#: The qtypes of HMCT that are computed here. Source: HorizonRobotics OE-Skills, docs/oe_code_chunk_hmct.md.
HORIZON_QTYPES: Final = ("int8", "int16", "dual-int16", "float16", "float32")


def horizon(
    qtype: str = "int8",
    *,
    operators: Mapping[str, str] | None = None,
    nodes: Mapping[str, str] | None = None,
    ranges: Ranges | None = None,
) -> Precision:
    """Return how Horizon J6 computes a model calibrated by HMCT.

    int8: all operands int8. int16: input0 int16. dual-int16: input0 and input1 int16, for Conv, ConvTranspose, MatMul
    and Gemm only; as the qtype of the model, other operators are int16. Source: OE-Skills (qtypes, precedence node
    over operator over model); step = threshold / 128 and threshold / 32768 (j6-plugin-precision-tuning).

    Args:
        qtype: all_node_type of model_config.
        operators: qtypes by operator type (op_config).
        nodes: qtypes by node name (node_config).
        ranges: calibrated ranges by tensor name; missing ones are measured in the run.

    Raises:
        BadArgument: an unknown qtype. That dual-int16 meets another operator is said when the model is prepared.
    """
    network = _horizon_setting(qtype)
    if network.vector is None:
        others = _horizon_setting("int16")
        network = replace(network, vector=others.vector, recurrent=others.recurrent)
    return Precision(
        network,
        {op: _horizon_setting(chosen) for op, chosen in (operators or {}).items()},
        {name: _horizon_setting(chosen) for name, chosen in (nodes or {}).items()},
        ranges or {},
        _HORIZON_ASSUMPTIONS,
    )


def _horizon_setting(qtype: str) -> Setting:
    if qtype not in HORIZON_QTYPES:
        raise BadArgument(f"qtype {qtype!r} is not computed here; use one of {', '.join(HORIZON_QTYPES)}")
    if qtype == "float32":
        return Setting(qtype, Float32(), Float32(), Float32())
    if qtype == "float16":
        return Setting(qtype, _IEEE_HALF, _IEEE_HALF, _IEEE_HALF)
    activation = "int8" if qtype == "int8" else "int16"
    weight = "int16" if qtype == "dual-int16" else "int8"
    rule = Quantized(
        activation, weight, "horizon", "horizon", True, (activation, weight), "float", "wide", Float32()
    )  # fmt: skip
    return Setting(qtype, rule, None, None) if qtype == "dual-int16" else Setting(qtype, rule, rule, Float32())
