"""Structural operators: views, and operators declared by the functions infer, run and lower."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..ir.memory_order import standing_in
from .operator import Computation, Operator, Specs


class StructuralOperator(Operator):
    """An operator declared by the functions ``infer``, ``run`` and ``lower``.

    Parameters
    ----------
    infer : callable
        ``(specs, **static) -> [(shape, dtype), ...]``.
    run : callable
        ``(arrays, **static) -> array`` on NumPy arrays.
    lower : callable
        ``(builder, inputs, specs, **static) -> [operand, ...]``.
    memory_order : callable, optional
        As `Operator.memory_order`.
    prepare : callable, optional
        ``(specs, **static)`` returns what `Operator.computation` returns, or None for its default.
    """

    def __init__(
        self,
        name: str,
        infer: Callable[..., Any],
        run: Callable[..., Any],
        lower: Callable[..., Any],
        prepare: Callable[..., Any] | None = None,
        memory_order: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(name)
        self.memory_order = memory_order
        self._prepare = prepare
        self._infer, self._run, self._lower = infer, run, lower
        self.__doc__ = run.__doc__

    def infer(self, specs: Specs, static: dict[str, Any]) -> list[tuple[tuple[int, ...], np.dtype]]:
        return self._infer(specs, **static)

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        return [np.asarray(self._run(arrays, **static))]

    def computation(
        self, target: Any, inputs: Specs, static: dict[str, Any]
    ) -> Computation:
        made = self._prepare(inputs, **static) if self._prepare is not None else None
        return super().computation(target, inputs, static) if made is None else made

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Specs, static: dict[str, Any]
    ) -> list[Any]:
        return self._lower(builder, inputs, specs, **static)


class ViewOperator(Operator):
    """An operator whose result is a NumPy view of its input.

    No element is read or written, and a program gets no instruction. The view function gets an
    array with any number of leading axes, and must count axes from the right.
    """

    may_copy = False  # whether the view function raises `CannotViewError`

    def __init__(self, function: Callable[..., np.ndarray]) -> None:
        super().__init__(function.__name__, is_view=True)
        self.function = function
        self._viewer: Callable[..., Any] | None = None
        self.__doc__ = function.__doc__

    def viewer(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Declare a function ``(spec, **static)`` that returns what `computation` returns.

        Where that is None, `computation` returns the view function itself.
        """
        self._viewer = function
        return function

    def computation(
        self, target: Any, inputs: Specs, static: dict[str, Any]
    ) -> Computation:
        made = self._viewer(inputs[0], **static) if self._viewer is not None else None
        return partial(self.function, **static) if made is None else made

    def seen(self, array: np.ndarray, static: dict[str, Any]) -> np.ndarray | None:
        """Return the view of an array; None for strides that do not allow the view."""
        try:
            return self.function(array, **static)
        except CannotViewError:
            return None

    def infer(self, specs: Specs, static: dict[str, Any]) -> list[tuple[tuple[int, ...], np.dtype]]:
        (spec,) = specs
        result = self.function(standing_in(spec.shape, spec.dtype), **static)
        return [(result.shape, spec.dtype)]

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        (array,) = arrays
        view = self.seen(array, static)
        if view is not None:
            return [view]
        return [self.function(np.ascontiguousarray(array), **static).copy()]

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Specs, static: dict[str, Any]
    ) -> list[Any]:
        (operand,) = inputs
        try:
            return [operand.view(lambda dummy: self.function(dummy, **static))]
        except CannotViewError:
            operand = builder.contiguous(operand)
            return [operand.view(lambda dummy: self.function(dummy, **static))]


class CannotViewError(ValueError):
    """A view function met an array whose strides do not allow the view."""


def view(function: Callable[..., np.ndarray]) -> ViewOperator:
    """Declare a view operator from a function of an array and static parameters."""
    return ViewOperator(function)
