"""The walk of a backward pass: one loop over its nodes, the latest first.

An *evaluator* says what a cotangent is on the way, and how the gradients of a node come about:

- `Recorded`: values, from the derivatives of operators, which are recorded;
- `Deferred`: expressions, which become one program;
- `Computed`: arrays, computed at once.

Nodes that hooks, checks or functions of users take part in are visited with care, by
`BackwardPass.visit`. `method` says which nodes these are; all others only apply their rules.
"""

from collections.abc import Sequence
from threading import get_ident
from typing import Any

import numpy as np

from ..._settings import settings
from ..derivatives.context import restored, rule_of
from ..derivatives.region_gradients import writes
from ..derivatives.rules import Rule, known_rule, share_rule
from ..graph.node import Edge, Node, Value
from ..graph.runtime import deferred_value
from ..graph.value import capturing
from ..record.apply import Packed, grad_mode, mode, runtime
from ..record.deferred import add_cotangents
from ..replay.dynamic_index import ByPosition
from ..replay.node_streams import site_of


def walk(backward_pass: Any, order: Sequence[Node] | None = None) -> None:
    """Visit the nodes of a pass, or those of ``order``; put the gradients of its targets into its
    ``grads``."""
    evaluator, careful = backward_pass.evaluator, backward_pass.method.careful
    nodes = backward_pass.order if order is None else order
    is_usual = careful is not None and not careful and backward_pass.sent is None
    if is_usual and evaluator.is_plain:
        _walk_plainly(backward_pass, evaluator, nodes)
    else:
        _visit(backward_pass, *nodes)


def _walk_plainly(backward_pass: Any, evaluator: "Deferred", nodes: Sequence[Node]) -> None:
    """Visit nodes of a pass that do nothing but apply their rules, as `_visit` does.

    All is in one function, and rules that are applied often are applied in compiled code, as the
    walk over a long graph is much of what the pass takes.
    """
    sums, wanted, targets = backward_pass.pending, backward_pass.wanted, backward_pass.targets
    known, sites, add = evaluator.known, evaluator.sites, evaluator.add
    token = capturing.get(get_ident()) if capturing else None
    for node in nodes:
        place, mask = (node, 0), wanted.get(node)
        total = sums.get(place)
        rule = None if total is None else known.get((node._kind, mask, total.rows))
        site = sites.get((id(node.code), node.instruction))
        if rule is None or site is None or place in targets:
            _visit(backward_pass, node)
            continue
        del sums[place]
        saved = evaluator.saved[node]
        gradients = None if rule.maker is None else rule.maker(total, saved, site, token)
        if gradients is None:
            rule.note_use()
            gradients = rule.apply(rule_operands(rule, (total,), saved), site)
        for parent, slot, gradient in zip(node.parents, node.slots, gradients, strict=True):
            if gradient is not None:
                place = (parent, slot)
                present = sums.get(place)
                sums[place] = gradient if present is None else add(present, gradient)


def _visit(backward_pass: Any, *nodes: Node) -> None:
    """Visit nodes of a pass, one after the other."""
    evaluator, wanted, sent = backward_pass.evaluator, backward_pass.wanted, backward_pass.sent
    careful, sums = backward_pass.method.careful, backward_pass.pending
    arrived, gradients_of, add = evaluator.arrived, evaluator.gradients, evaluator.add
    notes = bool(careful) and not evaluator.computes
    for node in nodes:
        if careful is None or (careful and node in careful):
            backward_pass.visit(node)
            continue
        cotangents = arrived(node)
        mask = wanted.get(node)
        if mask is None or cotangents is None:
            continue
        if notes:
            backward_pass.note_read(node)
        gradients = gradients_of(node, mask, cotangents)
        if sent is not None:
            sent.append(tuple([gradient is not None for gradient in gradients]))
        for parent, slot, gradient in zip(node.parents, node.slots, gradients, strict=True):
            if gradient is not None:
                place = (parent, slot)
                present = sums.get(place)
                sums[place] = total = gradient if present is None else add(present, gradient)
                if notes:
                    backward_pass.uncomputed[place] = total


def evaluator_of(backward_pass: Any) -> "Evaluator":
    """Return the evaluator of a pass."""
    if backward_pass.request.create_graph:
        return Recorded(backward_pass)
    return (Computed if backward_pass.method.is_immediate else Deferred)(backward_pass)


