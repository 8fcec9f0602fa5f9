"""Transforms inside captured functions: what they take from outside, and what they give."""

import numpy as np
import pytest
from numba import njit

import numgrad as ng
from numgrad import func
from numgrad.errors import CaptureError, NotDifferentiableError

X = np.array([0.4, 0.7, 1.1])


def cube(x):
    return x**3


def total(x):
    return (x**3).sum()


# Arrays that are given to a transform are read as they are at each call ---------------------------

READERS = {
    "grad": lambda x, v: func.grad(total)(v) * x,
    "grad of a list": lambda x, v: func.grad(lambda given: total(given[0]))([v])[0] * x,
    "grad of a dict": lambda x, v: func.grad(lambda given: total(given["a"]))({"a": v})["a"] * x,
    "value_and_grad": lambda x, v: func.value_and_grad(total)(v)[0] * x,
    "vjp": lambda x, v: func.vjp(cube, v)[1](x)[0],
    "cotangent of vjp": lambda x, v: func.vjp(cube, x)[1](v)[0],
    "jvp": lambda x, v: func.jvp(cube, (v,), (x,))[1],
    "tangent of jvp": lambda x, v: func.jvp(cube, (x,), (v,))[1],
    "hvp": lambda x, v: func.hvp(total, (v,), (x,))[1][0],
    "vector of hvp": lambda x, v: func.hvp(total, (x,), (v,))[1][0],
    "jacrev": lambda x, v: func.jacrev(cube)(v) @ x,
    "jacfwd": lambda x, v: func.jacfwd(cube)(v) @ x,
    "hessian": lambda x, v: func.hessian(total)(v) @ x,
    "a captured gradient": lambda x, v: ng.jit(func.grad(total))(v) * x,
    "what a function returns": lambda x, v: func.vjp(lambda z: v, x)[0] * x,
    "auxiliary": lambda x, v: func.grad(lambda z: (total(z), v), has_aux=True)(x)[1] * x,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_closed_over_arrays_are_read_anew(name):
    v = np.array([1.0, 2.0, 3.0])
    captured = ng.jit(lambda x: READERS[name](x, v))
    slope = ng.jit(func.grad(lambda x: READERS[name](x, v).sum()))
    for _ in range(3):
        expected = READERS[name](ng.tensor(X), v.copy())
        np.testing.assert_allclose(captured(X), np.asarray(expected), rtol=1e-14)
        now = v.copy()
        outside = func.grad(lambda x, now=now: READERS[name](x, now).sum())(X)
        np.testing.assert_allclose(slope(X), outside, rtol=1e-14)
        v *= 2.0


# Given arrays, transforms return arrays at each call ----------------------------------------------


def own_leaf(x):
    leaf = ng.tensor(3.0, requires_grad=True)
    return ng.grad(leaf * leaf * x[0], leaf, create_graph=True)[0]


INNER = {
    "grad": lambda x: func.grad(lambda z: z * z * x[0])(3.0),
    "value_and_grad": lambda x: func.value_and_grad(lambda z: z * z * x[0])(3.0)[1],
    "vjp": lambda x: func.vjp(lambda z: z * z * x[0], 3.0)[1](1.0)[0],
    "jvp": lambda x: func.jvp(lambda z: z * z * x[0], (3.0,), (1.0,))[1],
    "jacrev": lambda x: func.jacrev(lambda z: z * z * x)(3.0).sum(),
    "hessian": lambda x: func.hessian(lambda z: z * z * x[0])(3.0),
    "own leaf": own_leaf,
}
OUTER = {
    "grad": lambda f: func.grad(lambda x: f(x).sum())(X),
    "value_and_grad": lambda f: func.value_and_grad(lambda x: f(x).sum())(X)[1],
    "jacrev": lambda f: func.jacrev(f)(X),
    "jacfwd": lambda f: func.jacfwd(f)(X),
    "hessian": lambda f: func.hessian(lambda x: f(x).sum())(X),
    "jvp": lambda f: func.jvp(f, (X,), (X,))[1],
    "vjp": lambda f: func.vjp(f, X)[1](X)[0],
    "hvp": lambda f: func.hvp(lambda x: f(x).sum(), (X,), (X,))[1][0],
}


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_what_a_captured_function_makes_is_not_outside(outer, inner):
    def function(x):
        return INNER[inner](x) * x

    captured, expected = ng.jit(function), OUTER[outer](function)
    for _ in range(3):
        found = OUTER[outer](captured)
        assert type(found) is np.ndarray
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_what_leads_outside_still_does():
    w = ng.tensor(2.0, requires_grad=True)
    captured = ng.jit(lambda x: func.grad(lambda z: z * z * w * x[0])(3.0) * x)
    for _ in range(3):
        found = func.grad(lambda x: captured(x).sum())(X)
        assert isinstance(found, ng.Tensor)
        assert found.requires_grad
        expected = 6.0 * (X.sum() + 3 * X[0])
        np.testing.assert_allclose(ng.grad(found.sum(), w)[0].numpy(), expected)


# A kernel without a second derivative -------------------------------------------------------------


@ng.operator("(n)->()")
@njit
def energy(x, out):
    out[0] = 0.0
    for i in range(x.size):
        out[0] += x[i] ** 4


@energy.backward
@njit
def energy_backward(g, x, out, gx):
    for i in range(x.size):
        gx[i] = 4.0 * g * x[i] ** 3


def test_first_derivatives_of_captured_kernels_without_second_ones():
    captured = ng.jit(lambda x: energy(x) ** 2)
    expected = 8.0 * (X**4).sum() * X**3
    x = ng.tensor(X, requires_grad=True)
    for _ in range(3):
        np.testing.assert_allclose(ng.grad(captured(x), x)[0].numpy(), expected)
        np.testing.assert_allclose(func.grad(captured)(X), expected)
        np.testing.assert_allclose(func.jacrev(captured)(X), expected)
        np.testing.assert_allclose(ng.jit(func.grad(captured))(X), expected)


@ng.operator("(n)->(n)")
@njit
def squares(x, out):
    for i in range(x.size):
        out[i] = x[i] * x[i]


@squares.backward
@njit
def squares_backward(g, x, out, gx):
    for i in range(x.size):
        gx[i] = 2.0 * x[i] * g[i]


def around_squares(x):
    return ng.sin(squares(ng.exp(x))) * x + squares(x)


@pytest.mark.parametrize("function", [squares, around_squares])
@pytest.mark.host_only("compares bits, and functions have others on a device")
def test_jacobians_of_captured_kernels_without_second_derivatives(function):
    captured, expected = ng.jit(function), func.jacrev(function)(X)
    x = ng.tensor(X, requires_grad=True)
    for _ in range(3):
        np.testing.assert_array_equal(func.jacrev(captured)(X), expected)
        rows = ng.grad(captured(x), x, np.eye(3), is_grads_batched=True)[0]
        np.testing.assert_array_equal(rows.numpy(), expected)
        np.testing.assert_allclose(ng.jit(func.jacrev(captured))(X), expected, rtol=1e-14)
        np.testing.assert_allclose(func.vjp(captured, X)[1](X)[0], X @ expected, rtol=1e-14)


def test_what_it_closes_over_has_first_derivatives_too():
    theta = ng.tensor(X, requires_grad=True)
    captured = ng.jit(lambda x: (energy(theta) * x).sum())
    for _ in range(2):
        found = ng.grad(captured(X), theta)[0].numpy()
        np.testing.assert_allclose(found, 4.0 * X.sum() * X**3)


def test_second_derivatives_of_captured_kernels_are_refused_as_outside():
    captured, x = ng.jit(lambda x: energy(x) ** 2), ng.tensor(X, requires_grad=True)
    ng.grad(captured(x), x)  # the derivative that is known by then is no help
    for function in (captured, lambda x: energy(x) ** 2):
        with pytest.raises(NotDifferentiableError, match="energy_backward"):
            ng.grad(function(x), x, create_graph=True)
        with pytest.raises(NotDifferentiableError, match="energy_backward"):
            func.hessian(function)(X)
    np.testing.assert_allclose(ng.grad(captured(x), x)[0].numpy(), 8.0 * (X**4).sum() * X**3)


# Text ---------------------------------------------------------------------------------------------

WRITTEN = {
    "str": str, "format": lambda a: f"{a}", "percent": lambda a: "%s" % a,  # noqa: UP031
    "in a list": lambda a: str([a]), "repr": repr, "a product": lambda a: str(2 * a),
}  # fmt: skip


@pytest.mark.parametrize("number", [0.5, 1 + 1j])
@pytest.mark.parametrize("name", WRITTEN)
def test_the_text_of_a_late_number_is_refused(name, number):
    with pytest.raises(CaptureError, match=r"static_argnums|value of a tensor"):
        ng.jit(lambda x, a: len(WRITTEN[name](a)) * x)(X, number)
    static = ng.jit(lambda x, a: len(WRITTEN[name](a)) * x, static_argnums=1)
    np.testing.assert_array_equal(static(X, number), len(WRITTEN[name](number)) * X)


@pytest.mark.parametrize("written", [str, lambda a: f"{a}"])
def test_the_text_of_a_late_element_is_refused(written):
    with pytest.raises(CaptureError):
        ng.jit(lambda x: len(written(x[0])) * x)(X)
    assert ng.jit(lambda x: len(repr(x)) * x)(X).shape == X.shape  # to look at while debugging
