"""Fused programs: values are computed where they are read, through views of any kind."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.fusion.expression import Leaf, Step, Unit
from numgrad.engine.fusion.indexing import LoopMaps, Terms

F64 = np.dtype(float)


@pytest.mark.parametrize(("shape", "loop"), [((1,), ()), ((3, 1), (3,)), ((2, 3), (2,))])
def test_a_reader_with_fewer_axes_gets_a_term_over_its_own(shape, loop):
    strides = tuple(8 * int(np.prod(shape[n + 1 :])) for n in range(len(shape)))
    leaves = tuple(Leaf(n, 0, strides, F64, False) for n in range(2))
    writer = Unit(None, shape, strides, strides, 0, 0, leaves)
    reader = Leaf(1, 0, strides[: len(loop)], F64, False)
    found = LoopMaps().locate(writer, None, reader, loop)
    assert found is not None
    terms = Terms(1, has_rings=False)
    term = terms.shifted(terms.step(writer, leaves[:1]), found[0])
    assert isinstance(term, Step)
    (leaf,) = term.args
    assert isinstance(leaf, Leaf)
    assert leaf.strides == strides[: len(loop)] == term.moves


def fused(function):
    before = ng.get_flags("fuse")
    ng.set_flags(fuse="now")
    try:
        return function()
    finally:
        ng.set_flags(**before)


def test_a_number_made_of_an_array_with_one_element():
    def gradient():
        x = ng.tensor(0.75, requires_grad=True)
        y = 0.5 * x
        return ng.grad(ng.maximum(y, y.reshape(1)) * y, x, np.ones((2, 1)), is_grads_batched=True)

    np.testing.assert_array_equal(fused(gradient)[0].numpy(), gradient()[0].numpy())


def test_what_only_dead_instructions_read_is_not_computed():
    def gradient():
        x = ng.tensor(np.ones((3, 0)), requires_grad=True)
        y = ng.pad(x, ((1, 1), (1, 1)))
        y = ng.clip(ng.sin(y) * ng.cos(y), -0.5, 0.5)
        return ng.grad(y, x, np.ones((2, 5, 2)), is_grads_batched=True)

    assert fused(gradient)[0].shape == gradient()[0].shape == (2, 3, 0)
