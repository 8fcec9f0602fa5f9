"""Apply operators to arrays of a device: each application runs a program of few instructions.

The program is made once for an operator, its static parameters, and the specs and strides of its
operands.
"""

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
from .parallel_launch import single_program

_programs: dict[Hashable, Executable] = Bounded(4096)


def apply(operator: Any, arrays: Sequence[Any], static: dict[str, Any]) -> list[Any]:
    """Return the results of an operator on arrays, at least one of which is on a device."""
    if operator.is_view:
        try:
            return [arrays[0].seen(partial(operator.function, **static))]
        except ValueError:  # the elements have to be copied first
            pass
    return program_of(operator, arrays, static)(arrays)


def program_of(operator: Any, arrays: Sequence[Any], static: dict[str, Any]) -> Executable:
    """Return the program that applies an operator to arrays with the specs and strides of these
    arrays."""
    places = {id(array): n for n, array in enumerate(arrays)}
    kinds = [(places[id(a)], a.shape, a.strides, a.dtype, a.device) for a in arrays]
    frozen_static = frozen(static)
    key = (operator, frozen_static, tuple(kinds), settings.version)
    program = None if frozen_static is None else _programs.get(key)
    if program is None:
        (device,) = {array.device for array in arrays if type(array) is DeviceArray}
        program = single_program(operator, arrays, static, places, device)
        if frozen_static is not None:
            _programs[key] = program
    return program


def on_host(array: Any) -> np.ndarray:
    """Return an array of the host unchanged, or a copy on the host of an array of a device."""
    return runtime.on_device(array, CPU)


def on_device_of(edge: Edge, value: Value) -> Value:
    """Return a cotangent on the device of its edge.

    A cotangent may be elsewhere, as a rule may return a constant, which is on the CPU.
    """
    device = edge.spec.device
    if value.spec.device == device:
        return value
    moved = value.detached()
    moved.spec = spec_of(value.shape, value.dtype, value.rows, device)
    if value.array is not None:
        moved.array = runtime.placed(value.array, device)
    return moved
