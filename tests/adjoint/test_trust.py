"""What is said about derived adjoints: arguments that are only compared, and differences."""

import warnings

import numpy as np
import pytest

import numgrad as ng
from numgrad._adjoint import Derived, derive, type_of


@ng.njit
def bisected(p, a):
    low, high = 0.0, 2.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        if middle * middle > p:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high) * a


@ng.njit
def cubes(x, scale):
    s = 0.0
    for i in range(len(x)):
        s += scale * x[i] ** 3
    return s


def test_argument_that_is_only_compared_warns_once_with_its_line():
    with pytest.warns(UserWarning, match=r"test_trust.py, line 17: bisected only compares p"):
        gradient = ng.func.grad(bisected)(0.5, 3.0)
    assert gradient == 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ng.func.grad(bisected)(0.7, 3.0)
        np.testing.assert_allclose(ng.func.grad(bisected, argnums=1)(0.5, 3.0), 0.5**0.5)


def test_arguments_that_are_computed_with_do_not_warn():
    assert derive(cubes, [type_of(np.zeros(2)), type_of(1.0)]).compared_only == []


def test_debug_mode_compares_with_a_difference(monkeypatch):
    ng.set_flags(debug=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            x = np.array([1.0, -2.0])
            np.testing.assert_allclose(ng.func.grad(cubes)(x, 2.0), 6 * x**2)
        compiled = Derived._compiled

        def wrong(self, source):
            return compiled(self, source.replace("* 3", "* 2").replace("3 *", "2 *"))

        monkeypatch.setattr(Derived, "_compiled", wrong)
        with pytest.warns(UserWarning, match="derivative of cubes .* is off by"):
            ng.func.grad(cubes, argnums=(0, 1))(x, 2.0)
    finally:
        ng.set_flags(debug=False)
