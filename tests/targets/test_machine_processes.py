"""The machine in other processes: forked children, another threading layer, a first import."""

import os
import subprocess
import sys
import textwrap

import pytest

FORKING = """
import os, sys
import numpy as np
sys.path.insert(0, {folder!r})
from numgrad.targets.cpu import threads
import test_machine as here
a, b, c = np.ones((64, 10)), np.full(10, 3.0), np.zeros((64, 10))
encoded = here.square_of_product(a, b, c)
{before}
child = os.fork()
if child == 0:
    c[:] = 0
    fine = here.run(encoded, 64, 4, 320, parallel=True) is None and (c == 9).all()
    os._exit(0 if fine and threads.get_num_threads() == {expected} else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
@pytest.mark.parametrize("threads_first", [True, False])
@pytest.mark.parametrize("layer", ["default", "workqueue"])
def test_child_of_a_fork_runs(threads_first, layer):
    expected = "1" if threads_first else "threads.config.NUMBA_NUM_THREADS"
    before = "here.run(encoded, 64, 4, 320, parallel=True)" if threads_first else ""
    source = textwrap.dedent(FORKING).format(
        folder=os.path.dirname(__file__), before=before, expected=expected
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", source],
        env=os.environ | {"NUMBA_THREADING_LAYER": layer, "PYTHONPATH": os.getcwd()},
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.stdout.strip() == "0", done.stderr


def test_workqueue_survives_launches_from_two_threads():
    """That layer aborts the process when launches overlap; a lock keeps them apart."""
    source = f"""
import sys, threading
import numpy as np
sys.path.insert(0, {os.path.dirname(__file__)!r})
import test_machine as here
assert here.TARGET.threading_layer() == "workqueue"
here.test_python_threads_run_programs_at_once(np.random.default_rng(0), True)
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", source],
        env=os.environ | {"NUMBA_THREADING_LAYER": "workqueue", "PYTHONPATH": os.getcwd()},
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.stdout.strip() == "done", done.stderr


def test_making_a_target_compiles_nothing():
    source = textwrap.dedent(
        """
        from numgrad.targets.cpu import CPUTarget
        info = CPUTarget().cache_info()
        print(info.hits, info.misses, info.compiled)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0"] * 3
