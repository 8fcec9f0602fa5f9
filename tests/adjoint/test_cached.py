"""Derived adjoints on disk: the next process compiles none of them."""

import os
import subprocess
import sys

import numpy as np

import numgrad as ng
from numgrad.targets.cpu.compile import disk_cache

PROGRAM = """
import numpy as np
from numba.core import event
import numgrad as ng

events = event.RecordingListener()
event.register("numba:compile", events)


@ng.njit(cache=True)
def energy(x, k):
    total = 0.0
    for i in range(1, len(x)):
        if x[i] > 9.0:
            raise ValueError("too far")
        total += k * (x[i] - x[i - 1]) ** 2
    return total


x = np.linspace(0.0, 1.0, 4)
slopes = ng.func.grad(energy)(x, 0.5)
try:
    ng.func.grad(energy)(10.0 * x, 0.5)
except ValueError as error:
    assert str(error) == "too far"
print(len(events.buffer), slopes.tobytes().hex())
"""


def test_second_process_compiles_nothing(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    place = {**os.environ, "NUMGRAD_CACHE_DIR": str(tmp_path / "cache")}
    first, second = (
        subprocess.run([sys.executable, script], env=place, capture_output=True, text=True)
        for _ in range(2)
    )
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert int(first.stdout.split()[0]) > 0
    assert second.stdout.split() == ["0", first.stdout.split()[1]]


def weighted(table):
    @ng.njit
    def total(x):
        s = 0.0
        for i in range(len(x)):
            s += table[i] * x[i]
        return s

    return total


def test_tables_that_loops_read_belong_to_the_key(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMGRAD_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(disk_cache, "_state", disk_cache._State())
    for table in (np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([1.0, 2.0])):
        found = ng.adjoint(weighted(table))(np.ones(2))[0]
        np.testing.assert_array_equal(found, table)
    assert (disk_cache.cache_info().compiled, disk_cache.cache_info().hits) == (2, 1)
