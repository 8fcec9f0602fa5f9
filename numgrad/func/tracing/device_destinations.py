"""Write the results of a captured function to tensors on a device: ``out=``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._errors import ArgTypeError, DeviceError
from ..._tensor import Tensor
from ...engine.record import inplace
from ...functions.indexing.inplace import setitem
from ...ir.device_array import DeviceArray


def require_tensor(leaf: Any, spec: tuple[tuple[int, ...], np.dtype], device: str) -> None:
    """Raise unless a result on a device, of a given shape and dtype, can be written to ``leaf``."""
    if not isinstance(leaf, Tensor):
        raise ArgTypeError(
            f"jit: out must hold tensors for results on {device}, got {type(leaf).__name__}; "
            f"ng.zeros(shape, device={device!r}) makes one"
        )
    if leaf.spec.device != device:
        raise DeviceError(
            f"jit: a tensor of out is on {leaf.spec.device}, and its result on {device}"
        )
    require_fitting(leaf, *spec, "jit")
    leaf.as_array()
    inplace.check_write(leaf, leaf.detached())


def require_fitting(leaf: Any, shape: tuple[int, ...], dtype: np.dtype, what: str) -> None:
    """Raise unless an array or tensor has the shape and the dtype of the result."""
    if leaf.shape != shape or leaf.dtype != dtype:
        raise ValueError(
            f"{what}: out has shape {leaf.shape} and dtype {leaf.dtype}, the result {shape} and "
            f"{dtype}"
        )


def run_into_tensors(stages: Any, arrays: Sequence[Any], outs: Sequence[Any]) -> None:
    """Run the programs of a captured function, and write the results to ``outs``.

    ``outs`` are tensors for the results on a device, and arrays of NumPy for others. A single
    program writes to the memory of the tensors; the results of others are copied there.
    """
    if stages.can_enter:
        (stage,) = stages.stages
        read = [arrays[n] for n in stage.sources]
        kept = stage.plan.bound.program.arrays.values()
        if not any(_must_copy(out, [*read, *kept]) for out in outs):
            for out in outs:
                inplace.preserve_saved_values(out)
            stage.plan.run_into(read, [out.array for out in outs])
            for out in outs:
                out.storage.version += 1
            return
    for out, result in zip(outs, stages(arrays), strict=True):
        if isinstance(out, Tensor):
            setitem(out, ..., Tensor(result))
        else:
            out[...] = result


def _must_copy(out: Tensor, others: Sequence[Any]) -> bool:
    """Whether a result cannot be computed in the memory of a tensor, but has to be copied there.

    Copying is needed if the tensor is not contiguous, if the graph records the write, or if the
    tensor may share memory with an operand. Memory of another library may be any.
    """
    array: Any = out.array
    if not array.c_contiguous or inplace.is_recorded(out):
        return True
    for other in others:
        if type(other) is not DeviceArray:
            continue
        if other.memory.owner is not None:
            return True
        if other.memory is array.memory and np.may_share_memory(stand_in(array), stand_in(other)):
            return True
    return array.memory.owner is not None


def stand_in(array: DeviceArray) -> np.ndarray:
    """Return an array of the host that lies as an array of a device does, at an address of its own.

    Nothing is there: the array is for comparing where elements lie. Arrays in one block of memory
    have addresses as far apart as the arrays are.
    """
    return np.asarray(_Lying(array))


class _Lying:
    """An array of a device as NumPy's array interface describes one."""

    def __init__(self, array: DeviceArray) -> None:
        self.__array_interface__ = {
            "data": (_FIRST + array.offset, True), "shape": array.shape,
            "strides": array.strides, "typestr": array.dtype.str, "version": 3,
        }  # fmt: skip


_FIRST = 1 << 40
"""An address that no array of a device lies before, whatever its strides."""
