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


def beside_an_integer(x):
    y = x * 1
    low = x[:, 2] < 1
    y[low, 1] = x[0, 0]
    y[low, 0] *= -0.5
    y[low, -1] += y[low, 0] * y[low, 1]
    y[0, x[1] > 0] = 7
    return y


def behind_slices(x):
    y = x * 1
    first = x[0] > 1
    y[:, first] = -y[:, first] * 2 + 1
    y[..., x[1] < 0] = x[1, 1]
    y[1:, first] -= 1.5
    return y


def in_front_of_slices(x):
    y = x * 1
    low = x[:, 2] < 1
    y[low, 1:] = y[low, :2] ** 2
    y[low, ::2] += x[1, 1:]
    return y


def among_more_axes(x):
    y = np.multiply.outer(x, x[0]).reshape(2, 3, 3)
    wide = x[0] > 1
    y[1, wide, 0] *= 3
    y[:, wide, 1] = x[0, 2]
    y[wide[:2], :, 2] -= y[wide[:2], :, 0]
    y[x > 0, 1] = 0.5
    y[x[:, 0] > 0, 0] -= x[0, 1] + y[x[:, 0] > 0, 1]  # the mask is computed again
    return y[..., 0] + y[..., 1] - y[..., 2]


FUNCTIONS = [
    constant, computed, of_rows, through_a_view, into_integers, beside_an_integer, behind_slices,
    in_front_of_slices, among_more_axes,
]  # fmt: skip


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


def in_another_order(x):
    y = np.multiply.outer(x, x[0])
    y[0, :, x[0] > 1] = 1.0  # NumPy's result has the axis of the mask in front
    return y


def of_different_axes(x):
    return x[:, x[0] > 1] + x.T[x[0] > 1]


def of_different_masks(x):
    y = x * 1
    y[x[:, 0] > 0, 0] = x[x[:, 1] > 0, 1]
    return y


def of_a_mask_that_was_written(x):
    y = x * 1
    z = y[y[:, 0] > 0, 1]
    y[0, 0] = 3.0
    y[y[:, 0] > 0, 1] = z
    return y


REFUSED = [in_another_order, of_different_axes, of_different_masks, of_a_mask_that_was_written]


@pytest.mark.parametrize("function", REFUSED)
def test_selections_whose_axes_lie_otherwise_are_refused(function):
    with pytest.raises(ng.errors.CaptureError, match="boolean mask"):
        ng.jit(function)(X)
