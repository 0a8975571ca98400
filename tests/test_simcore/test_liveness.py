"""Live ranges: as derived by hand, and proved by executing a planned arena byte by byte."""

import itertools
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx.backend.test
import pytest
from onnx import helper

from simcore.element_ops import ELEMENTWISE, VIEWS
from simcore.errors import BadArgument
from simcore.graph import Graph, ValueInfo
from simcore.liveness import Liveness, Sharing, Step, buffers
from simcore.load_onnx import load_onnx
from simcore.memory import Buffer, plan_memory
from simcore.shapes import Inferred, infer
from tests.test_simcore.control_flow_graphs import if_graph, loop_graph
from tests.test_simcore.graphs import graph

node = helper.make_node
LIGHT = Path(onnx.backend.test.__file__).parent / "data" / "light"
NOTHING = Sharing(views=False, in_place=False)
#: Every combination of the options.
OPTIONS = [Sharing(*switches) for switches in itertools.product([True, False], repeat=4)]


def _ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def _live(g: Graph, **options: Any) -> Liveness:
    return buffers(g, infer(g), **options)


def _ranges(found: Sequence[Buffer]) -> dict[str, tuple[int, int, int]]:
    return {buffer.name: (buffer.bytes, buffer.first, buffer.last) for buffer in found}


# --- The oracle: a run of the planned arena ---


def simulate(g: Graph, live: Liveness, states: Mapping[str, str] | None = None) -> None:
    """Execute the steps twice on an arena of one token per byte; fail if a reader does not find what was written.

    A tensor's content is a token per byte. A view, or a part of a split, has the tokens of what it views; all other
    tensors have tokens of their own. Operators that are not elementwise must find their inputs whole even after they
    wrote their outputs. Every buffer is planned into one arena.
    """
    every = [*live.activations, *live.inputs, *live.outputs, *live.states]
    plan = plan_memory(every, 1, effort=200_000)
    arena = np.zeros(plan.peak_bytes, np.int64)
    fresh = itertools.count(1)
    content: dict[str, np.ndarray] = {}

    def area(name: str) -> np.ndarray:
        place = live.places[name]
        start = plan.offsets[place.buffer] + place.offset
        return arena[start : start + place.bytes]

    def new(name: str) -> np.ndarray:
        token = next(fresh)
        return np.arange(live.places[name].bytes) + (token << 32)

    def check(names: Sequence[str], where: str) -> None:
        for name in names:
            if name in live.places:
                assert (area(name) == content[name]).all(), f"{name} is overwritten: {where}"

    inputs = [info.name for info in g.inputs if info.name in live.places]
    outputs = [info.name for info in g.outputs if info.name in live.places]
    written = {name for step in live.steps for name in step.writes}
    kept: dict[str, np.ndarray] = {}
    for _call in range(2):
        for name in inputs:
            content[name] = kept.get(name, new(name))
            if name not in kept:  # a state is already there
                area(name)[...] = content[name]
        for name in set(outputs) - written - set(inputs):
            content[name] = new(name)  # a constant
            area(name)[...] = content[name]
        check(inputs, "by another input")
        for step in live.steps:
            check(step.reads, f"before {step.name}")
            for name in filter(live.places.__contains__, step.writes):
                content[name] = _content(live, step, name, content, new(name))
                area(name)[...] = content[name]
            for name, other in itertools.product(step.reads, step.writes):
                # An elementwise operator may write over an input only element by element.
                assert _is_apart(live, name, other) or live.places[name] == live.places[other] or _is_view(step)
            if step.op_type not in ELEMENTWISE | {"BatchNormalization", "Sum", "LSTM", "GRU", "RNN"}:
                check(step.reads, f"by {step.name} itself")
            check(step.writes, f"by another output of {step.name}")
        check(outputs, "before the end")
        for source, target in (states or {}).items():
            if live.places[source] != live.places[target]:
                area(source)[...] = area(target)
            kept[source] = content[target]


def _is_view(step: Step) -> bool:
    return step.op_type in VIEWS | {"Split", "Slice"}


