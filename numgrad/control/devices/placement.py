"""The device of a loop: that of the tensors that the loop is given, or closes over."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..._errors import DeviceError
from ..._tensor import Tensor
from ...engine.graph.runtime import two_devices_error
from ...engine.graph.value import CPU, is_movable
from ...engine.record.apply import mode
from ...functions.array.device_transfer import placed_on


def device_among(leaves: Iterable[tuple[Any, Callable[[], str]]]) -> str | None:
    """Return the device on which a loop computes with leaves; None where each of them may be moved.

    With each leaf comes a function that returns the name of its place, for errors. Numbers, arrays
    of NumPy, and tensors of integers and booleans are moved to the device of the other leaves.

    Raises
    ------
    DeviceError
        If floating tensors are on several devices.
    """
    found: tuple[str, Callable[[], str]] | None = None
    for leaf, name in leaves:
        if not isinstance(leaf, Tensor):
            continue
        device = leaf.spec.device
        if device == CPU and is_movable(leaf):
            continue
        if found is not None and found[0] != device:
            raise DeviceError(
                f"{found[1]()} ({found[0]}) and {name()} ({device}) are on two devices; move one "
                f"of them, with x.to({device if device != CPU else found[0]!r}) or x.cpu()"
            )
        found = found or (device, name)
    return None if found is None else found[0]


def brought(values: Sequence[Any], device: str, name: str) -> list[Any]:
    """Return values on a device; floating tensors that are elsewhere are refused."""
    return [_brought(value, device, name) for value in values]


def _brought(value: Any, device: str, name: str) -> Any:
    here = value.spec.device
    if here == device:
        return value
    if here != CPU or not is_movable(value):
        raise two_devices_error(name, *((here, CPU) if device == CPU else (device, here)))
    return placed_on(value, device)


def returned(values: Sequence[Any], device: str, name: str) -> list[Any]:
    """Return the results of a step on the device of its loop; floating tensors that are elsewhere
    are refused."""
    for value in values:
        here = value.spec.device
        if here != device and (here != CPU or not is_movable(value)):
            raise DeviceError(
                f"{name}: the function returns a tensor on {here}, and the loop computes on "
                f"{device}; move what the loop returns instead, or what its function reads"
            )
    return [placed_on(value, device) for value in values]


def devices_met(
    function: Callable[..., Any], devices: set[str]
) -> Callable[..., Any]:
    """Return a function that adds to ``devices`` the devices of tensors from outside, where a call
    fails because these tensors are on another device than the arguments."""

    def noting(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except DeviceError:
            outside = getattr(mode.capture, "outside", {})
            devices.update(value.spec.device for value in outside.values())
            devices.discard(CPU)
            raise

    return noting


__all__ = ["brought", "device_among", "devices_met", "returned"]
