"""Partials of elementwise operators: compiled, or applied to tensors for the next derivative.

One scalar function serves both: Numba compiles it as the backward kernel, and, where the derivative
is to be differentiated, the same code runs on tensors, with ``math`` and ``where`` bound to
operators.
"""

import math
import types
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

from .._errors import DeclarationError, NotDifferentiableError
from ..engine.graph.runtime import runtime
from .operands import constant
from .operator import registry, zeros_of
from .source import python_function, require_straight


class Partial:
    """The partial derivative of an elementwise operator with respect to one of its inputs.

    Attributes
    ----------
    reads : tuple of int
        What each parameter of the function stands for: the position of an input, or the number of
        inputs for the output ``y``.
    constant : float or None
        The partial, if the function has no parameters.
    identity : int or None
        The parameter that the function returns as it is, if it does nothing else.
    """

    def __init__(
        self, owner: Any, function: Callable[..., Any], declare: Callable[..., Any]
    ) -> None:
        self.owner = owner
        self._declare = declare  # makes the elementwise operator of a scalar function
        what = f"a partial of {owner.name}"
        self.function = function = python_function(function, what)
        require_straight(function, f"{what}, {function.__name__},")
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
        self.reads = tuple(self._position(name) for name in names)
        self.constant: float | None = None
        self.identity: int | None = None
        self._classify()
        self._operator: Any = None
        self._traced: Callable[..., Any] | None = None

    def _position(self, name: str) -> int:
        """Return the number of a value, by its name, among the inputs followed by the output ``y``.
        """
        parameters = self.owner.parameters
        if name in parameters:
            return parameters.index(name)
        if name == "y":
            return len(parameters)
        raise DeclarationError(
            f"a partial of {self.owner.name}, {self.function.__name__}, has a parameter {name!r}: "
            f"it can read the inputs {', '.join(parameters)}, and the value as y"
        )

    def _classify(self) -> None:
        """Note if the partial is constant, or equal to an argument: then it needs no kernel."""
        if not self.reads:
            self.constant = self.function()
            return
        code = self.function.__code__
        marks = [object() for _ in self.reads]
        if len(code.co_code) <= 8 and not code.co_names:
            with suppress(TypeError):  # such as for -y: a mark has no operations
                result = self.function(*marks)
                self.identity = next((n for n, mark in enumerate(marks) if result is mark), None)

    @property
    def operator(self) -> Any:
        """The partial as an elementwise operator of its own, which is not recorded."""
        if self._operator is None:
            conditions = [
                n for n, position in enumerate(self.reads) if position in self.owner.conditions
            ]
            self._operator = self._declare(
                self.function, self.function.__name__, conditions=conditions, differentiable=False
            )
            self._operator.is_builtin = self.owner.is_builtin  # built-in partials never raise
        return self._operator

    def lower(self, builder: Any, inputs: Sequence[Any], specs: Sequence[Any]) -> list[Any]:
        """Emit the operator that has the partial, and the partial of its inputs and value."""
        values = [*inputs, *self.owner.lower(builder, inputs, specs, {})]
        return self.operator.lower(builder, [values[n] for n in self.reads], specs, {})  # type: ignore[no-any-return]

    def apply(self, context: Any, g: Any) -> Any:
        """Return a cotangent times the partial, or times its conjugate for complex values."""
        partial = self._value(context)
        if isinstance(partial, runtime.value):  # tested first: some values stand for Python numbers
            return registry["multiply"](g, conjugate(partial))
        return _scale(g, np.conj(partial))

    def along(self, context: Any, tangent: Any) -> Any:
        """Return a tangent times the partial."""
        partial = self._value(context)
        if isinstance(partial, runtime.value):
            return registry["multiply"](tangent, partial)
        return _scale(tangent, partial)

    def _value(self, context: Any) -> Any:
        """Return the partial of a node: a value, or a number if the partial is constant."""
        if self.constant is not None:
            return self.constant
        count = len(context.input_specs)
        values = [context.input(p) if p < count else context.output(p - count) for p in self.reads]
        if self.identity is not None:
            return values[self.identity]
        if context.create_graph:
            return self._trace(values, context.output_specs[0].dtype)
        return self.operator(*values)

    def _trace(self, values: list[Any], dtype: np.dtype) -> Any:
        """Compute the partial by operators on values, so that it can be differentiated.

        A choice between two numbers has a dtype of its own, and is converted to ``dtype``.
        """
        partial = self.traced(*values)
        if isinstance(partial, runtime.value) and partial.dtype != dtype:
            partial = partial.astype(dtype)
        return partial

    @property
    def traced(self) -> Callable[..., Any]:
        """The function with ``math`` and ``where`` bound to operators, so that it runs on tensors.

        A function with an attribute ``on_tensors`` is replaced by what that is: another form of the
        function, whose next derivative is more accurate.
        """
        if self._traced is not None:
            return self._traced
        own = getattr(self.function, "on_tensors", None)
        self._traced = traced = own or bind_operators(self.function)
        return traced


