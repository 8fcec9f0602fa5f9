"""Exchange of memory with other libraries through DLPack."""

from typing import Any

import numpy as np

from ..._devices import name_of
from ..._tensor import Tensor, constant
from ...engine.capture import escapes
from ...engine.graph.lease import leased
from ...engine.graph.value import CPU, ForeignStorage
from ...engine.record.apply import runtime
from ...engine.record.guards import guarded
from ..array.device_transfer import on_device


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Return a tensor of an object with ``__dlpack__``, such as an array of another library.

    Parameters
    ----------
    x : object
        Any object with ``__dlpack__`` and ``__dlpack_device__``, on the processor or a GPU; or on a
        GPU with ``__cuda_array_interface__``, as arrays of Numba.
    device : str, optional
        Where the tensor shall live, by default where ``x`` is.
    copy : bool, optional
        By default memory is shared where possible. Derivatives keep copies of what they need from
        shared memory, so its owner may write to it.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.from_dlpack(np.array([1.0, 2.0]))
    tensor([1., 2.])
    """
    if is_on_gpu(x):
        found = of_gpu(x)
        return on_device(found.clone() if copy else found, device)
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack needs an object with __dlpack__, got {type(x).__name__}")
    if copy:
        guarded(x)
    array = np.from_dlpack(x, copy=copy)
    return on_device(constant(array if copy else leased(array, is_shared=True)), device)


def is_on_gpu(obj: Any) -> bool:
    """Whether another library's array is in the memory of a GPU."""
    if type(obj) in _ON_HOST:
        return False
    if hasattr(obj, "__dlpack_device__"):
        return obj.__dlpack_device__()[0] in _CUDA
    return hasattr(obj, "__cuda_array_interface__")


_ON_HOST = frozenset({np.ndarray, bool, int, float, complex, list, tuple})


def of_gpu(obj: Any) -> Tensor:
    """Return a tensor with the memory of another library's array on a GPU."""
    index = obj.__dlpack_device__()[1] if hasattr(obj, "__dlpack_device__") else 0
    target = runtime.targets[name_of(f"cuda:{index}")]
    from .device_memory import shared  # which asks for cuda.core

    array: Any = shared(obj, target)
    return Tensor(array, False, ForeignStorage())


_CUDA = (2, 13)
"""DLPack's numbers of memory of a GPU, and of memory that a GPU and the processor share."""


def _of_device(
    tensor: Tensor, stream: Any, max_version: tuple[int, int] | None, dl_device: Any,
    copy: bool | None,
) -> Any:  # fmt: skip
    from .device_memory import exported

    if dl_device is not None and tuple(dl_device) != tensor.__dlpack_device__():
        raise BufferError(
            f"a tensor on {tensor.device} is not exported to another device {dl_device}: move it "
            f"there before, with x.cpu() or x.to(device)"
        )
    knows_no_mark = max_version is None or max_version[0] < 1
    array: Any = tensor._computed()
    if copy or (knows_no_mark and copy is not False) or min(array.strides, default=0) < 0:
        array = array.copy()
    return exported(array, stream, max_version)


def cuda_interface(tensor: Tensor) -> dict[str, Any]:
    """Return the ``__cuda_array_interface__`` of a tensor.

    Raises
    ------
    AttributeError
        If the tensor is on the processor.
    """
    if tensor.spec.device == CPU:
        raise AttributeError("a tensor on the processor has no __cuda_array_interface__")
    if tensor.requires_grad:
        raise escapes.graph_cut_error("exporting a tensor that requires grad", escapes.VALUES)
    from .device_memory import interface_of

    array: Any = tensor._computed()
    return interface_of(array)


def to_dlpack(
    tensor: Tensor,
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: Any,
    copy: bool | None,
) -> Any:
    """Return a DLPack capsule: read-only memory, or a copy for those who know no such mark.

    ``copy=False`` shares the memory with them all the same; writes to it are not recorded.
    """
    if tensor.requires_grad:
        raise escapes.graph_cut_error("exporting a tensor that requires grad", escapes.VALUES)
    if tensor.spec.device != CPU:
        return _of_device(tensor, stream, max_version, dl_device, copy)
    array = tensor.numpy()
    if max_version is None or max_version[0] < 1:
        shared = tensor._computed() if copy is False else array.copy()
        return shared.__dlpack__(stream=stream, dl_device=dl_device)
    return array.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
