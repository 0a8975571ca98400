"""A model as the NPU executes it: aligned formats for the cube, inserted conversions and quantization, int8 weights.

    calls of the graph     subgraphs in line (simcore.inline)
    -> operations          script view: all of them; fused view: see simcore.fuse
    -> layers              each operand of a product in its type and format: AscendQuant and TransData where it is not
                           in them yet, AscendDequant behind a product, TransData where others read its result

The script view takes every node of the file as it stands, as the vendor's estimation script says it does (no fusion, no
folding of constants); the fused view folds and fuses. Layers, tensors and constants of one `Lowered` serve the memory
plan, the cycles and a run: see simcore.lowered.

Sources: Nano AI application guide (cube takes int8 or int16 with int8 weights, vector unit fp16; an estimate inserts
TransData, quantization, dequantization), AMCT guide (which layers are quantized, granularity), ATC guide (formats).
Where a conversion stands exactly is in no source: see `Lowered.assumptions`.
"""

from dataclasses import dataclass, field, replace
from math import prod
from typing import Final

from simcore.assumption_texts import LOWERING
from simcore.cost import Activation
from simcore.device import Device
from simcore.element_ops import element_ops
from simcore.fuse import Operation, operations
from simcore.graph import Graph, Node
from simcore.held import Constant, Format, Held, Kind, constant_bytes, held, held_dtype, weight_bytes
from simcore.inline import Flat
from simcore.liveness import flat_of
from simcore.lowered import Layer, Lowered
from simcore.macs import NodeWork, node_work
from simcore.parameters import data_inputs, is_weight
from simcore.shapes import Inferred

__all__ = ["lower"]


#: Positions of the two operands of products: those of simcore.precision.PRODUCTS, and those of integers.
_OPERANDS: Final[dict[str, tuple[int, int]]] = {
    "Conv": (0, 1),
    "ConvInteger": (0, 1),
    "ConvTranspose": (0, 1),
    "Gemm": (0, 1),
    "MatMul": (0, 1),
    "MatMulInteger": (0, 1),
    "QLinearConv": (0, 3),
    "QLinearMatMul": (0, 3),
}
_CONVOLUTIONS: Final = frozenset({"Conv", "ConvInteger", "ConvTranspose", "QLinearConv"})
#: Float products: quantized here, and dequantized after.
_FLOAT: Final = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
#: Products whose results have one scale per output channel. Source: AMCT guide, granularity of weights.
_PER_CHANNEL: Final = frozenset({"Conv", "ConvTranspose"})
_BIAS: Final = {"Conv": 2, "ConvTranspose": 2, "Gemm": 2, "QLinearConv": 8, "GRU": 3, "LSTM": 3, "RNN": 3}
#: Positions of scales and zero points of the model.
_SCALES: Final[dict[str, tuple[int, ...]]] = {
    "ConvInteger": (2, 3),
    "DequantizeLinear": (1, 2),
    "MatMulInteger": (2, 3),
    "QLinearConv": (1, 2, 4, 5, 6, 7),
    "QLinearMatMul": (1, 2, 4, 5, 6, 7),
    "QuantizeLinear": (1, 2),
}
_RECURRENT: Final = frozenset({"GRU", "LSTM", "RNN"})

#: Inputs that are no data but become attributes when constant: sizes, axes, bounds. Indices and first states stay data.
_SETTINGS: Final[dict[str, tuple[int, ...]]] = {
    "Clip": (1, 2),
    "ConstantOfShape": (0,),
    "CumSum": (1,),
    "Dropout": (1, 2),
    "Expand": (1,),
    "If": (0,),
    "Loop": (0, 1),
    "OneHot": (1,),
    "Pad": (1, 2, 3),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "Tile": (1,),
    "TopK": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
    **{
        f"Reduce{kind}": (1,)
        for kind in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
    },
}


