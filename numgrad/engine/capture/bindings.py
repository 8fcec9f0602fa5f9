"""Binding a name of a running frame, or an attribute, to another object."""

import ctypes
import inspect
import sys
from types import FrameType, SimpleNamespace
from typing import Any

from .stores import LOCAL, NAME, Member, UnreadableError, Variable, read

_IS_WRITTEN_THROUGH = sys.version_info >= (3, 13)
"""Whether `f_locals` of a function is a view of its variables, not a copy."""

_UNSHARED = 3
"""The references to the dictionary `f_locals`: of the frame, of a variable, and of the question."""


def can_bind(place: Any, frame: FrameType) -> bool:
    """Whether a name or attribute can be bound: a variable of a function, a global one of the
    module that runs, and an attribute that an object has in its dictionary."""
    if isinstance(place, Variable):
        is_of_module = place.kind == NAME and frame.f_locals is frame.f_globals
        return place.kind == LOCAL or is_of_module
    if not isinstance(place, Member):
        return False
    holder = read(place.holder, frame)
    kind = type(holder)
    is_plain = kind is SimpleNamespace or kind.__setattr__ is object.__setattr__
    is_stored = is_plain and not hasattr(
        inspect.getattr_static(kind, place.name, None), "__set__"
    )
    return is_stored and place.name in getattr(holder, "__dict__", ())


def rebind(place: Any, frame: FrameType, value: Any) -> None:
    """Bind a name or attribute to a value."""
    if isinstance(place, Member):
        holder = read(place.holder, frame)
        vars(holder)[place.name] = value  # a setter of the class must not hear of it
        if vars(holder)[place.name] is not value:  # they were copies
            raise UnreadableError
    elif isinstance(place, Variable) and (place.kind == NAME or _IS_WRITTEN_THROUGH):
        frame.f_locals[place.name] = value
    elif isinstance(place, Variable):
        frame.f_locals[place.name] = value
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
    else:
        raise UnreadableError


def references_of(place: Any) -> int:
    """Return how many references a name or attribute has to its object between a look at `f_locals`
    and `release`."""
    is_copied = isinstance(place, Variable) and place.kind == LOCAL and not _IS_WRITTEN_THROUGH
    return 2 if is_copied else 1


def release(frame: FrameType) -> None:
    """Let go of the variables of a frame that have been looked at: before Python 3.13 `f_locals` of
    a function is a dictionary with a second reference to each."""
    if _IS_WRITTEN_THROUGH or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return
    names, code = frame.f_locals, frame.f_code
    if sys.getrefcount(names) == _UNSHARED:  # else a program has asked for it
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            names.pop(name, None)
