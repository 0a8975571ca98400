"""Errors form one tree, name the node, and survive a process pool."""

import pickle

import pytest

from simcore.errors import BadArgument, ModelError, SimError, UnsupportedOp


@pytest.mark.parametrize("kind", [BadArgument, ModelError, UnsupportedOp])
def test_every_error_is_a_sim_error(kind: type[SimError]) -> None:
    assert issubclass(kind, SimError)


@pytest.mark.parametrize("kind", [ModelError, UnsupportedOp])
def test_a_model_error_names_the_node_before_the_reason(kind: type[ModelError]) -> None:
    error = kind("the input 'x' has no producer", "Conv_3")

    assert str(error) == "Conv_3: the input 'x' has no producer"
    assert (error.node, error.reason) == ("Conv_3", "the input 'x' has no producer")
    assert str(kind("the file is truncated")) == "the file is truncated"


@pytest.mark.parametrize("kind", [ModelError, UnsupportedOp])
def test_a_model_error_survives_pickling(kind: type[ModelError]) -> None:
    copy = pickle.loads(pickle.dumps(kind("cyclic", "Add_1")))

    assert (type(copy), str(copy), copy.node, copy.reason) == (kind, "Add_1: cyclic", "Add_1", "cyclic")