def _is_apart(live: Liveness, one: str, other: str) -> bool:
    if one not in live.places or other not in live.places:
        return True
    a, b = live.places[one], live.places[other]
    return a.buffer != b.buffer or a.offset + a.bytes <= b.offset or b.offset + b.bytes <= a.offset


def _content(live: Liveness, step: Step, name: str, content: Mapping[str, np.ndarray], own: np.ndarray) -> np.ndarray:
    source = step.reads[0] if step.reads else ""
    if not _is_view(step) or source not in live.places:
        return own
    from_place, to_place = live.places[source], live.places[name]
    if from_place.buffer != to_place.buffer:
        return own
    start = to_place.offset - from_place.offset
    return content[source][start : start + to_place.bytes]


# --- By hand ---


def _chain() -> Graph:
    """Return x -> MatMul a -> Relu b -> MatMul c -> Add d (with b) -> Reshape y."""
    nodes = [
        node("MatMul", ["x", "w"], ["a"], name="m1"),
        node("Relu", ["a"], ["b"], name="relu"),
        node("MatMul", ["b", "w"], ["c"], name="m2"),
        node("Add", ["c", "b"], ["d"], name="add"),
        node("Reshape", ["d", "s"], ["y"], name="view"),
    ]
    return graph(nodes, {"x": (2, 4)}, ["y"], {"w": _ones(4, 4), "s": np.array([8])})


def test_without_sharing_each_tensor_lives_from_its_step_to_its_last_reader() -> None:
    live = _live(_chain(), sharing=NOTHING)

    assert _ranges(live.activations) == {"a": (32, 0, 1), "b": (32, 1, 3), "c": (32, 2, 3), "d": (32, 3, 4)}
    assert [step.name for step in live.steps] == ["m1", "relu", "m2", "add", "view"]


def test_inputs_and_outputs_live_throughout_or_as_needed() -> None:
    throughout = _live(_chain(), sharing=NOTHING)
    needed = _live(_chain(), sharing=NOTHING, interface="as needed")

    assert _ranges(throughout.inputs) == {"x": (32, 0, 4)}
    assert _ranges(throughout.outputs) == {"y": (32, 0, 4)}
    assert _ranges(needed.inputs) == {"x": (32, 0, 0)}
    assert _ranges(needed.outputs) == {"y": (32, 4, 4)}


def test_in_place_operators_take_the_buffer_of_an_input_that_ends() -> None:
    live = _live(_chain(), sharing=Sharing(views=False))

    # relu writes over a; add writes d over c, its first input that ends there.
    assert _ranges(live.activations) == {"a": (32, 0, 3), "c": (32, 2, 4)}
    assert live.places["b"].buffer == "a"
    assert live.places["d"].buffer == "c"


def test_a_view_shares_the_buffer_even_if_it_is_an_output() -> None:
    live = _live(_chain())

    assert _ranges(live.activations) == {"a": (32, 0, 3)}
    assert _ranges(live.outputs) == {"y": (32, 0, 4)}
    assert live.places["c"] == live.places["d"] == live.places["y"]


def test_an_input_read_later_is_not_overwritten() -> None:
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("Relu", ["a"], ["b"]), node("MatMul", ["a", "b"], ["y"])]

    live = _live(graph(nodes, {"x": (4, 4)}, ["y"], {"w": _ones(4, 4)}))

    assert _ranges(live.activations) == {"a": (64, 0, 2), "b": (64, 1, 2)}


def test_a_view_read_later_keeps_its_source() -> None:
    nodes = [
        node("MatMul", ["x", "w"], ["a"]),
        node("Reshape", ["a", "s"], ["v"]),
        node("Relu", ["a"], ["b"]),
        node("MatMul", ["b", "w"], ["c"]),
        node("MatMul", ["v", "c"], ["y"]),
    ]

    live = _live(graph(nodes, {"x": (4, 4)}, ["y"], {"w": _ones(4, 4), "s": np.array([4, 4])}))

    assert live.places["v"].buffer == live.places["a"].buffer != live.places["b"].buffer


