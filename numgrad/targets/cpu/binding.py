"""The names of a scalar function, bound to what a kernel means by them."""

import builtins
import math
import types as pytypes
from collections.abc import Callable
from typing import Any

from . import complex_math, scalar_math


def bind(function: Callable, *, is_complex: bool = False) -> pytypes.FunctionType:
    """Copy a scalar function and, recursively, its plain callees with their names bound for Numba.

    ``where``, ``max``, ``min`` and ``round`` become selections without branches, ``math`` the
    namespace of the kernel's kind. The copy sees only the globals that it names.
    """
    return _Binder(is_complex).function(function)


class _Binder:
    def __init__(self, is_complex: bool) -> None:
        self.math = complex_math if is_complex else scalar_math.real
        self.done: dict[int, pytypes.FunctionType] = {}

    def function(self, function: Any) -> pytypes.FunctionType:
        source = getattr(function, "py_func", function)
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
        self.done[id(source)] = result = copy if changed else source
        return result

    def fill(self, source: pytypes.FunctionType, scope: dict[str, Any]) -> bool:
        """Bind the globals of `source` in `scope`; returns whether any of them changed."""
        changed = False
        for name in _names(source.__code__):
            if name in source.__globals__:
                scope[name] = self.value(name, source.__globals__[name])
                changed = changed or scope[name] is not source.__globals__[name]
            elif name in scalar_math.selections:
                scope[name] = scalar_math.selections[name]
                changed = True
        return changed

    def value(self, name: str, value: Any) -> Any:
        if name == "where":
            return scalar_math.where
        if value is math:
            return self.math
        if getattr(math, name, None) is value and callable(value):  # from math import exp
            return getattr(self.math, name, value)
        if hasattr(value, "py_func") or isinstance(value, pytypes.FunctionType):
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
