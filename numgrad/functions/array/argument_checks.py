"""Checks of arguments that are no operands: an error names the function, the argument, and what is
wanted."""

import operator
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._errors import NumgradError
from ..._tensor import Tensor
from ...engine.graph.callsite import is_ours
from ...engine.record.guards import guarded

NO_VALUE: Any = getattr(np, "_NoValue", None)
"""What some functions of NumPy have as the default of an argument that may be None."""

_MOST_AXES = 64  # of NumPy's arrays


def called() -> str:
    """Return the name of the function that the user's code has called, from the stack."""
    name, frame = "", sys._getframe(1)
    while frame is not None and is_ours[frame.f_code.co_filename]:
        if frame.f_code.co_name[0] not in "_<":
            name = frame.f_code.co_name
        frame = frame.f_back
    return name


def unwanted(argument: str, wanted: str, given: Any) -> str:
    """Return what an error says of an argument that is not what is wanted."""
    shown = f"{type(given).__name__} of shape {given.shape}" if hasattr(given, "shape") else ""
    return f"{called()}: {argument} must be {wanted}, got {shown or f'{given!r:.80}'}"


def integer(n: Any, argument: str) -> int:
    """Return an argument as a Python integer."""
    n = guarded(n)
    try:
        return operator.index(n)
    except TypeError:
        if isinstance(n, Tensor):
            raise  # it says what to write instead
        raise TypeError(unwanted(argument, "an integer", n)) from None


def least_axes(ndmin: Any, name: str) -> int:
    """Return the argument ``ndmin`` of a function, the fewest axes of its result, as a Python
    integer."""
    least = integer(ndmin, "ndmin")
    if least > _MOST_AXES:
        raise ValueError(f"{name}: ndmin must be at most {_MOST_AXES}, the axes of NumPy's arrays")
    return least


def integers(items: Any, argument: str) -> tuple[int, ...]:
    """Return an argument that is one integer or several as a tuple."""
    items = guarded(items)
    is_one = isinstance(items, (Tensor, str, bytes)) or getattr(items, "ndim", 1) == 0
    if not is_one and isinstance(items, Iterable):
        return tuple([integer(n, argument) for n in items])
    return (integer(items, argument),)


def real_number(x: Any, argument: str) -> float:
    """Return an argument that is one real number, without its gradient."""
    try:
        if np.shape(x) == ():
            return float(x.detach() if isinstance(x, Tensor) else x)
    except (TypeError, ValueError):
        pass  # what these say does not name the argument
    raise TypeError(unwanted(argument, "a number", x))


def numeric(x: Any, argument: str) -> Any:
    """Return an argument that is to be made of numbers as it is."""
    usual = isinstance(x, (Tensor, int, float, complex, np.generic, list, tuple))
    if usual or hasattr(x, "__array__") or hasattr(x, "__array_interface__"):
        return x
    raise TypeError(unwanted(argument, "a number or an array", x))


PLAIN = (TypeError.__init__, ValueError.__init__)
"""Errors that are made from a text alone."""


class WordsOfNumpy:
    """A block in which errors of NumPy about arguments get the name of a public function in front.

    Parameters
    ----------
    name : str
        The function; by default the one that the user's code has called.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, NumgradError) or not isinstance(error, (TypeError, ValueError)):
            return
        name = self.name or called()
        if name not in str(error) and kind.__init__ in PLAIN:
            raise type(error)(f"{name}: {error}") from None


def sequence(items: Any, argument: str) -> Any:
    """Return the items of an argument that is to have some."""
    if isinstance(items, (list, tuple)):
        return items
    try:
        return list(items)
    except (TypeError, KeyError):
        raise TypeError(unwanted(argument, "a sequence of arrays", items)) from None


def pair(items: Any, argument: str, wanted: str) -> tuple[Any, Any]:
    """Return an argument that is to have two items."""
    try:
        first, second = items
    except (TypeError, ValueError):
        raise ValueError(unwanted(argument, f"a pair, {wanted}", items)) from None
    return first, second
