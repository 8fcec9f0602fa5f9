"""Check that a captured function computes on one device."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..._errors import DeviceError
from ..._tensor import Tensor
from ...engine.graph.runtime import two_devices_error
from ...engine.graph.value import CPU, Expr, Spec, Storage, device_of, is_movable_spec
from ...engine.lower.placeholder import ARGUMENT


def require_one_device(name: str, leaves: Iterable[Any]) -> None:
    """Raise for arguments on several devices, except numbers and indices, which are moved
    implicitly."""
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    devices = {x.spec.device for x in tensors if not is_movable_spec(x.spec)}
    if len(devices) > 1:
        raise DeviceError(
            f"{name}: the arguments are on {' and on '.join(sorted(devices))}; move them to one, "
            f"with x.cuda() or x.cpu()"
        )


def device_for(
    exprs: Sequence[Expr], specs: Iterable[Spec], storages: Mapping[int, Storage]
) -> str:
    """Return the device on which expressions are computed: the CPU if ``specs`` have no other.

    ``storages`` has the storages of values from outside, by the ids of the arrays.

    Raises
    ------
    DeviceError
        If ``specs`` have two devices beside the CPU, or if an expression reads tensors of two
        devices. A value on the CPU that stems from an array is moved to the device implicitly; a
        value that stems from a tensor must stay on the CPU. The expressions tell after the capture
        from what each value stems.
    """
    devices = {spec.device for spec in specs} - {CPU}
    if len(devices) > 1:
        raise DeviceError(
            f"a function that ng.jit captures runs on one device, and computes with tensors on "
            f"{' and on '.join(sorted(devices))}; capture a function for each of them"
        )
    if not devices:
        return CPU
    tied: set[Any] = {n for n, storage in storages.items() if type(storage) is Storage}
    for expr in exprs:
        away = device_of([value.spec for value in expr.inputs])
        is_tied = any([_is_tied(value, tied) for value in expr.inputs])  # noqa: C419
        if away != CPU and is_tied:
            where = "" if expr.site is None else f" at {expr.site}"
            raise two_devices_error(f"{expr.operator.name}{where}", away, CPU)
        if (away != CPU or is_tied) and device_of(expr.specs) == CPU:
            tied.add(expr)
    return devices.pop()


def comes_back(expr: Expr) -> bool:
    """Whether an expression is a copy from a device to the CPU."""
    given = [value.spec for value in expr.inputs]
    return device_of(expr.specs) == CPU != device_of(given)


def _is_tied(value: Any, tied: set[Any]) -> bool:
    """Whether a value is on the CPU and must stay there.

    ``tied`` has the expressions, and the ids of arrays from outside, whose values must stay.
    """
    if value.spec.device != CPU or is_movable_spec(value.spec):
        return False
    if value.array is not None:
        return id(value.array) in tied
    if value.expr.operator is ARGUMENT:
        return not value.expr.static.get("is_array")
    return value.expr in tied


__all__ = ["comes_back", "device_for", "require_one_device"]
