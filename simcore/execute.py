"""Run a graph: feeds -> outputs, every tensor on request; in float32 (golden mode) or as a `Precision` says.

`plan.prepare` makes the graph ready once; a run is a loop over the plan's steps that drops each tensor after its last
use.
"""

import functools
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from simcore.errors import BadArgument
from simcore.graph import Graph, Tensor, check_feed
from simcore.ops.control_flow import Body
from simcore.plan import FAILURES, Plan, Step, SubPlan, as_tuple, explained, prepare
from simcore.precision import Precision

__all__ = ["run"]

#: Plans of a graph by replaced initializers and precision, the oldest first.
_PLANS: "weakref.WeakKeyDictionary[Graph, dict[tuple[frozenset[str], Precision | None], Plan]]" = (
    weakref.WeakKeyDictionary()
)
#: Plans kept per graph; each precision holds its own copy of the weights as codes.
_KEPT: Final = 4


def run(
    graph: Graph, feeds: Mapping[str, Tensor], trace: bool = False, precision: Precision | None = None
) -> dict[str, Tensor]:
    """Return the outputs of the graph by name, in order; with `trace` every tensor that a node computed before them.

    The plan is made at the first run and kept as long as the graph lives. Subgraphs that ran are traced under their
    tensors' own names, of a loop the last iteration. Results may share memory with feeds and constants (read-only).

    Args:
        graph: the model.
        feeds: an array for each graph input; also for initializers, to replace them.
        trace: whether to return everything.
        precision: how each node computes, see simcore.precision; None computes all in float32. Reuse the same value:
            weights are quantized at its first run.

    Raises:
        UnsupportedOp: operators that are not computed here, named with their nodes.
        ModelError: a node fails (named, with the reason), or weights are missing.
        BadArgument: a feed is missing, unknown, or of another type or shape than declared; a precision that does not
            fit the model.
    """
    values = _checked(graph, feeds)
    plan = _plan(graph, frozenset(feeds.keys() & (graph.initializers.keys() | graph.missing.keys())), precision)
    places: list[Any] = list(plan.start)
    for name, value in values.items():
        places[plan.feeds[name]] = value
    traced: dict[str, Tensor] | None = {} if trace else None
    with np.errstate(all="ignore"):
        _execute(plan, places, traced)
    outputs = {name: places[place] for name, place in plan.outputs}
    return outputs if traced is None else {**traced, **outputs}


def _plan(graph: Graph, replaced: frozenset[str], precision: Precision | None) -> Plan:
    plans = _PLANS.setdefault(graph, {})
    if (replaced, precision) not in plans:
        while len(plans) >= _KEPT:
            del plans[next(iter(plans))]
        plans[replaced, precision] = prepare(graph, replaced, precision)
    return plans[replaced, precision]


def _checked(graph: Graph, feeds: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the feeds as arrays, after checking that they are what the graph declares."""
    known = {info.name: info for info in graph.inputs}
    constants = graph.initializers.keys() | graph.missing.keys()
    absent = [name for name in known if name not in feeds]
    unknown = [name for name in feeds if name not in known and name not in constants]
    if absent or unknown:
        problem = f"no feed for {', '.join(absent)}" if absent else f"unknown feed {', '.join(unknown)}"
        raise BadArgument(f"{problem}; the inputs are {', '.join(known) or 'none'}")
    checked: dict[str, Tensor] = {}
    sizes: dict[str, int] = {}
    for name, value in feeds.items():
        info = known.get(name)
        if info is not None and info.dtype is not None:
            array = np.asarray(value)
            check_feed(info, array.dtype, array.shape, sizes)
            checked[name] = array
        else:
            checked[name] = value
    return checked


def _execute(plan: Plan, values: list[Any], traced: dict[str, Tensor] | None) -> None:
    """Run the steps on `values`, in place; put all that was computed into `traced` if it is there."""
    ndarray = np.ndarray
    for step in plan.steps:
        arguments = [values[place] for place in step.inputs]
        try:
            result = _controlled(step, arguments, traced) if step.bodies else step.call(*arguments)
            outputs = step.outputs
            if type(result) is ndarray and len(outputs) == 1:
                values[outputs[0]] = result
            else:
                for place, value in zip(outputs, as_tuple(result, step.node), strict=False):
                    values[place] = value
        except FAILURES as error:
            raise explained(error, step.node, arguments) from error
        if traced is None:
            for place in step.dead:
                values[place] = None
    if traced is not None:
        traced.update((name, values[place]) for name, place in plan.produced.items())


def _controlled(step: Step, arguments: Sequence[Any], traced: dict[str, Tensor] | None) -> Any:  # noqa: ANN401
    """Return the result of a control-flow node, its subgraphs bound to what they read from around them."""
    first = len(step.node.inputs)
    bodies: dict[str, Body] = {}
    for sub in step.bodies:
        around = arguments[first : first + len(sub.outside)]
        first += len(sub.outside)
        bodies[sub.attribute] = Body(functools.partial(_run_body, sub, around, traced), sub.graph.outputs)
    return step.call(*arguments[: len(step.node.inputs)], **bodies)


def _run_body(
    sub: SubPlan, around: Sequence[Tensor], traced: dict[str, Tensor] | None, inputs: Sequence[Tensor]
) -> list[Tensor]:
    """Return the outputs of a subgraph for its inputs and the tensors around it."""
    plan = sub.plan
    if len(inputs) != len(sub.graph.inputs):
        raise BadArgument(f"subgraph {sub.graph.name!r} takes {len(sub.graph.inputs)} inputs, got {len(inputs)}")
    values: list[Any] = list(plan.start)
    for name, value in zip(sub.outside, around, strict=True):
        values[plan.feeds[name]] = value
    for info, value in zip(sub.graph.inputs, inputs, strict=True):
        values[plan.feeds[info.name]] = value
    _execute(plan, values, traced)
    return [values[place] for _, place in plan.outputs]
