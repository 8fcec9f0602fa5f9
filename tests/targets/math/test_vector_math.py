"""Functions of the vector library in kernels: values, special values, bits, and the setting."""

import math
import re

import numpy as np
import pytest
from scipy import special

import numgrad as ng
from numgrad._settings import CHOICES
from numgrad.ir.kernel_spec import FusedSpec
from numgrad.targets.cpu.codegen import scalar_graph
from numgrad.targets.cpu.kernels import scalar_kernel
from numgrad.targets.cpu.kernels.kernel import kernel
from numgrad.targets.cpu.math import vector_math
from numgrad.targets.cpu.platform.avx512 import SYMBOLS
from numgrad.targets.cpu.platform.vector_library import ARGUMENTS, vector_library

from ..kernel_tools import F32, F64, generated_code, spec_of

LIBRARY = vector_library()
needs_library = pytest.mark.skipif(LIBRARY is None, reason="no vector library on this platform")
names = pytest.mark.parametrize("name", ARGUMENTS)
dtypes = pytest.mark.parametrize("dtype", [F64, F32], ids=str)

NUMPY = {
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "pow": np.power, "atan2": np.arctan2,
    "erf": special.erf, "erfc": special.erfc,
}  # fmt: skip
INTERVALS = {
    "asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "acosh": (1, 50), "log": (0, 50),
    "log2": (0, 50), "log10": (0, 50), "log1p": (-1, 50), "pow": (0, 9), "erf": (-6, 6),
    "erfc": (-6, 9),
}  # fmt: skip

ERF = {
    -4.5: ("-0.9999999998033839558457113", "1.999999999803383955845711"),
    -2.0: ("-0.9953222650189527341620693", "1.995322265018952734162069"),
    -0.5: ("-0.5204998778130465376827467", "1.520499877813046537682747"),
    0.001: ("0.001128378790969236403437564", "0.9988716212090307635965624"),
    0.00390625: ("0.004407708702689662213290201", "0.9955922912973103377867098"),
    0.25: ("0.2763263901682369329850683", "0.7236736098317630670149317"),
    0.75: ("0.7111556336535151315989378", "0.2888443663464848684010622"),
    1.5: ("0.9661051464753107270669763", "0.03389485352468927293302374"),
    3.0: ("0.9999779095030014145586272", "0.00002209049699858544137277613"),
    5.5: ("0.999999999999992642152082", "7.357847917974398063068362e-15"),
    10.0: ("1.0", "2.088487583762544757000786e-45"),
    20.0: ("1.0", "5.395865611607900928934999e-176"),
    26.5: ("1.0", "2.210907664263734275929239e-307"),
}
"""erf and erfc in more digits than a double has: NumPy has neither in extended precision."""


def numpy_function(name):
    return NUMPY.get(name) or getattr(np, name)


def function_of(name):
    """A scalar function of a kernel: one function of ``math``, a new one at each call."""
    parameters = ", ".join("xy"[: ARGUMENTS[name]])
    return eval(f"lambda {parameters}: math.{name}({parameters})", {"math": math})


def spec(name, dtype):
    return spec_of(function_of(name), *[dtype] * (ARGUMENTS[name] + 1))


_ufuncs = {}


def ufunc(name, dtype):
    key = name, dtype
    if key not in _ufuncs:
        _ufuncs[key] = kernel(spec(name, dtype)).ufunc
    return _ufuncs[key]


def special_points(dtype):
    limits = np.finfo(dtype)
    return np.array(
        [
            0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 2.5, 1e3, -1e3,
            1e10, -1e10, limits.tiny, -limits.tiny, limits.smallest_subnormal,
            -limits.smallest_subnormal, limits.max, limits.min, 1 + limits.eps, 1 - limits.eps,
        ],
        dtype,
    )  # fmt: skip


def special_arguments(name, dtype):
    points = special_points(dtype)
    return [axis.ravel() for axis in np.meshgrid(*[points] * ARGUMENTS[name])]


def ordinary_arguments(name, dtype, n=2000):
    rng = np.random.default_rng(7)
    low, high = INTERVALS.get(name, (-30, 30))
    return [rng.uniform(low, high, n).astype(dtype) for _ in range(ARGUMENTS[name])]


