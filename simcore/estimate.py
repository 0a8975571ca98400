"""What a model needs on a device before there is a board: bytes, multiply-adds, latency, and where its memory peaks.

    graph -> shapes -> NPU graph (simcore.lower) -> weights, buffers in an arena, cycles -> figures and their parts

    weight_bytes   TOTAL_WEIGHT_SIZE: int8 weights in FRACTAL_Z, int32 bias, scales, fp16 and integer constants
    memory_bytes   TOTAL_MEM_SIZE: weights + instructions + inputs + outputs (+ states) + intermediate tensors
    exeom_bytes    TOTAL_EXEOM_SIZE: weights + instructions + header

Sources: Nano AI application guide, model evaluation (what the vendor's script prints) and FAQ (memory of a model =
weights + instructions of operators + inputs and outputs + intermediate layers). Figures that rest on more are marked.

Instructions have no source. Assumed: `KERNEL_BYTES` per operator type among the layers + `TASK_BYTES` per layer; the
header has `HEADER_BYTES` + `TENSOR_BYTES` per input and output.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from simcore.assumption_texts import ESTIMATE, LOWERING, Text, translated
from simcore.cost import Activation, LayerCost, Rates, latency_ms, layer_cost, rates
from simcore.device import Device, number
from simcore.errors import BadArgument
from simcore.graph import Graph, Tensor, walk
from simcore.held import Kind
from simcore.liveness import Liveness, Sharing, buffers_of
from simcore.lower import lower
from simcore.lowered import Layer, Lowered, flat_of_layers
from simcore.memory import Buffer, MemoryPlan, live_bytes, plan_memory
from simcore.open_inputs import complete_inputs
from simcore.parameters import parameters
from simcore.shapes import infer
from simcore.sizes import align_up
from simcore.support import Finding, findings

__all__ = [
    "HEADER_BYTES",
    "KERNEL_BYTES",
    "TASK_BYTES",
    "TENSOR_BYTES",
    "Estimate",
    "LayerRow",
    "Part",
    "Peak",
    "View",
    "estimate",
]

View = Literal["script", "fused"]
Shapes = tuple[tuple[int, ...] | None, ...]

#: Assumed bytes of code of one operator type.
KERNEL_BYTES: Final = 2048
#: Assumed bytes of one layer: its task, arguments and tensor descriptions.
TASK_BYTES: Final = 256
#: Assumed bytes of what describes a model as a whole.
HEADER_BYTES: Final = 1024
#: Assumed bytes that describe an input or output: a name of 128 bytes (sourced: ACL_MAX_TENSOR_NAME_LEN), its sizes.
TENSOR_BYTES: Final = 192


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a figure; the parts of a figure sum to it."""

    name: str
    bytes: int
    zh: str
    en: str
    #: Whether it rests on no source.
    assumed: bool


@dataclass(frozen=True, slots=True)
class LayerRow:
    """One layer; None where only a run can tell. Shapes are as they lie in memory, padding included."""

    name: str
    op_type: str
    inputs: Shapes
    outputs: Shapes
    #: Multiply-adds, over all iterations of a loop.
    macs: int | None
    #: Elements of the weights it is the first to read.
    parameters: int
    #: Bytes of the constants it is the first to read.
    weight_bytes: int
    #: Bytes of its results, without padding of buffers.
    output_bytes: int | None
    #: Bytes of intermediate tensors alive while it runs.
    live_bytes: int
    cycles_lower_bound: int | None
    cycles_estimate: int | None
    #: Not in the file: TransData, AscendQuant, AscendDequant, copies around control flow.
    is_inserted: bool


