"""Recorded plans: a recorded pass that is met again applies the operations of an earlier one.

A pass with ``create_graph`` builds a graph of its own, so no program can take its place. But its
structure decides the operations and their operands. So the second pass of a structure is traced,
and later passes apply the traced operations one after the other, without asking any node for its
derivative.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...process.gc_pause import paused
from ..graph.kind import Kind
from ..graph.node import Edge, Node, Value, connect, own_edge
from ..record.apply import grad_mode
from ..record.composition import Operations, PlanStep, apply_steps, memory_of
from ..record.plan import make_plan
from ..record.several import plan_of_several
from .plan_cache import KnownPlan, keep_plan, kilobytes, parts_of
from .structure import Structure


class SavedRead(NamedTuple):
    """The place of a saved value that a derivative has read.

    Attributes
    ----------
    node, position : int
        The number of the node that saved the value, and the position among its saved values.
    edge : int or None
        The edge at which the value is in the graph: ``n`` for the edge of input ``n`` of the node,
        ``~slot`` for the edge of the node's output ``slot``. None if the value does not require
        grad.
    """

    node: int
    position: int
    edge: int | None

    def of(self, order: Sequence[Node], saved: dict[int, tuple[Any, ...]]) -> Value:
        """Return the value that another pass has saved at this place, connected to the graph of
        that pass.

        ``order`` are the nodes of the other pass, ``saved`` their saved values by their numbers.
        """
        node = order[self.node]
        value = saved[self.node][self.position].detached()
        if self.edge is not None:
            connect(value, own_edge(node, ~self.edge) if self.edge < 0 else node.edge(self.edge))
        return value


class Trace(Operations):
    """The trace of a recorded pass: its operations, noted while the pass runs.

    The sources, which no operation has made, are the seeds, each noted by its number, and saved
    values.
    """

    def __init__(self, structure: Structure, seeds: Sequence[Value]) -> None:
        super().__init__()
        self.index = structure.index
        self._memory.update([memory_of(array) for array in structure.arrays])
        for n, seed in enumerate(seeds):
            self.add_source(seed, n)

    def restored(self, value: Value, node: Node, position: int, edge: Edge) -> None:
        """Note ``value``, which ``node`` has saved and a derivative now reads.

        Parameters
        ----------
        position : int
            The position among the saved values of the node.
        edge : Edge
            The edge at which ``value`` was put into the graph.
        """
        place: int | None = None
        if edge.node is not None:
            place = ~edge.slot if edge.node is node else position
        if node not in self.index:
            self._restored_here(value, node.saved[position] if node.saved else None)
            return
        self.add_source(value, SavedRead(self.index[node], position, place))

    def _restored_here(self, value: Value, saved: Any) -> None:
        """Note that ``value`` stands for ``saved``, which a node recorded by this very pass has
        saved.

        ``saved`` was noted already, as a source or a result, and ``value`` gets the same place.
        """
        known = self._places.get(id(saved))
        if known is None:
            self.is_whole = False
            return
        self._places[id(value)] = known
        self._alive.append(value)


class RecordedPlan(KnownPlan):
    """The recorded plan of a pass: the operations of its trace."""

    def __init__(self, trace: Trace, results: Sequence[tuple[int, int]], *parts: Any) -> None:
        super().__init__(*parts)
        self.sources = trace.sources
        constants = [source.array for source in self.sources if isinstance(source, Value)]
        self.size = len(trace.steps) + kilobytes(constants)
        reads, firsts = trace.numbered()
        self.steps = [
            PlanStep(_plan(operator, static, inputs, outputs), operator, static, numbers)
            for (operator, static, _, inputs, outputs), numbers in zip(
                trace.steps, reads, strict=True
            )
        ]
        self.found = [firsts[step] + slot for step, slot in results]

    def values(
        self, structure: Structure, seeds: Sequence[Value], saved: Sequence[tuple[Any, ...]]
    ) -> list[Value]:
        """Return the gradients of a later pass by applying the operations to its seeds and saved
        values."""
        order, kept = structure.order, dict(zip(self.keepers, saved, strict=True))
        values: list[Any] = []
        for source in self.sources:
            kind = type(source)
            if kind is SavedRead:
                source = source.of(order, kept)
            elif kind is int:
                source = seeds[source]
            values.append(source)
        with paused(), grad_mode(True):
            apply_steps(self.steps, values)
        return [values[n].as_array() for n in self.found]


def _plan(
    operator: Any, static: dict[str, Any], inputs: Sequence[Value], outputs: Sequence[Value]
) -> Kind | None:
    """Return the plan of an operation."""
    if len(outputs) > 1:
        return plan_of_several(operator, static, inputs)
    spec = outputs[0].spec if len(outputs) == 1 else None
    return make_plan(operator, static, tuple([value.spec for value in inputs]), spec)


def keep_recorded_plan(
    structure: Structure,
    trace: Trace,
    wanted: dict[Node, tuple[bool, ...]],
    grads: dict[Edge, Value],
) -> None:
    """Keep the operations of a traced pass for later passes, unless other values could need other
    operations."""
    places = [trace.place_of_result(value) for value in grads.values()]
    results = [place for place in places if place is not None]
    if not trace.is_whole or len(results) < len(places):
        return
    if not all([getattr(step[0], "is_builtin", True) for step in trace.steps]):  # noqa: C419
        return  # a user's function may raise, and says which node it belongs to
    shapes = [value.shape for value in grads.values()]
    keep_plan(structure, RecordedPlan(trace, results, *parts_of(structure, wanted, grads, shapes)))
