"""Binding a name of a running frame, or an attribute, to another object."""

import ctypes
import inspect
import sys
from types import FrameType, SimpleNamespace
from typing import Any

from ..graph.callsite import IS_WRITTEN_THROUGH
from .stores import LOCAL, NAME, Member, UnreadableError, Variable, read


def can_bind(place: Any, frame: FrameType) -> bool:
    """Whether `rebind` can bind a place to another object.

    That is so for a variable of a function, for a global variable while the body of its module
    runs, and for an attribute in the dictionary of an object.
    """
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
        if vars(holder)[place.name] is not value:  # `vars` returns copies
            raise UnreadableError
    elif isinstance(place, Variable) and (place.kind == NAME or IS_WRITTEN_THROUGH):
        frame.f_locals[place.name] = value
    elif isinstance(place, Variable):
        frame.f_locals[place.name] = value
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
    else:
        raise UnreadableError


def references_of(place: Any) -> int:
    """Return how many references a variable or attribute holds to its object: one or two.

    Before Python 3.13, a look at ``f_locals`` makes a second reference from a variable of a
    function, which stays until `release` drops it.
    """
    is_copied = isinstance(place, Variable) and place.kind == LOCAL and not IS_WRITTEN_THROUGH
    return 2 if is_copied else 1


def is_kept(place: Any, frame: FrameType) -> bool:
    """Whether a frame keeps the object that a variable had before `rebind`.

    Since Python 3.14 an instruction may have borrowed the object from a variable of the function
    alone, so what is replaced through ``f_locals`` stays until the function returns.
    """
    if not _KEEPS_REPLACED or not isinstance(place, Variable) or place.kind != LOCAL:
        return False
    return place.name not in frame.f_code.co_cellvars + frame.f_code.co_freevars


_KEEPS_REPLACED = sys.version_info >= (3, 14)