def lower(
    graph: Graph, inferred: Inferred, device: Device, *, folding: bool, activation: Activation = "int8"
) -> Lowered:
    """Return the NPU graph of a model.

    Args:
        graph: the model; its weights may be missing, none is read.
        inferred: what is known of its tensors, from shapes.infer.
        device: with the figure block_size, formats and inserted operators are those of Ascend.
        folding: the fused view instead of the script view.
        activation: element type of quantized activations; weights are int8.
    """
    flat = flat_of(graph, inferred, folding=folding)
    done, gone = operations(graph, flat, folding)
    work = _Lowering(
        flat,
        dict(graph.opset),
        {gone.get(info.name, info.name) for info in graph.outputs},
        folding,
        activation,
        "block_size" in device.figures,
    )
    copied = [info for info in graph.outputs if info.name in flat.constants]
    for info in (*graph.inputs, *copied):
        work.produce(info.name, work.base(info.name), "ND")
    for operation in done:
        _add(work, operation)
    if not work.has_blocks:
        work.notes["no blocks"] = None
    texts = tuple(
        (zh.format(device=device.name), en.format(device=device.name))
        for zh, en in (LOWERING[key] for key in work.notes)
    )
    return Lowered(
        graph,
        device.name,
        work.has_blocks,
        folding,
        activation,
        tuple(work.layers),
        work.tensors,
        work.constants,
        flat,
        gone,
        tuple(done),
        texts,
    )


@dataclass(slots=True)
class _Lowering:
    """The layers so far."""

    flat: Flat
    opset: dict[str, int]
    outputs: set[str]
    is_fused: bool
    activation: Activation
    has_blocks: bool
    layers: list[Layer] = field(default_factory=list)
    tensors: dict[str, Held] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)
    #: Form in which each tensor of the model was produced.
    primary: dict[str, tuple[str, Format]] = field(default_factory=dict)
    #: Name of each tensor of the model in each form it is held in.
    forms: dict[str, dict[tuple[str, Format], str]] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    #: The call that layers are made for, and how often it runs.
    call: int = 0
    runs: int | None = 1

    def base(self, name: str) -> str:
        """Return the element type of a tensor's plain form; empty if not known."""
        info = self.flat.infos.get(name)
        return "" if info is None or info.dtype is None else held_dtype(info.dtype)

    def shape(self, name: str) -> tuple[int, ...] | None:
        info = self.flat.infos.get(name)
        if info is None or info.shape is None:
            return None
        sizes = tuple(size for size in info.shape if isinstance(size, int))
        return sizes if len(sizes) == len(info.shape) else None

    def produce(self, tensor: str, dtype: str, form: Format) -> str:
        """Note a form of a tensor; return its name."""
        found = held(tensor, dtype, form, self.base(tensor), self.shape(tensor))
        self.tensors[found.name] = found
        self.primary.setdefault(tensor, (dtype, form))
        self.forms.setdefault(tensor, {})[dtype, form] = found.name
        return found.name

    def request(self, tensor: str, dtype: str, form: Format) -> str:
        """Return the name of a tensor in a form, after inserting what makes it."""
        forms = self.forms[tensor]
        if (dtype, form) in forms:
            return forms[dtype, form]
        made, source = self.primary[tensor]
        nearest: tuple[Format, Format] = (form, "ND")
        source = next((one for one in nearest if (made, one) in forms), source)
        if made != dtype and (dtype, source) not in forms:
            self.insert("AscendQuant", tensor, forms[made, source], dtype, source)
            self.notes["quant"] = None
        steps: tuple[Format, ...] = (form,) if "ND" in (source, form) or source == form else ("ND", form)
        for target in steps:
            if source != target and (dtype, target) not in forms:
                self.insert("TransData", tensor, forms[dtype, source], dtype, target)
                self.notes["trans"] = None
            source = target
        return forms[dtype, form]

    def insert(self, op_type: str, tensor: str, source: str, dtype: str, form: Format) -> None:
        """Add an inserted operator that makes a form of a tensor."""
        target = self.produce(tensor, dtype, form)
        name = f"{op_type}: {target}"
        constants: tuple[str, ...] = ()
        if op_type == "AscendQuant":
            constants = (self.constant(f"scale and offset of {target}", "scale", "", (2,), 8),)
        elements = [
            prod(held.stored) if held.stored is not None else None
            for held in (self.tensors[source], self.tensors[target])
        ]
        most = None if None in elements else max(size for size in elements if size is not None)
        is_move = op_type == "TransData"
        work = NodeWork(name, op_type, 0, 0 if is_move and most is not None else most, most if is_move else 0)
        node = Node(name, op_type, "", (source,), (target,))
        self.layers.append(
            Layer(name, op_type, node, (source,), (target,), constants, True, (), work, self.runs, self.call)
        )

    def constant(
        self,
        name: str,
        kind: Kind,
        dtype: str,
        shape: tuple[int, ...],
        size: int,
        form: Format = "ND",
        parameters: int = 0,
    ) -> str:
        """Note a constant; return its name, marked where the same constant is stored in another form already."""
        new = Constant(name, kind, dtype, form, shape, size, parameters)
        old = self.constants.get(name)
        if old is not None and (old.kind, old.dtype, old.format, old.bytes) != (kind, dtype, form, size):
            # A second copy of the same parameters.
            return self.constant(f"{name} ({kind} {dtype} {form} {size})", kind, dtype, shape, size, form)
        if old is None or (parameters and not old.parameters):
            self.constants[name] = new
        return name


