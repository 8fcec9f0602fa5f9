"""Kernels: every layout of operands, every dtype, vector code, statuses, errors, the cache."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from numgrad._errors import KernelError
from numgrad._settings import settings
from numgrad.targets.cpu.codegen.core_loop import NOT_CONTIGUOUS
from numgrad.targets.cpu.codegen.elementwise import BLOCK
from numgrad.targets.cpu.kernels.kernel import LoopSpec, RawSpec, kernel
from numgrad.targets.cpu.linalg import blas

from ..kernel_tools import C64, C128, F32, F64, call, call_rows, generated_code, spec_of

BOOL, INT8, INT16, INT64 = (np.dtype(name) for name in ("bool", "int8", "int16", "int64"))


def multiply_add(x, y):
    return x * y + x


def sum_and_order(x, y):
    return x + y, x > y


def choose(c, a, b):
    return where(c, a, b)  # noqa: F821 - bound in the kernel


# Elementwise


@pytest.mark.parametrize("dtype", [F32, F64, C64, C128, INT8, INT16, INT64], ids=str)
@pytest.mark.parametrize("n", [0, 1, 7, BLOCK, 2 * BLOCK + 5])
def test_an_element_has_the_same_bits_in_every_layout(dtype, n, rng):
    k = kernel(spec_of(multiply_add, dtype, dtype, dtype))
    x, y = (make(rng, dtype, 3 * n + 1) for _ in range(2))
    for at in (slice(0, n), slice(0, 3 * n, 3), slice(n, None, -1) if n else slice(0, 0)):
        a, b = x[at][:n], y[at][:n]
        out = np.zeros(3 * n + 1, dtype)[::2][:n]
        status = call(k, [a, b, out], n, [a.strides[0], b.strides[0], out.strides[0]])
        assert status == 0
        np.testing.assert_array_equal(out, k.ufunc(a.copy(), b.copy()))
        np.testing.assert_allclose(out, a * b + a, rtol=1e-5)


def same(x, y):
    return x


def damped(x, y):
    return math.exp(-x * x) * math.sin(y)


@pytest.mark.parametrize("function", [same, multiply_add, damped])
@pytest.mark.parametrize("n", [1, 2, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64])
def test_rows_of_any_length_have_the_bits_of_one_long_row(function, n, rng):
    """Short rows are computed in place, or together in buffers, by the function's operations."""
    rows, k = 23, kernel(spec_of(function, F64, F64, F64))
    x, y = make(rng, F64, 2 * rows * n).reshape(rows, 2 * n)[:, :n], make(rng, F64, n)
    out = np.full((rows, n + 1), 7.0)
    status, moved = call_rows(k, [x, y, out], n, rows, [8, 8, 8], [16 * n, 0, 8 * (n + 1)])
    assert (status, moved) == (0, [m * (rows - 1) for m in (16 * n, 0, 8 * (n + 1))])
    np.testing.assert_array_equal(out[:, -1], 7.0)
    whole = k.ufunc(x.reshape(-1), np.tile(y, rows)).reshape(rows, n)
    np.testing.assert_array_equal(out[:, :-1], whole)
    assert call_rows(k, [out, y, out], n, rows, [8] * 3, [8 * (n + 1), 0, 8 * (n + 1)])[0] == 0
    np.testing.assert_array_equal(out[:, :-1], k.ufunc(whole, np.tile(y, (rows, 1))))


def make(rng, dtype, size):
    if dtype.kind == "i":
        return rng.integers(-5, 5, size).astype(dtype)
    values = rng.standard_normal(size)
    return (values + 1j * values[::-1] if dtype.kind == "c" else values).astype(dtype)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("n", [1, 5, BLOCK + 3])
def test_broadcast_operand_has_step_zero(n, rng):
    k = kernel(spec_of(multiply_add, F64, F64, F64))
    x, y, out = rng.standard_normal(n), rng.standard_normal(1), np.zeros(n)
    assert call(k, [x, y, out], n, [8, 0, 8]) == 0
    np.testing.assert_array_equal(out, x * y + x)
    assert call(k, [y, x, out], n, [0, 8, 8]) == 0
    np.testing.assert_array_equal(out, y * x + y)
    assert call(k, [y, y, out], n, [0, 0, 8]) == 0
    np.testing.assert_array_equal(out, np.full(n, y * y + y))


@pytest.mark.parametrize("step", [1, 3, -2])
def test_output_may_be_an_input(step, rng):
    n = BLOCK + 9
    x, y = rng.standard_normal(3 * n), rng.standard_normal(n)
    a = x[::step][:n]
    expected = a * y + a
    k = kernel(spec_of(multiply_add, F64, F64, F64))
    assert call(k, [a, y, a], n, [a.strides[0], 8, a.strides[0]]) == 0
    np.testing.assert_array_equal(a, expected)


