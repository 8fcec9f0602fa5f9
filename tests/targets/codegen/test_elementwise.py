"""Fused kernels: vector code, one loop, equal structure is one kernel, and what is cached."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import KernelError
from numgrad.ir.kernel_spec import FusedSpec
from numgrad.targets.cpu.kernels import scalar_kernel
from numgrad.targets.cpu.kernels.kernel import kernel
from numgrad.targets.cpu.platform import vector_library

from ..fused_tools import (
    assert_same_bits,
    fused_spec,
    multiply,
    polynomial,
    power,
    sine,
)
from ..kernel_tools import C128, F32, F64, call, call_rows, generated_code, spec_of


@pytest.fixture
def rng():
    return np.random.default_rng(11)


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
    def tangent(x):
        return math.tan(x)

    def waves(x):
        return math.sin(x) + math.tan(x)

    steps = [
        (spec_of(sine, F64, F64), (0,)),
        (spec_of(tangent, F64, F64), (1,)),
        (spec_of(waves, F64, F64), (2,)),
    ]
    code, assembly = generated_code(fused_spec(steps, (F64,), (3,)), monkeypatch)
    rows = code[code.index("_rows(") : code.index("\n}")]
    calls = re.findall(r"call <\d+ x double> @_ZGV", rows)
    assert len(calls) == 4 * scalar_kernel._FEW_CALLS  # for each of the vectors of a block
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
from numgrad.ir.kernel_spec import ElementwiseSpec, FusedSpec
from numgrad.targets.cpu.codegen import scalar_graph as fused
from numgrad.targets.cpu.kernels import scalar_kernel as joining
from numgrad.targets.cpu.platform import vector_library
from numgrad.targets.cpu.compile import disk_cache as cache
from numgrad.targets.cpu.kernels.kernel import kernel
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


@pytest.mark.parametrize(
    ("steps", "inputs", "interleave"), [(4, 2, 0), (60, 2, 4), (60, 20, 1), (30, 20, 0)]
)
def test_only_long_kernels_of_few_operands_work_on_several_vectors(
    steps, inputs, interleave, monkeypatch
):
    seen = []

    class Spy(scalar_kernel.ElementwiseLoop):
        def __init__(self, *args):
            seen.append(args[5])
            super().__init__(*args)

    monkeypatch.setattr(scalar_kernel, "ElementwiseLoop", Spy)
    product = spec_of(multiply, C128, C128, C128)  # of real numbers, it is written for vectors
    chain = [(product, (inputs + k - 1, k % inputs)) for k in range(steps)]
    generated_code(fused_spec(chain, (C128,) * inputs, (inputs + steps - 1,)), monkeypatch)
    assert seen == [interleave]


# Short rows


@pytest.mark.parametrize("dtype", [F64, F32])
@pytest.mark.parametrize("length", [1, 2, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33])
def test_short_rows_have_the_bits_of_long_ones(length, dtype, rng):
    """Whether rows lie side by side or apart: in place, or copied to buffers, they are the same."""
    steps = [(spec_of(sine, dtype, dtype), (0,)), (spec_of(multiply, *[dtype] * 3), (2, 1))]
    one_sine = fused_spec(steps, (dtype,) * 2, (3,))
    for spec in (stencil(dtype), one_sine):
        count, size = len(spec.in_dtypes), dtype.itemsize
        wide = [rng.standard_normal((40, length + 3)).astype(dtype) for _ in range(count)]
        apart = [x[:, 1 : length + 1] for x in wide]
        dense = [np.ascontiguousarray(x) for x in apart]
        found = []
        for given in (dense, apart, [*dense[1:], apart[0]][::-1]):
            out = np.empty((40, length), dtype)
            operands = [*given, out]
            moves = [x.strides[0] for x in operands]
            status, _ = call_rows(kernel(spec), operands, length, 40, [size] * len(operands), moves)
            assert status == 0
            found.append(out)
        expected = np.empty(40 * length, dtype)
        call(kernel(spec), [*dense, expected], expected.size, [size] * (count + 1))
        assert_same_bits(found[0].ravel(), expected)
        assert_same_bits(found[1].ravel(), expected)
        swapped = np.empty(40 * length, dtype)
        again = [*dense[1:], dense[0]][::-1]
        call(kernel(spec), [*again, swapped], swapped.size, [size] * (count + 1))
        assert_same_bits(found[2].ravel(), swapped)


def test_a_function_without_a_version_for_vectors_stays_a_kernel_of_its_own():
    if vector_library.vector_library() is None:
        pytest.skip("no vector library")
    x = np.random.default_rng(3).uniform(0.1, 0.9, 100)

    def function(x):
        return ng.special.ndtri(x) * ng.exp(x) + ng.sqrt(x)

    alone, fused = ng.jit(function, fuse="never"), ng.jit(function, fuse="now")
    np.testing.assert_array_equal(fused(x), alone(x))
    fused(x)
    with ng.display.profile() as profile:
        fused(x)
    names = sorted(row.name for row in profile.rows)
    assert names[-1] == "ndtri"
    assert len(names) == 2
