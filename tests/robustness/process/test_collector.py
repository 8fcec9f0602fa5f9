"""The garbage collector is paused in long stretches, and always comes back."""

import gc
import os

import numpy as np
import pytest

import numgrad as ng
from numgrad.process.gc_pause import paused
from tests.user_functions import Square


def test_it_is_as_it_was_afterwards():
    assert gc.isenabled()
    with paused():
        assert not gc.isenabled()
        with paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_error_leaves_it_running():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    ng.grad(y, x)
    with pytest.raises(RuntimeError):
        ng.grad(y, x)
    with pytest.raises(ng.errors.CaptureError):
        ng.jit(lambda x: float(x))(1.0)
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_child_collects():
    with paused():
        child = os.fork()
        if child == 0:
            os._exit(0 if gc.isenabled() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class Finalized:
    """A part of a circle with a graph in it, which asks for gradients when it is freed."""

    def __init__(self, square, x, found, ask):
        self.itself, self.square, self.x, self.found, self.ask = self, square, x, found, ask
        self.y = square(x).sum()

    def __del__(self):
        self.found.append(self.ask(self.x, self.y))


def added(x, y):
    return ng.grad((x * 3).sum() + y, x)[0]


def twice(x, y):
    (g,) = ng.grad(y, x, create_graph=True)
    return ng.grad((g * x).sum(), x)[0]


def accumulated(x, y):
    y.backward()
    return x.grad


def rows(x, y):
    return ng.grad(y, x, np.ones(2), is_grads_batched=True)[0][1]


@pytest.mark.parametrize("stays", [False, True])
def test_finalizers_find_the_leaves_of_graphs_that_are_freed_with_them(stays):
    """The collector clears weak references before it calls finalizers."""
    asked = {
        lambda x, y: ng.grad(y, x)[0]: 2.0,
        lambda x, y: ng.grad(y, x, create_graph=True)[0].detach(): 2.0,
        accumulated: 2.0, rows: 2.0, twice: 4.0, added: None,
    }  # fmt: skip
    for square in (lambda x: x**2, Square.apply, ng.jit(lambda x: x**2)):
        for ask, factor in asked.items():
            for _ in range(3):
                x, found = ng.tensor([1.0, 2.0], requires_grad=True), []
                expected = np.array([5.0, 7.0]) if factor is None else factor * x.detach().numpy()
                Finalized(square, x, found, ask)
                kept = x if stays else None
                del x
                gc.collect()
                np.testing.assert_array_equal(found, [expected])
                del kept
