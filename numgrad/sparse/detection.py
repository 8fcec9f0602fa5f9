"""The pattern of a Jacobian, read from the recorded graph in one walk from inputs to outputs."""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from .._errors import SparsityError
from ..engine.capture import ARGUMENT
from ..engine.graph import Edge, Node
from ..engine.record import mode, runtime
from ..engine.select import reachable
from ..func.recording import Replay
from .rules import Application, propagate
from .sets import IndexSets, stacked

Found = dict[Edge, IndexSets]


def pattern_of(outputs: Sequence[Any], inputs: Sequence[Any]) -> IndexSets:
    """Return for each element of the outputs, one output after the other, the numbers of the
    elements of the inputs on which it depends.

    Parameters
    ----------
    outputs, inputs : sequences of Tensor
        In a recorded graph; the inputs require grad.
    """
    sizes = [prod(x.shape) for x in inputs]
    width, found = sum(sizes), {}
    for x, first in zip(inputs, accumulate(sizes, initial=0), strict=False):
        found[x.edge] = IndexSets.of_inputs(prod(x.shape), first, width)
    edges = [o.edge for o in outputs]
    _walk(edges, found)
    empty = [found.get(e) or IndexSets.empty(prod(o.shape), width)
             for e, o in zip(edges, outputs, strict=True)]
    return stacked(empty)


def _walk(wanted: Sequence[Edge], found: Found) -> None:
    """Find the sets of all that lies between what is known and what is wanted."""
    ends = {edge.node for edge in found if edge.node is not None}
    roots = {edge.node for edge in wanted if edge.node is not None}
    nodes = [node for node in reversed(reachable(roots, (), ends)) if node not in ends]
    users: dict[Edge, int] = {}
    for edge in [*wanted, *(e for node in nodes for e in node.edges)]:
        users[edge] = users.get(edge, 0) + 1
    for node in nodes:
        sets = [found.get(edge) for edge in node.edges]
        if any(s is not None for s in sets):
            for slot, result in enumerate(_through(node, sets)):
                found[Edge(node, slot)] = result
        for edge in node.edges:  # what nobody else reads is forgotten
            users[edge] -= 1
            if not users[edge] and edge.node not in ends:
                found.pop(edge, None)


def _through(node: Node, sets: list[IndexSets | None]) -> list[IndexSets]:
    if isinstance(node.operator, Replay):
        return _replayed(node, sets)
    if any(spec.rows for spec in (*node.inputs, *node.outputs)):
        raise SparsityError(
            f"the pattern of {node.name()}{node.where()} is not known: it works on the members of "
            f"a batch that is no axis of its arrays. Write the function for whole arrays, or give "
            f"pattern=."
        )
    shapes, outputs = [s.shape for s in node.inputs], [s.shape for s in node.outputs]
    return propagate(
        Application(node.operator, node.static, shapes, outputs, sets, _values(node))
    )


def _values(node: Node) -> Callable[[int], np.ndarray | None]:
    """Return what gives the values of an input that the derivative reads."""
    def known(n: int) -> np.ndarray | None:
        value = node.unpack()[n]
        return None if value is None else _known(value, {})

    return known


def _known(value: Any, done: dict[Any, Any]) -> np.ndarray | None:
    """Return the elements of a value: in a function that is being captured, of those that depend on
    no argument. They decide about the pattern, so it is recorded anew once they are others."""
    if value.array is not None:
        if mode.capture is not None:
            mode.capture.look(value)
        return value.array
    expr = value.expr
    if expr not in done:
        inputs = [None] if expr.operator is ARGUMENT else [_known(v, done) for v in expr.inputs]
        unknown = any(array is None for array in inputs) or not hasattr(expr.operator, "run")
        done[expr] = None if unknown else runtime.run(expr.operator, inputs, expr.static)
    return None if done[expr] is None else done[expr][value.expr_slot]


def _replayed(node: Node, sets: list[IndexSets | None]) -> list[IndexSets]:
    """Walk through the graph of a captured function, of which the node is one call."""
    recording = node.operator.recording
    inside: Mapping[Edge, IndexSets | None] = dict(zip(recording.edges, sets, strict=True))
    live = {edge: s for edge, s in inside.items() if s is not None and edge.node is not None}
    width = next(iter(live.values())).width
    edges = [output.edge for output in recording.outputs]
    found = dict(live)
    _walk(edges, found)
    return [
        found.get(edge) or IndexSets.empty(prod(o.shape), width)
        for edge, o in zip(edges, recording.outputs, strict=True)
    ]

