"""`vmap` of functions that close over tensors. Numbers are NumPy's."""

import numpy as np
import pytest

import numgrad as ng

F = ng.func


def close(found, expected):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-12)


# Tangents of what is closed over ------------------------------------------------------------------


def mapped_at(x):
    """Read a tensor and another one that is computed of it, both from outside of the function."""
    y = np.sin(x)
    return F.vmap(lambda k: x * y + k)(np.arange(3.0))


SLOPE = np.sin(0.7) + 0.7 * np.cos(0.7)


@pytest.mark.parametrize("captured", [False, True])
def test_a_tangent_reaches_what_is_closed_over_by_one_way(captured):
    function = ng.jit(mapped_at) if captured else mapped_at
    close(F.jvp(function, (0.7,), (2.0,))[1], np.full(3, 2 * SLOPE))
    close(F.linearize(function, 0.7)[1](2.0), np.full(3, 2 * SLOPE))
    close(F.jacfwd(function)(0.7), np.full(3, SLOPE))
    close(F.jacrev(function)(0.7), np.full(3, SLOPE))


def test_second_derivatives_to_what_is_closed_over_by_two_ways():
    total = lambda x: (mapped_at(x) ** 2).sum()  # noqa: E731
    values = 0.7 * np.sin(0.7) + np.arange(3.0)
    second = 2 * np.cos(0.7) - 0.7 * np.sin(0.7)
    expected = 2 * (SLOPE**2 + values * second).sum()
    close(F.hvp(total, (0.7,), (1.0,))[1][0], expected)
    close(F.hessian(total)(0.7), expected)
    close(F.jacfwd(F.jacfwd(total))(0.7), expected)


def test_tangents_through_two_levels_of_maps():
    def function(x):
        y = x * x

        def outer(k):
            z = np.sin(y) * k
            return F.vmap(lambda j: x * y + z * j)(np.arange(2.0))

        return F.vmap(outer)(np.arange(3.0))

    k, j = np.arange(3.0)[:, None], np.arange(2.0)
    expected = 3 * 0.49 + 1.4 * np.cos(0.49) * k * j
    close(F.jvp(function, (0.7,), (1.0,))[1], expected)
    close(F.jacrev(function)(0.7), expected)
