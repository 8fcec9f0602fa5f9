"""Fused kernels: the bits of their steps one after the other, vector code, one loop, one cache."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from numgrad._errors import KernelError
from numgrad._specs import FusedSpec
from numgrad.targets.cpu import fused, joining, vector_library
from numgrad.targets.cpu.elementwise import BLOCK
from numgrad.targets.cpu.kernels import kernel

from .kernel_tools import C64, C128, F32, F64, call, call_rows, generated_code, spec_of

BOOL = np.dtype(bool)
INTEGERS = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]
INEXACT = [F32, F64, C64, C128]
DTYPES = [BOOL, *INTEGERS, *INEXACT]
SIZES = (0, 1, 5, BLOCK - 1, BLOCK, BLOCK + 1, 1000)


def multiply(x, y):
    return x * y


def add(x, y):
    return x + y


def divide(x, y):
    return x / y


def power(x, y):
    return x**y


def less(x, y):
    return x < y


def choose(c, x, y):
    return where(c, x, y)  # noqa: F821 - bound in the kernel


def cast(x):
    return x


def small(x):
    return where(abs(x) < 100, x, 0.0)  # noqa: F821


def imaginary(x):
    return x * 1j


def sine(x):
    return math.sin(x)


def exponential(x):
    return math.exp(x)


# Random graphs


class Draw:
    """Draws a fused spec: operators of all dtypes applied to inputs and to earlier results."""

    def __init__(self, seed, nin=6):
        self.rng = np.random.default_rng(seed)
        self.in_dtypes = tuple(DTYPES[k] for k in self.rng.integers(len(DTYPES), size=nin))
        self.values = list(self.in_dtypes)
        self.steps = []

    def apply(self, function, dtype, *args):
        dtypes = tuple(self.values[k] for k in args)
        self.steps.append((spec_of(function, *dtypes, dtype), args))
        self.values.append(dtype)
        return len(self.values) - 1

    def any(self):
        """A value, a late one rather than an early one."""
        return len(self.values) - 1 - int(self.rng.integers(len(self.values)) * self.rng.random())

    def as_dtype(self, dtype):
        """A value of a dtype, cast if need be."""
        k = self.any()
        source = self.values[k]
        if source == dtype:
            return k
        if source.kind == "c" and dtype.kind != "c":
            same = [k for k, other in enumerate(self.values) if other.kind != "c"]
            k = int(self.rng.choice(same)) if same else self.apply(less, BOOL, k, k)
            source = self.values[k]
        # Casts of numbers out of range mean nothing, not even twice the same.
        narrowing = source.kind == "f" and dtype.kind in "iu"
        return self.apply(small if narrowing else cast, dtype, k)

    def step(self):
        kind = self.rng.integers(6)
        dtype = DTYPES[self.rng.integers(1, len(DTYPES))]
        if kind == 0:
            real = [F32, F64, *INTEGERS][self.rng.integers(10)]
            condition = self.apply(less, BOOL, self.as_dtype(real), self.as_dtype(real))
            self.apply(choose, dtype, condition, self.as_dtype(dtype), self.as_dtype(dtype))
        elif kind == 1:
            real = (F32, F64)[self.rng.integers(2)]
            self.apply((sine, exponential)[self.rng.integers(2)], real, self.as_dtype(real))
        elif kind == 2:
            inexact = INEXACT[self.rng.integers(4)]
            self.apply(divide, inexact, self.as_dtype(inexact), self.as_dtype(inexact))
        else:
            function = (multiply, add)[self.rng.integers(2)]
            self.apply(function, dtype, self.as_dtype(dtype), self.as_dtype(dtype))

    def spec(self, nsteps=12, nout=3):
        while len(self.steps) < nsteps:
            self.step()
        last = range(len(self.in_dtypes), len(self.values))
        outputs = tuple(int(k) for k in self.rng.choice(last, nout, replace=False))
        scalars = tuple(bool(one) for one in self.rng.random(len(self.in_dtypes)) < 0.3)
        return fused_spec(self.steps, self.in_dtypes, outputs, scalars)


def fused_spec(steps, in_dtypes, outputs, scalars=None):
    dtypes = [*in_dtypes, *(step.out_dtypes[0] for step, _ in steps)]
    return FusedSpec(
        "fused", tuple(steps), tuple(in_dtypes), tuple(dtypes[k] for k in outputs),
        tuple(outputs), tuple(scalars or (False,) * len(in_dtypes)),
    )  # fmt: skip


def make(rng, dtype, size):
    if dtype.kind in "biu":
        return rng.integers(0, 2 if dtype == BOOL else 7, size).astype(dtype)
    values = 2 * rng.standard_normal(size)
    return (values + 1j * values[::-1] if dtype.kind == "c" else values).astype(dtype)


def one_after_the_other(spec, inputs, n):
    """Results of the steps' own kernels; a scalar input is an array of `n` like any other."""
    values = [np.full(n, x[0]) if one else x for x, one in zip(inputs, spec.scalars, strict=True)]
    for step, args in spec.steps:
        values.append(kernel(step).ufunc(*(values[k] for k in args)))
    return [values[k] for k in spec.outputs]


