"""Eight threads taking gradients at once, under every threading layer that works here."""

from pathlib import Path

import pytest

from tests.sampling import one_in

from ..processes import require_layer, run

SCRIPT = (Path(__file__).parent / "threads_at_work.py").read_text("utf-8")


@pytest.mark.parametrize("layer", one_in(3, ["omp", "workqueue", "tbb"]))
def test_eight_threads_at_once(layer, tmp_path):
    require_layer(layer)
    # An empty cache: the threads also compile the same kernels at once.
    chosen = {"NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": "4"}
    if layer == "omp":
        chosen["NUMGRAD_CACHE_DIR"] = str(tmp_path / "kernels")
    assert run(SCRIPT, **chosen).split()[0] == layer


IMPORTED_MEANWHILE = """
import importlib, sys, threading
from numgrad.targets.cpu.platform import object_loader as loader

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
