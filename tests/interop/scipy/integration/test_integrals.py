"""Integrals as functions of limits and parameters, against closed forms."""

import math

import numpy as np
import pytest
from scipy import integrate, special

import numgrad as ng
from numgrad.errors import (
    ConvergenceError,
    DetachedError,
    InplaceError,
    NotDifferentiableError,
)

from ..differences import agree

quad = ng.interop.scipy.quad
ORDERS = [
    ng.func.grad,
    ng.func.jacfwd,
    ng.func.hessian,
    lambda f: ng.func.jacrev(ng.func.hessian(f)),
]


def same_derivatives(f, exact, point, tolerance=1e-10):
    point = np.array(point)
    agree(f(point), exact(point), tolerance)
    for derivative in ORDERS:
        agree(derivative(f)(point), derivative(exact)(point), tolerance)


def decay(v):
    rate, a, b = v
    return (np.exp(-rate * a) - np.exp(-rate * b)) / rate


@pytest.mark.parametrize(
    "integral",
    [
        lambda p, a, b: quad(lambda x, p: np.exp(-p * x), a, b, args=(p,)),
        lambda p, a, b: quad(lambda x, p: np.exp(-p * x), a, b, (p,), jit=False),
        lambda p, a, b: quad(lambda x: np.exp(-p * x), a, b),
        lambda p, a, b: quad(lambda x, q: np.exp(-p * q * x / p), a, b, args=p),
        lambda p, a, b: quad(lambda x, q: np.exp(-q["p"][0] * x), a, b, args=({"p": [p]},)),
    ],
    ids=["args", "eager", "closed over", "both", "containers"],
)
def test_limits_and_parameters(integral):
    same_derivatives(lambda v: integral(*v)[0], decay, [1.3, 0.2, 1.7])
    same_derivatives(lambda v: integral(*v)[0], decay, [1.3, 1.7, 0.2])


def test_a_limit_that_the_function_closes_over():
    # the integral of p**2 q x from 0 to p, where p and q are the same
    f = lambda v: quad(lambda x, q: v[0] * q * x * v[0], 0.0, v[0], args=(v[0],))[0]  # noqa: E731
    same_derivatives(f, lambda v: v[0] ** 5 / 2.0, [1.3])


def test_infinite_limits_weights_points_and_singularities():
    moments = lambda v: quad(lambda x: np.exp(-v[0] * x * x), -np.inf, np.inf)[0]  # noqa: E731
    same_derivatives(moments, lambda v: np.sqrt(np.pi / v[0]), [0.7])
    tail = lambda v: quad(lambda x: np.exp(-v[0] * x), v[1], np.inf)[0]  # noqa: E731
    same_derivatives(tail, lambda v: np.exp(-v[0] * v[1]) / v[0], [0.7, 0.3])
    power = lambda v: quad(lambda x, p: x**p, 0.0, 1.0, args=(v[0],))[0]  # noqa: E731
    same_derivatives(power, lambda v: 1.0 / (v[0] + 1.0), [0.5], 1e-9)
    kink = lambda v: quad(lambda x: abs(x - 0.5) ** v[0], 0.0, 2.0, points=[0.5])[0]  # noqa: E731
    exact = lambda v: (0.5 ** (v[0] + 1) + 1.5 ** (v[0] + 1)) / (v[0] + 1)  # noqa: E731
    same_derivatives(kink, exact, [1.5], 1e-9)

    def wave(v):  # of exp(-p x) cos(3 x)
        return quad(lambda x: np.exp(-v[0] * x), 0.0, v[1], weight="cos", wvar=3.0)[0]

    def exact_wave(v):
        p, b = v
        whole = np.exp(-p * b) * (3.0 * np.sin(3.0 * b) - p * np.cos(3.0 * b)) + p
        return whole / (p * p + 9.0)

    same_derivatives(wave, exact_wave, [0.4, 1.9])

    def algebraic(v):
        options = {"weight": "alg", "wvar": (0.5, 0.0), "epsabs": 1e-12, "epsrel": 1e-12}
        return quad(lambda x: x ** v[0], 0.0, 1.0, **options)[0]

    same_derivatives(algebraic, lambda v: 1.0 / (v[0] + 1.5), [1.0])


