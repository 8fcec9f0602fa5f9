"""Guard against random numbers that a function draws while it is captured.

Every replay would repeat the same numbers.
"""

import functools
import random
import sys
import threading
from collections.abc import Callable, Hashable, Iterable
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..._errors import CaptureError
from ..._tensor import Tensor
from .static_keys import frozen

_PYTHON: Any = random.random.__self__  # type: ignore[attr-defined]
_MOST = 2000  # objects that are searched
_MANY = 100  # items of a container

_ADVICE = (
    "Draw them outside, at each call, and pass them as an argument; what shall be drawn once only, "
    "like the first weights, is drawn before the function is captured. (If another thread has "
    "drawn from the same generator meanwhile, call again, or give each thread its own.)"
)

_UNSEEDED = (
    "a generator that it has made without a seed, or as a RandomState, which asks the system for "
    "one in any case (np.random.default_rng(seed) does not),"
)


class DrawProfiler:
    """Tells whether this thread draws from the generator of Python's ``random``.

    Other threads, such as those of servers, may draw from it at any time. Every call is profiled,
    at some cost.
    """

    def __init__(self) -> None:
        self.has_drawn = False

    def __enter__(self) -> None:
        if sys.getprofile() is not None:  # there is one profiler at most, so a draw is assumed
            self.has_drawn = True
            return
        sys.setprofile(self._look)

    def __exit__(self, *exception: object) -> None:
        if sys.getprofile() == self._look:
            sys.setprofile(None)

    def _look(self, frame: Any, event: str, called: Any) -> None:
        """Notice calls of the two C functions through which all others draw."""
        if event == "c_call" and getattr(called, "__self__", None) is _PYTHON:
            self.has_drawn |= called.__name__ in ("random", "getrandbits")


class RandomGuard:
    """The random generators that a function may use, with their states before the function is
    captured.

    Parameters
    ----------
    function : callable
        The function of the user.
    given : iterable
        The arguments of the function.
    """

    def __init__(self, function: Any, given: Iterable[Any]) -> None:
        own = [(g, f"a {type(g).__name__} that it uses") for g in _reachable([function, *given])]
        self._before = [(g, name, _state(g)) for g, name in [*_global(), *own]]
        _entropy.watch()
        self._seeds = _entropy.seeds
        self._modules = len(sys.modules)

    def end(self) -> None:
        """Note which generators have another state than before the capture.

        The states are compared once, as another thread may draw between two comparisons.
        """
        self._drawn = [(g, name) for g, name, before in self._before if _state(g) != before]
        if _entropy.seeds != self._seeds:
            self._drawn.append((None, _UNSEEDED))
        self._has_imported = len(sys.modules) != self._modules

    def may_be_of_others(self) -> bool:
        """Whether numbers were drawn, but perhaps not by the function.

        All threads share the global generators, and the code of a module that was imported
        meanwhile may have drawn.
        """
        shared = {id(generator) for generator, _ in _global()}
        are_shared = all(id(generator) in shared for generator, _ in self._drawn)
        return bool(self._drawn) and (are_shared or self._has_imported)

    def are_by_other_threads(self, watch: DrawProfiler) -> bool:
        """Whether numbers were drawn from Python's generator alone, and not by the watched thread.
        """
        return [generator for generator, _ in self._drawn] == [_PYTHON] and not watch.has_drawn

    def require_none(self, function: str) -> None:
        """Raise if numbers were drawn, or if a generator was made without a seed."""
        if self._drawn:
            drawn = " and ".join([name for _, name in self._drawn])
            raise CaptureError(
                f"{function} has drawn random numbers from {drawn} while it was captured; they "
                f"would be the same at every call. {_ADVICE}"
            )


class _Entropy(threading.local):
    """The number of times that NumPy's generators have asked the system for a seed, in this thread.

    NumPy has no hook for that, so its function ``randbits`` is replaced by one that counts.
    """

    seeds = 0

    def watch(self) -> None:
        """Replace NumPy's function by one that counts, unless it has been replaced before."""
        module: Any = np.random.bit_generator  # type: ignore[attr-defined]
        ask = getattr(module, "randbits", None)
        if ask is None or isinstance(ask, _Counting):
            return
        module.randbits = _Counting(ask)


