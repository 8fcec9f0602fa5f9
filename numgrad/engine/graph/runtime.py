"""What the engine is given at import: targets, the class of values, and operators with a role."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..._errors import DeviceError
from ...ir.device_array import DeviceArray
from .value import CPU, Expr, Value, device_of, is_movable


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Roles:
    """The operators that the engine applies on its own.

    Attributes
    ----------
    add, subtract, negative, maximum, minimum : callable
        Arithmetic of single elements: of cotangents that meet, and in programs.
    copy, cast, astype : callable
        Make the same numbers again. ``cast`` is the derivative's conversion to a dtype, ``astype``
        that of users.
    copy_spec : callable
        Returns the kernel spec of a copy, for a dtype.
    sum_to, broadcast_to, expand_dims, reshape : callable
        Change a shape.
    index, element, gather : callable
        Read a part: with slices and integers, a single element, or with positions.
    put_view, put_at : callable
        Return an array in which a part is replaced: a view, or elements at positions.
    split_rows, join_rows : callable
        Take the rows of a batched pass apart, and put them together.
    """

    add: Callable[..., Any]
    subtract: Callable[..., Any]
    negative: Callable[..., Any]
    maximum: Callable[..., Any]
    minimum: Callable[..., Any]
    copy: Callable[..., Any]
    cast: Callable[..., Any]
    astype: Callable[..., Any]
    copy_spec: Callable[..., Any]
    sum_to: Callable[..., Any]
    broadcast_to: Callable[..., Any]
    expand_dims: Callable[..., Any]
    reshape: Callable[..., Any]
    index: Callable[..., Any]
    element: Callable[..., Any]
    gather: Callable[..., Any]
    put_view: Callable[..., Any]
    put_at: Callable[..., Any]
    split_rows: Callable[..., Any]
    join_rows: Callable[..., Any]


class Runtime:
    """What the engine is given at import, as it imports no targets and no operators itself.

    Attributes
    ----------
    target : object
        The target of the CPU.
    value : type
        The class of the values that operations make: the tensor that users hold.
    of_sequence : callable
        ``(items, device)`` makes a value of a list of numbers, arrays and values, in their graph.
    roles : Roles
        The operators that the engine applies on its own.
    targets : dict
        The targets of other devices, by the name of the device.
    apply_on_device, program_on_device : callable
        Take an operator, arrays of a device and static parameters. The first one applies the
        operator, the second one returns the program that does so.
    maker_in_order : callable
        Takes an operator, static parameters and specs, and returns a function that applies the
        operator to arrays in C order without Python, or None.
    folded : callable
        Takes the outputs of a captured function, and the creation number from before its call;
        returns the outputs with loop operators for operations that repeat.
    """

    target: Any = None
    value: type[Value] = Value
    of_sequence: Callable[..., Any]
    roles: Roles
    targets: dict[str, Any]
    apply_on_device: Callable[..., list[Any]]
    program_on_device: Callable[..., Any]
    maker_in_order: Callable[..., Any]
    folded: Callable[..., Any]

    def __init__(self) -> None:
        self.targets = {}

    def target_of(self, specs: Iterable[Any]) -> Any:
        """Return the target that computes values with these specs."""
        device = device_of(specs)
        return self.target if device == CPU else self.targets[device]

    def placed(self, array: Any, device: str) -> Any:
        """Return a copy of an array of the host on a device; the array itself if the device is the
        CPU."""
        return array if device == CPU else self.targets[device].to_device(array)

    def on_device(self, array: Any, device: str) -> Any:
        """Return an array on a device: the array itself if it is there already, else a copy."""
        if array.device == device:
            return array
        if array.device != CPU:
            array = self.targets[array.device].to_host(array)
        return self.placed(array, device)

    def run(self, operator: Any, arrays: Sequence[Any], static: dict[str, Any]) -> list[Any]:
        """Apply an operator to arrays immediately, without a node, on the device of the arrays."""
        for array in arrays:
            if type(array) is DeviceArray:
                return self.apply_on_device(operator, arrays, static)
        return operator.run(self.target, arrays, static)


runtime = Runtime()


def deferred_value(gradient: Any) -> Any:
    """Wrap a gradient that is an expression in a value; return any other gradient unchanged."""
    if type(gradient) is not Expr:
        return gradient
    return runtime.value.deferred(gradient, 0, gradient.specs[0])


def require_one_device(operator: Any, inputs: Sequence[Value]) -> None:
    """Raise an error if operands are on different devices, not counting operands that may be moved;
    see `is_movable`."""
    device = device_of([value.spec for value in inputs])
    for value in inputs:
        here = value.spec.device
        if here != device and not is_movable(value):
            raise two_devices_error(operator.name, device, here)


def two_devices_error(name: str, device: str, here: str) -> DeviceError:
    """Return the error for operands of the operator ``name`` on two devices."""
    return DeviceError(
        f"{name}: operands are on {device} and on {here}; move one of them, with "
        f"x.to({device!r}) or x.cpu()"
    )
