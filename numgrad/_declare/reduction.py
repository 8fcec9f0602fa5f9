"""Reductions: a kernel over one contiguous core axis, applied to any set of axes counted from the right."""

import functools
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from .._errors import DtypeError
from .._specs import LoopSpec
from .operator import FLOATING, Operator, Specs


def reduction(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Declare a reduction from a core function ``(x, out)`` that reduces the array ``x`` to ``out[0]``.

    Parameters
    ----------
    numpy : callable, optional
        The NumPy function ``(array, axis=)`` that serves integers and booleans.
    result : dtype, optional
        The dtype of the result when it is not that of the argument.
    complex : bool
        Whether complex arguments are allowed. Default true.
    """
    if function is None:
        return functools.partial(reduction, **options)
    return Reduction(function, **options)


class Reduction(Operator):
    """An operator that reduces the axes ``axes`` (negative numbers, ascending) of its input."""

    def __init__(
        self,
        function: Callable[..., Any],
        numpy: Callable[..., Any] | None = None,
        result: Any = None,
        complex: bool = True,
        differentiable: bool = True,
    ) -> None:
        super().__init__(function.__name__, differentiable)
        self.function = function
        self.numpy = numpy
        self.result = None if result is None else np.dtype(result)
        self.allows_complex = complex
        self._specs: dict[np.dtype, LoopSpec] = {}
        self.__doc__ = function.__doc__

    def spec(self, dtype: np.dtype) -> LoopSpec:
        """Return the kernel spec for arguments of ``dtype``."""
        if dtype not in self._specs:
            if dtype.kind == "c" and not self.allows_complex:
                raise DtypeError(f"{self.name} is not defined for complex arguments, got {dtype}")
            self._specs[dtype] = LoopSpec(
                self.name, self.function, "(n)->()", (dtype,), (self.result or dtype,)
            )
        return self._specs[dtype]

    def infer(self, specs: Specs, static: dict[str, Any]) -> list[tuple[tuple[int, ...], np.dtype]]:
        (spec,) = specs
        gone = {len(spec.shape) + a for a in static["axes"]}
        shape = tuple(size for n, size in enumerate(spec.shape) if n not in gone)
        return [(shape, self.result or spec.dtype)]

    def run(self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]) -> list[np.ndarray]:
        (array,) = arrays
        if array.dtype not in FLOATING:
            if self.numpy is None:
                raise DtypeError(f"{self.name} does not support {array.dtype}")
            return [np.asarray(self.numpy(array, axis=static["axes"]))]
        result = target.kernel(self.spec(array.dtype)).ufunc(_axes_last(array, static["axes"]))
        return [np.asarray(result)]

    def lower(self, builder: Any, inputs: Sequence[Any], specs: Specs, static: dict[str, Any]) -> list[Any]:
        axes = static["axes"]
        ((shape, dtype, rows),) = specs
        operand = builder.contiguous(inputs[0].view(lambda a: _move_last(a, axes)), len(axes))
        size = prod(operand.shape[len(shape) :])
        step = operand.dtype.itemsize
        operand = type(operand)(
            operand.buffer, operand.offset, (*shape, size), (*operand.strides[: len(shape)], step), operand.dtype
        )
        output = builder.new(shape, dtype, rows)
        builder.emit(self.spec(operand.dtype), [operand], [output], ncore=(1, 0), core=(size,), name=self.name)
        return [output]


def _move_last(array: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    return np.moveaxis(array, axes, range(-len(axes), 0)) if axes else array


def _axes_last(array: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """Return a copy or view whose last axis holds the reduced elements in C order, contiguous."""
    if len(axes) != 1 or axes[0] != -1:
        array = _move_last(array, axes)
        array = array.reshape(*array.shape[: array.ndim - len(axes)], prod(array.shape[array.ndim - len(axes) :]))
    if array.shape[-1] > 1 and array.strides[-1] != array.itemsize:
        array = np.ascontiguousarray(array)
    return array