def _add(work: _Lowering, operation: Operation) -> None:
    """Add the layers of an operation."""
    node = operation.node
    work.call, work.runs = operation.call, operation.runs
    is_product = not node.domain and node.op_type in _OPERANDS
    is_recurrent = not node.domain and node.op_type in _RECURRENT
    names: dict[int, str] = {}
    constants: list[str] = []
    for place, name in enumerate(node.inputs):
        if not name:
            continue
        if name in work.flat.constants:
            constants += _constant(work, operation, place, name)
        elif name in work.forms:
            names[place] = _operand(work, node, place, name, is_product, is_recurrent)
    constants += _extra_constants(work, operation)
    outputs, merged, ops = _results(work, operation, is_product)
    body = replace(
        node, inputs=tuple(names.get(place, name) for place, name in enumerate(node.inputs)), outputs=outputs
    )
    own = _work(work, operation)
    if ops is None or own.vector_ops is None:
        own = replace(own, vector_ops=None)
    else:
        own = replace(own, vector_ops=own.vector_ops + ops)
    op_type = node.op_type
    layer = Layer(
        operation.name if not operation.is_copy else f"{op_type} for {operation.name}: {', '.join(outputs)}",
        op_type,
        body,
        tuple(dict.fromkeys(names.values())),
        tuple(filter(None, outputs)),
        tuple(dict.fromkeys(constants)),
        operation.is_copy,
        merged,
        own,
        operation.runs,
        operation.call,
    )
    work.layers.append(layer)
    _dequantize(work, operation, is_product)
    for name in node.outputs:
        if name in work.outputs:
            work.request(name, work.base(name), "ND")


def _operand(work: _Lowering, node: Node, place: int, name: str, is_product: bool, is_recurrent: bool) -> str:
    """Return the form in which a node reads a computed tensor."""
    base = work.base(name)
    is_operand = (is_product and place in _OPERANDS[node.op_type]) or (is_recurrent and place == 0)
    if not is_operand or not work.has_blocks or not base or work.shape(name) is None:
        return work.request(name, base, "ND")
    dtype = base
    if base == "float16":
        first, second = _OPERANDS.get(node.op_type, (0, 0))
        is_pair = is_product and all(node.inputs[p] not in work.flat.constants for p in (first, second))
        # A product of two computed tensors takes int8 only. Source: AMCT guide, MatMul.
        dtype = "int8" if is_pair and node.op_type not in _CONVOLUTIONS else work.activation
        if node.op_type in _CONVOLUTIONS and place == second:
            dtype = "int8"
    if is_recurrent:
        work.notes["recurrent"] = None
    return work.request(name, dtype, _format(work, node, name, place))


def _format(work: _Lowering, node: Node, name: str, place: int) -> Format:
    """Return the format of an operand or of a result (place -1) of a product."""
    shape = work.shape(name)
    if node.op_type in _CONVOLUTIONS and not node.domain:
        if place == _OPERANDS[node.op_type][1]:
            return "FRACTAL_Z"
        return "NDC1HWC0" if shape is not None and len(shape) == 5 else "NC1HWC0"
    return "FRACTAL_NZ"


def _constant(work: _Lowering, operation: Operation, place: int, name: str) -> list[str]:
    """Note a constant that a node reads; return its name, or none if it becomes an attribute."""
    node = operation.node
    op_type = "" if node.domain else node.op_type
    base, shape = work.base(name), work.shape(name)
    if place in _SETTINGS.get(op_type, ()):
        work.notes["settings"] = None
        return []
    if not base or shape is None:
        return []
    info = work.flat.infos[name]
    kind_of_file = "" if info.dtype is None else info.dtype.name
    size = prod(shape)
    counted = size if name in data_inputs(node) and is_weight(node, kind_of_file, size) else 0
    if place in _SCALES.get(op_type, ()):
        work.notes["scale"] = None
        return [work.constant(name, "scale", "", shape, 4 * size, parameters=counted)]
    if place == _BIAS.get(op_type, -1):
        return [work.constant(name, "bias", "int32", shape, 4 * size, parameters=counted)]
    is_operand = place in _OPERANDS.get(op_type, ()) or (op_type in _RECURRENT and place in (1, 2))
    if is_operand:
        dtype = "int8" if base == "float16" else base
        group = node.attributes.get("group", 1)
        if not work.has_blocks:
            return [work.constant(name, "weight", dtype, shape, constant_bytes(shape, dtype), "ND", counted)]
        work.notes["weight"] = None
        if isinstance(group, int) and group > 1:
            work.notes["group"] = None
        return [work.constant(name, "weight", dtype, shape, weight_bytes(node, shape, dtype), "FRACTAL_Z", counted)]
    kind: Kind = "vector" if base == "float16" else "integer"
    return [work.constant(name, kind, base, shape, constant_bytes(shape, base), parameters=counted)]


