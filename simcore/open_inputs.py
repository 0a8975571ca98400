"""The inputs of a model whose sizes are open, completed by what is given."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from simcore.element_types import name_of
from simcore.errors import BadArgument
from simcore.graph import Graph, Tensor, ValueInfo

__all__ = ["complete_inputs"]

#: Sizes that the error about an open input proposes: images, and everything else.
_EXAMPLE_IMAGE: Final = 224
_EXAMPLE_OTHER: Final = 16


def complete_inputs(
    graph: Graph, inputs: Mapping[str, tuple[int, ...] | Tensor]
) -> dict[str, Tensor | tuple[int, ...]]:
    """Return what is given, completed by the inputs whose named sizes follow from it.

    Raises:
        BadArgument: an unknown input; inputs whose sizes are still open: all are named, with what to give.
    """
    known = {info.name: info for info in graph.inputs}
    for name in inputs:
        if name not in known:
            raise BadArgument(f"no input {name!r}; the inputs are {', '.join(known) or 'none'}")
    given: dict[str, Tensor | tuple[int, ...]] = {}
    sizes: dict[str, int] = {}
    for name, value in inputs.items():
        given[name] = value if isinstance(value, np.ndarray) else tuple(int(size) for size in value)
        shape = value.shape if isinstance(value, np.ndarray) else given[name]
        sizes |= {
            one: size
            for one, size in zip(known[name].shape or (), shape, strict=False)
            if isinstance(one, str) and isinstance(size, int)
        }
    open_inputs: list[ValueInfo] = []
    for name, info in known.items():
        if name in given:
            continue
        shape = () if info.shape is None else tuple(sizes.get(s, s) if isinstance(s, str) else s for s in info.shape)
        if info.shape is None or not all(isinstance(size, int) for size in shape):
            open_inputs.append(info)
        elif shape != info.shape:
            given[name] = tuple(size for size in shape if isinstance(size, int))
    if open_inputs:
        listed = "; ".join(f"{_declared(info)}, for example {_example(info, sizes)}" for info in open_inputs)
        raise BadArgument(f"give the shape of each input with open sizes: {listed}")
    return given


def _declared(info: ValueInfo) -> str:
    sizes = "of unknown rank" if info.shape is None else f"[{', '.join(str(s or '?') for s in info.shape)}]"
    return f"{info.name!r} is declared {sizes}" + (f" {name_of(info.dtype)}" if info.dtype is not None else "")


def _example(info: ValueInfo, sizes: Mapping[str, int]) -> str:
    """Return a shape as a command line takes it: "x:1,3,224,224"."""
    shape = info.shape if info.shape is not None else (None, None)
    usual = _EXAMPLE_IMAGE if len(shape) == 4 else _EXAMPLE_OTHER
    filled = [
        sizes.get(size, usual if place else 1) if isinstance(size, str) else size or (usual if place else 1)
        for place, size in enumerate(shape)
    ]
    return f"{info.name}:{','.join(map(str, filled))}"
