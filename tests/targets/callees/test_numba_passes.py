"""Scalar functions in kernels: literals in the kernel's dtype, names bound, callees followed."""

import math

import numpy as np
import pytest
from numba import njit
from numba.core.codegen import JITCPUCodegen

import numgrad as ng
from numgrad.targets.binding import bind
from numgrad.targets.cpu.compile.disk_cache import cache_info
from numgrad.targets.cpu.kernels.kernel import kernel
from numgrad.targets.cpu.math import scalar_math

from ..kernel_tools import C64, F32, F64, generated_code, spec_of

FACTOR = 2.5


def where(condition, a, b):
    raise AssertionError("replaced in kernels")


def one_minus_square(y):
    return 1 - y * y


def mean_of_inverse(x):
    return 0.5 * (x + 1 / x)


def relu(x):
    return where(x > 0, x, 0.0)


def relu_of_integer(x):
    return where(x > 0, x, 0)


def half_root(x):
    return math.sqrt(x) / 2


def circumference(x):
    return x * math.pi


def global_factor(x):
    return FACTOR * x


def scaled(x, by=0.5):
    return by * x + FACTOR


def through_callee(x):
    return scaled(x) * 2


def plus_one(x):
    return x + 1


def through_own_callee(x):
    return plus_one(x) * 3


def refuse(x):
    if x < 0:
        raise ValueError("no such number")
    return x


def through_refusal(x):
    return refuse(x) + 1


@njit
def compiled_callee(x):
    return 3.0 * x


def through_dispatcher(x):
    return compiled_callee(x) + 1


def clipped(x):
    return min(1, max(x, -1))


def power_of_two(x):
    return 2**x


def named_integer(x):
    k = 3
    return k * x


def branch(x):
    return -x if x < 0 else x / 3


def integral_parts(x):
    return math.floor(x) + math.ceil(x) * 10 + math.trunc(x) * 100 + round(x) * 1000


def library(x):
    return math.exp2(x) + math.cbrt(x) + math.copysign(1, x) + math.hypot(x, 1)


@pytest.mark.parametrize(
    "function",
    [
        one_minus_square, mean_of_inverse, relu, relu_of_integer, half_root, circumference,
        global_factor, through_callee, through_dispatcher, clipped, power_of_two, named_integer,
        branch, integral_parts, library,
    ],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_float32_kernels_contain_no_float64(function, monkeypatch):
    code, _ = generated_code(spec_of(function, F32, F32), monkeypatch)
    assert "double" not in code


def test_complex64_kernels_contain_no_float64(monkeypatch):
    def rotate(z):
        return (1 + 2 * z) * 1j / 3 + math.pi * z.conjugate()

    code, _ = generated_code(spec_of(rotate, C64, C64), monkeypatch)
    assert "double" not in code
    z = np.array([1 + 2j, -0.5j], C64)
    expected = (1 + 2 * z) * 1j / 3 + np.float32(np.pi) * z.conj()
    np.testing.assert_allclose(kernel(spec_of(rotate, C64, C64)).ufunc(z), expected, rtol=1e-6)


def test_literals_of_integer_kernels_stay_integers():
    def affine(i):
        return 3 * i + 2**53

    i = np.array([1, -4], np.int64)
    result = kernel(spec_of(affine, i.dtype, i.dtype)).ufunc(i)
    assert result.tolist() == [3 + 2**53, -12 + 2**53]


def test_numbers_that_were_cut_to_integers_count_as_integers(monkeypatch):
    def climb(x):
        total = x
        for _ in range(int(x) + 1):
            total += 1
        return total

    code, _ = generated_code(spec_of(climb, F32, F32), monkeypatch)
    assert "double" not in code
    assert kernel(spec_of(climb, F32, F32)).ufunc(np.float32(2.5)) == 5.5


def test_integer_argument_beside_a_float_keeps_its_arithmetic():
    def shifted_power(x, n):
        return n * x ** (n - 1)

    n = np.dtype(np.int64)
    result = kernel(spec_of(shifted_power, F32, n, F32)).ufunc(np.float32(-2), np.int64(3))
    assert result == 12


def test_exponent_stays_an_integer(monkeypatch):
    def cube(x):
        return x**3

    code, _ = generated_code(spec_of(cube, F32, F32), monkeypatch)
    assert "pow" not in code


def test_reassigned_literal_is_not_mistaken_for_the_literal():
    def accumulate(x):
        k = 1
        if x > 2:
            k = 5
        return k * x

    result = kernel(spec_of(accumulate, F32, F32)).ufunc(np.array([1, 3], F32))
    assert result.tolist() == [1, 15]


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_roundings_return_floats_as_numpy_does(dtype):
    x = np.array([-1.5, -0.5, 0.5, 1.5, 2.5, 1e30, np.inf, np.nan], dtype)
    result = kernel(spec_of(integral_parts, dtype, dtype)).ufunc(x)
    parts = np.floor(x) + np.ceil(x) * 10 + np.trunc(x) * 100 + np.rint(x) * 1000
    np.testing.assert_allclose(result, parts, rtol=1e-6)


@pytest.mark.parametrize("pair", [(1.0, math.nan), (math.nan, 1.0), (2.0, 1.0), (-1.0, 3.0)])
def test_extrema_keep_nan(pair):
    def extrema(x, y):
        return max(x, y), min(x, y)

    result = kernel(spec_of(extrema, F64, F64, F64, F64, nout=2)).ufunc(*pair)
    np.testing.assert_array_equal(result, [np.maximum(*pair), np.minimum(*pair)])


def test_extrema_are_selections_that_vectorise(monkeypatch):
    code, _ = generated_code(spec_of(clipped, F64, F64), monkeypatch)
    assert "x double>" in code


def test_bind_leaves_the_original_alone_and_follows_recursion():
    def factorial(x):
        return where(x > 1, x, 1) if x < 2 else x * factorial(x - 1)

    copy = bind(factorial, scalar_math.names)
    assert copy is not factorial
    assert copy.__globals__ is not factorial.__globals__
    assert factorial.__globals__["where"] is where


def test_a_function_without_our_names_is_not_copied():
    def square(x):
        return x * x

    assert bind(square, scalar_math.names) is square


def test_callees_of_plain_python_become_no_machine_code_of_their_own(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMGRAD_CACHE_DIR", str(tmp_path))
    made, add = [], JITCPUCodegen._add_module

    def spy(self, module):
        made.append(module.name)
        return add(self, module)

    monkeypatch.setattr(JITCPUCodegen, "_add_module", spy)
    before = cache_info().scalars
    assert kernel(spec_of(through_own_callee, F64, F64)).ufunc(2.0) == 9
    assert cache_info().scalars == before + 1
    assert [name for name in made if "plus_one" in name] == []


def test_a_callee_that_raises_says_what_it_raised():
    """The function is run again from Python, with machine code of all that it calls."""
    f = ng.elementwise(through_refusal)
    with pytest.raises(RuntimeError, match=r"ValueError: no such number"):
        f(ng.tensor([1.0, -1.5]))
