"""The proof: what it compares, what it refuses, and that it says so."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from onnx import helper

from simcore.errors import BadArgument, ModelError
from simcore.graph import Graph, ValueInfo
from simcore.rewrite.prove import DISTRIBUTIONS, TOLERANCE, Proof, feeds_for, prove
from simcore.rewrite.run import Change, Options, Rewritten, rewrite
from tests.test_simcore.rewriting import NANO, loaded, model

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(2, 3, 4)


def graph(*nodes: tuple[str, list[str], list[str]], outputs: list[str] | None = None, **constants: Any) -> Graph:
    made = [helper.make_node(op_type, inputs, results) for op_type, inputs, results in nodes]
    arrays = {name: np.asarray(value) for name, value in constants.items()}
    return loaded(model(made, {"x": X}, outputs or ["y"], arrays, 13))


def as_result(result: Graph, error: float = 0.0) -> Rewritten:
    changes = (Change("n", "Erf", "tanh", "stated", error, ()),) if error else ()
    return Rewritten(result, changes, (), {}, {})


SCALED = graph(("Mul", ["x", "k"], ["y"]), k=np.float32(1))


def test_equal_models_are_proved_on_every_distribution_and_feed() -> None:
    proof = prove(SCALED, as_result(SCALED), [{"x": X}], seeds=(1, 2))

    assert proof.ok and proof.skipped == ()
    assert proof.runs == ("given 0", *(f"{kind}, seed {seed}" for seed in (1, 2) for kind in DISTRIBUTIONS))
    (one,) = proof.outputs
    assert (one.output, one.max_absolute, one.max_relative, one.tolerance, one.ok) == ("y", 0, 0, TOLERANCE, True)


@pytest.mark.parametrize(("factor", "ok"), [(1 + 0.9e-4, True), (1 + 1.2e-4, False)])
def test_a_difference_above_the_tolerance_is_refused(factor: float, ok: bool) -> None:
    other = graph(("Mul", ["x", "k"], ["y"]), k=np.float32(factor))

    proof = prove(SCALED, as_result(other), [{"x": X}], seeds=())

    assert proof.ok is ok
    assert proof.outputs[0].max_relative == pytest.approx(factor - 1, rel=1e-2)
    assert proof.outputs[0].max_absolute == pytest.approx(2 * (factor - 1), rel=1e-2)


@pytest.mark.parametrize(("stated", "ok"), [(0.0, False), (2e-3, True)])
def test_a_rule_that_states_its_error_widens_the_tolerance(stated: float, ok: bool) -> None:
    other = graph(("Mul", ["x", "k"], ["y"]), k=np.float32(1.001))

    proof = prove(SCALED, as_result(other, stated), [{"x": X}], seeds=())

    assert proof.ok is ok and proof.outputs[0].tolerance == TOLERANCE + stated


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (graph(("Log", ["x"], ["y"])), "NaN"),
        (graph(("Transpose", ["x"], ["y"])), "float32 [4, 3, 2] instead of float32 [2, 3, 4]"),
        (graph(("Greater", ["x", "x"], ["y"])), "bool"),
    ],
    ids=["nan", "shape", "type"],
)  # fmt: skip
def test_other_shapes_types_and_places_of_nan_are_refused_whatever_the_tolerance(wrong: Graph, problem: str) -> None:
    proof = prove(SCALED, as_result(wrong), [{"x": X}], seeds=(), tolerance=1e9)

    assert not proof.ok and problem in proof.outputs[0].problem


def test_nan_and_infinities_at_the_same_places_are_no_difference() -> None:
    feed = {"x": np.array(X)}
    feed["x"][0, 0] = [np.nan, np.inf, -np.inf, 1]

    proof = prove(SCALED, as_result(SCALED), [feed], seeds=())

    assert proof.ok and proof.outputs[0].max_absolute == 0


def test_one_bad_run_among_good_ones_is_enough() -> None:
    other = graph(("Clip", ["x", "low"], ["y"]), low=np.float32(0))

    proof = prove(SCALED, as_result(other), [{"x": np.abs(X)}, {"x": X}, {"x": np.abs(X)}], seeds=())

    assert not proof.ok and proof.outputs[0].max_absolute == 2


def test_each_output_is_judged_by_itself() -> None:
    two = graph(("Neg", ["x"], ["y"]), ("Abs", ["x"], ["z"]), outputs=["y", "z"])
    wrong = graph(("Neg", ["x"], ["y"]), ("Relu", ["x"], ["z"]), outputs=["y", "z"])

    proof = prove(two, as_result(wrong), [{"x": X}], seeds=())

    assert [(one.output, one.ok) for one in proof.outputs] == [("y", True), ("z", False)]


def test_other_outputs_are_an_error() -> None:
    other = graph(("Neg", ["x"], ["z"]), outputs=["z"])

    with pytest.raises(BadArgument, match="the original has"):
        prove(SCALED, as_result(other))


def test_feeds_that_the_original_refuses_are_named_and_prove_nothing() -> None:
    node = helper.make_node("Gather", ["k", "i"], ["y"])
    original = loaded(model([node], {"i": np.array([0])}, ["y"], {"k": np.zeros(3, np.float32)}, 13))

    proof = prove(original, as_result(original), [{"i": np.array([5])}], seeds=())

    assert not proof.ok and proof.runs == () and len(proof.skipped) == 1
    assert proof.skipped[0].startswith("given 0: ")


def test_a_result_that_fails_where_the_original_does_not_is_an_error() -> None:
    broken = graph(("Reshape", ["x", "to"], ["y"]), to=np.array([7]))

    with pytest.raises(ModelError):
        prove(SCALED, as_result(broken), [{"x": X}], seeds=())


def test_a_proof_without_a_run_is_none() -> None:
    assert not Proof((), (), ()).ok
    assert not prove(SCALED, as_result(SCALED), seeds=()).ok


def test_fixed_inputs_keep_their_value_in_the_original() -> None:
    node = helper.make_node("Div", ["x", "d"], ["y"])
    original = loaded(model([node], {"x": X, "d": np.float32(3)}, ["y"], {}, 13))

    result = rewrite(original, NANO, Options(values={"d": np.float32(4)}))

    assert prove(original, result, [{"x": X}]).ok
    assert not prove(original, replace(result, fixed={"d": np.float32(5)}), [{"x": X}]).ok


def test_random_feeds_have_the_declared_shapes_and_types_and_the_same_bits_for_a_seed() -> None:
    infos = [
        ValueInfo("a", np.dtype(np.float32), ("n", 3)),
        ValueInfo("b", np.dtype(np.int64), ("n",)),
        ValueInfo("c", np.dtype(bool), ()),
    ]

    for kind in DISTRIBUTIONS:
        one, again = (feeds_for(infos, kind, 4, {"a": (2, 3)}) for _ in range(2))
        other = feeds_for(infos, kind, 5, {"a": (2, 3)})

        assert {name: (value.dtype.name, value.shape) for name, value in one.items()} == {
            "a": ("float32", (2, 3)), "b": ("int64", (2,)), "c": ("bool", ()),
        }  # fmt: skip
        assert all(one[name].tobytes() == again[name].tobytes() for name in one)
        assert (kind == "zeros") == bool(np.array_equal(one["a"], other["a"]))
    assert np.abs(feeds_for(infos, "large", 0, {"a": (200, 3)})["a"]).max() > 100
    assert feeds_for(infos, "uniform", 0, {"a": (200, 3)})["a"].min() >= 0


def test_open_sizes_without_a_shape_and_unknown_kinds_are_named() -> None:
    with pytest.raises(BadArgument, match="complete shape"):
        feeds_for([ValueInfo("a", np.dtype(np.float32), ("n",))], "normal", 0, {})
    with pytest.raises(BadArgument, match="normal, uniform, zeros, large"):
        feeds_for([ValueInfo("a", np.dtype(np.float32), (1,))], "odd", 0, {})
