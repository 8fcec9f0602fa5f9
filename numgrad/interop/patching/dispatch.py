"""Functions, methods and classes that dispatch on whether an argument is a tensor."""

import functools
import math
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.capture import escapes
from ...engine.graph.callsite import is_ours
from ...functions.tensor.protocols import answered
from .counterparts import READ_CLOSURES, UNASKED, counterpart
from .factors import OF_CONSTANTS
from .namespaces import joined, with_tensors
from .switch import Switch
from .tensors import FEW, holds_tensor, is_refused, reads_tensor

_PLAIN = frozenset([np.ndarray, np.float64, float, int, bool, str, type(None)])


def is_asked(args: tuple[Any, ...], kwargs: dict[str, Any], most: float = math.inf) -> bool:
    """Whether a call is for numgrad, as its arguments tell: lists of at most so many items."""
    if _PLAIN.issuperset(map(type, args)) and _PLAIN.issuperset(map(type, kwargs.values())):
        return False
    if Switch.takes_constants:
        return holds_tensor(args) or holds_tensor(kwargs)
    return Switch.is_on and (is_refused(args, most) or is_refused(kwargs, most))


def _is_inner_call(depth: int) -> bool:
    """Whether SciPy's own code has made the call: its functions call each other as ever."""
    return str(sys._getframe(depth).f_globals.get("__name__")).startswith("scipy.")


def _is_own_call(depth: int) -> bool:
    """Whether numgrad's own code has made the call, with arrays: its solvers call SciPy's."""
    return is_ours[sys._getframe(depth).f_code.co_filename]


def _reads_tensor(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a function that the user gives to a solver reads a tensor."""
    return any(map(reads_tensor, (*args, *kwargs.values())))


class _Answering(threading.local):
    """The names of functions and the classes of objects whose counterparts are running in this
    thread."""

    names: frozenset[Any] = frozenset()


_answering = _Answering()


def _is_asked_back(called: Any, depth: int) -> bool:
    """Whether the counterpart of a function calls the function: it wants SciPy's."""
    return called in _answering.names and _is_own_call(depth + 1)


def _is_by_itself(theirs: Any, depth: int) -> bool:
    """Whether an object of SciPy has called a method of its own: methods call each other as ever.
    A frozen distribution is another object than the one whose methods it calls."""
    return _is_inner_call(depth + 1) and sys._getframe(depth).f_locals.get("self") is theirs


def _guarded(called: Any, own: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a counterpart, and note meanwhile of what."""
    before = _answering.names
    _answering.names = before | {called}
    try:
        return own(*args, **kwargs)
    finally:
        _answering.names = before


def answer(
    original: Callable[..., Any], path: str, name: str,
    args: tuple[Any, ...], kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """Return what the counterpart gives for the arguments of a function of SciPy."""
    kwargs = {key: value for key, value in kwargs.items() if key not in UNASKED}
    own, called = counterpart(path, name), f"{path}.{name}"
    return _guarded(called, answered, called, original, own, args, kwargs)


@functools.cache
def function(original: Callable[..., Any], path: str, name: str) -> Any:
    """Return a function of SciPy that takes tensors, too."""
    full_name = f"{path}.{name}"
    of_constants = OF_CONSTANTS.get(full_name)
    is_special = of_constants is not None or name in READ_CLOSURES
    called = original, path, name

    @functools.wraps(original)
    def dispatched(*args: Any, **kwargs: Any) -> Any:
        is_asked_first = is_asked(args, kwargs, FEW)
        if is_asked_first and not (_is_inner_call(2) or _is_asked_back(full_name, 2)):
            return answer(*called, args, kwargs)
        if is_special and Switch.is_on and not (_is_inner_call(2) or _is_own_call(2)):
            return special(args, kwargs)
        before = escapes.refusals.count
        try:
            return original(*args, **kwargs)
        except Exception as error:
            is_users = Switch.is_on and not (_is_inner_call(2) or _is_own_call(2))
            if not is_users or not escapes.is_escape(error, before):
                raise
        return answer(*called, args, kwargs)

    def special(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of a function that hands something on: the user's function is called,
        or the result takes tensors."""
        if of_constants is not None:
            return of_constants(original, *args, **kwargs)
        if Switch.takes_constants and _reads_tensor(args, kwargs):
            return answer(*called, args, kwargs)
        before = escapes.refusals.count
        try:
            return escapes.attempt(original, args, kwargs)
        except Exception as error:
            if not escapes.is_escape(error, before):
                raise
        return answer(*called, args, kwargs)

    # Pickled by the name under which users find it.
    dispatched.__module__, dispatched.__qualname__ = path, name
    return dispatched


@functools.cache
def by_scipy(original: Callable[..., Any], path: str, name: str) -> Any:
    """Return a function of SciPy whose own code computes with tensors."""

    @functools.wraps(original)
    def dispatched(*args: Any, **kwargs: Any) -> Any:
        if not is_asked(args, kwargs, FEW) or _is_inner_call(2):
            return original(*args, **kwargs)
        args = tuple(joined(x, FEW) for x in args)
        kwargs = {key: joined(x, FEW) for key, x in kwargs.items()}
        with with_tensors():
            return original(*args, **kwargs)

    dispatched.__module__, dispatched.__qualname__ = path, name
    return dispatched


def method(original: Callable[..., Any], counterpart: Callable[[Any], Any], name: str) -> Any:
    """Return a method of SciPy that takes tensors, too."""

    @functools.wraps(original)
    def dispatched(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_asked(args, kwargs) or _is_asked_back(type(self), 2) or _is_by_itself(self, 2):
            return original(self, *args, **kwargs)
        own = counterpart(self)
        if own is None:
            return original(self, *args, **kwargs)
        own = own if name in ("__call__", "freeze") else getattr(own, name)
        return _guarded(type(self), own, *args, **kwargs)

    return dispatched


@functools.cache
def constructor(kind: type, path: str, name: str) -> Any:
    """Return a method ``__new__`` of a class of SciPy: called with tensors, the class makes an
    object of numgrad."""
    inherited: Any = kind.__new__

    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        if cls is kind and is_asked(args, kwargs):
            return counterpart(path, name)(*args, **kwargs)
        if inherited is object.__new__:
            return inherited(cls)
        return inherited(cls, *args, **kwargs)

    if inherited is object.__new__ or hasattr(inherited, "__wrapped__"):
        __new__.__wrapped__ = kind.__init__  # type: ignore[attr-defined]  the class's signature
    return staticmethod(__new__)
