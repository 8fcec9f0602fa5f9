"""The walk of a pass that becomes a program, where nodes do nothing but apply their rules.

That is what `walk` does with the evaluator `Deferred`, in one function, as the walk over a long
graph is much of what a pass over it takes. Rules that are applied often are applied in compiled
code.
"""

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any

from ..derivatives.rules import Rule
from ..graph.node import Node
from ..graph.value import capturing


def walk_plainly(
    backward_pass: Any, evaluator: Any, visit: Callable[[Node], None], operands: Callable[..., Any]
) -> None:
    """Visit the nodes of a pass, the latest first.

    Parameters
    ----------
    evaluator : Deferred
        The evaluator of the pass.
    visit : callable
        Visits a node whose rule is not known yet, or whose cotangent is a gradient of the pass.
    operands : callable
        Returns the operands of a rule for cotangents and saved values.
    """
    sums, wanted, targets = backward_pass.pending, backward_pass.wanted, backward_pass.targets
    known, sites, add = evaluator.known, evaluator.sites, evaluator.add
    token = capturing.get(get_ident()) if capturing else None
    for node in backward_pass.order:
        place, mask = (node, 0), wanted.get(node)
        total = sums.get(place)
        rule = None if total is None else known.get((node._kind, mask, total.rows))
        site = sites.get((id(node.code), node.instruction))
        if rule is None or site is None or place in targets:
            visit(node)
            continue
        del sums[place]
        saved = evaluator.saved[node]
        gradients = None if rule.maker is None else rule.maker(total, saved, site, token)
        if gradients is None:
            gradients = _applied(rule, operands(rule, (total,), saved), site)
        for parent, slot, gradient in zip(node.parents, node.slots, gradients, strict=True):
            if gradient is not None:
                place = (parent, slot)
                present = sums.get(place)
                sums[place] = gradient if present is None else add(present, gradient)


def _applied(rule: Rule, values: Sequence[Any], site: Any) -> Sequence[Any]:
    """Return the gradients of a rule, and count the use of the rule."""
    if rule.maker is None:
        rule.note_use()
    return rule.apply(values, site)


__all__ = ["walk_plainly"]
