"""Tests of the CUDA target. Numba simulates a whole process or none, so most of them need one of
their own: ``NUMBA_ENABLE_CUDASIM=1 python -m pytest tests/cuda``. Those of the compiler need
``pip install .[cuda]`` and no simulator; none of them needs a GPU."""

import importlib.util
import os
from pathlib import Path

import pytest

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
HERE = Path(__file__).parent
REASONS = {
    True: "needs Numba's simulator of CUDA: NUMBA_ENABLE_CUDASIM=1 python -m pytest tests/cuda",
    False: "needs numba-cuda, pip install .[cuda], in a process without the simulator",
}


def pytest_collection_modifyitems(items):
    has_compiler = importlib.util.find_spec("numba_cuda") is not None and not SIMULATED
    for item in items:
        if HERE not in item.path.parents:
            continue
        wants_simulator = item.path.stem != "test_compiled"
        if wants_simulator != SIMULATED or not (wants_simulator or has_compiler):
            item.add_marker(pytest.mark.skip(reason=REASONS[wants_simulator]))
