"""Operands of operators: values made of numbers, arrays and lists, on one device and with axes."""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy import asarray

from ..engine.capture import capture
from ..engine.graph.value import CapturedStorage, ForeignStorage, Value
from ..engine.record.apply import mode, other_modes, runtime
from ..ir.broadcasting import zeros_in
from ..ir.dtypes import NUMBERS
from .dtypes import numbers, require_plain


class Selection:
    """Elements selected by a mask that is known later, as an operand of elementwise operators and
    of reductions."""

    def applied(self, operator: Any, args: Sequence[Any]) -> Any:
        """Return the result of an elementwise operator for arguments among which is the selection.
        """
        raise NotImplementedError

    def reduced(self, function: Any, axis: Any, keepdims: Any, **options: Any) -> Any:
        """Return the result of a reduction of the elements, by a function that takes ``axis``,
        ``keepdims`` and ``where``."""
        raise NotImplementedError

    def product(self, other: Any) -> Any:
        """Return the sum of the products with what an equal mask selects."""
        raise NotImplementedError

    def refuse(self, *args: Any, **options: Any) -> NoReturn:
        """Raise for what would need the number of selected elements."""
        raise NotImplementedError


def constant(data: Any, device: str | None = None) -> Any:
    """Return a tensor for an operand that is no tensor, in the graph of those in a sequence. Memory
    is used without a copy, unless others are on a device: a captured call takes it there."""
    if isinstance(data, (list, tuple)):
        return runtime.of_sequence(data, None if mode.capture is not None else device)
    array = asarray(data)
    if type(data) is not np.ndarray:
        require_plain(data)
    own = numbers(array, data)
    if own is not array and mode.capture is not None:
        capture.refuse(
            f"an array of {array.dtype.str} has another byte order than the machine, and is to be "
            f"read at each call. Convert it outside: array.astype(array.dtype.newbyteorder('='))."
        )
    if device is not None and mode.capture is None:
        return placed(own, device)
    is_new = own is not array or isinstance(data, NUMBERS)  # else somebody may have the memory
    return runtime.value(own, False, None if is_new else ForeignStorage())


def zeros(shape: Sequence[int], dtype: np.dtype) -> Any:
    """Return a tensor of zeros, which programs keep."""
    return constant(zeros_in(shape, dtype))


def placed(array: np.ndarray, device: str) -> Any:
    """Return a tensor of new elements of the host on a device."""
    return runtime.value(runtime.placed(array, device))


def align(value: Value, ndim: int) -> Value:
    """Prepend axes of size 1 until ``value`` has ``ndim`` axes."""
    is_noted = other_modes and mode.trace is not None  # the view is an operation then
    if value.array is not None and not value.requires_grad and not value.rows and not is_noted:
        if mode.capture is not None:
            mode.capture.note_operands((value,))
        shape = (1,) * (ndim - len(value.shape)) + value.shape
        array, storage = value.array, value.storage
        if type(storage) is CapturedStorage and array.size == 1 and type(array) is np.ndarray:
            own = np.empty(shape, array.dtype)  # memory of its own, which a program may keep
            own[...] = array
            return runtime.value(own, False, storage)
        return runtime.value(array.reshape(shape), False, storage)
    return runtime.roles.expand_dims(value, axes=tuple(range(-ndim, -len(value.shape))))


def as_values(args: Sequence[Any]) -> list[Any]:
    """Return arguments as values; others become constants on the device of the given values."""
    device = device_among(args)
    return [a if isinstance(a, runtime.value) else constant(a, device) for a in args]


def device_among(args: Sequence[Any]) -> str | None:
    """Return the device of the first value among arguments that is not on the CPU."""
    for arg in args:
        if isinstance(arg, runtime.value) and arg.spec.device != "cpu":
            return arg.spec.device
    return None


def kind_of(arg: Any) -> Any:
    """Return what counts for promotion: a dtype, or a Python number, whose dtype is weak."""
    if not isinstance(arg, runtime.value):
        return arg
    return arg.dtype if arg.weak is None else arg.weak
