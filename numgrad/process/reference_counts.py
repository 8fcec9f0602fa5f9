"""Counts of references to objects."""

import sys


def has_exact_counts() -> bool:
    """Whether `sys.getrefcount` counts all references: not where threads count for themselves."""
    is_locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    return is_locked and sys.implementation.name == "cpython"