def _extra_constants(work: _Lowering, operation: Operation) -> list[str]:
    """Note what a node holds beyond its inputs: scales of its result, the bias of a merged BatchNormalization."""
    node = operation.node
    if node.domain or node.op_type not in _FLOAT | _RECURRENT:
        return []
    found: list[str] = []
    if operation.has_batch_norm and not (len(node.inputs) > 2 and node.inputs[2]):
        channels = work.shape(operation.merged[0].inputs[1]) or (0,)
        name = f"bias of {operation.name}"
        found.append(work.constant(name, "bias", "int32", channels, 4 * prod(channels), parameters=prod(channels)))
    if work.has_blocks and (work.is_fused or node.op_type in _RECURRENT):
        found.append(_scales(work, node, operation.name))
    return found


def _scales(work: _Lowering, node: Node, name: str) -> str:
    """Note the scales that turn the int32 result of a product into float16; recurrent: one for W and one for R."""
    work.notes["scale"] = None
    shape = work.shape(node.outputs[0])
    count = 2 if node.op_type in _RECURRENT else 1
    if node.op_type in _PER_CHANNEL and shape is not None:
        count = shape[1]
    return work.constant(f"scales of {name}", "scale", "", (count,), 4 * count)


def _results(
    work: _Lowering, operation: Operation, is_product: bool
) -> tuple[tuple[str, ...], tuple[str, ...], int | None]:
    """Note a node's results; return their names, what runs with the node, and the element operations of that."""
    node = operation.node
    merged = [f"{one.op_type}: {one.name}" for one in operation.merged]
    ops: int | None = 0
    for one in operation.merged:
        if one.op_type != "BatchNormalization":
            count = element_ops(one, work.flat.infos)
            ops = None if ops is None or count is None else ops + count
    if work.is_fused:
        work.notes["folding"] = None
    outputs: list[str] = []
    for name in node.outputs:
        if not name:
            outputs.append("")
            continue
        base = work.base(name)
        if not is_product or not work.has_blocks or not base or work.shape(name) is None:
            outputs.append(work.produce(name, base, "ND"))
            continue
        form = _format(work, node, name, -1)
        is_split = base == "float16" and not work.is_fused
        outputs.append(work.produce(name, "int32" if is_split else base, form))
        if base == "float16" and work.is_fused:
            merged.append("AscendDequant")
            work.notes["quant"] = work.notes["fused"] = None
            ops = None if ops is None else ops + prod(work.shape(name) or ())
    return tuple(outputs), tuple(merged), ops


def _dequantize(work: _Lowering, operation: Operation, is_product: bool) -> None:
    """Insert AscendDequant behind a float product of the script view."""
    node = operation.node
    if not is_product or work.is_fused or not work.has_blocks:
        return
    for name in filter(None, node.outputs):
        dtype, form = work.primary[name]
        if dtype != "int32" or work.base(name) != "float16":
            continue
        work.notes["quant"] = work.notes["int32"] = None
        source = work.forms[name][dtype, form]
        del work.primary[name]
        work.insert("AscendDequant", name, source, "float16", form)
        scales = _scales(work, node, operation.name)
        work.layers[-1] = replace(work.layers[-1], constants=(scales,))


def _work(work: _Lowering, operation: Operation) -> NodeWork:
    """Return the work of a node by itself."""
    node = operation.node
    if operation.has_batch_norm:
        # Its output has the name of the merged node's.
        name = operation.merged[0].inputs[0]
        node = replace(node, outputs=(name,))
        if not (len(node.inputs) > 2 and node.inputs[2]):
            node = replace(node, inputs=(*node.inputs[:2], operation.merged[0].inputs[1]))
    return node_work(node, work.opset, work.flat.infos, work.flat.values)
