# pyright: basic, reportMissingImports=false
"""Memory of a GPU shared with other libraries, by DLPack and by the CUDA array interface."""

from typing import Any

import numpy as np

from ..._errors import DeviceError
from ...ir.device_array import DeviceArray
from ...targets.cuda.device.driver import Block, Driver
from ...targets.cuda.device.memory import Memory

_DEFAULTS = (None, 1)  # as DLPack has the legacy default stream
_NO_WAIT = -1


def exported(array: DeviceArray, stream: Any, max_version: tuple[int, int] | None) -> Any:
    """Return a DLPack capsule of an array whose strides are not negative, for a stream to read."""
    view = _view_of(array)
    _hand_over(array, stream)
    return view.__dlpack__(stream=_NO_WAIT, max_version=max_version)


def _view_of(array: DeviceArray) -> Any:
    """Return the array as one of cuda.core, which keeps the memory alive."""
    _require_gpu(array)
    from cuda.core import Buffer
    from cuda.core.utils import StridedMemoryView

    low, high = array.bounds()
    block = array.memory.used_by(array.target.runtime.current())
    buffer = Buffer.from_handle(block.address + low, max(high - low, 1), owner=array.memory)
    strides = tuple(stride // array.dtype.itemsize for stride in array.strides)
    return StridedMemoryView.from_buffer(
        buffer, array.shape, strides, dtype=array.dtype, is_readonly=True
    )


def _hand_over(array: DeviceArray, stream: int | None) -> None:
    """Let another library's stream, as DLPack numbers it, wait for what the array holds."""
    if stream == _NO_WAIT:
        return
    runtime = array.target.runtime
    if stream in _DEFAULTS:
        consumer = runtime.default
        array.memory.used_by(consumer)  # so that it outlives work of that stream
    else:
        consumer = runtime.external_stream(stream)
    consumer.wait_stream(runtime.current())


def interface_of(array: DeviceArray) -> dict[str, Any]:
    """Return an array's ``__cuda_array_interface__``."""
    _require_gpu(array)
    runtime = array.target.runtime
    block = array.memory.used_by(runtime.current())
    return {
        "shape": array.shape, "typestr": array.dtype.str, "version": 3,
        "strides": None if array.flags.c_contiguous else array.strides,
        "data": (block.address + array.offset if array.size else 0, True),
        "stream": runtime.current().cuda_stream,
    }  # fmt: skip


def shared(obj: Any, target: Any) -> DeviceArray:
    """Return another library's array as one of a GPU, with its memory, which is only read; the
    current stream waits for what is written there."""
    runtime = target.runtime
    if not isinstance(runtime.driver, Driver):
        raise DeviceError(f"the simulator cannot read memory of a GPU, got {type(obj).__name__}")
    from cuda.core.utils import StridedMemoryView

    stream = runtime.current()
    make = StridedMemoryView.from_cuda_array_interface
    if hasattr(obj, "__dlpack__"):
        make = StridedMemoryView.from_dlpack
    view = make(obj, stream_ptr=stream.cuda_stream)
    dtype, shape = np.dtype(view.dtype), tuple(view.shape)
    strides = None
    if view.strides is not None:
        strides = tuple(stride * dtype.itemsize for stride in view.strides)
    memory = Memory(runtime, Block(view.ptr, view), view.size * dtype.itemsize, stream, owner=view)
    return DeviceArray(target, memory, 0, shape, dtype, strides, writeable=False)


def _require_gpu(array: DeviceArray) -> None:
    if not isinstance(array.target.runtime.driver, Driver):
        raise DeviceError(
            "other libraries cannot read the memory of the simulator: x.cpu() copies it to the host"
        )
