"""How much work a model is: multiply-adds of matrix products, element operations of the rest.

    products      the matrix products a node is made of, as sizes (count, m, k, n)
    node_macs     multiply-adds = sum of count * m * k * n over those products
    node_work     the same with element operations and moved elements, and what was assumed
    graph_work    all nodes of a model, subgraphs included; graph_macs: only the sum

What counts as a multiply-add: one product of the loop that defines the operator, by an operand of a convolution or
matrix product, as if every tap were there. Zeros of padding count, and so do products a ConvTranspose computes for
positions that its pads then cut off. Not counted: additions of a bias, alpha and beta, zero points, gates, peepholes.
Those are element operations. Source: ONNX operator specification; the same rule is in torch.utils.flop_counter
(conv_flop_count, halved), which takes output sizes for a convolution and input sizes for a transposed one.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Final

import numpy as np

from simcore.bodies import InnerGraph, inner_graphs
from simcore.element_ops import element_ops, moved_elements
from simcore.errors import ModelError
from simcore.graph import Graph, Node, Tensor, ValueInfo, described
from simcore.shapes import Inferred

__all__ = [
    "NodeWork",
    "Product",
    "Work",
    "graph_macs",
    "graph_work",
    "node_macs",
    "node_work",
    "products",
]

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """Matrix products of one size: `count` times [m, k] by [k, n]."""

    #: How many: batch of a MatMul, groups of a convolution, steps of a recurrent layer.
    count: int
    #: Rows of the first operand: positions of a convolution with its batch, rows of a matrix, batch of an LSTM.
    m: int
    #: Length of the sums.
    k: int
    #: Columns of the second operand: output channels of a group, gates times hidden size.
    n: int
    #: Kernel positions in k, of a convolution; 1 elsewhere.
    taps: int = 1
    #: Kernel positions in n, of a transposed convolution; 1 elsewhere.
    out_taps: int = 1
    #: True for the groups of a convolution, which a device may place side by side.
    is_grouped: bool = False

    @property
    def macs(self) -> int:
        """Multiply-adds."""
        return self.count * self.m * self.k * self.n


@dataclass(frozen=True, slots=True)
class NodeWork:
    """The work of one node; of control flow, that of its subgraphs. None: a shape that only a run can tell."""

    #: Name of the node; inside subgraphs "if_1/then_branch/conv_2".
    node: str
    op_type: str
    #: Multiply-adds.
    macs: int | None
    #: Operations on single elements: additions, comparisons, function values ...
    vector_ops: int | None
    #: Elements that are copied unchanged, such as by Transpose or Concat.
    moves: int | None
    #: The matrix products; empty for control flow, whose inner nodes have their own.
    products: tuple[Product, ...] = ()
    #: What was assumed, as sentences.
    assumptions: tuple[str, ...] = ()
    #: Work of the nodes inside that were counted, each for one run of its subgraph.
    inner: tuple["NodeWork", ...] = ()
    #: How often the subgraph runs: trip count of a loop, else 1.
    runs: int = 1


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a model."""

    #: Multiply-adds of the nodes that are known.
    macs: int
    #: Element operations of the nodes that are known.
    vector_ops: int
    #: Copied elements of the nodes that are known.
    moves: int
    #: Every node outside subgraphs, in order.
    nodes: tuple[NodeWork, ...]
    #: Nodes that could not be counted, by name; the sums are too low by theirs.
    unknown: tuple[str, ...] = ()
    #: What was assumed, as sentences, each once.
    assumptions: tuple[str, ...] = ()


def node_macs(
    node: Node, opset: Mapping[str, int], tensors: Mapping[str, ValueInfo], values: Mapping[str, Tensor]
) -> int:
    """Return the multiply-adds of a node; of an If the larger branch, of a loop the body times its trip count.

    Args:
        node: the node.
        opset: operator set version by domain.
        tensors: shapes of its inputs and outputs by name, such as `Inferred.tensors`.
        values: known values by name, such as `Inferred.values`: conditions, trip counts, sequence lengths.

    Raises:
        ModelError: a shape or a trip count is not known.
    """
    work = node_work(node, opset, tensors, values)
    if work.macs is None:
        raise ModelError("its multiply-adds depend on shapes or a trip count that only a run can tell", described(node))
    return work.macs


