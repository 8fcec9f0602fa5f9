"""One value may be written through a mask that is known only when a function is replayed."""

import numpy as np
import pytest

import numgrad as ng

X = np.array([[0.5, 2.0, 3.0], [-1.0, 4.0, 0.2]])


def constant(x):
    y = x * 1
    y[y > 1] = 1.0
    return y


def computed(x):
    y = x * 2
    y[x < 0] = x[0, 1] * x[1, 2]
    return y


def of_rows(x):
    y = x * 1
    y[x[:, 0] > 0] = x[1, 1]
    return y


def through_a_view(x):
    y = x * x
    part = y[1:, ::2]
    part[part < 0.5] = 7
    return y


def into_integers(x):
    y = (x * 0).astype(np.int64)
    y[x > 1] = 3
    return y * x


FUNCTIONS = [constant, computed, of_rows, through_a_view, into_integers]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("around", [ng.jit, ng.func.vmap])
def test_values_and_gradients_are_those_of_numpy(function, around):
    batch = np.stack([X, -1.1 * X, X[::-1] + 0.1])
    gradient = around(ng.func.grad(lambda x: (function(x) * np.cos(X)).sum()))
    value = around(function)
    values, slopes = (
        [np.stack([f(x) for x in batch]) for f in (value, gradient)]
        if around is ng.jit
        else [f(batch) for f in (value, gradient)]
    )
    np.testing.assert_array_equal(values, [function(x) for x in batch])
    step = 1e-6 * np.eye(6).reshape(6, 2, 3)
    for x, slope in zip(batch, slopes, strict=True):
        ends = [[(function(x + s * h) * np.cos(X)).sum() for h in step] for s in (1, -1)]
        expected = (np.array(ends[0]) - ends[1]).reshape(2, 3) / 2e-6
        np.testing.assert_allclose(slope, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("value", [np.ones(2), np.ones((1, 1))])
def test_several_values_are_refused_as_their_number_is_not_known(value):
    def f(x):
        y = x * 1
        y[y > 1] = value
        return y

    with pytest.raises(ng.errors.CaptureError, match="boolean mask"):
        ng.jit(f)(X)


def test_masks_that_do_not_fit_and_values_that_would_lose_a_part_are_refused():
    def wrong_shape(x):
        y = x * 1
        y[x[0] > 1] = 1.0
        return y

    def wrong_dtype(x):
        y = (x * 1).astype(np.int64)
        y[x > 1] = x[0, 0]
        return y

    with pytest.raises(ng.errors.CaptureError, match="boolean mask"):
        ng.jit(wrong_shape)(X)
    with pytest.raises(ng.errors.DtypeError, match="would be cut"):
        ng.jit(ng.func.grad(lambda x: (wrong_dtype(x) * x).sum()))(X)
