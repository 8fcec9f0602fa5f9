"""A thousand passes leave nothing behind, neither in Python's memory nor in that of the process."""

import sys

import pytest

from ..processes import run

SCRIPT = """
import gc, os, sys, tracemalloc
import numpy as np
import numgrad as ng

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

x = ng.tensor(np.linspace(0.1, 1.0, 2000), requires_grad=True)
seeds = np.random.default_rng(0).random((20, 2000))

def plain():
    ng.grad((ng.sin(x) * x).sum(), x)

def batched():
    ng.grad(ng.sin(x) * x, x, seeds, is_grads_batched=True)

def accumulated():
    (ng.exp(x) * x).sum().backward()

def second():
    (g,) = ng.grad((x * x * x).sum(), x, create_graph=True)
    ng.grad(g.sum(), x)

def failing():
    y = (x * x).sum()
    ng.grad(y, x)
    try:
        ng.grad(y, x)
    except RuntimeError:
        pass

def grown(use):
    for _ in range(100):
        use()
    gc.collect()
    tracemalloc.start()
    for _ in range(20):
        use()
    gc.collect()
    traced, began = tracemalloc.get_traced_memory()[0], resident()
    for _ in range(100):
        use()
    gc.collect()
    more = tracemalloc.get_traced_memory()[0] - traced
    tracemalloc.stop()
    for _ in range(900):
        use()
    gc.collect()
    return more, resident() - began

for name in sys.argv[1:]:
    print(*grown(globals()[name]))
"""
USES = ("plain", "accumulated", "second", "failing", "batched")  # arrays of passes grow


@pytest.fixture(scope="module")
def growths():
    """In bytes, traced and resident, of one process that does one after the other."""
    # Fused before the first pass: the compiler keeps memory, once.
    lines = run(SCRIPT, *USES, NUMGRAD_FUSE="now").splitlines()
    return {use: map(int, line.split()) for use, line in zip(USES, lines, strict=True)}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("use", USES)
def test_a_thousand_passes_leak_nothing(growths, use):
    traced, resident = growths[use]
    assert traced < 10_000  # an array of a pass has 16 kB, its Python objects some more
    assert resident < 4 * 2**20  # one array per pass would be 16 MB
