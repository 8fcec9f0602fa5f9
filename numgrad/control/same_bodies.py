"""Keys of traces, equal for functions that compute the same.

A loop in eager code captures its function at each call. Programs and derivatives are made once for
functions with the same operations at the same lines of code, and the same graph.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from .._settings import settings
from ..engine.derivatives.rules import place_of
from ..engine.graph.kind import frozen
from ..engine.graph.node import Edge, Node
from ..engine.graph.traversal import reachable
from ..engine.graph.value import ForeignStorage, Value

_MOST_BYTES = 1 << 12  # of a constant that is compared element by element


class _UnknownError(Exception):
    """Raised where equality cannot be told."""


def key_of(trace: Any, values: Sequence[Any]) -> Hashable:
    """Return the key of a trace that reads ``values`` from outside.

    If equality cannot be told, return a new object, which equals no other key.
    """
    try:
        return _Key(trace, values).whole
    except _UnknownError:
        return object()


class _Key:
    """The key of a trace, and the numbers that the values and nodes of the trace have in the key.
    """

    def __init__(self, trace: Any, values: Sequence[Any]) -> None:
        arguments = trace.arguments
        self._places: dict[Hashable, Hashable] = {}
        for n, value in enumerate(values):
            self._places[place_of(value)] = "outer", n
        for n, argument in enumerate(arguments):
            self._places[place_of(argument)] = "argument", n
        self._edges: dict[Edge, Hashable] = {e: ("end", n) for n, e in enumerate(trace.edges)}
        exprs = [self._expr(n, e) for n, e in enumerate(trace.exprs)]
        outputs = [o.edge for o in trace.outputs]
        nodes = self._nodes([edge for edge in outputs if edge not in self._edges])
        specs = [(v.shape, v.dtype, v.spec.device) for v in (*arguments, *values)]
        pairs = zip(trace.outputs, outputs, strict=True)
        ends = [(self._place(output), self._edge(edge)) for output, edge in pairs]
        parts = trace.name, settings.recorded, specs, exprs, nodes, ends, trace.live
        self.whole: Hashable = tuple(tuple(p) if isinstance(p, list) else p for p in parts)

    def _expr(self, number: int, expr: Any) -> Hashable:
        key = expr, 0
        if key in self._places:  # an argument
            return number
        static = frozen(expr.static) if expr.static else ()
        if static is None:
            raise _UnknownError
        inputs = tuple([self._place(value) for value in expr.inputs])
        for slot in range(len(expr.specs)):
            self._places[expr, slot] = "made", number, slot
        return expr.operator, static, inputs, expr.specs, _line_of(expr)

    def _place(self, value: Any) -> Hashable:
        place = place_of(value)
        found = self._places.get(place)
        if found is None:
            array = value.array
            if not isinstance(array, np.ndarray) or array.nbytes > _MOST_BYTES:
                raise _UnknownError
            found = array.dtype, array.shape, array.tobytes()
        return found

    def _nodes(self, roots: Sequence[Edge]) -> list[Hashable]:
        """Return the keys of the nodes between the outputs and the arguments, in order of creation.
        """
        ends = {edge.node for edge in self._edges if edge.node is not None}
        found = reachable([e.node for e in roots if e.node is not None], (), ends)
        inner = [node for node in reversed(list(found)) if node not in ends]
        self._numbers = {node: n for n, node in enumerate(inner)}
        return [self._node(node) for node in inner]

    def _node(self, node: Node) -> Hashable:
        static = frozen(node.static) if node.static else ()
        if node.is_accumulator or node.extras is not None or static is None:
            raise _UnknownError
        saved = []
        for value in node.saved or ():
            if value is not None and not isinstance(value, Value):
                raise _UnknownError
            saved.append(None if value is None else self._place(value))
        edges = tuple([self._edge(edge) for edge in node.edges])
        return node.operator, static, edges, tuple(saved), node.inputs, node.outputs, node.code

    def _edge(self, edge: Edge) -> Hashable:
        if edge.node is None:
            return None
        found = self._edges.get(edge)
        return (self._numbers[edge.node], edge.slot) if found is None else found


def _line_of(expr: Any) -> Hashable:
    """Return the line of an expression and its stream, as far as two expressions can differ by
    them.

    The line is that of an error, and has no meaning where an operator never raises: such an
    expression has a line or none, by the way that recorded it. Nor has the instruction in the line:
    Python's interpreter gives it another number once it has specialised the instruction.
    """
    site, operator = expr.site, expr.operator
    if site is None:
        return None
    if getattr(operator, "is_view", False) or getattr(operator, "is_builtin", False):
        return site.stream
    return site.code, site.line, site.stream


def is_fixed(value: Any) -> bool:
    """Whether nobody can write the array of a value, as that of an operand made from a Python
    number."""
    array = value.array
    if isinstance(value.storage, ForeignStorage) or not isinstance(array, np.ndarray):
        return False
    while isinstance(array, np.ndarray) and not array.flags.writeable:
        array = array.base
    return array is None
