"""Serve calls with tensors, containers or unusual memory orders by the entry of a specialization.

An entry takes nothing but arrays, numbers and objects, so the leaves of the arguments are taken out
of their containers first.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._settings import settings
from ..._tensor import Tensor, constant
from ...engine.graph.memory_order import strides_of_value_copy
from ...engine.record.apply import mode, other_modes
from ...ir.device_array import DeviceArray
from ..guards.static_keys import flatten, structure_key
from .arguments import TENSOR, Call
from .trace import in_order

if TYPE_CHECKING:
    from .specialization import Specialization

MISSED: Any = object()
"""The result for a call that the entry cannot serve."""


class PytreeEntry:
    """Serves calls whose arguments have the containers and kinds of leaves of an earlier call.

    Parameters
    ----------
    specialization : Specialization
    call : Call
        The earlier call.
    entry_call : tuple
        As returned by `Specialization.flat_entry`; the entry takes all leaves, tensors as arrays.
    """

    def __init__(
        self, specialization: "Specialization", call: Call, entry_call: tuple[Any, ...]
    ) -> None:
        self.specialization, self.entry_call = specialization, entry_call
        is_here = specialization.trace.stages.is_single  # NumPy has no arrays on a device
        self.makes_tensors = not (specialization.as_numpy and is_here)
        self.structure = None if call.is_flat else call.structure
        self.structure_key = structure_key(call.structure)
        self.positions = call.positions
        kinds = dict(zip(call.positions, call.kinds, strict=True))
        orders = dict(zip(call.positions, call.orders, strict=True))
        self.orders = [orders.get(n) for n in range(len(call.fixed))]
        self.requires = [
            leaf.requires_grad if kinds.get(n) == TENSOR else None
            for n, leaf in enumerate(call.fixed)
        ]

    def __call__(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Return the results of the captured function, or `MISSED` if the entry cannot serve the
        call."""
        entry, make, rebuild, version, is_valid, grad = self.entry_call
        usual = (mode.unwatched and mode.grad == grad) if other_modes else grad
        if version != settings.entries or not usual or (is_valid is not None and not is_valid()):
            return MISSED
        leaves = self._leaves(args, kwargs)
        given = None if leaves is None else self._arrays(leaves)
        if leaves is None or given is None:
            return MISSED
        results: list[Any] = [make()] if rebuild is None else make()
        if entry(*given, *results) is not None:
            return MISSED
        specialization = self.specialization
        if self.makes_tensors:
            results = [Tensor(array) for array in results]
        if not specialization.as_numpy and (True in self.requires or specialization.trace.outer):
            sources = [leaves[n] for n in self.positions]
            specialization.trace.connect(
                [x if isinstance(x, Tensor) else constant(x) for x in sources], results
            )
        return results[0] if rebuild is None else rebuild(results)

    def _leaves(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Sequence[Any] | None:
        """Return the leaves of the arguments; None if the containers are not those of the earlier
        call."""
        if self.structure is None:
            return None if kwargs or len(args) != len(self.requires) else args
        leaves, structure = flatten((args, kwargs))
        is_same = structure == self.structure
        if is_same and self.structure_key:
            is_same = structure_key(structure) == self.structure_key
        return leaves if is_same else None

    def _arrays(self, leaves: Sequence[Any]) -> list[Any] | None:
        """Return the leaves as the entry takes them; None if a leaf is of another kind than before.
        """
        given = []
        for leaf, requires, order in zip(leaves, self.requires, self.orders, strict=True):
            array: Any = leaf
            if type(leaf) is Tensor:
                array = leaf.array
                if leaf.requires_grad is not requires or array is None:
                    return None
            elif requires is not None:
                return None
            kind = type(array)
            if kind is DeviceArray:
                is_plain = array.c_contiguous
            else:
                is_plain = kind is not np.ndarray or array.flags.c_contiguous
            if not is_plain or order is not None:
                if strides_of_value_copy(array) != order:
                    return None
                array = in_order(array)
            given.append(array)
        return given


__all__ = ["MISSED", "PytreeEntry"]
