"""Exchange of memory with other libraries through DLPack."""

from typing import Any

import numpy as np

from .._tensor import Tensor, constant
from ..engine import leaving
from ..engine.seen import seen
from .transfer import on_device


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Return a tensor of an object with ``__dlpack__``, such as an array of another library.

    Parameters
    ----------
    x : object
        Any object with ``__dlpack__`` and ``__dlpack_device__`` on the processor.
    device : str, optional
        Where the tensor shall live.
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
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack needs an object with __dlpack__, got {type(x).__name__}")
    if copy:
        seen(x)
    return on_device(constant(np.from_dlpack(x, copy=copy)), device)


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
        raise leaving.detached("exporting a tensor that requires grad", leaving.VALUES)
    array = tensor.numpy()
    if max_version is None or max_version[0] < 1:
        shared = tensor._computed() if copy is False else array.copy()
        return shared.__dlpack__(stream=stream, dl_device=dl_device)
    return array.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
