"""Passes that are recorded and compute at once give the same numbers as those by programs."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.differentiate import backward, method
from tests.user_functions import Square

X = np.array([[0.5, 1.5, 2.0], [0.25, 3.0, 0.75]])
W = np.array([[1.0, -2.0], [0.5, 0.25], [3.0, 1.0]])
FUNCTIONS = {
    "product": lambda x: (x * x).sum(),
    "identity": lambda x: x.sum(),
    "mixed kinds": lambda x: (2 * x**3 + np.ones(3) * x - np.float32(1.5)).mean(),
    "matrices": lambda x: np.tanh(x @ W).sum(),
    "broadcast": lambda x: (x[:, None] - x[None]).sum(),
    "reductions": lambda x: ng.logsumexp(x, 0).sum() + np.linalg.norm(x) + x.max() + np.std(x),
    "parts": lambda x: (x[0] * x[1]).sum() + x[0, 1] * x[1, 2] + x[:, ::-1].prod(),
    "shapes": lambda x: ng.concat([x.T.reshape(2, 3), x]).cumsum(1)[1:].sum(),
    "many uses": lambda x: (np.sin(x) * x + np.exp(x) / x - np.where(x > 1, x, x * x)).sum(),
    "written": lambda x: written(x).sum(),
    "complex": lambda x: np.abs(np.exp(1j * x) * x + 1).sum(),
    "cast": lambda x: (x.astype(np.float32) * x).sum(),
}


def written(x):
    y = x * 1.0
    y[0] *= x[1]
    return y * y


def derivatives(function, x):
    """Return the gradient, and those of two functions of it."""
    (g,) = ng.grad(function(x), x, create_graph=True)
    seed = ng.ones_like(g)
    found = [g]
    if g.requires_grad:
        (gg,) = ng.grad(g, x, seed, create_graph=True, materialize_grads=True)
        found += [gg, *ng.grad((g * g).sum(), x, retain_graph=True, materialize_grads=True)]
        if gg.requires_grad:
            found += ng.grad(gg.sum(), x, materialize_grads=True)
    return [a.detach().numpy() for a in found]


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_numbers_have_the_bits_of_programs(function, monkeypatch):
    x = ng.tensor(X, requires_grad=True)
    at_once = derivatives(function, x)
    monkeypatch.setattr(method, "is_computable", lambda *args: False)
    by_programs = derivatives(function, x)
    assert len(at_once) == len(by_programs)
    for a, b in zip(at_once, by_programs, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_first_pass_over_a_graph_has_the_bits_of_later_ones(function):
    ng.set_flags()
    x = ng.tensor(X, requires_grad=True)
    first, *later = [ng.grad(function(x), x)[0].tolist() for _ in range(4)]
    for again in later:
        assert again == first


def test_an_index_that_differs_makes_no_program(monkeypatch):
    made = []
    force = backward.force
    monkeypatch.setattr(backward, "force", lambda v, b: (made.extend(v), force(v, b)))
    x = ng.tensor(np.arange(200.0), requires_grad=True)
    for i in range(100):
        g = ng.grad(x[i] * x[i] + x[i : i + 2].sum() * x[-i], x)[0].numpy()
        expected = np.zeros(200)
        expected[i] += 2.0 * i
        expected[i : i + 2] += x[-i].item()
        expected[-i] += 2 * i + 1
        np.testing.assert_array_equal(g, expected)
    assert [value for value in made if value.array is None] == []


def test_gradients_accumulate_in_arrays_of_their_own():
    x = ng.tensor(X, requires_grad=True)
    y = np.exp(x)
    before = y.detach().numpy().copy()
    y.sum().backward(retain_graph=True)
    assert not np.shares_memory(x.grad.numpy(), y.detach().numpy())
    y.sum().backward()
    np.testing.assert_array_equal(x.grad, 2 * before)
    np.testing.assert_array_equal(y.detach(), before)


def test_no_program_is_made(monkeypatch):
    made = []
    force = backward.force
    monkeypatch.setattr(backward, "force", lambda v, b: (made.extend(v), force(v, b)))
    x = ng.tensor(X, requires_grad=True)
    ng.grad(FUNCTIONS["many uses"](x), x, create_graph=True)
    assert [value for value in made if value.array is None] == []


@pytest.mark.parametrize("function", [
    lambda x: x.sum(), lambda x: (x * x).sum(), lambda x: x * 1.0, lambda x: np.exp(x),
    lambda x: +x, lambda x: x.reshape(6), lambda x: x.T, lambda x: x * x.detach(),
    lambda x: ng.maximum(x, 0.0),
])  # fmt: skip
def test_a_gradient_shares_memory_with_nothing(function):
    x = ng.tensor(X, requires_grad=True)
    z = x * 2.0
    y = function(z)
    seed = ng.ones_like(y)
    gz, gx = ng.grad(y, (z, x), seed, create_graph=True)
    others = [x, z, y, seed]
    arrays = [a.detach().numpy() for a in (gz, gx)]
    assert not np.shares_memory(*arrays)
    for other in others:
        for array in arrays:
            assert not np.shares_memory(array, other.detach().numpy())
    with ng.no_grad():
        gx[...] = 7.0
    assert ng.grad(y, x, seed)[0].tolist() == (2.0 * gz.detach().numpy()).tolist()


def test_hooks_see_numbers_in_a_recorded_pass():
    x = ng.tensor(X, requires_grad=True)
    y, seen = x * x, []
    y.register_hook(lambda g: seen.append(g.detach().numpy().copy()))
    (g,) = ng.grad(np.sin(y).sum(), x, create_graph=True)
    np.testing.assert_allclose(seen[0], np.cos(X * X), rtol=1e-15)
    np.testing.assert_allclose(g.detach(), 2 * X * np.cos(X * X), rtol=1e-15)


def test_what_is_not_computed_yet_is_no_reason_to_fail():
    def function(x):
        captured = ng.jit(lambda y: ng.cond(y, lambda u: np.sin(y), lambda u: u, x))
        return ng.func.jacrev(captured)(x)

    value, product = ng.func.hvp(function, (np.array(1.2),), (np.array(1.0),))
    np.testing.assert_allclose([value, product[0]], [np.cos(1.2), -np.cos(1.2)], rtol=1e-14)


def watched(function, x, seen):
    """Return gradients of a function with hooks of every sort on the way."""
    middle = Square.apply(x)
    middle.register_hook(lambda g: seen.append(g.numpy().copy()))
    other = ng.exp(middle * 0.1)
    other.register_hook(lambda g: g * 1.5)
    other.retain_grad()
    other.grad_fn.register_prehook(lambda gs: (gs[0] * 2.0,))
    y = function(other) + function(middle)
    y.grad_fn.register_hook(lambda given, arrived: seen.append(arrived[0].numpy().copy()))
    results = ng.grad(y, [x, other, middle], retain_graph=True)
    y.backward()
    return [*results, x.grad, other.grad]


@pytest.mark.parametrize("name", ["product", "broadcast", "reductions", "shapes", "many uses"])
def test_numbers_with_hooks_have_the_bits_of_programs(name, monkeypatch):
    found = []
    for at_once in (True, False):
        if not at_once:
            monkeypatch.setattr(method, "is_computable", lambda *args: False)
        seen, leaf = [], ng.tensor(X, requires_grad=True)
        leaf.register_hook(lambda g, seen=seen: seen.append(g.numpy().copy()))
        grads = watched(lambda x: FUNCTIONS[name](x).sum(), leaf, seen)
        found.append([*seen, *(g.numpy() for g in grads)])
    assert len(found[0]) == len(found[1]) == 11
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_gradients_with_hooks_have_arrays_of_their_own():
    x, kept = ng.tensor(X, requires_grad=True), []

    def replace(g):
        kept.append(g * 3.0)
        return kept[0]

    y = x * 1.0
    y.register_hook(replace)
    g, h = ng.grad((y + 1.0).sum(), [x, y])
    before = kept[0].numpy().copy()
    g[...] = 7.0
    h[...] = 8.0
    np.testing.assert_array_equal(kept[0].numpy(), before)


def test_sums_of_infinite_gradients_warn_nobody():
    x = ng.tensor([0.0, 1.0], requires_grad=True)
    with np.errstate(all="raise"):
        (g,) = ng.grad((ng.sqrt(x) - ng.sqrt(x) * 1.0).sum(), x)
        _, along = ng.func.jvp(lambda x: ng.sqrt(x) - ng.sqrt(x) * 1.0, (x,), (ng.ones(2),))
    assert np.isnan(g.numpy()[0])
    assert np.isnan(along.detach().numpy()[0])