def assert_same_bits(result, expected):
    assert result.dtype == expected.dtype
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(result), ~number)
    assert result[number].tobytes() == expected[number].tobytes()


LAYOUTS = {
    "contiguous": lambda a, n: a[:n],
    "strided": lambda a, n: a[::2][:n],
    "reversed": lambda a, n: a[n - 1 :: -1] if n else a[:0],
    "broadcast": lambda a, n: np.broadcast_to(a[:1], n),
}


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_have_the_bits_of_their_steps(seed):
    draw = Draw(seed)
    spec, rng = draw.spec(), draw.rng
    fused_kernel = kernel(spec)
    for n in SIZES:
        layouts = rng.choice(list(LAYOUTS), len(spec.in_dtypes))
        if n % 2:
            layouts[:] = "contiguous"
        inputs = [
            LAYOUTS[name](make(rng, dtype, 2 * n + 1), 1 if one else n)
            for name, dtype, one in zip(layouts, spec.in_dtypes, spec.scalars, strict=True)
        ]
        if n == 0:
            inputs = [make(rng, dtype, 1) for dtype in spec.in_dtypes]
        outputs = [
            np.zeros(3 * n + 1, dtype)[:: 1 + k * (n % 4 == 0)][:n]
            for k, dtype in enumerate(spec.out_dtypes)
        ]
        arrays = [*inputs, *outputs]
        assert call(fused_kernel, arrays, n, [a.strides[0] for a in arrays]) == 0
        cut = [x if one else x[:n] for x, one in zip(inputs, spec.scalars, strict=True)]
        for result, expected in zip(outputs, one_after_the_other(spec, cut, n), strict=True):
            assert_same_bits(result, expected)


# Layouts


def polynomial(dtype, outputs=(4, 5)):
    """Of the inputs x, y and a scalar c: 3 is x*y, 4 is x*y + c, 5 is (x*y + c) * x."""
    product, total = spec_of(multiply, *[dtype] * 3), spec_of(add, *[dtype] * 3)
    steps = [(product, (0, 1)), (total, (3, 2)), (product, (4, 0))]
    return fused_spec(steps, (dtype,) * 3, outputs, (False, False, True))


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.parametrize("step", [1, 3, -2])
@pytest.mark.parametrize("dtype", [F32, C128], ids=str)
def test_outputs_may_be_inputs(step, dtype, rng):
    n = BLOCK + 9
    x, y = (make(rng, dtype, 3 * n)[::step][:n] for _ in range(2))
    c = make(rng, dtype, 1)
    first = x * y + c
    second = first * x
    arrays = [x, y, c, y, x]
    steps = [x.strides[0], y.strides[0], 0, y.strides[0], x.strides[0]]
    assert call(kernel(polynomial(dtype)), arrays, n, steps) == 0
    np.testing.assert_allclose(x, second, rtol=1e-5)
    np.testing.assert_allclose(y, first, rtol=1e-5)


@pytest.mark.parametrize("scalar_step", [0, 8, -800])
def test_step_of_a_scalar_input_is_not_looked_at(scalar_step, rng):
    x, y, c = rng.random(300), rng.random(300), rng.random(1)
    out = np.empty((2, 300))
    steps = [8, 8, scalar_step, 8, 8]
    assert call(kernel(polynomial(F64)), [x, y, c, *out], 300, steps) == 0
    np.testing.assert_array_equal(out, [x * y + c, (x * y + c) * x])


