"""Writes through masks that are known when a program runs, beside NumPy's."""

import numpy as np
import pytest
import scipy.stats

import numgrad as ng
from numgrad.errors import CaptureError


def number(x):
    y = 2.0 * x
    y[y > 0.5] = 0.25
    return y * y


def result(x):
    y = 2.0 * x
    y[y > 0.5] = x.sum()
    return y * y


def rows(x):
    y = 2.0 * x
    y[x[:, 0] > 0.0] = x[0]
    return y * y


def through_a_view(x):
    y = 2.0 * x
    tail = y[1:]
    tail[tail < 0.0] = x[0, 0]
    return y * y


def integers(x):
    y = ng.zeros(x.shape, dtype=int)
    y[x > 0.0] = 7
    return y * x


def on_one_condition(x):
    y, total = 2.0 * x, x.sum(keepdims=True).reshape(())
    y[total > 0.0] = 0.25
    y[2, x[0, 0] > 0.0] = x[1]
    y[1:, None, x[0, 1] > 0.0] *= 3.0
    total[total < 0.5] = x[0, 0]
    total[total < 2.0] += x[1, 1]
    return y * y + total


@pytest.mark.parametrize(
    "function", [number, result, rows, through_a_view, integers, on_one_condition]
)
def test_what_is_written_through_a_mask_may_be_the_same_everywhere(function):
    x = np.random.default_rng(5).normal(size=(4, 3))
    program = ng.jit(function)
    for point in (x, -x):  # other elements are written
        np.testing.assert_allclose(program(point), function(point), 1e-14)
    np.testing.assert_allclose(ng.func.vmap(function)(np.stack([x, -x]))[1], function(-x), 1e-14)
    gradient = ng.jit(ng.func.grad(lambda x: function(x).sum()))(x)
    steps = 1e-6 * np.eye(x.size).reshape(x.size, *x.shape)
    moved = [float(function(x + step).sum() - function(x - step).sum()) for step in steps]
    np.testing.assert_allclose(gradient, np.reshape(moved, x.shape) / 2e-6, atol=1e-7)


def test_what_is_written_through_a_mask_may_not_be_one_for_each():
    def function(x):
        y = x + 0.0
        y[x > 0.0] = np.arange(2.0)
        return y

    with pytest.raises(CaptureError, match="a boolean mask as an index"):
        ng.jit(function)(np.array([1.0, -1.0, 2.0]))


def test_what_one_condition_selects_may_not_be_a_result():
    with pytest.raises(CaptureError, match="a boolean mask as an index"):
        ng.jit(lambda x: x[x.sum() > 0.0])(np.ones(3))


def test_correlations_by_scipy_are_captured():
    """A mask without axes says there where the correlation is not defined."""

    def correlation(x):
        return scipy.stats.pearsonr(x, np.arange(4.0) ** 2)[0]

    x = np.array([0.1, 0.5, -0.2, 0.9])
    slope = ng.jit(ng.func.grad(correlation))(x)
    moved = [correlation(x + d) - correlation(x - d) for d in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(slope, np.array(moved) / 2e-6, rtol=1e-7)


@pytest.mark.parametrize("wrap", [lambda f: f, ng.jit])
def test_a_number_that_does_not_fit_is_not_written_through_a_mask(wrap):
    def function(x):
        y = ng.zeros(2, dtype=ng.int8)
        y[ng.asarray(x) > 0.0] = 300
        return y

    with pytest.raises(OverflowError):
        wrap(function)(np.array([1.0, -1.0]))
