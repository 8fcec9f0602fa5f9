"""Reductions of the elements that are not NaN."""

import numpy as np
import pytest

import numgrad as ng

from ..numpy_calls import check_call, check_gradients

RNG = np.random.default_rng(8)
A = RNG.standard_normal((3, 4, 5))
HOLES = np.where(RNG.uniform(size=A.shape) < 0.3, np.nan, A)
HOLES[1, 1] = np.nan
CHOSEN = RNG.uniform(size=A.shape) < 0.6
VALUES = [A, HOLES, HOLES.astype("f4"), (4 * A).astype(int), (4 * A).astype("i1"), A > 0]
IDS = ["full", "holes", "single", "integers", "bytes", "booleans"]
SUMS = ["nansum", "nanprod", "nanmean"]
SPREADS = ["nanvar", "nanstd"]
EXTREMA = ["nanmax", "nanmin"]
AXES = [None, 0, (0, 2), -1, 7]


def over(values):
    return pytest.mark.parametrize("values", values, ids=IDS[: len(values)])


@over(VALUES)
@pytest.mark.parametrize("name", SUMS)
def test_sums_and_means(name, values):
    for axis in AXES:
        for options in ({}, {"keepdims": True}, {"where": CHOSEN}, {"dtype": np.float64}):
            check_call(lambda np, a, o=options, n=axis: getattr(np, name)(a, n, **o), values)
    if name != "nanmean":
        check_call(lambda np, a: getattr(np, name)(a, 0, initial=3), values)


@over(VALUES)
@pytest.mark.parametrize("name", SPREADS)
def test_spreads(name, values):
    for axis in AXES:
        for options in ({}, {"ddof": 1}, {"ddof": 3, "keepdims": True}, {"where": CHOSEN}):
            check_call(lambda np, a, o=options, n=axis: getattr(np, name)(a, n, **o), values)


@over(VALUES[:4])
@pytest.mark.parametrize("name", EXTREMA)
def test_extrema(name, values):
    for axis in AXES:
        for options in ({}, {"keepdims": True}, {"initial": 1, "where": CHOSEN}, {"initial": 1}):
            check_call(lambda np, a, o=options, n=axis: getattr(np, name)(a, n, **o), values)
    check_call(lambda np, a: getattr(np, name)(a, where=CHOSEN), values)
    check_call(lambda np, a: getattr(np, name)(a[:0], initial=2), values)
    check_call(lambda np, a: getattr(np, name)(a[:0]), values)


@over(VALUES)
@pytest.mark.parametrize("name", ["nancumsum", "nancumprod", "nanargmax", "nanargmin"])
def test_along_one_axis(name, values):
    for axis in (None, 0, -1, 3):
        check_call(lambda np, a, n=axis: getattr(np, name)(a, n), values)


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
def test_positions(name):
    check_call(lambda np, a: getattr(np, name)(a, 1, keepdims=True), A)
    check_call(lambda np, a: getattr(np, name)(a, 2), HOLES)  # a line of NaN
    check_call(lambda np, a: getattr(np, name)(a, 2), HOLES[:1])


@pytest.mark.parametrize("name", [*SUMS, *SPREADS])
def test_complex_numbers(name):
    check_call(lambda np, a: getattr(np, name)(a, 1), HOLES + 1j * A)


@pytest.mark.parametrize("name", [*SUMS, *SPREADS, *EXTREMA, "nancumsum", "nancumprod"])
def test_derivatives_to_what_is_not_missing(name):
    lines = np.where(np.isnan(HOLES[0, :, :3]), np.nan, A[0, :, :3])
    lines[:, 0] = A[0, :, 0]
    present = ~np.isnan(lines)

    def call(np, v):
        y = np.full(lines.shape, np.nan)
        y[present] = v
        return getattr(np, name)(y, 1 if name != "nanstd" else None)

    check_gradients(call, lines[present])


def test_missing_elements_get_gradient_zero_and_ties_share():
    x = ng.tensor([3.0, np.nan, 3.0, 1.0], requires_grad=True)
    np.testing.assert_array_equal(ng.grad(ng.nanmax(x), x)[0].numpy(), [0.5, 0.0, 0.5, 0.0])
    np.testing.assert_array_equal(ng.grad(ng.nansum(x), x)[0].numpy(), [1.0, 0.0, 1.0, 1.0])


def test_a_dtype_of_integers_is_refused_for_means_of_floats():
    for name in ("nanmean", "nanvar"):
        check_call(lambda np, a, name=name: getattr(np, name)(a, dtype=int), HOLES)