@pytest.mark.parametrize("n", [0, 1, 7, BLOCK + 3])
@pytest.mark.parametrize("stride", [1, 2])
def test_rows_are_calls_in_a_row(n, stride, rng):
    k = kernel(polynomial(F64))
    rows, width = 5, 2 * n + 3
    x, y = rng.random((rows, width)), rng.random((1, width))
    c, out = rng.random(rows), np.zeros((2, rows, width))
    arrays = [x, y, c, *out]
    row_steps = [8 * width, 0, 8, 8 * width, 8 * width]
    status, moved = call_rows(k, arrays, n, rows, [8 * stride, 8, 0, 8, 8 * stride], row_steps)
    assert status == 0
    assert moved == ([(rows - 1) * step for step in row_steps] if n else [0] * 5)
    factor = x[:, : n * stride : stride]
    first = factor * y[:, :n] + c[:, None]
    np.testing.assert_array_equal(out[0][:, :n], first)
    np.testing.assert_array_equal(out[1][:, : n * stride : stride], first * factor)
    assert call_rows(k, arrays, n, 0, [8] * 5, row_steps) == (0, [0] * 5)


def test_an_element_that_raises_is_reported_by_its_index_over_all_rows():
    def checked(x):
        if x < 0:
            raise ValueError("negative")
        return math.sqrt(x)

    steps = [(spec_of(checked, F64, F64), (0,)), (spec_of(cast, F64, F32), (1,))]
    k = kernel(fused_spec(steps, (F64,), (2,)))
    x, out = np.ones((4, 300)), np.zeros((4, 300), F32)
    assert call_rows(k, [x, out], 300, 4, [8, 4], [2400, 1200])[0] == 0
    np.testing.assert_array_equal(out, 1)
    x[2, 280], x[3, 0] = -1, -1
    assert call_rows(k, [x, out], 300, 4, [8, 4], [2400, 1200])[0] == 1 + 2 * 300 + 280
    assert call(k, [x[2], out], 300, [8, 4]) == 281


def test_status_of_an_earlier_failure_is_kept():
    def refused(x):
        if x > 0:
            raise ValueError("positive")
        return x

    k = kernel(fused_spec([(spec_of(refused, F64, F64), (0,))], (F64,), (1,)))
    assert call(k, [np.array([0.0, 1.0, 1.0]), np.zeros(3)], 3, [8, 8]) == 2


# Code


def stencil(dtype=F64):
    """The advection term of the Lorenz system, from one row read at four places."""
    product, difference = spec_of(multiply, *[dtype] * 3), spec_of(subtract, *[dtype] * 3)
    steps = [(difference, (3, 0)), (product, (4, 1)), (difference, (5, 2))]
    return fused_spec(steps, (dtype,) * 4, (6,))


def subtract(x, y):
    return x - y


@pytest.mark.parametrize("dtype", [F32, F64, C128], ids=str)
def test_loop_is_vector_code_without_alias_checks(dtype, monkeypatch):
    for spec in (stencil(dtype), polynomial(dtype)):
        code, assembly = generated_code(spec, monkeypatch)
        assert f"x {'float' if dtype == F32 else 'double'}>" in code
        assert "memcheck" not in code
        if "x86_64" in code:
            assert "ymm" in assembly or "zmm" in assembly


def test_no_call_is_left_of_a_scalar_function(monkeypatch):
    code, _ = generated_code(polynomial(F64), monkeypatch)
    assert "numgrad_scalar" not in code


@pytest.mark.skipif(vector_library.vector_library() is None, reason="no vector library here")
def test_steps_share_functions_of_the_vector_library(monkeypatch):
    def waves(x):
        return math.sin(x) + math.exp(x)

    steps = [
        (spec_of(sine, F64, F64), (0,)),
        (spec_of(exponential, F64, F64), (1,)),
        (spec_of(waves, F64, F64), (2,)),
    ]
    code, assembly = generated_code(fused_spec(steps, (F64,), (3,)), monkeypatch)
    rows = code[code.index("_rows(") : code.index("\n}")]
    assert len(re.findall(r"call <\d+ x double> @_ZGV", rows)) == 4
    assert "_ZGV" in assembly


def test_shifted_rows_of_one_buffer(rng):
    n = 1000
    x, out = rng.random(n + 3), np.empty(n)
    arrays = [x[0:], x[1:], x[2:], x[3:], out]
    assert call(kernel(stencil()), arrays, n, [8] * 5) == 0
    np.testing.assert_array_equal(out, (x[3:] - x[:-3]) * x[1:-2] - x[2:-1])


def test_constants_are_not_folded_into_functions(rng):
    """``pow`` with the literal 2 would be a product, which has other bits for some numbers."""
    x, two, out = rng.random(1000) * 1e-3 + 1, np.array([2.0]), np.empty(1000)
    spec = fused_spec([(spec_of(power, F64, F64, F64), (0, 1))], (F64, F64), (2,), (False, True))
    assert call(kernel(spec), [x, two, out], 1000, [8, 0, 8]) == 0
    expected = kernel(spec_of(power, F64, F64, F64)).ufunc(x, np.full(1000, 2.0))
    assert_same_bits(out, expected)


