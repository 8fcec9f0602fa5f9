"""Derivatives inside of captured functions, and of captured functions."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._tensor import Tensor

X = np.array([0.3, 0.7, 1.1, 1.3])


def scalar(x):
    return (ng.sin(x) * x[::-1] ** 2 + ng.exp(-x)).sum()


def vector(x):
    return ng.stack([ng.tanh(x).sum() * x[0], x[1] * x[2], (x * x).sum(), x[3]])


INSIDE = {
    "grad": lambda x: ng.func.grad(scalar)(x),
    "value_and_grad": lambda x: ng.func.value_and_grad(scalar)(x),
    "jacobian": lambda x: ng.func.jacobian(vector)(x),
    "jacrev": lambda x: ng.func.jacrev(vector)(x),
    "jacrev in chunks": lambda x: ng.func.jacrev(vector, chunk_size=3)(x),
    "jacfwd": lambda x: ng.func.jacfwd(vector)(x),
    "hessian": lambda x: ng.func.hessian(scalar)(x),
    "third": lambda x: ng.func.jacrev(ng.func.hessian(scalar))(x),
    "hvp": lambda x: ng.func.hvp(scalar, (x,), (x * 2,)),
    "jvp": lambda x: ng.func.jvp(vector, (x,), (ng.cos(x),)),
    "vjp": lambda x: ng.func.vjp(vector, x)[1](x),
    "jacobian times vector": lambda x: ng.func.jacobian(vector)(x) @ vector(x),
    "two batches": lambda x: ng.func.jacobian(vector)(x[:]) + ng.func.hessian(scalar)(x * 2).sum(),
    "jacobian of jacobian": lambda x: ng.func.jacrev(
        lambda x: ng.func.jacrev(vector)(x) @ x, chunk_size=2
    )(x),
    "three batches": lambda x: (
        ng.func.jacrev(lambda x: vector(x)[:3])(x).sum()
        + ng.func.jacrev(lambda x: vector(x)[:2])(ng.func.jacrev(vector)(x)[0]).sum()
    ),
}


def leaves(result):
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    return [result.detach().numpy() if isinstance(result, Tensor) else result]


@pytest.mark.parametrize("name", INSIDE)
def test_derivatives_inside(name):
    function = INSIDE[name]
    jitted = ng.jit(function)
    for x in (X, X[::-1] * 1.5):
        for given in (x, ng.tensor(x)):
            for found, expected in zip(
                leaves(jitted(given)), leaves(function(ng.tensor(x))), strict=True
            ):
                np.testing.assert_allclose(found, expected, 1e-13, 1e-15)


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "hessian", "jacrev", "jacfwd", "hvp"])
def test_derivatives_inside_have_the_same_bits(name):
    function = INSIDE[name]
    for found, expected in zip(leaves(ng.jit(function)(X)), leaves(function(X)), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_engine_grad_inside():
    @ng.jit
    def function(x):
        leaf = x.clone().requires_grad_()
        y = leaf * ng.sin(leaf)
        (g,) = ng.grad(y.sum(), leaf, create_graph=True)
        (h,) = ng.grad(g.sum(), leaf)
        seeds = ng.stack([x, 2 * x])  # seeds that are known later
        (rows,) = ng.grad(leaf * leaf, leaf, seeds, is_grads_batched=True)
        return y, g, h, rows

    y, g, h, rows = function(X)
    np.testing.assert_allclose(y, X * np.sin(X), 1e-15)
    np.testing.assert_allclose(g, np.sin(X) + X * np.cos(X), 1e-14)
    np.testing.assert_allclose(h, 2 * np.cos(X) - X * np.sin(X), 1e-14)
    np.testing.assert_allclose(rows, [2 * X * X, 4 * X * X], 1e-15)


def test_a_seed_returned_and_written_is_no_alias():
    @ng.jit
    def function(x, seed):
        leaf = x.clone().requires_grad_()
        (g,) = ng.grad(leaf * 1.0, leaf, seed)
        (same,) = ng.grad(leaf, leaf, seed)
        same[0] = 7.0
        return g, same, seed

    g, same, seed = function(X, X * 2)
    np.testing.assert_array_equal(g, 2 * X)
    np.testing.assert_array_equal(seed, 2 * X)
    np.testing.assert_array_equal(same, [7.0, *2 * X[1:]])


# Derivatives of a replay --------------------------------------------------------------------------


def derivatives(function, x):
    leaf = ng.tensor(x, requires_grad=True)
    y = function(leaf)
    (g,) = ng.grad(y, leaf, create_graph=True)
    (h,) = ng.grad((g * g).sum(), leaf, create_graph=True)
    (t,) = ng.grad(h.sum(), leaf)
    return [value.detach().numpy() for value in (y, g, h, t)]


def test_first_second_and_third_derivative_of_a_replay():
    jitted = ng.jit(scalar)
    for x in (X, 2 * X, X):
        for found, expected in zip(derivatives(jitted, x), derivatives(scalar, x), strict=True):
            np.testing.assert_allclose(found, expected, 1e-12)


def test_a_batched_pass_over_a_replay():
    x = ng.tensor(X, requires_grad=True)
    seeds = np.random.default_rng(0).random((5, 4))
    found = ng.grad(ng.jit(vector)(x), x, seeds, is_grads_batched=True)[0]
    expected = ng.grad(vector(x), x, seeds, is_grads_batched=True)[0]
    np.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-14)
    np.testing.assert_allclose(
        ng.func.hessian(ng.jit(scalar))(X), ng.func.hessian(scalar)(X), 1e-12, 1e-13
    )


def test_a_batched_pass_over_a_replay_with_a_batched_pass_inside():
    function = ng.jit(lambda x: ng.func.jacobian(vector)(x) @ x)
    plain = lambda x: ng.func.jacobian(vector)(x) @ x  # noqa: E731
    np.testing.assert_allclose(
        ng.func.jacobian(function)(X), ng.func.jacobian(plain)(X), 1e-12, 1e-13
    )


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.host_only("compares bits, and functions have others on a device")
def test_a_batched_gradient_that_another_one_is_made_of(create_graph):
    def both(x, y):
        x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
        z = ng.sin(x - ng.pad(y[1:], (1, 0), "edge"))
        return ng.grad(z, [x, y], np.eye(4), create_graph=create_graph, is_grads_batched=True)

    pairs = zip(ng.jit(both)(X, 2 * X), both(ng.tensor(X), ng.tensor(2 * X)), strict=True)
    for found, expected in pairs:
        np.testing.assert_array_equal(found, expected.detach().numpy())


def test_several_results_and_unused_arguments():
    def function(x, y, n):
        return {"a": x * y, "b": y.detach() * 2, "n": n + 1, "unused": (x * 0).detach()}

    jitted = ng.jit(function)
    x, y = (ng.tensor(a, requires_grad=True) for a in (X, 2 * X))
    n, unused = np.arange(3), ng.tensor(X, requires_grad=True)
    result = jitted(x, y, n)
    flags = {name: t.requires_grad for name, t in result.items()}
    assert flags == {"a": True, "b": False, "n": False, "unused": False}
    gx, gy, gu = ng.grad(result["a"].sum(), [x, y, unused], allow_unused=True)
    np.testing.assert_array_equal(gx.numpy(), 2 * X)
    np.testing.assert_array_equal(gy.numpy(), X)
    assert gu is None


def test_detach_and_no_grad_inside_hold_for_every_order():
    jitted = ng.jit(lambda x: (x * x.detach() * x).sum())
    x = ng.tensor(X, requires_grad=True)
    (g,) = ng.grad(jitted(x), x, create_graph=True)
    np.testing.assert_allclose(g.detach().numpy(), 2 * X * X, 1e-15)
    np.testing.assert_allclose(ng.grad(g.sum(), x)[0].numpy(), 2 * X, 1e-15)


def test_a_graph_that_the_function_has_freed():
    @ng.jit
    def function(x):
        y = (x * x).sum()
        (g,) = ng.grad(y, x)
        return y, g

    x = ng.tensor(X, requires_grad=True)
    y, g = function(x)
    np.testing.assert_array_equal(g.numpy(), 2 * X)
    with pytest.raises(ng.errors.FreedGraphError):
        ng.grad(y, x)


def test_a_replay_is_freed_like_any_operation():
    x = ng.tensor(X, requires_grad=True)
    y = ng.jit(scalar)(x)
    ng.grad(y, x)
    with pytest.raises(ng.errors.FreedGraphError):
        ng.grad(y, x)


def test_complex_arguments():
    z = X + 1j * X[::-1]
    function = lambda z: (z * z.conj() * ng.exp(z)).real.sum()  # noqa: E731
    a, b = ng.tensor(z, requires_grad=True), ng.tensor(z, requires_grad=True)
    found, expected = ng.grad(ng.jit(function)(a), a)[0], ng.grad(function(b), b)[0]
    np.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-14)


# A choice by value --------------------------------------------------------------------------------


def choice(x):
    return ng.cond(x.sum() > 3.5, lambda x: ng.sin(x).sum(), lambda x: (x**3).sum(), x)


def test_cond():
    jitted, slope = ng.jit(choice), ng.jit(ng.func.grad(choice))
    for x in (X, 2 * X):
        np.testing.assert_array_equal(jitted(x), choice(ng.tensor(x)).numpy())
        np.testing.assert_array_equal(slope(x), ng.func.grad(choice)(x))
        np.testing.assert_allclose(
            ng.jit(ng.func.hessian(choice))(x), ng.func.hessian(choice)(x), 1e-14
        )


def test_cond_calls_one_function_outside_of_a_capture():
    def never(x):
        raise AssertionError

    assert ng.cond(True, lambda x: x + 1, never, 1) == 2
    assert ng.cond(ng.tensor([False]), never, lambda x: x, 3) == 3


def test_the_branch_that_is_not_chosen_gives_no_nan():
    function = lambda x: ng.cond(x[0] > 0, lambda x: ng.sqrt(x).sum(), lambda x: x.sum(), x)  # noqa: E731
    x = np.array([-1.0, -2.0, 0.0])
    np.testing.assert_array_equal(ng.jit(ng.func.grad(function))(x), np.ones(3))
    x = ng.tensor(x, requires_grad=True)
    (g,) = ng.grad(ng.jit(function)(x), x, create_graph=True)
    np.testing.assert_array_equal(ng.grad(g.sum(), x)[0].numpy(), np.zeros(3))


def test_cond_with_containers():
    jitted = ng.jit(
        lambda p, x: ng.cond(p > 0, lambda d: {"y": d["x"] * 2, "n": None}, dict_of, {"x": x})
    )
    np.testing.assert_array_equal(jitted(1.0, X)["y"], 2 * X)
    np.testing.assert_array_equal(jitted(-1.0, X)["y"], X)


def dict_of(d):
    return {"y": d["x"] * 1, "n": None}


@pytest.mark.parametrize(
    "other",
    [lambda x: (x, x), lambda x: x[1:], lambda x: x.astype(np.float32)],
    ids=["structure", "shape", "dtype"],
)
def test_cond_needs_equal_results(other):
    with pytest.raises(ng.errors.ArgTypeError, match="cond"):
        ng.jit(lambda x: ng.cond(x[0] > 0, lambda x: x, other, x))(X)
    with pytest.raises(ng.errors.ArgTypeError, match="one element"):
        ng.jit(lambda x: ng.cond(x > 0, lambda x: x, lambda x: x, x))(X)
    with pytest.raises(ng.errors.ArgTypeError, match="function"):
        ng.cond(True, 1, other)


def test_a_branch_may_not_write_outside_of_itself():
    def function(x):
        y = ng.zeros(4)

        def write(x):
            y[0] = 1.0
            return x

        return ng.cond(x[0] > 0, write, lambda x: x, x) + y

    with pytest.raises(ng.errors.CaptureError, match="outside"):
        ng.jit(function)(X)

    def own(x):
        y = x.clone()
        y[0] = 7.0
        return y

    jitted = ng.jit(lambda x: ng.cond(x[1] > 0, own, lambda x: x, x) * 1)
    np.testing.assert_array_equal(jitted(X), [7.0, *X[1:]])
    np.testing.assert_array_equal(jitted(-X), -X)


def test_a_gradient_that_a_captured_function_writes_into_is_its_own():
    def function(x):
        h = x * 2.0
        gx, gh = ng.grad((ng.sin(h) * h).sum(), [x, h])
        gh += 100.0
        return gx, gh

    h = 2.0 * X
    slope = np.sin(h) + h * np.cos(h)
    gx, gh = ng.jit(function)(ng.tensor(X, requires_grad=True))
    np.testing.assert_allclose(gx.numpy(), 2.0 * slope, 1e-13)
    np.testing.assert_allclose(gh.numpy(), slope + 100.0, 1e-13)


def test_a_view_whose_base_was_written_is_detached_as_it_is_now():
    def late(x):
        y = x.clone()
        view = y.reshape(2, 2)
        y -= 1.25
        seeds = y.reshape(2, 2)
        y *= 2.0
        z = x[:2].clone().requires_grad_()
        return view.detach(), *ng.grad(z * z, z, seeds, is_grads_batched=True)

    point = np.arange(4.0)
    for found, expected in zip(ng.jit(late)(point), late(ng.tensor(point)), strict=True):
        np.testing.assert_array_equal(found, expected.numpy())


def test_a_write_without_graph_leaves_views_where_they_are_in_it():
    def second(x):
        y = x.clone().requires_grad_()
        base = y / 1.5
        view = base.reshape(-1)
        around = ng.exp(base * 0.1), view + y
        with ng.no_grad():
            view *= 1.5
        total = sum([(v * v).sum() for v in (*around, view * y)])
        (g,) = ng.grad(total, y, create_graph=True)
        return ng.grad((g * g).sum(), y)[0]

    jitted = ng.jit(second)
    for x in np.random.default_rng(3).uniform(0.5, 1.5, (5, 7)):
        np.testing.assert_array_equal(jitted(x), second(ng.tensor(x)).numpy())


def test_a_choice_has_the_same_bits_of_gradients_where_the_operand_has_other_uses():
    def function(x):
        y = x * 3.3
        chosen = ng.cond(x[0] > 0, lambda a: a * a * a, lambda a: (a, ng.sin(a) * a)[1], y)
        return (chosen + y * 1.7 + y * 0.3).sum()

    captured, eager = ng.jit(ng.func.grad(function)), ng.func.grad(function)
    for x in np.random.default_rng(0).normal(size=(20, 9)):
        np.testing.assert_array_equal(captured(x), eager(x))
