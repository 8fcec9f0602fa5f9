"""Copies of saved values: a write in place leaves what derivatives read as it was.

Whether a saved value has been overwritten all the same is checked where a node hands it out, in
`Node.unpack`.

Nodes save values by reference. Before memory is overwritten, those who saved a part of it get what
it held:

* A value that was saved after an earlier write is an object of its own, known to the storage. It
  gets a copy of its elements, and no others.
* Those which were saved before the first write are not known one by one, since to note each would
  take longer than to record the operation. One copy of the whole memory, made once, is for all.
  Nodes hold these values themselves, which hang on later nodes once they are written: a circle that
  `let_go` opens.

So a loop that fills an array part by part copies what it has read since its last write, and takes
time and memory in proportion to that. Where gradients are switched off nothing is kept: versions
tell, and the pass that needs the value raises.
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
    """What memory of the host held, from an address on."""

    __slots__ = ("content", "first")

    def __init__(self, first: int, content: bytes) -> None:
        self.first, self.content = first, content

    def of(self, array: np.ndarray) -> np.ndarray | None:
        """Return what an array held; None if it is not in this memory."""
        low, high = byte_bounds(array)
        if low < self.first or high > self.first + len(self.content):
            return None
        start = array.__array_interface__["data"][0] - self.first
        return np.ndarray(array.shape, array.dtype, self.content, start, array.strides)


class DeviceMemory:
    """What a block of device memory held, as far as arrays reach; the copy is there too."""

    __slots__ = ("block", "content")

    def __init__(self, block: Any, content: DeviceArray) -> None:
        self.block, self.content = block, content

    def of(self, array: DeviceArray) -> DeviceArray | None:
        """Return what an array held; None if it is not in this memory."""
        if array.memory is not self.block or array.bounds()[1] > self.content.nbytes:
            return None
        lies = array.offset, array.shape, array.dtype, array.strides
        return DeviceArray(array.target, self.content.memory, *lies, writeable=False)


class Past:
    """What is kept of earlier contents of a storage.

    Attributes
    ----------
    memory : HostMemory, DeviceMemory or None
        What its memory held before the first write.
    readers : list of weakref
        The values that nodes have saved since the last write.
    """

    __slots__ = ("_limit", "memory", "readers")

    def __init__(self) -> None:
        self.memory: HostMemory | DeviceMemory | None = None
        self.readers: list[weakref.ref[Value]] = []
        self._limit = _FEW

    def note(self, value: Value) -> None:
        """Note a value that a node saves; now and then those that are gone are dropped."""
        if len(self.readers) >= self._limit:
            self.readers = [reader for reader in self.readers if reader() is not None]
            self._limit = 2 * len(self.readers) + _FEW
        self.readers.append(weakref.ref(value))

    def give_copies(self, version: int) -> None:
        """Give the values that nodes have saved memory of their own."""
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
            value.storage.version = version  # of what was saved earlier the node knows another one


def saved(value: Value) -> Value:
    """Return what a node keeps of a computed value, and note that it does."""
    storage = value._storage
    if storage is None:
        value._kept = True
        return value
    if storage.version == 0:
        storage.kept = True
        return value
    own = value.detached()
    if storage.past is None:
        storage.past = Past()
    storage.past.note(own)
    return own


def preserve(value: Value) -> None:
    """Keep what nodes have saved of the memory of ``value``, which is about to be written."""
    storage = value.storage
    if storage.version:
        if storage.past is not None:
            storage.past.give_copies(storage.version)
    elif storage.kept and value.array is not None:
        past = storage.past = Past()
        past.memory = _content(_whole(value))


def let_go(value: Value) -> None:
    """Let the nodes that lead to a value which was written in place keep what they saved apart from
    the values: these lead back to the nodes. After the first write `saved` sees to it.

    Each node is looked at once, however many values are written.
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
            node.saved = tuple([_apart(item, version) for item, version in pairs])


def _apart(saved: Any, version: int) -> Any:
    """Return a saved value that will never lead to a node: itself if it was written before, as
    `saved` says, or is a leaf that requires grad, which is not written; or what a hook has packed.
    """
    if version or not isinstance(saved, Value) or (saved.node is None and saved._requires_grad):
        return saved
    return saved.detached()


def _content(whole: Any) -> HostMemory | DeviceMemory:
    """Return what there is from the first to the last byte of an array."""
    if type(whole) is not DeviceArray:
        first, end = byte_bounds(whole)
        return HostMemory(first, ctypes.string_at(first, end - first))
    shape = (whole.bounds()[1] // whole.dtype.itemsize,)
    elements = DeviceArray(whole.target, whole.memory, 0, shape, whole.dtype)
    return DeviceMemory(whole.memory, elements.copy())


def _whole(value: Value) -> Any:
    """Return an array of all the memory that values may have which share that of ``value``."""
    array: Any = value._view.base.array if isinstance(value._view, View) else value.array
    assert array is not None
    if value._view is not None and not isinstance(value._view, View):
        while isinstance(array.base, (np.ndarray, DeviceArray)):
            array = array.base
    return array


def before_writes(value: Value) -> Value | None:
    """Return a value as it was before the first write into its memory; None if that is not kept."""
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


__all__ = ["before_writes", "let_go", "preserve", "saved"]