def conjugate(value: Any) -> Any:
    """Return the complex conjugate of a value, the value itself when it is real."""
    return registry["conj"](value) if value.dtype.kind == "c" else value


def _scale(g: Any, factor: complex) -> Any:
    if factor == 1:
        return g
    if factor == 0:
        return zeros_of(g)  # 0 * g would be NaN where g is infinite
    if factor == -1:
        return registry["negative"](g)
    return registry["multiply"](g, constant(np.asarray(factor, g.dtype)))


class OperatorMath:
    """The stand-in for ``math`` where a scalar function runs on tensors: names are operators."""

    pi = np.pi
    e = np.e
    inf = np.inf
    nan = np.nan
    tau = 2 * np.pi
    _names: ClassVar = {"fabs": "abs", "pow": "pow", "fmod": "fmod"}

    def __getattr__(self, name: str) -> Any:
        operator = registry.get(self._names.get(name, name))
        if operator is None:
            if name.startswith("__"):
                raise AttributeError(name)
            raise NotDifferentiableError(
                f"math.{name} has no operator, so a derivative that uses it cannot be "
                f"differentiated"
            )
        return operator


OPERATOR_MATH = OperatorMath()


def bind_operators(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a copy of a scalar function that runs on tensors, as do the copies of its callees.

    The names that mean ``math``, its functions, ``abs`` and ``where`` are bound to operators.
    """
    return _OperatorBinder().function(getattr(function, "py_func", function))


class _OperatorBinder:
    """Makes copies of a function and its callees, which may be recursive, with operators bound."""

    def __init__(self) -> None:
        self.done: dict[Any, Any] = {}
        self.names = {
            "math": OPERATOR_MATH,
            "abs": registry.get("abs"),
            "where": registry.get("where"),
        }

    def function(self, source: types.FunctionType) -> Callable[..., Any]:
        if source in self.done:
            return self.done[source]
        scope = dict(source.__globals__)
        code, closure = source.__code__, source.__closure__ or ()
        cells = tuple(types.CellType() for _ in closure)
        bound = types.FunctionType(code, scope, source.__name__, source.__defaults__, cells)
        bound.__kwdefaults__ = source.__kwdefaults__
        self.done[source] = bound
        for name in code.co_names:
            if name in self.names or name in scope:
                scope[name] = self.value(name, scope.get(name))
        for name, ours, theirs in zip(code.co_freevars, cells, closure, strict=True):
            ours.cell_contents = self.value(name, theirs.cell_contents)
        return bound

    def value(self, name: str, value: Any) -> Any:
        """Return what a name means in a copy: an operator, a copy of a function, or ``value``.

        A user's own ``where`` is a function like others.
        """
        plain = getattr(value, "py_func", value)
        if isinstance(plain, types.FunctionType):
            return value if _works_on_tensors(plain) else self.function(plain)
        if name in self.names and (value is None or value is math or isinstance(value, _BUILTIN)):
            return self.names[name]
        if isinstance(value, _BUILTIN) and getattr(math, value.__name__, None) is value:
            return getattr(OPERATOR_MATH, value.__name__)  # from math import exp
        return value


_BUILTIN = types.BuiltinFunctionType


def _works_on_tensors(function: types.FunctionType) -> bool:
    """Whether a function belongs to a library for arrays, so that it runs on tensors as it is."""
    root, _, rest = (function.__module__ or "").partition(".")
    return root in ("numpy", "scipy") or (root == "numgrad" and not rest.startswith("operators"))
