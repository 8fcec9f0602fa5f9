"""Immediate passes: each operation is computed at once, as in forward code.

Other passes build expressions and run them as one program, which pays if the program runs again.
The program of a recorded pass would not run again, nor that of a graph that never comes again, as
in code whose branches depend on numbers. An immediate pass without hooks, checks and recording
works on plain arrays, and makes no values on the way: see `compute`. `method` says which passes are
immediate.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ..derivatives.context import rule_of
from ..derivatives.rules import rules_of
from ..graph.node import Edge, Node, Value
from ..record.apply import runtime


def compute(backward_pass: Any) -> None:
    """Visit the nodes of a pass that only applies rules, and compute their gradients as arrays; put
    the gradients of the targets into ``grads`` of the pass."""
    wanted, targets, grads = backward_pass.wanted, backward_pass.targets, backward_pass.grads
    arrived: dict[Any, Any] = {place: g.array for place, g in backward_pass.pending.items()}
    backward_pass.pending.clear()
    for node in backward_pass.order:
        cotangents, arrives = [], False
        for slot in range(len(node.outputs)):
            total = arrived.pop((node, slot), None)
            cotangents.append(total)
            if total is not None:
                arrives = True
                if (node, slot) in targets:
                    grads[Edge(node, slot)] = runtime.value(total)
        mask = wanted.get(node)
        if mask is None or not arrives:
            continue
        gradients = _gradients(backward_pass, node, mask, cotangents)
        for parent, slot, gradient in zip(node.parents, node.slots, gradients, strict=True):
            if gradient is not None:
                place = (parent, slot)
                present = arrived.get(place)
                arrived[place] = gradient if present is None else _sum(present, gradient)


def _sum(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    total = np.add(first, second)  # has the bits of any other kernel that adds
    return total if type(total) is np.ndarray else np.asarray(total)


def _gradients(
    backward_pass: Any, node: Node, mask: Any, cotangents: Sequence[Any]
) -> Sequence[Any]:
    """Return the gradients of a node's inputs, by the rule of the node's kind.

    The first time that the rule is asked for, the operator's derivative is called instead, as
    making a rule pays only for a kind that is met again.
    """
    saved = backward_pass.saved[node]
    rows = [None if total is None else False for total in cotangents]
    kind = node.kind
    rule = None if kind is None else rules_of(kind).get((mask, tuple(rows)))
    if rule is None:
        values = [None if total is None else runtime.value(total) for total in cotangents]
        rule = rule_of(backward_pass, node, mask, saved, values, when_met_again=True)
        if rule is None:
            made = backward_pass.gradients(node, values)
            return [None if g is None else g.array for g in made]
    given = [total for total in cotangents if total is not None]
    return rule.compute(given + [saved[n].array for n in rule.reads])


def is_own(value: Value, others: Collection[int]) -> bool:
    """Whether only the pass has the array of a value: it is no view, no constant, and not among the
    arrays whose ids are ``others``."""
    array = value.array
    return (
        array is not None and array.base is None and array.flags.writeable
        and id(array) not in others
    )  # fmt: skip
