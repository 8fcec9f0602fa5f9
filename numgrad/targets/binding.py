"""Bind the names of a scalar function to their stand-ins in kernels.

A scalar function is plain Python, made of ``math``, ``where`` and operators. A stand-in is what
kernels have in place of one of these: an implementation for the dtypes and the target.
"""

import builtins
import math
import sys
import types as pytypes
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from .._declare.elementwise import Elementwise
from .._declare.foreign import ForeignFunction
from .._declare.source import plain_of

SELECTIONS = ("where", "max", "min", "round", "pow", "abs")
"""Names that have another meaning in a scalar function than in Python."""


class Names(NamedTuple):
    """The meanings of a scalar function's names in kernels.

    Attributes
    ----------
    real, complex
        The stand-ins for the module ``math`` in kernels of real and of complex numbers.
    where
        The stand-in for every global called ``where``; None leaves such a global as it is.
    selections : dict
        The stand-in for each name of `SELECTIONS`.
    functions : dict
        The stand-ins for other functions, by the function.
    foreign : callable
        Returns the stand-in for a foreign function.
    """

    real: Any
    complex: Any
    where: Any
    selections: dict[str, Any]
    functions: dict[Any, Any] = {}  # noqa: RUF012  never changed
    foreign: Callable[[ForeignFunction], Any] = lambda function: function


def bind(
    function: Callable,
    names: Names,
    *,
    is_complex: bool = False,
    wrap: Callable[[pytypes.FunctionType], Any] | None = None,
    known: dict[Any, Any] | None = None,
) -> Any:
    """Copy a scalar function and, recursively, its plain callees with their names bound.

    A called operator is replaced by its own scalar function, ``math`` and the names of `SELECTIONS`
    by their stand-ins in ``names``. The copy sees only the globals that it names. ``wrap`` is
    applied to the copies of callees and of the function itself. Copies of numgrad's own functions
    are kept in ``known`` for later calls, which must have the same ``names``, ``is_complex`` and
    ``wrap``.
    """
    return _Binder(names, is_complex, wrap, known).function(function)


class _Binder:
    def __init__(self, names: Names, is_complex: bool, wrap: Any, known: Any) -> None:
        self.math = names.complex if is_complex else names.real
        self.where, self.selections = names.where, names.selections
        self.functions, self.foreign = names.functions, names.foreign
        self.is_complex = is_complex
        self.wrap = wrap
        self.known: dict[Any, Any] = {} if known is None else known
        self.done: dict[int, Any] = {}
        self.named: set[str] = set()  # the names in the function whose names are being bound

    def function(self, function: Any) -> Any:
        source: Any = plain_of(function)
        if id(source) in self.done:
            return self.done[id(source)]
        if source in self.known:
            return self.known[source]
        code, scope = source.__code__, {"__builtins__": builtins}
        cells = tuple(pytypes.CellType() for _ in source.__closure__ or ())
        copy = pytypes.FunctionType(code, scope, source.__name__, source.__defaults__, cells)
        copy.__module__, copy.__qualname__ = source.__module__, source.__qualname__
        self.done[id(source)] = copy
        outer, self.named = self.named, _names(code)
        changed = self.fill(source, scope)
        for name, ours, theirs in zip(
            code.co_freevars, cells, source.__closure__ or (), strict=True
        ):
            ours.cell_contents = self.value(name, theirs.cell_contents)
            changed = changed or ours.cell_contents is not theirs.cell_contents
        changed = self.set_defaults(source, copy) or changed
        self.named = outer
        # A function without names to bind stays itself: Numba may know it by `overload`.
        result = copy if changed else source
        self.done[id(source)] = result = result if self.wrap is None else self.wrap(result)
        if (source.__module__ or "").startswith("numgrad."):  # whose globals stay what they are
            self.known[source] = result
        return result

    def fill(self, source: pytypes.FunctionType, scope: dict[str, Any]) -> bool:
        """Set ``scope``, the globals of a copy, to those of ``source`` with stand-ins in place.

        Return whether any global is replaced.
        """
        changed = False
        for name in self.named:
            if name in source.__globals__:
                scope[name] = self.value(name, source.__globals__[name])
                changed = changed or scope[name] is not source.__globals__[name]
            elif name in self.selections:
                scope[name] = self.selections[name]
                changed = True
        return changed

    def set_defaults(self, source: pytypes.FunctionType, copy: pytypes.FunctionType) -> bool:
        """Give ``copy`` the default arguments of ``source``, with stand-ins in place.

        Return whether any of them is replaced.
        """
        theirs = (source.__defaults__, tuple((source.__kwdefaults__ or {}).items()))
        ours = self.held(theirs)
        copy.__defaults__, copy.__kwdefaults__ = ours[0], dict(ours[1]) or None
        return ours is not theirs

    def held(self, value: Any) -> Any:
        """Return a function, or a tuple or module of functions, with the functions' names bound.

        Any other value is returned as it is.
        """
        if isinstance(value, tuple):
            items = [self.held(item) for item in value]
            if all(ours is theirs for ours, theirs in zip(items, value, strict=True)):
                return value
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, pytypes.ModuleType):
            return self.module(value)
        is_function = plain_of(value) is not None and not is_library(value)
        return self.function(value) if is_function else value

    def module(self, module: pytypes.ModuleType) -> pytypes.ModuleType:
        """Return a copy of a module in which the names of its functions are bound.

        Only functions that the code may name are looked at; the module itself is returned if none
        of them changes.
        """
        if is_library(module) or id(module) in self.done:
            return self.done.get(id(module), module)
        self.done[id(module)] = module  # meanwhile: its functions may lead back to the module
        attributes = {name: vars(module)[name] for name in self.named if name in vars(module)}
        bound = {name: self.held(value) for name, value in attributes.items()}
        del self.done[id(module)]  # another function may name more of the module's functions
        if all(bound[name] is value for name, value in attributes.items()):
            return module
        copy = pytypes.ModuleType(module.__name__)
        vars(copy).update(vars(module) | bound)
        return copy

    def value(self, name: str, value: Any) -> Any:
        if name == "where" and self.where is not None:
            return self.where
        if value is math:
            return self.math
        if isinstance(value, ForeignFunction):
            return self.foreign(value)
        if isinstance(value, Elementwise):
            return self.function(value.complex_function if self.is_complex else value.function)
        if isinstance(value, Hashable) and value in self.functions:
            value = self.functions[value]
        if getattr(math, name, None) is value and callable(value):  # from math import exp
            return getattr(self.math, name, value)
        return self.held(value)


def is_library(value: Any) -> bool:
    """Whether a function or a module belongs to Numba, NumPy or SciPy.

    A module of numgrad, or of Python's standard library, counts too.
    """
    is_module = isinstance(value, pytypes.ModuleType)
    root = ((value.__name__ if is_module else value.__module__) or "").partition(".")[0]
    libraries = ("numba", "numpy", "scipy")
    return root in libraries or (is_module and root in ("numgrad", *sys.stdlib_module_names))


def _names(code: pytypes.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, pytypes.CodeType):
            names |= _names(constant)
    return names
