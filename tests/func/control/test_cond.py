"""Gradients of a choice by value: those of the chosen branch, whatever the other one has."""

import itertools

import numpy as np
import pytest

import numgrad as ng

F = ng.func
POINTS = [np.array([-1.0, 2.0, 0.0]), np.array([1.0, 0.5, 2.0])]


def operand(x, w):
    return ng.cond(x[0] > 0, lambda w: ng.sqrt(w).sum(), lambda w: (w * w * w).sum(), w)


def closure(x, w):
    return ng.cond(x[0] > 0, lambda: ng.sqrt(w).sum(), lambda: (w * w * w).sum())


def closure_over_what_is_computed(x, w):
    u, v = w * w - 3.0, ng.exp(w)
    return ng.cond(x[0] > 0, lambda: (ng.log(u + 4) * v).sum(), lambda: (u * u / v).sum()) + u.sum()


def both(x, w):
    y = x * w
    return ng.cond(x[0] > 0, lambda a: (ng.sqrt(a) * ng.log(w)).sum(), lambda a: (a * w).sum(), y)


def nested(x, w):
    def inner():
        return ng.cond(x[1] > 1, lambda: ng.log(w).sum(), lambda: (w**-0.5).sum())

    return ng.cond(x[0] > 0, inner, lambda: (w * w).sum())


def nested_on_the_other_side(x, w):
    u = w * 1.5
    return ng.cond(
        x[0] > 0,
        lambda: (u * w).sum(),
        lambda: ng.cond(x[1] > 3, lambda: ng.log(u).sum(), lambda: ng.sin(u * w).sum()),
    )


def containers(x, w):
    made = ng.cond(
        x[0] > 0,
        lambda: {"a": ng.sqrt(w), "b": (w, None)},
        lambda: {"a": w[::-1] * 2.0, "b": (w * w, None)},
    )
    return (made["a"] * made["b"][0]).sum()


def unchanged(x, w):
    return (ng.cond(x[0] > 0, lambda: w, lambda: w * w) * w).sum()


def derivative_inside(x, w):
    slope = lambda: F.grad(lambda v: (ng.sqrt(v) * w * v).sum())(w)  # noqa: E731
    return ng.cond(x[0] > 0, lambda: slope().sum(), lambda: (w * w).sum())


def written_inside(x, w):
    def write():
        y = ng.zeros(3)
        y[:2] = ng.sqrt(w[:2])
        y += w
        return (y * y).sum()

    return ng.cond(x[0] > 0, write, lambda: w.sum())


