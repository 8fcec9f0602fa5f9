"""Mixed second derivatives are one number, whichever argument comes first; at special points too.
"""

import itertools
import warnings

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import Elementwise, registry
from numgrad.functions.elementwise import tabled as _tabled  # noqa: F401  it fills the table
from numgrad.testing.scenarios import CHAPTERS

SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, np.inf, -np.inf)
FEW = (0.0, 1.0, 2.0, 0.5)
SLOPES = {name for s in CHAPTERS["slopes"] for name in s.operators}
SLOPES |= {"soft_share", "quotient_slope", "quotient_or_0", "student_density", "polygamma_step"}
SLOPES |= {"pseudo_huber_r", "pseudo_huber_delta", "power_of_zero_dx", "power_of_zero_dp"}
"""Operators that are slopes themselves: their mixed slopes are third ones of functions."""
ENDS = {
    "boxcox", "boxcox1p", "beta_density", "gamma_density", "gammainc", "gammaincc", "gammaincinv",
    "gammainccinv", "chdtr", "chdtrc", "chdtri", "gdtr", "gdtrc", "gdtria", "gdtrix", "ellipkinc",
    "owens_t", "owens_rest",
}  # fmt: skip
"""Where they end, one order of their derivatives may be NaN, as 0 times an infinite slope is, and
beyond that of the other sign."""


def operators():
    for name, operator in sorted(registry.items()):
        if isinstance(operator, Elementwise) and operator.differentiable and name not in SLOPES:
            free = set(operator.partials) if operator.partials else set(range(9))
            free &= set(range(len(operator.parameters))) - set(operator.conditions)
            once = {operator.parameters.index(x) for x in getattr(operator, "once", ())}
            if len(free - once) > 1:
                yield pytest.param(operator, sorted(free - once), id=name)


def points_of(operator):
    count = len(operator.parameters)
    values = SPECIAL if count == 2 else FEW
    columns = [np.array(c) for c in zip(*itertools.product(values, repeat=count), strict=True)]
    return [c != 0 if n in operator.conditions else c for n, c in enumerate(columns)]


def mixed(operator, args, first, second):
    """Return the derivative of the derivative, 0 where there is none."""
    given = [ng.tensor(a, requires_grad=n in (first, second)) for n, a in enumerate(args)]
    y = operator(*given)
    for n in (first, second):
        y, x = y.real.sum(), given[n]
        (y,) = ng.grad(y, x, create_graph=True, allow_unused=True, materialize_grads=True)
        if not y.requires_grad:
            return np.zeros(x.shape) if n == first else y.numpy()
    return y.detach().numpy()


@pytest.mark.parametrize(("operator", "free"), list(operators()))
def test_order_of_arguments_does_not_matter(operator, free):
    args = points_of(operator)
    for first, second in itertools.combinations(free, 2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = mixed(operator, args, first, second)
            other = mixed(operator, args, second, first)
        same = np.isclose(found, other, 1e-9, 0, equal_nan=True)
        if operator.name in ENDS:
            same |= np.isnan(found) | np.isnan(other) | np.isinf(found) & np.isinf(other)
        places = [tuple(float(a[n]) for a in args) for n in np.flatnonzero(~same)[:4]]
        assert same.all(), (places, found[~same][:4], other[~same][:4])


# Of powers: the limits of x**(y - 1) * (1 + y * log(x)) -------------------------------------------

POWERS = {(0.0, 3.0): 0.0, (0.0, 1.0): -np.inf, (0.0, 0.5): -np.inf, (0.0, 0.0): np.inf,
          (2.0, 3.0): 4 * (1 + 3 * np.log(2.0)), (-2.0, 3.0): np.nan}  # fmt: skip


def single(f, n, mode):
    """Return the derivative of ``f(x, y)`` in one argument, in a mode."""
    if mode == "forward":
        return lambda x, y: ng.func.jvp(f, (x, y), (np.float64(n == 0), np.float64(n == 1)))[1]
    return ng.func.grad(f, argnums=n)


@pytest.mark.parametrize("captured", [False, True])
def test_mixed_slope_of_a_power_in_every_mode(captured):
    for outer, inner in itertools.product(("reverse", "forward"), repeat=2):
        for n in (0, 1):
            both = single(single(lambda x, y: x**y, n, inner), 1 - n, outer)
            both = ng.jit(both) if captured else both
            for point, wanted in POWERS.items():
                found = both(*map(np.array, point))
                if inner == outer == "reverse" or np.isfinite(wanted):
                    np.testing.assert_allclose(found, wanted, 1e-14)
                assert np.isnan(found) or np.isclose(found, wanted)


def test_second_slope_of_the_density_of_a_beta_distribution():
    """Of ``a * x**(a - 1)`` it is ``((2 * a - 1) + a * (a - 1) * log(x)) * x**(a - 2)``."""
    density = registry["beta_density"]
    args = [np.array([v]) for v in (2.0, 1.0, 0.5)]
    for first, second in ((0, 2), (2, 0)):
        np.testing.assert_allclose(mixed(density, args, first, second), 3 + 2 * np.log(0.5), 1e-12)
