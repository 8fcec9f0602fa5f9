"""Arrays whose lengths change, heaps and stencils: batched, captured, twice differentiated."""

import numpy as np
import pytest
from numba import njit

import numgrad as ng
from numgrad._adjoint import AdjointError, derive, type_of
from numgrad._adjoint.sparing import run_sparing
from tests.sampling import one_in

from . import lengths
from .test_kernels import along, called

X = np.array([0.93, 0.41, 0.78, 0.27, 0.55])
USED = [lengths.grows_by_append, lengths.heaps, lengths.condition_chooses_lengths]


@pytest.mark.parametrize("kernel", one_in(3, USED), ids=lambda kernel: kernel.__name__)
def test_all_ways_to_the_gradient_have_its_bits(kernel):
    function = ng.njit(kernel)
    gradient = ng.func.grad(function)
    rows = np.stack([X, X[::-1], 1.1 * X])
    expected = [gradient(row) for row in rows]
    mapped = ng.func.vmap(gradient)(rows)
    assert np.array_equal(mapped, expected)
    captured = ng.jit(gradient)
    for n in range(104):
        assert np.array_equal(captured(rows[n % 3]), expected[n % 3])
    assert function(ng.tensor(X)).item() == njit(kernel)(X)


def test_second_derivatives():
    gradient = ng.func.grad(ng.njit(lengths.grows_by_append))
    direction = np.array([0.2, -0.5, 0.4, 0.1, 0.3])
    found = ng.func.hessian(ng.njit(lengths.grows_by_append))(X) @ direction
    np.testing.assert_allclose(found, along(gradient, [X], [0], [direction]), rtol=1e-6)


@njit
def window(x, steps):
    y, s = x.copy(), 0.0
    for i in range(steps):
        y = y[3:] if len(y) > 7 else np.append(y, np.sin(y[0] + 0.9 * y[-1]) + x[i % 5])
        s += y[-1] * y[1]
    return s / steps


def test_long_loops_are_run_again_from_snapshots():
    derived = derive(window, [type_of(X), type_of(2000)])
    expected = called(derived, [X, 2000], "compiled")[0][0]
    for memory in (1000, 20_000):
        found = np.zeros_like(X)
        run_sparing(derived.sparing, [X, 2000], [found], [1.0], memory)
        np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(("kernel", "words"), lengths.REFUSED, ids=lambda part: str(part)[:30])
def test_what_is_not_understood_is_refused_with_its_line(kernel, words):
    where = rf"lengths.py, line \d+, in {kernel.__name__}"
    with pytest.raises(AdjointError, match=where) as found:
        derive(kernel, [type_of(np.zeros(3))])
    assert words in str(found.value)


def test_any_number_of_arguments_is_refused_where_tensors_are_handed_over():
    @ng.njit
    def summed(*arrays):
        return arrays[0][0] * arrays[1][0]

    with pytest.raises(ng.errors.NotDifferentiableError, match="hand over a tuple"):
        ng.func.grad(lambda x: summed(x, x))(X)
