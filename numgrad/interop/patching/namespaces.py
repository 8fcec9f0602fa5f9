"""SciPy's own code on tensors: functions that SciPy has written for arrays of any library.

SciPy asks one function for the library of its arguments, which answers NumPy unless the environment
asks for others before SciPy is imported. While a function that was called with tensors is running,
it answers numgrad for tensors, in the thread that runs the function.
"""

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...functions.creation.from_data import asarray
from ...names.scipy_switch import SWITCHED
from .tensors import is_refused, leaves


class _Running(threading.local):
    """Whether a function of SciPy computes with tensors, in this thread."""

    is_on = False


_running = _Running()


@contextmanager
def with_tensors() -> Iterator[None]:
    """Let SciPy's code in the block compute with tensors."""
    before, _running.is_on = _running.is_on, True
    try:
        yield
    finally:
        _running.is_on = before


@functools.cache
def namespace(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function in the place of SciPy's for the library of arguments: of tensors the
    library is numgrad, in a block `with_tensors`."""

    @functools.wraps(original)
    def array_namespace(*arrays: Any, **options: Any) -> Any:
        if _running.is_on:
            for array in arrays:
                if isinstance(array, Tensor):
                    return array.__array_namespace__()
        return original(*arrays, **options)

    return array_namespace


def names(module: ModuleType, others: Any) -> list[str]:
    """Return the names of functions that compute with tensors by SciPy's own code, but for those
    with a counterpart."""
    found = SWITCHED.get(module.__name__, "").split()
    return [n for n in found if n not in others and isinstance(vars(module).get(n), FunctionType)]


def joined(value: Any, most: float) -> Any:
    """Return a tensor for a list of numbers that holds tensors, as SciPy makes an array of a list
    of numbers."""
    if not isinstance(value, (list, tuple)) or not is_refused(value, most):
        return value
    return asarray(value) if all(np.ndim(item) == 0 for item in leaves(value)) else value
