"""Integrals of values at points: numbers of SciPy, gradients to values and to points."""

import numpy as np
import pytest
from scipy import integrate

import numgrad as ng

from ..differences import agree, derivative

scipy = ng.interop.scipy
RNG = np.random.default_rng(3)


def test_rules_have_the_values_of_scipy():
    for n in (2, 3, 6, 7):
        y, x = RNG.normal(size=(2, n, 3)), np.cumsum(RNG.uniform(0.2, 1.0, n))
        for rule in ("simpson", "cumulative_trapezoid"):
            ours, theirs = getattr(scipy, rule), getattr(integrate, rule)
            full = np.broadcast_to(x[:, None], y.shape)
            for given in ({}, {"dx": 0.3}, {"x": x}, {"x": full}):
                found = ours(y, axis=1, **given)
                np.testing.assert_allclose(found, theirs(y, axis=1, **given), rtol=1e-12)
        start = scipy.cumulative_trapezoid(y, x, axis=1, initial=0)
        expected = integrate.cumulative_trapezoid(y, x, axis=1, initial=0)
        np.testing.assert_allclose(start, expected, rtol=1e-12)
    same = np.array([0.0, 0.0, 1.0, 2.0, 2.0])  # points that are the same
    assert scipy.simpson(same, same) == integrate.simpson(same, same)


def test_gradients_to_values_and_points():
    x = np.cumsum(RNG.uniform(0.2, 1.0, 6))
    for rule in (scipy.simpson, lambda y, x: scipy.cumulative_trapezoid(y, x)[-2]):
        f = lambda v, rule=rule: rule(v[:6] ** 2, v[6:])  # noqa: E731
        v = np.concatenate([np.sin(x), x])
        agree(ng.func.grad(f)(v), derivative(f, v), 1e-9)
        agree(ng.func.hessian(f)(v), derivative(ng.func.grad(f), v), 1e-8)


def test_rule_of_romberg():
    y = RNG.normal(size=(2, 9))
    np.testing.assert_allclose(scipy.romb(y, 0.3), integrate.romb(y, 0.3), rtol=1e-12)
    f = lambda v: scipy.romb(v[:9] ** 2, v[9])  # noqa: E731
    v = np.append(y[0], 0.3)
    agree(ng.func.grad(f)(v), derivative(f, v), 1e-9)
    agree(ng.func.hessian(f)(v), derivative(ng.func.grad(f), v), 1e-8)
    for count in (1, 4):
        with pytest.raises(ValueError, match="romb: y must have"):
            scipy.romb(np.ones(count))
