"""Expressions as arrays: what was applied to what, and where gradients flow.

A captured loop of Python leaves a long list of expressions and nodes. Their operands are written
side by side here, so that NumPy finds what repeats.
"""

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ...engine.derivatives.rules import Rule
from ...engine.graph.kind import frozen
from ...engine.graph.node import Accumulator, Node, Value
from ...engine.graph.runtime import runtime
from ...engine.graph.traversal import reachable
from ...engine.graph.value import CPU, CapturedStorage, Expr
from ...engine.lower.lower import pending_exprs
from ...engine.record.apply import apply, changing
from ..same_bodies import is_fixed


class NotFoldableError(Exception):
    """Raised for expressions that no loop operator can replace."""


CONSTANT = -1  # in the place of an expression: the operand has an array
NOWHERE, ALONG = 0, 1  # no gradient flows to an operand, or the gradient flows to its expression


class Recorded:
    """Expressions in the order of their creation, with the operands of all of them side by side.

    Parameters
    ----------
    outputs : sequence of Value

    Attributes
    ----------
    exprs : list of Expr
        Those that the outputs are made of. The attributes but for this one and the next are made by
        `find_operands`.
    codes : ndarray of int
        For each expression a number, equal for equal operators, static parameters and specs, but
        for the integers of an index.
    starts : ndarray of int
        Where the operands of each expression begin; the last number is their count.
    operands : list of Value or Expr
    sources, slots : ndarray of int
        The number of the expression that makes an operand, or `CONSTANT`; and which of the results
        of that expression the operand is.
    flows : ndarray of int
        `NOWHERE`, `ALONG`, or a negative number for a node of another kind, such as that of a leaf,
        to which the gradient of the operand flows.
    """

    def __init__(self, outputs: Sequence[Value]) -> None:
        self.exprs = pending_exprs(outputs)
        self.codes = _codes(self.exprs)

    def find_operands(self, outputs: Sequence[Value]) -> None:
        """Find the operands, which takes longer than all else."""
        exprs = self.exprs
        self.number = {expr: n for n, expr in enumerate(exprs)}
        counts = [len(expr.inputs) for expr in exprs]
        self.starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self.operands: list[Any] = list(chain.from_iterable([expr.inputs for expr in exprs]))
        number, constant = self.number, CONSTANT
        self.sources = np.array(
            [constant if v.array is not None else number.get(v.expr, constant)
             for v in self.operands], np.int64)  # fmt: skip
        self.slots = np.array([v.expr_slot for v in self.operands], np.int64)
        self._find_flows(outputs)

    def _find_flows(self, outputs: Sequence[Value]) -> None:
        """Find the node of each expression, and to which nodes the gradients of operands flow."""
        roots = [o.node for o in outputs if o.requires_grad and o.node is not None]
        nodes = [n for n in reachable(roots, ()) if not isinstance(n, Accumulator)][::-1]
        if any([node.extras is not None for node in nodes]):  # noqa: C419  a list is faster
            raise NotFoldableError
        self.nodes = _nodes_of(self.exprs, nodes)
        made = np.array([0 if n is None else n.number for n in self.nodes], np.int64)
        flows = np.zeros(len(self.operands), np.int64)
        at = np.flatnonzero(made)
        some: list[Any] = [self.nodes[n] for n in at.tolist()]
        parents = chain.from_iterable([node.parents for node in some])
        ends = np.array([0 if node is None else node.number for node in parents], np.int64)
        slots = np.fromiter(chain.from_iterable([node.slots for node in some]), np.int64, len(ends))
        counts = self.starts[at + 1] - self.starts[at]
        if len(ends) != counts.sum():
            raise NotFoldableError
        begins = np.cumsum(counts) - counts
        places = np.arange(len(ends)) + np.repeat(self.starts[at] - begins, counts)
        sources = self.sources[places]
        own = np.where(sources >= 0, made[sources], 0)
        is_own = (own == ends) & (slots == self.slots[places]) & (ends > 0)
        flows[places] = np.where(is_own, ALONG, -ends)
        self.flows = flows

    def parent(self, place: int) -> Any:
        """Return the node to which the gradient of an operand flows, and the number of that node's
        output; ``place`` is that of the operand."""
        expr = int(np.searchsorted(self.starts, place, "right")) - 1
        node = self.nodes[expr]
        assert node is not None
        return node.edge(place - int(self.starts[expr]))

    def key(self, place: int) -> tuple[Any, ...]:
        """Return the key of an operand: equal for operands with the same value and gradient."""
        operand = self.operands[place]
        made = id(operand.array) if operand.array is not None else operand.expr
        return made, operand.expr_slot, int(self.flows[place])

    def value(self, place: int) -> Any:
        """Return an operand as a value with its place in the graph."""
        operand, flow = self.operands[place], int(self.flows[place])
        if flow == NOWHERE:
            return operand if type(operand) is not Expr else as_value(operand, 0)
        edge = self.parent(place)
        node: Any = edge.node
        if isinstance(node, Accumulator):
            variable = node.variable
            is_same = variable.expr is operand.expr and variable.expr_slot == operand.expr_slot
            if variable.array is not operand.array or not is_same:
                raise NotFoldableError
            return variable
        if operand.array is not None:
            raise NotFoldableError
        value = as_value(operand.expr, operand.expr_slot)
        value.move(node, edge.slot, True)
        return value

    def result(self, expr: int, slot: int) -> Any:
        """Return a result of an expression as a value with its place in the graph."""
        value = as_value(self.exprs[expr], slot)
        node = self.nodes[expr]
        if node is not None and value.dtype.kind in "fc":
            value.move(node, slot, True)
        return value


