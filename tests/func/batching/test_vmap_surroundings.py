"""`vmap` of functions that close over tensors, or return views of what they write. Numbers are
NumPy's."""

import numpy as np
import pytest

import numgrad as ng

F = ng.func
X = np.random.default_rng(7).normal(size=(5, 4))


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


# Views of what is written -------------------------------------------------------------------------


def view_before(x):
    y = x * 1.0
    part = y[1:]
    y[1:] *= 3.0
    return part


def view_of_view(x):
    y = np.copy(x)
    part = y[1:]
    part[1:][...] -= x[0]
    return part


def expected_of(function, x):
    return np.stack([function(sample) for sample in x])


@pytest.mark.parametrize("function", [view_before, view_of_view])
@pytest.mark.parametrize("wrap", [lambda f: f, ng.jit], ids=["plain", "captured"])
def test_a_view_that_was_taken_before_a_write_is_returned(function, wrap):
    close(wrap(F.vmap(function))(X), expected_of(function, X))
    close(F.vmap(wrap(function))(X), expected_of(function, X))
    one = np.stack([function(row) for row in np.eye(4)], -1)  # a linear function
    for transform in (F.jacrev, F.jacfwd):
        close(wrap(F.vmap(transform(function)))(X), np.stack([one] * 5))
        close(wrap(transform(F.vmap(function)))(X), np.einsum("ab,ij->aibj", np.eye(5), one))


@pytest.mark.parametrize("kind", ["tensor", "array", "written before"])
@pytest.mark.parametrize("derivative", ["hessian", "jacrev", "third"])
def test_higher_derivatives_are_those_of_what_a_call_has_read(kind, derivative):
    """d/dx of x**3 * t, where t is written after the call, as is known in closed form."""

    def f(x):
        t = np.array([2.0, 4.0]) if kind == "array" else x * 0 + np.array([2.0, 4.0])
        if kind == "written before":
            t[...] = [2.0, 4.0]
        y = ng.func.vmap(lambda s: x * x * x * t * s, in_axes=0)(np.array([1.0]))
        t[...] = 0.125
        return y.sum()

    x = np.array([0.5, 3.0])
    if derivative == "hessian":
        expected, found = np.diag(6 * x * [2, 4]), ng.func.hessian(f)(x)
    elif derivative == "jacrev":
        expected, found = np.diag(6 * x * [2, 4]), ng.func.jacrev(ng.func.grad(f))(x)
    else:
        slope = ng.func.grad(lambda x: ng.func.grad(lambda x: ng.func.grad(f)(x).sum())(x).sum())
        expected, found = 6 * np.array([2, 4]), slope(x)
    np.testing.assert_allclose(found, expected, rtol=1e-15)
