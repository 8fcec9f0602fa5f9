"""What makes the whole suite shorter: fewer objects to look through, and more seldom, and no more
threads than there are cores; and what a path leaves out."""

import gc
import os
import signal
import sys

if "PYTEST_XDIST_WORKER" in os.environ:
    # Before NumPy is loaded: LAPACK's threads for small matrices wait for cores that are taken.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

import numgrad as ng

from . import device, endless

pytest.register_assert_rewrite("tests.catalogue")

_ON_REFERENCE_PATH = ng.get_flags()["path"] == "reference"
_HAS_LOCK = getattr(sys, "_is_gil_enabled", lambda: True)()


def pytest_configure(config):
    """Hear Ctrl-C, which shells let what they start in the background ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(10_000, 10, 10)  # Numba's compiler makes objects that the collector looks at
    config.pluginmanager.register(endless.Watch(config))
    if "PYTEST_XDIST_WORKER" in os.environ:
        from .scheduling import say_less

        say_less(config)
    if device.DEVICE != "cpu":
        device.take_there()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getvalue("dist") == "loadfile":
        from .scheduling import FileScheduling

        return FileScheduling(config, log)
    return None


def pytest_runtest_setup(item):
    if item.get_closest_marker("short_ways") and _ON_REFERENCE_PATH:
        pytest.skip("the reference path takes no short way, and this looks whether one was taken")
    if item.get_closest_marker("locked") and not _HAS_LOCK:
        pytest.skip("without the lock no code makes Python's objects, nor are references counted")
    device.skip_what_stays(item)


def pytest_collection_finish(session):
    _freeze()


@pytest.fixture
def default_fusing():
    """What a test asks of a program holds as long as it is not fused, or until it is."""
    before = ng.get_flags("fuse")
    ng.set_flags(fuse="auto")
    yield
    ng.set_flags(**before)


@pytest.fixture
def scipy_as_it_is():
    """SciPy's functions refuse tensors that require grad, as they do without numgrad."""
    ng.set_flags(scipy="never")
    yield
    ng.set_flags(scipy="auto")


@pytest.fixture
def numpy_as_it_is():
    """NumPy's constructors refuse tensors that require grad, as they do without numgrad."""
    ng.set_flags(numpy="never")
    yield
    ng.set_flags(numpy="auto")


@pytest.fixture(autouse=True, scope="session")
def _children_find_byte_code(tmp_path_factory):
    """Where Python is told to keep no byte code, a folder of the tests has it for the processes
    that they start: half of the time to import numgrad is that to compile its sources."""
    with pytest.MonkeyPatch.context() as patch:
        if sys.dont_write_bytecode and sys.pycache_prefix is None:
            ours = tmp_path_factory.getbasetemp()
            shared = ours.parent if "PYTEST_XDIST_WORKER" in os.environ else ours
            patch.setenv("PYTHONPYCACHEPREFIX", str(shared / "bytecode"))
            patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


@pytest.fixture(autouse=True, scope="module")
def _frozen():
    """A collection looks at what a module has made, not at all that the tests before it left."""
    _freeze()


def _freeze():
    gc.collect()
    gc.freeze()