class _Counting:
    """A function whose calls are counted."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any) -> Any:
        _entropy.seeds += 1
        return self._function(*args)


_entropy = _Entropy()


def _global() -> Iterable[tuple[Any, str]]:
    """Return the generators of the modules ``random`` and ``numpy.random``."""
    yield _PYTHON, "Python's random"
    yield generator_of_numpy(), "np.random"


def generator_of_numpy() -> Any:
    """Return the generator of the functions of ``numpy.random``, or else one that draws from the
    same bits."""
    module: Any = np.random
    found = getattr(module.mtrand, "_rand", None)
    return module.RandomState(module.get_bit_generator()) if found is None else found


def _state(generator: Any) -> Hashable:
    if isinstance(generator, random.Random):
        return generator.getstate()
    if isinstance(generator, np.random.RandomState):
        return frozen(generator.get_state(legacy=False))
    return frozen(getattr(generator, "bit_generator", generator).state)


def _kinds() -> tuple[type, ...]:
    numpy = np.random  # NumPy imports it when the attribute is read
    return (random.Random, numpy.Generator, numpy.RandomState, numpy.BitGenerator)


class _Reached(NamedTuple):
    """An object that code can reach, and the names of attributes in that code."""

    thing: Any
    names: frozenset[str]


def _reachable(roots: Iterable[Any]) -> list[Any]:
    """Return the generators that functions and arguments can reach.

    The search goes through closures, objects, containers, and the globals and attributes that the
    code of a function names.
    """
    kinds = _kinds()
    waiting = [_Reached(root, frozenset()) for root in roots]
    seen: dict[int, Any] = {}
    generators = []
    while waiting and len(seen) < _MOST:
        found = waiting.pop()
        if id(found.thing) in seen:
            continue
        seen[id(found.thing)] = found.thing
        if _is_instance(found.thing, kinds):
            if not _is_instance(found.thing, random.SystemRandom):
                generators.append(found.thing)
        else:
            waiting += _parts_of(found)
    return generators


_CONTAINERS: Any = (list, tuple, set, frozenset)


def _is_instance(thing: Any, kinds: Any) -> bool:
    """Whether the type of an object is one of these classes or a subclass.

    `isinstance` would ask the object, which may be a proxy.
    """
    return issubclass(type(thing), kinds)


def _parts_of(found: _Reached) -> list[_Reached]:
    thing, names = found
    if type(thing) in _without_parts:
        return []
    if _is_instance(thing, FunctionType):
        return _of_function(thing)
    if _is_instance(thing, MethodType):
        parts: Iterable[Any] = (thing.__self__, thing.__func__)
    elif _is_instance(thing, functools.partial):
        parts = (thing.func, *thing.args, *thing.keywords.values())
    elif _is_instance(thing, _CONTAINERS):
        base = next(kind for kind in type(thing).__mro__ if kind in _CONTAINERS)
        parts = list(base.__iter__(thing))[:_MANY]
    elif _is_instance(thing, dict):
        parts = list(dict.values(thing))[:_MANY]
    elif _is_instance(thing, ModuleType):
        values = _attributes(thing)
        parts = () if _is_known(values.get("__name__")) else _named(values, names)
    elif _is_instance(thing, type):
        parts = () if _is_known(thing.__module__) else list(vars(thing).values())[:_MANY]
    else:
        parts = _of_object(thing)
    return [_Reached(part, names) for part in parts]


def _of_function(function: FunctionType) -> list[_Reached]:
    """Return the closed-over values, the defaults, and the globals that a function names."""
    names = frozenset(_names_in(function.__code__))
    cells = [cell for cell in function.__closure__ or () if not _is_empty(cell)]
    parts = [cell.cell_contents for cell in cells]
    parts += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    parts += vars(function).values()
    if not _is_known(function.__module__):
        parts += _named(function.__globals__, names)
    return [_Reached(part, names) for part in parts]


def _of_object(thing: Any) -> list[Any]:
    """Return the attributes of an object of a Python class, and the class, as code may call its
    methods."""
    kind = type(thing)
    if not kind.__flags__ & _HEAP:
        _without_parts.add(kind)
        return []
    if _is_instance(thing, (np.ndarray, Tensor)):
        return []
    slots = [name for base in kind.__mro__ for name in _slots(base)]
    values = [_attribute(thing, name) for name in slots]
    return [kind, *values, *list(_attributes(thing).values())[:_MANY]]


def _attribute(thing: Any, name: str) -> Any:
    """Return an attribute of an object without running code of its class; None if there is none."""
    try:
        return object.__getattribute__(thing, name)
    except AttributeError:
        return None


def _attributes(thing: Any) -> dict[str, Any]:
    values = _attribute(thing, "__dict__")
    return values if type(values) is dict else {}


_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that was made while Python ran
_without_parts: set[type] = set()  # classes of text, numbers and the like, most of what is found


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _named(values: dict[str, Any], names: Iterable[str]) -> list[Any]:
    return [values[name] for name in names if name in values]


def _names_in(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in code, and in the functions defined there."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names_in(constant)
    return names


def _is_known(module: Any) -> bool:
    """Whether a module is known to draw only from generators that it is given, or for names of
    files and the like, as Python's own modules do."""
    name = str(module).split(".")[0]
    return name in ("numgrad", "numpy") or name in sys.stdlib_module_names


def _is_empty(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  raises where it is
    except ValueError:
        return True
    return False


__all__ = ["DrawProfiler", "RandomGuard"]