@dataclass(frozen=True, slots=True)
class Peak:
    """Where the intermediate tensors need the most memory."""

    #: Bytes of the arena they are placed in.
    bytes: int
    #: Bytes alive at `layer`: no arena can be smaller.
    lower_bound_bytes: int
    #: First layer at which the most is alive; empty without intermediate tensors.
    layer: str
    #: Buffers alive then, largest first, padding included; they sum to `lower_bound_bytes`.
    tensors: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a model needs on a device."""

    model: str
    device: str
    #: None: no source gives one, and none was given.
    clock_mhz: float | None
    #: "script": as the vendor's script counts, every node of the file; "fused": after folding and fusion.
    view: View
    weight_bytes: int
    memory_bytes: int
    exeom_bytes: int
    #: Sorted; of the file in the script view, of what is left in the fused view; inserted operators are not among them.
    op_types: tuple[str, ...]
    #: What the device does not run, or only under conditions; simcore.support.Finding.
    findings: tuple[Finding, ...]
    #: Elements of the weights in the file, both branches of an If; the same in both views.
    parameters: int
    #: Sum over the layers.
    macs: int
    peak: Peak
    #: None where rates or the clock are unknown.
    latency_lower_bound_ms: float | None
    latency_estimate_ms: float | None
    #: Sentences in Chinese and English; never empty.
    assumptions: tuple[Text, ...]
    weight_parts: tuple[Part, ...]
    memory_parts: tuple[Part, ...]
    exeom_parts: tuple[Part, ...]
    layers: tuple[LayerRow, ...]
    #: Bytes of intermediate tensors alive at each layer.
    memory_over_time: tuple[tuple[str, int], ...]
    #: Layers and tensors left out of the sums, and "latency" where it is not known.
    unknown: tuple[str, ...]


def estimate(
    graph: Graph,
    *,
    device: Device,
    inputs: Mapping[str, tuple[int, ...] | Tensor] | None = None,
    clock_mhz: float | None = None,
    activation: Activation = "int8",
    view: View = "fused",
    states: Mapping[str, str] | None = None,
) -> Estimate:
    """Return what a model needs on a device; no weight is read.

    Args:
        graph: the model; weights may be missing.
        device: whose formats, alignments and rates are used, as far as its file has them.
        inputs: shape or array for inputs with open sizes; an array where the model's course depends on its values.
        clock_mhz: default: reference_clock of the device.
        activation: element type of quantized activations.
        view: see `Estimate.view`.
        states: input name -> name of the output that is fed to it at the next call; one buffer each, kept.

    Raises:
        BadArgument: an input whose shape is not known and not given; unknown names; a clock that is not above 0.
        ModelError: the model cannot be followed, see shapes.infer.
    """
    clock_mhz = _clock(device, clock_mhz, activation, view)
    inferred = infer(graph, complete_inputs(graph, inputs or {}))
    lowered = lower(graph, inferred, device, folding=view == "fused", activation=activation)
    rule, rule_notes = _size_rule(device)
    flat = flat_of_layers(lowered, lambda one: rule.padded(one.bytes or 0))
    live = buffers_of(graph, flat, sharing=_SHARING[view], states=states)
    plan = plan_memory(live.activations, rule.address)
    speed, speed_notes = _rates(device, activation)
    rows = _rows(lowered, _alive(lowered, live, rule), speed)
    weights = _weight_parts(lowered)
    instructions, header = _instructions(graph, lowered.layers)
    memory = _memory_parts(_total_weights(weights), instructions, live, plan.peak_bytes, rule)
    exeom = (_total_weights(weights), instructions, header)
    unknown = _unknown(rows, live, speed, clock_mhz)
    notes = (
        *lowered.assumptions,
        *_own_notes(graph, lowered, unknown),
        *rule_notes,
        *map(translated, (*inferred.notes, *live.assumptions, *_work_notes(lowered))),
        *speed_notes,
        *([_text("no clock", device=device.name)] if clock_mhz is None and speed is not None else ()),
    )
    return Estimate(
        model=graph.name,
        device=device.name,
        clock_mhz=clock_mhz,
        view=view,
        weight_bytes=sum(part.bytes for part in weights),
        memory_bytes=sum(part.bytes for part in memory),
        exeom_bytes=sum(part.bytes for part in exeom),
        op_types=_op_types(graph, lowered),
        findings=findings(graph, inferred, device),
        parameters=parameters(graph),
        macs=sum(row.macs or 0 for row in rows),
        peak=_peak(plan, lowered, live, rule),
        latency_lower_bound_ms=_latency([row.cycles_lower_bound for row in rows], speed, clock_mhz),
        latency_estimate_ms=_latency([row.cycles_estimate for row in rows], speed, clock_mhz),
        assumptions=tuple(dict.fromkeys(notes)),
        weight_parts=weights,
        memory_parts=memory,
        exeom_parts=exeom,
        layers=rows,
        memory_over_time=tuple((row.name, row.live_bytes) for row in rows),
        unknown=unknown,
    )


def _clock(device: Device, clock_mhz: float | None, activation: str, view: str) -> float | None:
    """Return the clock, after checking what was asked for."""
    if view not in get_args(View):
        raise BadArgument(f"view {view!r} is unknown; choose one of {', '.join(get_args(View))}")
    if activation not in get_args(Activation):
        raise BadArgument(f"activation {activation!r} is unknown; choose one of {', '.join(get_args(Activation))}")
    if clock_mhz is None and "reference_clock" in device.figures:
        return number(device, "reference_clock", "MHz")
    if clock_mhz is not None and not clock_mhz > 0:
        raise BadArgument(f"clock_mhz is {clock_mhz}; it must be above 0")
    return clock_mhz


# --- Memory ---


#: What shares memory in each view.
_SHARING: Final[dict[View, Sharing]] = {
    "script": Sharing(views=False, in_place=False, folding=False),
    "fused": Sharing(),
}


@dataclass(frozen=True, slots=True)
class _SizeRule:
    """How buffers are padded."""

    size: int
    surplus: int
    address: int

    def padded(self, size: int) -> int:
        """Return the bytes a buffer takes."""
        return align_up(size, self.size) + self.surplus if size else 0

    def placed(self, buffer: Buffer) -> int:
        """Return the bytes up to where the next buffer may start; its padding is already in it."""
        return align_up(buffer.bytes, self.address)


def _size_rule(device: Device) -> tuple[_SizeRule, tuple[Text, ...]]:
    names = ("size_alignment", "size_surplus", "address_alignment")
    if any(name not in device.figures for name in names):
        return _SizeRule(1, 0, 1), (_text("no sizes", device=device.name), _text("interface"))
    size, surplus, address = (int(number(device, name, "byte")) for name in names)
    rule = _SizeRule(size, surplus, address)
    return rule, (_text("sizes", size=size, surplus=surplus, address=address), _text("interface"))


def _alive(lowered: Lowered, live: Liveness, rule: _SizeRule) -> tuple[int, ...]:
    """Return the bytes of intermediate tensors alive at each layer."""
    values = live_bytes(live.activations, rule.address)
    return (*values, *(0,) * (len(lowered.layers) - len(values)))


def _peak(plan: MemoryPlan, lowered: Lowered, live: Liveness, rule: _SizeRule) -> Peak:
    if not plan.lower_bound_bytes:
        return Peak(plan.peak_bytes, 0, "", ())
    sizes = {buffer.name: rule.placed(buffer) for buffer in live.activations}
    tensors = tuple((name, sizes[name]) for name in plan.peak_buffers)
    return Peak(plan.peak_bytes, plan.lower_bound_bytes, lowered.layers[plan.peak_step].name, tensors)


_KINDS: Final[dict[Kind, Text]] = {
    "weight": ("矩阵算子权重（int8，FRACTAL_Z）", "weights of products (int8, FRACTAL_Z)"),
    "bias": ("bias（int32）", "biases (int32)"),
    "scale": ("量化与反量化参数", "scales and offsets"),
    "vector": ("其它浮点常量（fp16）", "other float constants (fp16)"),
    "integer": ("整型与布尔常量", "integer and bool constants"),
}


def _weight_parts(lowered: Lowered) -> tuple[Part, ...]:
    """Return the constants by kind; each is stored once, whoever reads it."""
    constants = lowered.constants.values()
    is_matrix = any(one.kind == "weight" and len(one.shape) < 3 for one in constants)
    is_assumed = {
        "weight": is_matrix or LOWERING["group"] in lowered.assumptions,
        "scale": True,
    }
    return tuple(
        Part(kind, sum(one.bytes for one in constants if one.kind == kind), zh, en, is_assumed.get(kind, False))
        for kind, (zh, en) in _KINDS.items()
    )


def _total_weights(parts: Iterable[Part]) -> Part:
    parts = tuple(parts)
    total = sum(part.bytes for part in parts)
    return Part("weights", total, "权重", "weights", any(part.assumed and part.bytes for part in parts))


def _instructions(graph: Graph, layers: tuple[Layer, ...]) -> tuple[Part, Part]:
    """Return the assumed bytes of instructions and of the header."""
    kinds = {layer.op_type for layer in layers}
    code = KERNEL_BYTES * len(kinds) + TASK_BYTES * len(layers)
    header = HEADER_BYTES + TENSOR_BYTES * (len(graph.inputs) + len(graph.outputs))
    return (
        Part("instructions", code, "算子指令", "instructions of the operators", True),
        Part("header", header, "模型描述", "description of the model", True),
    )


def _memory_parts(weights: Part, instructions: Part, live: Liveness, arena: int, rule: _SizeRule) -> tuple[Part, ...]:
    def total(buffers: Iterable[Buffer]) -> int:
        return sum(map(rule.placed, buffers))

    parts = [
        weights,
        instructions,
        Part("inputs", total(live.inputs), "输入", "inputs", False),
        Part("outputs", total(live.outputs), "输出", "outputs", False),
        Part("intermediates", arena, "中间张量（复用后的峰值）", "intermediate tensors (peak with reuse)", True),
    ]
    if live.states:
        parts.insert(4, Part("states", total(live.states), "状态（跨推理保留）", "states (kept between calls)", False))
    return tuple(parts)


# --- Layers ---


def _rates(device: Device, activation: Activation) -> tuple[Rates | None, tuple[Text, ...]]:
    """Return the rates of a device, or None, and what has to be said of them."""
    try:
        found = rates(device, activation)
    except BadArgument:
        return None, (_text("no rates", device=device.name),)
    bound = [
        (f"时延下界：{zh}", f"lower bound of the latency: {en}") for zh, en in map(translated, found.bound_assumptions)
    ]
    guess = [
        (f"时延估计：{zh}", f"estimate of the latency: {en}")
        for zh, en in map(translated, (*found.cube_assumptions, *found.vector_assumptions))
    ]
    return found, (*bound, *guess)


def _rows(lowered: Lowered, alive: tuple[int, ...], speed: Rates | None) -> tuple[LayerRow, ...]:
    """Return one row per layer."""
    read: set[str] = set()
    rows: list[LayerRow] = []
    for layer, live in zip(lowered.layers, alive, strict=True):
        new = [lowered.constants[name] for name in layer.constants if name not in read]
        read.update(layer.constants)
        sizes = [lowered.tensors[name].bytes for name in layer.outputs]
        cost = _cost(layer, speed)
        macs, runs = layer.work.macs, layer.runs
        rows.append(
            LayerRow(
                layer.name,
                layer.op_type,
                tuple(lowered.tensors[name].stored for name in layer.inputs),
                tuple(lowered.tensors[name].stored for name in layer.outputs),
                None if macs is None or runs is None else macs * runs,
                sum(one.parameters for one in new),
                sum(one.bytes for one in new),
                None if None in sizes else sum(size or 0 for size in sizes),
                live,
                None if cost is None or runs is None else cost.cycles_lower_bound * runs,
                None if cost is None or runs is None else cost.cycles_estimate * runs,
                layer.is_inserted,
            )
        )
    return tuple(rows)


def _cost(layer: Layer, speed: Rates | None) -> LayerCost | None:
    work = layer.work
    if speed is None or work.macs is None or work.vector_ops is None or work.moves is None:
        return None
    return layer_cost(work, speed)


def _latency(cycles: Iterable[int | None], speed: Rates | None, clock_mhz: float | None) -> float | None:
    return None if speed is None or clock_mhz is None else latency_ms(sum(one or 0 for one in cycles), clock_mhz)


def _unknown(rows: Iterable[LayerRow], live: Liveness, speed: Rates | None, clock_mhz: float | None) -> tuple[str, ...]:
    """Return layers without known work, tensors without known size, and whether there is no latency."""
    layers = [row.name for row in rows if row.macs is None or (speed is not None and row.cycles_estimate is None)]
    latency = ["latency"] if speed is None or clock_mhz is None else []
    return tuple(dict.fromkeys((*layers, *live.unknown, *latency)))


def _op_types(graph: Graph, lowered: Lowered) -> tuple[str, ...]:
    if lowered.is_fused:
        return tuple(sorted({layer.op_type for layer in lowered.layers if not layer.is_inserted}))
    return tuple(sorted({node.op_type for _, node in walk(graph)}))


# --- Assumptions ---


def _text(key: str, **values: object) -> Text:
    zh, en = ESTIMATE[key]
    return zh.format(**values), en.format(**values)


def _own_notes(graph: Graph, lowered: Lowered, unknown: tuple[str, ...]) -> list[Text]:
    """Return what the estimate of this model assumes by itself."""
    notes = [_text("sharing" if lowered.is_fused else "script")]
    notes.append(_text("instructions", kernel=KERNEL_BYTES, task=TASK_BYTES, header=HEADER_BYTES, tensor=TENSOR_BYTES))
    missing = {id(inside): len(inside.missing) for inside, _ in walk(graph)}
    if count := sum(missing.values()):
        notes.append(_text("missing", count=count))
    if any(node.op_type == "If" for _, node in walk(graph)):
        notes.append(_text("branches"))
    if any(layer.runs != 1 for layer in lowered.layers):
        notes.append(_text("loops"))
    if count := len([name for name in unknown if name != "latency"]):
        notes.append(_text("unknown work", count=count))
    return notes


def _work_notes(lowered: Lowered) -> list[str]:
    return [sentence for layer in lowered.layers for sentence in layer.work.assumptions]