def graph_macs(graph: Graph, inferred: Inferred) -> int:
    """Return the multiply-adds of a model; `graph_work` tells which nodes and assumptions are in it.

    Raises:
        ModelError: a node's multiply-adds are not known; the first is named.
    """
    work = graph_work(graph, inferred)
    if work.unknown:
        reason = f"{len(work.unknown)} nodes have multiply-adds that only a run can tell; give the inputs a shape"
        raise ModelError(reason, f"node {work.unknown[0]!r}")
    return work.macs


def graph_work(graph: Graph, inferred: Inferred) -> Work:
    """Return the work of a model, node by node; what is not known is named and left out of the sums."""
    works = tuple(_works(graph, inferred))
    unknown = tuple(work.node for work in works if work.macs is None or work.vector_ops is None or work.moves is None)
    return Work(
        sum(work.macs or 0 for work in works),
        sum(work.vector_ops or 0 for work in works),
        sum(work.moves or 0 for work in works),
        works,
        unknown,
        tuple(dict.fromkeys(text for work in works for text in work.assumptions)),
    )


def node_work(
    node: Node, opset: Mapping[str, int], tensors: Mapping[str, ValueInfo], values: Mapping[str, Tensor]
) -> NodeWork:
    """Return the work of a node. Arguments as `node_macs`."""
    if node.subgraphs:
        return _controlled(node, opset, tensors, values)
    known = products(node, tensors, values)
    assumptions = _stated(node, values)
    macs = None if known is None else sum(product.macs for product in known)
    rows = sum(product.count * product.m for product in known or ())
    vector_ops = None if known is None else element_ops(node, tensors, rows)
    moves = moved_elements(node, tensors)
    return NodeWork(node.name, node.op_type, macs, vector_ops, moves, known or (), assumptions)


def products(node: Node, tensors: Mapping[str, ValueInfo], values: Mapping[str, Tensor]) -> tuple[Product, ...] | None:
    """Return the matrix products of a node: empty if it has none, None if a shape is not known."""
    formula = _PRODUCTS.get((node.domain, node.op_type))
    if formula is None:
        return ()
    shapes = [_shape(tensors, name) for name in (*node.inputs, *node.outputs)]
    if any(shape is None for name, shape in zip((*node.inputs, *node.outputs), shapes, strict=True) if name):
        return None
    whole = [shape or () for shape in shapes]
    return tuple(formula(node, whole[: len(node.inputs)], whole[len(node.inputs) :], values))


def _shape(tensors: Mapping[str, ValueInfo], name: str) -> Shape | None:
    info = tensors.get(name)
    if info is None or info.shape is None:
        return None
    sizes = tuple(size for size in info.shape if isinstance(size, int))
    return sizes if len(sizes) == len(info.shape) else None


Formula = Callable[[Node, list[Shape], list[Shape], Mapping[str, Tensor]], list[Product]]


