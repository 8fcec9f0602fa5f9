"""Saved values keep their elements when their memory is written in place, because the elements are
copied before the write.

Nodes save values by reference. Before memory is overwritten, the saved values in it get copies:

* A value that is saved after an earlier write is a separate object, which the storage notes. It
  gets a copy of its own elements.
* Values that are saved before the first write are not noted one by one, as that would take longer
  than recording the operation. One copy of the whole memory, made once, serves all of them. Nodes
  hold these values themselves; once a value is written it belongs to a later node, so that node
  and value refer to each other in a cycle. `detach_saved_values` breaks the cycle.

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
    """A copy of host memory from the address ``first`` on."""

    __slots__ = ("content", "first")

    def __init__(self, first: int, content: bytes) -> None:
        self.first, self.content = first, content

    def of(self, array: np.ndarray) -> np.ndarray | None:
        """Return an array's elements from the copy; None if the array is not in this memory."""
        low, high = byte_bounds(array)
        if low < self.first or high > self.first + len(self.content):
            return None
        start = array.__array_interface__["data"][0] - self.first
        return np.ndarray(array.shape, array.dtype, self.content, start, array.strides)


class DeviceMemory:
    """A copy of a block of device memory, on the device, up to the last byte of the copied
    array."""

    __slots__ = ("block", "content")

    def __init__(self, block: Any, content: DeviceArray) -> None:
        self.block, self.content = block, content

    def of(self, array: DeviceArray) -> DeviceArray | None:
        """Return an array's elements from the copy; None if the array is not in this memory."""
        if array.memory is not self.block or array.bounds()[1] > self.content.nbytes:
            return None
        lies = array.offset, array.shape, array.dtype, array.strides
        return DeviceArray(array.target, self.content.memory, *lies, writeable=False)


class EarlierElements:
    """The earlier elements of a storage that saved values need.

    Attributes
    ----------
    memory : HostMemory, DeviceMemory or None
        A copy of the memory before the first write.
    readers : list of weakref
        The values that nodes have saved since the last write.
    """

    __slots__ = ("_limit", "memory", "readers")

    def __init__(self) -> None:
        self.memory: HostMemory | DeviceMemory | None = None
        self.readers: list[weakref.ref[Value]] = []
        self._limit = _FEW

    def note(self, value: Value) -> None:
        """Note a value that a node saves; now and then dead references are dropped."""
        if len(self.readers) >= self._limit:
            self.readers = [reader for reader in self.readers if reader() is not None]
            self._limit = 2 * len(self.readers) + _FEW
        self.readers.append(weakref.ref(value))

    def give_copies(self, version: int) -> None:
        """Give each value saved since the last write a copy of its elements, and a storage."""
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
            value.storage.version = version  # a value noted at an earlier version stays overwritten


def saved(value: Value) -> Value:
    """Return the saved value for a computed value, and note it in the storage.

    Before the first write that is the value itself, afterwards a separate object.
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
    """Copy the saved values in the memory of ``value``, which is about to be written."""
    storage = value.storage
    if storage.version:
        if storage.past is not None:
            storage.past.give_copies(storage.version)
    elif storage.kept and value.array is not None:
        past = storage.past = EarlierElements()
        past.memory = _content(_whole(value))


def detach_saved_values(value: Value) -> None:
    """Replace the saved values of the nodes above ``value``, which was written in place, by
    detached ones.

    A saved value that is written belongs to a later node, and would keep that node alive in a
    reference cycle. Values that are saved after the first write are detached from the beginning.
    Each node is visited once, however many values are written.
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
    """Return a saved value that never refers to a node: detached, unless it is so already.

    That holds for a value that was saved after a write (``version``), for a leaf that requires
    grad, which is not written, and for the content that a hook has packed.
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
    """Return an array of all memory that values with the storage of ``value`` may view."""
    array: Any = value._view.base.array if isinstance(value._view, View) else value.array
    assert array is not None
    if value._view is not None and not isinstance(value._view, View):
        while isinstance(array.base, (np.ndarray, DeviceArray)):
            array = array.base
    return array


def before_writes(value: Value) -> Value | None:
    """Return a value with the elements before the first write into its memory; None if they were
    not copied."""
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