def bits(array):
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def errors_in_ulp(got, exact):
    unit = np.spacing(np.abs(exact.astype(got.dtype)))
    return np.abs(got.astype(exact.dtype) - exact) / unit


# Values


@names
@dtypes
def test_at_most_4_ulp(name, dtype):
    wide = np.dtype(np.longdouble if dtype == F64 else np.float64)
    if np.finfo(wide).nmant < 52 + 11 * (dtype == F64):
        pytest.skip("no extended precision to compare with on this platform")
    if name in ("erf", "erfc") and dtype == F64:
        arrays = [np.array(list(ERF))]
        exact = np.array([np.longdouble(pair[name == "erfc"]) for pair in ERF.values()])
    else:
        arrays = ordinary_arguments(name, dtype)
        exact = numpy_function(name)(*(x.astype(wide) for x in arrays))
    assert errors_in_ulp(ufunc(name, dtype)(*arrays), exact).max() <= 4


@names
@dtypes
def test_special_values_are_those_of_numpy(name, dtype):
    arrays = special_arguments(name, dtype)
    with np.errstate(all="ignore"):
        expected = numpy_function(name)(*arrays)
        got = ufunc(name, dtype)(*arrays)
        near = np.abs(got - expected) <= 4 * np.spacing(np.abs(expected))
    rounded = np.isfinite(expected) & (expected != 0) & near
    same = (got == expected) & (np.signbit(got) == np.signbit(expected))
    wrong = ~(same | rounded | np.isnan(got) & np.isnan(expected))
    assert not wrong.any(), list(zip(*(x[wrong] for x in (*arrays, got, expected)), strict=True))


@names
@dtypes
def test_same_bits_at_every_offset_length_and_stride(name, dtype):
    arrays = [
        np.concatenate([ordinary[:50], rare[-30:]])
        for ordinary, rare in zip(
            ordinary_arguments(name, dtype), special_arguments(name, dtype), strict=True
        )
    ]
    f = ufunc(name, dtype)
    alone = np.array([bits(f(*(x[k : k + 1] for x in arrays)))[0] for k in range(len(arrays[0]))])
    for length in range(1, 71):
        for offset in range(0, len(alone) - length + 1, 3):
            part = slice(offset, offset + length)
            assert (bits(f(*(x[part] for x in arrays))) == alone[part]).all(), (offset, length)
    for part in (slice(None, None, 2), slice(1, None, 3), slice(None, None, -1)):
        assert (bits(f(*(x[part] for x in arrays))) == alone[part]).all()
    many = [np.tile(x, 40) for x in arrays]
    assert (bits(f(*many)) == np.tile(alone, 40)).all()


def test_no_floating_point_warning_is_left():
    with np.errstate(all="raise"):
        for name in ARGUMENTS:
            ufunc(name, F64)(*special_arguments(name, F64))


def test_integers_are_float64():
    f = kernel(spec_of(function_of("exp"), np.dtype(np.int64), F64)).ufunc
    assert f(np.arange(20)) == pytest.approx(np.exp(np.arange(20.0)), rel=1e-15)


# Code


@needs_library
@names
@dtypes
def test_loops_call_the_vector_library(name, dtype, monkeypatch):
    symbol = LIBRARY.variant(name, 8 * dtype.itemsize)
    if symbol is None:
        pytest.skip(f"this version of the library has no {name}")
    code, assembly = generated_code_simd(spec(name, dtype), monkeypatch)
    if symbol in SYMBOLS:  # a function of our own: the kernel contains its code
        assert "@llvm.x86.avx512.mask." in code
        assert symbol not in assembly
        assert "zmm" in assembly
        return
    assert f"call <{LIBRARY.lanes(8 * dtype.itemsize)} x" in code.replace("tail ", "")
    assert symbol in assembly
    assert loop_calls(code, symbol)


@needs_library
@dtypes
def test_a_kernel_that_calls_a_function_computes_its_tail_in_vectors_too(dtype, monkeypatch):
    lanes = LIBRARY.lanes(8 * dtype.itemsize)
    code, _ = generated_code_simd(spec("sin", dtype), monkeypatch)
    calls = re.findall(rf"call <(\d+) x \w+> @{LIBRARY.variant('sin', 8 * dtype.itemsize)}", code)
    assert calls == [str(lanes)]  # for whole blocks, the last block and short rows alike