def as_value(expr: Expr, slot: int) -> Any:
    """Return a result of an expression as a value that is in no graph."""
    return runtime.value.deferred(expr, slot, expr.specs[slot])


def applied_to(expr: Expr, inputs: tuple[Any, ...]) -> Sequence[Any]:
    """Return the results of the operator of an expression for other operands, connected to the
    graph."""
    if not inputs:
        raise NotFoldableError
    if isinstance(expr.operator, Rule):
        return expr.operator.results(inputs)
    with changing(site=expr.site):
        return apply(expr.operator, inputs, expr.static)


def _nodes_of(exprs: Sequence[Expr], nodes: Sequence[Node]) -> list[Node | None]:
    """Return the node of each expression, None for one through which no gradient flows.

    The node of an operation is made right after the expression, but for nodes of leaves that the
    operation reads first. Raise an error if a node belongs to no expression.
    """
    numbers = [expr.number for expr in exprs]
    found: list[Node | None] = [None] * len(exprs)
    for node in nodes:
        at = bisect_right(numbers, node.number) - 1
        expr = exprs[at] if at >= 0 else None
        if expr is None or expr.operator is not node.operator or found[at] is not None:
            raise NotFoldableError
        if node.number - expr.number > 1 + len(expr.inputs):
            raise NotFoldableError
        found[at] = node
    return found


def _codes(exprs: Sequence[Expr]) -> np.ndarray:
    """Return the codes of expressions; see `Recorded`.

    An expression that repeats nothing, as its parameters have no key, has a code of its own.
    """
    known: dict[Hashable, int] = {}
    roles = runtime.roles
    indices = roles.index, roles.element
    codes = []
    for expr in exprs:
        kind = expr.kind
        if expr.operator in indices:
            key: Any = expr.operator, _form(expr.static["key"]), expr.inputs[0].spec
        elif kind is not None:
            key = kind
        else:
            static = frozen(expr.static) if expr.static else ()
            specs = tuple([value.spec for value in expr.inputs])
            key = object() if static is None else (expr.operator, static, specs, expr.specs)
        codes.append(known.setdefault(key, len(known)))
    return np.array(codes, np.int64)


def _form(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a key of an index without its integers."""
    return tuple([True if type(item) is int else item for item in key])


def is_settled(value: Any) -> bool:
    """Whether nobody can write the array of a value, or the function that is captured has made it
    and written nothing there."""
    storage = getattr(value, "_storage", None)
    if isinstance(storage, CapturedStorage) and value.array.base is None:
        return storage.version == 0
    return is_fixed(value)


def are_plain(exprs: Sequence[Expr]) -> bool:
    """Whether all results are on the processor and none has rows."""
    kinds = {id(expr.specs): expr.specs for expr in exprs}
    specs = [spec for specs in kinds.values() for spec in specs]
    return not any([spec.rows or spec.device != CPU for spec in specs])  # noqa: C419
