"""What makes the whole suite shorter: fewer objects to look through, and a second process that
compiles kernels before they are needed."""

import gc
import os
import signal
import subprocess
import sys

import pytest

AHEAD = "NUMGRAD_TESTS_AHEAD"
"""Set in the process that runs ahead, to the process for which it does."""

# What compiles most, the last first: the two processes meet.
_COMPILING = (
    "tests/targets/test_fused.py",
    "tests/targets/test_vector_math.py",
    "tests/operators/test_halving.py",
    "tests/operators/test_blocks.py",
    "tests/properties/test_stencils.py",
    "tests/func/test_jit_derivatives.py",
    "tests/func/test_jit_dtypes.py",
)
_runner: list[subprocess.Popen] = []


def pytest_configure():
    """Hear Ctrl-C, which shells let what they start in the background ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    if AHEAD in os.environ:
        items.reverse()


def pytest_collection_finish(session):
    config = session.config
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if is_whole and AHEAD not in os.environ and not config.option.collectonly:
        _start_runner(config.rootpath)
    _freeze()


def _start_runner(root):
    """Run the tests that compile most for the kernels that they leave in the cache, where there is
    a processor for that; what comes of the tests themselves does not matter."""
    if not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2:
        return
    options = ("-q", "-p", "no:cacheprovider", "-W", "ignore")
    process = subprocess.Popen(
        ["nice", sys.executable, "-m", "pytest", *options, *_COMPILING],
        env=os.environ | {AHEAD: str(os.getpid())},
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _runner.append(process)


def pytest_runtest_setup():
    if os.environ.get(AHEAD) not in (None, str(os.getppid())):
        pytest.exit("nobody needs the kernels any more")


def pytest_unconfigure():
    for process in _runner:
        process.kill()
        process.wait()


@pytest.fixture(autouse=True, scope="module")
def _frozen():
    """A collection looks at what a module has made, not at all that the tests before it left."""
    _freeze()


def _freeze():
    gc.collect()
    gc.freeze()
