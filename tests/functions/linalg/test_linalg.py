"""Linear algebra functions against NumPy, their derivatives, and their errors."""

import numpy as np
import pytest

import numgrad as ng

from ...operators.derivatives import check_derivatives, gradient, second
from ..products.matrices import close, draw

# Products

MATMUL_SHAPES = [
    ((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 1, 2, 3), (4, 3, 2)),
    ((0, 3), (3, 2)), ((4, 0), (0, 2)), ((0, 2, 3), (3, 4)),
    ((2, 3), (4, 3, 1)), ((4, 2, 3), (5, 4, 3, 1)), ((5, 4, 1, 3), (4, 3, 2)),
    ((3, 1, 2, 4), (1, 5, 4, 2)), ((1, 2, 3), (1, 1, 3, 4)), ((2, 1, 4, 3), (5, 3, 2)),
    ((0, 1, 2, 3), (4, 3, 2)), ((4, 1, 1), (2, 1, 1, 3)),
]  # fmt: skip


@pytest.mark.parametrize("shapes", MATMUL_SHAPES, ids=str)
def test_matmul_is_numpys(rng, shapes):
    a, b = draw(rng, *shapes)
    close(ng.matmul(a, b), a @ b)
    x = ng.tensor(a, requires_grad=True)
    close(x @ b, a @ b)
    (g,) = ng.grad((x @ b).sum(), x)
    assert g.shape == a.shape


@pytest.mark.parametrize("shapes", [s for s in MATMUL_SHAPES if 0 not in s[0]], ids=str)
def test_matmul_derivatives(rng, shapes):
    a, b = draw(rng, *shapes)
    check_derivatives(lambda x: ng.matmul(x, b), a, rng)
    check_derivatives(lambda x: ng.matmul(a, x), b, rng)


def test_matmul_of_other_dtypes(rng):
    a, b = rng.integers(-5, 5, (2, 3)), rng.integers(-5, 5, (3, 2))
    close(ng.matmul(a, b), a @ b)
    close(ng.matmul(a, b * 0.5), a @ (b * 0.5))
    close(ng.matmul(a.astype(bool), b.astype(bool)), a.astype(bool) @ b.astype(bool))
    mixed = ng.matmul(ng.tensor(a, dtype=np.float32), b.astype(np.complex64))
    assert mixed.dtype == np.complex64


@pytest.mark.parametrize(
    "shapes", [((), (2,)), ((2,), (3,)), ((2, 3), (2, 3)), ((2, 2, 3), (3, 3, 2))]
)
def test_matmul_refuses(shapes):
    with pytest.raises(ValueError, match=r"matmul|broadcast"):
        ng.matmul(*map(np.ones, shapes))


@pytest.mark.parametrize(
    "shapes",
    [
        ((), (2, 3)),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((2, 3), (3, 2)),
        ((2, 4, 3), (5, 3, 2)),
        ((2, 3), (4, 3, 2)),
        ((4, 2, 3), (3,)),
    ],
    ids=str,
)
def test_dot(rng, shapes):
    a, b = draw(rng, *shapes)
    close(ng.dot(a, b), np.dot(a, b))
    check_derivatives(lambda x: ng.dot(x, b), a, rng)


@pytest.mark.parametrize("name", ["inner", "outer", "kron", "vdot"])
def test_products_of_two(rng, name):
    for shapes in [((2, 3), (2, 3)), ((3,), (3,))]:
        a, b = draw(rng, *shapes)
        function = getattr(ng, name)
        close(function(a, b), getattr(np, name)(a, b))
        check_derivatives(lambda x: function(x, b), a, rng)  # noqa: B023
        check_derivatives(lambda x: function(x, x), a, rng)  # noqa: B023


def test_kron_of_unequal_ranks(rng):
    a, b = draw(rng, (2,), (2, 3, 2))
    close(ng.kron(a, b), np.kron(a, b))