def test_several_outputs_of_different_dtypes(rng):
    k = kernel(spec_of(sum_and_order, F32, F32, F32, BOOL, nout=2))
    x, y = (rng.standard_normal(BLOCK + 1).astype(F32) for _ in range(2))
    total, order = k.ufunc(x[::-2], y[::-2])
    np.testing.assert_array_equal(total, (x + y)[::-2])
    np.testing.assert_array_equal(order, (x > y)[::-2])
    assert (k.nin, k.nout, total.dtype, order.dtype) == (2, 2, F32, BOOL)


@pytest.mark.parametrize("dtype", [F64, C128, INT64, BOOL], ids=str)
def test_where_selects(dtype, rng):
    c, a, b = rng.random(99) < 0.5, *(make(rng, INT64, 99).astype(dtype) for _ in range(2))
    k = kernel(spec_of(choose, BOOL, dtype, dtype, dtype))
    np.testing.assert_array_equal(k.ufunc(c[::-1], a, b), np.where(c[::-1], a, b))


def test_results_are_cast_to_the_output_dtype():
    def identity(x):
        return x

    x = np.array([0.0, 1.5, -2.5])
    for dtype in (F32, INT64, BOOL, C64):
        result = kernel(spec_of(identity, F64, dtype)).ufunc(x)
        np.testing.assert_array_equal(result, x.astype(dtype))


@pytest.mark.parametrize("dtype", [F32, F64, C128], ids=str)
def test_contiguous_loop_is_vector_code_without_alias_checks(dtype, monkeypatch):
    code, assembly = generated_code(spec_of(multiply_add, dtype, dtype, dtype), monkeypatch)
    kind = "float" if dtype == F32 else "double"
    assert f"x {kind}>" in code
    assert "memcheck" not in code
    if "x86_64" in code:
        assert "ymm" in assembly or "xmm" in assembly


def test_a_raising_scalar_function_reports_its_element():
    def checked(x):
        if x < 0:
            raise ValueError("negative")
        return math.sqrt(x)

    k = kernel(LoopSpec("checked", checked, "()->()", (F64,), (F64,), may_raise=True))
    x = np.ones(BLOCK + 50)
    out = np.zeros_like(x)
    assert call(k, [x, out], x.size, [8, 8]) == 0
    x[BLOCK + 20] = -1
    assert call(k, [x, out], x.size, [8, 8]) == BLOCK + 21
    assert call(k, [x[::2], out], x.size // 2, [16, 8]) == BLOCK // 2 + 11


# Core functions


def matvec(a, x, scale, out):
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j] * x[j]
        out[i] = total * scale


def raising_total(x, out):
    if x[0] < 0:
        raise ValueError("negative")
    out[0] = x.sum()


def test_core_function_with_scalars_by_value(rng):
    k = kernel(LoopSpec("matvec", matvec, "(m,k),(k),()->(m)", (F64,) * 3, (F64,)))
    a, x, scale = rng.random((5, 3, 4)), rng.random(4), rng.random(5)
    expected = (a @ x) * scale[:, None]
    np.testing.assert_allclose(k.ufunc(a, x, scale), expected)
    np.testing.assert_allclose(k.ufunc(a[::-2], x, scale[::-2]), expected[::-2])


def test_core_function_with_scalars_as_arrays():
    def scaled(x, factor, out):
        out[:] = x * factor[0]

    spec = LoopSpec("scaled", scaled, "(n),()->(n)", (F64, F64), (F64,), scalars=False)
    result = kernel(spec).ufunc(np.arange(6.0).reshape(2, 3), np.array([2.0, 3.0]))
    assert result.tolist() == [[0, 2, 4], [9, 12, 15]]


def test_core_function_that_raises_reports_its_row():
    k = kernel(LoopSpec("total", raising_total, "(n)->()", (F64,), (F64,), may_raise=True))
    x = np.ones((4, 3))
    result, status = k.call(x)
    assert (result.tolist(), status) == ([3, 3, 3, 3], 0)
    x[2, 0] = -1
    assert k.call(x)[1] == 3
    x[2, 0] = 1
    assert k.call(x)[1] == 0


def test_core_function_refuses_strided_cores(rng):
    k = kernel(LoopSpec("total", raising_total, "(n)->()", (F64,), (F64,)))
    assert k.call(rng.random((4, 6))[:, ::2])[1] == NOT_CONTIGUOUS


def test_dispatcher_keeps_its_options_and_divides_as_numpy():
    @njit
    def ratio(x, y):
        return x / y, x // y

    k = kernel(LoopSpec("ratio", ratio, "(),()->(),()", (F64, F64), (F64, F64)))
    quotient, _ = k.ufunc(np.array([1.0, 0.0]), 0.0)
    assert quotient[0] == math.inf
    assert math.isnan(quotient[1])


# Errors


def unknown_name(x):
    return undefined_function(x)  # noqa: F821


def no_complex_version(z):
    return math.erf(z)


def one_result(x):
    return x


