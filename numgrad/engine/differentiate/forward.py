"""The forward pass: tangents go through a recorded graph, from its inputs to its outputs.

A forward pass visits the nodes of a backward pass, in the order in which they were made, and
applies rules for tangents in the place of rules for gradients. So it becomes a program, batched and
recalled in the same way. Hooks are not called, as they take gradients.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..derivatives.context import Context
from ..derivatives.tangents import tangent_rule, tangents_of
from ..graph.node import Edge, Node, Value
from ..graph.runtime import deferred_value
from ..graph.traversal import needed
from ..record.apply import mode, runtime
from ..replay.node_streams import site_of
from .backward import BackwardPass
from .request import TangentRequest
from .walk import rule_operands


class ForwardPass(BackwardPass):
    """One pass of tangents over the selected nodes; see `TangentRequest`."""

    def _select(self, order: list[Node]) -> None:
        request = self.request
        self.targets = set(request.targets or ())
        inside = [node for node in order if node not in request.ends] if request.ends else order
        self.wanted = needed(inside, {edge for edge, _ in request.seeds}, request.cut)
        self.order = [node for node in order if node in self.wanted]

    def _walk(self) -> None:
        if self.method.is_immediate and not self.request.create_graph:
            self._compute()
        else:
            self._walk_part()

    def tangents_through(
        self, seeds: list[tuple[Edge, Value]], targets: list[Edge]
    ) -> dict[Edge, Value]:
        """Return the tangents of the edges ``targets``, from ``seeds`` in another graph.

        The pass through that graph becomes a part of this pass. No tangent is computed yet.
        """
        recorded, batch = self.request.create_graph, self.request.batch
        request = TangentRequest(seeds, targets, recorded, True, batch=batch)
        return self.with_part(ForwardPass(request))

    def _walk_part(self) -> None:
        for node in reversed(self.order):
            with nullcontext() if self.streams is None else self.streams.of(node):
                for slot, tangent in enumerate(self._tangents(node)):
                    if tangent is not None:
                        self._add(self.pending, Edge(node, slot), deferred_value(tangent))
        for edge in self.targets:
            if edge in self.pending:
                self.grads[edge] = self.evaluator.value(self.pending[edge])

    def _arrived(self, node: Node) -> list[Any]:
        """Return the tangents of a node's inputs; None for an input without one."""
        return [
            self.evaluator.value(self.pending.get(edge)) if want else None
            for edge, want in zip(node.edges, self.wanted[node], strict=True)
        ]

    def _tangents(self, node: Node) -> Sequence[Any]:
        """Return the tangents of a node's outputs; () for a node whose inputs have none."""
        tangents, saved = self._arrived(node), self.saved[node]
        wanted = tuple([t is not None for t in tangents])
        if not any(wanted):
            return ()
        by_position = None if self.structure is None else self.structure.by_position.get(node)
        if by_position is not None:  # the index is an argument of the program
            tangents, wanted = [*tangents, None], (*wanted, False)
            rule = tangent_rule(self, by_position, wanted, tangents)
            assert rule is not None, "what reads at positions has a rule"
            given = rule_operands(rule, tangents, by_position.saved)
            return rule.apply(given, site_of(node, self.structure))
        rule, recorded = tangent_rule(self, node, wanted, tangents), self.request.create_graph
        if rule is not None and not recorded:
            return rule.apply(rule_operands(rule, tangents, saved), site_of(node, self.structure))
        before, mode.site = mode.site, site_of(node, self.structure)
        try:
            context = Context(node, saved, wanted, recorded)
            if rule is None:
                return tangents_of(self, context, tangents)
            given = [tangent for tangent in tangents if tangent is not None]
            return rule.replay([*given, *map(context.at, rule.reads)])
        finally:
            mode.site = before

    def _compute(self) -> None:
        """Visit the nodes of an immediate pass, and compute each node's tangents as arrays; put the
        tangents of the targets into ``grads``."""
        arrived: dict[Any, Any] = dict(self.pending)
        add = self.evaluator.add
        for node in reversed(self.order):
            places = zip(node.parents, node.slots, self.wanted[node], strict=True)
            tangents = [arrived.get((p, slot)) if want else None for p, slot, want in places]
            wanted = tuple([t is not None for t in tangents])
            if any(wanted):
                for slot, tangent in enumerate(self._arrays(node, wanted, tangents)):
                    if tangent is not None:
                        present = arrived.get((node, slot))
                        total = tangent if present is None else add(present, tangent)
                        arrived[node, slot] = total
        for edge in self.targets:
            if edge in arrived:
                self.grads[edge] = runtime.value(arrived[edge])

    def _arrays(
        self, node: Node, wanted: tuple[bool, ...], tangents: Sequence[Any]
    ) -> Sequence[np.ndarray | None]:
        values = [None if t is None else runtime.value(t) for t in tangents]
        rule = tangent_rule(self, node, wanted, values)
        assert rule is not None, "a node of an immediate pass has a kind"
        return rule.compute(
            [value.array for value in rule_operands(rule, values, self.saved[node])]
        )


__all__ = ["ForwardPass"]
