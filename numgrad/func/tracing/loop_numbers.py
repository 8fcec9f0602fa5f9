"""The index of a loop over integers, which promotes like an integer of Python."""

from collections.abc import Callable
from typing import Any

from ..._tensor import Tensor
from ...functions.array.operands import like
from ...functions.tensor.python_operators import Arithmetic
from .symbolic_floats import IN_PLACE, OPERATORS, is_number


class LoopIndex(Tensor):
    """An integer that each step of a loop is given, with which an array keeps its dtype in
    arithmetic, as with the integers of ``range``."""

    __slots__ = ()
    weak = 1


class _LoopFloat(Tensor):
    """What Python's operators make of the index of a loop and of a float."""

    __slots__ = ()
    weak = 1.0


class _LoopComplex(Tensor):
    """What Python's operators make of the index of a loop and of a complex number."""

    __slots__ = ()
    weak = 1j


_KINDS = {"i": LoopIndex, "f": _LoopFloat, "c": _LoopComplex}


def loop_index(integer: Any) -> Any:
    """Return the placeholder of an integer as the index of a loop; an integer itself is one."""
    return like(LoopIndex, integer) if isinstance(integer, Tensor) else integer


def _method(name: str) -> Callable[..., Any]:
    """Return the method ``name``, for an operator of Python; its result promotes like a number if
    all operands do."""
    operate = getattr(Arithmetic, name)

    def method(self: Any, *others: Any) -> Any:
        result = operate(self, *others)
        is_of_numbers = isinstance(result, Tensor) and all(map(is_number, others))
        kind = _KINDS.get(result.dtype.kind) if is_of_numbers else None
        return result if kind is None else like(kind, result)

    return method


for _kind in _KINDS.values():
    for _name in OPERATORS:
        setattr(_kind, f"__{_name}__", _method(f"__{_name}__"))
    for _name in IN_PLACE:
        setattr(_kind, f"__i{_name}__", getattr(_kind, f"__{_name}__"))


__all__ = ["LoopIndex", "loop_index"]
