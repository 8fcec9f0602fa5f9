"""Whether anybody but a graph holds a leaf, and may ask for its gradient.

A function that is differentiated may make leaves of its own. One that it forgets is nobody's
concern; one that it keeps, a parameter that is made at the first call, belongs to what is outside.
References tell, which is not exact: who keeps nothing but a view is overlooked, and so is everybody
where hooks and functions of the user are in the graph, which may have references themselves.
"""

import gc
import sys
from collections import Counter
from collections.abc import Collection

from .node import Accumulator, Node, Value, View


class _Holder:
    __slots__ = ("variable",)

    def __init__(self) -> None:
        self.variable = object()


_holder = _Holder()
_ASKED = sys.getrefcount(_holder.variable)  # that of an accumulator, and that of the question


def held(leaves: Collection[Accumulator], nodes: Collection[Node]) -> list[Accumulator]:
    """Return which leaves have references beside those of their accumulators, of what the nodes
    have saved, and of views. What another graph has counts as somebody's."""
    if not leaves or any(node.extras is not None or not _is_ours(node) for node in nodes):
        return []
    groups = {id(node.saved): node.saved for node in nodes if node.saved}
    saved = Counter(id(value) for group in groups.values() for value in group)
    unknown = [a for a in leaves if _others(a, saved) > 0]
    if unknown:
        gc.collect(1)  # closures that call themselves hold what they close over until then
    return [a for a in unknown if _others(a, saved) > _views(a.variable)]


def _is_ours(node: Node) -> bool:
    if isinstance(node, Accumulator):
        return not node.variable.hooks
    return getattr(node.operator, "has_rule", False) or node.operator.is_replay


def _others(leaf: Accumulator, saved: Counter[int]) -> int:
    return sys.getrefcount(leaf.variable) - _ASKED - saved[id(leaf.variable)]


def _views(value: Value) -> int:
    """Return how many views there are of a value; it takes a look at all objects."""
    return sum(isinstance(other, View) for other in gc.get_referrers(value))


__all__ = ["held"]
