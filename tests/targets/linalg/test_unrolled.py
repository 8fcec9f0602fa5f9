"""Kernels for many small matrices of one size, beside those for any size."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.ir.kernel_spec import LibrarySpec, ProductSpec
from numgrad.targets.cpu.kernels.kernel import kernel
from numgrad.targets.cpu.linalg.gemm import Geometry
from numgrad.targets.cpu.linalg.gemm_unrolled import product
from numgrad.targets.cpu.platform import object_loader
from numgrad.targets.cpu.ufunc.ufunc import KernelUfunc

F32, F64 = np.dtype("float32"), np.dtype("float64")
DTYPES = pytest.mark.parametrize("dtype", [F32, F64], ids=str)
SIZES = pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
COUNT = 40
LAYOUTS = {
    "by rows": lambda a: a,
    "by columns": lambda a: np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2),
    "strided": lambda a: np.repeat(np.repeat(a, 2, 1), 3, 2)[:, ::2, ::3],
    "reversed": lambda a: a[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def near(a, b, dtype):
    bound = 1e4 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(a, b, rtol=bound, atol=bound)


OUTER = [(2, 1, 2), (3, 1, 3), (5, 1, 3), (2, 1, 60), (60, 1, 2), (16, 1, 9)]
CORES = [(1, 4, 1), (4, 4, 1), (1, 3, 5), (3, 3, 3), (5, 2, 7), (2, 60, 2)]


@DTYPES
@pytest.mark.parametrize("core", CORES)
def test_products_have_the_bits_of_the_kernel_for_any_size(dtype, core, rng):
    m, k, n = core
    a = rng.standard_normal((COUNT, m, k)).astype(dtype)
    b = rng.standard_normal((COUNT, k, n)).astype(dtype)
    usual, made = kernel(ProductSpec(dtype)).ufunc, kernel(ProductSpec(dtype, core)).ufunc
    expected = usual(a, b)
    for first in LAYOUTS.values():
        for second in LAYOUTS.values():
            np.testing.assert_array_equal(made(first(a), second(b)), expected)
    np.testing.assert_array_equal(made(a, b[:1]), usual(a, b[:1]))


@DTYPES
@pytest.mark.parametrize("core", OUTER)
def test_outer_products_have_the_bits_of_multiplications(dtype, core, rng):
    m, _, n = core
    a = rng.standard_normal((COUNT, m, 1)).astype(dtype)
    b = rng.standard_normal((COUNT, 1, n)).astype(dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny]
    a[:6, 0, 0], b[2:8, 0, 1], b[:2] = special, special, -0.0
    made = kernel(ProductSpec(dtype, core)).ufunc
    with np.errstate(all="ignore"):
        expected = a * b
    assert np.signbit(expected[expected == 0]).any()
    for first in LAYOUTS.values():
        for second in LAYOUTS.values():
            found = made(first(a), second(b))
            np.testing.assert_array_equal(found, expected)
            whole = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(found)[whole], np.signbit(expected)[whole])
    a, b = abs(rng.standard_normal(a.shape)).astype(dtype), b[8:9]
    np.testing.assert_array_equal(made(a, b), a * b)


def test_products_without_multiply_add(rng):
    code = product(Geometry(F64, 2, 6, False), (3, 4, 2), "numgrad_test_small_product")
    address = object_loader.load(code.payload, code.symbol, code.externals)
    made = KernelUfunc("small", address, (F64, F64), (F64,), ProductSpec.signature)
    a, b = rng.standard_normal((COUNT, 3, 4)), rng.standard_normal((COUNT, 4, 2))
    total = np.zeros((COUNT, 3, 2))
    for k in range(4):
        total += a[:, :, k, None] * b[:, None, k]
    np.testing.assert_array_equal(made.ufunc(a, b), total)


@DTYPES
@SIZES
def test_lu_factors(dtype, n, rng):
    a = rng.standard_normal((COUNT, n, n)).astype(dtype)
    a[3], a[4], a[5] = 0, np.round(2 * a[4]), -np.eye(n)
    usual, made = (kernel(LibrarySpec("lu_factor", dtype, core=core)) for core in (None, (n,)))
    for layout in LAYOUTS.values():
        (lu, pivots), status = made.call(layout(a))
        (expected, rows), _ = usual.call(layout(a))
        assert status == 0
        regular = np.abs(np.linalg.det(a.astype(np.float64))) > 1e-3
        np.testing.assert_array_equal(pivots[regular], rows[regular])
        near(lu[regular], expected[regular], dtype)
        near(lu[3], np.zeros((n, n)), dtype)


def test_equal_columns_leave_a_zero_pivot(rng):
    """With a fused multiply-add 16 of 40 of the first pivots are 0, and none of the others."""
    whole = rng.integers(-9, 9, (COUNT, 4, 4)).astype(np.float64)
    for a, least in ((whole, 1.0), (whole + rng.standard_normal(whole.shape), 0.8)):
        a[:, :, 2] = a[:, :, 0]
        (lu, _), _ = kernel(LibrarySpec("lu_factor", F64, core=(4,))).call(a)
        assert np.mean(lu[:, 2, 2] == 0) >= least


@DTYPES
@SIZES
@pytest.mark.parametrize("adjoint", [False, True])
def test_systems(dtype, n, adjoint, rng):
    a = rng.standard_normal((COUNT, n, n)).astype(dtype) + 2 * np.eye(n, dtype=dtype)
    a[1] = np.roll(np.eye(n, dtype=dtype) * 3, 1, 0)
    (lu, pivots), _ = kernel(LibrarySpec("lu_factor", dtype)).call(a)
    triangle = np.tril(a) + 2 * n * np.eye(n, dtype=dtype)
    for k in (1, 2, 5):
        b = rng.standard_normal((COUNT, n, k)).astype(dtype)
        for layout in LAYOUTS.values():
            for name, given, lower in [
                ("lu_solve", (lu, pivots), True),
                ("solve_triangular", (triangle,), True),
                ("solve_triangular", (triangle.swapaxes(1, 2).copy(),), False),
            ]:
                spec = LibrarySpec(name, dtype, lower, adjoint, (n, k))
                x, status = kernel(spec).call(*given, layout(b))
                expected, _ = kernel(LibrarySpec(name, dtype, lower, adjoint)).call(*given, b)
                assert status == 0
                near(x / abs(expected).max(), expected / abs(expected).max(), dtype)


@DTYPES
@SIZES
def test_cholesky(dtype, n, rng):
    root = rng.standard_normal((COUNT, n, n)).astype(dtype) + np.eye(n, dtype=dtype)
    a = root @ root.swapaxes(1, 2) + np.eye(n, dtype=dtype)
    usual, made = (kernel(LibrarySpec("cholesky", dtype, core=core)) for core in (None, (n,)))
    for layout in LAYOUTS.values():
        factor, status = made.call(layout(a))
        assert status == 0
        near(factor, usual.call(a)[0], dtype)
        np.testing.assert_array_equal(np.triu(factor, 1), np.zeros_like(factor))
    a[7] = -a[7]
    assert made.call(a)[1] == usual.call(a)[1] == 8
    a[7] = np.nan
    assert made.call(a)[1] == usual.call(a)[1] == 0
    assert np.isnan(np.tril(made.call(a)[0][7])).any()


def test_the_first_singular_system_is_reported(rng):
    a = rng.standard_normal((COUNT, 3, 3))
    (lu, pivots), _ = kernel(LibrarySpec("lu_factor", F64)).call(a)
    lu[[5, 9], 1, 1] = 0
    b = rng.standard_normal((COUNT, 3, 2))
    for core in (None, (3, 2)):
        assert kernel(LibrarySpec("lu_solve", F64, core=core)).call(lu, pivots, b)[1] == 6


def test_functions_on_many_small_matrices(rng):
    """Values and gradients are those of one matrix at a time, and failures name the function."""
    a, b = rng.standard_normal((COUNT, 3, 3)) + 3 * np.eye(3), rng.standard_normal((COUNT, 3))
    functions = {
        "solve": lambda a, b: ng.linalg.solve(a, b[..., None])[..., 0],
        "inv": lambda a, b: ng.linalg.inv(a) @ b[..., None],
        "det": lambda a, b: ng.linalg.det(a) * b[..., 0],
        "cholesky": lambda a, b: ng.linalg.cholesky(a @ a.mT + 1) @ b[..., None],
        "products": lambda a, b: ng.einsum("...i,...ij,...j->...", b, a, b),
    }
    for function in functions.values():
        gradient = ng.func.value_and_grad(lambda a, b, f=function: ng.sum(f(a, b) ** 2), (0, 1))
        alone = [gradient(*pair) for pair in zip(a, b, strict=True)]
        for way in (gradient, ng.jit(gradient)):
            value, slopes = way(a, b)
            np.testing.assert_allclose(value, sum(v for v, _ in alone), rtol=1e-10)
            for n, slope in enumerate(slopes):
                np.testing.assert_allclose(slope, [g[n] for _, g in alone], rtol=1e-7, atol=1e-9)
    a[17] = 1.0
    with pytest.raises(np.linalg.LinAlgError, match="solve: singular matrix"):
        functions["solve"](ng.tensor(a, requires_grad=True), b)
