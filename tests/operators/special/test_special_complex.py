"""Derivatives of special functions at complex arguments, against differences in both directions."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.functions.elementwise import tabled as _tabled  # noqa: F401  it fills the table
from numgrad.operators.special.formulas import TABLE

CASES = [
    (name, place)
    for name, operator in sorted(TABLE.items())
    if operator.allows_complex
    for place, parameter in enumerate(operator.parameters)
    if parameter in operator.formulas
]
STEP = 1e-3
WEIGHTS = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
"""The difference formula of order 6."""


def arguments(operator, place):
    """Return arguments where the operator is tried, and a turned one."""
    given = [np.linspace(*ends, 5)[1:4] for ends in operator.tried]
    if given and operator.name.startswith(("eval", "spherical", "polygamma")):
        given[0] = np.array([1.0, 2.0, 3.0])
    given[place] = given[place] * np.exp(1j * np.array([0.3, -0.4, 0.6]))
    return given


def slope(function):
    """Return the derivative of an analytic function, which its real part tells."""
    partial = ng.func.grad(lambda z: function(z).real.sum())
    return lambda z: ng.conj(partial(z)) + 0 * z  # its own derivative may be 0


def difference(function, z, direction):
    total = sum(w * ng.asarray(function(z + n * STEP * direction)) for n, w in WEIGHTS.items())
    return total / (STEP * direction)


@pytest.mark.parametrize(("name", "place"), CASES)
def test_derivatives_of_first_and_second_order(name, place):
    operator = TABLE[name]
    given = arguments(operator, place)
    z = given[place]

    def value(z):
        return operator(*given[:place], z, *given[place + 1 :])

    for direction in (1, 1j):
        for function in (value, slope(value)):
            found, expected = slope(function)(z), difference(function, z, direction)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
