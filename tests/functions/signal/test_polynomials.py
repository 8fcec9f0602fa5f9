"""Polynomials: NumPy's coefficients and values, and derivatives, also where some are zero."""

import numpy as np
import pytest

import numgrad as ng

from ..numpy_calls import cases, check_call, check_gradients

RNG = np.random.default_rng(10)
A, B, X = RNG.standard_normal(4), RNG.standard_normal(3), RNG.standard_normal((2, 3))
A, B = A + np.sign(A), B + np.sign(B)
ZEROS = np.array([0.0, 0.0, 2.0, 1.0])

CALLS = {
    "polyval": lambda np, a, b: np.polyval(a, b),
    "polyval-number": lambda np, a, b: np.polyval(a, 2.5),
    "polyadd": lambda np, a, b: np.polyadd(a, b),
    "polysub": lambda np, a, b: np.polysub(b, a),
    "polymul": lambda np, a, b: np.polymul(a, b),
    "polymul-number": lambda np, a, b: np.polymul(a, 2),
    "polydiv": lambda np, a, b: np.polydiv(a, b),
    "polydiv-short": lambda np, a, b: np.polydiv(b, a),
    "polyder": lambda np, a, b: np.polyder(a),
    "polyder-0": lambda np, a, b: np.polyder(a, 0),
    "polyder-5": lambda np, a, b: np.polyder(a, 5),
    "polyder-negative": lambda np, a, b: np.polyder(a, -1),
    "polyint": lambda np, a, b: np.polyint(a),
    "polyint-0": lambda np, a, b: np.polyint(a, 0),
    "polyint-2": lambda np, a, b: np.polyint(a, 2, b),
    "polyint-one": lambda np, a, b: np.polyint(a, 2, 3.0),
    "polyint-few": lambda np, a, b: np.polyint(a, 5, b),
    "polyint-negative": lambda np, a, b: np.polyint(a, -1),
    "vander": lambda np, a, b: np.vander(a),
    "vander-0": lambda np, a, b: np.vander(a, 0),
    "vander-1": lambda np, a, b: np.vander(a, 1),
    "vander-increasing": lambda np, a, b: np.vander(a, 6, increasing=True),
    "vander-matrix": lambda np, a, b: np.vander(a[None]),
    "poly": lambda np, a, b: np.poly(a),
    "poly-cube": lambda np, a, b: np.poly(a[None, None]),
}  # fmt: skip


