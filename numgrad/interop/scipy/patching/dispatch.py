"""Functions, methods and classes that dispatch on whether an argument is a tensor."""

import functools
import sys
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any

from ...._tensor import Tensor
from ....engine.graph.callsite import is_ours
from ....functions.tensor.protocols import answered
from ....sparse.arrays.array import SparseArray
from .counterparts import READ_CLOSURES, UNASKED


def holds_tensor(value: Any) -> bool:
    """Whether a value is a tensor, a sparse array of numgrad, or a list, tuple or dictionary that
    contains one."""
    if isinstance(value, (Tensor, SparseArray)):
        return True
    if isinstance(value, (list, tuple)):
        return any([holds_tensor(item) for item in value])  # noqa: C419
    return isinstance(value, dict) and holds_tensor(list(value.values()))


def reads_tensor(f: Any) -> bool:
    """Whether a function reads a tensor that is none of its arguments."""
    if isinstance(f, functools.partial):
        return holds_tensor([f.args, f.keywords]) or reads_tensor(f.func)
    if isinstance(f, MethodType):
        return holds_tensor(list(vars(f.__self__).values())) or reads_tensor(f.__func__)
    if not isinstance(f, FunctionType):
        return callable(f) and holds_tensor(list(getattr(f, "__dict__", {}).values()))
    cells = [_held(cell) for cell in f.__closure__ or ()]
    names = _names(f.__code__)
    found = [f.__globals__[name] for name in names if name in f.__globals__]
    if holds_tensor([cells, found, f.__defaults__, f.__kwdefaults__]):
        return True
    others = [g for g in (*cells, *found) if isinstance(g, FunctionType) and g is not f]
    own = f.__module__
    return any(reads_tensor(g) for g in others if g.__module__ == own and not _calls(g, f))


def _held(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the variable has no value yet
        return None


def _names(code: CodeType) -> list[str]:
    """Return the names that a function and the functions inside it look up."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return [*code.co_names, *[name for c in inner for name in _names(c)]]


def _calls(g: FunctionType, f: FunctionType) -> bool:
    """Whether function ``g`` looks up ``f`` or itself by name."""
    return bool({f.__name__, g.__name__} & set(_names(g.__code__)))


class Switch:
    """Whether SciPy's functions look for tensors among their arguments."""

    is_on = False


def _is_asked(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], depth: int = 2) -> bool:
    """Whether a call is for numgrad: it has a tensor, and does not come from numgrad itself."""
    if not Switch.is_on:
        return False
    if is_ours[sys._getframe(depth).f_code.co_filename]:
        return False
    if holds_tensor(args) or (kwargs and holds_tensor(kwargs)):
        return True
    return name in READ_CLOSURES and any(map(reads_tensor, (*args, *kwargs.values())))


def function(original: Callable[..., Any], own: Callable[..., Any], called: str) -> Any:
    """Return a function of SciPy that takes tensors, too."""
    name = called.rpartition(".")[2]

    @functools.wraps(original)
    def dispatched(*args: Any, **kwargs: Any) -> Any:
        if not _is_asked(name, args, kwargs):
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
