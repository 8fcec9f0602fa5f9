"""A child that was forked after a parallel run takes gradients too; it runs them on one thread."""

import os

import pytest

from tests.sampling import one_in

from ..processes import require_layer, run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")

PARALLEL = """
import multiprocessing, os, sys
import numpy as np
import numgrad as ng

def gradient(factor):
    x = ng.tensor(np.linspace(0.1, 1.0, 200), requires_grad=True)
    seeds = np.linspace(-1, 1, 512 * 200).reshape(512, 200)
    y = ng.tanh(x) * x * factor + ng.matmul(ng.tensor(np.eye(200)), x)
    return ng.grad(y, x, seeds, is_grads_batched=True)[0].numpy()

expected = gradient(2.0)
"""

FORK = (
    PARALLEL
    + """
graph = ng.tensor(np.ones(3), requires_grad=True)
cube = (graph * graph * graph).sum()
child = os.fork()
if child == 0:
    fine = np.allclose(gradient(2.0), expected, rtol=1e-13, atol=0)
    fine = fine and ng.grad(cube, graph)[0].tolist() == [3.0] * 3  # recorded by the parent
    os._exit(0 if fine else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert np.array_equal(gradient(2.0), expected)
print("fine")
"""
)

POOL = (
    PARALLEL
    + """
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map_async(gradient, [2.0] * 4).get(200)
    assert all(np.allclose(result, expected, rtol=1e-13, atol=0) for result in results)
    print("fine")
"""
)

MEANWHILE = (
    PARALLEL.replace(" + ng.matmul(ng.tensor(np.eye(200)), x)", "")  # OpenBLAS itself may hang here
    + """
import threading
stop = threading.Event()
def busy():
    while not stop.is_set():
        gradient(2.0)
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(0 if np.allclose(gradient(2.0), expected, rtol=1e-13, atol=0) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
stop.set()
for thread in threads:
    thread.join()
print("fine")
"""
)


@pytest.mark.parametrize("layer", one_in(2, ["omp", "workqueue"]))
@pytest.mark.parametrize("script", [FORK, POOL], ids=["fork", "multiprocessing"])
def test_child_of_a_parallel_process(layer, script):
    require_layer(layer)
    assert run(script, NUMBA_THREADING_LAYER=layer, NUMBA_NUM_THREADS="2") == "fine"


def test_fork_while_other_threads_take_gradients():
    """The child inherits locks that threads of the parent held."""
    printed = run(MEANWHILE, NUMBA_NUM_THREADS="2")
    assert printed.splitlines()[-1] == "fine"  # TBB, if that is the layer, complains before


NESTED = """
import os
import threading
import time
from numgrad.process.fork_locks import fork_safe_lock

first, second = fork_safe_lock(), fork_safe_lock()
stop = threading.Event()

def nest(outer, inner):
    while not stop.is_set():
        with outer:
            time.sleep(0.0005)
            with inner:
                pass

for order in ((first, second), (second, first)):
    stop.clear()
    thread = threading.Thread(target=nest, args=order)
    thread.start()
    for _ in range(50):
        child = os.fork()
        if child == 0:
            with first, second:
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    stop.set()
    thread.join()
print("fine")
"""


def test_fork_while_another_thread_nests_locks():
    """A fork takes all locks, and waits for none with another one in hand."""
    assert run(NESTED) == "fine"


IMPORTING = """
import importlib.abc
import importlib.util
import os
import signal
import sys
import threading
import time
import numgrad

begun = threading.Event()

class Slow(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name != "numgrad.slow":
            return None
        begun.set()
        time.sleep(0.2)  # the module is not even among the imported ones
        return importlib.util.spec_from_loader(name, self)

    def exec_module(self, module):
        time.sleep(0.2)
        module.done = True

sys.meta_path.insert(0, Slow())

def bring():
    import numgrad.slow

thread = threading.Thread(target=bring)
thread.start()
begun.wait()
time.sleep(DELAY)
child = os.fork()
if child == 0:
    signal.alarm(20)
    from numgrad.slow import done
    os._exit(0 if done else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
thread.join()
print("fine")
"""


@pytest.mark.parametrize("delay", [0.0, 0.3], ids=["looked for", "executed"])
def test_fork_while_another_thread_imports(delay):
    """Python's locks of modules stay taken in the child: the fork waits for the import."""
    assert run(IMPORTING.replace("DELAY", str(delay))) == "fine"


LOGGING = """
import os
import signal
import threading
import time
import numgrad
from numgrad.process.fork_locks import fork_safe_lock
import logging

signal.alarm(60)
lock, taken = fork_safe_lock(), threading.Event()

def ask():
    with lock:
        taken.set()
        time.sleep(0.3)
        logging.getLogger("numgrad.slow")

thread = threading.Thread(target=ask)
thread.start()
taken.wait()
child = os.fork()
if child == 0:
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
thread.join()
print("fine")
"""


def test_fork_while_a_thread_with_a_lock_asks_for_a_logger():
    """The lock of logging, which a fork takes as well, is not taken before ours are."""
    assert run(LOGGING) == "fine"


STOPPED = """
import os
import threading
from numgrad.process.fork_locks import fork_safe_lock, held_during_fork

class Stopped:
    def acquire(self, blocking=True):
        raise KeyboardInterrupt

    def release(self):
        pass

lock = fork_safe_lock()
held_during_fork(Stopped())
child = os.fork()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
free = []
thread = threading.Thread(target=lambda: free.append(lock.acquire(timeout=5)))
thread.start()
thread.join()
print(free)
"""


def test_ctrl_c_while_a_fork_waits_leaves_no_lock_taken():
    assert run(STOPPED) == "[True]"
