"""Replays for tensors, containers and arrays in another order, which enter the program directly."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.func.tracing import pytree_entry


@pytest.fixture
def served(monkeypatch):
    """The answers of the short way."""
    answers = []
    call = pytree_entry.PytreeEntry.__call__

    def noted(self, args, kwargs):
        result = call(self, args, kwargs)
        answers.append(result is not pytree_entry.MISSED)
        return result

    monkeypatch.setattr(pytree_entry.PytreeEntry, "__call__", noted)
    return answers


def product(tree):
    return {"p": tree["x"] * tree["y"], "s": [tree["x"] + tree["y"]]}


X, Y = np.linspace(0.0, 1.0, 6), np.linspace(2.0, 3.0, 6)
KINDS = [
    lambda a: a,
    ng.tensor,
    lambda a: ng.tensor(a, requires_grad=True),
    lambda a: np.repeat(a, 2)[::2],
    lambda a: ng.tensor(np.repeat(a, 2))[::2],
    lambda a: a.reshape(2, 3),
    lambda a: np.asfortranarray(a.reshape(2, 3)),
    lambda a: a.astype(np.float32),
]


@pytest.mark.short_ways
def test_containers_and_kinds_in_any_order(served):
    jitted = ng.jit(product)
    rng = np.random.default_rng(0)
    for first, second in rng.integers(0, len(KINDS), (150, 2)):
        x, y = KINDS[first](X), KINDS[second](Y)
        if x.shape != y.shape:
            continue
        for _ in range(2):
            ours, theirs = jitted({"x": x, "y": y}), product({"x": x, "y": y})
            assert type(ours["p"]) is type(theirs["p"])
            assert ours["p"].dtype == theirs["p"].dtype
            if isinstance(theirs["p"], ng.Tensor):
                assert ours["p"].requires_grad == theirs["p"].requires_grad
                ours = {"p": ours["p"].detach().numpy(), "s": [ours["s"][0].detach().numpy()]}
                theirs = {"p": theirs["p"].detach().numpy(), "s": [theirs["s"][0].detach().numpy()]}
            assert np.array_equal(ours["p"], theirs["p"])
            assert np.array_equal(ours["s"][0], theirs["s"][0])
    assert True in served
    assert False in served


@pytest.mark.short_ways
@pytest.mark.host_only("takes the processor's short way")
def test_gradients_flow_through_the_short_way(served):
    jitted = ng.jit(product)
    x, y = ng.tensor(X, requires_grad=True), ng.tensor(Y, requires_grad=True)
    for _ in range(3):
        out = jitted({"x": x, "y": y})
        found = ng.grad((out["p"] * out["s"][0]).sum(), [x, y])
        assert np.allclose(found[0].numpy(), 2 * X * Y + Y * Y)
        assert np.allclose(found[1].numpy(), 2 * X * Y + X * X)
    assert served == [True, True]


def test_grad_mode_and_wishes_are_looked_at(served):
    jitted = ng.jit(lambda x: x * 2.0)
    x = ng.tensor(X, requires_grad=True)
    for _ in range(2):
        assert jitted(x).requires_grad
        with ng.no_grad():
            assert not jitted(x).requires_grad
        assert not jitted(x.detach()).requires_grad


def test_fixed_arguments_and_structures_are_looked_at():
    jitted = ng.jit(lambda xs, n=1: [x * n for x in xs])
    t = ng.tensor([1.0, 2.0])
    for _ in range(2):
        assert jitted([t])[0].tolist() == [1.0, 2.0]
        assert jitted([t], 2)[0].tolist() == [2.0, 4.0]
        assert jitted([t], n=3)[0].tolist() == [3.0, 6.0]
        assert [x.tolist() for x in jitted((t, t))] == [[1.0, 2.0]] * 2
        assert jitted([np.array([1.0])], 2.5)[0].tolist() == [2.5]


def test_what_is_closed_over_is_read_at_each_call():
    table = ng.tensor([1.0, 2.0])
    jitted = ng.jit(lambda x: x * table)
    x = ng.tensor([1.0, 1.0])
    for n in range(3):
        assert jitted(x).tolist() == [1.0 + n, 2.0 + n]
        table += 1.0


def test_inside_of_another_captured_function():
    inner = ng.jit(lambda tree: {"y": tree["x"] * 2.0})
    x = ng.tensor(X)
    for _ in range(3):
        inner({"x": x})
    outer = ng.jit(lambda x: inner({"x": x})["y"] + inner({"x": ng.tensor(X)})["y"])
    for factor in (1.0, 2.0):
        assert np.allclose(outer(ng.tensor(factor * X)).numpy(), 2.0 * factor * X + 2.0 * X)


def test_results_do_not_share_memory():
    jitted = ng.jit(lambda tree: [tree["x"] * 1.0])
    x = ng.tensor(X)
    results = [jitted({"x": x})[0] for _ in range(4)]
    results[3] += 1.0
    assert all(np.array_equal(r.numpy(), X) for r in results[:3])
