"""Repeated passes: a known plan runs with next to no Python around it.

The caller makes sure that no option needs a general pass. Where the graph needs one (hooks, a
structure that was not met before, saved values that were written or freed), the functions return
None, and the general pass deals with the graph or raises the error.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from ..._settings import settings
from ...process.bounded_dict import Bounded
from ...process.fork_locks import fork_safe_lock
from ..graph.node import accumulator_of
from ..graph.value import Spec, Value
from ..record.apply import mode, other_modes, runtime
from ..replay.plan_cache import KnownPlan, plan_for_start, starts_of
from ..replay.structure import Structure

freeing = fork_safe_lock()  # held while saved values are taken: two passes may free one graph


class RepeatedPass:
    """A pass whose plan is known, ready to run."""

    __slots__ = ("_retain", "recalled", "structure")

    def __init__(self, recalled: KnownPlan, structure: Structure, retain: bool) -> None:
        self.recalled, self.structure, self._retain = recalled, structure, retain

    def run(self, seeds: Sequence[Value] = ()) -> list[Value] | None:
        """Return the gradients in the order of the plan's results; None if a saved value was
        written or freed.

        ``seeds`` are needed only for a recorded pass.
        """
        structure = self.structure
        order = structure.order
        nodes: list[Any] = []
        kept: list[Any] = []
        has_freed = False
        try:
            with freeing:
                nodes = [order[n] for n in self.recalled.keepers]
                kept = list(map(_saved, nodes))
                if None in kept:
                    return None
                if not (structure.is_unwritten or all(map(_is_unwritten, nodes, kept))):
                    return None
                if not self._retain:
                    has_freed = True
                    for node in nodes:
                        node.saved = None
            return self.recalled.values(structure, seeds, kept)
        except BaseException:  # Ctrl-C may come when some nodes are freed
            if has_freed:  # else another pass may have freed the nodes, which stay freed
                for node, saved in zip(nodes, kept, strict=True):
                    node.saved = saved
            raise


_saved = attrgetter("saved")


def _is_unwritten(node: Any, saved: Sequence[Any]) -> bool:
    """Whether nobody has written the values that a node has saved."""
    for value, version in zip(saved, node.versions, strict=False):
        if value is not None:
            storage = value._storage
            if storage is not None and storage.version != version:
                return False
    return True


def find_repeated_pass(
    outputs: Sequence[Any],
    seeds: list[Any],
    inputs: Sequence[Any] | None,
    batch: int | None,
    retain: bool,
    create_graph: bool = False,
) -> RepeatedPass | None:
    """Return the pass over the graph of outputs if its structure was met before, else None.

    Parameters
    ----------
    outputs, seeds : sequence of Value, list of ndarray
        Each seed has the dtype and the shape of its output, with the batch in front.
    inputs : sequence of Value or None
        The values whose gradients are wanted; None for all leaves.
    batch : int or None
        The number of rows of a batched pass.
    retain : bool
        Whether the graph keeps its saved values.
    create_graph : bool
        Whether the pass is recorded.
    """
    if other_modes and not mode.direct:
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
    found = plan_for_start(tuple(roots[0]), starts, targets, seeds)
    return None if found is None else RepeatedPass(found[1], found[0], retain)


def _places(values: Sequence[Any]) -> tuple[list[Any], list[int]] | None:
    """Return the nodes of values and their slots there; None if a value requires no gradient."""
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
    """Return the default seed of an output, an array of ones. The array must not be written, as a
    small one is shared."""
    array = _ones.get(spec)
    if array is None:
        host = np.ones(spec.shape, spec.dtype)
        host.flags.writeable = False
        array = runtime.placed(host, spec.device)
        if array.size <= _FEW:
            _ones[spec] = array
    return array


__all__ = ["RepeatedPass", "find_repeated_pass", "freeing", "ones"]
