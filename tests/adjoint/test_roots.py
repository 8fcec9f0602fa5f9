"""Divisions by square roots in derived functions."""

import re

import numpy as np
import pytest

from numgrad._adjoint import Options, derive, type_of

from .test_kernels import along, called


def directions(x, sign):
    """Unit vectors, whose slopes divide by each length four times."""
    total = 0.0
    for i in range(len(x)):
        r = np.sqrt(x[i, 0] * x[i, 0] + x[i, 1] * x[i, 1])
        total += x[i, 0] / r + sign * (x[i, 1] / r)
    return total


def near_and_far(x, sign):
    """Divisions by a root in both branches below it."""
    total = 0.0
    for i in range(len(x)):
        r = np.sqrt(x[i, 0] * x[i, 0] + x[i, 1] * x[i, 1])
        if r > 1.0:
            total += x[i, 0] / r - sign * x[i, 1] / r
        else:
            total += sign / r
    return total


KERNELS = [directions, near_and_far]


def derived_with(kernel, given, is_on):
    return derive(kernel, [type_of(part) for part in given], options=Options(roots=is_on))


@pytest.mark.parametrize("kernel", KERNELS)
def test_slopes_divide_once_by_a_root(kernel):
    given = [np.random.default_rng(0).normal(size=(20, 2)), 0.6]
    once, each = (derived_with(kernel, given, is_on) for is_on in (True, False))
    divisions = [len(re.findall(r" / r", derived.source)) for derived in (once, each)]
    assert divisions[0] < divisions[1]
    found, other = called(once, given), called(each, given)
    np.testing.assert_allclose(found[0][0], other[0][0], rtol=1e-13)
    direction = [np.cos(np.arange(40.0)).reshape(20, 2), 0.7]
    slope = np.sum(found[0][0] * direction[0]) + found[1][0] * 0.7
    np.testing.assert_allclose(slope, along(kernel, given, [0, 1], direction), rtol=1e-7)


def test_a_root_that_divides_once_is_divided_by():
    def lengths(x, sign):
        total = 0.0
        for i in range(len(x)):
            total += sign * np.sqrt(x[i, 0] * x[i, 0] + 1.0)
        return total

    given = [np.ones((2, 2)), 0.6]
    assert derived_with(lengths, given, True).source == derived_with(lengths, given, False).source


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-200, 1e-160, 1e150, 1e160, np.inf, np.nan])
def test_extreme_roots_give_what_quotients_give(kernel, size):
    given = [np.full((3, 2), size), 0.6]
    once, each = (called(derived_with(kernel, given, is_on), given) for is_on in (True, False))
    np.testing.assert_allclose(once[0][0], each[0][0], rtol=1e-13)
    np.testing.assert_allclose(once[1], each[1], rtol=1e-13)


@pytest.mark.parametrize("kernel", KERNELS)
def test_roots_of_float32_stay_float32(kernel):
    given = [np.random.default_rng(0).normal(size=(20, 2)).astype("f4"), np.float32(0.6)]
    derived = derived_with(kernel, given, True)
    assert "np.float32(1.0) / r" in derived.source
    wide = called(derived_with(kernel, [given[0].astype("f8"), 0.6], True),
                  [given[0].astype("f8"), 0.6])  # fmt: skip
    np.testing.assert_allclose(called(derived, given)[0][0], wide[0][0], rtol=2e-4, atol=1e-5)