def test_products_conjugate_their_first_argument(rng):
    a, b = (rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3)) for _ in range(2))
    close(ng.vdot(a, b), np.vdot(a, b))
    close(ng.vecdot(a, b), np.vecdot(a, b))
    close(ng.inner(a, b), np.inner(a, b))


def test_vecdot_and_cross(rng):
    a, b = draw(rng, (4, 3), (3,))
    close(ng.vecdot(a, b), np.vecdot(a, b))
    close(ng.vecdot(a, a, axis=0), np.vecdot(a, a, axis=0))
    close(ng.linalg.cross(a, a[::-1]), np.cross(a, a[::-1]))
    check_derivatives(lambda x: ng.linalg.cross(x, a), a[::-1].copy(), rng)


def test_trace(rng):
    (a,) = draw(rng, (3, 4, 5))
    close(ng.trace(a, 1), np.trace(a, 1))
    close(ng.trace(a, -1, 2, 0), np.trace(a, -1, 2, 0))
    close(ng.linalg.trace(a, offset=1), np.linalg.trace(a, offset=1))
    check_derivatives(lambda x: ng.trace(x, 1, 0, 2), a, rng)


def test_multi_dot(rng):
    a, b, c, d = draw(rng, (10, 2), (2, 8), (8, 1), (1, 5))
    close(ng.linalg.multi_dot([a, b, c, d]), np.linalg.multi_dot([a, b, c, d]))
    close(ng.linalg.multi_dot([a[0], b, c[:, 0]]), np.linalg.multi_dot([a[0], b, c[:, 0]]))
    check_derivatives(lambda x: ng.linalg.multi_dot([a, x, c, d]), b, rng)


@pytest.mark.parametrize("n", [-2, -1, 0, 1, 2, 5])
def test_matrix_power(rng, n):
    a = rng.standard_normal((2, 3, 3)) + 2 * np.eye(3)
    close(ng.linalg.matrix_power(a, n), np.linalg.matrix_power(a, n))
    if n:
        check_derivatives(lambda x: ng.linalg.matrix_power(x, n), a[0], rng, 1e-5)


# Systems


@pytest.mark.parametrize(
    "shapes",
    [((3, 3), (3,)), ((3, 3), (3, 2)), ((4, 3, 3), (3,)), ((4, 3, 3), (3, 2)), ((3, 3), (4, 3, 2))],
    ids=str,
)
def test_solve(rng, shapes):
    a, b = draw(rng, *shapes)
    a = a + 3 * np.eye(3)
    close(ng.linalg.solve(a, b), np.linalg.solve(a, b))
    check_derivatives(lambda x: ng.linalg.solve(x, b), a, rng)
    check_derivatives(lambda x: ng.linalg.solve(a, x), b, rng)


def test_inv_and_cholesky(rng):
    a = rng.standard_normal((2, 3, 3)) + 3 * np.eye(3)
    s = a @ a.swapaxes(-1, -2)
    close(ng.linalg.inv(a), np.linalg.inv(a))
    close(ng.linalg.cholesky(s), np.linalg.cholesky(s))
    close(ng.linalg.cholesky(s, upper=True), np.linalg.cholesky(s, upper=True))
    check_derivatives(ng.linalg.inv, a, rng)
    symmetric = lambda x: x + ng.matrix_transpose(x)  # noqa: E731
    check_derivatives(lambda x: ng.linalg.cholesky(symmetric(x)), s, rng)
    check_derivatives(lambda x: ng.linalg.cholesky(symmetric(x), upper=True), s, rng)


def test_the_gradient_of_cholesky_is_symmetric_and_reads_one_triangle(rng):
    a = rng.standard_normal((3, 3))
    s = a @ a.T + np.eye(3)
    g = gradient(ng.linalg.cholesky, s, rng.standard_normal((3, 3)))
    np.testing.assert_allclose(g, g.T)
    broken = np.tril(s) + 7 * np.triu(np.ones((3, 3)), 1)
    close(ng.linalg.cholesky(broken), np.linalg.cholesky(broken))