@cases(CALLS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16"])
def test_equals_numpy(call, dtype):
    check_call(call, (2 * A).astype(dtype), B.astype(dtype))


@pytest.mark.parametrize("name", ["polyadd", "polysub", "polymul"])
def test_zeros_in_front(name):
    check_call(CALLS[name], ZEROS, B)
    check_call(CALLS[name], 0 * A, B)
    check_call(CALLS["polydiv"], ZEROS, B)


def test_pairs_of_conjugate_roots_give_real_coefficients():
    check_call(lambda np, r: np.poly(r), np.array([1 + 2j, 1 - 2j, 3]))
    check_call(lambda np, r: np.poly(r), np.array([1 + 2j, 1 - 3j]))


@pytest.mark.parametrize(
    "name", ["polyval", "polyadd", "polymul", "polydiv-short", "polyint-2", "vander", "poly"]
)
def test_derivatives(name):
    check_gradients(CALLS[name], A, B)


def test_a_remainder_that_is_not_known_is_as_long_as_usual():
    call = CALLS["polydiv"]
    leaves = tuple(ng.tensor(x, requires_grad=True) for x in (A, B))
    assert ng.testing.gradcheck(lambda a, b: call(ng, a, b), leaves)
    (q, r), (late_q, late_r) = call(np, A, B), ng.jit(lambda a, b: call(ng, a, b))(A, B)
    np.testing.assert_allclose(late_q, q, 1e-12)
    np.testing.assert_allclose(late_r, r, 1e-12)


def test_a_zero_that_is_cut_off_keeps_its_derivative():
    a = ng.tensor([0.0, 1.0, 3.0], requires_grad=True)
    product = ng.polymul(a, [2.0, 1.0])  # 2 a0 x^3 + (a0 + 2 a1) x^2 + (a1 + 2 a2) x + a2
    assert product.shape == (3,)
    np.testing.assert_array_equal(ng.grad(product[0], a)[0].numpy(), [1.0, 2.0, 0.0])


def test_points_cannot_be_a_polynomial():
    with pytest.raises(TypeError, match="polyval"):
        ng.polyval(ng.tensor(A), np.poly1d([1, 2]))


# Roots --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "p", [[1.0, -6, 11, -6], [2, 1, 3], [0, 0, 1, -3, 2, 0, 0], [0.0], [3.0], [], [1, 0, 1, 0]]
)
def test_roots_equal_numpy(p):
    expected = np.roots(np.array(p))
    np.testing.assert_allclose(ng.roots(np.array(p)).numpy(), expected, 1e-12, 1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int32"])
def test_roots_have_the_precision_of_the_coefficients(dtype):
    p = np.array([1, 2, 3, 4, 0], dtype)
    found, expected = ng.roots(p), np.roots(p)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(np.sort(found), np.sort(expected), rtol=1e-5, atol=1e-6)


def smooth(np, p):
    r = np.roots(p)
    return (r * r).real.sum() + np.exp(-r / 10).real.sum()


@pytest.mark.parametrize("p", [[1.0, -6, 11, -6], [2.0, 1, 3], [1.0, -6, 11, -6, 0]])
def test_derivatives_of_roots(p):
    p = np.array(p)
    leaf = ng.tensor(p, requires_grad=True)
    (found,) = ng.grad(smooth(ng, leaf), leaf)
    moves = 1e-6 * np.eye(p.size)
    expected = [(smooth(np, p + h) - smooth(np, p - h)) / 2e-6 for h in moves]
    np.testing.assert_allclose(found.numpy(), expected, 1e-6, 1e-7)
    assert ng.testing.gradgradcheck(lambda p: smooth(ng, p), (leaf,))


def test_roots_in_a_captured_function_and_with_a_zero_in_front():
    p = np.array([1.0, -6, 11, -6, 1])
    np.testing.assert_allclose(ng.jit(lambda p: smooth(ng, p))(p), smooth(np, p))
    with pytest.raises(ValueError, match="leave it out"):
        ng.roots(ng.tensor([0.0, 1.0, 2.0], requires_grad=True))


# Fits ---------------------------------------------------------------------------------------------

T, V = np.linspace(-1, 2, 9), RNG.standard_normal(9)
FACTORS = RNG.uniform(0.5, 2, 9)
FITS = {
    "plain": lambda np, x, y: np.polyfit(x, y, 2),
    "weights": lambda np, x, y: np.polyfit(x, y, 3, w=FACTORS),
    "covariance": lambda np, x, y: np.polyfit(x, y, 2, cov=True),
    "unscaled": lambda np, x, y: np.polyfit(x, y, 1, w=FACTORS, cov="unscaled"),
    "columns": lambda np, x, y: np.polyfit(x, np.stack([y, y * y], -1), 2),
    "negative": lambda np, x, y: np.polyfit(x, y, -1),
    "misfit": lambda np, x, y: np.polyfit(x, y[:3], 1),
}  # fmt: skip


@cases(FITS)
def test_fits_equal_numpy(call):
    check_call(call, T, V)


@pytest.mark.parametrize("name", ["plain", "weights", "covariance", "columns"])
def test_derivatives_of_fits(name):
    check_gradients(FITS[name], T, V)


def test_covariance_of_fits_of_complex_values_is_real():
    y = V + 1j * V[::-1]
    check_call(lambda np, x, y: np.polyfit(x, y, 1, cov=True), T, y)
    x, y = np.linspace(0.0, 1.0, 5), RNG.standard_normal(5) + 1j * RNG.standard_normal(5)
    check_gradients(lambda np, x, y: np.polyfit(x, y, 1, cov=True)[1], x, y)


MATRIX = np.array([[2.0, 1.0, 0.3], [0.5, -1.0, 0.2], [0.1, 0.7, 4.0]])


def test_polynomials_that_are_characteristic_of_matrices():
    turning = np.array([[0.0, 1.0], [-1.0, 0.5]])
    for matrix in (MATRIX, turning, np.eye(1), MATRIX + 1j * np.eye(3)):
        check_call(lambda np, a: np.poly(a), matrix)
    check_gradients(lambda np, a: np.poly(a), MATRIX, order=1)
    for shape in ((2, 3), (0, 0), (1, 1, 1)):
        with pytest.raises(ValueError, match="poly"):
            ng.poly(np.ones(shape))


@pytest.mark.parametrize(
    ("u", "v"), [([2.0, 3, 4, 5], [1.0, 2]), ([1.0, 2, 3], [2.0]), ([1.0, 2], [1.0, 2, 3])]
)
def test_polydiv_captured_has_the_shapes_of_numpy(u, v):
    for found, expected in zip(ng.jit(ng.polydiv)(u, v), np.polydiv(u, v), strict=True):
        np.testing.assert_allclose(found, expected)


def test_characteristic_polynomials_of_real_matrices_are_real_when_captured_too():
    a = np.random.default_rng(0).normal(size=(4, 4))
    for matrix in (a, np.arange(9).reshape(3, 3)):
        found = ng.jit(ng.poly)(matrix)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, np.poly(matrix), rtol=1e-10, atol=1e-12)
    slope = ng.func.grad(lambda m: ng.poly(m)[2])
    np.testing.assert_allclose(ng.jit(slope)(a), slope(a), rtol=1e-12)
