"""The garbage collector is paused in long stretches, and always comes back."""

import gc
import os

import pytest

import numgrad as ng
from numgrad._collector import paused


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
