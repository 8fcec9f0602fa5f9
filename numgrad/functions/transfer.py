"""Tensors moved from one device to another, and gradients back."""

from collections.abc import Sequence
from typing import Any

from .._declare import Operator
from .._devices import name_of
from .._errors import CaptureError
from .._tensor import Tensor
from ..engine.elsewhere import on_host
from ..engine.graph import Value
from ..engine.record import mode, record, runtime
from ..engine.values import spec_of


def placed_on(x: Tensor, device: Any) -> Tensor:
    """Return a tensor on a device: itself, or a copy, through which gradients flow back."""
    name = name_of(device)
    if x.spec.device == name:
        return x
    if x.array is None:
        raise CaptureError(
            "a tensor cannot be moved to another device in a function that ng.jit captures, which "
            "runs on one device: move its arguments before, and its results behind"
        )
    if x._view is not None:
        x._view.refresh(x)
    moved: Any = _moved(x, name)
    if mode.grad and x.requires_grad:
        record(_transfer, {}, (x,), [moved])
    return moved


def on_device(x: Tensor, device: Any) -> Tensor:
    """Return a tensor on a device, where one is wanted."""
    return x if device is None else placed_on(x, device)


def _moved(x: Value, device: str) -> Value:
    """Return a value with the elements of another one on a device, in no graph."""
    array: Any = on_host(x.array)
    moved = runtime.value(runtime.placed(array.copy() if array is x.array else array, device))
    moved.spec = spec_of(x.shape, x.dtype, x.rows, device)
    return moved


class _Transfer(Operator):
    """The operator of a copy between devices: its gradient is moved back."""

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        (g,) = cotangents
        backward_pass.force([g])
        if g.array is None:
            raise CaptureError("a function that ng.jit captures runs on one device")
        moved = _moved(g, context.input_specs[0].device)
        if mode.grad and g.requires_grad:
            record(self, {}, (g,), [moved])
        return [moved]


_transfer = _Transfer("to_device", register=False)
