"""The same tests on a device: with ``NUMGRAD_TEST_DEVICE=cuda`` tensors are made there.

Tests go on writing ``ng.tensor(...)`` and reading ``x.numpy()``. Only what a test itself asks for
is changed: numgrad's own calls make and read tensors as always, and refuse what they always refuse.
"""

import functools
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import numgrad as ng

DEVICE = os.environ.get("NUMGRAD_TEST_DEVICE", "cpu")

_MAKERS = (
    "arange", "asarray", "empty", "eye", "from_dlpack", "full", "linspace", "ones", "tensor",
    "zeros",
)  # fmt: skip
_LIBRARY = str(Path(ng.__file__).parent)


def take_there():
    """Let tests make tensors on the device, and read copies of them."""
    for name in _MAKERS:
        setattr(ng, name, _made_there(getattr(ng, name)))
    for name in ("numpy", "__array__"):
        setattr(ng.Tensor, name, _read_from_there(getattr(ng.Tensor, name)))


def _made_there(function):
    @functools.wraps(function)
    def make(*args, **options):
        return function(*args, **{"device": DEVICE, **options})

    return make


def _read_from_there(method):
    @functools.wraps(method)
    def read(tensor, *args, **options):
        caller = sys._getframe(1).f_code.co_filename
        if tensor.device == "cpu" or caller.startswith(_LIBRARY):
            return method(tensor, *args, **options)
        return method(tensor.cpu(), *args, **options)

    return read


def share_memory(x, y):
    """Whether two arrays have memory in common, where they are."""
    on_host = isinstance(x, np.ndarray) and isinstance(y, np.ndarray)
    return np.shares_memory(x, y) if on_host else x.memory is y.memory


def skip_what_stays(item):
    """Skip tests of what only the processor has; the mark says why."""
    mark = item.get_closest_marker("host_only")
    if mark is not None and DEVICE != "cpu":
        pytest.skip(f"on the processor only: {mark.args[0]}")
