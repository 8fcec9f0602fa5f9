"""The differences that random programs are judged by, against derivatives by hand."""

import numpy as np
import pytest

from numgrad.testing.fuzzing.differences import Differences, WideNumPy, noise, wide

wide_dtype = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="long doubles are doubles on this platform"
)


@pytest.fixture
def differences():
    return Differences()


@pytest.fixture
def x():
    return wide(np.array([0.3, -0.7, 1.1]))


def near(found, expected, level):
    np.testing.assert_allclose(found, expected, rtol=0, atol=10 * noise(level))


@wide_dtype
def test_first_derivatives(differences, x):
    def cubes(x):
        return np.sum(x**3)

    near(differences.func.grad(cubes)(x), 3 * x**2, 1)
    value, slope = differences.func.value_and_grad(cubes)(x)
    assert value == cubes(x)
    near(slope, 3 * x**2, 1)
    near(differences.func.jvp(np.sin, (x,), (x,))[1], np.cos(x) * x, 1)
    near(differences.func.vjp(np.sin, x)[1](x)[0], np.cos(x) * x, 1)
    near(differences.func.jacrev(np.sin)(x), np.diag(np.cos(x)), 1)


@wide_dtype
def test_derivatives_of_derivatives(differences, x):
    def quartics(x):
        return np.sum(np.sin(x) * x)

    second = 2 * np.cos(x) - x * np.sin(x)
    near(differences.func.hessian(quartics)(x), np.diag(second), 2)
    near(differences.func.hvp(quartics, (x,), (x,))[1][0], second * x, 2)
    third = differences.func.jacfwd(differences.func.hessian(quartics))(x)
    near(third[0, 0, 0], -3 * np.sin(x[0]) - x[0] * np.cos(x[0]), 3)


@wide_dtype
def test_a_complex_gradient_is_that_of_the_documentation(differences):
    z = wide(np.array([1 + 2j, -0.5j]))
    slope = differences.func.grad(lambda z: np.sum(np.abs(z) ** 2))(z)
    near(slope, 2 * z, 1)
    near(differences.func.vjp(lambda z: z * z, z)[1](np.ones(2))[0], 2 * np.conj(z), 1)


@wide_dtype
def test_a_leaf_that_is_closed_over_is_moved_in_place(differences, x):
    before = x.copy()
    (slope,) = differences.leaf_gradients(lambda: np.sum(x**2), x)
    near(slope, 2 * x, 1)
    np.testing.assert_array_equal(x, before)


@wide_dtype
def test_systems_are_solved_in_the_wide_dtype():
    a = wide(np.array([[2.0, 0.3], [0.1, 1.5]]))
    b = wide(np.array([[1.0], [1 / 3]]))
    np.testing.assert_allclose(a @ WideNumPy().linalg.solve(a, b), b, rtol=0, atol=1e-18)


def test_a_kink_is_seen(differences):
    assert differences.func.grad(np.abs)(np.longdouble(0.0)) == 0.0
    assert differences.kinks == 1
    differences.func.grad(np.abs)(np.longdouble(0.5))
    assert differences.kinks == 1


def test_statements_are_disturbed_alike_each_time_and_views_are_not(x):
    differences = Differences(disturbance=1e-3)
    moved = differences.disturbed(1, x)
    np.testing.assert_array_equal(moved, differences.disturbed(1, x))
    assert 0 < np.max(np.abs(moved / x - 1)) < 1e-3
    assert differences.disturbed(1, x[1:]).base is x
    assert Differences().disturbed(1, x) is x
