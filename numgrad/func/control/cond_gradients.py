"""Gates between a branch that may not have been chosen and the graph around it.

Both branches of a choice are computed, so the derivative of the branch that was not chosen may be
infinite or NaN, and NaN times a cotangent of 0 is NaN. Wherever the graph of a branch reads a value
from outside, an operand or a closed-over value, a gate lets the gradient through or makes it 0.
"""

from collections.abc import Callable, Iterable
from typing import Any

from ...engine.capture.capture import refuse
from ...engine.derivatives.rules import placeholder
from ...engine.graph.node import Edge, Node, Value, connect
from ...engine.graph.traversal import number_of
from ...engine.graph.value import next_number
from ...engine.record.apply import mode


class Gates:
    """The gates of one branch, made before the branch runs.

    Parameters
    ----------
    gate : callable
        Takes a value; returns it with a node that lets its gradient through or makes it 0.
    """

    def __init__(self, gate: Callable[[Any], Any]) -> None:
        self._gate = gate
        self._first = next_number()

    def close(self, outputs: Iterable[Value]) -> None:
        """Put gates between the graph of the outputs and the graph outside of the branch.

        The nodes of the branch get new numbers, above those of the gates: a pass visits nodes in
        descending order of their numbers, and has to visit the branch before its gates.
        """
        nodes = self._nodes(outputs)
        outside = [edge for node in nodes for edge in node.edges if self._is_outside(edge.node)]
        gates = {edge: self._gate_of(edge) for edge in dict.fromkeys(outside)}
        for node in sorted(nodes, key=lambda node: node.number):
            node.number = next_number()
            edges = [gates.get(edge, edge) for edge in node.edges]
            node.parents = tuple([edge.node for edge in edges])
            node.slots = tuple([edge.slot for edge in edges])

    def _nodes(self, outputs: Iterable[Value]) -> list[Node]:
        """Return the nodes that the branch has made."""
        waiting = [value.edge.node for value in outputs if value.requires_grad]
        found: dict[Node, None] = {}
        while waiting:
            node = waiting.pop()
            if node is None or node in found or node.is_accumulator or self._is_outside(node):
                continue
            found[node] = None
            waiting += node.parents
        return list(found)

    def _is_outside(self, node: Node | None) -> bool:
        return node is not None and number_of(node) < self._first

    def _gate_of(self, edge: Edge) -> Edge:
        """Return the edge at which cotangents enter a new gate on their way to ``edge``.

        The gate is made for a placeholder, since a gradient needs no more than the spec of the
        value.
        """
        spec = edge.spec
        value = placeholder(spec)
        connect(value, edge)
        gated = self._gate(value)
        if gated.rows != spec.rows:
            refuse(
                "a branch of ng.cond, which each member of an ensemble chooses for itself, closes "
                "over a tensor that all of them share and that requires grad. Make it an operand "
                "of ng.cond."
            )
        mode.capture.root.gates.add(gated.node)
        return gated.edge


__all__ = ["Gates"]
