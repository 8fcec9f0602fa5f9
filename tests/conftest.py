"""What makes the whole suite shorter: fewer objects to look through."""

import gc
import signal

import pytest


def pytest_configure():
    """Hear Ctrl-C, which shells let what they start in the background ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish(session):
    _freeze()


@pytest.fixture(autouse=True, scope="module")
def _frozen():
    """A collection looks at what a module has made, not at all that the tests before it left."""
    _freeze()


def _freeze():
    gc.collect()
    gc.freeze()
