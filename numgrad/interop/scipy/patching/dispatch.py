"""Functions, methods and classes that call numgrad if an argument is a tensor, and SciPy otherwise.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

from ....engine.graph.callsite import is_ours
from ....functions.tensor.protocols import answered
from .counterparts import READ_CLOSURES, UNASKED
from .factors import OF_CONSTANTS
from .tensors import holds_tensor, reads_tensor


class Switch:
    """Whether SciPy's functions look for tensors among their arguments."""

    is_on = False


def _is_asked(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], depth: int = 2) -> bool:
    """Whether a call is for numgrad: a tensor is among its arguments, or is read by a function that
    the user gives to a solver."""
    if not Switch.is_on:
        return False
    if holds_tensor(args) or (kwargs and holds_tensor(kwargs)):
        return True  # also from a transform, of which it is the function
    if name not in READ_CLOSURES or _is_own_call(depth + 1):
        return False
    return any(map(reads_tensor, (*args, *kwargs.values())))


def _is_own_call(depth: int) -> bool:
    """Whether numgrad's own code has made the call, with arrays: its solvers call SciPy's."""
    return is_ours[sys._getframe(depth).f_code.co_filename]


def function(original: Callable[..., Any], own: Callable[..., Any], called: str) -> Any:
    """Return a function of SciPy that takes tensors, too."""
    name = called.rpartition(".")[2]
    of_constants = OF_CONSTANTS.get(called)

    @functools.wraps(original)
    def dispatched(*args: Any, **kwargs: Any) -> Any:
        if not _is_asked(name, args, kwargs):
            if of_constants is not None and Switch.is_on and not _is_own_call(2):
                return of_constants(original, *args, **kwargs)
            return original(*args, **kwargs)
        kwargs = {key: value for key, value in kwargs.items() if key not in UNASKED}
        return answered(called, original, own, args, kwargs)

    return dispatched


def method(original: Callable[..., Any], counterpart: Callable[[Any], Any], name: str) -> Any:
    """Return a method of SciPy that takes tensors, too."""

    @functools.wraps(original)
    def dispatched(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_asked(name, args, kwargs):
            own = counterpart(self)
            if own is not None:
                called = own if name in ("__call__", "freeze") else getattr(own, name)
                return called(*args, **kwargs)
        return original(self, *args, **kwargs)

    return dispatched


class _Dispatched(type):
    """The metaclass of classes that make an object of numgrad if they are called with tensors, and
    one of SciPy otherwise."""

    _pair: tuple[type, type]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if "_pair" not in vars(cls):  # a class that a user has derived
            return super().__call__(*args, **kwargs)
        original, own = cls._pair
        kind = own if _is_asked(cls.__name__, args, kwargs) else original
        return kind(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        if "_pair" not in vars(cls):
            return super().__instancecheck__(instance)
        return isinstance(instance, cls._pair)


def class_(original: type, own: type) -> type:
    """Return a class of SciPy that takes tensors, too."""
    names = {"_pair": (original, own), "__doc__": original.__doc__, "__slots__": ()}
    made = _Dispatched(original.__name__, (original,), names)
    made.__module__, made.__qualname__ = original.__module__, original.__qualname__
    return made
