"""Daemon threads that are at work while the interpreter ends."""

import os
import subprocess
import sys

import pytest

from numgrad.process.interpreter_exit import ending, uncut

WORK = """
import sys, threading, time
import numpy as np
import numgrad as ng
from numgrad.func.pytree import flatten

sys.setswitchinterval(1e-6)  # the threads take turns within the functions, too
tree = {"a": [1.0, 2.0, (3.0, {"z": 1.0})], "b": (1.0, [2.0])}

def containers():
    while True:
        leaves, rebuild = flatten(tree)
        rebuild(leaves)

def captured():
    while True:
        ng.jit(lambda x: {"r": x + 1.0, "s": [x, (x * 2.0,)]})(np.ones(3))

captured_once = ng.jit(lambda x: {"r": x})(np.ones(3))
for work in (containers, containers, containers, captured):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
"""


def test_daemon_threads_do_not_end_the_process_with_an_error():
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", WORK], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_threads_are_counted_as_deep_as_they_are():
    inner = uncut(lambda: dict(ending.inside))
    outer = uncut(lambda: (dict(ending.inside), inner(), dict(ending.inside)))
    before, within, after = outer()
    assert [max(depths.values()) for depths in (before, within, after)] == [1, 2, 1]
    assert not ending.inside


def test_threads_are_counted_where_functions_raise():
    with pytest.raises(ZeroDivisionError):
        uncut(lambda: 1 / 0)()
    assert not ending.inside


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_does_not_wait_for_threads_of_its_parent():
    ending.inside[-1] = 1  # a thread that the child does not have
    try:
        child = os.fork()
        if child == 0:
            os._exit(len(ending.inside))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        del ending.inside[-1]