def test_a_smaller_broadcast_input_is_not_overwritten() -> None:
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("MatMul", ["v", "w"], ["b"]), node("Add", ["a", "b"], ["y"])]

    live = _live(graph(nodes, {"x": (1, 4), "v": (3, 4)}, ["y"], {"w": _ones(4, 4)}))

    assert live.places["y"].buffer != live.places["a"].buffer
    assert live.places["y"] == live.places["b"]


def test_an_output_of_as_many_bytes_but_another_shape_is_not_written_in_place() -> None:
    """Equal of [4] and [4, 1], 16 bytes of float32, gives [4, 4], 16 bytes of bool, which reads every element again."""
    nodes = [
        node("MatMul", ["x", "w"], ["a"]),
        node("MatMul", ["z", "w"], ["b"]),
        node("Equal", ["a", "b"], ["e"]),
        node("Transpose", ["e"], ["y"]),
    ]
    g = graph(nodes, {"x": (4,), "z": (4, 4)}, ["y"], {"w": _ones(4, 4)})
    column = graph(nodes, {"x": (4,), "z": (4, 4)}, ["y"], {"w": _ones(4, 1)})

    assert _live(g).places["e"].buffer == "e"
    assert _live(column).places["e"].buffer == "e"


def test_a_part_beside_its_whole_keeps_the_whole_from_being_overwritten() -> None:
    nodes = [
        node("MatMul", ["x", "w"], ["a"]),
        node("Slice", ["a", "s", "e", "axis"], ["row"]),
        node("Add", ["a", "row"], ["sum"]),
        node("MatMul", ["sum", "w"], ["y"]),
    ]
    constants = {"w": _ones(4, 4), "s": np.array([0]), "e": np.array([1]), "axis": np.array([0])}
    g = graph(nodes, {"x": (3, 4)}, ["y"], constants)

    live = _live(g, sharing=Sharing(parts=True))

    assert live.places["row"].buffer == "a"
    assert live.places["sum"].buffer == "sum"


def test_the_application_s_input_is_never_written_unless_it_is_in_the_arena() -> None:
    g = graph([node("Relu", ["x"], ["a"]), node("MatMul", ["a", "w"], ["y"])], {"x": (2, 4)}, ["y"], {"w": _ones(4, 4)})

    assert _live(g).places["a"].buffer == "a"
    assert _live(g, interface="as needed").places["a"].buffer == "x"


def test_inputs_and_outputs_never_share_a_buffer() -> None:
    nodes = [node("Identity", ["x"], ["y"]), node("Relu", ["x"], ["z"]), node("Identity", ["z"], ["z2"])]
    g = graph(nodes, {"x": (2, 4)}, ["y", "z", "z2", "x"])

    live = _live(g, interface="as needed")

    assert {live.places[name].buffer for name in ("x", "y", "z", "z2")} == {"x", "y", "z", "z2"}


def test_constants_and_what_follows_from_them_are_no_activations() -> None:
    nodes = [
        node("Transpose", ["w"], ["t"]),
        node("Shape", ["x"], ["n"]),
        node("ConstantOfShape", ["n"], ["zeros"]),
        node("MatMul", ["x", "t"], ["a"]),
        node("Add", ["a", "zeros"], ["y"]),
    ]
    g = graph(nodes, {"x": (4, 4)}, ["y"], {"w": _ones(4, 4)})

    folded = _live(g, sharing=NOTHING)
    whole = _live(g, sharing=Sharing(views=False, in_place=False, folding=False))

    assert _ranges(folded.activations) == {"a": (64, 0, 1)}
    assert _ranges(whole.activations) == {"t": (64, 0, 3), "n": (16, 1, 2), "zeros": (64, 2, 4), "a": (64, 3, 4)}


def test_an_output_nobody_reads_lives_at_its_step() -> None:
    nodes = [node("Split", ["x"], ["a", "b"], axis=1), node("MatMul", ["a", "w"], ["y"])]
    g = graph(nodes, {"x": (2, 4)}, ["y"], {"w": _ones(2, 2)}, opset=11)

    assert _ranges(_live(g).activations) == {"a": (16, 0, 1), "b": (16, 0, 0)}


