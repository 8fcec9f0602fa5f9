"""Partial derivatives of elementwise operators: compiled for the first derivative, traced for the next.

One scalar function serves both: Numba compiles it as the backward kernel, and the same code object runs on
tensors with ``math`` and ``where`` bound to the registered operators when the derivative is to be differentiated.
"""

import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from .operator import door, registry, zeros_of


class Partial:
    """One partial derivative: what it reads, and how to multiply a cotangent with it."""

    def __init__(self, owner: Any, function: Callable[..., Any]) -> None:
        self.owner = owner
        self.function = function
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
        self.reads = tuple(self._position(name) for name in names)
        self.constant: float | None = None
        self.identity: int | None = None
        self._classify()
        self._operator: Any = None
        self._traced: Callable[..., Any] | None = None

    def _position(self, name: str) -> int:
        """Return the index of a value among the inputs followed by the output ``y``."""
        parameters = self.owner.parameters
        if name in parameters:
            return parameters.index(name)
        if name == "y":
            return len(parameters)
        raise ValueError(
            f"a partial of {self.owner.name} reads {name!r}; it can read {', '.join(parameters)} and y"
        )

    def _classify(self) -> None:
        """Find out whether the function is a constant, or one of its arguments: those need no kernel."""
        if not self.reads:
            self.constant = self.function()
            return
        code = self.function.__code__
        marks = [object() for _ in self.reads]
        if len(code.co_code) <= 8 and not code.co_names:
            with suppress(TypeError):  # such as -y: no operation is defined on a mark
                result = self.function(*marks)
                self.identity = next((n for n, mark in enumerate(marks) if result is mark), None)

    @property
    def operator(self) -> Any:
        """The partial as an elementwise operator of its own."""
        if self._operator is None:
            from .elementwise import Elementwise

            conditions = [n for n, position in enumerate(self.reads) if position in self.owner.conditions]
            self._operator = Elementwise(
                self.function, self.function.__name__, conditions=conditions, differentiable=False
            )
        return self._operator

    def apply(self, context: Any, g: Any) -> Any:
        """Return ``g`` times the partial (its conjugate for complex values)."""
        if self.constant is not None:
            return _scale(g, self.constant)
        count = len(context.input_specs)
        values = [context.input(p) if p < count else context.output(p - count) for p in self.reads]
        if self.identity is not None:
            partial = values[self.identity]
        elif context.create_graph:
            partial = self._trace(values, context.output_specs[0].dtype)
        else:
            partial = self.operator(*values)
        if isinstance(partial, (int, float, complex)):
            return _scale(g, partial)
        return registry["multiply"](g, conjugate(partial))

    def _trace(self, values: list[Any], dtype: np.dtype) -> Any:
        """Run the function on tensors; a choice between two numbers, which is float64, gets the dtype of the rest."""
        partial = self.traced(*values)
        if isinstance(partial, door.value) and partial.dtype != dtype:
            partial = partial.astype(dtype)
        return partial

    @property
    def traced(self) -> Callable[..., Any]:
        """The function with ``math`` and ``where`` bound to operators, so that it runs on tensors."""
        if self._traced is None:
            self._traced = bind_operators(self.function)
        return self._traced


def conjugate(value: Any) -> Any:
    """Return the complex conjugate of a value, the value itself when it is real."""
    return registry["conj"](value) if value.dtype.kind == "c" else value


def _scale(g: Any, factor: float) -> Any:
    if factor == 1:
        return g
    if factor == 0:
        return zeros_of(g)  # 0 * g would be NaN where g is infinite
    if factor == -1:
        return registry["negative"](g)
    return registry["multiply"](g, door.constant(np.asarray(np.conj(factor), g.dtype)))


class OperatorMath:
    """What ``math`` means where a scalar function runs on tensors."""

    pi = np.pi
    e = np.e
    inf = np.inf
    nan = np.nan
    tau = 2 * np.pi
    _names = {"fabs": "abs", "pow": "pow", "fmod": "fmod"}

    def __getattr__(self, name: str) -> Any:
        operator = registry.get(self._names.get(name, name))
        if operator is None:
            raise AttributeError(f"math.{name} has no operator, so a derivative that uses it cannot be differentiated")
        return operator


OPERATOR_MATH = OperatorMath()


def bind_operators(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its globals rebound from scalar mathematics to operators, callees included."""
    bound = {"math": OPERATOR_MATH, "abs": registry.get("abs"), "where": registry.get("where")}
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        value = scope.get(name)
        if name in bound:
            scope[name] = bound[name]
        elif isinstance(value, types.FunctionType):
            scope[name] = bind_operators(value)
    return types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
