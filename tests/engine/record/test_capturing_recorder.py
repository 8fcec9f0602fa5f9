"""Recorders of captured operations and of rules: what Python makes, and owned alike."""

import gc
import sys

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.engine.derivatives import rules
from numgrad.engine.graph.value import Expr
from numgrad.engine.record import deferred

X = np.linspace(0.5, 1.5, 6).reshape(3, 2)


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Captured operations and rules get their recorder at the second use."""
    monkeypatch.setattr(deferred, "_OFTEN", 2)
    monkeypatch.setattr(rules, "_OFTEN", 2)
    ng.set_flags()
    yield
    ng.set_flags()


def written(x):
    y = x * 1.0
    y[0] += 1.0
    return y


def written_view(x):
    y = x * 1.0
    part = y[1:]
    y *= 2.0
    return part


OPERATIONS = [
    lambda x, y: x * y,
    lambda x, y: x * x,
    lambda x, y: x * y.detach(),
    lambda x, y: x.detach() * y,
    lambda x, y: x / 3.0,
    lambda x, y: 3 - y,
    lambda x, y: -0.0 * y,
    lambda x, y: -x,
    lambda x, y: ng.exp(x),
    lambda x, y: ng.tanh(x[0]),
    lambda x, y: x > y,
    lambda x, y: ng.maximum(x, y),
    lambda x, y: x[1:] * y[1:],
    lambda x, y: x[0] * y,
    lambda x, y: x[1, 1] * 2.0,
    lambda x, y: x[1, 1],
    lambda x, y: ng.where(x > 1.0, x, y),
    lambda x, y: ng.stack([x, y]),
    lambda x, y: x @ y.T,
    lambda x, y: x.T @ y[:, 0],
    lambda x, y: x.sum(0),
    lambda x, y: written(x) * y,
    lambda x, y: x * written(y),
    lambda x, y: ng.sin(written(x)),
    lambda x, y: ng.sin(written(x)[1:]),
    lambda x, y: ng.sin(written_view(x)),
    lambda x, y: written_view(x) * written_view(y),
    lambda x, y: x * ng.asarray(X),
    lambda x, y: x * X,
]


def shown_expr(expr, depth=3):
    """Return all of an expression but its number, and those of what it reads."""
    inputs = [shown_value(x, depth - 1) for x in expr.inputs] if depth else []
    token = expr.token is not None
    return (expr.operator, expr.static, inputs, expr.specs, str(expr.site), expr.kind, token)


def shown_value(value, depth=3):
    """Return what tells a value or expression from others, without its storage."""
    if type(value) is Expr:
        return shown_expr(value, depth)
    if value.array is not None:
        return value.spec, value.array.tobytes(), value.requires_grad
    return value.spec, shown_expr(value.expr, depth), value.expr_slot, type(value._view)


def shown_node(node, depth=3):
    """Return all of a node but its number."""
    if node is None or not depth:
        return node is None
    parents = [shown_node(parent, depth - 1) for parent in node.parents]
    saved = [value if value is None else shown_value(value) for value in node.saved]
    versions = node.versions[: len(node.saved)]
    return node.operator, node.static, parents, node.slots, saved, versions, str(node.site)


@pytest.mark.short_ways
@pytest.mark.parametrize("operate", OPERATIONS)
def test_what_is_made_is_what_python_makes(operate, monkeypatch):
    found = []

    def function(x, y):
        result = [operate(x, y) for _ in range(4)][3]
        found.append((shown_value(result), shown_node(result.node), result.requires_grad))
        return ng.sum(result * 1.0)

    def run():
        ng.jit(ng.func.grad(lambda x, y: function(x, y), (0, 1)))(X, X + 1.0)

    run()
    monkeypatch.setattr(deferred, "capturing_recorder_of", lambda *_: None)
    ng.set_flags()
    run()
    assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize("operate", OPERATIONS)
def test_gradients_are_those_of_eager_code(operate):
    def function(x, y):
        total = 0.0
        for n in range(4):
            total = total + (operate(x, y) * (n + 1.0)).sum() * ng.sin(x).sum()
        return total

    eager = ng.func.value_and_grad(function, (0, 1))
    once = ng.jit(ng.func.value_and_grad(function, (0, 1)))
    twice = ng.func.grad(lambda x: (ng.func.grad(function)(x, ng.asarray(X + 1.0)) * X).sum())
    (value, grads), (wanted, expected) = once(X, X + 1.0), eager(X, X + 1.0)
    assert value == wanted
    assert [g.tobytes() for g in grads] == [g.tobytes() for g in expected]
    assert np.allclose(ng.jit(twice)(X), twice(X), rtol=1e-13)


@pytest.mark.short_ways
def test_recorders_are_used(monkeypatch):
    def f(x):
        for _ in range(6):
            x = ng.sin(x) * 0.5 + x * x
        return x.sum()

    used = []
    maker_of = rules.rule_recorder_of
    monkeypatch.setattr(rules, "rule_recorder_of", lambda rule: used.append(1) or maker_of(rule))
    expected = ng.func.grad(f)(X)
    assert np.array_equal(ng.jit(ng.func.grad(f))(X), expected)
    assert used
    kinds = [kind for kind in registry["multiply"].kinds.values() if hasattr(kind, "captured")]
    assert any(callable(each) for kind in kinds for each in (kind.captured or {}).values())


def test_modes_are_respected():
    def f(x):
        for _ in range(4):
            with ng.no_grad():
                assert not (x * x).requires_grad
                assert (x * x).node is None
            assert (x * x).requires_grad
        return (x * x).sum()

    assert np.array_equal(ng.jit(ng.func.grad(f))(X), 2 * X)


def test_arrays_of_others_are_noted():
    """A tensor from outside gets a guard, also where its operation has a recorder."""
    outside = ng.tensor(X)

    @ng.jit
    def f(x):
        for _ in range(5):
            x = x * outside
        return x

    before = f(X)
    with ng.no_grad():
        outside *= 2.0
    assert np.array_equal(f(X), before * 32.0)


@pytest.mark.parametrize("checkpoint", [None, 1])
def test_steps_of_loops_know_what_they_close_over(checkpoint):
    """A step notes operands that are still to be computed, too: here the parameter of a captured
    function, which the step closes over."""

    def f(p):
        q = ng.sin(p) * 2.0

        def step(x, _):
            for _ in range(5):
                x = ng.sin(x * q) + q * 0.5
            return x, None

        return ng.scan(step, p * 1.0, None, 4, checkpoint=checkpoint)[0].sum()

    def unrolled(p):
        q, x = ng.sin(p) * 2.0, p * 1.0
        for _ in range(20):
            x = ng.sin(x * q) + q * 0.5
        return x.sum()

    found = [ng.jit(ng.func.grad(f))(X) for _ in range(3)]
    assert np.allclose(found, ng.func.grad(unrolled)(X), rtol=1e-12)


def test_references_are_counted():
    constants = [None, True, False, 0, (), deferred.runtime.value, registry["sin"]]

    def f(x):
        for _ in range(200):
            x = ng.sin(x) * 0.5 + x * x - ng.tanh(x)
        return x.sum()

    def run():
        ng.jit(ng.func.value_and_grad(lambda x: f(x)))(X)
        gc.collect()

    run()
    run()
    kinds = [k for k in registry["sin"].kinds.values() if hasattr(k, "captured")]
    things = [*constants, *kinds, *[k.spec for k in kinds], f.__code__]
    before = [sys.getrefcount(thing) for thing in things]
    for _ in range(3):
        run()
    after = [sys.getrefcount(thing) for thing in things]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 100


def test_stacks_are_kept_where_they_are_asked_for():
    def f(x):
        for _ in range(4):
            y = x * x
            assert "test_stacks_are_kept" in y.node.stack
        return y.sum()

    ng.set_flags(call_stack_level=3)
    try:
        ng.jit(ng.func.grad(f))(X)
    finally:
        ng.set_flags(call_stack_level=1)