class Root(ng.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return ng.sqrt(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 0.5 / ng.sqrt(x)


def own_function(x, w):
    return ng.cond(x[0] > 0, lambda: Root.apply(w).sum(), lambda: (w * w).sum())


def captured_inside(x, w):
    root = ng.jit(lambda v: (ng.sqrt(v) * w).sum())
    return ng.cond(x[0] > 0, lambda: root(w), lambda: (w * w).sum())


def leaf_inside(x, w):
    def inside():
        leaf = ng.tensor([4.0, 1.0, 9.0], requires_grad=True)
        (slope,) = ng.grad((ng.sqrt(leaf) * ng.sqrt(w)).sum(), leaf, create_graph=True)
        return (slope * w).sum()

    return ng.cond(x[0] > 0, inside, lambda: (w * w).sum())


FUNCTIONS = [
    operand, closure, closure_over_what_is_computed, both, nested, nested_on_the_other_side,
    containers, unchanged, derivative_inside, written_inside, own_function, captured_inside,
    leaf_inside,
]  # fmt: skip
WAYS = {
    "grad": lambda f: F.grad(f, 1),
    "jit of grad": lambda f: ng.jit(F.grad(f, 1)),
    "grad of jit": lambda f: F.grad(ng.jit(f), 1),
    "jit of grad of jit": lambda f: ng.jit(F.grad(ng.jit(f), 1)),
    "jit of jacfwd": lambda f: ng.jit(F.jacfwd(f, 1)),
}
SECOND = {
    "hessian": lambda f: F.hessian(f, 1),
    "jit of hessian": lambda f: ng.jit(F.hessian(f, 1)),
    "hessian of jit": lambda f: F.hessian(ng.jit(f), 1),
    "jit of jacrev of grad": lambda f: ng.jit(F.jacrev(F.grad(f, 1), 1)),
    "jit of jacfwd of grad": lambda f: ng.jit(F.jacfwd(F.grad(f, 1), 1)),
    "grad in jit in grad": lambda f: F.jacrev(ng.jit(F.grad(ng.jit(f), 1)), 1),
}


def places(function):
    """Points for both branches, with numbers where the branch that is not chosen has no derivative
    or none that is finite."""
    good = np.array([0.5, 1.5, 0.25])
    bad = np.array([-0.5, 0.0, 2.0])
    yield POINTS[1], good
    yield POINTS[1] + 1.0, good
    yield POINTS[0], good
    yield POINTS[0], bad if function not in (both, containers) else good


def chosen(function, x):
    """The function with Python's own choice."""

    def plain(x, w):
        before = ng.cond
        try:
            ng.cond = lambda p, f, g, *given: f(*given) if bool(p) else g(*given)
            return function(x, w)
        finally:
            ng.cond = before

    return plain


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("ways", "order"), [(WAYS, 1), (SECOND, 2)], ids=["first", "second"])
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_gradients_of_operands_and_closures(function, ways, order):
    for name, way in ways.items():
        captured = way(function)
        for x, w in places(function):
            plain = chosen(function, x)
            expected = (F.grad if order == 1 else F.hessian)(plain, 1)(ng.tensor(x), w).numpy()
            assert np.isfinite(expected).all()
            np.testing.assert_allclose(captured(x, w), expected, 1e-12, 1e-13, err_msg=name)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_of_leaves_and_batches(function):
    captured = ng.jit(function)
    weights = np.array([1.0, -2.0])
    for x, w in places(function):
        plain = chosen(function, x)
        expected = F.grad(plain, 1)(ng.tensor(x), ng.tensor(w)).numpy()
        leaf = ng.tensor(w, requires_grad=True)
        value = captured(ng.tensor(x), leaf)
        (batch,) = ng.grad(value, leaf, weights, is_grads_batched=True, create_graph=True)
        np.testing.assert_allclose(batch.detach().numpy(), np.outer(weights, expected), 1e-12)
        hessian = F.hessian(plain, 1)(ng.tensor(x), ng.tensor(w)).numpy()
        (second,) = ng.grad(batch[1].sum(), leaf)
        np.testing.assert_allclose(second.numpy(), -2.0 * hessian.sum(0), 1e-12, 1e-13)


def test_leaves_that_a_branch_closes_over():
    for sign, flag in itertools.product((-1.0, 1.0), (False, True)):
        w = ng.tensor([-0.25, 4.0] if sign < 0 else [0.25, 4.0], requires_grad=True)
        function = ng.jit(lambda s, w=w: ng.cond(s > 0, lambda: ng.sqrt(w).sum(), lambda: w.sum()))
        s = ng.tensor(sign) if flag else np.array(sign)
        expected = np.ones(2) if sign < 0 else 0.5 / np.sqrt([0.25, 4.0])
        (g,) = ng.grad(ng.asarray(function(s)), w)
        np.testing.assert_allclose(g.numpy(), expected)


def test_branches_of_the_members_of_an_ensemble():
    def member(x, w):
        return F.grad(lambda w: ng.cond(x > 0, lambda: ng.sqrt(w).sum(), lambda: w.sum()))(w)

    x, w = np.array([-1.0, 1.0]), np.array([[-1.0, 4.0], [1.0, 4.0]])
    expected = [[1.0, 1.0], [0.5, 0.25]]
    np.testing.assert_array_equal(ng.jit(member, ensemble=True)(x, w), expected)


def test_what_members_of_an_ensemble_share_must_be_an_operand():
    shared = ng.tensor([-1.0, 4.0], requires_grad=True)

    def member(x):
        y = ng.cond(x[0] > 0, lambda: ng.sqrt(shared).sum(), lambda: shared.sum())
        return ng.grad(y, shared)[0]

    with pytest.raises(ng.errors.CaptureError, match="operand"):
        ng.jit(member, ensemble=True)(np.ones((3, 1)))


def written(use):
    """Return a function that reads a view whose base was written after it was made."""

    def function(x, c):
        base = np.copy(x)
        view = base[1:]
        base *= 2.0
        base[2] = 0.5 * x[0]
        return ng.sum(use(view, c > 0) * view)

    return function


@pytest.mark.parametrize(
    "use",
    [
        lambda v, c: ng.cond(c, lambda u: u, lambda u: u * 3.0, v),
        lambda v, c: ng.cond(c, lambda u: u * 2.0, lambda u: u, v),
        lambda v, c: ng.cond(c, lambda: v * 2.0, lambda: v * 3.0),
        lambda v, c: ng.cond(c, lambda: v, lambda: v),
        lambda v, c: ng.cond(c, lambda: ng.cond(c, lambda: v, lambda: v * 2.0), lambda: v**2),
        lambda v, c: ng.cond(c, lambda: v, lambda: v * 2.0) * ng.cond(~c, lambda: v, lambda: -v),
    ],
)
@pytest.mark.parametrize("c", [-1.0, 1.0])
def test_a_view_whose_base_was_written_is_read_in_both_branches(use, c):
    x = np.array([0.5, -1.5, 2.0])
    function = written(use)
    expected = F.grad(function)(x, ng.tensor(c))
    assert np.all(expected[:2])
    for slope in (F.grad(function), F.grad(ng.jit(function))):
        np.testing.assert_array_equal(ng.jit(slope)(x, ng.tensor(c)), expected)


@pytest.mark.parametrize("second", [
    lambda f: ng.func.grad(ng.func.grad(f)),
    lambda f: ng.func.hessian(f),
    lambda f: ng.func.jacfwd(ng.func.grad(f)),
    lambda f: ng.jit(ng.func.grad(ng.func.grad(f))),
])  # fmt: skip
def test_second_derivatives_reach_what_a_branch_of_a_captured_function_closes_over(second):
    def function(x):
        captured = ng.jit(lambda y: ng.cond(y > 0, lambda: np.sin(x * y), lambda: y * x * x))
        return captured(np.array(2.0)) + captured(np.array(-3.0))

    found = second(function)(np.array(1.4))
    np.testing.assert_allclose(found, -4 * np.sin(2.8) - 6, rtol=1e-13)


def test_a_choice_that_reads_what_is_known_may_stand_in_a_captured_hessian():
    def function(x):  # x is known while the Hessian is captured, so the choice computes it
        def inner(w):
            captured = ng.func.hessian(
                lambda y: np.square(ng.cond(np.real(x), lambda u: u * y, lambda u: u, w))
            )
            return ng.jit(captured)(0.99)

        return ng.func.grad(inner)(x * 1.0)

    value, slope = F.jvp(function, (np.array(1.2),), (np.array(1.0),))
    np.testing.assert_allclose([value, slope], [4 * 1.2, 4.0], rtol=1e-14)


@pytest.mark.parametrize("outer", [
    lambda f: F.grad(f), lambda f: lambda x: F.jvp(f, (x,), (np.array(1.0),))[1],
    lambda f: F.jacrev(f), lambda f: ng.jit(F.grad(f)),
])  # fmt: skip
@pytest.mark.parametrize("choice", [
    lambda y, x: ng.cond(y > 0, lambda u: u * u * y, lambda u: u, x),
    lambda y, x: ng.cond(y > 0, lambda u: x * x * u, lambda u: u, y),
    lambda y, x: ng.cond(y > 0, lambda: x * x * y, lambda: y),
])  # fmt: skip
def test_a_captured_gradient_of_a_choice_depends_on_what_is_outside(choice, outer):
    def slope(x):
        return ng.jit(F.grad(lambda y: choice(y, x)))(np.array(0.8))

    def value(x):
        captured = ng.jit(F.grad(lambda y: (y * y, choice(y, x)), has_aux=True))
        return captured(np.array(0.8))[1]

    x = np.array(0.5)
    np.testing.assert_allclose(outer(slope)(x), 2 * 0.5, rtol=1e-14)
    np.testing.assert_allclose(outer(outer(slope))(x), 2.0, rtol=1e-14)
    np.testing.assert_allclose(outer(value)(x), 2 * 0.5 * 0.8, rtol=1e-14)


@pytest.mark.parametrize("number", [1.5, 2, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_number_of_python_takes_the_dtype_of_the_other_result(number, dtype):
    @ng.jit
    def function(x, n):
        return ng.cond(x[0] > 0, lambda u: u[1] * u[1], lambda u: n, x)

    for sign, expected in ((1, 9.0), (-1, float(number))):
        x = np.array([sign, 3.0], dtype)
        result = function(x, number)
        assert (result, result.dtype) == (expected, dtype)
    slope = F.grad(lambda x: function(x, number))(np.array([-1.0, 3.0]))
    np.testing.assert_array_equal(slope, [0.0, 0.0])
    with pytest.raises(ng.errors.ArgTypeError, match="different arrays: float"):
        function(np.ones(2, np.float32), np.float64(1.0))
