"""The names of a scalar function, bound to what a kernel means by them."""

import builtins
import math
import types as pytypes
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from .._declare.elementwise import Elementwise
from .._declare.foreign import Foreign
from .._declare.source import plain_of

SELECTIONS = ("where", "max", "min", "round", "pow", "abs")
"""Names that mean something else in a scalar function than in Python."""


class Names(NamedTuple):
    """What names of a scalar function stand for.

    Attributes
    ----------
    real, complex
        ``math`` in kernels of real and of complex numbers.
    where
        The function of that name, whose it may be; None where it is no other than its own.
    selections : dict
        What the names of `SELECTIONS` stand for.
    functions : dict
        What stands for other functions.
    foreign : callable
        Makes of a `Foreign` function what kernels call.
    """

    real: Any
    complex: Any
    where: Any
    selections: dict[str, Any]
    functions: dict[Any, Any] = {}  # noqa: RUF012  never changed
    foreign: Callable[[Foreign], Any] = lambda function: function


def bind(
    function: Callable,
    names: Names,
    *,
    is_complex: bool = False,
    wrap: Callable[[pytypes.FunctionType], Any] | None = None,
) -> Any:
    """Copy a scalar function and, recursively, its plain callees with their names bound.

    An operator that it calls stands for the operator's own scalar function.

    ``math`` and the names of `SELECTIONS` become what ``names`` has for them. The copy
    sees only the globals that it names. Callees, and the function itself, are what ``wrap`` makes
    of their copies.
    """
    return _Binder(names, is_complex, wrap).function(function)


class _Binder:
    def __init__(self, names: Names, is_complex: bool, wrap: Any) -> None:
        self.math = names.complex if is_complex else names.real
        self.where, self.selections = names.where, names.selections
        self.functions, self.foreign = names.functions, names.foreign
        self.is_complex = is_complex
        self.wrap = wrap
        self.done: dict[int, Any] = {}

    def function(self, function: Any) -> Any:
        source: Any = plain_of(function)
        if id(source) in self.done:
            return self.done[id(source)]
        code, scope = source.__code__, {"__builtins__": builtins}
        cells = tuple(pytypes.CellType() for _ in source.__closure__ or ())
        copy = pytypes.FunctionType(code, scope, source.__name__, source.__defaults__, cells)
        copy.__kwdefaults__, copy.__module__ = source.__kwdefaults__, source.__module__
        copy.__qualname__ = source.__qualname__
        self.done[id(source)] = copy
        changed = self.fill(source, scope)
        for name, ours, theirs in zip(
            code.co_freevars, cells, source.__closure__ or (), strict=True
        ):
            ours.cell_contents = self.value(name, theirs.cell_contents)
            changed = changed or ours.cell_contents is not theirs.cell_contents
        # A function that names nothing of ours stays itself: Numba may know it by `overload`.
        result = copy if changed else source
        self.done[id(source)] = result = result if self.wrap is None else self.wrap(result)
        return result

    def fill(self, source: pytypes.FunctionType, scope: dict[str, Any]) -> bool:
        """Bind the globals of `source` in `scope`; returns whether any of them changed."""
        changed = False
        for name in _names(source.__code__):
            if name in source.__globals__:
                scope[name] = self.value(name, source.__globals__[name])
                changed = changed or scope[name] is not source.__globals__[name]
            elif name in self.selections:
                scope[name] = self.selections[name]
                changed = True
        return changed

    def value(self, name: str, value: Any) -> Any:
        if name == "where" and self.where is not None:
            return self.where
        if value is math:
            return self.math
        if isinstance(value, Foreign):
            return self.foreign(value)
        if isinstance(value, Elementwise):
            return self.function(value.complex_function if self.is_complex else value.function)
        if isinstance(value, Hashable) and value in self.functions:
            value = self.functions[value]
        if getattr(math, name, None) is value and callable(value):  # from math import exp
            return getattr(self.math, name, value)
        if plain_of(value) is not None:
            return value if _is_library(value) else self.function(value)
        return value


def _is_library(function: Any) -> bool:
    return (function.__module__ or "").partition(".")[0] in ("numba", "numpy", "scipy")


def _names(code: pytypes.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, pytypes.CodeType):
            names |= _names(constant)
    return names
