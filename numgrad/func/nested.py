"""Replays for tensors, containers and arrays in another order: their leaves go to the entry of the
recording, which looks at nothing but arrays, numbers and objects."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._settings import settings
from .._tensor import Tensor, constant
from ..engine.record import mode, unusual
from ..engine.results import maker
from .recording import in_order
from .signature import TENSOR, Call
from .statics import flatten, structure_key

if TYPE_CHECKING:
    from .recorded import Recorded

MISSED: Any = object()
"""The answer to a call that is to go the ordinary way."""


class Nested:
    """Serves calls like one that a recording has served.

    Parameters
    ----------
    recorded : Recorded
    call : Call
        The call that was served.
    entry : callable
        Takes all leaves of such a call, tensors as arrays, and the arrays for the results.
    version : int
        The count of changes up to which it is valid.
    """

    def __init__(self, recorded: "Recorded", call: Call, entry: Any, version: int) -> None:
        self.recorded, self.entry = recorded, entry
        self.structure = None if call.is_flat else call.structure
        self.structure_key = structure_key(call.structure)
        self.positions = call.positions
        kinds = dict(zip(call.positions, call.kinds, strict=True))
        self.tensors = [kinds.get(n) == TENSOR for n in range(len(call.fixed))]
        self.requires = [
            leaf.requires_grad if tensor else None
            for leaf, tensor in zip(call.fixed, self.tensors, strict=True)
        ]
        self.grad = mode.grad
        self.specs = recorded.recording.stages.specs
        self.empty = maker(self.specs)
        self.is_leaf = recorded.structure.is_leaf()
        self.rebuild: Any = recorded.rebuild
        if len(recorded.positions) == len(recorded.fixed):
            self.rebuild = recorded.structure.unflatten
        self.version = version

    def __call__(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Return what the function returns, or `MISSED`."""
        recorded = self.recorded
        usual = (mode.direct and mode.grad == self.grad) if unusual else self.grad
        if self.version != settings.entries or not usual:
            return MISSED
        if recorded.recording.guards and not recorded.is_quick():
            return MISSED
        leaves = self._leaves(args, kwargs)
        given = None if leaves is None else self._arrays(leaves)
        if leaves is None or given is None:
            return MISSED
        empty = self.empty
        made = [empty(shape, dtype) for shape, dtype in self.specs]
        if self.entry(*given, *made) is not None:
            return MISSED
        results: Sequence[Any] = made
        if not recorded.as_numpy:
            results = [Tensor(array) for array in made]
            if True in self.requires or recorded.recording.outer:
                sources = [leaves[n] for n in self.positions]
                recorded.recording.connect(
                    [x if isinstance(x, Tensor) else constant(x) for x in sources], results
                )
        return results[0] if self.is_leaf else self.rebuild(results)

    def _leaves(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Sequence[Any] | None:
        """Return the leaves of the arguments, None for other containers."""
        if self.structure is None:
            return None if kwargs or len(args) != len(self.tensors) else args
        leaves, structure = flatten((args, kwargs))
        is_same = structure == self.structure
        if is_same and self.structure_key:
            is_same = structure_key(structure) == self.structure_key
        return leaves if is_same else None

    def _arrays(self, leaves: Sequence[Any]) -> list[Any] | None:
        """Return leaves as the entry takes them, None for others than the recording is for."""
        given = []
        for leaf, tensor, requires in zip(leaves, self.tensors, self.requires, strict=True):
            array = leaf
            if type(leaf) is Tensor:
                if not tensor or leaf.requires_grad is not requires or leaf.array is None:
                    return None
                array = leaf.array
            elif tensor:
                return None
            if type(array) is np.ndarray and not array.flags.c_contiguous:
                array = in_order(array)
            given.append(array)
        return given


__all__ = ["MISSED", "Nested"]
