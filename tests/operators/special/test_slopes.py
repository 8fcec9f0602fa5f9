"""First and second slopes against mpmath's, over all that their arguments can be.

The table of the documentation says how large errors are: none may be larger, and none that is shown
may be above the bound that is stated here.
"""

import numpy as np
import pytest

import numgrad as ng

from ...docs.pages import table
from ...oracles.slope_errors import measured
from ...oracles.slope_points import DTYPES, FUNCTIONS

BOUND = 4
BOUNDS = {
    "exprel": 8, "erfcx": 16, "dawsn": 16384, "erfinv": 16, "erfcinv": 16, "ndtri": 8,
    "log_ndtr": 16, "logaddexp2": 8, "pseudo_huber": 8, "boxcox": 256, "boxcox1p": 8,
}  # fmt: skip
"""In units in the last place, where 4 do not hold; the page says why."""
HEAD = ("function", "slope in", "from", "to", "float64", "second", "float32", "second")


def shown():
    """Return the errors that the page shows, by function, argument, dtype and order."""
    found = {}
    for row in table("slopes.md", *HEAD):
        name, argument = row[0].partition("(")[0], row[1]
        for place, number in enumerate(row[4:]):
            found[name, argument, DTYPES[place // 2], place % 2 + 1] = int(number)
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_no_larger_than_the_page_says(name):
    page = shown()
    for (dtype, places), errors in measured(name).items():
        for place in places:
            key = (name, FUNCTIONS[name].arguments[place], dtype, len(places))
            assert errors.max() <= page[key], key


def test_the_page_shows_no_error_above_the_bound():
    page = shown()
    assert {key[0] for key in page} == set(FUNCTIONS)
    assert not {key: n for key, n in page.items() if n > BOUNDS.get(key[0], BOUND)}


def test_hyperbolic_slopes_have_digits_far_out():
    """That of `tanh` is ``4 * exp(-2 * x)`` there, that of `arcsinh` ``1 / x``."""
    x = np.array([10.0, 18.0, 20.0, 300.0])
    np.testing.assert_allclose(slope_of(ng.tanh)(x), 1 / np.cosh(x) ** 2, 1e-14)
    np.testing.assert_allclose(slope_of(ng.arcsinh)(np.array([1e200])), [1e-200], 1e-15)


def slope_of(f):
    return ng.func.grad(lambda x: f(x).sum())


FAR = 37.43
LEFT = np.exp(-FAR)
"""What the share of 37.43 beside 0 lacks, to all digits."""


@pytest.mark.parametrize("jacobian", [ng.func.jacrev, ng.func.jacfwd])
@pytest.mark.parametrize("captured", [False, True])
def test_slopes_of_shares_have_digits_far_out_in_every_mode(jacobian, captured):
    z = np.array([[FAR, 0.0], [FAR, 0.0]])
    cases = {
        ng.special.softmax: LEFT * np.array([[1, -1], [-1, 1]]),
        ng.special.log_softmax: np.array([[LEFT, -LEFT], [-1, 1]]),
        ng.special.logsumexp: np.array([1, LEFT]),
    }
    for f, wanted in cases.items():
        whole = jacobian(f)
        whole = ng.jit(whole) if captured else whole
        np.testing.assert_allclose(whole(z[0]), wanted, 1e-14)
        np.testing.assert_allclose(ng.func.vmap(jacobian(f))(z), [wanted, wanted], 1e-14)
    curve = jacobian(ng.func.grad(ng.special.logsumexp))
    np.testing.assert_allclose(curve(z[0]), LEFT * np.array([[1, -1], [-1, 1]]), 1e-14)
