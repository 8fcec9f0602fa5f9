"""NumPy's constructors on tensors, and on lists of them: where NumPy would refuse a tensor, numgrad
answers."""

import sys
from functools import update_wrapper
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..._errors import DetachedError, DeviceError
from ..._settings import on_change, settings
from ..._tensor import Tensor
from ...engine.capture import escapes
from ...engine.capture.user_call import is_of_user
from ...engine.record.apply import mode
from ...functions.creation.constants import full
from ...functions.creation.from_data import array, asarray
from ...functions.shape.blocks import diagflat
from ...functions.shape.diagonals import diag
from ...functions.shape.grids import c_, r_
from .tensors import leaves

OWN = {"array": array, "asarray": asarray, "diag": diag, "diagflat": diagflat, "full": full}
"""NumPy's constructors by name, and numgrad's."""

PARAMETERS = {
    "array": ("object", 0), "asarray": ("a", 0), "diag": ("v", 0), "diagflat": ("v", 0),
    "full": ("fill_value", 1),
}  # fmt: skip
"""The parameter of each constructor that holds the elements, and its place."""


class Constructor(staticmethod):
    """A function in the place of one of NumPy's. Both are equal and have one name and hash, so that
    Numba and tables of functions take the one for the other; pickle stores the name.

    A static method is called faster than an object with a method ``__call__``.
    """

    __module__ = "numpy"

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._original = function.__wrapped__

    def __eq__(self, other: object) -> bool:
        return self is other or self._original is other

    def __hash__(self) -> int:
        return hash(self._original)

    def __repr__(self) -> str:
        return repr(self._original)

    def __reduce__(self) -> str:
        return self.__name__


def _taking_tensors(original: Any) -> Constructor:
    """Return a constructor of NumPy, by which numgrad answers where NumPy would refuse a tensor."""

    def constructor(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except Exception as error:
            if not _is_refusal(error) or not _is_answered(sys._getframe()):
                raise
        escapes.forget_refusal()
        return OWN[original.__name__](*args, **kwargs)

    escapes.attempting[constructor.__code__] = _is_answered
    return Constructor(update_wrapper(constructor, original))


def _joining_tensors(original: Any, own: Any) -> Any:
    """Return an object in the place of ``np.r_`` or ``np.c_``, by which numgrad answers where NumPy
    would refuse a tensor."""

    class Joining(type(original)):  # type: ignore[misc]
        """An object in the place of one of NumPy's, which is equal to it."""

        __module__ = "numpy"

        def __getitem__(self, key: Any) -> Any:
            if isinstance(key, str):  # names of the caller's arrays
                caller: Any = sys._getframe().f_back
                return np.bmat(key, caller.f_globals, caller.f_locals)
            try:
                return original[key]
            except Exception as error:
                if not _is_refusal(error) or not _is_joined(sys._getframe()):
                    raise
            escapes.forget_refusal()
            return own[key]

        def __eq__(self, other: object) -> bool:
            return self is other or original is other

        def __hash__(self) -> int:
            return hash(original)

        def __reduce__(self) -> str:
            return "r_" if own is r_ else "c_"

    Joining.__name__ = Joining.__qualname__ = type(original).__name__
    escapes.attempting[Joining.__getitem__.__code__] = _is_joined
    return Joining()


def _is_joined(call: FrameType) -> bool:
    """Whether numgrad joins what the user's program has written in the brackets, if NumPy refuses
    it: numbers, arrays, tensors and lists of these, ranges, and directions in a text."""
    key, caller = call.f_locals["key"], call.f_back
    items = key if isinstance(key, tuple) else (key,)
    joined = [item for item in items if not isinstance(item, (slice, str))]
    return _is_of_numbers(joined) and is_of_user(caller and caller.f_code.co_filename)


def _is_refusal(error: Exception) -> bool:
    """Whether a tensor that was to become an array has raised an error, or NumPy in answer."""
    return isinstance(error, (DetachedError, DeviceError)) or isinstance(
        error.__cause__, (DetachedError, DeviceError)
    )


def _is_answered(call: FrameType) -> bool:
    """Whether numgrad answers a call of a constructor if NumPy refuses it: the user's program makes
    an array of numbers of a list, or of copies of a number, or a function that a transform calls
    does so of what stands for an array there.

    Another tensor alone is asked for its own array. Libraries want arrays of NumPy.
    """
    args, kwargs = call.f_locals["args"], call.f_locals["kwargs"]
    name, place = PARAMETERS[call.f_locals["original"].__name__]
    value = args[place] if len(args) > place else kwargs.get(name)
    is_list = isinstance(value, (list, tuple)) and _is_of_numbers(value)
    is_filled = place > 0 or is_list or (isinstance(value, Tensor) and _stands_for_array(value))
    has_objects = object in (kwargs.get("dtype"), *args[place + 1 : place + 2])
    caller = call.f_back
    return is_filled and not has_objects and is_of_user(caller and caller.f_code.co_filename)


def _stands_for_array(tensor: Tensor) -> bool:
    """Whether a tensor is a value of a function that a transform calls, which is written for
    arrays."""
    is_of_capture = tensor.array is None and mode.capture is not None
    return is_of_capture or escapes.transform_call_of(tensor) is not None


def _is_of_numbers(items: Any) -> bool:
    """Whether a list has numbers, arrays, tensors and such lists only, and no text or other
    objects."""
    return all(isinstance(item, _NUMBERS) for item in leaves(items))


_NUMBERS = (np.ndarray, np.generic, int, float, complex, Tensor)


_constructors = {
    **{original: _taking_tensors(original) for original in (getattr(np, name) for name in OWN)},
    **{original: _joining_tensors(original, own) for original, own in ((np.r_, r_), (np.c_, c_))},
}


def follow() -> None:
    """Do as the flag ``numpy`` says, in NumPy and where a loaded module of the user has one of the
    functions under a global name. A module that is loaded later imports what NumPy has then."""
    if _followed.get("numpy") == settings.numpy:
        return  # another setting has changed
    functions = _constructors if settings.numpy == "auto" else {old: old for old in _constructors}
    for module in (np, *_modules()):
        for name, value in list(vars(module).items()):
            function = functions.get(value) if isinstance(value, _KINDS) else None
            if function is not None and value is not function:
                setattr(module, name, function)
    _followed["numpy"] = settings.numpy


_followed: dict[str, str] = {}
_KINDS = (BuiltinFunctionType, FunctionType, Constructor, *map(type, (np.diag, np.r_, np.c_)))


def _modules() -> list[ModuleType]:
    """Return the modules of the user's program; that of an interactive session has no file."""
    modules = [module for module in list(sys.modules.values()) if isinstance(module, ModuleType)]
    main = sys.modules.get("__main__")
    return [m for m in modules if m is main or is_of_user(m.__dict__.get("__file__"))]


def begin() -> None:
    """Begin to follow the flag."""
    follow()
    on_change(follow)
