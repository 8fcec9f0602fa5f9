"""Derived adjoints of kernels as users write them, against differences."""

import numpy as np
import pytest

from numgrad._adjoint import adjoint, derive, type_of
from tests.sampling import one_in

from .kernels import CASES, arguments

COMPILED = ("heat", "kepler", "asian_option", "csr_product")


def along(function, args, places, direction, step=1e-4):
    """Return the derivative along a direction, by extrapolated central differences."""

    def value(e):
        moved = list(args)
        for place, change in zip(places, direction, strict=True):
            moved[place] = args[place] + e * change
        return function(*moved)

    def difference(h):
        return (value(h) - value(-h)) / (2 * h)

    return (4 * difference(step / 2) - difference(step)) / 3


def called(derived, args, way="plain", shadows=None, seeds=(1.0,)):
    """Return shadows, cotangents of numbers and tapes of a derived adjoint."""
    tapes = np.zeros(4), np.zeros(4, np.int64)
    while True:
        own = {n: np.zeros_like(args[n]) for n in derived.shadows}
        for n, start in (shadows or {}).items():
            own[n][...] = start
        needed, integers, *numbers = getattr(derived, way)(*args, *own.values(), *seeds, *tapes)
        if needed <= tapes[0].size and integers <= tapes[1].size:
            return own, numbers, tapes
        tapes = np.zeros(needed), np.zeros(integers, np.int64)


@pytest.mark.parametrize("name", one_in(2, CASES))
def test_gradient_is_that_of_differences(name):
    kernel, args = CASES[name][0], arguments(name)
    derived = derive(kernel, [type_of(a) for a in args])
    way = "compiled" if name in COMPILED else "plain"
    shadows, numbers, _ = called(derived, args, way)
    found = {**shadows, **dict(zip(derived.numbers, numbers, strict=True))}
    draw = np.random.default_rng(1)
    direction = [draw.normal(size=np.shape(args[n])) for n in found]
    expected = along(kernel.py_func, args, list(found), direction)
    total = sum(np.sum(g * d) for g, d in zip(found.values(), direction, strict=True))
    np.testing.assert_allclose(total, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", one_in(2, CASES, 1))
def test_second_derivative_is_that_of_differences_of_the_first(name):
    kernel, args = CASES[name][0], arguments(name, 6)
    derived = derive(kernel, [type_of(a) for a in args])
    shadows, _, tapes = called(derived, args)
    draw = np.random.default_rng(2)
    weights = {n: draw.normal(size=args[n].shape) for n in shadows}
    direction = [draw.normal(size=args[n].shape) for n in shadows]

    def weighted(*moved):
        found, _, _ = called(derived, moved)
        return sum(np.sum(found[n] * weights[n]) for n in found)

    second = derived.again()
    zeros = [np.zeros_like(shadow) for shadow in shadows.values()]
    full = [*args, *zeros, 1.0, *tapes]
    starts = {len(args) + k: weights[n] for k, n in enumerate(shadows)}
    starts = {n: start for n, start in starts.items() if n in second.shadows}
    found, _, _ = called(second, full, "plain", starts, [0.0] * len(second.cotangents))
    total = sum(np.sum(found[n] * d) for n, d in zip(shadows, direction, strict=True) if n in found)
    expected = along(weighted, args, list(shadows), direction)
    np.testing.assert_allclose(total, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["heat", "lstm", "softmax", "gauss_seidel", "asian_option"])
def test_single_precision_stays_single_and_is_near_to_double(name):
    kernel, args = CASES[name][0], arguments(name)
    single = [a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in args]
    derived = derive(kernel, [type_of(a) for a in single])
    found, _, _ = called(derived, single, "compiled" if name == "heat" else "plain")
    expected, _, _ = called(derive(kernel, [type_of(a) for a in args]), args)
    for n, shadow in found.items():
        assert shadow.dtype == np.float32
        np.testing.assert_allclose(shadow, expected[n], rtol=2e-3, atol=2e-4)


def test_adjoint_leaves_arguments_alone_and_enlarges_its_tape():
    kernel, args = CASES["kepler"][0], arguments("kepler", 500)
    before = args[0].copy()
    gradient, slope = adjoint(kernel)(*args)
    np.testing.assert_array_equal(args[0], before)
    assert gradient.shape == args[0].shape
    expected = along(kernel, args, [1], [1.0])
    np.testing.assert_allclose(slope, expected, rtol=1e-6)
