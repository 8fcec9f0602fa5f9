"""Weighted averages, covariances, correlation coefficients, ranges."""

import numpy as np
import pytest

import numgrad as ng

from ..numpy_calls import cases, check_call, check_gradients

RNG = np.random.default_rng(6)
A = 5 * RNG.standard_normal((3, 4, 2))
W = RNG.uniform(0.1, 1, (3, 4, 2))
DTYPES = ["f8", "f4", "f2", "i4", "c16", "?"]

AVERAGES = {
    "plain": lambda np, a: np.average(a),
    "axis": lambda np, a: np.average(a, -1, keepdims=True),
    "axes": lambda np, a: np.average(a, (2, 0), returned=True),
    "weights": lambda np, a: np.average(a, weights=W, returned=True),
    "weights-axis": lambda np, a: np.average(a, 1, W[0, :, 0], keepdims=True, returned=True),
    "weights-axes": lambda np, a: np.average(a, (2, 0), W[:, 0].T, returned=True),
    "weights-all": lambda np, a: np.average(a, (0, 2), W),
    "weights-integers": lambda np, a: np.average(a, 2, [1, 2]),
    "weights-misfit": lambda np, a: np.average(a, 1, [1, 2]),
    "weights-no-axis": lambda np, a: np.average(a, weights=[1, 2]),
    "weights-zero": lambda np, a: np.average(a, 2, [1, -1]),
    "bad-axis": lambda np, a: np.average(a, 5),
    "no-axis": lambda np, a: np.average(a, ()),
}  # fmt: skip


@cases(AVERAGES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_average_equals_numpy(call, dtype):
    check_call(call, A.astype(dtype))


def test_average_of_nothing_is_nan():
    check_call(lambda np, a: np.average(a), np.zeros(0))


def test_derivatives_of_average():
    check_gradients(lambda np, a, w: np.average(a, 1, w, True), A, W[0, :, 0])
    check_gradients(lambda np, a, w: np.average(a, (0, 2), w), A, W)


X, Y = 4 * RNG.standard_normal((3, 5)), RNG.standard_normal(5)
COUNTS, SHARES = [1, 2, 0, 3, 1], np.array([1.0, 0.2, 0.5, 3.0, 1.0])

COVARIANCES = {
    "plain": lambda np, x: np.cov(x),
    "one": lambda np, x: np.cov(x[0]),
    "y": lambda np, x: np.cov(x, x[0] * 2),
    "columns": lambda np, x: np.cov(x, rowvar=False),
    "columns-y": lambda np, x: np.cov(x.T, Y[:, None], rowvar=False),
    "bias": lambda np, x: np.cov(x, bias=True),
    "ddof": lambda np, x: np.cov(x, ddof=2),
    "few": lambda np, x: np.cov(x, ddof=7),
    "fraction": lambda np, x: np.cov(x, ddof=1.5),
    "fweights": lambda np, x: np.cov(x, fweights=COUNTS),
    "aweights": lambda np, x: np.cov(x, aweights=SHARES),
    "both": lambda np, x: np.cov(x, fweights=COUNTS, aweights=SHARES),
    "ddof-0": lambda np, x: np.cov(x, aweights=SHARES, ddof=0),
    "negative": lambda np, x: np.cov(x, fweights=[1, 1, 1, 1, -1]),
    "fractions": lambda np, x: np.cov(x, fweights=[1, 1, 1, 1, 0.5]),
    "misfit": lambda np, x: np.cov(x, aweights=[1, 2]),
    "matrix": lambda np, x: np.cov(x, aweights=x),
    "deep": lambda np, x: np.cov(x[None]),
    "corrcoef": lambda np, x: np.corrcoef(x),
    "corrcoef-one": lambda np, x: np.corrcoef(x[0]),
    "corrcoef-columns": lambda np, x: np.corrcoef(x, rowvar=False),
}  # fmt: skip


@cases(COVARIANCES)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16"])
def test_covariances_equal_numpy(call, dtype):
    check_call(call, X.astype(dtype))


def test_dtype_of_covariances():
    check_call(lambda np, x: np.cov(x, dtype=np.float32), X)
    check_call(lambda np, x: np.cov(x), np.zeros((0, 3)))


def test_derivatives_of_covariances():
    check_gradients(lambda np, x, w: np.cov(x, fweights=COUNTS, aweights=w), X, SHARES)
    check_gradients(lambda np, x: np.corrcoef(x), X)
    check_gradients(lambda np, x: np.corrcoef(x), X + 1j * X[::-1], order=1)


RANGES = {
    "all": lambda np, a: np.ptp(a),
    "axis": lambda np, a: np.ptp(a, 1, keepdims=True),
    "axes": lambda np, a: np.ptp(a, (0, -1)),
    "none": lambda np, a: np.ptp(a[:0]),
}  # fmt: skip


@cases(RANGES)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_ranges_equal_numpy(call, dtype):
    check_call(call, A.astype(dtype))


def test_derivatives_of_ranges_share_ties():
    check_gradients(lambda np, a: np.ptp(a, 1), A)
    x = ng.tensor([3.0, 9.0, 3.0, 9.0], requires_grad=True)
    np.testing.assert_array_equal(ng.grad(ng.ptp(x), x)[0].numpy(), [-0.5, 0.5, -0.5, 0.5])
