"""Tests of the CUDA target, in processes of three kinds, none of which needs a GPU; `test_silicon`
is for those who have one.

- Numba simulates a whole process or none: ``NUMBA_ENABLE_CUDASIM=1 python -m pytest tests/cuda``.
- The same with ``NUMGRAD_TEST_DRIVER=hosted`` tests the driver for GPUs, see `hosted`.
- Those of the compiler need ``pip install .[cuda13]`` and no simulator.
"""

import importlib.util
import os
from pathlib import Path

import pytest

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
HOSTED = os.environ.get("NUMGRAD_TEST_DRIVER") == "hosted"
HERE = Path(__file__).parent


def pytest_configure():
    if HOSTED:
        from . import hosted

        if hosted.missing() is None:
            hosted.begin()


def pytest_collection_modifyitems(items):
    here = {path for path in {item.path for item in items} if HERE in path.parents}
    reasons = {path: missing(path.relative_to(HERE)) for path in here}
    for item in items:
        reason = reasons.get(item.path)
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


def missing(file):
    """Return what a process of another kind would have for the tests of a file."""
    room = file.parts[0]
    if room == "compiled":
        if SIMULATED or importlib.util.find_spec("numba_cuda") is None:
            return "needs numba-cuda, pip install .[cuda13], in a process without the simulator"
        return None
    if room == "test_silicon.py":
        import numgrad as ng

        simulated = "is for a GPU: test_report runs the same checks in the simulator"
        return ng.cuda.unavailable_reason() or (simulated if SIMULATED else None)
    if not SIMULATED:
        return "needs Numba's simulator of CUDA: NUMBA_ENABLE_CUDASIM=1 python -m pytest tests/cuda"
    if HOSTED:
        from . import hosted

        about = "is about the simulator itself" if room == "simulator" else None
        return hosted.missing() or about
    return "needs NUMGRAD_TEST_DRIVER=hosted" if room == "test_driver.py" else None
