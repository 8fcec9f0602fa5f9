"""Counts of references to objects."""

import sys
from types import FrameType
from typing import Any


def has_exact_counts() -> bool:
    """Whether `sys.getrefcount` counts all references, as in CPython with its global lock.

    Without the lock, threads count references for themselves.
    """
    is_locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    return is_locked and sys.implementation.name == "cpython"


def _of_a_variable() -> int:
    """Return `sys.getrefcount` for an object to which a single variable refers.

    That is 2 before Python 3.14, where the argument of `sys.getrefcount` counts, and 1 since.
    """
    thing = object()
    return sys.getrefcount(thing)


OF_A_VARIABLE = _of_a_variable()
"""What `sys.getrefcount` of a variable of a function counts for that variable and the argument."""


def is_borrowed(thing: Any, frame: FrameType) -> bool:
    """Whether a parameter of a running function may refer to an object without a count.

    Since Python 3.14 a parameter borrows the object of a variable of the calling function. Both
    names have the object then, and `sys.getrefcount` counts one of them.
    """
    code, caller = frame.f_code, frame.f_back
    if not _BORROWS or caller is None:
        return False
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    variables = frame.f_locals
    is_parameter = any(variables.get(name) is thing for name in parameters)
    return is_parameter and any(value is thing for value in caller.f_locals.values())


_BORROWS = sys.version_info >= (3, 14)
