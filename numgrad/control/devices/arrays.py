"""Arrays of a loop, on the host or on a device: new ones, parts of them, and writes."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ...engine.graph.value import CPU
from ...engine.record.apply import changing, runtime
from ...func.tracing.partition import in_order
from ...ir.device_array import DeviceArray
from ...operators.elementwise.cast import write as written


def empty(shape: tuple[int, ...], dtype: np.dtype, device: str) -> Any:
    """Return a new array whose elements are undefined."""
    return np.empty(shape, dtype) if device == CPU else runtime.targets[device].empty(shape, dtype)


def write(place: Any, array: Any) -> None:
    """Write an array to another one of the same dtype."""
    written(runtime.target, array, place)


def element(array: Any, number: int) -> Any:
    """Return the part of an array at an index of its first axis, as a view."""
    if type(array) is not DeviceArray:
        return array[number, ...]
    step, *strides = array.strides
    base, begin = array.base or array, array.offset + number * step
    return DeviceArray(
        array.target, array.memory, begin, array.shape[1:], array.dtype, tuple(strides), base,
        array.writeable,
    )  # fmt: skip


def copied(array: Any) -> Any:
    """Return a copy in C order, on the device of the array."""
    return array.copy() if type(array) is DeviceArray else np.array(array, order="C")


def zeros_like(array: Any) -> Any:
    """Return zeros in C order with the shape and dtype of an array, on its device."""
    if type(array) is not DeviceArray:
        return np.zeros_like(array, order="C")
    made = empty(array.shape, array.dtype, array.device)
    write(made, array.target.constant(np.zeros((), array.dtype)))
    return made


def spread(array: Any, shape: tuple[int, ...]) -> Any:
    """Return a view of an array that is broadcast to a shape."""
    if type(array) is DeviceArray:
        return array.spread(shape)
    return np.broadcast_to(array, shape)


def with_moved_axis(array: Any, source: int, destination: int) -> Any:
    """Return a view of an array with an axis in another place."""
    return _seen(array, lambda a: np.moveaxis(a, source, destination))


def joined(array: Any, lead: int) -> Any:
    """Return an array whose first ``lead`` axes are one, a copy where no view is possible."""
    shape = array.shape[lead:]
    if type(array) is not DeviceArray:
        return array.reshape(int(np.prod(array.shape[:lead])), *shape)
    count = int(np.prod(array.shape[:lead]))
    try:
        return array.reshape(count, *shape)
    except ValueError:
        return array.copy().reshape(count, *shape)


def _seen(array: Any, function: Callable[[np.ndarray], np.ndarray]) -> Any:
    return array.seen(function) if type(array) is DeviceArray else function(array)


def is_on_device(array: Any) -> bool:
    """Whether an array is in the memory of a device."""
    return type(array) is DeviceArray


def computing_on(stream: Any, inputs: Sequence[Any]) -> Any:
    """Return a context in which work on arrays of a device belongs to a stream of it."""
    (device,) = {array.device for array in inputs}
    is_current = runtime.targets[device].runtime.current() is stream
    return nullcontext() if is_current else changing(stream=stream)


__all__ = [
    "computing_on", "copied", "element", "empty", "in_order", "is_on_device", "joined", "spread",
    "with_moved_axis", "write", "zeros_like",
]  # fmt: skip
