"""The short way of a backward pass, over graphs whose nodes all have rules and no hooks.

The short way builds the same expressions as the general walk of `BackwardPass`, without looking for
hooks and checks. `method` says which passes take this way.
"""

from collections.abc import Sequence
from typing import Any

from ..derivatives.context import restored, rule_of
from ..derivatives.region_gradients import Parts, writes
from ..derivatives.rules import Rule
from ..graph.node import Edge, Node, Value
from ..graph.runtime import deferred_value
from ..record.apply import Packed
from ..record.deferred import add_cotangents
from ..replay.dynamic_index import ByPosition


def sweep(backward_pass: Any, pending: dict[Any, Any]) -> None:
    """Visit the nodes of a plain pass; put the gradients of its targets into its ``grads``.

    Parameters
    ----------
    pending : dict
        The sums of the cotangents that have arrived so far, by node and slot.
    """
    known: dict[Any, Rule] = {}
    sites: dict[Any, Any] = {}
    parts: Parts = backward_pass.parts
    has_parts = any([writes(node) for node in backward_pass.order])  # noqa: C419  a list is faster
    structure = backward_pass.structure
    by_position = {} if structure is None else structure.by_position
    targets, grads, saved = backward_pass.targets, backward_pass.grads, backward_pass.saved
    wanted = backward_pass.wanted
    for node in backward_pass.order:
        mask = wanted.get(node)
        kind = node._kind
        if len(kind.outputs) == 1:
            place = (node, 0)
            total = pending.pop(place, None)
            if has_parts and place in parts and (place in targets or mask is None):
                total = _summed(total, parts.take(place))
            if total is None and not (has_parts and place in parts):
                continue
            if place in targets:
                grads[Edge(node, 0)] = deferred_value(total)
            if mask is None:
                continue
            if by_position and (other := by_position.get(node)) is not None:
                total = _summed(total, parts.take(place))
                _add(pending, node, _by_position(backward_pass, other, node, total))
                continue
            if has_parts:
                sent = parts.send_on(node, total, mask)
                if sent is not None:
                    _add(pending, node, sent)
                    continue
                total = _summed(total, parts.take(place))
            assert total is not None
            cotangents: Sequence[Value | None] = (total,)
            key = (kind, mask, total.rows)
        else:
            cotangents = _arrived(node, pending, targets, grads)
            rows = [None if g is None else g.rows for g in cotangents]
            if mask is None or all(g is None for g in cotangents):
                continue
            key = (kind, mask, *rows)
        rule = known.get(key)
        if rule is None:
            found = rule_of(backward_pass, node, mask, saved[node], cotangents)
            rule = known[key] = found  # type: ignore[assignment]
            assert rule is not None, "a node of a plain pass has a kind"
        line = (id(node.code), node.instruction)  # which many nodes of a loop share
        site = sites.get(line)
        if site is None:
            site = sites[line] = node.site
        _add(pending, node, rule.apply(rule_operands(rule, cotangents, saved[node]), site))


def _by_position(backward_pass: Any, seen: ByPosition, node: Node, total: Any) -> list[Any]:
    """Return the gradients of the inputs of a node that reads elements of an array by an index.

    ``seen`` stands in for the node, and has the positions of the elements as an additional last
    input. So the index is data of the program, which serves other indices, too.
    """
    wanted = (*backward_pass.wanted[node], False)
    rule = rule_of(backward_pass, seen, wanted, seen.saved, (total,))
    assert rule is not None, "what reads at positions has a rule"
    return rule.apply(rule_operands(rule, (total,), seen.saved), node.site)[:-1]


def _add(pending: dict[Any, Any], node: Node, gradients: Sequence[Any]) -> None:
    """Add the gradients of a node's inputs to the sums of cotangents."""
    for parent, slot, gradient in zip(node.parents, node.slots, gradients, strict=True):
        if gradient is not None:
            place = (parent, slot)
            present = pending.get(place)
            pending[place] = gradient if present is None else add_cotangents(present, gradient)


def _summed(total: Any, more: Value | None) -> Any:
    """Return the sum of two gradients; either may be None."""
    if total is None or more is None:
        return more if total is None else total
    return add_cotangents(total, more)


def _arrived(
    node: Node, pending: dict[Any, Any], targets: Any, grads: dict[Edge, Value]
) -> list[Value | None]:
    """Remove the cotangents of all outputs of a node from the sums, and return them; put those of
    targets into ``grads``."""
    cotangents = [pending.pop((node, slot), None) for slot in range(len(node.outputs))]
    for slot, total in enumerate(cotangents):
        if total is not None and (node, slot) in targets:
            grads[Edge(node, slot)] = deferred_value(total)
    return cotangents


def rule_operands(
    rule: Rule, cotangents: Sequence[Value | None], saved: tuple[Any, ...]
) -> list[Value]:
    """Return the operands of a rule: cotangents, then saved values."""
    values: list[Any] = [g for g in cotangents if g is not None]
    for position in rule.reads:
        value: Any = saved[position]
        expr = None if type(value) is Packed or value.expr_slot else value.expr
        values.append(restored(value) if expr is None else expr)
    return values
