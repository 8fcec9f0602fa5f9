"""Products of real matrices by the target's own code."""

import os
import subprocess
import sys

import numpy as np
import pytest

from numgrad.targets.cpu.kernels.kernel import ProductSpec, kernel
from numgrad.targets.cpu.linalg import gemm
from numgrad.targets.cpu.linalg.gemm import BLOCK, MANY_ROWS, Geometry, geometry
from numgrad.targets.cpu.linalg.gemm_codegen import product
from numgrad.targets.cpu.platform import object_loader
from numgrad.targets.cpu.ufunc.ufunc import KernelUfunc
from tests.sampling import exhaustive

from ..kernel_tools import call

F32, F64 = np.dtype("float32"), np.dtype("float64")
DTYPES = pytest.mark.parametrize("dtype", [F32, F64], ids=str)
LAYOUTS = {
    "by rows": lambda a: a,
    "by columns": np.asfortranarray,
    "padded": lambda a: np.concatenate([a, a], -1)[:, : a.shape[-1]],
    "strided": lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
    "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
}
SIZES = [
    (1, 1, 1), (3, 4, 5), (1, 7, 40), (40, 7, 1), (11, 16, 16), (13, 17, 33), (29, 3, 100),
    (1, BLOCK + 40, 300), (2, BLOCK - 1, 9),
    (5, BLOCK + 1, 9), (3, 3 * BLOCK, 31), (MANY_ROWS + 5, 9, 20),
]  # fmt: skip


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def matmul(dtype):
    return kernel(ProductSpec(dtype)).ufunc


def factors(rng, dtype, m, k, n):
    return rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)


def exact(a, b):
    return (a.astype(np.longdouble) @ b.astype(np.longdouble)).astype(np.float64)


def close(result, a, b):
    """Compare with what rounding may do to terms of this size."""
    bound = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    eps = float(np.finfo(a.dtype).eps)
    terms = min(a.shape[1], BLOCK) + a.shape[1] // BLOCK + 1
    assert (np.abs(result - exact(a, b)) <= terms * eps * bound).all()


@DTYPES
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_product_of_any_size_and_layout(dtype, size, rng):
    a, b = factors(rng, dtype, *size)
    result = matmul(dtype)(a, b)
    close(result, a, b)
    for first in LAYOUTS.values():
        for second in LAYOUTS.values():
            np.testing.assert_array_equal(matmul(dtype)(first(a), second(b)), result)


@DTYPES
@pytest.mark.parametrize("columns", [1, 9, 16, 70])
def test_a_row_has_the_same_bits_alone_and_among_others(dtype, columns, rng):
    a, b = factors(rng, dtype, MANY_ROWS + 30, BLOCK + 44, columns)
    everything = matmul(dtype)(a, b)
    for count in (1, 2, 3, 7, 12, 13, 23, 64):
        for first in (0, 5, MANY_ROWS - 3):
            part = matmul(dtype)(a[first : first + count], b)
            np.testing.assert_array_equal(part, everything[first : first + count])


@DTYPES
def test_a_column_has_the_same_bits_alone_and_among_others(dtype, rng):
    a, b = factors(rng, dtype, 5, BLOCK + 44, 70)
    everything = matmul(dtype)(a, b)
    for count in (1, 3, 8, 17, 33):
        part = matmul(dtype)(a, b[:, 2 : 2 + count])
        np.testing.assert_array_equal(part, everything[:, 2 : 2 + count])


def of_geometry(made_for, name):
    """The kernel for other registers than those of this machine, as LLVM translates them."""
    symbol = f"numgrad_test_product_{name}"
    code = product(made_for, symbol)
    address = object_loader.load(code.payload, code.symbol, code.externals)
    dtypes = (made_for.dtype,)
    return KernelUfunc(name, address, dtypes * 2, dtypes, ProductSpec.signature)


@DTYPES
def test_the_width_of_registers_does_not_show(dtype, rng):
    own = geometry(dtype)
    other = own._replace(lanes=max(2, own.lanes // 2), rows=6 if own.rows == 12 else 12)
    made = of_geometry(other, f"other_{dtype}")
    for size in SIZES:
        a, b = factors(rng, dtype, *size)
        for right in (b, np.asfortranarray(b)):
            np.testing.assert_array_equal(made.ufunc(a, right), matmul(dtype)(a, b))


def test_registers_without_multiply_add(rng):
    made = of_geometry(Geometry(F64, 2, 6, False), "plain")
    for size in SIZES:
        a, b = factors(rng, F64, *size)
        close(made.ufunc(a, b), a, b)


@DTYPES
@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 4, 0)])
def test_empty_matrices(dtype, shape):
    m, k, n = shape
    out = np.full((m, n), 7.0, dtype)
    matmul(dtype)(np.ones((m, k), dtype), np.ones((k, n), dtype), out=out)
    assert not out.any()


