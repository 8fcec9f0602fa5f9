"""Immediate passes: each operation is computed at once, as in forward code.

Other passes build expressions and run them as one program, which pays if the program runs again.
The program of a recorded pass would not run again, nor that of a graph that never comes again, as
in code whose branches depend on numbers. An immediate pass without hooks, checks and recording
works on plain arrays, and makes no values on the way: see `compute`.
"""

from collections.abc import Collection, Sequence
from math import prod
from typing import Any

import numpy as np

from ..derivatives.context import rule_of
from ..derivatives.rules import rules_of
from ..graph.node import Accumulator, Edge, Node, Value
from ..graph.value import CPU, device_of
from ..lower.executable import watch
from ..record.apply import mode, other_modes, runtime

MOST = 1 << 14
"""The most elements of an array in an immediate pass that is not recorded: for larger arrays the
memory that a program saves is taken to be worth the time of making it. An order of magnitude, not a
measured bound."""


def is_immediate(request: Any, order: Sequence[Node]) -> bool:
    """Whether a pass over these nodes computes each operation at once.

    For that all operators must be built-in, no value may have rows, and no hook or check may see a
    gradient. A pass over large arrays that is not recorded becomes a program, to save memory.
    """
    if request.batch is not None or (other_modes and not mode.direct):
        return False
    if request.check is not None or request.retain_all or request.initial:
        return False
    if watch.current is not None:  # the user looks at programs
        return False
    if any([value.array is None or value.rows for _, value in request.seeds]):  # noqa: C419
        return False
    if device_of([edge.node.outputs[edge.slot] for edge, _ in request.seeds]) != CPU:
        return False  # on a device each operation would be a program of its own
    most = None if request.create_graph else MOST
    return all([_is_simple(node, most) for node in order])  # noqa: C419  a list is faster


def _is_simple(node: Node, most: int | None) -> bool:
    if node.extras is not None:
        return False
    if isinstance(node, Accumulator):
        return not node.variable.hooks
    if node.saved is None or not all(map(_is_computed, node.saved)):
        return False
    kind = node.kind
    if kind is None:
        return _is_small(node, most)
    if kind.is_small is None:
        kind.is_small = {limit: _is_small(node, limit) for limit in (None, MOST)}
    return kind.is_small[most]


def _is_small(node: Node, most: int | None) -> bool:
    """Whether nodes of this kind have rules, and a program would save no memory on their arrays.

    ``most`` is the largest number of elements that an array may have, None for any number.
    """
    operator, roles = node.operator, runtime.roles
    if not operator.has_rule or operator.is_replay:
        return False
    if operator is roles.put_view and most is not None:
        return False  # a program writes a part without a copy of the rest
    if most is not None and any([prod(spec.shape) > most for spec in node.outputs]):  # noqa: C419
        return False
    # The gradient of a part is written into zeros of the size of the whole array.
    is_part = operator in (roles.index, roles.element, roles.put_view)
    return not is_part or prod(node.inputs[0].shape) <= MOST


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


def _is_computed(saved: Any) -> bool:
    """Whether a saved value is None or a computed value that no hook has packed."""
    return saved is None or (type(saved) is runtime.value and saved.array is not None)


def is_own(value: Value, others: Collection[int]) -> bool:
    """Whether only the pass has the array of a value: it is no view, no constant, and not among the
    arrays whose ids are ``others``."""
    array = value.array
    return (
        array is not None and array.base is None and array.flags.writeable
        and id(array) not in others
    )  # fmt: skip
