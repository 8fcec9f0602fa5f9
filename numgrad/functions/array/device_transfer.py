"""Tensors moved from one device to another, and gradients back."""

from collections.abc import Sequence
from typing import Any

from ..._declare import Operator, registry
from ..._devices import name_of
from ..._tensor import Tensor
from ...engine.capture.capture import refuse_reading
from ...engine.graph.value import CPU, Expr, Value, spec_of
from ...engine.record.apply import changing, mode, record, runtime, snapshot
from ...ir.streams import Stream


def placed_on(x: Tensor, device: Any) -> Tensor:
    """Return a tensor on a device: itself, or a copy, through which gradients flow back."""
    name = name_of(device)
    if x.spec.device == name:
        return x
    if x._view is not None:
        x._view.refresh(x)
    moved: Any = _moved(x, name)
    if mode.grad and x.requires_grad:
        record(_transfer, {}, (x,), [moved])
    return moved


def placed_by(x: Tensor, device: Any, stream: Any) -> Tensor:
    """Return a tensor on a device, copied by a stream of a GPU, numgrad's or another library's.

    Raises
    ------
    ValueError
        If the copy has nothing to do with a GPU.
    """
    name = name_of(device)
    gpu = x.spec.device if name == CPU else name
    if gpu == CPU:
        raise ValueError(f"stream must be None where nothing is on a GPU, got {stream!r}")
    if not isinstance(stream, Stream):
        stream = runtime.targets[gpu].runtime.external_stream(stream)
    with changing(stream=stream):
        return placed_on(x, name)


def on_device(x: Tensor, device: Any) -> Tensor:
    """Return a tensor on a device, where one is wanted."""
    return x if device is None else placed_on(x, device)


def _moved(x: Value, device: str) -> Value:
    """Return a value with the elements of another one on a device, in no graph.

    A captured function computes all on one device, and delivers its results where they are said to
    be: there it is a copy, but for constants that it has made itself.
    """
    spec = spec_of(x.shape, x.dtype, x.rows, device)
    if mode.capture is not None and (x.array is None or not mode.capture.made(x)):
        mode.capture.note_operands((x,))
        copy = Expr(registry["copy"], {}, (snapshot(x),), (spec,))
        return runtime.value.deferred(copy, 0, spec)
    if x.array is None:
        refuse_reading(x)
    moved = runtime.value(runtime.on_device(x.array, device))
    moved.spec = spec
    return moved


class _Transfer(Operator):
    """The operator of a copy between devices: its gradient is moved back."""

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        (g,) = cotangents
        backward_pass.force([g])
        moved = _moved(g, context.input_specs[0].device)
        if mode.grad and g.requires_grad:
            record(self, {}, (g,), [moved])
        return [moved]


_transfer = _Transfer("to_device", register=False)
