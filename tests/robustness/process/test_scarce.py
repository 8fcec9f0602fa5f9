"""What is missing or switched off is said in so many words: address space, Numba's compiler."""

import os
import subprocess
import sys

import pytest

LIMITED = """
import resource
import numpy as np
import numgrad as ng

x = ng.tensor(np.linspace(0.1, 1.0, 50), requires_grad=True)
ng.grad(ng.sin(x * 2.0).sum(), x)  # what every process needs is there
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (2 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, -1))
try:
    ng.cos(ng.log1p(x))
except MemoryError as error:
    print("MemoryError", error)
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
print(ng.grad(ng.cos(x).sum(), x)[0].shape)
"""

WITHOUT_JIT = """
import numpy as np
import numgrad as ng
from numba import njit

x = ng.tensor(np.array([1.0, 2.0]), requires_grad=True)
print(ng.grad(ng.cbrt(x * 2.0).sum(), x)[0].shape)
try:
    @ng.operator("(n)->(n)")
    @njit
    def double(x, out):
        out[:] = 2.0 * x
except ng.errors.DeclarationError as error:
    print(error)
print(type(njit(lambda x: x)).__name__)
"""


def run(script, **environment):
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS")
def test_a_kernel_that_finds_no_memory_raises():
    error, shape = run(LIMITED)
    assert error.startswith("MemoryError numgrad has no memory left to")
    assert shape == "(50,)"


def test_numbas_switch_leaves_kernels_alone_and_is_named_where_it_does_harm(tmp_path):
    shape, error, kind = run(
        WITHOUT_JIT, NUMBA_DISABLE_JIT="1", NUMGRAD_CACHE_DIR=str(tmp_path / "kernels")
    )
    assert shape == "(2,)"
    assert error.startswith("operator double: NUMBA_DISABLE_JIT is set")
    assert kind == "function"
