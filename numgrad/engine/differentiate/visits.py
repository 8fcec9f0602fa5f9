"""Visits with care: hooks, checks and functions of users take part in what happens at a node.

At each node that is visited with care:

1. The cotangents of the node's outputs arrive. Each is the sum of what other nodes have sent, goes
   through the hooks of its tensor, and becomes a result where it is asked for.
2. The cotangents go through the pre-hooks of the node.
3. The derivative of the node makes the gradients of its inputs.
4. The gradients go through the post-hooks, and are sent to the nodes of the inputs.
"""

from collections.abc import Sequence
from typing import Any

from ..derivatives.context import Context
from ..derivatives.rules import fit_all
from ..graph.node import Edge, Node, OwnSlot, Value
from ..record.apply import mode, runtime
from ..replay.node_streams import site_of
from . import hooks


class Visits:
    """The visits of a pass; see the module. The attributes are those of `BackwardPass`."""

    request: Any
    evaluator: Any
    pending: dict[Edge, Any]
    late: dict[Edge, Any]
    uncomputed: dict[Edge, Any]
    grads: dict[Edge, Value]
    retained: list[tuple[Edge, Value]]
    wanted: dict[Node, tuple[bool, ...]]
    saved: dict[Node, tuple[Any, ...]]
    targets: set[Edge]
    parts: Any
    streams: Any
    structure: Any
    sent: list[tuple[bool, ...]] | None

    def visit(self, node: Node) -> None:
        """Visit a node in which hooks, checks or functions of users may take part."""
        if self.streams is None:
            self._visit(node)
            return
        with self.streams.of(node):
            self._visit(node)

    def _visit(self, node: Node) -> None:
        extras = node.extras
        if extras is None and not self.evaluator.computes and self._sends_parts(node):
            return
        count = len(node._kind.outputs)
        self.execute(node, [self.arrive(node, slot) for slot in range(count)])
        if extras is not None:
            past = hooks.arrive_past(self, node)
            if past is not None:
                self.execute(node, past, is_seen=False)

    def _sends_parts(self, node: Node) -> bool:
        """Send the gradient of a part of an array by the part, if that is what the node does and
        nobody looks; return whether that is so."""
        if node not in self.wanted or not self._is_simple(node):
            return False
        sent = self.parts.send_on(node, self.pending.get(Edge(node, 0)), self.wanted[node])
        if sent is None:
            return False
        self.arrive(node, 0)  # removes the total, which nothing else reads
        self._send(node, sent)
        return True

    def _is_simple(self, node: Node) -> bool:
        """Whether the cotangent of a node is no target, has no late seed, and is shown to no hook
        or check."""
        edge, request = Edge(node, 0), self.request
        unseen = edge not in self.targets and edge not in self.late and request.check is None
        return unseen and node.extras is None and not request.retain_all

    def execute(
        self, node: Node, cotangents: Sequence[Value | None], is_seen: bool = True
    ) -> None:
        """Compute the gradients of a node's inputs from the cotangents of its outputs, and add them
        to the sums at the edges of the inputs.

        ``is_seen`` says whether the node's hooks see cotangents and gradients.
        """
        if all([c is None for c in cotangents]):  # noqa: C419  a list is faster
            return
        extras, request = node.extras, self.request
        if extras is not None and extras.pre_hooks and node.is_accumulator and request.accumulate:
            hooks.run_accumulator_pre_hooks(self, node)
        mask = self.wanted.get(node)
        if mask is None:
            return
        gradients: Sequence[Any]
        has_dropped = False
        if extras is not None and extras.pre_hooks and is_seen:
            cotangents = hooks.run_pre_hooks(self, node, cotangents)
            is_nothing = all([c is None for c in cotangents])  # noqa: C419
            has_dropped = is_nothing and not node.operator.is_python  # which may get zeros
        if has_dropped:
            gradients = [None] * len(node.parents)
        elif self.evaluator.computes:
            arrays = [None if c is None else c.array for c in cotangents]
            gradients = self.evaluator.gradients(node, mask, arrays)
            if not (is_seen and node.post_hooks):
                self._send_arrays(node, gradients)
                return
            gradients = list(map(self.evaluator.value, gradients))
        else:
            gradients = self.evaluator.values(node, mask, cotangents)
        if request.check is not None and mode.capture is None:
            self.force([g for g in (*gradients, *cotangents) if g is not None])
            request.check.computed(node, gradients, cotangents)
        if is_seen and node.post_hooks:
            gradients = hooks.run_post_hooks(self, node, gradients, cotangents)
        self._send(node, gradients)

    def _send(self, node: Node, gradients: Sequence[Value | None]) -> None:
        if self.sent is not None:
            self.sent.append(tuple([g is not None for g in gradients]))
        for edge, gradient in zip(node.edges, gradients, strict=True):
            if gradient is not None:
                self._add(self.pending, edge, gradient)

    def _send_arrays(self, node: Node, gradients: Sequence[Any]) -> None:
        """Do what `_send` does in a pass whose cotangents are arrays."""
        sums = self.pending
        if self.sent is not None:
            self.sent.append(tuple([g is not None for g in gradients]))
        for parent, slot, gradient in zip(node.parents, node.slots, gradients, strict=True):
            if gradient is None:
                continue
            place: Any = (parent, slot)
            if type(slot) is OwnSlot and parent is not None and parent.is_watched:
                place = hooks.past_hooks(Edge(parent, slot))
            present = sums.get(place)
            sums[place] = gradient if present is None else self.evaluator.add(present, gradient)

    def differentiated(
        self, node: Node, wanted: tuple[bool, ...], cotangents: Sequence[Value | None]
    ) -> Sequence[Value | None]:
        """Return the gradients of a node's inputs, by the derivative of the node's operator."""
        context = Context(node, self.saved[node], wanted, self.request.create_graph)
        gradients = self._differentiate(node, context, cotangents)
        # A function of the user has its own checks.
        return gradients if node.operator.is_python else fit_all(gradients, node, wanted)

    def _differentiate(
        self, node: Node, context: Context, cotangents: Sequence[Value | None]
    ) -> Sequence[Value | None]:
        """Return the gradients that a node's operator builds, with the node's line of user code as
        the site of their expressions."""
        before, mode.site = mode.site, site_of(node, self.structure)
        try:
            return node.operator.differentiate(self, context, cotangents)
        finally:
            mode.site = before

    def arrive(self, node: Node, slot: int) -> Value | None:
        """Return the total cotangent of an output after the hooks there; keep the cotangent as a
        result if the output is a target."""
        edge, extras = Edge(node, slot), node.extras
        total, value = self.pending.pop(edge, None), None
        table = hooks.tensor_table(edge) if extras is not None or node.is_accumulator else None
        if table and edge in self.request.silent:
            table = None
        if self.late or not self.evaluator.computes:
            value = self._with_others(edge, None if total is None else self.evaluator.value(total))
            if value is None:
                return None
            value = hooks.run_tensor_hooks(self, table, value) if table else value
        elif total is None:
            return None
        elif table:
            value = hooks.run_on_array(self, table, total, node._kind.outputs[slot])
        else:
            value = runtime.value(total)
        if edge in self.targets:
            self.grads[edge] = value
            if value.array is None:
                self.uncomputed[edge] = value
        is_retained = extras is not None and slot in extras.retained
        if is_retained or (self.request.retain_all and not node.is_accumulator):
            self.retained.append((edge, value))
        return value

    def _with_others(self, edge: Edge, value: Value | None) -> Value | None:
        """Return the sum of a total cotangent and of what is kept apart: gradients of parts, and
        late seeds."""
        self.uncomputed.pop(edge, None)
        late = self.evaluator.value(self.late.pop(edge, None))
        for other in (self.parts.take(edge), late):
            if other is not None:
                value = other if value is None else runtime.roles.add(value, other)
        return value

    def _add(self, sums: dict[Edge, Any], edge: Edge, value: Value) -> None:
        if hooks.is_past_hooks(edge) and self.request.direction != "forward":
            sums, edge = self.pending, hooks.past_hooks(edge)
        present, total = sums.get(edge), self.evaluator.cotangent(value)
        if present is not None and self.streams is None:
            total = self.evaluator.add(present, total)
        elif present is not None:
            with self.streams.of(edge.node):  # type: ignore[arg-type]
                total = self.evaluator.add(present, total)
        sums[edge] = total
        if not self.evaluator.computes and total.array is None and sums is self.pending:
            self.uncomputed[edge] = total

    def force(self, values: Sequence[Value]) -> None:
        """Compute values now. `BackwardPass.force` computes pending sums of cotangents as well."""
        raise NotImplementedError


__all__ = ["Visits"]
