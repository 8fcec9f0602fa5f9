"""Factorizations, least squares and matrix functions against NumPy and SciPy: values and errors."""

import warnings

import numpy as np
import pytest
import scipy.linalg

import numgrad as ng

DTYPES = [np.float32, np.float64, np.complex64, np.complex128, np.int32]
SHAPES = [(3, 3), (2, 4, 4), (4, 3), (3, 4), (2, 3, 0), (0, 0), (0, 2, 2), (1, 1)]


def draw(shape, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    x = 3 * rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def agree(found, expected):
    """Compare results, or tuples of them, with their shapes and dtypes."""
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            agree(a, b)
        return
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype.kind == expected.dtype.kind
    if expected.dtype.kind in "fc":
        assert found.dtype == expected.dtype
        tolerance = 1e6 * np.finfo(expected.dtype).eps
        np.testing.assert_allclose(found.numpy(), expected, tolerance, tolerance)
    else:
        np.testing.assert_array_equal(found.numpy(), expected)


def compare(name, *args, library=np.linalg, **options):
    """Compare a call with that of the library, also where both raise."""
    own = getattr(ng.linalg, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = getattr(library, name)(*args, **options)
        except (ValueError, IndexError) as error:  # a LinAlgError is a ValueError
            with pytest.raises(type(error)):
                own(*args, **options)
            return
    agree(own(*args, **options), expected if isinstance(expected, tuple) else np.asarray(expected))


CALLS = {
    "svd": [{}, {"full_matrices": False}, {"compute_uv": False}],
    "svdvals": [{}],
    "qr": [{}, {"mode": "complete"}, {"mode": "r"}],
    "pinv": [{}, {"rcond": 0.4}],
    "matrix_rank": [{}, {"tol": 1.0}, {"rtol": 0.3}],
    "eigh": [{}, {"UPLO": "U"}, {"UPLO": "x"}],
    "eigvalsh": [{}],
    "cond": [{}, {"p": -2}, {"p": 1}, {"p": np.inf}, {"p": "fro"}],
    "matrix_norm": [{"ord": p} for p in (2, -2, "nuc", 1, -np.inf)],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [*SHAPES, (3,), ()], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_functions_are_numpys(name, shape, dtype):
    a = draw(shape, dtype)
    if name == "pinv" and a.dtype.kind == "i":
        a = a.astype(float)  # of integers without elements NumPy returns integers
    for options in CALLS[name]:
        compare(name, a, **options)


@pytest.mark.parametrize("name", CALLS)
def test_numpys_functions_take_tensors(name):
    a = draw((3, 3))
    found = getattr(np.linalg, name)(ng.tensor(a))
    agree(found, getattr(np.linalg, name)(a))


def test_results_have_the_names_of_numpys():
    for name in ("svd", "eigh", "eig", "qr"):
        theirs, ours = (getattr(m, name)(np.eye(2)) for m in (np.linalg, ng.linalg))
        assert type(ours).__name__ == type(theirs).__name__
        assert ours._fields == theirs._fields


@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_hermitian_matrices_of_which_one_triangle_is_read(dtype):
    a = draw((2, 3, 3), dtype)
    for name in ("svd", "pinv", "matrix_rank"):
        compare(name, a, hermitian=True)


def test_eigenvalues_are_complex_for_any_matrix():
    for a in (draw((2, 4, 4)), np.diag([1.0, 2.0])):
        w, v = np.linalg.eig(a)
        dtype = np.complex128
        agree(ng.linalg.eig(a), (w.astype(dtype), v.astype(dtype)))
        agree(ng.linalg.eigvals(a), w.astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3), (0, 3), (3, 0)], ids=str)
@pytest.mark.parametrize("rhs", [(), (2,), (0,)], ids=str)
def test_least_squares_are_numpys(shape, rhs, dtype):
    a, b = draw(shape, dtype), draw((shape[0], *rhs), np.float64, 1)
    for rcond in (None, 0.5, -1):
        compare("lstsq", a, b, rcond=rcond)


def test_residuals_are_left_out_where_the_rank_is_less():
    a = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    compare("lstsq", a, np.array([1.0, 0.0, 2.0]))
    with pytest.raises(np.linalg.LinAlgError, match="lstsq"):
        ng.linalg.lstsq(a, np.ones(2))


@pytest.mark.parametrize("p", [None, "fro", "nuc", 2, -2, 1, np.inf, 0, "no"])
@pytest.mark.parametrize("shape", [(3, 4, 2), (0, 2, 3), (3, 0, 0)], ids=str)
def test_norms_along_axes_are_numpys(p, shape):
    for axis in ((0, 2), (-1, -3), (1, 2), 1):
        for keepdims in (False, True):
            compare("norm", draw(shape), p, axis, keepdims)


@pytest.mark.parametrize("sizes", [(3, 3, 3), (4, 4, 1), (4, 1, 1), (3, 2, 1)])
@pytest.mark.parametrize("p", [None, 2, -2])
def test_slopes_of_condition_numbers_are_those_of_the_norms(sizes, p):
    a = np.diag(sizes).astype(float)
    ends = [ng.tensor(a, requires_grad=True) for _ in range(2)]
    largest, smallest = ng.linalg.norm(ends[0], 2), ng.linalg.norm(ends[1], -2)
    ratio = smallest / largest if p == -2 else largest / smallest
    expected = sum(g.numpy() for g in ng.grad(ratio, ends))
    found = ng.func.grad(lambda x: ng.linalg.cond(x, p))(a)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


def test_condition_numbers_of_singular_matrices_are_infinite():
    pair = np.stack([np.ones((2, 2)), np.eye(2)])
    for p in (None, 1, "fro"):
        compare("cond", pair, p)


@pytest.mark.parametrize("p", [None, 2, -2, 1, "fro"])
def test_condition_numbers_of_nan_are_nan(p):
    """NumPy's are from 2.5 on; before, its singular values of NaN did not converge."""
    pair = np.stack([np.full((2, 2), np.nan), np.diag([1.0, 4.0])])
    found = ng.linalg.cond(pair, p).numpy()
    assert np.isnan(found[0])
    np.testing.assert_allclose(found[1], np.linalg.cond(pair[1], p), rtol=1e-15)
    slopes = ng.func.jacrev(lambda x: ng.linalg.cond(x, p))(pair)
    np.testing.assert_array_equal(slopes[1, 0], 0 if p in (None, 2, -2) else np.nan)
    np.testing.assert_allclose(slopes[1, 1], ng.func.grad(ng.linalg.cond)(pair[1], p), rtol=1e-14)


# SciPy's ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
@pytest.mark.parametrize("rhs", [(4,), (4, 2)], ids=str)
def test_systems_are_scipys(rhs, dtype):
    a, b = draw((4, 4), dtype) + 9 * np.eye(4, dtype=dtype), draw(rhs, dtype, 1)
    for trans in (0, 1, 2, "N", "T", "C"):
        for lower in (False, True):
            options = {"trans": trans, "lower": lower, "library": scipy.linalg}
            compare("solve_triangular", a, b, **options)
            compare("solve_triangular", a / 9, b, unit_diagonal=True, **options)
    factors = ng.linalg.lu_factor(a)
    agree(factors, scipy.linalg.lu_factor(a))
    for trans in (0, 1, 2):
        expected = scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b, trans)
        agree(ng.linalg.lu_solve(factors, b, trans), expected)
    definite = a @ a.conj().T
    for lower in (False, True):
        expected = scipy.linalg.cho_solve(scipy.linalg.cho_factor(definite, lower), b)
        agree(ng.linalg.cho_solve(ng.linalg.cho_factor(definite, lower), b), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
@pytest.mark.parametrize("rhs", [(5,), (5, 2)], ids=str)
def test_banded_systems_are_scipys(rhs, dtype):
    b = draw(rhs, dtype, 1)
    for below, above in ((1, 1), (2, 0), (0, 1), (3, 2), (0, 0)):
        ab = draw((below + above + 1, 5), dtype)
        compare("solve_banded", (below, above), ab, b, library=scipy.linalg)
    for width in (1, 2, 4):
        for lower in (False, True):
            ab = 0.1 * draw((width, 5), dtype)
            ab[0 if lower else -1] = 5
            compare("solveh_banded", ab, b, lower=lower, library=scipy.linalg)
    with pytest.raises(ValueError, match="diagonals"):
        ng.linalg.solve_banded((1, 1), np.ones((2, 5)), b)
    for name, first in (("solve_banded", ((1, 1),)), ("solveh_banded", ())):
        with pytest.raises(np.linalg.LinAlgError, match=f"^{name}: singular"):
            getattr(ng.linalg, name)(*first, np.zeros((3, 5)), b)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_matrices_of_vectors_and_blocks_are_scipys(dtype):
    c, r, b = draw(4, dtype), draw(3, dtype, 1), draw((4, 2), dtype, 2)
    for name, args in {
        "toeplitz": (c, r), "hankel": (c, r), "circulant": (c,), "solve_circulant": (c, b),
        "solve_toeplitz": ((c, c[::-1]), b), "block_diag": (b, c, r[:, None]),
    }.items():  # fmt: skip
        compare(name, *args, library=scipy.linalg)
    for name in ("toeplitz", "hankel", "circulant"):
        compare(name, np.arange(3), library=scipy.linalg)
    compare("solve_toeplitz", c, b, library=scipy.linalg)
    compare("block_diag", library=scipy.linalg)
    compare("block_diag", 3.0, [1.0, 2.0], library=scipy.linalg)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_matrix_functions_are_scipys(dtype):
    a = draw((3, 3), dtype) / 5 + 3 * np.eye(3, dtype=dtype)
    for name in ("expm", "logm", "sqrtm", "lu"):
        compare(name, a.real if name == "lu" else a, library=scipy.linalg)
    compare("lu", a.real[:2], permute_l=True, library=scipy.linalg)
    compare("solve_sylvester", a, a[:2, :2], draw((3, 2), dtype), library=scipy.linalg)
    compare("solve_continuous_lyapunov", a, draw((3, 3), dtype), library=scipy.linalg)
    agree(ng.linalg.expm(np.stack([a, -a])), scipy.linalg.expm(np.stack([a, -a])))
    assert ng.linalg.logm(a.astype(np.complex64)).dtype == np.complex64


def test_tensors_as_maps_are_numpys():
    compare("tensorinv", draw((4, 6, 8, 3)))
    compare("tensorinv", draw((6, 2, 3)), 1)
    compare("tensorinv", draw((6, 2, 3)), 0)
    compare("tensorinv", draw((6, 2, 3)), 2)
    compare("tensorsolve", draw((2, 3, 6)), draw((2, 3)))
    compare("tensorsolve", draw((2, 6, 3)), draw((2, 3)), axes=(1,))


@pytest.mark.parametrize(
    ("name", "args", "reason"),
    [
        ("logm", ([[-1.0, 0.0], [0.0, -2.0]],), "complex"),
        ("sqrtm", ([[-1.0, 0.0], [0.0, -2.0]],), "complex"),
        ("solve_sylvester", ([[1.0]], [[-1.0]], [[1.0]]), "negative"),
        ("solve_triangular", ([[0.0]], [1.0]), "singular"),
        ("eigh", (np.ones((2, 3)),), "square"),
        ("eigvals", (np.ones((2, 3)),), "square"),
        ("expm", (np.ones((2, 3)),), "square"),
        ("cho_factor", ([[-1.0]],), "positive definite"),
        ("svdvals", ([[np.nan, 1.0], [1.0, 1.0]],), "converge"),
    ],
)
def test_errors_name_the_function(name, args, reason):
    with pytest.raises(np.linalg.LinAlgError, match=f"^{name}.*{reason}"):
        getattr(ng.linalg, name)(*args)


def test_arguments_without_meaning_are_refused():
    for function in (
        lambda: ng.linalg.qr(np.eye(2), "raw"),
        lambda: ng.linalg.pinv(np.eye(2), 0.1, rtol=0.1),
        lambda: ng.linalg.matrix_rank(np.eye(2), 0.1, rtol=0.1),
        lambda: ng.linalg.solve_triangular(np.eye(2), np.ones(2), trans=3),
        lambda: ng.linalg.lu_solve((np.eye(2), [0, 1]), np.ones(2), 3),
        lambda: ng.linalg.solve_sylvester(np.eye(2), np.eye(2), np.ones((2, 3))),
        lambda: ng.linalg.hankel(1.0),
    ):
        with pytest.raises(ValueError, match=r"mode|both|trans|fit|vector"):
            function()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 0, 3)])
def test_singular_vectors_of_matrices_without_elements_have_derivatives(shape):
    empty = np.zeros(shape)
    for full in (False, True):
        f = lambda a, full=full: sum(part.sum() for part in ng.linalg.svd(a, full_matrices=full))  # noqa: E731
        assert ng.func.grad(f)(empty).shape == shape
    g = lambda a: ng.func.grad(lambda a: ng.linalg.svdvals(a).sum())(a).sum()  # noqa: E731
    assert ng.func.grad(g)(empty).shape == shape