@DTYPES
@pytest.mark.parametrize("layout", ["by rows", "by columns"])
def test_special_values_stay_in_their_rows_and_columns(dtype, layout, rng):
    a, b = factors(rng, dtype, 30, 20, 21)
    plain = matmul(dtype)(a, b)
    a[3, 4], a[17, 0], b[2, 20] = np.nan, np.inf, -np.inf
    result = matmul(dtype)(a, LAYOUTS[layout](b))
    assert np.isnan(result[3]).all()
    np.testing.assert_array_equal(np.delete(result[17], 20), np.inf * np.sign(b[0, :20]))
    np.testing.assert_array_equal(np.delete(result[:, 20], (3, 17)),
                                  -np.inf * np.sign(np.delete(a[:, 2], (3, 17))))  # fmt: skip
    others = np.delete(np.delete(result, (3, 17), 0), 20, 1)
    np.testing.assert_array_equal(others, np.delete(np.delete(plain, (3, 17), 0), 20, 1))


@DTYPES
def test_nothing_is_written_or_read_outside(dtype, rng):
    itemsize = dtype.itemsize
    for m, k, n in SIZES[:7]:
        a, b = factors(rng, dtype, m, k, n)
        space = np.full((m + 2) * n, 7, dtype)
        c = space[n : n + m * n].reshape(m, n)
        steps = [0, 0, 0, k * itemsize, itemsize, n * itemsize, itemsize, n * itemsize, itemsize]
        assert call(kernel(ProductSpec(dtype)), [a, b, c], 1, steps, (m, k, n)) == 0
        np.testing.assert_array_equal(c, matmul(dtype)(a, b))
        assert (space[:n] == 7).all()
        assert (space[n + m * n :] == 7).all()


@pytest.mark.parametrize("m", [1, 3])
def test_a_loop_over_rows_that_are_apart(m, rng):
    a = rng.random((20, 2 * m, 4))[:, :m]
    b, c = rng.random((4, 5)), np.full((20, m + 1, 5), 7.0)
    steps = [a.strides[0], 0, c.strides[0], *a.strides[1:], *b.strides, *c.strides[1:]]
    assert call(kernel(ProductSpec(F64)), [a, b, c], 20, steps, (m, 4, 5)) == 0
    np.testing.assert_allclose(c[:, :m], a @ b)
    assert (c[:, m] == 7).all()


def test_stacks_of_matrices(rng):
    a, b = rng.random((6, 1, 5, 7)), rng.random((3, 7, 4))
    np.testing.assert_allclose(matmul(F64)(a, b), a @ b)
    shared = matmul(F64)(a, b[0])
    np.testing.assert_array_equal(shared[4, 0], matmul(F64)(a[4, 0], b[0]))


SCRIPT = """
import sys, warnings
import numpy as np
import numgrad as ng
x = ng.tensor(np.ones((3, 4)), requires_grad=True)
y = x @ np.ones((4, 5))
ng.grad(y, x, np.ones((6, 3, 5)), is_grads_batched=True)
ng.grad(ng.tanh(x) @ np.ones(4), x, np.ones(3))
a = ng.tensor(np.eye(3) + 1j, requires_grad=True)
ng.grad(ng.linalg.solve(a, a @ np.ones(3)).real, a, np.ones(3))
ng.linalg.cholesky(ng.tensor(np.eye(3)))
print("numba" in sys.modules)
"""


@exhaustive
def test_a_second_process_multiplies_without_numba(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMGRAD_CACHE_DIR", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("NUMBA_")]:
        monkeypatch.delenv(name)  # who sets them has Numba asked what they mean
    answers = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        answers.append(done.stdout.strip())
    assert answers == ["True", "False"]


def test_code_uses_the_registers_of_this_machine():
    made_for = geometry(F64)
    assert gemm.address(F64) == gemm.address(F64)
    assert made_for.lanes * 8 in (16, 32, 64)
    assert geometry(F32).lanes == 2 * made_for.lanes
