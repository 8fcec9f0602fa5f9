"""Counts of references to objects."""

import sys


def has_exact_counts() -> bool:
    """Whether `sys.getrefcount` counts all references, as in CPython with its global lock.

    Without the lock, threads count references for themselves.
    """
    is_locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    return is_locked and sys.implementation.name == "cpython"
