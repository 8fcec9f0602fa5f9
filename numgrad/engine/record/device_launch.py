"""Operators on arrays of other devices: each application is a program of its own, made once for the
operator, its parameters, and how its operands lie."""

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._settings import settings
from ...ir.device_array import DeviceArray
from ...process.bounded_dict import Bounded
from ..graph.kind import frozen
from ..graph.node import Edge
from ..graph.value import CPU, Value, spec_of
from ..lower.executable import Executable
from .apply import runtime
from .parallel_launch import made_alone

_programs: dict[Hashable, Executable] = Bounded(4096)


def apply(operator: Any, arrays: Sequence[Any], static: dict[str, Any]) -> list[Any]:
    """Return what an operator makes of arrays, one of which at least is on a device."""
    if operator.is_view:
        try:
            return [arrays[0].seen(partial(operator.function, **static))]
        except ValueError:  # the elements have to be copied first
            pass
    return program_of(operator, arrays, static)(arrays)


def program_of(operator: Any, arrays: Sequence[Any], static: dict[str, Any]) -> Executable:
    """Return the program that applies an operator to arrays that lie like these."""
    places = {id(array): n for n, array in enumerate(arrays)}
    kinds = [(places[id(a)], a.shape, a.strides, a.dtype, a.device) for a in arrays]
    frozen_static = frozen(static)
    key = (operator, frozen_static, tuple(kinds), settings.version)
    program = None if frozen_static is None else _programs.get(key)
    if program is None:
        (device,) = {array.device for array in arrays if type(array) is DeviceArray}
        program = made_alone(operator, arrays, static, places, device)
        if frozen_static is not None:
            _programs[key] = program
    return program


def on_host(array: Any) -> np.ndarray:
    """Return an array itself, or a copy of what a device has."""
    return runtime.on_device(array, CPU)


def on_device_of(edge: Edge, value: Value) -> Value:
    """Return a gradient on the device of what it is the gradient of: constants are on the CPU."""
    device = edge.spec.device
    if value.spec.device == device:
        return value
    moved = value.detached()
    moved.spec = spec_of(value.shape, value.dtype, value.rows, device)
    if value.array is not None:
        moved.array = runtime.placed(value.array, device)
    return moved
