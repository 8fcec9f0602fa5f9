"""Whether anybody but a graph holds a leaf, and may ask for its gradient.

A function that is differentiated may make leaves of its own. One that it forgets is nobody's
concern; one that it keeps, a parameter that is made at the first call, belongs to what is outside.
"""

import sys
from collections import Counter
from collections.abc import Collection

from .graph import Accumulator, Node, Value, View


class _Holder:
    __slots__ = ("variable",)

    def __init__(self) -> None:
        self.variable = object()


_holder = _Holder()
_ASKED = sys.getrefcount(_holder.variable)  # that of an accumulator, and that of the question


def held(leaves: Collection[Accumulator], nodes: Collection[Node]) -> list[Accumulator]:
    """Return which leaves have references beside those of the nodes: of their accumulators, of
    saved values, of views among these. What another graph has counts as somebody's."""
    if not leaves:
        return []
    groups = {id(node.saved): node.saved for node in nodes if node.saved}
    ours = Counter(id(value) for group in groups.values() for value in group)
    values = (value for group in groups.values() for value in group if isinstance(value, Value))
    views = {id(v._view): id(v._view.base) for v in values if isinstance(v._view, View)}
    ours.update(views.values())
    return [a for a in leaves if sys.getrefcount(a.variable) > _ASKED + ours[id(a.variable)]]


__all__ = ["held"]
