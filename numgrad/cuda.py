"""GPUs: whether there are any and why not, their streams, and their memory.

The names are those of ``torch.cuda``.
"""

from typing import Any

import numpy as np

from . import _devices
from .engine.record.apply import changing, mode
from .ir.streams import Event, Stream, devices
from .process.interruptible import Block
from .targets import cuda as _cuda


def is_available() -> bool:
    """Return whether tensors can be made on ``device="cuda"``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.cuda.is_available() == (ng.cuda.device_count() > 0)
    True
    """
    return _cuda.unavailable() is None


def unavailable_reason() -> str | None:
    """Return why there is no device, in one line; None if there is one.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.cuda.is_available() or "\\n" not in ng.cuda.unavailable_reason()
    True
    """
    return _cuda.unavailable()


def device_count() -> int:
    """Return how many devices there are; Numba's simulator has one.

    Examples
    --------
    >>> import numgrad as ng
    >>> len(ng.__array_namespace_info__().devices()) == 1 + ng.cuda.device_count()
    True
    """
    return _cuda.count()


def stream(stream: Stream | None) -> Block:
    """Give the work of a device to a stream inside of a ``with`` block, in this thread.

    Parameters
    ----------
    stream : Stream or None
        With None the block changes nothing.

    Notes
    -----
    As in PyTorch the derivative of an operation is computed on the stream of the operation, and a
    backward pass as a whole is like one operation of the stream that is current when it is called:
    where its results are used on another stream, that has to wait for this one.

    A function that `numgrad.jit` has captured runs on the stream that is current at the call,
    but for what is inside of such a block in the function.

    Examples
    --------
    >>> import numgrad as ng
    >>> if ng.cuda.is_available():
    ...     side = ng.cuda.Stream()
    ...     with ng.cuda.stream(side):
    ...         y = ng.ones(3, device="cuda") * 2
    ...     ng.cuda.current_stream().wait_stream(side)  # before y is used there
    """
    return changing(stream=mode.stream if stream is None else _own(stream))


def current_stream(device: Any = None) -> Stream:
    """Return the stream to which this thread gives the work of a device, by default ``"cuda"``.

    Examples
    --------
    >>> import numgrad as ng
    >>> if ng.cuda.is_available():
    ...     assert ng.cuda.current_stream() is ng.cuda.default_stream()
    """
    return _runtime(device).current()


def default_stream(device: Any = None) -> Stream:
    """Return the stream of a device that is current where nobody has chosen another one.

    Examples
    --------
    >>> import numgrad as ng
    >>> if ng.cuda.is_available():
    ...     ng.cuda.default_stream().synchronize()
    """
    return _runtime(device).default


def external_stream(obj: Any, device: Any = None) -> Stream:
    """Return another library's stream as one of numgrad's.

    Parameters
    ----------
    obj : object or int
        What speaks the ``__cuda_stream__`` protocol, as streams of CuPy, Numba and cuda.core do, or
        has a ``cuda_stream`` as PyTorch's; or the address of a ``CUstream``. It has to live as long
        as it is used.
    device : str, optional
        Its device, by default ``"cuda"``.

    Examples
    --------
    >>> import numgrad as ng
    >>> if ng.cuda.is_available():
    ...     stream = ng.cuda.external_stream(ng.cuda.Stream())
    """
    return _own(obj, device)


def _own(obj: Any, device: Any = None) -> Stream:
    if isinstance(obj, Stream):
        return obj
    return _runtime(device).external_stream(obj)


def empty_pinned(shape: Any, dtype: Any = float) -> np.ndarray:
    """Return an undefined NumPy array in page-locked memory of the host, which a GPU reads and
    writes without a copy in between.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype, optional

    Returns
    -------
    ndarray
        In C order; its memory is given back with it.

    Examples
    --------
    >>> import numgrad as ng
    >>> if ng.cuda.is_available() and not ng.cuda.is_simulated():
    ...     array = ng.cuda.empty_pinned((1000, 3))
    ...     array[...] = 1.0
    ...     x = ng.asarray(array, device="cuda")
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return _runtime(None).driver.empty_pinned(shape, np.dtype(dtype))


def is_simulated() -> bool:
    """Return whether what there is of GPUs is Numba's simulator.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.cuda.is_available() or not ng.cuda.is_simulated()
    True
    """
    return _cuda.is_simulated()


def synchronize(device: Any = None) -> None:
    """Wait on the host until all work of a device is done, on all of its streams.

    Examples
    --------
    >>> import numgrad as ng
    >>> if ng.cuda.is_available():
    ...     ng.cuda.synchronize()
    """
    _runtime(device).driver.synchronize_device()


def memory_allocated(device: Any = None) -> int:
    """Return the bytes of a device that tensors, and programs under way, have.

    Examples
    --------
    >>> import numgrad as ng
    >>> if ng.cuda.is_available():
    ...     before = ng.cuda.memory_allocated()
    ...     x = ng.zeros(1000, device="cuda")
    ...     assert ng.cuda.memory_allocated() - before == 8000
    """
    return _runtime(device).usage.now


def max_memory_allocated(device: Any = None) -> int:
    """Return the most that `memory_allocated` was since the beginning, or since
    `reset_peak_memory_stats`.

    Examples
    --------
    >>> import numgrad as ng
    >>> if ng.cuda.is_available():
    ...     assert ng.cuda.max_memory_allocated() >= ng.cuda.memory_allocated()
    """
    return _runtime(device).usage.peak


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let `max_memory_allocated` begin anew.

    Examples
    --------
    >>> import numgrad as ng
    >>> if ng.cuda.is_available():
    ...     ng.cuda.reset_peak_memory_stats()
    """
    _runtime(device).usage.forget_peak()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return the free and the total memory of a device in bytes, as its driver says.

    Examples
    --------
    >>> import numgrad as ng
    >>> if ng.cuda.is_available():
    ...     free, total = ng.cuda.mem_get_info()
    ...     assert 0 < free <= total
    """
    return _runtime(device).driver.memory_info()


def _runtime(device: Any) -> Any:
    return _devices.runtime_of("cuda" if device is None else device)


def _current() -> Stream:
    """Return the stream that is current, of the device on which it is."""
    return mode.stream or _runtime(None).default


devices.runtime_of = _devices.runtime_of
devices.current_stream = _current

__all__ = [
    "Event", "Stream", "current_stream", "default_stream", "device_count", "empty_pinned",
    "external_stream", "is_available", "is_simulated", "max_memory_allocated", "mem_get_info",
    "memory_allocated", "reset_peak_memory_stats", "stream", "synchronize", "unavailable_reason",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
