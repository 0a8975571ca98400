"""Operators that run subgraphs; a subgraph attribute arrives as a `Body`. Source: ONNX operators of the same names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from simcore.errors import BadArgument
from simcore.graph import Tensor, ValueInfo

__all__ = ["MAX_ITERATIONS", "Body", "if_", "loop", "scan", "scan_8"]

#: A loop that runs longer is taken for one that never ends.
MAX_ITERATIONS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Body:
    """A subgraph ready to run."""

    #: Inputs in order -> outputs in order; what it reads from around it is already bound.
    run: Callable[[Sequence[Tensor]], Sequence[Tensor]]
    #: What the model declares of its outputs.
    outputs: tuple[ValueInfo, ...]


def if_(cond: Tensor, *, then_branch: Body, else_branch: Body) -> tuple[Tensor, ...]:
    """Return the outputs of then_branch if cond (one bool) is true, else of else_branch; the other does not run."""
    if cond.size != 1:
        raise BadArgument(f"cond must be one bool, not shape {list(cond.shape)}")
    return tuple((then_branch if cond.item() else else_branch).run(()))


def loop(max_trip_count: Tensor | None, cond: Tensor | None = None, *carried: Tensor, body: Body) -> tuple[Tensor, ...]:
    """Return the carried values after the last iteration, then each scan output of all iterations stacked on axis 0.

    The body maps (iteration, cond, *carried) to (cond, *carried, *scanned) and runs while the iteration is below
    max_trip_count (if given) and cond is true (if given).

    Raises:
        BadArgument: more than MAX_ITERATIONS iterations.
    """
    limit = None if max_trip_count is None else int(max_trip_count.item())
    goes_on = True if cond is None else bool(cond.item())
    values: tuple[Tensor, ...] = carried
    count = len(body.outputs) - 1 - len(carried)
    scanned: list[list[Tensor]] = [[] for _ in range(count)]
    iteration = 0
    while goes_on and (limit is None or iteration < limit):
        if iteration >= MAX_ITERATIONS:
            raise BadArgument(f"more than {MAX_ITERATIONS} iterations; the loop does not seem to end")
        found = body.run((np.array(iteration, np.int64), np.array(True), *values))
        goes_on = bool(found[0].item())
        values = tuple(found[1 : 1 + len(carried)])
        for rows, row in zip(scanned, found[1 + len(carried) :], strict=True):
            rows.append(row)
        iteration += 1
    return (
        *values,
        *(
            _stacked(rows, info, 0)
            for rows, info in zip(scanned, body.outputs[len(body.outputs) - count :], strict=True)
        ),
    )


def scan(
    *inputs: Tensor,
    body: Body,
    num_scan_inputs: int,
    scan_input_axes: tuple[int, ...] | None = None,
    scan_input_directions: tuple[int, ...] | None = None,
    scan_output_axes: tuple[int, ...] | None = None,
    scan_output_directions: tuple[int, ...] | None = None,
) -> tuple[Tensor, ...]:
    """Return the final states, then each scan output stacked; the body runs once per entry of the scan inputs.

    Inputs are states, then `num_scan_inputs` tensors that are walked along `scan_input_axes` (default 0), backwards
    where the direction is 1 (version 9). The body maps (*states, *entries) to (*states, *scanned).

    Raises:
        BadArgument: the scan inputs have different lengths, or a list has the wrong length.
    """
    states: tuple[Tensor, ...] = inputs[: len(inputs) - num_scan_inputs]
    sources = inputs[len(states) :]
    count = len(body.outputs) - len(states)
    in_axes, in_backward = scan_input_axes or (0,) * num_scan_inputs, scan_input_directions or (0,) * num_scan_inputs
    out_axes, out_backward = scan_output_axes or (0,) * count, scan_output_directions or (0,) * count
    if not 0 < num_scan_inputs <= len(inputs) or {len(in_axes), len(in_backward)} != {num_scan_inputs} or count < 0:
        raise BadArgument(
            f"num_scan_inputs {num_scan_inputs} does not fit {len(inputs)} inputs and the scan_input lists"
        )
    if {len(out_axes), len(out_backward)} - {count}:
        raise BadArgument(f"the scan_output lists must have {count} entries")
    rows_of = [np.moveaxis(x, axis, 0) for x, axis in zip(sources, in_axes, strict=True)]
    rows_of = [rows[::-1] if backward else rows for rows, backward in zip(rows_of, in_backward, strict=True)]
    if len({len(rows) for rows in rows_of}) > 1:
        raise BadArgument(f"scan inputs have different lengths: {[len(rows) for rows in rows_of]}")
    scanned: list[list[Tensor]] = [[] for _ in range(count)]
    for entries in zip(*rows_of, strict=True):
        found = body.run((*states, *entries))
        states = tuple(found[: len(states)])
        for rows, row in zip(scanned, found[len(states) :], strict=True):
            rows.append(row)
    infos = body.outputs[len(states) :]
    stacks = [
        _stacked(rows[::-1] if backward else rows, info, axis)
        for rows, info, axis, backward in zip(scanned, infos, out_axes, out_backward, strict=True)
    ]
    return (*states, *stacks)


def scan_8(
    sequence_lens: Tensor | None,
    *inputs: Tensor,
    body: Body,
    num_scan_inputs: int,
    directions: tuple[int, ...] | None = None,
) -> tuple[Tensor, ...]:
    """Return `scan` of each batch entry, stacked on axis 0 (version 8).

    States are [batch, ...], sequences [batch, time, ...]. `sequence_lens`, int64 [batch], cuts the sequences; scan
    outputs are filled up with zeros to the longest.

    Raises:
        BadArgument: as `scan`.
    """
    batch, first = len(inputs[0]), len(inputs) - num_scan_inputs
    longest = inputs[first].shape[1]
    lengths = [longest] * batch if sequence_lens is None else sequence_lens.tolist()
    rows: list[tuple[Tensor, ...]] = []
    for entry, length in enumerate(lengths):
        values = [x[entry] if i < first else x[entry][:length] for i, x in enumerate(inputs)]
        found = scan(*values, body=body, num_scan_inputs=num_scan_inputs, scan_input_directions=directions)
        filled = [np.pad(x, [(0, longest - length)] + [(0, 0)] * (x.ndim - 1)) for x in found[first:]]
        rows.append((*found[:first], *filled))
    return tuple(np.stack(parts) for parts in zip(*rows, strict=True))


def _stacked(rows: Sequence[Tensor], info: ValueInfo, axis: int) -> Tensor:
    """Return rows stacked along axis; without rows an empty tensor of the declared type and sizes."""
    if rows:
        return np.stack(rows, axis)
    sizes = [size if isinstance(size, int) else 0 for size in info.shape or ()]
    return np.zeros((0, *sizes), info.dtype if info.dtype is not None else np.float32)
