"""Arrays that steps of a loop make, which are kept whole for the reverse sweep."""

import numpy as np

from numgrad._adjoint import Options, derive, type_of

from .kernels import CASES, arguments
from .test_kernels import along, called


def powers(a, b, steps):
    """Products of matrices that each step makes."""
    total = 0.0
    for t in range(steps):
        p = np.sin(a * (t + 1.0))
        q = p @ b
        r = q @ p
        total += np.sum(r * r)
    return total


def overwritten(a, b, steps):
    """A matrix that changes after it was read: it is kept as it was."""
    total = 0.0
    p = a.copy()
    for t in range(steps):
        for i in range(p.shape[0]):
            for j in range(p.shape[1]):
                for k in range(p.shape[1]):
                    total += p[i, k] * p[j, k] * b[i, j]
        for i in range(p.shape[0]):
            for j in range(p.shape[1]):
                p[i, j] = np.sin(p[i, j]) + 0.1 * t
    return total


def solutions(a, b, steps):
    """Products with what LAPACK returns, whose elements lie column by column."""
    p = a @ a.T
    for _ in range(steps):
        k = np.linalg.solve(np.eye(p.shape[0]) + p, b)
        p = 0.5 * p + k @ k.T
    return np.trace(p)


def test_arrays_that_are_kept_whole_give_the_same():
    draw = np.random.default_rng(0)
    args = [draw.normal(size=(6, 6)), draw.normal(size=(6, 6)), 3]
    types = [type_of(a) for a in args]
    for kernel in (powers, overwritten):
        whole = called(derive(kernel, types), args)
        each = called(derive(kernel, types, options=Options(whole=False)), args)
        directions = [draw.normal(size=(6, 6)) for _ in range(2)]
        slope = sum(np.sum(whole[0][n] * directions[n]) for n in range(2))
        np.testing.assert_allclose(slope, along(kernel, args, [0, 1], directions), rtol=1e-7)
        for n in range(2):
            np.testing.assert_allclose(whole[0][n], each[0][n], rtol=1e-12)


def test_products_keep_the_elements_of_their_matrices_once():
    args = [np.full((8, 8), 0.1), np.full((8, 8), 0.2), 3]
    derived = derive(powers, [type_of(a) for a in args])
    tapes = np.zeros(4 * 3 * 8 * 8 + 3), np.zeros(4, np.int64)
    shadows = [np.zeros((8, 8)), np.zeros((8, 8))]
    needed, _ = derived.plain(*args, *shadows, 1.0, *tapes)
    assert needed == tapes[0].size


def test_adjoints_with_whole_arrays_are_derived_again():
    args = arguments("kalman", 5)
    derived = derive(CASES["kalman"][0], [type_of(a) for a in args])
    assert "_kept" in derived.source
    each = derive(CASES["kalman"][0], [type_of(a) for a in args], options=Options(whole=False))
    seconds = []
    for made in (derived, each):
        _, _, tapes = called(made, args)
        flat = [*args, *(np.zeros_like(args[n]) for n in made.shadows), 1.0, *tapes]
        start = {len(args) + k: np.cos(np.arange(args[n].size)).reshape(args[n].shape)
                 for k, n in enumerate(made.shadows)}  # fmt: skip
        again = made.again()
        found = called(again, flat, shadows=start, seeds=[0.0] * len(again.cotangents))
        seconds.append([found[0][n] for n in made.shadows])
    for one, other in zip(*seconds, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_results_of_lapack_are_kept_whole_in_their_order():
    draw = np.random.default_rng(0)
    args = [draw.normal(size=(4, 4)), draw.normal(size=(4, 3)), 3]
    derived = derive(solutions, [type_of(a) for a in args])
    assert "laid_down" in derived.source
    plain, _, _ = called(derived, args)
    compiled, _, _ = called(derived, args, "compiled")
    directions = [draw.normal(size=(4, 4)), draw.normal(size=(4, 3))]
    slope = sum(np.sum(plain[n] * directions[n]) for n in range(2))
    np.testing.assert_allclose(slope, along(solutions, args, [0, 1], directions), rtol=1e-7)
    for n in range(2):
        np.testing.assert_allclose(compiled[n], plain[n], rtol=1e-12)