def generated_code_simd(kernel_spec, monkeypatch):
    monkeypatch.setattr(ng._settings.settings, "math", "simd")
    return generated_code(kernel_spec, monkeypatch)


def loop_calls(code, symbol):
    """Whether the kernel itself calls a function, not only the functions of its tail."""
    functions = code.split("\ndefine ")[1:]
    bodies = [body.partition("\n}")[0] for body in functions]
    return any(f"@{symbol}(" in body for body in bodies if "@kernel_under_test" in body)


def power_of_floats(x, y):
    return x**y


def builtin_power(x, y):
    return pow(x, y)


def power_in_place(x, y):
    x **= y
    return x


def power_of_literal(x):
    return x**2.5


@needs_library
@pytest.mark.parametrize(
    "function", [power_of_floats, builtin_power, power_in_place, power_of_literal]
)
@dtypes
def test_powers_of_floats_call_the_vector_library(function, dtype, monkeypatch):
    kernel_spec = spec_of(function, *[dtype] * (function.__code__.co_argcount + 1))
    code, _ = generated_code_simd(kernel_spec, monkeypatch)
    assert loop_calls(code, LIBRARY.symbol("pow", 8 * dtype.itemsize))


def square_and_root(x):
    return x**2.0 + x**0.5 + x**2


@needs_library
def test_literal_powers_that_are_arithmetic_stay_arithmetic(monkeypatch):
    code, _ = generated_code_simd(spec_of(square_and_root, F64, F64), monkeypatch)
    assert "pow" not in code


def branch(x):
    return math.exp(x) if x < 0 else 1 + x


def mixed(x, y):
    return math.exp(x) * math.sin(y)


@needs_library
def test_calls_in_branches_and_of_two_dtypes_are_vector_calls(monkeypatch):
    code, _ = generated_code_simd(spec_of(branch, F64, F64), monkeypatch)
    assert loop_calls(code, f"numgrad_simd_exp_float64_M{LIBRARY.lanes(64)}")
    code, _ = generated_code_simd(spec_of(mixed, F32, F64, F64), monkeypatch)
    assert loop_calls(code, f"numgrad_simd_exp_float32_N{LIBRARY.lanes(64)}")
    assert loop_calls(code, LIBRARY.symbol("sin", 64))