def test_complex_systems(rng):
    a = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))
    h = a @ a.conj().T + np.eye(3)
    close(ng.linalg.cholesky(h), np.linalg.cholesky(h))
    close(ng.linalg.cholesky(h, upper=True), np.linalg.cholesky(h, upper=True))
    close(ng.linalg.solve(a, np.ones(3)), np.linalg.solve(a, np.ones(3)))

    def parts(function):
        def split(x):
            y = function(x[0] + 1j * x[1])
            return ng.stack([ng.real(y), ng.imag(y)])

        return split

    x = np.stack([a.real, a.imag])
    check_derivatives(parts(ng.linalg.inv), x, rng, 1e-5)
    check_derivatives(parts(lambda z: ng.linalg.solve(z, z[0] + 1)), x, rng, 1e-5)
    hermitian = lambda z: z @ ng.conj(ng.matrix_transpose(z)) + np.eye(3)  # noqa: E731
    check_derivatives(parts(lambda z: ng.linalg.cholesky(hermitian(z))), x, rng, 1e-5)


def test_systems_of_other_dtypes_and_sizes():
    whole = np.array([[2, 1], [1, 3]])
    close(ng.linalg.inv(whole), np.linalg.inv(whole))
    close(ng.linalg.det(whole), np.linalg.det(whole))
    assert ng.linalg.solve(whole.astype(np.float32), np.ones(2, np.float32)).dtype == np.float32
    assert ng.linalg.solve(whole.astype(np.float32), np.ones(2)).dtype == np.float64
    empty = np.ones((0, 0))
    close(ng.linalg.inv(empty), empty)
    close(ng.linalg.det(empty), 1.0)
    close(ng.linalg.cholesky(np.ones((0, 2, 2))), np.ones((0, 2, 2)))


@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "cholesky"])
@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_matrices_must_be_square(name, shape):
    with pytest.raises(np.linalg.LinAlgError, match=f"{name}.*square"):
        getattr(ng.linalg, name)(np.ones(shape))


def test_singular_matrices():
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    for function in (ng.linalg.inv, lambda a: ng.linalg.solve(a, np.ones(2))):
        with pytest.raises(np.linalg.LinAlgError, match="singular"):
            function(singular)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        ng.linalg.cholesky(singular)
    sign, logabs = ng.linalg.slogdet(ng.tensor(singular, requires_grad=True))
    assert (sign.item(), logabs.item()) == (0.0, -np.inf)
    x = ng.tensor(singular, requires_grad=True)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        ng.grad(ng.linalg.slogdet(x).logabsdet, x)


def test_nan_goes_through_as_in_numpy():
    a = np.array([[np.nan, 1.0], [1.0, 2.0]])
    assert np.isnan(ng.linalg.inv(a).numpy()).any()
    assert np.isnan(ng.linalg.det(a).numpy())


# Norms


@pytest.mark.parametrize("p", [None, 0, 1, 2, 3, 0.5, -1, np.inf, -np.inf])
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_vector_norms(rng, p, axis, keepdims):
    (a,) = draw(rng, (3, 4))
    options = {"ord": p, "axis": axis, "keepdims": keepdims}
    close(ng.linalg.norm(a, **options), np.linalg.norm(a, **options))
    if not keepdims and p != 0:
        check_derivatives(lambda x: ng.linalg.norm(x, p, axis), a, rng, 1e-5)


@pytest.mark.parametrize("p", ["fro", 1, -1, np.inf, -np.inf])
def test_matrix_norms(rng, p):
    (a,) = draw(rng, (3, 4, 2))
    for axis in ((0, 2), (2, 0), (-1, -3)):
        for keepdims in (False, True):
            expected = np.linalg.norm(a, p, axis, keepdims)
            close(ng.linalg.norm(a, p, axis, keepdims), expected)
    close(ng.linalg.matrix_norm(a, ord=p), np.linalg.matrix_norm(a, ord=p))
    close(ng.linalg.norm(a[0], p), np.linalg.norm(a[0], p))
    check_derivatives(lambda x: ng.linalg.matrix_norm(x, ord=p), a, rng)


