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
from ..graph.value import CPU, Spec, Value, device_of, spec_of
from ..lower.executable import Executable
from .apply import runtime
from .parallel_launch import single_program

_OFTEN = 2  # runs, after which a program is launched without Python where it can be
_programs: dict[Hashable, "Application"] = Bounded(4096)


class Application:
    """The program of an operator for arrays of certain layouts.

    Attributes
    ----------
    program : Executable
        Never fused.
    make : callable or None
        Takes the arrays that the program reads, and returns the array of the only result, or None
        where the program has to be run from Python.
    """

    __slots__ = ("_runs", "make", "program")

    def __init__(self, program: Executable) -> None:
        self.program = program
        self.make: Any = None
        self._runs = 0

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the results of the operator in new arrays."""
        return self.program(arrays)

    def first(self, arrays: Sequence[Any]) -> Any:
        """Return the first result of the operator in a new array."""
        if self.make is not None:
            result = self.make(*[arrays[n] for n in self.program.bound.arguments])
            if result is not None:
                return result
        self._runs += 1
        if self._runs == _OFTEN:
            self.make = self.program.maker()
        return self.program(arrays)[0]


def apply(operator: Any, arrays: Sequence[Any], static: dict[str, Any]) -> list[Any]:
    """Return the results of an operator on arrays, at least one of which is on a device."""
    if operator.is_view:
        try:
            return [arrays[0].seen(partial(operator.function, **static))]
        except ValueError:  # the elements have to be copied first
            pass
    return program_of(operator, arrays, static)(arrays)


def program_of(operator: Any, arrays: Sequence[Any], static: dict[str, Any]) -> Application:
    """Return the program that applies an operator to arrays with the specs and strides of these
    arrays."""
    places = {id(array): n for n, array in enumerate(arrays)}
    kinds = [(places[id(a)], a.shape, a.strides, a.dtype, a.device) for a in arrays]
    frozen_static = frozen(static)
    key = (operator, frozen_static, tuple(kinds), settings.version)
    program = None if frozen_static is None else _programs.get(key)
    if program is None:
        (device,) = {array.device for array in arrays if type(array) is DeviceArray}
        program = Application(single_program(operator, arrays, static, places, device))
        if frozen_static is not None:
            _programs[key] = program
    return program


def maker_in_order(operator: Any, static: dict[str, Any], specs: Sequence[Spec]) -> Any:
    """Return a function that applies an operator to arrays of these specs without Python.

    The function takes arrays in C order, and an array without axes for a number of the processor,
    and returns the array of the result; or None, where the operator has to be applied otherwise.
    None stands for no such function.
    """
    target = runtime.targets[device_of(specs)]
    if operator.is_view or frozen(static) is None:
        return None
    if any([spec.device == CPU and spec.shape for spec in specs]):  # noqa: C419  as positions are
        return None
    shapes = [() if spec.device == CPU else spec.shape for spec in specs]
    arrays = [
        DeviceArray(target, None, 0, shape, spec.dtype)
        for shape, spec in zip(shapes, specs, strict=True)
    ]
    program = program_of(operator, arrays, static).program
    return program.maker() if program.bound.arguments == list(range(len(arrays))) else None


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
