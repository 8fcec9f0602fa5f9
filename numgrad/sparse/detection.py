"""The pattern of a Jacobian, read from the recorded graph in one walk from inputs to outputs."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from .._errors import SparsityError
from ..engine.capture.concrete import Constants
from ..engine.graph.node import Edge, Node
from ..engine.graph.traversal import reachable
from ..func.batching.sample import MapOperator
from ..func.tracing.trace import CallOperator
from .dependencies import Application, propagate
from .index_sets import IndexSets, stacked, starts_of

SetsByEdge = dict[Edge, IndexSets]


def pattern_of(outputs: Sequence[Any], inputs: Sequence[Any]) -> IndexSets:
    """Return the index sets of all elements of outputs, read from the recorded graph.

    The set of an element has the numbers of those elements of the inputs on which the element
    depends. Elements are numbered from the first to the last output, and likewise for inputs. The
    inputs require grad.
    """
    sizes = [prod(x.shape) for x in inputs]
    width, found = sum(sizes), {}
    for x, first in zip(inputs, accumulate(sizes, initial=0), strict=False):
        found[x.edge] = IndexSets.of_inputs(prod(x.shape), first, width)
    edges = [o.edge for o in outputs]
    PatternWalk().along(edges, found)
    return stacked(_of(edges, outputs, found, width))


def _of(
    edges: Sequence[Edge], values: Sequence[Any], found: SetsByEdge, width: int
) -> list[IndexSets]:
    """Return the index sets of values, taken from ``found`` by their edges.

    Values whose edges are not found depend on no input, and get empty sets. ``width`` is the number
    of elements of all inputs.
    """
    pairs = zip(edges, values, strict=True)
    return [found[e] if e in found else IndexSets.empty(prod(v.shape), width) for e, v in pairs]


class PatternWalk:
    """Walks from inputs to outputs through a recorded graph, and through the graphs inside.

    Those are the graphs of captured and of mapped functions, each recorded as one node.
    """

    def __init__(self) -> None:
        self._constants = Constants()

    def along(self, wanted: Sequence[Edge], found: SetsByEdge) -> None:
        """Add the index sets of the wanted edges to ``found``, which has those of the inputs."""
        ends = {edge.node for edge in found if edge.node is not None}
        roots = {edge.node for edge in wanted if edge.node is not None}
        nodes = [node for node in reversed(reachable(roots, (), ends)) if node not in ends]
        users = Counter([*wanted, *(edge for node in nodes for edge in node.edges)])
        specs = [spec for node in nodes for spec in (*node.inputs, *node.outputs)]
        numbers = np.arange(max([prod(spec.shape) for spec in specs], default=0))
        for node in nodes:
            sets = [found.get(edge) for edge in node.edges]
            if any(s is not None for s in sets):
                for slot, result in enumerate(self._through(node, sets, numbers)):
                    found[Edge(node, slot)] = result
            for edge in node.edges:  # sets without further users are dropped
                users[edge] -= 1
                if not users[edge] and edge.node not in ends:
                    found.pop(edge, None)

    def _through(
        self, node: Node, sets: list[IndexSets | None], numbers: np.ndarray
    ) -> list[IndexSets]:
        """Return the index sets of the outputs of a node, given those of its inputs.

        ``numbers`` are the integers from 0 on, as many as an array of the graph has elements.
        """
        operator = node.operator
        if isinstance(operator, CallOperator):
            return self._replayed(operator.trace, sets)
        if isinstance(operator, MapOperator):
            return self._mapped(node, operator.sample, sets)
        if any(spec.rows for spec in (*node.inputs, *node.outputs)):
            raise SparsityError(
                f"the pattern of {node.name()}{node.where()} is not known: it works on the members "
                f"of a batch that is no axis of its arrays. Write the function for whole arrays, "
                f"or give pattern=."
            )
        known = partial(self._known, node)
        shapes, outputs = [s.shape for s in node.inputs], [s.shape for s in node.outputs]
        return propagate(Application(operator, node.static, shapes, outputs, sets, known, numbers))

    def _known(self, node: Node, n: int) -> np.ndarray | None:
        """Return the elements of input ``n`` of a node, or None if they are not known."""
        value = node.unpack()[n]
        return None if value is None else self._constants.of(value)

    def _replayed(self, trace: Any, sets: list[IndexSets | None]) -> list[IndexSets]:
        """Return the index sets of a captured function's outputs, by a walk through its graph."""
        pairs = zip(trace.edges, sets, strict=True)
        found = {edge: s for edge, s in pairs if s is not None and edge.node is not None}
        width = next(iter(found.values())).width
        edges = [output.edge for output in trace.outputs]
        self.along(edges, found)
        return _of(edges, trace.outputs, found, width)

    def _mapped(
        self, node: Node, sample: Any, sets: list[IndexSets | None]
    ) -> list[IndexSets]:
        """Return the index sets of the outputs of a mapped function, by a walk through its graph.

        The graph is that of one sample, and its pattern is applied to all samples. An output that
        is summed over samples depends on the inputs of all samples.
        """
        shapes = [spec.shape for spec in node.inputs]
        cores = [a.shape for a in sample.arguments]
        cores += shapes[len(cores) :]  # the shapes of closed-over values
        sizes = sample.sizes(node.inputs[: len(sample.arguments)])
        found, places, first, before = {}, [], 0, 0
        width = sum(prod(core) for core, s in zip(cores, sets, strict=True) if s is not None)
        for edge, shape, core, of_all in zip(sample.edges, shapes, cores, sets, strict=True):
            if of_all is None:
                continue
            found[edge] = IndexSets.of_inputs(prod(core), first, width)
            at = np.arange(before, before + prod(shape)).reshape(shape)
            places.append(np.broadcast_to(at, (*sizes, *core)).reshape(prod(sizes), prod(core)))
            first, before = first + prod(core), before + prod(shape)
        edges = [output.edge for output in sample.outputs]
        self.along(edges, found)
        whole, at = stacked([s for s in sets if s is not None]), np.concatenate(places, axis=1)
        inner = _of(edges, sample.outputs, found, width)
        each = [
            whole.union_over_groups(starts_of(np.tile(s.counts, len(at))), at[:, s.members])
            for s in inner
        ]
        pairs = zip(each, sample.outputs, node.outputs, strict=True)
        return [_of_sums(s, (*sizes, *one.shape), spec.shape) for s, one, spec in pairs]


def _of_sums(sets: IndexSets, shape: tuple[int, ...], outcome: tuple[int, ...]) -> IndexSets:
    """Return the index sets of sums of an array over some axes, given the sets of its elements.

    Summed are the axes of ``shape`` that have another size in ``outcome``.
    """
    summed = [n for n, size in enumerate(outcome) if size != shape[n]]
    places = np.arange(prod(shape)).reshape(shape)
    places = np.moveaxis(places, summed, range(-len(summed), 0))
    return sets.union_over_rows(places.reshape(prod(outcome), -1)) if summed else sets