@needs_library
def test_variants_for_branches_call_the_library_for_vectors_with_elements_only():
    text = vector_math.definitions("numgrad_simd_exp_float64")
    for lanes in (LIBRARY.lanes(64), LIBRARY.lanes(64) // 2):
        code = text.split(f"@numgrad_simd_exp_float64_M{lanes}(")[-1].split("\n}")[0]
        before, call = code.split("br i1 %none, label %idle, label %busy")
        assert "call" not in before
        assert f"call <{LIBRARY.lanes(64)} x double> @" in call.split("busy:")[1]
        assert "call" not in call.split("busy:")[0]



@dtypes
def test_values_of_branches_and_of_two_dtypes(dtype):
    x = np.linspace(-3, 3, 77).astype(dtype)
    exp, sin = ufunc("exp", dtype), ufunc("sin", F64)
    expected = np.where(x < 0, exp(x), 1 + x)
    assert (kernel(spec_of(branch, dtype, dtype)).ufunc(x) == expected).all()
    y = x.astype(F64)
    got = kernel(spec_of(mixed, dtype, F64, F64)).ufunc(x, y)
    assert (got == exp(x).astype(F64) * sin(y)).all()


def test_complex_kernels_stay_on_scalar_math(monkeypatch):
    c128 = np.dtype(np.complex128)
    code, _ = generated_code_simd(spec_of(function_of("exp"), c128, c128), monkeypatch)
    assert "_ZGV" not in code


def two_functions(x):
    return math.exp(x) + math.sin(x)


def one_of_them(x):
    return math.exp(-x)


def fused_spec():
    steps = ((spec_of(two_functions, F64, F64), (0,)), (spec_of(one_of_them, F64, F64), (1,)))
    return FusedSpec("fused", steps, (F64,), (F64,), (2,), (False,))


@needs_library
def test_steps_of_a_linked_kernel_share_their_functions(monkeypatch):
    # as where steps have branches
    monkeypatch.setattr(scalar_kernel, "dataflow_of", lambda graph: None)
    code, _ = generated_code_simd(fused_spec(), monkeypatch)
    assert code.count("define internal double @numgrad_simd_exp_float64") == 1
    assert all(loop_calls(code, LIBRARY.symbol(name, 64)) for name in ("exp", "sin"))


@needs_library
def test_a_kernel_written_for_vectors_calls_the_library_itself(monkeypatch):
    monkeypatch.setattr(scalar_graph, "FEWEST_STEPS", 2)
    code, _ = generated_code_simd(fused_spec(), monkeypatch)
    assert "@numgrad_simd_" not in code
    exp, sin = (LIBRARY.symbol(name, 64) for name in ("exp", "sin"))
    assert loop_calls(code, sin)
    assert loop_calls(code, "llvm.x86.avx512.mask.scalef.pd.512" if exp in SYMBOLS else exp)


@needs_library
@pytest.mark.parametrize("symbol", SYMBOLS)
def test_ours_have_the_same_bits_compiled_and_written_into_a_kernel(symbol, monkeypatch):
    name, size = SYMBOLS[symbol]
    if LIBRARY.symbol(name, size) != symbol:
        pytest.skip("for AVX-512 alone")
    dtype = np.dtype(f"f{size // 8}")
    kinds = zip(ordinary_arguments(name, dtype), special_arguments(name, dtype), strict=True)
    arrays = [np.concatenate(pair) for pair in kinds]
    alone = ufunc(name, dtype)(*arrays)
    monkeypatch.setattr(scalar_graph, "FEWEST_STEPS", 2)
    n = len(arrays)
    steps = ((spec(name, dtype), (*range(n),)), (spec_of(negative, dtype, dtype), (n,)))
    joined = FusedSpec("fused", steps, (dtype,) * n, (dtype,), (n + 1,), (False,) * n)
    assert (bits(-kernel(joined).ufunc(*arrays)) == bits(alone)).all()


def negative(x):
    return -x


def test_a_fused_kernel_has_the_bits_of_its_steps():
    x = np.linspace(-5, 5, 83)
    step = kernel(spec_of(two_functions, F64, F64)).ufunc(x)
    expected = kernel(spec_of(one_of_them, F64, F64)).ufunc(step)
    assert (bits(kernel(fused_spec()).ufunc(x)) == bits(expected)).all()


# The setting


@pytest.fixture
def keep_math():
    before = ng.get_flags("math")
    yield
    ng.set_flags(**before)


def callee(x, y):
    return x**y


def through_callee(x, y):
    return math.exp(callee(x, y)) + math.tanh(y)


@pytest.mark.usefixtures("keep_math")
def test_the_setting_selects_libm_at_once_and_back():
    x = np.linspace(0.1, 1.5, 301)
    kernel_spec = spec_of(through_callee, F64, F64, F64)
    results = {}
    for mode in (*CHOICES["math"], *CHOICES["math"]):
        ng.set_flags(math=mode)
        got = kernel(kernel_spec).ufunc(x, x)
        assert (results.setdefault(mode, got) == got).all()
    exact = [math.exp(math.pow(v, v)) + math.tanh(v) for v in x.tolist()]
    assert results["libm"].tolist() == exact
    assert (results["simd"] != results["libm"]).any() == (LIBRARY is not None)


@pytest.mark.usefixtures("keep_math")
def test_the_setting_reaches_operators_and_their_partials():
    points = np.linspace(0.1, 3, 501)
    found = {}
    for mode in CHOICES["math"]:
        ng.set_flags(math=mode)
        x = ng.tensor(points, requires_grad=True)
        (slope,) = ng.grad(ng.sin(x).sum(), x)
        found[mode] = [np.asarray(ng.exp(x).detach()), np.asarray(slope)]
    assert found["libm"][0].tolist() == [math.exp(v) for v in points]
    if LIBRARY is not None:
        for a, b in zip(*found.values(), strict=True):
            assert (a != b).any()
            assert a == pytest.approx(b, rel=1e-14)


def test_unknown_modes_are_refused():
    with pytest.raises(ValueError, match="math must be one of simd, libm, got 'fast'"):
        ng.set_flags(math="fast")
    assert ng.get_flags("math")["math"] in CHOICES["math"]
