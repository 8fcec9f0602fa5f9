"""Repeated passes: a known plan runs with next to no Python around it.

The caller makes sure that no option needs a general pass. Where the graph needs one (hooks, a
structure that was not met before, saved values that were written or freed), the functions return
None, and the general pass deals with the graph or raises the error.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ..._settings import settings
from ...process.bounded_dict import Bounded
from ..graph.node import Edge, Node, accumulator_of, are_unwritten
from ..graph.saved import freeing
from ..graph.value import Spec, Value
from ..record.apply import mode, other_modes, runtime
from ..replay.beginning import starts_of
from ..replay.plan_cache import ExecutablePlan, KnownPlan, plan_for_start, shortcuts
from ..replay.structure import Structure

_saved, _versions = attrgetter("saved"), attrgetter("versions")


class RepeatedPass:
    """A pass whose plan is known, ready to run."""

    __slots__ = ("_retain", "recalled", "structure")

    def __init__(self, recalled: KnownPlan, structure: Structure, retain: bool) -> None:
        self.recalled, self.structure, self._retain = recalled, structure, retain

    @property
    def is_cut(self) -> bool:
        """Whether nodes are visited, so that `run` cannot serve: the plan is one of `cut_plan`."""
        return self.recalled.is_cut

    @property
    def known(self) -> tuple[Structure, KnownPlan]:
        """What a `BackwardPass` takes for its structure and its plan."""
        return self.structure, self.recalled

    def run(self, seeds: Sequence[Value] = ()) -> list[Value] | None:
        """Return the gradients in the order of the plan's results; None if a saved value was
        written or freed.

        ``seeds`` are needed only for a recorded pass.
        """
        structure = self.structure
        order = structure.order
        nodes: list[Any] = []
        kept: Sequence[Any] = structure.saved
        freed: list[Any] = []  # a prefix of the nodes
        try:
            with freeing:
                nodes = [order[n] for n in self.recalled.keepers]
                if not (structure.is_unwritten and len(kept) == len(nodes)):
                    kept = list(map(_saved, nodes))
                    if None in kept:
                        return None
                    versions = map(_versions, nodes)
                    if not (structure.is_unwritten or all(map(are_unwritten, kept, versions))):
                        return None
                for node, saved in zip(nodes, kept, strict=True):
                    if node.saved is not saved:  # freed or restored by another thread
                        _restore(freed, kept)
                        return None
                    if not self._retain:
                        freed.append(node)
                        node.saved = None
            return self.recalled.values(structure, seeds, kept)
        except BaseException:  # Ctrl-C may come when some nodes are freed
            _restore(freed, kept)
            raise


def _restore(nodes: Sequence[Any], kept: Sequence[Any]) -> None:
    """Give nodes what they had saved; ``kept`` may go on beyond the nodes."""
    for node, saved in zip(nodes, kept, strict=False):
        node.saved = saved


class Start(NamedTuple):
    """Where a pass without options starts and ends.

    Attributes
    ----------
    values, seeds : sequence of Value, list of ndarray
        The outputs, and a seed for each, of its dtype and shape, with the batch in front.
    roots, root_slots : list of Node, list of int
        The nodes of the outputs, and the numbers of the outputs there.
    ends, end_slots : list of Node, list of int
        The same of the values whose gradients are wanted; None for all leaves.
    batch : int or None
        The number of rows of a batched pass.
    """

    values: Sequence[Any]
    seeds: list[Any]
    roots: list[Node]
    root_slots: list[int]
    ends: list[Node] | None
    end_slots: list[int] | None
    batch: int | None
    create_graph: bool

    def outputs(self) -> list[Edge]:
        """Return the edges at which the pass starts."""
        return list(map(Edge, self.roots, self.root_slots))

    def targets(self) -> list[Edge]:
        """Return the edges whose gradients are wanted."""
        return list(map(Edge, self.ends or (), self.end_slots or ()))


def start_of(
    outputs: Sequence[Any],
    seeds: list[Any],
    inputs: Sequence[Any] | None,
    batch: int | None,
    create_graph: bool = False,
) -> Start | None:
    """Return where a pass starts and ends; None if a value requires no gradient, or if the mode of
    the thread needs a general pass.

    The parameters are the fields of `Start`; ``inputs`` are the values whose gradients are wanted.
    """
    if other_modes and not mode.direct and (create_graph or not mode.unwatched):
        return None
    roots = _places(outputs)
    ends: Any = (None, None) if inputs is None else _places(inputs)
    if roots is None or ends is None:
        return None
    return Start(outputs, seeds, roots[0], roots[1], ends[0], ends[1], batch, create_graph)


def find_repeated_pass(start: Start, retain: bool) -> RepeatedPass | None:
    """Return the pass that starts and ends there if its structure was met before, else None.

    ``retain`` says whether the graph keeps its saved values.
    """
    _, seeds, roots, root_slots, ends, end_slots, batch, create_graph = start
    options = False, settings.sort_sum_gradient, batch, create_graph
    rows = batch is not None
    slots = None if end_slots is None else tuple(end_slots)
    starts = starts_of(tuple([(slot, rows) for slot in root_slots]), slots, options)
    found = plan_for_start(tuple(roots), starts, ends, seeds)
    return None if found is None else RepeatedPass(found[1], found[0], retain)


def gradients_alone(output: Value, inputs: Sequence[Value]) -> list[np.ndarray] | None:
    """Return the arrays of the gradients of an output by a known plan, in a pass that is not
    recorded, which keeps the saved values of the graph.

    Return None if there is no such plan, if an input has no gradient, or if the output may depend
    on other leaves.
    """
    if other_modes and not mode.direct:
        return None
    roots, ends = _places((output,)), _places(inputs)
    if roots is None or ends is None:
        return None
    options = False, settings.sort_sum_gradient, None, False
    starts = starts_of(((roots[1][0], False),), tuple(ends[1]), options)
    found = plan_for_start(tuple(roots[0]), starts, ends[0], [ones(output.spec)])
    if found is None:
        return None
    structure, known = found
    given: Any = known.given
    if given is None or None in given or known.is_cut or not known.is_closed:
        return None
    if not (structure.is_unwritten and isinstance(known, ExecutablePlan)):
        values = RepeatedPass(known, structure, True).run()
        return None if values is None else [values[n].array for n in given]
    arrays = known.plan(structure.arrays)
    return [arrays[n] for n in given]


def is_known_as_closed(outputs: Sequence[Value], inputs: Sequence[Value]) -> bool:
    """Whether outputs are known to depend on no leaves but ``inputs``, as an earlier pass went
    through a graph like theirs. Nothing is known if one of all these requires no gradient."""
    if other_modes and not mode.direct:
        return False
    roots, ends = _places(outputs), _places(inputs)
    if roots is None or ends is None:
        return False
    return shortcuts.is_closed(tuple(roots[0]), ends[0])


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


_ones: dict[Any, np.ndarray] = Bounded(64)
"""By specs, or by pairs of a spec and the stream that has made the array."""
_FEW = 1024  # elements


def ones(spec: Spec) -> np.ndarray:
    """Return the default seed of an output, an array of ones. The array must not be written, as a
    small one is shared."""
    key = (spec, mode.stream) if other_modes else spec
    array = _ones.get(key)
    if array is None:
        host = np.ones(spec.shape, spec.dtype)
        host.flags.writeable = False
        array = runtime.placed(host, spec.device)
        if array.size <= _FEW:
            _ones[key] = array
    return array


__all__ = [
    "RepeatedPass",
    "Start",
    "find_repeated_pass",
    "gradients_alone",
    "is_known_as_closed",
    "ones",
    "start_of",
]  # fmt: skip