def _conv(node: Node, inputs: list[Shape], outputs: list[Shape], values: Mapping[str, Tensor]) -> list[Product]:
    """Return `group` products [batch * positions, cin * taps] by [cin * taps, cout], cin and cout of one group."""
    w = inputs[_WEIGHT.get(node.op_type, 1)]
    group = _int(node, "group", 1)
    rows = outputs[0][0] * prod(outputs[0][2:])
    return [Product(group, rows, prod(w[1:]), w[0] // group, prod(w[2:]), is_grouped=group > 1)]


def _conv_transpose(
    node: Node, inputs: list[Shape], outputs: list[Shape], values: Mapping[str, Tensor]
) -> list[Product]:
    """Return `group` products: every input element times all weights of its channel, whatever the pads cut off."""
    x, w = inputs[:2]
    group = _int(node, "group", 1)
    return [Product(group, x[0] * prod(x[2:]), w[0] // group, prod(w[1:]), 1, prod(w[2:]), group > 1)]


def _matmul(node: Node, inputs: list[Shape], outputs: list[Shape], values: Mapping[str, Tensor]) -> list[Product]:
    """Return the products of numpy.matmul; a second operand without batch multiplies all rows at once."""
    a, b = inputs[0], inputs[_WEIGHT.get(node.op_type, 1)]
    k, n, m = a[-1], b[-1] if len(b) > 1 else 1, a[-2] if len(a) > 1 else 1
    batch = prod(np.broadcast_shapes(a[:-2], b[:-2]))
    if prod(b[:-2]) == 1:
        return [Product(1, batch * m, k, n)]
    return [Product(batch, m, k, n)]


def _gemm(node: Node, inputs: list[Shape], outputs: list[Shape], values: Mapping[str, Tensor]) -> list[Product]:
    m, k = inputs[0][::-1] if _int(node, "transA", 0) else inputs[0]
    return [Product(1, m, k, outputs[0][-1])]


def _recurrent(node: Node, inputs: list[Shape], outputs: list[Shape], values: Mapping[str, Tensor]) -> list[Product]:
    """Return per direction and step the products with W and with R; the first state counts, zero or not."""
    x, w, r = inputs[:3]
    is_transposed = node.op_type == "DynamicQuantizeLSTM"
    directions, (columns, hidden) = r[0], (r[2], r[1]) if is_transposed else (r[1], r[2])
    steps, batch = (x[1], x[0]) if _int(node, "layout", 0) else (x[0], x[1])
    widths = (w[1] if is_transposed else w[2], hidden)
    lengths = values.get(node.inputs[4]) if len(node.inputs) > 4 else None
    if lengths is None:
        return [Product(directions * steps, batch, width, columns) for width in widths]
    # Sequences of one length run together; the others stop before them.
    taken = np.clip(np.asarray(lengths).ravel(), 0, steps)
    running = [int((taken > step).sum()) for step in range(int(taken.max(initial=0)))]
    sizes = {rows: running.count(rows) for rows in running}
    return [Product(directions * count, rows, width, columns) for rows, count in sizes.items() for width in widths]


def _einsum(node: Node, inputs: list[Shape], outputs: list[Shape], values: Mapping[str, Tensor]) -> list[Product]:
    """Return the product of two operands with a common summed index as a matrix product; more operands: the plain loop.

    Without a summed index in two operands there is nothing to multiply and add: element operations.
    """
    terms, result, sizes = _einsum_terms(node, inputs)
    summed = [label for label in sizes if label not in result]
    if not any(sum(label in term for term in terms) > 1 for label in summed):
        return []
    if len(terms) == 2:
        a, b = map(set, terms)
        both = a & b
        k = prod(sizes[label] for label in summed)
        m = prod(sizes[label] for label in result if label in a - both)
        n = prod(sizes[label] for label in result if label in b - both)
        return [Product(prod(sizes[label] for label in result if label in both), m, k, n)]
    return [Product(len(terms) - 1, prod(sizes[label] for label in result), prod(sizes[label] for label in summed), 1)]


def _einsum_terms(node: Node, inputs: list[Shape]) -> tuple[list[list[str]], list[str], dict[str, int]]:
    """Return the labels of each operand, of the result, and the size of each; an ellipsis becomes numbered labels."""
    equation = str(node.attributes["equation"]).replace(" ", "")
    left, arrow, right = equation.partition("->")
    sizes: dict[str, int] = {}
    terms: list[list[str]] = []
    dotted: list[str] = []
    for term, shape in zip(left.split(","), inputs, strict=True):
        before, dots, after = term.partition("...")
        spare = len(shape) - len(before) - len(after) if dots else 0
        numbered = [f"...{place}" for place in range(spare, 0, -1)]
        dotted = max(dotted, numbered, key=len)
        terms.append([*before, *numbered, *after])
        for label, size in zip(terms[-1], shape, strict=True):
            sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    if arrow:
        before, dots, after = right.partition("...")
        return terms, [*before, *(dotted if dots else ()), *after], sizes
    once = sorted(label for label in sizes if len(label) == 1 and sum(term.count(label) for term in terms) == 1)
    return terms, [*dotted, *once], sizes


def _attention(node: Node, inputs: list[Shape], outputs: list[Shape], values: Mapping[str, Tensor]) -> list[Product]:
    """Return the products of queries with keys, and of weights with values; past keys are in the key length."""
    q, k, v = inputs[:3]
    if len(q) == 3:
        heads, shared = _int(node, "q_num_heads", 1), _int(node, "kv_num_heads", 1)
        q = (q[0], heads, q[1], q[2] // heads)
        k, v = (k[0], shared, k[1], k[2] // shared), (v[0], shared, v[1], v[2] // shared)
    past = inputs[4][2] if len(node.inputs) > 4 and node.inputs[4] else 0
    keys = k[2] + past
    return [Product(q[0] * q[1], q[2], q[3], keys), Product(q[0] * q[1], q[2], keys, v[3])]


def _int(node: Node, name: str, default: int) -> int:
    value = node.attributes.get(name, default)
    assert isinstance(value, int), "the loader has checked attributes"
    return value


_WEIGHT: Final[dict[str, int]] = {"QLinearConv": 3, "QLinearMatMul": 3}

_PRODUCTS: Final[dict[tuple[str, str], Formula]] = {
    ("", "Attention"): _attention,
    ("", "Conv"): _conv,
    ("", "ConvInteger"): _conv,
    ("", "ConvTranspose"): _conv_transpose,
    ("", "DeformConv"): _conv,
    ("com.microsoft", "DynamicQuantizeLSTM"): _recurrent,
    ("", "Einsum"): _einsum,
    ("", "GRU"): _recurrent,
    ("", "Gemm"): _gemm,
    ("", "LSTM"): _recurrent,
    ("", "MatMul"): _matmul,
    ("", "MatMulInteger"): _matmul,
    ("", "QLinearConv"): _conv,
    ("", "QLinearMatMul"): _matmul,
    ("", "RNN"): _recurrent,
}


def _stated(node: Node, values: Mapping[str, Tensor]) -> tuple[str, ...]:
    """Return what the count of a plain node assumes."""
    is_recurrent = node.op_type in ("LSTM", "GRU", "RNN", "DynamicQuantizeLSTM")
    if is_recurrent and len(node.inputs) > 4 and node.inputs[4] and node.inputs[4] not in values:
        return ("every sequence is taken to have the full length: sequence_lens is not known",)
    if node.op_type == "Einsum" and len(node.inputs) > 2:
        return ("an Einsum of more than two operands counts as its plain loop; in pairs it may need less",)
    return ()


def _controlled(
    node: Node, opset: Mapping[str, int], tensors: Mapping[str, ValueInfo], values: Mapping[str, Tensor]
) -> NodeWork:
    """Return the work of the branch that runs, of the larger one, or of the body times its trip count."""
    found = [(body, _body_work(node, body)) for body in inner_graphs(node, opset, tensors, values)]
    if not found or any(work is None for _, work in found):
        return NodeWork(node.name, node.op_type, None, None, None)
    known = [(body, work) for body, work in found if work is not None]
    body, work = max(known, key=lambda pair: (pair[1].macs, pair[1].vector_ops, pair[1].moves))
    assumptions = [*work.assumptions, *body.assumptions]
    if len(known) > 1:
        assumptions.append("an If whose condition is not known counts as its larger branch")
    if body.count is None or work.unknown:
        return NodeWork(node.name, node.op_type, None, None, None, (), tuple(assumptions), work.nodes)
    return NodeWork(
        node.name,
        node.op_type,
        work.macs * body.count,
        work.vector_ops * body.count,
        work.moves * body.count,
        (),
        tuple(dict.fromkeys(assumptions)),
        work.nodes,
        body.count,
    )


def _body_work(node: Node, body: InnerGraph) -> Work | None:
    if body.inferred is None:
        return None
    work = graph_work(body.graph, body.inferred)
    named = tuple(_named(inner, f"{node.name}/{body.attribute}/") for inner in work.nodes)
    return replace(work, nodes=named)


def _named(work: NodeWork, path: str) -> NodeWork:
    inner = tuple(_named(one, path) for one in work.inner)
    return replace(work, node=path + work.node, inner=inner)


def _works(graph: Graph, inferred: Inferred) -> Iterator[NodeWork]:
    for node in graph.nodes:
        yield node_work(node, graph.opset, inferred.tensors, inferred.values)
