"""What reference counts do not tell: who can bind a variable, and who has the memory of an array.

Where a program writes a tensor into an array, the variable is bound to a tensor in place of the
array. That is done only if nobody else can see the array or bind the variable.
"""

import dis
import gc
import inspect
import sys
import weakref
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from ..graph.callsite import PACKAGE, release
from ..record.apply import mode
from .stores import LOCAL, NAME, Variable

_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def is_resumed(frame: FrameType) -> bool:
    """Whether a frame is of a generator or coroutine, which a later call may resume."""
    return bool(frame.f_code.co_flags & _RESUMED)


def is_of_call(array: np.ndarray, place: Any, frame: FrameType) -> bool:
    """Whether the variable ``place``, which holds ``array``, may be bound to a tensor while a
    function is captured.

    The captured call must have made the variable, as an older variable would still hold the tensor
    in a later call. The array must be row-major, as tensors of captured functions are.
    """
    is_local = isinstance(place, Variable) and place.kind == LOCAL
    if not is_local or is_resumed(frame) or not _is_row_major(array):
        return False
    return place.name not in frame.f_code.co_freevars or _is_of_outer(place.name, array, frame)


def _is_of_outer(name: str, value: Any, frame: FrameType) -> bool:
    """Whether a variable that an inner function closes over was made by the captured call.

    That is so if the frame that made the variable is still running inside the capture: the frame of
    the captured function, or of a function called there.
    """
    outer = frame.f_back
    while outer is not None and not outer.f_code.co_filename.startswith(PACKAGE):
        is_there = name in outer.f_code.co_cellvars and outer.f_locals.get(name) is value
        release(outer)
        if is_there:
            return not is_resumed(outer)
        outer = outer.f_back
    return False


def is_own(place: Any, frame: FrameType) -> bool:
    """Whether no code but the running function or module body binds the variable ``place``."""
    if not isinstance(place, Variable) or place.name in frame.f_code.co_freevars:
        return False
    if place.kind == LOCAL:
        return not _is_bound_in(frame.f_code, place.name, "_DEREF")
    return place.kind == NAME and not any(
        _is_bound_in(code, place.name, "_GLOBAL") for code in _codes_of_module(frame)
    )


def _codes_of_module(frame: FrameType) -> Iterator[CodeType]:
    """Yield the code of the running module body, and the code of each function with the module's
    globals."""
    yield frame.f_code
    for one in gc.get_referrers(frame.f_globals):
        if isinstance(one, FunctionType):
            yield one.__code__


def _is_bound_in(code: CodeType, name: str, suffix: str) -> bool:
    """Whether code binds or deletes a variable that belongs to another scope.

    With the suffix ``"_DEREF"`` only the functions inside of the code are searched, for a variable
    of the code; with ``"_GLOBAL"`` the code itself is searched, too, for a global variable.
    """
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    looked_at = inner if suffix == "_DEREF" else [code]
    stores = (f"STORE{suffix}", f"DELETE{suffix}")
    return any(
        step.opname in stores and step.argval == name
        for one in looked_at
        for step in dis.get_instructions(one)
    ) or any(_is_bound_in(one, name, suffix) for one in inner)


# Arrays -------------------------------------------------------------------------------------------


def _is_row_major(array: np.ndarray) -> bool:
    """Whether an array is row-major, or has fewer than two axes, as tensors of captured functions
    are."""
    return array.ndim < 2 or array.flags.c_contiguous


def has_its_memory(array: np.ndarray) -> bool:
    """Whether no other object than ``array`` can reach the memory of ``array``, and no view that
    NumPy holds at the moment does.

    The caller counts the references to the array itself.
    """
    if not is_seen_by_name(array):
        return False
    return array.base is None or _count_of_base(array) == _OF_BASE + lent(array.base)


def is_seen_by_name(array: np.ndarray) -> bool:
    """Whether only counts of references can tell that another object than ``array`` reaches the
    memory of ``array``.

    Neither the array nor its base has weak references, and the base is an array that has its own
    memory, where no element of ``array`` is stored twice.
    """
    base = array.base
    if weakref.getweakrefcount(array):
        return False
    if base is None:
        return True
    if type(base) is not np.ndarray or base.base is not None or _overlaps(array):
        return False
    return not weakref.getweakrefcount(base)


def lent(array: np.ndarray) -> int:
    """Return how many references to an array are those of operands of the running capture.

    Their elements are constants of the capture if nobody else has the array: nobody can write
    them."""
    return 0 if mode.capture is None else mode.capture.count_lent(array)


def is_lent(array: np.ndarray) -> bool:
    """Whether an operand of the running capture reads the memory of an array."""
    return lent(array) > 0 or (array.base is not None and lent(array.base) > 0)


def _overlaps(array: np.ndarray) -> bool:
    """Whether two elements of an array may have the same place in memory."""
    reached = array.itemsize
    axes = zip(np.abs(array.strides), array.shape, strict=True)
    for stride, size in sorted(axis for axis in axes if axis[1] > 1):
        if stride < reached:
            return True
        reached += stride * (size - 1)
    return False


def _count_of_base(array: np.ndarray) -> int:
    return sys.getrefcount(array.base)


_OF_BASE = _count_of_base(np.zeros(4).reshape(2, 2))
