"""The reference path takes no shorter way, and has the same bits."""

import threading

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.differentiate.repeated_pass import RepeatedPass
from numgrad.engine.lower import executable
from numgrad.engine.record import dispatch
from numgrad.engine.record.apply import mode, other_modes
from numgrad.engine.replay import plan_cache
from numgrad.engine.replay.recorded_plan import RecordedPlan

X = np.array([0.5, 1.25, 2.0])


@pytest.fixture
def reference():
    before = ng.get_flags("path")
    ng.set_flags(path="reference")
    yield
    ng.set_flags(**before)


def loss(x):
    return (ng.exp(-x * x) * ng.sin(x)).sum() + (x[1:] - x[:-1]).prod()


def second(x):
    leaf = ng.tensor(x, requires_grad=True)
    (g,) = ng.grad(loss(leaf), leaf, create_graph=True)
    return ng.grad(g, leaf, np.eye(3), is_grads_batched=True)[0].numpy()


WORK = {
    "forward": lambda: loss(ng.tensor(X)).numpy(),
    "a gradient": lambda: ng.func.grad(loss)(X),
    "second derivatives": lambda: second(X),
    "a Hessian": lambda: ng.func.hessian(loss)(X),
    "captured": lambda: CAPTURED(X),
    "captured with tensors": lambda: CAPTURED(ng.tensor(X)).numpy(),
    "three operands": lambda: ng.where(*map(ng.tensor, (X > 1.0, X, -X))).numpy(),
    "an operand": lambda: (ng.tensor(X) * np.float32(0.5)).numpy(),
    "newly captured": lambda: ng.jit(loss)(X),
    "an integer": lambda: ROW(X, 1),
}
CAPTURED = ng.jit(ng.func.grad(loss))
ROW = ng.jit(lambda x, i: ng.func.grad(lambda x: x[i] ** 3)(x))


@pytest.mark.parametrize("name", WORK)
def test_it_has_the_same_bits(name, reference):
    long = WORK[name]()
    ng.set_flags(path="default")
    short = [WORK[name]() for _ in range(4)]
    for found in short:
        np.testing.assert_array_equal(found, long)


def refuse(*_):
    raise AssertionError("a short way was taken")


@pytest.mark.parametrize(("owner", "method", "work"), [
    (dispatch, "_apply_many", "three operands"), (dispatch, "_apply_two", "forward"),
    (dispatch, "_apply_mixture", "an operand"), (RepeatedPass, "run", "a gradient"),
    (plan_cache.ExecutablePlan, "values", "a gradient"),
    (RecordedPlan, "values", "second derivatives"),
    (executable.Executable, "entry", "newly captured"),
])  # fmt: skip
def test_nothing_is_taken_again(owner, method, work, monkeypatch):
    before = ng.get_flags("path")
    for path in ("default", "reference"):
        plan_cache.forget()
        ng.set_flags(path=path)
        monkeypatch.setattr(owner, method, refuse)
        try:
            if path == "default":
                with pytest.raises(AssertionError, match="a short way"):
                    repeat(work)
            else:
                repeat(work)
        finally:
            ng.set_flags(**before)


def repeat(name):
    for _ in range(4):
        WORK[name]()


@pytest.mark.short_ways
def test_blocks_and_threads_stay_on_it(reference):
    with ng.no_grad():
        assert not mode.direct
    assert not mode.direct
    found = []
    thread = threading.Thread(target=lambda: found.append(mode.direct))
    thread.start()
    thread.join()
    assert found == [False]
    ng.set_flags(path="default")
    assert mode.direct
    assert not other_modes


def test_another_word_is_refused():
    with pytest.raises(ValueError, match="must be one of default, reference"):
        ng.set_flags(path="slow")
