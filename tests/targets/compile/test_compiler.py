"""Functions become addresses: once per content, never again in another process."""

import ctypes
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from numba import njit, types

from numgrad.targets.cpu.compile import compiler, disk_cache
from numgrad.targets.cpu.compile.fingerprint import UnstableValueError, fingerprint
from numgrad.targets.cpu.platform import object_loader
from tests.sampling import one_in

SIGNATURE = (types.float64,)


def callable_of(function, key_parts=()):
    address = compiler.load_or_compile(function, SIGNATURE, key_parts, restype=types.float64)
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path, monkeypatch):
    """An empty directory, fresh counters, and nothing in memory."""
    monkeypatch.setenv("NUMGRAD_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(disk_cache, "_state", disk_cache._State())
    monkeypatch.setattr(compiler, "_addresses", {})


def run_scripts(sources: dict, folder: Path) -> dict:
    """Run scripts one after the other, in a process of their own with `folder` on its path, and
    return the result of each and what it added to the counters."""
    code = "".join(textwrap.dedent(s) + f"done({name!r}, result)\n" for name, s in sources.items())
    header = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(Path.cwd())!r}]\n" + PRELUDE
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", header + code + "print(json.dumps(found))"],
        env=os.environ | {"NUMGRAD_CACHE_DIR": str(folder / "kernels")},
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


PRELUDE = """
import ctypes, json
from numba import njit, types
from numgrad.targets.cpu.compile import disk_cache as cache, compiler
def value(function, x):
    address = compiler.load_or_compile(function, (types.float64,), restype=types.float64)
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)(x)
def counters():
    info = cache.cache_info()
    return [info.compiled, info.writes, info.hits]
found, before = {}, [counters()]
def done(name, result):
    before.append(counters())
    found[name] = [result, [new - old for new, old in zip(before[-1], before[-2])]]
"""

CALLEES = """
def make(scale):
    @njit
    def callee(x):
        return math_like(x) * scale if x > 0 else -scale
    return callee
@njit
def math_like(x):
    return x
callee = make({scale})
def kernel(x):
    return callee(x) + {shift}
result = value(kernel, 1.0)
"""
TWO, THREE = CALLEES.format(scale="2.0", shift="0.5"), CALLEES.format(scale="3.0", shift="0.25")
TWICE = """
import math
def twice_exp(x):
    return 2.0 * math.exp(x)
result = value(twice_exp, 1.0)
"""
EDITED = """
import helper
def scaled(x):
    return helper.scale(x)
result = value(scaled, 3.0)
"""
PARALLEL = """
from numba import prange, carray
import numpy as np
def total(pointer, n):
    x = carray(pointer, n)
    s = 0.0
    for i in prange(n):
        s += x[i]
    return s
address = compiler.load_or_compile(
    total, (types.CPointer(types.float64), types.int64), parallel=True, restype=types.float64
)
x = np.arange(1000.0)
kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int64)
result = kind(address)(x.ctypes.data, x.size)
"""
OTHERS = {"twice": TWICE, "edited": EDITED, "parallel": PARALLEL}


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """What two processes with one cache found; a file that both import is edited in between."""
    folder = tmp_path_factory.mktemp("processes")
    source = "from numba import njit\n@njit\ndef scale(x):\n    return {} * x\n"
    (folder / "helper.py").write_text(source.format("2.0"))
    first = run_scripts({"two": TWO, **OTHERS}, folder)
    (folder / "helper.py").write_text(source.format("7.00"))
    return first, run_scripts({"three": THREE, "two": TWO, **OTHERS}, folder)


def test_second_process_compiles_nothing(processes):
    first, second = (found["twice"] for found in processes)
    assert first[0] == second[0] == pytest.approx(2 * math.e, rel=1e-15)
    assert (first[1], second[1]) == ([1, 1, 0], [0, 0, 1])


def test_edit_of_a_callee_in_another_file_recompiles(processes):
    (before, _), (after, (compiled, *_)) = (found["edited"] for found in processes)
    assert before == 6.0
    assert (after, compiled) == (21.0, 1)


def test_callees_of_one_name_from_two_processes_stay_apart(processes):
    """The first callee of a process gets Numba's first version number, so that the symbols of both
    processes have the same name."""
    first, second = processes
    assert first["two"][0] == 2.5
    assert (second["three"][0], second["two"][0]) == (3.25, 2.5)


def test_parallel_function_from_the_cache(processes):
    (first, _), (second, counted) = (found["parallel"] for found in processes)
    assert first == second == 499500.0
    assert counted == [0, 0, 1]


def test_equal_requests_give_one_address():
    def half(x):
        return x / 2

    one = compiler.load_or_compile(half, SIGNATURE, "a", restype=types.float64)
    assert compiler.load_or_compile(half, SIGNATURE, "a", restype=types.float64) == one
    assert compiler.load_or_compile(half, SIGNATURE, "b", restype=types.float64) != one
    assert disk_cache.cache_info().compiled == 2


def test_division_by_zero_follows_ieee_rules():
    assert callable_of(lambda x: 1.0 / x)(0.0) == math.inf


def test_recursive_function_is_compiled_though_not_kept():
    @njit
    def factorial(x):
        if x <= 1.0:
            return 1.0
        return x * factorial(x - 1.0)

    assert callable_of(lambda x: factorial(x))(5.0) == 120.0


