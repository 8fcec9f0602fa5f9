"""Binding a name of a running frame, or an attribute, to another object."""

import ctypes
import sys
from types import FrameType
from typing import Any

from .stores import LOCAL, NAME, Member, UnreadableError, Variable, read

_IS_WRITTEN_THROUGH = sys.version_info >= (3, 13)
"""Whether `f_locals` of a function is a view of its variables, not a copy."""

_UNSHARED = 3
"""The references to the dictionary `f_locals`: of the frame, of a variable, and of the question."""


def has_exact_counts() -> bool:
    """Whether `sys.getrefcount` counts all references: not where threads count for themselves."""
    is_locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    return is_locked and sys.implementation.name == "cpython"


def can_bind(place: Any, frame: FrameType) -> bool:
    """Whether a name or attribute can be bound: a variable of a function, a global one of the
    module that runs, and an attribute that an object has in its dictionary."""
    if isinstance(place, Variable):
        is_of_module = place.kind == NAME and frame.f_locals is frame.f_globals
        return place.kind == LOCAL or is_of_module
    if not isinstance(place, Member):
        return False
    holder = read(place.holder, frame)
    return type(holder).__setattr__ is object.__setattr__ and place.name in getattr(
        holder, "__dict__", ()
    )


def rebind(place: Any, frame: FrameType, value: Any) -> None:
    """Bind a name or attribute to a value."""
    if isinstance(place, Member):
        setattr(read(place.holder, frame), place.name, value)
    elif isinstance(place, Variable) and (place.kind == NAME or _IS_WRITTEN_THROUGH):
        frame.f_locals[place.name] = value
    elif isinstance(place, Variable):
        names = frame.f_locals
        names[place.name] = value
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        if sys.getrefcount(names) == _UNSHARED:
            names.clear()  # else the frame has a second reference to each value
    else:
        raise UnreadableError
