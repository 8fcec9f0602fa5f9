"""Passes in which nothing happens but that one known plan runs: with next to no Python around it.

Whoever calls this has seen that no option asks for anything else; whatever the graph has that needs
more (hooks, a structure that was not met before, saved values that were written or freed) makes it
answer None, and the ordinary way finds it and says so.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._settings import settings
from ...process.bounded_dict import Bounded
from ...process.fork_locks import fork_safe_lock
from ..graph.node import accumulator_of
from ..graph.value import Spec, Value
from ..record.apply import mode, runtime, unusual
from ..replay.plan_cache import Known, known_for, starts_of
from ..replay.structure import Structure

freeing = fork_safe_lock()  # of saved values: of two passes that free a graph one loses cleanly


class Again:
    """A pass that is about to be run again."""

    __slots__ = ("_retain", "recalled", "structure")

    def __init__(self, recalled: Known, structure: Structure, retain: bool) -> None:
        self.recalled, self.structure, self._retain = recalled, structure, retain

    def run(self, seeds: Sequence[Value] = ()) -> list[Value] | None:
        """Return the gradients in the order of the known results; None where a saved value was
        written or freed. A pass that is recorded takes its seeds as values."""
        order = self.structure.order
        kept: list[tuple[Any, Any]] = []
        has_freed = False
        try:
            with freeing:
                for n in self.recalled.keepers:
                    node = order[n]
                    saved = node.saved
                    if saved is None:
                        return None
                    for value, version in zip(saved, node.versions, strict=False):
                        if value is not None:
                            storage = value._storage
                            if storage is not None and storage.version != version:
                                return None
                    kept.append((node, saved))
                if not self._retain:
                    has_freed = True
                    for node, _ in kept:
                        node.saved = None
            return self.recalled.values(self.structure, seeds, dict(kept))
        except BaseException:  # Ctrl-C may come when some of them are freed
            if has_freed:  # else another pass may have, to which it is due
                for node, saved in kept:
                    node.saved = saved
            raise


def find(
    outputs: Sequence[Any],
    seeds: list[Any],
    inputs: Sequence[Any] | None,
    batch: int | None,
    retain: bool,
    create_graph: bool = False,
) -> Again | None:
    """Return the pass over the graph of some values if it was met before.

    Parameters
    ----------
    outputs, seeds : sequence of Value, list of ndarray
        Each seed has the dtype and the shape of its output, with the batch in front.
    inputs : sequence of Value or None
        What gradients are wanted of; all leaves by default.
    batch : int or None
        The number of rows of a batched pass.
    retain : bool
        Whether the graph keeps what it has saved.
    create_graph : bool
        Whether the pass is recorded.
    """
    if unusual and not mode.direct:
        return None
    roots = _places(outputs)
    targets = slots = None
    if inputs is not None:
        wanted = _places(inputs)
        if wanted is None:
            return None
        targets, slots = wanted[0], tuple(wanted[1])
    if roots is None:
        return None
    options = False, settings.sort_sum_gradient, batch, create_graph
    rows = batch is not None
    starts = starts_of(tuple([(slot, rows) for slot in roots[1]]), slots, options)
    found = known_for(tuple(roots[0]), starts, targets, seeds)
    return None if found is None else Again(found[1], found[0], retain)


def _places(values: Sequence[Any]) -> tuple[list[Any], list[int]] | None:
    """Return the nodes of values and the slots there; None if one requires no gradient."""
    nodes, slots = [], []
    for x in values:
        if x._view is not None:
            x._view.refresh(x)
        if not x._requires_grad:
            return None
        nodes.append(x.node or accumulator_of(x))
        slots.append(x.slot)
    return nodes, slots


_ones: dict[Spec, np.ndarray] = Bounded(64)
_FEW = 1024  # elements


def ones(spec: Spec) -> np.ndarray:
    """Return the seed that an output has by default, which nobody may write."""
    array = _ones.get(spec)
    if array is None:
        host = np.ones(spec.shape, spec.dtype)
        host.flags.writeable = False
        array = runtime.placed(host, spec.device)
        if array.size <= _FEW:
            _ones[spec] = array
    return array


__all__ = ["Again", "find", "freeing", "ones"]
