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


def paired(x):
    chosen = x[:, 1] > 0.0
    return x[chosen, 0] @ x[chosen, 2] + np.dot(x[chosen, 1], np.exp(x[chosen, 0]))


def counted(x):
    chosen = x[x > 0.0]
    return 2.0 * (chosen > 0.5).any() + 3.0 * (chosen > 0.1).all() + np.count_nonzero(chosen) * x[0]


def changed_in_place(x):
    chosen = x[x > 0.0]
    other = chosen
    chosen += 1.0
    chosen *= x.max()
    return (other * chosen).sum()


def centred(x):
    y = x.copy()
    y[y > 0.0] = y[y > 0.0] - y[y > 0.0].mean()
    y[y[:, 0] > 0.0] /= y[y[:, 0] > 0.0].sum(axis=1, keepdims=True)
    return y


REDUCED = [
    lambda x: x[x > 0.0].sum(),
    lambda x: np.sum(x[x > 0.0] ** 2),
    lambda x: ng.mean(np.exp(x[x > 0.0])),
    lambda x: x[x > 0.0].var(ddof=1) + np.std(x[x < 0.0]),
    lambda x: x[x > 0.0].max() * np.min(x[x > 0.0]),
    lambda x: x[x > 0.0].max(initial=0.3) + np.prod(x[x > 0.0]),
    lambda x: np.linalg.norm(x[x > 0.0]) + ng.linalg.norm(x[x[:, 0] > 0.0], np.inf, axis=1).sum(),
    lambda x: x[x[:, 0] > 0.0].sum(axis=0),
    lambda x: x[x[:, 0] > 0.0].sum(axis=1).max(),
    lambda x: (x[x[:, 0] > 0.0] / x[x[:, 0] > 0.0].max(axis=1, keepdims=True)).mean(axis=0),
    lambda x: x[:, x[0] > 0.0].sum(axis=1),
    lambda x: x[:, x[0] > 0.0].sum(axis=0).prod() + x[:, x[1] > x[2]].std(axis=(0, 1)),
    lambda x: x[x > 0.0].sum(keepdims=True) * x[x.sum() > -100.0].sum(keepdims=True),
    lambda x: np.clip(abs(x[x < 0.0]), 0.1, 0.5).sum(dtype=np.float64),
    paired, counted, changed_in_place, centred,
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REDUCED)))
def test_sums_and_the_like_of_what_a_mask_selects_are_captured(number):
    function = REDUCED[number]
    x = np.random.default_rng(8).normal(size=(5, 3))
    program, slope = ng.jit(function), ng.jit(ng.func.grad(lambda x: function(x).sum()))
    steps = 1e-6 * np.eye(x.size).reshape(x.size, *x.shape)
    for point in (x, -x):  # other elements are selected
        expected = function(point)
        assert program(point).shape == np.shape(expected)
        np.testing.assert_allclose(program(point), expected, rtol=1e-13)
        moved = [np.sum(function(point + step) - function(point - step)) for step in steps]
        np.testing.assert_allclose(slope(point), np.reshape(moved, x.shape) / 2e-6, atol=1e-7)
    np.testing.assert_allclose(ng.func.vmap(function)(np.stack([x, -x]))[1], function(-x), 1e-13)
    curvature = ng.func.hessian(lambda x: function(x).sum())
    np.testing.assert_allclose(ng.jit(curvature)(x), curvature(x), atol=1e-12)


def test_reductions_of_nothing():
    """As NumPy's, which warns of the mean, and raises an error for the maximum."""
    nothing = np.full(3, -1.0)
    found = ng.jit(lambda x: (x[x > 0].sum(), x[x > 0].prod(), x[x > 0].mean(), x[x > 0].max()))
    np.testing.assert_array_equal(found(nothing), [0.0, 1.0, np.nan, np.nan])
    slope = ng.jit(ng.func.grad(lambda x: x[x > 0].max() + x[x > 0].mean()))
    np.testing.assert_array_equal(slope(nothing), np.zeros(3))
    with pytest.raises(CaptureError, match="needs initial="):
        ng.jit(lambda x: (x[x > 0]).max())(np.arange(3))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[x > 0.0].sum(axis=0, where=x > 0.0),
        lambda x: x.sum() / len(x[x > 0.0]),
        lambda x: np.median(x[x > 0.0]),
        lambda x: x[x > 0.0] @ x,
        lambda x: x[x > 0.0] @ x[x > 0.5],
        lambda x: x[x > 0.0].reshape(-1).sum(),
        lambda x: np.linalg.norm(x[x > 0.0], -1),
        lambda x: x[x > 0.0].var(mean=x.mean()),
    ],
)
def test_what_needs_the_number_of_selected_elements_is_refused(function):
    with pytest.raises(CaptureError, match=r"mask"):
        ng.jit(function)(np.array([0.3, 1.0, -1.0]))


def test_a_mask_that_was_written_since_is_refused():
    def function(x):
        mask = x > 0.0
        chosen = x[mask]
        mask[0] = False
        return chosen.sum()

    with pytest.raises(CaptureError, match="a boolean mask as an index"):
        ng.jit(function)(np.array([0.3, 1.0, -1.0]))
