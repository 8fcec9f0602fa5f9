"""Integrals of several variables and of functions with many results against closed forms, SciPy's
values and differences."""

import numpy as np
import pytest
from scipy import integrate

import numgrad as ng
from numgrad.interop.scipy import dblquad, fixed_quad, nquad, quad_vec, tplquad
from numgrad.testing import gradcheck, gradgradcheck
from tests.sampling import exhaustive


def tensors(*values):
    return [ng.tensor(value, requires_grad=True) for value in values]


def vector(p, b):
    return quad_vec(lambda x, p: ng.exp(-p * x) * ng.sin(x), 0.1, b, args=(p,), epsrel=1e-12)[0]


def closed_over(p, b):
    return quad_vec(lambda x: [ng.exp(-p[0] * x), ng.cos(p[1] * x)], 0.1, b, epsrel=1e-12)[0]


def triangle(p, b):
    """The integral of ``p0 x y`` over ``0 < y < p1 x``, ``0 < x < b``."""
    return dblquad(lambda y, x: p[0] * x * y, 0.0, b, 0.0, lambda x: p[1] * x)[0]


def half_line(p, b):
    """The integral of ``exp(p1 y - p0 x)`` over ``x > b``, ``y < -b``."""
    ranges = [(b, np.inf), (-np.inf, -b)]
    return nquad(lambda x, y, p: ng.exp(-p[0] * x + p[1] * y), ranges, (p,))[0]


@pytest.mark.parametrize(
    "f", [vector, closed_over, triangle, pytest.param(half_line, marks=exhaustive)]
)
def test_derivatives_equal_differences_and_all_modes_agree(f):
    p, b = np.array([1.2, 0.7]), np.array(1.5)
    gradcheck(f, tensors(p, b), rtol=1e-5, atol=1e-7)
    gradgradcheck(f, tensors(p, b), rtol=1e-4, atol=1e-6)
    y = np.asarray(f(p, b))
    np.testing.assert_allclose(np.asarray(ng.jit(f)(p, b)), y, rtol=1e-12)
    mapped = np.asarray(ng.func.vmap(f)(np.stack([p, p[::-1]]), np.stack([b, b / 2])))
    np.testing.assert_allclose(mapped[1], np.asarray(f(p[::-1], b / 2)), rtol=1e-12)
    total = lambda p, b: f(p, b).sum()  # noqa: E731
    eager, captured = ng.func.grad(total)(p, b), ng.jit(ng.func.grad(total))(p, b)
    np.testing.assert_allclose(np.asarray(captured), np.asarray(eager), rtol=1e-7)
    step = np.array([0.3, -0.2])
    _, tangent = ng.func.jvp(lambda p: total(p, b), (p,), (step,))
    np.testing.assert_allclose(float(tangent), np.asarray(eager) @ step, rtol=1e-7)


def test_gradients_equal_closed_forms():
    p, b = tensors([1.2, 0.7], 1.5)
    value = triangle(p, b)  # p0 p1**2 b**4 / 8
    np.testing.assert_allclose(value.item(), 1.2 * 0.7**2 * 1.5**4 / 8, rtol=1e-12)
    gp, gb = (g.numpy() for g in ng.grad(value, [p, b]))
    expected = np.array([0.7**2, 2 * 1.2 * 0.7]) * 1.5**4 / 8
    np.testing.assert_allclose(gp, expected, rtol=1e-12)
    np.testing.assert_allclose(gb, 1.2 * 0.7**2 * 1.5**3 / 2, rtol=1e-12)
    value = half_line(p, b)
    inner = np.array([np.exp(-x * 1.5) / x for x in (1.2, 0.7)])
    np.testing.assert_allclose(value.item(), inner.prod(), rtol=1e-8)
    expected = inner.prod() * -(1.5 + 1.0 / np.array([1.2, 0.7]))
    np.testing.assert_allclose(ng.grad(value, p)[0].numpy(), expected, rtol=1e-7)
    (q,) = tensors(0.8)
    ball, _ = tplquad(lambda z, y, x: z, 0.0, q, 0.0, 1.0, 0.0, lambda x, y: x * q)
    np.testing.assert_allclose(ng.grad(ball, q)[0].item(), 5 * 0.8**4 / 6, rtol=1e-9)


def test_numbers_give_what_scipy_gives():
    f, g = (lambda y, x: np.sin(x * y), 0.0, 1.0, 0.0, 2.0), (np.sqrt, 0.0, 1.0)
    assert dblquad(*f) == integrate.dblquad(*f)
    assert quad_vec(*g) == integrate.quad_vec(*g)
    assert fixed_quad(*g) == integrate.fixed_quad(*g)
    box = [(0.0, 1.0), lambda z: (0.0, z), (0.0, 1.0)]
    assert nquad(lambda *x: sum(x), box) == integrate.nquad(lambda *x: sum(x), box)
    counted = nquad(lambda x: x, [(0.0, 1.0)], full_output=True)
    assert counted == integrate.nquad(lambda x: x, [(0.0, 1.0)], full_output=True)


def test_gauss_rule_equals_that_of_scipy_and_its_derivatives_differences():
    f = lambda a, b, p: fixed_quad(lambda x, p: ng.cos(p * x), a, b, (p,), 7)[0]  # noqa: E731
    expected = integrate.fixed_quad(lambda x: np.cos(1.5 * x), 0.1, 2.0, n=7)[0]
    np.testing.assert_allclose(float(ng.jit(f)(0.1, 2.0, 1.5)), expected, rtol=0, atol=1e-14)
    gradcheck(f, tensors(0.1, 2.0, 1.5))
    gradgradcheck(f, tensors(0.1, 2.0, 1.5))


def test_what_is_not_computed_is_refused_in_words():
    (p,) = tensors(2.0)
    with pytest.raises(ng.errors.NotDifferentiableError, match=r"nquad: .*weight"):
        nquad(lambda x: p * x, [(0.0, 1.0)], opts={"weight": "cos", "wvar": 2.0})
    with pytest.raises(ng.errors.NotDifferentiableError, match=r"nquad: .*opts\[0\]"):
        nquad(lambda x: x, [(0.0, 1.0)], opts={"epsabs": p})
    with pytest.raises(ValueError, match="nquad: ranges must be pairs"):
        nquad(lambda x: p * x, [1.0])
    with pytest.raises(ValueError, match="fixed_quad: b must be a finite number"):
        fixed_quad(lambda x: x, 0.0, np.inf)
    given = np.ones(2)
    held, _ = quad_vec(lambda x: p * x * given, 0.0, 1.0)
    given[0] = 5.0
    with pytest.raises(ng.errors.InplaceError, match="quad_vec: the function has changed"):
        ng.grad(held.sum(), p)