class Evaluator:
    """What cotangents are on the way, and how gradients of nodes come about: here by values.

    Parameters
    ----------
    backward_pass : BackwardPass
    """

    computes = False
    is_plain = False  # whether nodes do nothing but apply rules, but for those visited with care

    def __init__(self, backward_pass: Any) -> None:
        self.run, self.pending = backward_pass, backward_pass.pending
        self.targets, self.saved = backward_pass.targets, backward_pass.saved

    @staticmethod
    def value(cotangent: Any, /) -> Any:
        """Return a cotangent as a value."""
        return cotangent

    @staticmethod
    def cotangent(value: Value) -> Any:
        """Return a value as a cotangent of this evaluator."""
        return value

    @staticmethod
    def add(first: Any, second: Any, /) -> Any:
        """Return the sum of two cotangents."""
        return runtime.roles.add(first, second)

    def arrived(self, node: Node) -> Sequence[Any] | None:
        """Remove the cotangents of a node's outputs from the sums, and return them; None where none
        has arrived. Those of targets become gradients of the pass."""
        count = len(node._kind.outputs)
        if count > 1:
            cotangents = [self._arrived(node, slot) for slot in range(count)]
            return None if all([g is None for g in cotangents]) else cotangents  # noqa: C419
        place = (node, 0)
        total = self.pending.pop(place, None)
        if total is None:
            return None
        if place in self.targets:
            self.run.grads[Edge(node, 0)] = self.value(total)
        return (total,)

    def _arrived(self, node: Node, slot: int) -> Any:
        place = (node, slot)
        total = self.pending.pop(place, None)
        if total is not None and place in self.targets:
            self.run.grads[Edge(node, slot)] = self.value(total)
        return total

    def values(
        self, node: Node, mask: Any, cotangents: Sequence[Value | None]
    ) -> Sequence[Value | None]:
        """Return what `gradients` does, from values and as values."""
        given = [None if g is None else self.cotangent(g) for g in cotangents]
        return list(map(self.value, self.gradients(node, mask, given)))

    def gradients(self, node: Node, mask: Any, cotangents: Sequence[Any]) -> Sequence[Any]:
        """Return the gradients of a node's inputs, None for an input whose gradient is not wanted.

        Parameters
        ----------
        mask : tuple of bool
            For each input whether its gradient is wanted.
        cotangents : sequence
            The total cotangents of the node's outputs; None where none has arrived.
        """
        return self.run.differentiated(node, mask, cotangents)


class Recorded(Evaluator):
    """The evaluator of a recorded pass, whose nodes are all visited with care."""

    def values(
        self, node: Node, mask: Any, cotangents: Sequence[Value | None]
    ) -> Sequence[Value | None]:
        return self.run.differentiated(node, mask, cotangents)


class Deferred(Evaluator):
    """The evaluator of a pass whose operations become a program."""

    value = staticmethod(deferred_value)
    add = staticmethod(add_cotangents)

    def __init__(self, backward_pass: Any) -> None:
        super().__init__(backward_pass)
        self.known: dict[Any, Rule] = {}
        self.sites: dict[Any, Any] = {}
        structure = backward_pass.structure
        self._by_position = {} if structure is None else structure.by_position
        self._has_parts = any([writes(node) for node in backward_pass.order])  # noqa: C419
        is_plain = not self._has_parts and not self._by_position
        self.is_plain = is_plain and settings.path == "default"

    def arrived(self, node: Node) -> Sequence[Any] | None:
        if len(node._kind.outputs) > 1:
            return super().arrived(node)
        place = (node, 0)
        total, is_target = self.pending.pop(place, None), place in self.targets
        if self._has_parts and place in self.run.parts:
            if not is_target and node in self.run.wanted:
                return (total,)
            total = _summed(total, self.run.parts.take(place))
        if total is None:
            return None
        if is_target:
            self.run.grads[Edge(node, 0)] = deferred_value(total)
        return (total,)

    def gradients(self, node: Node, mask: Any, cotangents: Sequence[Any]) -> Sequence[Any]:
        if len(cotangents) > 1:
            return self._by_rule(node, mask, cotangents)
        (total,) = cotangents
        if self._by_position and (other := self._by_position.get(node)) is not None:
            return self._at_positions(other, node, total)
        if self._has_parts:
            sent = self.run.parts.send_on(node, total, mask)
            if sent is not None:
                return sent
            cotangents = (total,) = (_summed(total, self.run.parts.take((node, 0))),)
        rule = self.known.get((node._kind, mask, total.rows))
        if rule is None:
            return self._by_rule(node, mask, cotangents)
        site = self.sites.get((id(node.code), node.instruction)) or self._site(node)
        return rule.apply(rule_operands(rule, cotangents, self.saved[node]), site)

    def values(
        self, node: Node, mask: Any, cotangents: Sequence[Value | None]
    ) -> Sequence[Value | None]:
        """Return what `gradients` does, as values and as whole arrays, which hooks may see."""
        return list(map(deferred_value, self._by_rule(node, mask, cotangents)))

    def _by_rule(self, node: Node, mask: Any, cotangents: Sequence[Any]) -> Sequence[Any]:
        key = (node._kind, mask, *[None if g is None else g.rows for g in cotangents])
        rule = self.known.get(key)
        if rule is None:
            found = rule_of(self.run, node, mask, self.saved[node], cotangents)
            if found is None:
                return self.run.differentiated(node, mask, list(map(deferred_value, cotangents)))
            rule = self.known[key] = found
        site = self.sites.get((id(node.code), node.instruction)) or self._site(node)
        return rule.apply(rule_operands(rule, cotangents, self.saved[node]), site)

    def _site(self, node: Node) -> Any:
        """Return the line of a node, which many nodes of a loop share, with its stream if it has
        one."""
        site = site_of(node, self.run.structure)
        if self.run.streams is None:
            self.sites[id(node.code), node.instruction] = site
        return site

    def _at_positions(self, seen: ByPosition, node: Node, total: Any) -> list[Any]:
        """Return the gradients of the inputs of a node that reads elements of an array by an index.

        ``seen`` stands in for the node, and has the positions of the elements as an additional last
        input. So the index is data of the program, which serves other indices, too.
        """
        total = _summed(total, self.run.parts.take((node, 0)))
        wanted = (*self.run.wanted[node], False)
        rule = rule_of(self.run, seen, wanted, seen.saved, (total,))
        assert rule is not None, "what reads at positions has a rule"
        return rule.apply(rule_operands(rule, (total,), seen.saved), self._site(node))[:-1]