@pytest.mark.parametrize(
    ("function", "dtypes", "cause"),
    [
        (unknown_name, (F64, F64), "undefined_function"),
        (no_complex_version, (C128, C128), "math.erf has no complex version"),
        (one_result, (C128, F64), "Cannot cast complex128 to float64"),
        (one_result, (F64, F64, F64), "2 argument types given, but function takes 1"),
        (lambda x: None, (F64, F64), "returns nothing"),
    ],
)
def test_what_numba_cannot_compile_is_one_short_error(function, dtypes, cause):
    with pytest.raises(KernelError, match=cause) as caught:
        kernel(spec_of(function, *dtypes))
    message = str(caught.value)
    assert message.startswith(f"{function.__name__}: no kernel for dtypes ({dtypes[0]}")
    assert "\n" not in message
    assert caught.value.__cause__ is None


def test_debug_setting_chains_numbas_own_error(monkeypatch):
    monkeypatch.setattr(settings, "debug", True)
    with pytest.raises(KernelError) as caught:
        kernel(spec_of(unknown_name, F64, F32))
    assert "undefined_function" in str(caught.value.__cause__)


# Identity


def test_equal_specs_share_a_kernel_and_different_dtypes_do_not():
    first = kernel(spec_of(multiply_add, F64, F64, F64))
    assert kernel(spec_of(multiply_add, F64, F64, F64)) is first
    assert kernel(spec_of(multiply_add, F32, F32, F32)) is not first


def test_raw_kernel_is_compiled_as_it_stands():
    def nothing(ptrs, n, core_dims, steps, status):
        pass

    k = kernel(RawSpec("nothing", nothing, ()))
    assert call(k, [], 3, [0]) == 0


SCRIPT = """
import json, math, sys
import numpy as np
from numgrad.targets.cpu.linalg import blas
from numgrad.targets.cpu.compile import disk_cache as cache
from numgrad.targets.cpu.kernels.kernel import ElementwiseSpec, LoopSpec, kernel
f8 = np.dtype("float64")
def wave(x): return 0.5 * math.sin(x) + where(x > 0, x, 1.0)
def total(x, out): out[0] = x.sum()
x = np.linspace(-1, 1, 600)
results = [
    kernel(ElementwiseSpec("wave", wave, (f8,), (f8,))).ufunc(x[::2]).tolist(),
    kernel(LoopSpec("total", total, "(n)->()", (f8,), (f8,))).ufunc(x.reshape(3, 200)).tolist(),
    kernel(blas.matmul_spec(f8)).ufunc(x.reshape(6, 100), x.reshape(100, 6)).tolist(),
]
print(json.dumps([results, cache.cache_info().compiled]))
"""


def test_a_second_process_compiles_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMGRAD_CACHE_DIR", str(tmp_path))
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    runs = [run(script) for _ in range(2)]
    assert runs[0][0] == runs[1][0]
    assert runs[0][1] > 0
    assert runs[1][1] == 0


def run(script):
    header = f"import sys; sys.path.insert(0, {str(Path.cwd())!r})\n"
    script.write_text(header + SCRIPT)
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Matrix products


LAYOUTS = {
    "contiguous": lambda a: a,
    "transposed": lambda a: np.swapaxes(np.swapaxes(a, -1, -2).copy(), -1, -2),
    "padded": lambda a: np.concatenate([a, a], -1)[..., : a.shape[-1]],
    "strided": lambda a: np.repeat(a, 2, -1)[..., ::2],
    "reversed": lambda a: a[..., ::-1, ::-1].copy()[..., ::-1, ::-1],
}


@pytest.mark.parametrize("dtype", [F32, F64, C64, C128], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_matmul_of_any_layout(dtype, layout, rng):
    product = kernel(blas.matmul_spec(dtype)).ufunc
    for m, k, n in [(3, 4, 5), (1, 4, 5), (3, 4, 1), (3, 1, 5), (1, 1, 1)]:
        a, b = (make(rng, dtype, rows * columns) for rows, columns in ((m, k), (k, n)))
        a, b = a.reshape(m, k), b.reshape(k, n)
        expected = a @ b
        for x, y in [(LAYOUTS[layout](a), b), (a, LAYOUTS[layout](b))]:
            np.testing.assert_allclose(product(x, y), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 4, 0)])
def test_matmul_of_empty_matrices(shape):
    m, k, n = shape
    out = np.full((m, n), 7.0)
    kernel(blas.matmul_spec(F64)).ufunc(np.ones((m, k)), np.ones((k, n)), out=out)
    assert not out.any()


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("max_rows", [blas.MAX_ROWS, 4])
def test_matmul_folds_a_loop_with_a_shared_matrix(m, max_rows, rng):
    k = kernel(blas.matmul_spec(F64, max_rows))
    a, b, c = rng.random((10, m, 4)), rng.random((4, 5)), np.empty((10, m, 5))
    steps = [a.strides[0], 0, c.strides[0], *a.strides[1:], *b.strides, *c.strides[1:]]
    assert call(k, [a, b, c], 10, steps, (m, 4, 5)) == 0
    np.testing.assert_allclose(c, a @ b)
