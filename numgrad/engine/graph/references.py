"""Find the leaves of a graph to which something outside of the graph refers.

A differentiated function may make leaves of its own. A leaf that the function keeps, such as a
parameter made at the first call, may be asked for its gradient later; a forgotten leaf cannot.
The answer comes from reference counts and is not exact: a leaf that is kept only through a view is
overlooked, and so are all leaves of a graph with hooks or functions of the user, which may hold
references themselves.
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
_ASKED = sys.getrefcount(_holder.variable)  # counts the attribute and the argument


def kept_leaves(leaves: Collection[Accumulator], nodes: Collection[Node]) -> list[Accumulator]:
    """Return the accumulators of the leaves to which something outside of a graph refers.

    References from the accumulators, from saved values of the graph's ``nodes``, and from views do
    not count; references from other graphs do.
    """
    if not leaves or any(node.extras is not None or not _is_builtin(node) for node in nodes):
        return []
    groups = {id(node.saved): node.saved for node in nodes if node.saved}
    saved = Counter(id(value) for group in groups.values() for value in group)
    kept = [a for a in leaves if _other_references(a, saved) > 0]
    for generation in _COLLECTED:
        if kept:
            gc.collect(generation)
            kept = [a for a in kept if _other_references(a, saved) > _views(a.variable)]
    return kept


_COLLECTED = (1, 2)
"""The generations that the garbage collector collects before a leaf counts as kept, the cheap one
first: a closure that calls itself is a cycle, and refers to what it closes over until the cycle is
collected. A cycle that has outlived a run of the collector is in the last generation."""


def _is_builtin(node: Node) -> bool:
    if isinstance(node, Accumulator):
        return not node.variable.hooks
    return getattr(node.operator, "has_rule", False) or node.operator.is_replay


def _other_references(leaf: Accumulator, saved: Counter[int]) -> int:
    return sys.getrefcount(leaf.variable) - _ASKED - saved[id(leaf.variable)]


def _views(value: Value) -> int:
    """Return the number of views of a value, by a search of all objects that Python tracks."""
    return sum(isinstance(other, View) for other in gc.get_referrers(value))


__all__ = ["kept_leaves"]