class Computed(Evaluator):
    """The evaluator of an immediate pass that is not recorded: cotangents are arrays.

    Each operation is computed at once, as in forward code. A program pays if it runs again, as
    those of graphs that never come again do not: code whose branches depend on numbers makes such
    graphs, and graphs that hooks look at have no plan. No values are made on the way but for hooks
    and functions of users.
    """

    computes = True

    def __init__(self, backward_pass: Any) -> None:
        super().__init__(backward_pass)
        self._known: dict[Any, Rule] = {}
        if backward_pass.method.applies_rules:
            self.add = _added  # the whole pass ignores what NumPy would warn of

    @staticmethod
    def value(cotangent: Any, /) -> Any:
        return None if cotangent is None else runtime.value(cotangent)

    @staticmethod
    def cotangent(value: Value) -> Any:
        return value.array

    @staticmethod
    def add(first: Any, second: Any, /) -> Any:
        with np.errstate(all="ignore"):  # as kernels do
            return _added(first, second)

    def gradients(self, node: Node, mask: Any, cotangents: Sequence[Any]) -> Sequence[Any]:
        """Return the gradients of a node's inputs, by the rule of the node's kind.

        The first time that the rule is asked for, the operator's derivative is called instead, as
        making a rule pays only for a kind that is met again.
        """
        operator = node._kind.operator
        if operator.is_python:
            return operator.computed(self.run, node, mask, cotangents)  # type: ignore[no-any-return]
        is_usual = len(cotangents) == 1 and cotangents[0] is not None  # a hook may have dropped it
        key = (node._kind, mask) if is_usual else None
        rule, saved = self._known.get(key), self.saved[node]
        if rule is None:
            rule = self._rule(node, mask, saved, cotangents)
            if rule is None:
                return self._called(node, mask, cotangents)
            if key is not None:
                self._known[node._kind, mask] = rule
        given = [total for total in cotangents if total is not None]
        given += [saved[n].array for n in rule.reads]
        return rule.compute(given)

    def _called(self, node: Node, mask: Any, cotangents: Sequence[Any]) -> list[Any]:
        """Return the gradients that the operator of a node makes when it is called, without
        recording."""
        values = [None if total is None else runtime.value(total) for total in cotangents]
        if not mode.grad:
            made = self.run.differentiated(node, mask, values)
        else:
            with grad_mode(False):
                made = self.run.differentiated(node, mask, values)
        return [None if g is None else g.array for g in made]

    def _rule(
        self, node: Node, mask: Any, saved: tuple[Any, ...], cotangents: Sequence[Any]
    ) -> Rule | None:
        """Return the rule of a node; None the first time that the rule is asked for."""
        kind = node.kind
        if kind is None:
            return None
        arrived = tuple([None if total is None else False for total in cotangents])
        key = (mask, arrived)
        rule = known_rule(kind, key)
        if rule is None:
            values = [None if total is None else runtime.value(total) for total in cotangents]
            rule = rule_of(self.run, node, mask, saved, values, when_met_again=True)
            if rule is not None:
                share_rule(kind, key, rule)
        return rule


def _added(first: Any, second: Any, /) -> Any:
    """Return the sum of two arrays as an array, with the bits of any other kernel that adds."""
    total = np.add(first, second)
    return total if type(total) is np.ndarray else np.asarray(total)


def _summed(total: Any, more: Value | None) -> Any:
    """Return the sum of two gradients; either may be None."""
    if total is None or more is None:
        return more if total is None else total
    return add_cotangents(total, more)


class WatchedValues(dict[Node, tuple[Any, ...]]):
    """The saved values of the nodes of a pass in which a function of the user has run, and may have
    written some of them: the values are looked at when a derivative reads them."""

    def __getitem__(self, node: Node) -> tuple[Any, ...]:
        return node.as_saved(super().__getitem__(node))


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
