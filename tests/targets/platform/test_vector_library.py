"""The choice of the vector library, and kernels where it lacks functions or is absent."""

import json
import math
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from numgrad.targets.cpu.compile import compiler
from numgrad.targets.cpu.kernels.kernel import kernel
from numgrad.targets.cpu.math import vector_math
from numgrad.targets.cpu.platform import vector_library
from numgrad.targets.cpu.platform.avx512 import SYMBOLS
from numgrad.targets.cpu.platform.vector_library import ARGUMENTS, VectorLibrary
from numgrad.targets.cpu.vectorize import widen

from ..kernel_tools import F64, generated_code, spec_of

AVX2, AVX512 = {"avx2", "fma"}, {"avx2", "fma", "avx512f", "avx512dq"}
present = vector_library.vector_library()
needs_library = pytest.mark.skipif(present is None, reason="no vector library on this platform")


@pytest.fixture
def use(monkeypatch):
    """A function that puts another library in the place of the platform's."""

    def use(library):
        for module in (vector_library, vector_math, widen):
            monkeypatch.setattr(module, "vector_library", lambda: library)
        compiler._platform_key.cache_clear()

    yield use
    compiler._platform_key.cache_clear()


@pytest.fixture(autouse=True)
def simd(monkeypatch):
    monkeypatch.setattr(vector_library.settings, "math", "simd")


def exp_and_tan():
    """A function of a kernel, a new one at each call."""
    return lambda x: math.exp(x) + math.tan(x)


@pytest.mark.parametrize(
    ("processor", "features", "isa"),
    [
        ("znver5", AVX512, "e"), ("znver3", AVX2, "d"), ("sapphirerapids", AVX512, "e"),
        ("emeraldrapids", AVX2, "d"), ("cascadelake", AVX512, "d"), ("knl", AVX512, "e"),
        ("haswell", AVX512, "d"), ("icelake-server", AVX512, "e"),
        ("haswell", AVX2, "d"), ("x86-64", set(), None), ("znver5", set(), None),
    ],
)  # fmt: skip
def test_registers_that_loops_use(processor, features, isa):
    assert vector_library._instruction_set(processor, frozenset(features)) == isa


def test_symbols_follow_the_vector_abi():
    library = VectorLibrary("e")
    assert library.symbol("sin", 64) == "_ZGVeN8v_sin"
    assert library.symbol("pow", 32) == "_ZGVeN16vv_powf"
    assert VectorLibrary("d").symbol("atan2", 64) == "_ZGVdN4vv_atan2"


def test_ours_stand_for_the_library_where_registers_are_as_wide():
    wide = VectorLibrary("e")
    assert {wide.symbol(name, bits) for name, bits in SYMBOLS.values()} == {*SYMBOLS}
    assert VectorLibrary("d").symbol("exp", 64) == "_ZGVdN4v_exp"


def test_other_platforms_have_none(monkeypatch):
    monkeypatch.setattr(vector_library.sys, "platform", "darwin")
    assert not vector_library.load()


def test_c_libraries_without_one_have_none(monkeypatch):
    monkeypatch.setattr(vector_library, "SONAME", "libmvec-of-no-system.so.1")
    assert not vector_library.load()


def test_kernels_without_a_library_call_libm(use, monkeypatch):
    use(None)
    code, _ = generated_code(spec_of(exp_and_tan(), F64, F64), monkeypatch)
    assert "_ZGV" not in code
    x = np.linspace(-1, 1, 99)
    got = kernel(spec_of(exp_and_tan(), F64, F64)).ufunc(x)
    assert got.tolist() == [math.exp(v) + math.tan(v) for v in x.tolist()]
    assert "no vector library" in vector_library.description()


@needs_library
def test_a_function_that_the_library_lacks_is_that_of_libm(use, monkeypatch):
    lacking = frozenset({present.symbol("tan", 64)})
    use(VectorLibrary(present.isa, lacking))
    code, _ = generated_code(spec_of(exp_and_tan(), F64, F64), monkeypatch)
    assert present.symbol("exp", 64) in code
    assert present.symbol("tan", 64) not in code


@needs_library
def test_narrower_registers_give_values_too(use, monkeypatch):
    narrow = VectorLibrary("d")
    if narrow.symbol("tan", 64).replace("N4", f"N{present.lanes(64)}") in present.missing:
        pytest.skip("this version of the library has no tan")
    use(narrow)
    code, _ = generated_code(spec_of(exp_and_tan(), F64, F64), monkeypatch)
    assert "<4 x double> @_ZGVdN4v_exp(" in code
    x = np.linspace(-1, 1, 99)
    got = kernel(spec_of(exp_and_tan(), F64, F64)).ufunc(x)
    assert got == pytest.approx(np.exp(x) + np.tan(x), rel=1e-14)


def test_the_key_of_the_cache_depends_on_the_library(use):
    keys = set()
    for library in (
        None,
        VectorLibrary("d"),
        VectorLibrary("e"),
        VectorLibrary("e", frozenset({"_ZGVeN8v_tan"})),
    ):
        use(library)
        keys.add(compiler.make_key(exp_and_tan(), (), ()))
    assert len(keys) == 4


def test_the_key_of_the_cache_is_the_same_in_all_processes(use):
    symbols = [VectorLibrary("d").symbol(name, 64) for name in ARGUMENTS]
    use(VectorLibrary("d", frozenset(symbols)))
    found = re.findall(r"_ZGV\w+", vector_library.identity())
    assert found == sorted(symbols)


SCRIPT = """
import json, math
import numpy as np
from numgrad.ir.kernel_spec import ElementwiseSpec
from numgrad.targets.cpu.compile import disk_cache as cache
from numgrad.targets.cpu.kernels.kernel import kernel
def f(x):
    return math.exp(x)
spec = ElementwiseSpec("f", f, (np.dtype(float),), (np.dtype(float),))
values = kernel(spec).ufunc(np.linspace(-9.0, 9.0, 301)).tolist()
info = cache.cache_info()
print(json.dumps([info.compiled, values]))
"""


def run(folder, **environment):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env={**os.environ, "NUMGRAD_CACHE_DIR": str(folder), **environment},
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def test_a_second_process_compiles_nothing_and_another_setting_compiles_anew(tmp_path):
    folder = tmp_path / "kernels"
    first, again = run(folder, NUMGRAD_MATH="simd"), run(folder, NUMGRAD_MATH="simd")
    assert again[0] < first[0]
    assert again[0] == 0
    assert again[1] == first[1]
    libm = run(folder, NUMGRAD_MATH="libm")
    assert libm[0] == 1
    assert libm[1] == [math.exp(x) for x in np.linspace(-9.0, 9.0, 301).tolist()]


def test_an_unknown_mode_in_the_environment_is_refused(tmp_path):
    message = run(tmp_path, NUMGRAD_MATH="fast")
    assert "NUMGRAD_MATH must be one of simd, libm, got 'fast'" in message


def test_every_function_is_looked_up(use):
    if present is None:
        use(None)
        assert vector_library.identity() == "no vector library"
    else:
        found = [present.variant(name, size) for name in ARGUMENTS for size in (32, 64)]
        assert sum(symbol is None for symbol in found) == len(present.missing)
        assert str(2 * len(ARGUMENTS)) in vector_library.description()
