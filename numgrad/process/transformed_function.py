"""The functions that transforms and decorators return, which can be pickled.

Functions of Python are pickled by their name, and the transform of ``f`` has the name of ``f``. The
objects here are pickled as the call that makes them again. Calling one is as fast as calling a
function, as `functools.partial` does that in C.
"""

import functools
import sys
from collections.abc import Callable
from types import FrameType, MethodType
from typing import Any


class Transformed(functools.partial):
    """The function that a transform returns.

    The object looks like the original function (`functools.wraps`), and in a class it is a method.
    A pickle of the object has the transform and its arguments, and is loaded by a call of the
    transform.

    Parameters
    ----------
    call : callable
        The function that computes.
    function : callable
        The original function.
    what : str
        The name of the transform.
    make : callable
        The transform: ``make(*args)`` makes an object like this one. It can be pickled.
    args : tuple
        The arguments of the transform. They can be pickled if ``function`` can.
    """

    __slots__ = ("_again", "_what")
    __qualname__: str  # type: ignore[misc]
    __wrapped__: Callable[..., Any]

    def __new__(
        cls, call: Callable[..., Any], function: Callable[..., Any], what: str,
        make: Callable[..., Any], args: tuple[Any, ...],
    ) -> Any:  # fmt: skip
        self = super().__new__(cls, call)
        if not hasattr(function, "__name__"):
            functools.update_wrapper(self, call)
        functools.update_wrapper(self, function)
        self._again, self._what = (make, args), what
        return self

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self

    def __reduce__(self) -> Any:
        """Return what is pickled: a name in the module, or the call that makes the object again.

        The name is enough where the module has the object under that name, as after a decorator.
        """
        return vars(self)["__qualname__"] if _is_by_name(self, sys._getframe(1)) else self._again

    def __repr__(self) -> str:
        return f"<{self._what} of {name_of(vars(self)['__wrapped__'])}>"


class FunctionHolder:
    """The base class of objects of numgrad that call a function of the user.

    The function is their attribute ``__wrapped__``, as of what `functools.wraps` makes.
    """

    __wrapped__: Callable[..., Any]


def name_of(function: Any) -> str:
    """Return the qualified name of a function, or the text of a callable without a name."""
    name = getattr(function, "__qualname__", None)
    return name if isinstance(name, str) else repr(function)


def _is_by_name(found: Any, caller: FrameType) -> bool:
    """Whether another process finds an object by its name in its module.

    The process does not if ``caller``, the code that pickles, is cloudpickle and pickles the
    contents of the module by value.
    """
    thing: Any = sys.modules.get(found.__module__)
    if thing is None or _takes_along(caller.f_globals, found.__module__, thing):
        return False
    for name in found.__qualname__.split("."):
        thing = getattr(thing, name, None)
    return thing is found


def _takes_along(pickler: dict[str, Any], module: str, thing: Any) -> bool:
    if not pickler.get("__name__", "").split(".")[-1].startswith("cloudpickle"):
        return False
    is_registered = pickler.get("_is_registered_pickle_by_value")
    return module == "__main__" or (is_registered is not None and is_registered(thing))