def test_code_with_an_address_of_this_process_is_not_written():
    library = ctypes.CDLL(None)
    library.cosh.restype, library.cosh.argtypes = ctypes.c_double, [ctypes.c_double]
    cosh = library.cosh

    assert callable_of(lambda x: cosh(x))(0.0) == 1.0
    assert disk_cache.cache_info().writes == 0


def test_object_that_needs_a_missing_symbol_is_compiled_again(monkeypatch):
    monkeypatch.setattr(object_loader, "_providers", [])

    def third(x):
        return x / 3.0

    key = compiler.make_key(third, SIGNATURE, ((), False, "float64"))
    entry = disk_cache.Entry("entry", ("numgrad_no_such_function",), b"not even an object")
    disk_cache.write(key, entry)
    assert callable_of(third)(3.0) == 1.0
    assert disk_cache.cache_info().compiled == 1


def test_missing_symbol_is_an_error_and_not_an_abort():
    with pytest.raises(object_loader.MissingSymbolError, match="numgrad_no_such_function"):
        object_loader.provide(["numgrad_no_such_function"])


def test_interrupt_waits_for_the_end_of_a_compilation():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    ended = []

    def compiled():
        signal.raise_signal(signal.SIGINT)
        ended.append(True)
        return 64

    try:
        with pytest.raises(KeyboardInterrupt):
            compiler.obtain("-interrupted", compiled)
        assert ended == [True]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_value_is_caught_in_compiled_code_after_the_cache():
    def guarded(x):
        try:
            if x < 0:
                raise ValueError("negative", x)
            return math.sqrt(x)
        except Exception:
            return -1.0

    first = callable_of(guarded)
    compiler._addresses.clear()
    again = callable_of(guarded)
    assert [f(4.0) for f in (first, again)] == [2.0, 2.0]
    assert [f(-4.0) for f in (first, again)] == [-1.0, -1.0]
    assert disk_cache.cache_info().hits == 1


SCALE = 2.0
TABLE = np.array([1.0, 2.0])


def make(value):
    return lambda x: x * value


class TestFingerprint:
    def test_equal_sources_are_equal(self):
        assert fingerprint(lambda x: 2.0 * x) == fingerprint(lambda x: 2.0 * x)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (lambda x: x + 1, lambda x: x - 1),
            (lambda x: x * 1, lambda x: x * 1.0),
            (lambda x: x * 0.0, lambda x: x * -0.0),
            (make(2.0), make(3.0)),
            (make((1, 2)), make((1, 3))),
            (make(np.float32(1)), make(np.float64(1))),
            (make(np.arange(3)), make(np.arange(3)[::-1])),
            (lambda x, k=1: x, lambda x, k=2: x),
            (lambda x: math.sin(x), lambda x: math.cos(x)),
            (njit(lambda x: x), njit(fastmath=True)(lambda x: x)),
        ],
    )
    def test_differences_are_seen(self, one, other):
        assert fingerprint(one) != fingerprint(other)

    def test_a_global_is_part_of_the_function(self, monkeypatch):
        def scaled(x):
            return SCALE * x

        before = fingerprint(scaled)
        monkeypatch.setitem(globals(), "SCALE", 3.0)
        assert fingerprint(scaled) != before

    def test_contents_of_a_global_array_count(self, monkeypatch):
        def looked_up(x):
            return TABLE[0] * x

        before = fingerprint(looked_up)
        monkeypatch.setitem(globals(), "TABLE", np.array([1.0, 3.0]))
        assert fingerprint(looked_up) != before

    def test_names_in_nested_functions_count(self, monkeypatch):
        def outer(x):
            def inner(y):
                return SCALE * y

            return inner(x)

        before = fingerprint(outer)
        monkeypatch.setitem(globals(), "SCALE", 5.0)
        assert fingerprint(outer) != before

    def test_docstring_and_position_do_not_count(self):
        def f(x):
            """Return one more."""
            return x + 1

        one = f

        def f(x):
            """Add one."""
            return x + 1

        assert fingerprint(one) == fingerprint(f)

    def test_first_string_of_a_lambda_counts(self):
        assert fingerprint(lambda: "a") != fingerprint(lambda: "b")

    def test_recursion_ends(self):
        def even(n):
            return n == 0 or odd(n - 1)

        def odd(n):
            return n != 0 and even(n - 1)

        assert fingerprint(even) != fingerprint(odd)

    def test_unknown_objects_are_refused(self):
        with pytest.raises(UnstableValueError):
            fingerprint(make(object()))


def test_function_over_an_unknown_object_is_compiled_in_memory_only():
    class Unknown:
        pass

    unknown = Unknown()

    def shifted(x, unknown=unknown):
        return x + 1.0

    assert compiler.make_key(shifted, SIGNATURE, ()).startswith("-")
    assert compiler.make_key(shifted, SIGNATURE, ()) == compiler.make_key(shifted, SIGNATURE, ())


@pytest.mark.parametrize(
    "routine", one_in(3, ["linalg.lapack lu_solve", "linalg.lapack cholesky", "linalg.blas matmul"])
)
def test_a_routine_can_be_the_first_code_of_a_process(routine, tmp_path):
    """Numba ends the process where it does not know what a function of a routine calls."""
    code = (
        "from numgrad.targets.cpu.compile.routines import address_of\n"
        f"assert address_of(*{routine.split()})"
    )
    env = {"NUMGRAD_CACHE_DIR": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
