"""Derived sources in words that Numba compiles faster: the same bits, whatever the names."""

import ast
from itertools import product

import numpy as np
import pytest
from numba import njit

from numgrad._adjoint import Options, derive, type_of
from numgrad._adjoint import derived as module
from numgrad._adjoint.kernel import run
from numgrad._adjoint.respelling import respelled
from tests.sampling import one_in

from .kernels import CASES, arguments
from .language import KERNELS


def gradient(derived, given, seed=1.0):
    shadows = {n: np.zeros_like(given[n]) for n in derived.shadows}
    seeds = [seed] * len(derived.cotangents)
    numbers, _ = run(derived, given, shadows, seeds)
    return [shadow.tobytes() for shadow in shadows.values()] + list(numbers)


NAMES = "heat", "crank_nicolson", "cholesky", "wavelet", "metropolis"


@pytest.mark.parametrize(
    ("name", "dtype"),
    one_in(3, [pytest.param(*case) for case in product(NAMES, (np.float64, np.float32))]),
)
def test_bits_are_those_of_the_source(name, dtype, monkeypatch):
    given = [
        part.astype(dtype) if getattr(part, "dtype", None) == np.float64 else part
        for part in arguments(name, 21)
    ]
    types = [type_of(part) for part in given]
    found = gradient(derive(CASES[name][0], types), given)
    monkeypatch.setattr(module, "respelled", lambda source, *_: (source, {}))
    assert gradient(derive(CASES[name][0], types), given) == found


@njit
def with_words_as_names(row_at, taken, lay, n):
    copied = row_at.copy()
    add_1 = np.zeros(len(taken))
    for zeros_1 in range(n):
        for sum_of in range(1, len(taken)):
            add_1[sum_of] += np.sin(copied[sum_of - 1]) * taken[sum_of] * lay
        copied[zeros_1] = copied[zeros_1] * add_1[zeros_1 + 1]
    return np.sum(copied) + np.sum(add_1)


def test_names_of_a_kernel_may_be_words():
    x = np.array([0.3, 0.7, -0.4, 1.1])
    adjoint = derive(with_words_as_names, [type_of(part) for part in (x, x, 0.5, 3)])
    found = gradient(adjoint, [x, x + 1.0, 0.5, 3])
    step = 1e-6
    values = [with_words_as_names(x, x + 1.0, 0.5 + sign * step, 3) for sign in (1, -1)]
    assert found[-1] == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-8)


@njit
def stepped(x, k, n):
    y, z = x.copy(), np.zeros_like(x)
    for _ in range(n):
        for i in range(1, len(y)):
            for j in range(y.shape[1]):
                z[i, j] = y[i, j] + k * y[i - 1, j] * y[i, j]
        y, z = z, y
    return y, np.sum(z)


OPTIONS = Options(), Options(snapshots=True), Options(small=False)


def sources():
    """Return a case for each kernel under all options."""
    given = [(stepped, [np.zeros((2, 2)), 0.5, 3]), *((k, [np.zeros(5)]) for k in KERNELS)]
    given += [(CASES[name][0], arguments(name)) for name in CASES]
    return [
        pytest.param(options, kernel, args, id=f"{kernel.__name__}-{n}")
        for n, options in enumerate(OPTIONS)
        for kernel, args in given
    ]


@pytest.mark.parametrize(("options", "kernel", "args"), one_in(5, sources()))
def test_no_array_is_assigned_to_a_part_of_another(options, kernel, args):
    """Numba compiles its functions of strings for that, two seconds long."""
    source = derive(kernel, [type_of(a) for a in args], options=options).source
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                assert not any(map(is_part, ast.walk(target))), ast.unparse(node)


def is_part(node):
    is_ellipsis = isinstance(node, ast.Constant) and node.value is Ellipsis
    return isinstance(node, ast.Slice) or is_ellipsis


def test_a_row_is_what_is_only_a_part_of_a_tape():
    source = """
def f(tape, x):
    one = tape[2:4]
    other = tape[4:6]
    third = x[1:]
    low = one[1:]
    kept = other.size
    one[0] += x[1] + low[0]
    third[0] = other[1]
    return kept
"""
    text, words = respelled(source, ["tape"], [])
    assert "one = row_at(tape, 2)" in text
    assert "low = row_at(one, 1)" in text
    assert "lay(one, 0, taken(one, 0) + (x[1] + taken(low, 0)))" in text
    assert "other = tape[4:6]" in text
    assert "third = x[1:]" in text
    assert words == {"row_at": "row_at", "lay": "lay", "taken": "taken"}


def test_long_functions_of_numpy_are_called_apart_unless_options_are_asked_for():
    source = (
        "def f(a, b, solve):\n"
        "    order = np.argsort(b, kind='mergesort')\n"
        "    return (np.linalg.solve(a, b), np.linalg.svd(a, False), np.argsort(b), order)\n"
    )
    text, words = respelled(source, [], [])
    assert words == {
        "solve_": "np.linalg.solve", "svd_": "np.linalg.svd", "argsort_": "np.argsort",
        "argsort_mergesort": "np.argsort mergesort",
    }  # fmt: skip
    assert "return (solve_(a, b), svd_(a, False), argsort_(b), order)" in text
    assert "order = argsort_mergesort(b)" in text
    assert respelled(source, [], [], False)[1] == {}