def test_parts_along_the_first_axis_lie_inside_the_whole() -> None:
    nodes = [
        node("MatMul", ["x", "w"], ["a"]),
        node("Split", ["a", "sizes"], ["p", "q"], axis=1),
        node("Slice", ["a", "start", "end", "axis"], ["r"]),
        node("MatMul", ["p", "w"], ["pw"]),
        node("Concat", ["pw", "q", "r"], ["y"], axis=1),
    ]
    constants = {
        "w": _ones(4, 4),
        "sizes": np.array([2, 4]),
        "start": np.array([-3]),
        "end": np.array([6]),
        "axis": np.array([1]),
    }
    g = graph(nodes, {"x": (1, 6, 4)}, ["y"], constants)

    live = _live(g, sharing=Sharing(parts=True))

    places = {name: (live.places[name].buffer, live.places[name].offset, live.places[name].bytes) for name in "apqr"}
    assert places == {"a": ("a", 0, 96), "p": ("a", 0, 32), "q": ("a", 32, 64), "r": ("a", 48, 48)}
    assert _ranges(live.activations)["a"] == (96, 0, 4)
    assert {_live(g).places[name].buffer for name in "apqr"} == {"a", "p", "q", "r"}


@pytest.mark.parametrize(("axis", "step"), [(2, 1), (1, -1), (1, 2)], ids=["another axis", "backwards", "every second"])
def test_scattered_parts_have_their_own_buffer(axis: int, step: int) -> None:
    nodes = [
        node("MatMul", ["x", "w"], ["a"]),
        node("Slice", ["a", "s", "e", "axis", "step"], ["r"]),
        node("Concat", ["r", "r"], ["y"], axis=0),
    ]
    start, end = (5, -7) if step < 0 else (0, 4)
    constants = {
        "w": _ones(4, 4),
        "s": np.array([start]),
        "e": np.array([end]),
        "axis": np.array([axis]),
        "step": np.array([step]),
    }
    g = graph(nodes, {"x": (1, 6, 4)}, ["y"], constants)

    assert _live(g, sharing=Sharing(parts=True)).places["r"].offset == 0
    if axis == 1:
        assert _live(g, sharing=Sharing(parts=True)).places["r"].buffer == "r"


