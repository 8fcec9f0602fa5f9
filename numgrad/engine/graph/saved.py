"""Saved values keep their elements when their memory is written: copies are made before the write.

Nodes save values by reference. Before memory is overwritten, the values that nodes have saved there
get copies. The way depends on when a node has saved the value:

* Before the first write into the memory, the node saves the very value that the user holds, and
  nothing else is noted, as that would take longer than recording the operation. Just before the
  first write, the whole memory is copied once, for all these nodes.
* After the first write, the node saves a detached value of its own, which the storage notes. The
  next write gives a copy of the elements to each value noted since the last one.

The first way can make a reference cycle. The write makes the user's value the output of a later
node; that node depends on the node that has saved the value. `detach_saved_values` breaks the
cycle.

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
from ...process.fork_locks import fork_safe_lock
from .value import Storage, Value, View

_FEW = 16
freeing = fork_safe_lock()
"""Held while the saved values of nodes are taken or replaced: two passes may free one graph."""


class HostMemory:
    """A copy of a block of host memory; ``first`` is the address of the original block."""

    __slots__ = ("content", "first")

    def __init__(self, first: int, content: bytes) -> None:
        self.first, self.content = first, content

    def of(self, array: np.ndarray) -> np.ndarray | None:
        """Return an array like ``array`` whose elements are those of the copied memory.

        The result is None if ``array`` is not within the original block.
        """
        low, high = byte_bounds(array)
        if low < self.first or high > self.first + len(self.content):
            return None
        start = array.__array_interface__["data"][0] - self.first
        return np.ndarray(array.shape, array.dtype, self.content, start, array.strides)


class DeviceMemory:
    """A copy of a block of device memory, from the start of the block to the end of an array in
    it."""

    __slots__ = ("block", "content")

    def __init__(self, block: Any, content: DeviceArray) -> None:
        self.block, self.content = block, content

    def of(self, array: DeviceArray) -> DeviceArray | None:
        """Return an array like ``array`` whose elements are those of the copied memory.

        The result is None if ``array`` is not within the part of the block that was copied.
        """
        if array.memory is not self.block or array.bounds()[1] > self.content.nbytes:
            return None
        lies = array.offset, array.shape, array.dtype, array.strides
        return DeviceArray(array.target, self.content.memory, *lies, writeable=False)


class EarlierElements:
    """The copies that a storage keeps of overwritten elements, for the nodes that saved them.

    Attributes
    ----------
    memory : HostMemory, DeviceMemory or None
        A copy of the memory before the first write.
    readers : list of weakref
        The values that nodes have saved since the last write; the next write gives them copies.
    """

    __slots__ = ("_limit", "_restored", "memory", "readers")

    def __init__(self) -> None:
        self.memory: HostMemory | DeviceMemory | None = None
        self.readers: list[weakref.ref[Value]] = []
        self._limit = _FEW
        self._restored: dict[int, tuple[Any, Any]] = {}  # by id: an array, and its elements before

    def of(self, array: Any) -> Any:
        """Return an array with the elements of ``array`` before the first write; None without a
        copy of them.

        The result is the same object for the same array, by which passes recognise a graph.
        """
        known = self._restored.get(id(array))
        if known is None and self.memory is not None:
            known = self._restored[id(array)] = array, self.memory.of(array)
        return None if known is None else known[1]

    def note(self, value: Value) -> None:
        """Note a value that a node saves, to be given a copy before the next write."""
        if len(self.readers) >= self._limit:
            self.readers = [reader for reader in self.readers if reader() is not None]
            self._limit = 2 * len(self.readers) + _FEW
        self.readers.append(weakref.ref(value))

    def give_copies(self, version: int) -> None:
        """Give each value that was saved since the last write an array and a storage of its own.

        ``version``, the number of writes so far, becomes the version of the new storages. It was
        the version when the values were saved, so they do not count as overwritten.
        """
        readers, self.readers = self.readers, []
        copies: dict[int, np.ndarray] = {}
        for reader in readers:
            value = reader()
            if value is None or value.array is None:
                continue
            array = value.array
            if id(array) not in copies:
                copies[id(array)] = _copied(array)
            value.array = copies[id(array)]
            value.storage = Storage()
            value.storage.version = version


def saved(value: Value) -> Value:
    """Return the object that a node saves for a computed value.

    That is ``value`` itself if its memory has never been written, else a detached value with the
    same array, which the storage notes. See the module on what becomes of them at the next write.
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
    """Copy the elements that nodes have saved in the memory of ``value``, which is about to be
    written."""
    storage = value.storage
    if storage.version:
        if storage.past is not None:
            storage.past.give_copies(storage.version)
    elif storage.kept and value.array is not None:
        past = storage.past = EarlierElements()
        past.memory = _content(_whole(value))


def detach_saved_values(value: Value) -> None:
    """Replace the saved values of all nodes on which ``value`` depends by detached ones, after a
    write.

    The write has made ``value`` the output of a later node, while an earlier node may have saved
    ``value``. The two nodes would refer to one another, in a reference cycle. What nodes save after
    the first write is detached from the beginning. Each node is visited once, however many values
    are written.
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
    """Return a detached value in place of what a node has saved; the same object if that never
    refers to a node.

    Three things never do: a value that was saved after a write (``version`` is not 0), as it is
    detached already; a leaf that requires grad, as it is never written; and what a hook has packed.
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
    return DeviceMemory(whole.memory, elements.lasting_copy())


def _copied(array: Any) -> Any:
    """Return a copy of what a node has saved, for the derivative of the node on whatever stream."""
    is_here = type(array) is not DeviceArray
    return array.copy(order="K") if is_here else array.lasting_copy()


def _whole(value: Value) -> Any:
    """Return the array whose memory holds all values that share the storage of ``value``.

    For a view that is the array of its base, for an alias the last of NumPy's bases, else the array
    of ``value`` itself.
    """
    array: Any = value._view.base.array if isinstance(value._view, View) else value.array
    assert array is not None
    if value._view is not None and not isinstance(value._view, View):
        while isinstance(array.base, (np.ndarray, DeviceArray)):
            array = array.base
    return array


def before_writes(value: Value) -> Value | None:
    """Return a detached value with the elements that ``value`` had before the first write into its
    memory; None if no copy of the memory was made."""
    past = value.storage.past
    array = None if past is None or value.array is None else past.of(value.array)
    if array is None:
        return None
    before = value.detached()
    before.array = array
    before.storage = Storage()
    return before


__all__ = ["before_writes", "detach_saved_values", "preserve", "saved"]
