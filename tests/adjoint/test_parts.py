"""Long derived sources, whose loops are functions."""

import math
import re

import numpy as np

from numgrad._adjoint import Options, derive, type_of
from numgrad._adjoint.kernel import run

from .kernels import CASES, arguments
from .test_kernels import called


def products(a, b, c):
    """The same loops thrice."""
    total = 0.0
    for t in range(4):
        total += np.sum((a @ b) * (t + 1)) + np.sum(b @ c) + np.sum(c @ a)
    return total


def test_loops_of_long_sources_are_functions_with_the_same_results():
    for name in ("lstm", "kalman", "asian_option", "kepler", "metropolis", "cholesky"):
        args = arguments(name)
        types = [type_of(a) for a in args]
        whole = derive(CASES[name][0], types, options=Options(long=math.inf))
        parts = derive(CASES[name][0], types, options=Options(long=1))
        assert f"def {whole.name}_1(" not in whole.source
        assert f"def {whole.name}_1(" in parts.source
        found, expected = called(parts, args), called(whole, args)
        for n, shadow in expected[0].items():
            np.testing.assert_array_equal(found[0][n], shadow)
        assert found[1] == expected[1]


def test_equal_loops_are_one_function():
    matrix = type_of(np.ones((3, 3)))
    source = derive(products, [matrix] * 3, options=Options(long=1)).source
    defined = re.findall(r"^def (\w+_\d+)\(", source, re.MULTILINE)
    assert any(source.count(f"{name}(") > 3 for name in defined)


def test_parts_compile():
    draw = np.random.default_rng(0)
    args = [draw.normal(size=(3, 3)) for _ in range(3)]
    derived = derive(products, [type_of(a) for a in args], options=Options(long=1))
    shadows = {n: np.zeros_like(args[n]) for n in derived.shadows}
    run(derived, args, shadows, [1.0])
    a, b, c = args
    ones = np.ones((3, 3))
    np.testing.assert_allclose(shadows[0], 10 * ones @ b.T + 4 * c.T @ ones, rtol=1e-13)
    np.testing.assert_allclose(shadows[2], 4 * b.T @ ones + 4 * ones @ a.T, rtol=1e-13)
