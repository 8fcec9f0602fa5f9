"""Functions that Cython modules offer to C, each in an object of Python, a capsule."""

import ctypes
from typing import Any


def _function(name: str, result: Any, *more: Any) -> Any:
    """Return the function ``PyCapsule_<name>`` of CPython, which Python can call."""
    kind = ctypes.PYFUNCTYPE(result, ctypes.py_object, *more)
    return kind((f"PyCapsule_{name}", ctypes.pythonapi))


def name_of(capsule: Any) -> bytes:
    """Return the C signature of the function in a capsule, which is the name of the capsule."""
    return _function("GetName", ctypes.c_char_p)(capsule)


def address_of(capsule: Any) -> int:
    """Return the address of the function in a capsule."""
    return _function("GetPointer", ctypes.c_void_p, ctypes.c_char_p)(capsule, name_of(capsule))
