"""Snapshots of the arrays and tensors that a captured function closes over.

The derivative of a call is computed later, when closed-over arrays and tensors may have been
written. So the node of the call saves the elements that they have at the call. Tensors are saved as
by other nodes. Arrays of the user are copied, as nobody counts the writes into them; all calls that
find the same elements share one copy.
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
    from .trace import Trace

NOTHING: Mapping[Any, Value] = MappingProxyType({})


class ClosureSnapshot:
    """The arrays and tensors from outside that a trace reads, and copies of them."""

    def __init__(self, trace: "Trace") -> None:
        self._trace = trace
        self._copies: dict[int, _Copy] = {}

    @lazy
    def constants(self) -> list[Value]:
        """The values from outside that the operations of the trace or their derivatives read."""
        trace = self._trace
        roots = [trace.outputs[n].edge.node for n in trace.live]
        nodes = reachable([node for node in roots if node is not None], set(trace.edges))
        values = [value for node in nodes for value in node.saved or () if value is not None]
        values += [value for expr in trace.exprs for value in expr.inputs]
        found = {id(v.array): v for v in values if getattr(v, "array", None) is not None}
        found = {n: self._from_outside(n, v) for n, v in found.items()}
        return [v for v in found.values() if not isinstance(v.storage, CapturedStorage)]

    def _from_outside(self, number: int, value: Value) -> Value:
        storage = self._trace.storages.get(number, value.storage)
        if storage is not value.storage:
            value = value.detached()
            value.storage = storage
        return value

    def now(self, instead: Mapping[Any, Value] = NOTHING) -> list[Value]:
        """Return the values that the node of a new call saves, in the order of `constants`.

        The values have the elements that the arrays and tensors have now. Only a call of a
        derivative saves the values that the call of the function has read before: ``instead`` has
        them, by the ids of the arrays.
        """
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
        """Return what a call has saved of arrays that have changed since, by the ids of the arrays.

        ``kept`` has all values that the node of the call has saved, in the order of `constants`.
        """
        both = enumerate(zip(self.constants, kept, strict=False))
        return {id(now.array): then for n, (now, then) in both if self._differs(n, now, then)}

    def _differs(self, number: int, value: Value, then: Value) -> bool:
        if then.array is value.array:
            return False
        if then.array is None:  # an argument has taken its place
            return True
        if type(value.array) is DeviceArray:  # a comparison would take a copy to the host
            return True
        copy = self._copies.get(number)
        if copy is None or copy.value.array is not then.array:  # of another call
            copy = _Copy(then.array)
        return not copy.is_of(value.array)


class _Copy:
    """A copy of an array: as bytes, for a fast comparison, and as a value."""

    def __init__(self, array: Any) -> None:
        self._bytes = bytearray(array.tobytes())
        self.value = Tensor(np.ndarray(array.shape, array.dtype, self._bytes))

    def is_of(self, array: Any) -> bool:
        """Whether an array has the elements of the copy."""
        return has_elements(array, self.value.shape, self._bytes)


__all__ = ["ClosureSnapshot"]
