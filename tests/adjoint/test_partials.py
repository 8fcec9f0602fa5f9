"""The table of scalar derivatives against the operators of the same names."""

import math

import numpy as np
import pytest

import numgrad as ng
from numgrad._adjoint.ssa.conventions import CONVENTIONS
from numgrad._adjoint.ssa.partials import SCALARS

POINTS = {"arccosh": 1.7, "log": 0.8, "log2": 0.8, "log10": 0.8, "sqrt": 0.8, "reciprocal": 0.7}
OTHERS = {"erf": ng.special.erf, "erfc": ng.special.erfc}
BINARY = {
    "truediv": ng.divide, "mul": ng.multiply, "sub": ng.subtract, "add": ng.add, "pow": ng.power,
    "max": ng.maximum, "min": ng.minimum, "arctan2": ng.arctan2, "hypot": ng.hypot,
    "mod": ng.remainder, "copysign": ng.copysign, "fmod": ng.fmod,
}  # fmt: skip
UNARY = [
    name for name, scalar in SCALARS.items()
    if len(scalar.adds) == 1 and scalar.adds[0] and (hasattr(ng, name) or name in OTHERS)
    and name not in ("float32", "float64", "real", "imag")
]  # fmt: skip


def table(name, place, *args, result):
    pattern = SCALARS[name].adds[place]
    if pattern is None:
        return 0.0
    text = pattern.format(*(f"({a!r})" for a in args), g="(1.0)", r=f"({result!r})")
    return eval(text, {"np": np, "math": math, **CONVENTIONS})


@pytest.mark.parametrize("name", UNARY)
def test_derivative_of_one_argument_is_that_of_the_operator(name):
    function = OTHERS.get(name) or getattr(ng, name)
    for x in (POINTS.get(name, 0.37), *((0.0, -0.4) if name == "abs" else ())):
        found = table(name, 0, x, result=float(function(x)))
        expected = float(ng.func.grad(function)(ng.tensor(x)))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", BINARY)
def test_derivatives_of_two_arguments_are_those_of_the_operator(name):
    function = BINARY[name]
    for x, y in ((0.7, 1.3), (1.3, 0.7), (0.6, 0.6)):
        for place in (0, 1):
            found = table(name, place, x, y, result=float(function(x, y)))
            gradient = ng.func.grad(function, argnums=place)
            expected = float(gradient(ng.tensor(x), ng.tensor(y)))
            np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=f"{name} {x} {y}")
