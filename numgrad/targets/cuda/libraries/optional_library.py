"""Libraries of CUDA that may be missing: without one, another way computes the same.

The bindings of a library can be imported where the library itself is not installed; a function
``load`` imports the bindings and makes a first call.
"""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_FAILURES = (ImportError, RuntimeError, OSError)


def loaded(load: Callable[[], T]) -> T | None:
    """Return what ``load`` returns; None if the library cannot be loaded."""
    try:
        return load()
    except _FAILURES:
        return None


def reason(load: Callable[[], object]) -> str | None:
    """Return why a library cannot be loaded, in one line; None if the library can be loaded."""
    try:
        load()
    except _FAILURES as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return None


__all__ = ["loaded", "reason"]
