"""Quantiles by all methods, with weights, and of the elements that are not NaN."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.functions.reduction.quantiles import _CONTINUOUS, _DISCRETE

from ..numpy_calls import check_call, check_gradients

RNG = np.random.default_rng(7)
METHODS = [*_DISCRETE, *_CONTINUOUS]
SMOOTH = ["linear", "hazen", "weibull", "median_unbiased", "interpolated_inverted_cdf"]
A = 5 * RNG.standard_normal((3, 4, 5))
A[0, 1] = A[0, 2]
HOLES = np.where(RNG.uniform(size=A.shape) < 0.3, np.nan, A)
HOLES[1, 1] = np.nan
QS = [0.3, 0, 1, np.array([0.1, 0.5, 1.0]), np.array([0.2, 0.6], "f4"), np.array([0, 1])]
INF = np.array([1.0, np.inf, np.inf, -np.inf])


def test_numpy_has_no_other_methods():
    for method in METHODS:
        np.quantile(A, 0.5, method=method)
    assert len(METHODS) == 13


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_equals_numpy(name, method):
    for values in (A, HOLES, A.astype("f4"), A.astype("i4")):
        for number, q in enumerate(QS):
            axis = (None, 1, (0, -1))[number % 3]
            check_call(
                lambda np, a, q=q, axis=axis: getattr(np, name)(a, q, axis, method=method), values
            )


@pytest.mark.parametrize("name", ["quantile", "nanquantile", "percentile", "nanpercentile"])
@pytest.mark.parametrize(
    "options",
    [
        {"axis": 1, "keepdims": True},
        {"keepdims": True},
        {"axis": (0, 2), "keepdims": True},
        {"axis": 3},
        {"axis": ()},
        {"method": "none"},
        {"weights": A**2},
        {"method": "inverted_cdf", "weights": -(A**2)},
        {"method": "inverted_cdf", "weights": A[0, 0]},
    ],
)
def test_options(name, options):
    q = [25, 60] if "percentile" in name else [0.25, 0.6]
    check_call(lambda np, a: getattr(np, name)(a, q, **options), A)


@pytest.mark.parametrize("q", [-0.1, 1.1, np.nan, [0.5, 2.0], np.full((1, 1, 1), 0.5)])
def test_impossible_quantiles(q):
    check_call(lambda np, a: np.quantile(a, q), A)


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_nothing_and_complex_numbers(name, axis):
    for shape in ((0,), (3, 0), (0, 3)):
        check_call(lambda np, a: getattr(np, name)(a, 0.5, axis), np.zeros(shape))
    check_call(lambda np, a: getattr(np, name)(a, 0.5, axis), A + 1j)
    check_call(lambda np, a: getattr(np, name)(a, [0.4, 0.5, 1.0]), INF)
    check_call(lambda np, a: getattr(np, name)(a, 0.5), np.array(3.0))


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("axis", [None, 1, (0, -1)])
def test_weights(name, axis):
    weights = RNG.integers(0, 4, A.shape) + 0.5
    for q in (0, 0.3, 1.0, np.array([0.1, 0.5, 1.0])):
        call = lambda np, a, q=q: getattr(np, name)(  # noqa: E731
            a, q, axis, method="inverted_cdf", weights=weights
        )
        check_call(call, A)
        check_call(call, HOLES)


def test_weights_of_an_axis():
    weights = [0.0, 1.0, 2.0, 0.0]
    call = lambda np, a: np.quantile(a, [0, 0.4, 1], 1, method="inverted_cdf", weights=weights)  # noqa: E731
    check_call(call, A)
    check_gradients(call, A[1:])


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), ()])
@pytest.mark.parametrize(
    "values", [A, HOLES, HOLES.astype("f4"), A.astype(int), HOLES + 1j * A, HOLES[:0], HOLES[:, :0]]
)
def test_nanmedian(axis, values):
    check_call(lambda np, a: np.nanmedian(a, axis), values)
    check_call(lambda np, a: np.nanmedian(a, axis, keepdims=True), values)


@pytest.mark.parametrize("method", METHODS)
def test_derivatives(method):
    x = A[2]
    check_gradients(lambda np, x: np.quantile(x, [0.15, 0.77], 1, method=method), x)
    check_gradients(lambda np, x: np.nanpercentile(x, 31, 0, method=method), x)
    if method in SMOOTH:
        q = np.array([0.15, 0.77])
        check_gradients(lambda np, x, q: np.quantile(x, q, 1, method=method), x, q)


def test_missing_elements_get_gradient_zero():
    x = ng.tensor([4.0, np.nan, 1.0, 9.0], requires_grad=True)
    for function in (ng.nanmedian, lambda x: ng.nanquantile(x, 0.5)):
        np.testing.assert_array_equal(ng.grad(function(x), x)[0].numpy(), [1.0, 0.0, 0.0, 0.0])
