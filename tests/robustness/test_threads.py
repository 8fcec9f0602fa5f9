"""Eight threads taking gradients at once, under every threading layer that works here."""

from pathlib import Path

import pytest

from .processes import run

SCRIPT = (Path(__file__).parent / "threads_at_work.py").read_text("utf-8")

START_LAYER = """
from numba import njit, prange

@njit(parallel=True)
def count(n):
    total = 0
    for i in prange(n):
        total += i
    return total

try:
    count(10)
except ValueError:
    print("not available")
else:
    print("available")
"""


@pytest.mark.parametrize("layer", ["omp", "workqueue", "tbb"])
def test_eight_threads_at_once(layer, tmp_path):
    if layer == "tbb" and run(START_LAYER, NUMBA_THREADING_LAYER=layer) == "not available":
        pytest.skip("TBB is not installed")
    # An empty cache: the threads also compile the same kernels at once.
    chosen = {"NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": "4"}
    if layer == "omp":
        chosen["NUMGRAD_CACHE_DIR"] = str(tmp_path / "kernels")
    assert run(SCRIPT, **chosen).split()[0] == layer


IMPORTED_MEANWHILE = """
import importlib, sys, threading
from numgrad.targets.cpu import loader

other = threading.Thread(target=importlib.import_module, args=["numba"])
other.start()
while "numba" not in sys.modules:
    pass
loader.provide(["NRT_MemInfo_alloc"])
other.join()
print("provided")
"""


def test_numba_may_be_imported_by_another_thread_meanwhile():
    assert run(IMPORTED_MEANWHILE) == "provided"
