"""What a captured function has read of its surroundings when it was called.

A derivative is computed later, when arrays and tensors that the function closes over may have been
written. It is that of the call, so nodes keep what the call has read: tensors as other nodes do,
arrays of the user, which nobody watches, as copies, one for all calls that find the same elements.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._tensor import Tensor
from ...engine.graph.traversal import reachable
from ...engine.graph.value import CapturedStorage, ForeignStorage, Value
from ...engine.record.apply import pack
from ...engine.record.guards import has_elements
from ...ir.device_array import DeviceArray
from ...process.cached_attribute import lazy

if TYPE_CHECKING:
    from .trace import Recording

NOTHING: Mapping[Any, Value] = MappingProxyType({})


class Past:
    """The arrays and tensors from outside that a recording reads."""

    def __init__(self, recording: "Recording") -> None:
        self._recording = recording
        self._copies: dict[int, _Copy] = {}

    @lazy
    def constants(self) -> list[Value]:
        """What operations read, and their derivatives."""
        recording = self._recording
        roots = [recording.outputs[n].edge.node for n in recording.live]
        nodes = reachable([node for node in roots if node is not None], set(recording.edges))
        values = [value for node in nodes for value in node.saved or () if value is not None]
        values += [value for expr in recording.exprs for value in expr.inputs]
        found = {id(v.array): v for v in values if getattr(v, "array", None) is not None}
        found = {n: self._from_outside(n, v) for n, v in found.items()}
        return [v for v in found.values() if not isinstance(v.storage, CapturedStorage)]

    def _from_outside(self, number: int, value: Value) -> Value:
        storage = self._recording.storages.get(number, value.storage)
        if storage is not value.storage:
            value = value.detached()
            value.storage = storage
        return value

    def now(self, instead: Mapping[Any, Value] = NOTHING) -> list[Value]:
        """Return what a node keeps of a call that is made now, in the order of `constants`: of a
        derivative of an earlier call what that has read, ``instead`` by the ids of arrays."""
        return [self._kept(n, v, instead.get(id(v.array))) for n, v in enumerate(self.constants)]

    def _kept(self, number: int, value: Value, then: Value | None) -> Value:
        if then is not None:
            return pack(then)
        is_foreign = isinstance(value.storage, ForeignStorage)
        return self._copy(number, value) if is_foreign else pack(value)

    def _copy(self, number: int, value: Value) -> Value:
        copy = self._copies.get(number)
        if copy is None or not copy.is_of(value.array):
            copy = self._copies[number] = _Copy(value.array)
        return copy.value

    def changed(self, kept: Sequence[Any]) -> dict[int, Value]:
        """Return what was kept of a call in place of arrays that have changed since, by the ids of
        these."""
        both = enumerate(zip(self.constants, kept, strict=False))
        return {id(now.array): then for n, (now, then) in both if self._differs(n, now, then)}

    def _differs(self, number: int, value: Value, then: Value) -> bool:
        if then.array is value.array:
            return False
        if type(value.array) is DeviceArray:  # to compare elements would take a copy to the host
            return True
        copy = self._copies.get(number)
        if copy is None or copy.value.array is not then.array:  # of another call
            copy = _Copy(then.array)
        return not copy.is_of(value.array)


class _Copy:
    """The elements of an array, as bytes, which are compared fast, and as a value."""

    def __init__(self, array: Any) -> None:
        self._bytes = bytearray(array.tobytes())
        self.value = Tensor(np.ndarray(array.shape, array.dtype, self._bytes))

    def is_of(self, array: Any) -> bool:
        """Whether an array has these elements."""
        return has_elements(array, self.value.shape, self._bytes)


__all__ = ["Past"]