def test_bytes_are_those_the_caller_says() -> None:
    """Another element size, and padded layouts: a view of another size in bytes is no view."""
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("Reshape", ["a", "s"], ["b"]), node("MatMul", ["b", "v"], ["y"])]
    g = graph(nodes, {"x": (2, 4)}, ["y"], {"w": _ones(4, 4), "s": np.array([8, 1]), "v": _ones(1, 1)})

    def rows_of_16(info: ValueInfo) -> int:
        sizes = [size for size in info.shape or () if isinstance(size, int)]
        return int(np.prod(sizes[:-1])) * -(-sizes[-1] // 16) * 16 * 2

    live = _live(g, bytes_of=rows_of_16)

    assert _ranges(live.activations) == {"a": (64, 0, 1), "b": (256, 1, 2)}


# --- States ---


def _recurrent(reads_state_last: bool) -> Graph:
    """Return h' = LSTM(x, h); with reads_state_last the old state is added to the output afterwards."""
    weights = {"w": _ones(1, 16, 5), "r": _ones(1, 16, 4), "c": np.zeros((1, 1, 4), np.float32)}
    nodes = [node("LSTM", ["x", "w", "r", "", "", "h", "c"], ["", "h2"], hidden_size=4, name="cell")]
    nodes += [node("MatMul", ["h2", "m"], ["a"], name="out")]
    nodes += [node("Add", ["a", "h" if reads_state_last else "a"], ["y"], name="add")]
    return graph(nodes, {"x": (1, 1, 5), "h": (1, 1, 4)}, ["y", "h2"], weights | {"m": _ones(4, 4)})


def test_a_state_pair_has_one_buffer_kept_between_calls() -> None:
    live = _live(_recurrent(False), states={"h": "h2"})

    assert _ranges(live.states) == {"h": (16, 0, 2)}
    assert live.places["h2"] == live.places["h"]
    assert (set(_ranges(live.inputs)), set(_ranges(live.outputs)), live.assumptions) == ({"x"}, {"y"}, ())


def test_without_named_pairs_no_state_is_guessed() -> None:
    live = _live(_recurrent(False))

    assert (live.states, set(_ranges(live.inputs)), set(_ranges(live.outputs))) == ((), {"x", "h"}, {"y", "h2"})


def test_a_state_read_after_its_next_value_is_written_keeps_its_own_buffer() -> None:
    live = _live(_recurrent(True), states={"h": "h2"})

    assert live.places["h"].buffer != live.places["h2"].buffer
    assert (set(_ranges(live.states)), set(_ranges(live.outputs))) == ({"h"}, {"y", "h2"})
    assert "copied" in live.assumptions[0]
    simulate(_recurrent(True), live, {"h": "h2"})


def _fifo() -> Graph:
    """A streaming convolution: the last frames are kept, the newest is appended."""
    nodes = [
        node("Concat", ["old", "x"], ["frames"], axis=1),
        node("Slice", ["frames", "one", "end", "one"], ["new"]),
        node("MatMul", ["frames", "w"], ["y"]),
    ]
    constants = {"w": _ones(4, 4), "one": np.array([1]), "end": np.array([100])}
    return graph(nodes, {"old": (1, 7, 4), "x": (1, 1, 4)}, ["y", "new"], constants)


@pytest.mark.parametrize("interface", ["throughout", "as needed"])
@pytest.mark.parametrize("sharing", OPTIONS[:8], ids=str)
def test_a_fifo_moves_on_without_losing_frames(interface: Any, sharing: Sharing) -> None:
    live = _live(_fifo(), states={"old": "new"}, interface=interface, sharing=sharing)

    assert _ranges(live.states) == {"old": (112, 0, 2)}
    simulate(_fifo(), live, {"old": "new"})


@pytest.mark.parametrize(
    "states", [{"h": "y0"}, {"h0": "h2"}, {"x": "h2"}], ids=["no such output", "no such input", "other bytes"]
)
def test_states_that_do_not_fit_are_refused(states: dict[str, str]) -> None:
    with pytest.raises(BadArgument, match="state"):
        _live(_recurrent(False), states=states)


# --- Control flow ---


def test_the_larger_branch_of_an_if_stands_in_its_place() -> None:
    live = _live(if_graph())

    assert [step.name for step in live.steps][:2] == ["choice", "choice/else_branch/product"]
    assert live.places["choice/else_branch/p_large"].bytes == 2 * 7 * 4
    assert "choice/then_branch/p_small" not in live.places
    assert "larger branch" in live.assumptions[0]
    assert live.places["y"] == live.places["choice/else_branch/y_large"]
    simulate(if_graph(), live)


def test_an_if_of_known_condition_takes_only_its_branch() -> None:
    live = _live(if_graph(c=np.array(True)))

    assert live.places["choice/then_branch/p_small"].bytes == 2 * 4 * 4
    assert live.assumptions == ()


def test_what_a_loop_carries_and_reads_lives_until_its_end() -> None:
    g = loop_graph(np.array(5))

    live = _live(g)

    end = len(live.steps) - 1
    carried = live.places["loop/body/state"]
    state = next(b for b in live.activations if b.name == carried.buffer)
    assert (state.bytes, state.last) == (24, end)
    assert live.places["loop/body/next"].buffer != carried.buffer
    simulate(g, live)


def test_tensors_of_unknown_shape_are_named() -> None:
    nodes = [node("NonZero", ["x"], ["where"]), node("Transpose", ["where"], ["y"])]

    assert _live(graph(nodes, {"x": (2, 4)}, ["y"])).unknown == ("where", "y")


# --- Proof by execution ---


def _random_graph(seed: int) -> Graph:
    """Return a graph of views, elementwise, moving and mixing operators on tensors [1, 4, 8] or views of them."""
    chance = random.Random(seed)
    live, shapes, nodes = ["x", "z"], {"x": (1, 4, 8), "z": (1, 4, 8)}, []
    constants = {
        "w": _ones(8, 8), "flat": np.array([32]), "cube": np.array([1, 4, 8]), "row": np.array([1, 1, 32]),
        "s": np.array([chance.randrange(3)]), "e": np.array([4]), "axis": np.array([1]), "halves": np.array([1, 3]),
    }  # fmt: skip
    for i in range(chance.randrange(5, 25)):
        whole = [name for name in live if shapes[name] == (1, 4, 8)]
        name, kind = (
            chance.choice(live),
            chance.choice(["unary", "binary", "view", "matmul", "split", "slice", "transpose", "norm"]),
        )
        out = f"t{i}"
        if kind == "unary":
            nodes.append(node(chance.choice(["Relu", "Tanh", "Neg"]), [name], [out]))
            shapes[out] = shapes[name]
        elif kind == "view":
            target = chance.choice(["flat", "cube", "row"])
            if np.prod(shapes[name]) != 32:
                continue
            nodes.append(node("Reshape", [name, target], [out]))
            shapes[out] = tuple(constants[target].tolist())
        elif kind == "binary" and whole:
            rows = [name for name in live if shapes[name] == (1, 1, 8)]
            nodes.append(node("Add", [chance.choice(whole), chance.choice([*whole, *rows])], [out]))
            shapes[out] = (1, 4, 8)
        elif kind == "matmul" and whole:
            nodes.append(node("MatMul", [chance.choice(whole), "w"], [out]))
            shapes[out] = (1, 4, 8)
        elif kind == "norm" and whole:
            nodes.append(node("Softmax", [chance.choice(whole)], [out]))
            shapes[out] = (1, 4, 8)
        elif kind == "split" and whole:
            nodes.append(node("Split", [chance.choice(whole), "halves"], [out, out + "b"], axis=1))
            shapes[out], shapes[out + "b"] = (1, 1, 8), (1, 3, 8)
            live.append(out + "b")
        elif kind == "slice" and whole:
            nodes.append(node("Slice", [chance.choice(whole), "s", "e", "axis"], [out]))
            shapes[out] = (1, 4 - int(constants["s"][0]), 8)
        elif kind == "transpose":
            nodes.append(node("Transpose", [name], [out]))
            shapes[out] = shapes[name][::-1]
        else:
            continue
        live.append(out)
    outputs = chance.sample(live, min(len(live), 3))
    return graph(nodes, {"x": (1, 4, 8), "z": (1, 4, 8)}, outputs, constants)


@pytest.mark.parametrize("seed", range(60))
def test_no_live_tensor_is_ever_overwritten(seed: int) -> None:
    g = _random_graph(seed)
    inferred = infer(g)
    for sharing, interface in itertools.product(OPTIONS, ["throughout", "as needed"]):
        simulate(g, buffers(g, inferred, interface=interface, sharing=sharing))


@pytest.mark.parametrize("seed", range(20))
def test_sharing_never_needs_more_memory(seed: int) -> None:
    g = _random_graph(seed)

    def bound(sharing: Sharing) -> int:
        live = _live(g, sharing=sharing, interface="as needed")
        return plan_memory([*live.activations, *live.inputs, *live.outputs], 1, 0).lower_bound_bytes

    assert bound(Sharing()) <= bound(NOTHING)


def _kilobytes(info: ValueInfo) -> int:
    """Return bytes in small, so that one token per byte is quick."""
    return -(-int(np.prod([size for size in info.shape or () if isinstance(size, int)])) // 1024)


LIGHT_MODELS = sorted(path.stem for path in LIGHT.glob("*.onnx"))


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_light_models_execute_in_their_arena(name: str) -> None:
    g = load_onnx(LIGHT / f"{name}.onnx")

    simulate(g, buffers(g, infer(g), _kilobytes, interface="as needed"))


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_light_models_reach_the_lower_bound(name: str) -> None:
    g = load_onnx(LIGHT / f"{name}.onnx")
    inferred: Inferred = infer(g)
    for sharing in (Sharing(), NOTHING):
        live = buffers(g, inferred, sharing=sharing)

        plan = plan_memory(live.activations, 64)

        assert plan.peak_bytes == plan.lower_bound_bytes


def test_an_unknown_interface_is_refused() -> None:
    with pytest.raises(BadArgument, match="interface"):
        _live(_chain(), interface="sometimes")
