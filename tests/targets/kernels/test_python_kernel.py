"""Programs that call functions in Python: run by entries, with any memory, threads and errors."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import numgrad as ng
from numgrad.targets.cpu.kernels import python_kernel
from numgrad.targets.cpu.schedule.bound_program import BoundProgram

CALLS = 3  # until a program that is not long has its entry


def symmetric(n, seed=0):
    a = np.random.default_rng(seed).standard_normal((n, n))
    return a + a.T


def eigenvalues(a):
    return ng.linalg.eigh(a)[0] * 2.0


@pytest.fixture
def settled():
    call = ng.jit(eigenvalues)
    for seed in range(CALLS):
        call(symmetric(6, seed))
    return call


@pytest.mark.short_ways
def test_an_entry_runs_a_program_that_calls_python(settled, monkeypatch):
    def run(*args):
        raise AssertionError("the program runs from Python")

    monkeypatch.setattr(BoundProgram, "run", run)
    a = symmetric(6, 9)
    np.testing.assert_array_equal(settled(a), np.linalg.eigh(a)[0] * 2.0)


def test_operands_may_lie_elsewhere_in_each_call(settled):
    matrices = [symmetric(6, seed) for seed in range(2 * python_kernel._MOST_VIEWS)]
    for a in (*matrices, *matrices[::-1]):
        np.testing.assert_array_equal(settled(a), np.linalg.eigh(a)[0] * 2.0)


def test_an_error_names_the_operator_and_the_next_call_is_right(settled):
    a = symmetric(6, 3)
    for _ in range(3):
        with pytest.raises(ng.errors.MatrixError, match="eigh"):
            settled(np.full((6, 6), np.nan))
        np.testing.assert_array_equal(settled(a), np.linalg.eigh(a)[0] * 2.0)


def test_threads_may_call_one_program_at_a_time_or_together(settled):
    matrices = [symmetric(6, seed) for seed in range(60)]
    with ThreadPoolExecutor(4) as pool:
        for a, found in zip(matrices, pool.map(settled, matrices), strict=True):
            np.testing.assert_array_equal(found, np.linalg.eigh(a)[0] * 2.0)


def test_a_function_may_call_the_program_that_calls_it(monkeypatch):
    a, within, found = symmetric(6, 5), [], []
    call, compute = ng.jit(eigenvalues), np.linalg.eigh

    def nested(x, *options):
        if not within:
            within.append(True)
            found.append(call(a))
            within.clear()
        return compute(x, *options)

    monkeypatch.setattr(np.linalg, "eigh", nested)
    for _ in range(2 * CALLS):
        found.append(call(a))
    assert len(found) == 4 * CALLS
    for result in found:
        np.testing.assert_array_equal(result, compute(a)[0] * 2.0)