def test_arrays_of_parameters_and_batches_of_cotangents():
    c = np.array([[0.3, -0.2], [0.5, 1.0]])
    x, w = special.roots_legendre(8)
    f = lambda x, c: (c * np.array([[1.0, x], [x**2, x**3]])).sum() ** 2  # noqa: E731
    total = lambda c: quad(f, -1.0, 1.0, args=(c,))[0]  # noqa: E731
    exact = lambda c: sum(wk * f(xk, c) for xk, wk in zip(x, w, strict=True))  # noqa: E731
    agree(ng.func.grad(total)(c), ng.func.grad(exact)(c), 1e-12)
    agree(ng.func.hessian(total)(c), ng.func.hessian(exact)(c), 1e-12)
    t = ng.tensor(c, requires_grad=True)
    y = total(t)
    (rows,) = ng.grad(y, t, np.array([1.0, -2.0]), retain_graph=True, is_grads_batched=True)
    (one,) = ng.grad(y, t)
    assert np.array_equal(rows.numpy(), np.stack([one.numpy(), -2.0 * one.numpy()]))


def test_tensors_that_some_points_alone_read():
    p, q = (ng.tensor(x, requires_grad=True) for x in (2.0, [1.0, 3.0]))
    f = lambda x: p * math.exp(-x) if x < 1.0 else q[0] * q[1] * x  # noqa: E731
    y, _ = quad(f, 0.0, 2.0, points=[1.0])
    gp, gq = ng.grad(y, [p, q])
    agree(gp, 1.0 - math.exp(-1.0), 1e-12)
    agree(gq, [4.5, 1.5], 1e-12)


def test_results_are_those_of_scipy():
    f = lambda x, a: np.exp(-a * x)  # noqa: E731
    assert quad(f, 0.0, 1.0, args=(2.0,)) == integrate.quad(f, 0.0, 1.0, args=(2.0,))
    found = quad(f, 0.0, 1.0, (ng.tensor(2.0),), full_output=1)
    expected = integrate.quad(f, 0.0, 1.0, (2.0,), full_output=1)
    assert isinstance(found[0], ng.Tensor)
    assert found[0].item() == expected[0]
    assert found[1] == expected[1]
    assert found[2].keys() == expected[2].keys()
    with ng.no_grad():
        t = ng.tensor(2.0, requires_grad=True)
        assert not quad(f, 0.0, t, (t,))[0].requires_grad
    rotating = quad(lambda x: np.exp(1j * x), 0.0, 1.0, complex_func=True)[0]
    assert rotating == integrate.quad(lambda x: np.exp(1j * x), 0.0, 1.0, complex_func=True)[0]


def test_what_is_refused():
    p = ng.tensor(2.0, requires_grad=True)
    with pytest.raises(NotDifferentiableError, match="no gradient flows to epsabs"):
        quad(lambda x: x, 0.0, 1.0, epsabs=p)
    with pytest.raises(NotDifferentiableError, match="complex_func"):
        quad(lambda x: np.exp(1j * p * x), 0.0, 1.0, complex_func=True)
    y, _ = quad(lambda x: x, 0.0, p, weight="alg", wvar=(0.5, 0.0))
    with pytest.raises(NotDifferentiableError, match="weight='alg'"):
        ng.grad(y, p)
    y, _ = quad(lambda x: p * x**-0.5, 0.0, 1.0)
    agree(ng.grad(y, p)[0], 2.0, 1e-10)
    q = ng.tensor(-1.0 + 1e-9, requires_grad=True)  # x**q log(x) has an integral of 1e18
    with pytest.warns(integrate.IntegrationWarning):
        y, _ = quad(lambda x: x**q, 0.0, 1.0)
    with pytest.raises(ConvergenceError, match="the integral of the derivative"):
        ng.grad(y, q)


def test_what_is_written_before_the_backward_pass():
    p, scale = ng.tensor(2.0, requires_grad=True), np.array(3.0)
    y, _ = quad(lambda x: p * scale * x, 0.0, 1.0)
    scale *= 2.0
    with pytest.raises(InplaceError, match="quad: the function has changed"):
        ng.grad(y, p)
    box = [p]
    y, _ = quad(lambda x: box[0] * x, 0.0, 1.0)
    box[0] = ng.tensor(2.0, requires_grad=True)
    with pytest.raises(DetachedError, match="another one by now"):
        ng.grad(y, p)
