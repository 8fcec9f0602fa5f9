"""The machine in other processes: forked children, another threading layer, a first import."""

import os
import subprocess
import sys
import textwrap

import pytest

from numgrad.targets.cpu.platform.threads import granted_cores
from tests.sampling import one_in

FORKING = """
import os, sys
import numpy as np
sys.path.insert(0, {folder!r})
from numgrad.targets.cpu.platform import threads
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
@pytest.mark.parametrize("layer", one_in(2, ["default", "workqueue"]))
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


WAITING = """
import os, sys, time
import numpy as np
sys.path.insert(0, {folder!r})
import test_machine as here
from numgrad.targets.cpu.platform import threads
a, b, c = np.ones((64, 10)), np.full(10, 3.0), np.zeros((64, 10))
encoded = here.square_of_product(a, b, c)
used = []
for _ in range(5):
    assert here.run(encoded, 64, 4, 320, parallel=True) is None
    began = time.process_time()
    for _ in range({rounds}):  # other processes may have the cores
        time.sleep(0.05)
        if time.process_time() - began > 0.02:
            break
    used.append(time.process_time() - began)
print(sorted(used)[2], "GOMP_SPINCOUNT" in os.environ)
with open("/proc/self/maps") as file:
    print("libgomp" in file.read() and threads.get_num_threads() > 1)
"""
TOLD = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "NUMBA_THREADING_LAYER")


def wait(rounds=1, **environment):
    """Return the processor seconds that waiting threads used, and what the environment says."""
    source = WAITING.format(folder=os.path.dirname(__file__), rounds=rounds)
    kept = {name: text for name, text in os.environ.items() if name not in TOLD}
    done = subprocess.run(
        [sys.executable, "-c", source],
        env=kept | {"PYTHONPATH": os.getcwd()} | environment,
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seconds, told, several_of_gnu = done.stdout.split()
    if several_of_gnu != "True":
        pytest.skip("one thread, or not those of GNU's OpenMP")
    return float(seconds), told


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="GNU's OpenMP is Linux's")
def test_threads_that_wait_sleep_soon():
    """Other processes get their cores: threads that look for work 300 000 times keep them 14 ms."""
    seconds, told = wait()
    assert (seconds < 0.004, told) == (True, "False")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="GNU's OpenMP is Linux's")
def test_the_environment_says_how_threads_wait():
    seconds, told = wait(rounds=100, GOMP_SPINCOUNT="10000000000")
    assert (seconds > 0.02, told) == (True, "True")


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, 0),
        ({"cpu.max": "max 100000\n"}, 0),
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "250000 100000\n"}, 3),
        ({"cpu.max": "20000 100000\n"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0),
        ({"cpu/cpu.cfs_quota_us": "400000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4),
    ],
)
def test_cores_that_a_container_grants(tmp_path, files, cores):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert granted_cores(str(tmp_path)) == cores
