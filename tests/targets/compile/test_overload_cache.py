"""Numba's implementations of functions of NumPy are compiled once, for functions of any process."""

import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from numba import njit

import numgrad as ng
from numgrad.targets.cpu.platform.numba_setup import compiler_lock

PROGRAM = """
import sys
import numpy as np
from numba.core.compiler import CompilerBase
from numgrad import njit

compiled, compile_function = [], CompilerBase.compile_extra

def noted(self, function):
    compiled.append(function.__qualname__)
    return compile_function(self, function)

CompilerBase.compile_extra = noted

@njit
def solved(a, b):
    return np.linalg.solve(a, b).sum()

@njit
def twice(a, b):
    return 2.0 * np.linalg.solve(a, b)[0]

function = {"solved": solved, "twice": twice}[sys.argv[1]]
found = function(np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([2.0, 4.0]))
print(sum(name.startswith("solve_impl") for name in (n.rsplit(".")[-1] for n in compiled)), found)
try:
    function(np.eye(2), np.ones(3))
except np.linalg.LinAlgError as error:
    print(error)
try:
    function(np.zeros((2, 2)), np.ones(2))
except np.linalg.LinAlgError as error:
    print(error)
"""


def test_another_function_of_another_process_finds_what_numba_compiled(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    place = {**os.environ, "NUMGRAD_CACHE_DIR": str(tmp_path / "cache")}

    def printed(name):
        command = [sys.executable, script, name]
        return subprocess.run(command, env=place, capture_output=True, text=True).stdout

    errors = "Incompatible array sizes, system is not dimensionally valid.\n"
    errors += "Matrix is singular to machine precision.\n"
    assert printed("solved") == "1 1.5\n" + errors
    assert printed("twice") == "0 1.0\n" + errors


KEPT = """
import numpy as np
from numgrad import njit

@njit(cache=True)
def solved(a, b):
    return np.linalg.solve(a, b).sum()

@njit
def twice(a, b):
    return 2.0 * solved(a, b)

print(twice(np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([2.0, 4.0])), solved.stats.cache_hits)
"""


def test_caches_of_numba_itself_hold_all_that_a_function_calls(tmp_path):
    script = tmp_path / "kept.py"
    script.write_text(KEPT)
    for folder, hits in (("first", "{}"), ("second", "{(Array")):
        place = {**os.environ, "NUMGRAD_CACHE_DIR": str(tmp_path / folder)}
        found = subprocess.run([sys.executable, script], env=place, capture_output=True, text=True)
        assert found.stdout.startswith("3.0 "), found.stderr
        assert hits.strip("{}") in found.stdout


def test_functions_of_numba_itself_call_what_was_compiled_for_others():
    @ng.njit
    def total(x, y):
        return (x + np.linalg.solve(y, x)).sum()

    @njit
    def plain(x, y):
        return (x + np.linalg.solve(y, x)).sum()

    x, y = np.array([1.0, 2.0]), np.array([[2.0, 0.0], [0.0, 4.0]])
    assert total(x, y) == plain(x, y) == 4.0
    for function in (total, plain):
        with pytest.raises(np.linalg.LinAlgError, match="not dimensionally valid"):
            function(np.ones(3), y)


def test_a_function_of_loops_does_not_wait_for_the_lock_of_numgrad():
    lock: Any = compiler_lock
    held, ended = threading.Event(), threading.Event()

    def hold():
        with lock._own:
            held.set()
            ended.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    called = threading.Thread(target=lambda: ng.njit(lambda x: x + 1.0)(2.0), daemon=True)
    called.start()
    called.join(30)
    is_waiting = called.is_alive()
    ended.set()
    thread.join()
    assert not is_waiting


@pytest.mark.parametrize("step", [1, -1, 2, -3])
def test_ranges_and_elements_are_those_of_python(step):
    def walked(x, start, stop):
        found = []
        for i in range(start, stop, step):
            found.append(x[i, -1] + 10.0 * x[i - 1, 0])
            x[i, 0] = len(found)
        return found

    rows = np.arange(12.0).reshape(4, 3)
    for given in (rows, np.asfortranarray(rows), rows[:, ::-1]):
        for start, stop in ((0, 4), (3, 0), (2, 2), (3, -1)):
            ours, theirs = given.copy("K"), given.copy("K")
            if not len(range(start, stop, step)):
                continue
            assert ng.njit(walked)(ours, start, stop) == walked(theirs, start, stop)
            assert np.array_equal(ours, theirs)
