"""Recorded passes that are met again give what the first one gave, derivatives included."""

import threading

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.replay import plan_cache
from numgrad.engine.replay.recorded_plan import RecordedPlan

X = np.array([0.5, 1.25, 2.0, 0.75])
W = np.array([[1.0, -0.5, 0.25, 2.0], [0.5, 1.5, -1.0, 0.75], [0.1, 0.2, 0.3, 0.4]])

FUNCTIONS = {
    "polynomial": lambda x: (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum(),
    "functions": lambda x: (ng.exp(-x) * ng.sin(x * x) / (1.0 + x)).sum() + ng.log(x[0]) ** 3,
    "elements": lambda x: x[0] * x[1] ** 2 - ng.tanh(x[2] * x[3]) * x[0],
    "a layer": lambda x: (ng.tanh(ng.asarray(W) @ x) ** 2).sum(),
    "an outer product": lambda x: ((x[:, None] - x[None]) ** 2 * x).sum(),
    "the same twice": lambda x: (x * x).sum() * (x * x).sum(),
    "a norm": lambda x: ng.linalg.norm(x) ** 3,
    "pieces": lambda x: (ng.concat([x[:2], x[1:]]) * ng.stack([*x[:3], x[3], x[0]])).prod(),
    "by index": lambda x: (x[[0, 0, 2]] ** 3).sum() + ng.where(x > 1.0, x**2, x).sum(),
    "an einsum": lambda x: ng.einsum("i,ij,j->", x[:3], ng.asarray(W), x) ** 2,
    "powers": lambda x: (x**x).sum() + (2.0**x).sum() + (x**-1.5).sum(),
    "extrema": lambda x: ng.max(x) ** 2 * ng.min(x) + ng.maximum(x, 1.0).sum() * x[0],
    "cumulated": lambda x: (ng.cumsum(x) ** 2).sum() * ng.var(x),
    "a user's operator": lambda x: squashed(x).sum() ** 2,
}  # fmt: skip


@ng.elementwise
def squashed(x):
    return x / (1.0 + x * x)


@squashed.partial("x")
def _(x):
    return (1.0 - x * x) / ((1.0 + x * x) * (1.0 + x * x))


@pytest.fixture(autouse=True)
def no_tapes():
    plan_cache.forget()
    yield
    plan_cache.forget()


def tapes():
    return [known for known in plan_cache._known.values() if type(known) is RecordedPlan]


def derivatives(function, x, v, order=3):
    """Return gradients of gradients times a vector, up to an order."""
    leaf = ng.tensor(x, requires_grad=True)
    value, found = function(leaf), []
    for _ in range(order):
        (gradient,) = ng.grad(value, leaf, create_graph=True, materialize_grads=True)
        found.append(gradient.detach().numpy())
        value = (gradient * v).sum()
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_passes_give_the_same_bits(name):
    function = FUNCTIONS[name]
    points = [X, X + 0.25, X * 0.5, X, X + 1.0]
    direction = np.array([1.0, -2.0, 0.5, 1.5])
    fresh = []
    for x in points:
        plan_cache.forget()
        ng.set_flags(threads=0)  # and so everything else that was learned
        fresh.append(derivatives(function, x, direction))
    for _ in range(3):
        for x, expected in zip(points, fresh, strict=True):
            for a, b in zip(derivatives(function, x, direction), expected, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.short_ways
@pytest.mark.parametrize("name", FUNCTIONS)
def test_there_is_a_tape(name):
    for _ in range(3):
        derivatives(FUNCTIONS[name], X, X)
    assert tapes()


def test_an_operator_of_the_user_in_a_derivative_says_where_it_raises():
    @ng.elementwise
    def checked(x):
        if x < 0.0:
            raise ValueError("negative")
        return x * x

    @checked.partial("x")
    def _(x):
        return 2.0 * checked(abs(x) + 0.0)

    for _ in range(3):
        leaf = ng.tensor(X, requires_grad=True)
        ng.grad(checked(leaf).sum(), leaf, create_graph=True)
    assert not any(step.operator is checked for t in tapes() for step in t.steps)


def gradients_of(leaf, w, seed=None):
    y = (ng.sin(leaf * w) * leaf)[:3]
    return ng.grad(y, [leaf, w], X[:3] if seed is None else seed, create_graph=True)


def test_seeds_that_require_grad():
    found = []
    for _ in range(4):
        leaf, w = ng.tensor(X, requires_grad=True), ng.tensor(X + 1.0, requires_grad=True)
        seed = ng.tensor(X[:3], requires_grad=True)
        first, _ = gradients_of(leaf, w, seed)
        found.append(ng.grad((first**2).sum(), [leaf, w, seed]))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_seeds_in_another_order_of_memory():
    seeds = [X[:3], np.repeat(X[:3], 2)[::2], X[2::-1], X[:3].copy()]
    for seed in seeds * 3:
        leaf, w = ng.tensor(X, requires_grad=True), ng.tensor(X + 1.0, requires_grad=True)
        found = gradients_of(leaf, w, seed)
        plan_cache.forget()
        expected = gradients_of(leaf, w, np.ascontiguousarray(seed))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a.detach(), b.detach())


def passes(count=3):
    """Make a tape for `polynomial`; return another graph of it."""
    for _ in range(count):
        leaf = ng.tensor(X, requires_grad=True)
        value = FUNCTIONS["polynomial"](leaf)
        ng.grad(value, leaf, create_graph=True)
    assert tapes()
    leaf = ng.tensor(X, requires_grad=True)
    middle = leaf * 1.0
    return leaf, middle, FUNCTIONS["polynomial"](leaf)


def test_a_result_may_be_written():
    for _ in range(5):
        leaf = ng.tensor(X, requires_grad=True)
        (gradient,) = ng.grad((leaf * 3.0).sum(), leaf, create_graph=True)
        np.testing.assert_array_equal(gradient.detach(), np.full(4, 3.0))
        gradient.detach()[...] = 0.0


@pytest.mark.short_ways
def test_a_graph_that_was_freed_says_so():
    leaf, _, value = passes()
    ng.grad(value, leaf, create_graph=True, retain_graph=False)
    with pytest.raises(ng.errors.FreedGraphError):
        ng.grad(value, leaf, create_graph=True)


def test_a_saved_value_that_was_written_keeps_what_it_was():
    expected = derivatives(lambda x: (x * x * x).sum(), X, X, 1)[0]
    for _ in range(4):
        leaf = ng.tensor(X, requires_grad=True)
        y = leaf * 1.0
        value = (y * y * y).sum()
        y[...] = 0.0
        (gradient,) = ng.grad(value, leaf, create_graph=True)
        np.testing.assert_array_equal(gradient.detach(), expected)


@pytest.mark.short_ways
def test_hooks_run_that_come_later():
    leaf, _, value = passes()
    leaf.register_hook(lambda g: g * 2.0)
    doubled = ng.grad(value, leaf, create_graph=True)[0].detach()
    np.testing.assert_array_equal(doubled, 2.0 * derivatives(FUNCTIONS["polynomial"], X, X, 1)[0])


def test_several_targets_and_missing_ones():
    for _ in range(4):
        a, b, c = (ng.tensor(X + k, requires_grad=True) for k in range(3))
        found = ng.grad((a * b).sum() ** 2, [b, a, c], create_graph=True, allow_unused=True)
        total = (X * (X + 1.0)).sum()
        np.testing.assert_allclose(found[0].detach(), 2 * total * X)
        np.testing.assert_allclose(found[1].detach(), 2 * total * (X + 1.0))
        assert found[2] is None
        (second,) = ng.grad(found[0].sum(), b, allow_unused=True)
        np.testing.assert_allclose(second, 2 * X * X.sum())


def test_backward_accumulates_what_was_recorded():
    for count in range(4):
        leaf = ng.tensor(X, requires_grad=True)
        for _ in range(count):
            ng.backward(FUNCTIONS["elements"](leaf), create_graph=True)
        if count:
            assert leaf.grad.requires_grad
            expected = derivatives(FUNCTIONS["elements"], X, X, 1)[0]
            np.testing.assert_allclose(leaf.grad.detach(), count * expected, rtol=1e-15)


def test_threads_take_the_same_tape():
    expected = derivatives(FUNCTIONS["functions"], X, X)
    found = []

    def work():
        for _ in range(20):
            found.append(derivatives(FUNCTIONS["functions"], X, X))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 60
    for other in found:
        for a, b in zip(expected, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_transforms_inside_of_others():
    F = ng.func
    function = FUNCTIONS["polynomial"]
    expected = F.hessian(function)(X)
    for _ in range(4):
        np.testing.assert_allclose(F.jacrev(F.grad(function))(X), expected, rtol=1e-13)
        np.testing.assert_allclose(F.jacfwd(F.grad(function))(X), expected, rtol=1e-13)
        third = F.grad(lambda x: (F.hvp(function, (x,), (X,))[1][0] ** 2).sum())(X)
        products = [F.hvp(function, (X + 1e-6 * e,), (X,))[1][0] for e in np.eye(4)]
        base = F.hvp(function, (X,), (X,))[1][0]
        differences = [2 * base @ (p - base) / 1e-6 for p in products]
        np.testing.assert_allclose(third, differences, rtol=1e-3)