# Errors, identity and the cache


def test_step_that_cannot_be_compiled_is_named():
    def unknown(x):
        return undefined_function(x)  # noqa: F821

    with pytest.raises(KernelError, match=r"^unknown: no kernel for dtypes \(float64\)"):
        kernel(fused_spec([(spec_of(unknown, F64, F64), (0,))], (F64,), (1,)))


def test_equal_structure_is_one_kernel():
    assert kernel(polynomial(F64)) is kernel(polynomial(F64))
    assert kernel(polynomial(F64, outputs=(5, 4))) is not kernel(polynomial(F64))
    assert kernel(polynomial(F32)) is not kernel(polynomial(F64))
    other = polynomial(F64)
    assert FusedSpec(**{**vars(other), "name": "x"}).identity == other.identity
    assert FusedSpec(**{**vars(other), "scalars": (False,) * 3}).identity != other.identity


SCRIPT = """
import json, math, sys
import numpy as np
from numgrad._specs import ElementwiseSpec, FusedSpec
from numgrad.targets.cpu import fused, vector_library
from numgrad.targets.cpu import cache
from numgrad.targets.cpu.kernels import kernel
f8 = np.dtype("float64")
def product(x, y): return x * y
def wave(x): return math.sin(x)
product = ElementwiseSpec("product", product, (f8, f8), (f8,))
wave = ElementwiseSpec("wave", wave, (f8,), (f8,))
steps = ((product, (0, 0)), (wave, (1,)), (product, (2, {last})))
k = kernel(FusedSpec("fused", steps, (f8,), (f8,), (3,), (False,)))
results = [k.ufunc(np.linspace(0, 1, n)).tolist() for n in (3, 4, 500)]
first = cache.cache_info()
kernel(wave)
info = cache.cache_info()
print(json.dumps([results, first.compiled, info.compiled, info.scalars, info.hits]))
"""


def run(folder, last):
    code = f"import sys; sys.path.insert(0, {str(Path.cwd())!r})\n" + SCRIPT.format(last=last)
    path = folder / f"script{last}.py"
    path.write_text(code)
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_second_process_compiles_nothing_and_scalar_functions_are_compiled_once(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("NUMGRAD_CACHE_DIR", str(tmp_path / "kernels"))
    results, *counts = run(tmp_path, 0)
    # Two copy routines, NumPy's loop function, the kernel for three sizes; then that of a step.
    assert counts == [4, 5, 2, 0]
    again, *counts = run(tmp_path, 0)
    assert again == results
    assert counts == [0, 0, 0, 5]
    # Another structure of the same operators costs one compilation: that of the loop.
    assert run(tmp_path, 1)[1:] == [1, 1, 0, 4]


def test_expected_compile_time_grows_with_steps_and_vanishes_for_a_known_kernel(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("NUMGRAD_CACHE_DIR", str(tmp_path / "kernels"))

    def fresh(x):
        return x - 0.125

    step = spec_of(fresh, F64, F64)
    few, many = (
        fused_spec([(step, (k,)) for k in range(count)], (F64,), (count,)) for count in (3, 300)
    )
    before = fused.expected_compile_seconds(few)
    kernel(step)
    known = fused.expected_compile_seconds(few)
    assert before > known > 0.01
    assert fused.expected_compile_seconds(many) > 3 * known
    kernel(few)
    assert fused.expected_compile_seconds(few) < 0.01
    monkeypatch.setattr(fused.compiler, "_addresses", {})
    assert fused.expected_compile_seconds(few) < 0.01  # from disk


@pytest.mark.parametrize("n", [1, 31, 32, 33, 95, 300])
def test_long_kernels_have_the_bits_of_their_steps(n):
    draw = Draw(99)
    spec = draw.spec(nsteps=60)
    assert len(spec.steps) >= 2 * (len(spec.in_dtypes) + len(spec.outputs)) >= joining._LONG
    inputs = [make(draw.rng, dtype, n) for dtype in spec.in_dtypes]
    outputs = [np.zeros(n, dtype) for dtype in spec.out_dtypes]
    arrays = [*inputs, *outputs]
    assert call(kernel(spec), arrays, n, [a.strides[0] for a in arrays]) == 0
    for result, expected in zip(outputs, one_after_the_other(spec, inputs, n), strict=True):
        assert_same_bits(result, expected)