def test_norm_of_everything(rng):
    (a,) = draw(rng, (2, 3, 4))
    close(ng.linalg.norm(a), np.linalg.norm(a))
    close(ng.linalg.norm(a, keepdims=True), np.linalg.norm(a, keepdims=True))
    close(
        ng.linalg.vector_norm(a, axis=(0, 2), ord=3), np.linalg.vector_norm(a, axis=(0, 2), ord=3)
    )
    close(ng.linalg.norm(a + 1j * a[::-1]), np.linalg.norm(a + 1j * a[::-1]))
    close(ng.linalg.norm(np.arange(3)), np.linalg.norm(np.arange(3)))


def test_norm_at_zero_has_gradient_zero():
    zero = np.zeros(3)
    for p in (None, 1, 3):
        np.testing.assert_array_equal(gradient(lambda x: ng.linalg.norm(x, p), zero), zero)  # noqa: B023
    assert np.isnan(second(ng.linalg.norm, zero, np.array(1.0), zero)).all()  # it does not exist


def test_norms_refuse(rng):
    (a,) = draw(rng, (2, 3, 4))
    for arguments in [("fro", 0), (3, (0, 1)), ("fro", None), (2, (0, 0)), ("no", (0, 1))]:
        with pytest.raises(ValueError, match=r"norm|axis"):
            ng.linalg.norm(a, *arguments)


@pytest.mark.parametrize("order", [-1, -2, -0.5, -3])
def test_norms_of_negative_order(order):
    for x in ([3.0, -4.0], [0.0, 1.0], [np.inf, 1.0], [np.inf, -np.inf]):
        with np.errstate(divide="ignore"):
            expected = np.linalg.norm(x, order)
        np.testing.assert_allclose(ng.linalg.norm(x, order).numpy(), expected, 1e-14)


@pytest.mark.parametrize("order", [0.5, -1, -2])
def test_elements_that_are_zero_have_no_slope_in_norms_of_small_order(order):
    x = ng.tensor([0.0, 4.0, -9.0], requires_grad=True)
    (found,) = ng.grad(ng.linalg.norm(x, order), x)
    slopes = [0.0, 2.5, -5 / 3] if order == 0.5 else [0.0, 0.0, 0.0]
    np.testing.assert_allclose(found.numpy(), slopes, 1e-14)


def test_number_is_a_toeplitz_or_circulant_matrix_of_one_element_and_no_hankel_matrix():
    for name in ("toeplitz", "circulant"):
        assert getattr(ng.linalg, name)(3.0).tolist() == [[3.0]]
    for arguments in ((3.0,), ([1.0, 2.0], 4.0)):
        with pytest.raises(ValueError, match="hankel needs vectors"):
            ng.linalg.hankel(*arguments)


def test_tolerance_of_pinv_is_one_for_all_or_for_each_matrix():
    with pytest.raises(ValueError, match="pinv needs a tolerance"):
        ng.linalg.pinv(np.ones((2, 3)), np.full(4, 1e-15))
    assert ng.linalg.pinv(np.ones((4, 2, 3)), np.full(4, 1e-15)).shape == (4, 3, 2)


@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 1)])
def test_tolerances_of_least_squares_may_differ_from_system_to_system(shape):
    a, b = np.arange(6.0).reshape(2, 3) ** 2, np.ones((2, 1))
    tolerance = np.full(shape, 0.3)
    found = ng.linalg.lstsq(ng.tensor(a, requires_grad=True), b, tolerance)
    assert [x.shape for x in found] == [x.shape for x in ng.linalg.lstsq(a, b, tolerance)]
    np.testing.assert_allclose(found[0].detach(), ng.linalg.lstsq(a, b, tolerance)[0], rtol=1e-12)
