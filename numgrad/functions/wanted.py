"""What functions want of arguments that are no operands: errors that say which one, and of what."""

import operator
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._errors import NumgradError
from .._tensor import Tensor
from ..engine.seen import seen
from ..engine.site import is_ours


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
    n = seen(n)
    try:
        return operator.index(n)
    except TypeError:
        if isinstance(n, Tensor):
            raise  # it says what to write instead
        raise TypeError(unwanted(argument, "an integer", n)) from None


def integers(items: Any, argument: str) -> tuple[int, ...]:
    """Return an argument that is one integer or several as a tuple."""
    items = seen(items)
    if not isinstance(items, Tensor) and isinstance(items, Iterable) and not isinstance(items, str):
        return tuple([integer(n, argument) for n in items])
    return (integer(items, argument),)


def numeric(x: Any, argument: str) -> Any:
    """Return an argument that is to be made of numbers as it is."""
    usual = isinstance(x, (Tensor, int, float, complex, np.generic, list, tuple))
    if usual or hasattr(x, "__array__") or hasattr(x, "__array_interface__"):
        return x
    raise TypeError(unwanted(argument, "a number or an array", x))


class WordsOfNumpy:
    """In the block NumPy says what is wrong with arguments; its errors are given the name of the
    function that was called."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, NumgradError) or not isinstance(error, (TypeError, ValueError)):
            return
        name = called()
        if name not in str(error) and kind.__init__ in PLAIN:
            raise type(error)(f"{name}: {error}") from None


def said_by(name: str, function: Any, *args: Any, **given: Any) -> Any:
    """Call a function of NumPy's; what it says of arguments is said by the function ``name``."""
    try:
        return function(*args, **given)
    except (TypeError, ValueError) as error:
        if isinstance(error, NumgradError) or type(error).__init__ not in PLAIN:
            raise
        raise type(error)(f"{name}: {error}") from None


PLAIN = (TypeError.__init__, ValueError.__init__)
"""Errors that are made from a text alone."""


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
