"""``array += tensor`` where nobody but the name on the left has the array: ``array = array +
tensor``.

An array has no gradients, so that a sum with a tensor cannot be written into it. Python binds what
NumPy returns for ``array += tensor`` to the name: a new tensor, which nobody can tell from the
array that was written, unless the array has another name, is seen through a view, or is in a
container. The count of references tells.
"""

import dis
import sys
import threading
from collections.abc import Callable, Mapping
from functools import cache
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...engine.capture.bindings import can_bind
from ...engine.capture.instructions import operator_number
from ...engine.capture.ownership import has_its_memory, is_of_call, lent
from ...engine.capture.stores import (
    Applied,
    Member,
    UnreadableError,
    augmented_target,
    bound_after,
    read,
)
from ...engine.graph.callsite import release
from ...engine.record.apply import mode
from ...process.reference_counts import has_exact_counts, is_borrowed
from ..array.results import target_of

_BOUND = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")
"""The instructions that bind the result to the name that was read."""

_MEMBER = "STORE_ATTR"
"""That of an attribute, which may have been read from the class, and is bound in the object."""

_PART = ("STORE_SUBSCR", "STORE_SLICE")
"""The instructions of ``array[key] += tensor``, where a view, or copy, of the part is written."""

_IN_PLACE = frozenset(
    operator_number(f"a {operator}= b")
    for operator in ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>")
)
"""The numbers of the operators in place."""


def computed_in_place(
    function: Callable[..., Tensor],
    caller: FrameType,
    inputs: tuple[Any, ...],
    options: Mapping[str, Any],
) -> Tensor | None:
    """Return the result of ``array += tensor``, or of another operator in place, if the array is
    known to the name alone that it is bound to; else None.

    Parameters
    ----------
    function : callable
        The operator.
    caller : FrameType
        The frame that has called ``__array_ufunc__``, whose arguments the others are.
    """
    if not _is_rebound(caller, inputs, options):
        return None
    is_view_kept = mode.capture is not None and inputs[0].base is not None
    if threading.active_count() == 1 and not is_view_kept:
        return _in_place_of(inputs[0], function(*inputs))
    before = inputs[0].copy("K")  # the graph has this one, and adds no reference to the array
    found = _in_place_of(inputs[0], function(before, *inputs[1:]))
    is_left = _is_rebound(caller, inputs, options) and before.tobytes() == inputs[0].tobytes()
    return found if is_left else None  # another thread has written or taken it meanwhile


def _is_rebound(caller: FrameType, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> bool:
    """Whether a universal function is ``array += tensor``, or another operator in place, and nobody
    has the array but the name that its result is bound to."""
    if not _is_out(inputs[0], options):
        return False
    store = _store(caller)
    if store is None:
        return False
    release(caller)
    least = _least(store) + lent(inputs[0])
    if _references(inputs) > least or is_borrowed(inputs[0], caller):
        return False
    try:
        return _can_be_left(inputs[0], store, caller) and (
            target_of(inputs[0], inputs) is None  # else the elements are written
        )
    except UnreadableError:
        return False
    finally:
        release(caller)


def _can_be_left(array: np.ndarray, store: str, frame: FrameType) -> bool:
    """Whether a name or attribute can be bound to another object than an array, or a part of an
    array be written again."""
    target = augmented_target(*_place(frame))
    if not array.flags.writeable:
        return False
    if store.startswith(_PART):
        return array.base is None or _is_of_array(target, frame)
    if array.base is not None or not has_its_memory(array):
        return False
    if store == _MEMBER:
        is_read = isinstance(target, Member) and read(target, frame) is array
        return is_read and mode.capture is None and can_bind(target, frame)
    return mode.capture is None or is_of_call(array, bound_after(*_place(frame)), frame)


def _place(frame: FrameType) -> tuple[CodeType, int]:
    return frame.f_code, frame.f_lasti


def _is_of_array(part: Any, frame: FrameType) -> bool:
    """Whether a view is one of an array: objects of other classes may know it."""
    return isinstance(part, Applied) and type(read(part.operands[0], frame)) is np.ndarray


def _in_place_of(array: np.ndarray, result: Tensor) -> Tensor | None:
    """Return the result in the dtype of the array in whose place it is; None where NumPy could not
    write it into the array."""
    is_fitting = np.can_cast(result.dtype, array.dtype, "same_kind") and array.dtype.isnative
    if result.shape != array.shape or not is_fitting:
        return None
    result = result.astype(array.dtype, copy=False)
    if array.flags.c_contiguous or not array.flags.f_contiguous:
        return result
    return result.T.clone().T  # the layout of the array


def _is_out(array: np.ndarray, options: Mapping[str, Any]) -> bool:
    out = options.get("out")
    if type(array) is not np.ndarray or type(out) is not tuple:
        return False
    return len(out) == 1 and out[0] is array and len(options) == 1


def _references(inputs: tuple[Any, ...]) -> int:
    return sys.getrefcount(inputs[0])


def _store(frame: FrameType) -> str | None:
    """Return the instruction that binds the result of the operator in place that a frame runs, or
    writes it to a part of an array; None where it runs no such operator."""
    code, place = frame.f_code.co_code, frame.f_lasti
    is_operator = place >= 0 and dis.opname[code[place]] == "BINARY_OP"
    if not is_operator or code[place + 1] not in _IN_PLACE:
        return None
    names = (dis.opname[opcode] for opcode in code[place + 2 :: 2])
    name = next((name for name in names if name not in _BETWEEN), "")
    if name == "STORE_NAME" and frame.f_locals is not frame.f_globals:
        return None  # of a class body, which may have read a global name
    return name if name.startswith((*_BOUND, *_PART, _MEMBER)) else None


_BETWEEN = ("CACHE", "EXTENDED_ARG", "SWAP")
_PROBE = "array += operand\n"


class _Operand:
    """An operand that is added to an array in place, and counts the references to that array."""

    def __init__(self) -> None:
        self.count = 0

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any
    ) -> np.ndarray:
        return _counted(self, inputs, options)


def _counted(operand: _Operand, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> np.ndarray:
    operand.count = _references(inputs)
    return options["out"][0]


@cache
def _least(store: str) -> int:
    """Return how many references there are to an array that nothing has but the name to which an
    instruction binds the result, or to a part that has no name: it depends on the version of
    Python."""
    if not has_exact_counts():
        return 0
    operand = _Operand()
    if store.startswith(_PART):
        _add_to_part(np.zeros(2), operand)
    elif store == _MEMBER:
        _add_to_member(operand)
    elif store.startswith("STORE_FAST"):
        _add(np.zeros(1), operand)
    else:
        exec(_PROBE, {"array": np.zeros(1), "operand": operand})
    return operand.count


def _add(array: np.ndarray, operand: Any) -> np.ndarray:
    array += operand
    return array


def _add_to_part(array: np.ndarray, operand: Any) -> None:
    array[1:] += operand


class _Holder:
    array: np.ndarray


def _add_to_member(operand: Any) -> None:
    holder = _Holder()
    holder.array = np.zeros(1)
    holder.array += operand
