"""Saved values keep their elements when their memory is written: copies are made before the write.

Nodes save values by reference. Before memory is overwritten, the saved values in it get copies:

* A value that is saved after an earlier write is a separate object, which the storage notes. The
  next write gives this object a copy of its elements.
* Values that are saved before the first write are not noted one by one, as that would take longer
  than recording the operation. One copy of the whole memory, made once, serves all of them. What a
  node has saved here is the very value that the user writes. The write makes this value the output
  of a later node, and that node depends on the node that has saved the value: a reference cycle,
  which `detach_saved_values` breaks.

So a loop that fills an array part by part copies the elements that it has read since its last
write, and takes time and memory in proportion. Where gradients are off nothing is copied: the
version of a value tells that it was written, and `Node.unpack` raises an error.
"""

import ctypes
import weakref
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ...ir.device_array import DeviceArray
from .value import Storage, Value, View

_FEW = 16


class HostMemory:
    """A copy of the host memory that begins at the address ``first``."""

    __slots__ = ("content", "first")

    def __init__(self, first: int, content: bytes) -> None:
        self.first, self.content = first, content

    def of(self, array: np.ndarray) -> np.ndarray | None:
        """Return an array like ``array`` with the copied elements; None if ``array`` lies outside
        of the copied memory."""
        low, high = byte_bounds(array)
        if low < self.first or high > self.first + len(self.content):
            return None
        start = array.__array_interface__["data"][0] - self.first
        return np.ndarray(array.shape, array.dtype, self.content, start, array.strides)


class DeviceMemory:
    """A copy, on the device, of a block of device memory from its start to the end of an array."""

    __slots__ = ("block", "content")

    def __init__(self, block: Any, content: DeviceArray) -> None:
        self.block, self.content = block, content

    def of(self, array: DeviceArray) -> DeviceArray | None:
        """Return an array like ``array`` with the copied elements; None if ``array`` lies outside
        of the copied memory."""
        if array.memory is not self.block or array.bounds()[1] > self.content.nbytes:
            return None
        lies = array.offset, array.shape, array.dtype, array.strides
        return DeviceArray(array.target, self.content.memory, *lies, writeable=False)


class EarlierElements:
    """What a storage keeps of elements that were overwritten, for the nodes that saved them.

    Attributes
    ----------
    memory : HostMemory, DeviceMemory or None
        A copy of the memory before the first write.
    readers : list of weakref
        The values that nodes have saved since the last write; the next write gives them copies.
    """

    __slots__ = ("_limit", "memory", "readers")

    def __init__(self) -> None:
        self.memory: HostMemory | DeviceMemory | None = None
        self.readers: list[weakref.ref[Value]] = []
        self._limit = _FEW

    def note(self, value: Value) -> None:
        """Note a value that a node saves; drop dead references now and then."""
        if len(self.readers) >= self._limit:
            self.readers = [reader for reader in self.readers if reader() is not None]
            self._limit = 2 * len(self.readers) + _FEW
        self.readers.append(weakref.ref(value))

    def give_copies(self, version: int) -> None:
        """Give each value that was saved since the last write an array and a storage of its own.

        ``version``, the number of writes so far, becomes the version of these storages, so that a
        value that an earlier write has overwritten still counts as overwritten.
        """
        readers, self.readers = self.readers, []
        copies: dict[int, np.ndarray] = {}
        for reader in readers:
            value = reader()
            if value is None or value.array is None:
                continue
            array = value.array
            if id(array) not in copies:
                copies[id(array)] = array.copy(order="K")
            value.array = copies[id(array)]
            value.storage = Storage()
            value.storage.version = version


def saved(value: Value) -> Value:
    """Return the object that a node saves for a computed value, and note it in the storage.

    Before the first write into the memory the object is the value itself, afterwards a detached
    one.
    """
    storage = value._storage
    if storage is None:
        value._kept = True
        return value
    if storage.version == 0:
        storage.kept = True
        return value
    own = value.detached()
    if storage.past is None:
        storage.past = EarlierElements()
    storage.past.note(own)
    return own


def preserve(value: Value) -> None:
    """Copy the elements that saved values need, before the memory of ``value`` is written."""
    storage = value.storage
    if storage.version:
        if storage.past is not None:
            storage.past.give_copies(storage.version)
    elif storage.kept and value.array is not None:
        past = storage.past = EarlierElements()
        past.memory = _content(_whole(value))


def detach_saved_values(value: Value) -> None:
    """Detach the saved values of all nodes on which ``value`` depends, after a write into it.

    The write has made ``value`` the output of a later node. An earlier node that saved ``value``
    would refer to that node, and so be in a reference cycle. Values that are saved after the first
    write are detached from the beginning. Each node is visited once, however many values are
    written.
    """
    storage = value._storage
    if storage is None or not storage.kept:
        return
    storage.kept = False
    nodes: list[Any] = [value.node]
    while nodes:
        node = nodes.pop()
        if node is None or node.apart:
            continue
        node.apart = True
        nodes += node.parents
        if node.saved:
            pairs = zip(node.saved, node.versions, strict=False)
            node.saved = tuple([_detached(item, version) for item, version in pairs])


def _detached(saved: Any, version: int) -> Any:
    """Return a detached copy of a saved value, or the value itself if it never refers to a node.

    A value that was saved after a write (``version``) is detached already, a leaf that requires
    grad is not written, and what a hook has packed is no value.
    """
    if version or not isinstance(saved, Value) or (saved.node is None and saved._requires_grad):
        return saved
    return saved.detached()


def _content(whole: Any) -> HostMemory | DeviceMemory:
    """Return a copy of the memory from the first to the last byte of an array."""
    if type(whole) is not DeviceArray:
        first, end = byte_bounds(whole)
        return HostMemory(first, ctypes.string_at(first, end - first))
    shape = (whole.bounds()[1] // whole.dtype.itemsize,)
    elements = DeviceArray(whole.target, whole.memory, 0, shape, whole.dtype)
    return DeviceMemory(whole.memory, elements.copy())


def _whole(value: Value) -> Any:
    """Return the array whose memory holds all values that share the storage of ``value``."""
    array: Any = value._view.base.array if isinstance(value._view, View) else value.array
    assert array is not None
    if value._view is not None and not isinstance(value._view, View):
        while isinstance(array.base, (np.ndarray, DeviceArray)):
            array = array.base
    return array


def before_writes(value: Value) -> Value | None:
    """Return a detached value with the elements that ``value`` had before the first write into its
    memory; None if they were not copied."""
    past = value.storage.past
    if past is None or past.memory is None or value.array is None:
        return None
    array = past.memory.of(value.array)
    if array is None:
        return None
    before = value.detached()
    before.array = array
    before.storage = Storage()
    return before


__all__ = ["before_writes", "detach_saved_values", "preserve", "saved"]
