"""``array += tensor`` where nobody but the name on the left has the array: ``array = array +
tensor``.

An array has no gradients, so that a sum with a tensor cannot be written into it. Python binds what
NumPy returns for ``array += tensor`` to the name: a new tensor, which nobody can tell from the
array that was written, unless the array has another name, is seen through a view, or is in a
container. The count of references tells.
"""

import dis
import sys
from collections.abc import Mapping
from functools import cache
from types import FrameType
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...engine.capture.bindings import can_bind, has_exact_counts
from ...engine.capture.stores import UnreadableError, augmented_member, read
from ...engine.record.apply import mode
from ..array.results import target_of

_BOUND = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")
"""The instructions that bind the result to the name that was read."""

_MEMBER = "STORE_ATTR"
"""That of an attribute, which may have been read from the class, and is bound in the object."""

_PART = ("STORE_SUBSCR", "STORE_SLICE")
"""The instructions of ``array[key] += tensor``, where a view, or copy, of the part is written."""

_FIRST_IN_PLACE = [name for name, _ in dis._nb_ops].index("NB_INPLACE_ADD")  # type: ignore[attr-defined]


def is_rebound(caller: FrameType, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> bool:
    """Whether a universal function is ``array += tensor``, or another operator in place, and the
    array is known to the name alone that the result is bound to.

    Parameters
    ----------
    caller : FrameType
        The frame that has called ``__array_ufunc__``, whose arguments the others are.
    """
    count = _references(inputs)
    array = inputs[0]
    if type(array) is not np.ndarray or not _is_out(array, options):
        return False
    store = _store(caller)
    is_named = store is not None and not store.startswith(_PART)
    if store is None or count > _least(store) or (is_named and array.base is not None):
        return False
    if store == _MEMBER and not _is_member(array, caller):
        return False
    return target_of(array, inputs) is None  # else the elements are written


def in_place_of(array: np.ndarray, result: Tensor) -> Tensor | None:
    """Return the result in the dtype of the array in whose place it is; None where NumPy could not
    write it into the array."""
    is_fitting = np.can_cast(result.dtype, array.dtype, "same_kind") and array.dtype.isnative
    if result.shape != array.shape or not is_fitting:
        return None
    return result.astype(array.dtype, copy=False)


def _is_out(array: np.ndarray, options: Mapping[str, Any]) -> bool:
    out = options.get("out")
    return type(out) is tuple and len(out) == 1 and out[0] is array and len(options) == 1


def _references(inputs: tuple[Any, ...]) -> int:
    return sys.getrefcount(inputs[0])


def _store(frame: FrameType) -> str | None:
    """Return the instruction that binds the result of the operator in place that a frame runs, or
    writes it to a part of an array; None where it runs no such operator."""
    code, place = frame.f_code.co_code, frame.f_lasti
    is_operator = place >= 0 and dis.opname[code[place]] == "BINARY_OP"
    if not is_operator or code[place + 1] < _FIRST_IN_PLACE:
        return None
    names = (dis.opname[opcode] for opcode in code[place + 2 :: 2])
    name = next((name for name in names if name not in _BETWEEN), "")
    if name == "STORE_NAME" and frame.f_locals is not frame.f_globals:
        return None  # of a class body, which may have read a global name
    return name if name.startswith((*_BOUND, *_PART, _MEMBER)) else None


def _is_member(array: np.ndarray, frame: FrameType) -> bool:
    """Whether the attribute that is read has the array in the object itself, to which the result is
    bound; in captured functions an object may be older than the call."""
    member = augmented_member(frame.f_code, frame.f_lasti)
    try:
        is_read = member is not None and read(member, frame) is array
        return is_read and mode.capture is None and can_bind(member, frame)
    except UnreadableError:
        return False


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
