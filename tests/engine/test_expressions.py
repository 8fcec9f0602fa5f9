"""Fused programs: values are computed where they are read, through views of any kind."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.expand import Leaf, Step, Unit, locate, shifted, step_of

F64 = np.dtype(float)


@pytest.mark.parametrize(("shape", "loop"), [((1,), ()), ((3, 1), (3,)), ((2, 3), (2,))])
def test_a_reader_with_fewer_axes_gets_a_term_over_its_own(shape, loop):
    strides = tuple(8 * int(np.prod(shape[n + 1 :])) for n in range(len(shape)))
    leaves = tuple(Leaf(n, 0, strides, F64, False) for n in range(2))
    writer = Unit(0, None, shape, leaves, 0, strides)
    found = locate(writer, Leaf(1, 0, strides[: len(loop)], F64, False), loop)
    assert found is not None
    term = shifted(step_of(writer, leaves[:1]), found[0])
    assert isinstance(term, Step)
    (leaf,) = term.args
    assert isinstance(leaf, Leaf)
    assert leaf.strides == strides[: len(loop)] == term.moves


def test_a_number_made_of_an_array_with_one_element():
    def gradient():
        x = ng.tensor(0.75, requires_grad=True)
        y = 0.5 * x
        return ng.grad(ng.maximum(y, y.reshape(1)) * y, x, np.ones((2, 1)), is_grads_batched=True)

    before = ng.get_flags("fuse")
    expected = gradient()[0].numpy()
    ng.set_flags(fuse="now")
    try:
        np.testing.assert_array_equal(gradient()[0].numpy(), expected)
    finally:
        ng.set_flags(**before)
