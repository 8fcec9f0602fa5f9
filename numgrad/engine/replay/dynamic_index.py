"""Indices as data: graphs that differ in an index alone run one program.

The key of `x[3]` is a static parameter, so each index would have a program of its own. Here a node
with such a key is seen as one that reads elements at positions, which are an argument of the
program. It is slower than a program that knows the index, but there at once for the next one.
"""

from collections.abc import Sequence
from math import prod
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ...process.bounded_dict import Bounded
from ..derivatives.region_gradients import of_a_part
from ..graph.kind import Kind, kind_of
from ..graph.node import NO_EDGE, Edge, Node
from ..graph.value import Value, spec_of
from ..record.apply import runtime

_MOST_NODES = 32
_MOST_POSITIONS = 1024
# Of all arrays of which parts are read: each part has a gradient of the size of its array.
_MOST_ELEMENTS = 1 << 17


class Window(NamedTuple):
    """What nodes with an index have in common that read or write parts alike but for where these
    begin: the kind of each as a node whose last input are the positions, these for the first part
    of all, and the elements in one of them."""

    kind: Kind
    positions: np.ndarray
    unit: int


class ByPosition:
    """A node with an index, as one whose last input are the positions.

    A pass takes it for a node: it has what the rule of one is made of.
    """

    __slots__ = ("kind", "positions")

    def __init__(self, kind: Kind, positions: np.ndarray) -> None:
        self.kind, self.positions = kind, positions

    operator: Any = property(attrgetter("kind.operator"))
    static: Any = property(attrgetter("kind.static"))
    inputs: Any = property(attrgetter("kind.inputs"))
    outputs: Any = property(attrgetter("kind.outputs"))

    @property
    def edges(self) -> tuple[Edge, ...]:
        return (NO_EDGE,) * len(self.inputs)

    @property
    def saved(self) -> tuple[Value | None, ...]:
        return (*[None] * (len(self.inputs) - 1), runtime.value(self.positions))

    @property
    def size(self) -> int:
        return prod(self.inputs[0].shape)


_windows: dict[Any, tuple[Window | None]] = Bounded(4096)


def by_position(node: Node) -> ByPosition | None:
    """Return what a node is where its index is data; None where it cannot be, nor where the array
    of which it reads or writes a part was written part by part, see `region_gradients`."""
    owner: Any = node._kind or node
    seen = owner.by_position
    if seen is None:
        seen = owner.by_position = _made(node) or False
    return None if seen is False or of_a_part(node) else seen


def general(node: Any) -> Kind | None:
    """Return the kind of a node, as it is where indices are data."""
    seen = by_position(node)
    return seen.kind if seen is not None else node._kind or node.kind


def _made(node: Node) -> ByPosition | None:
    if node._kind is None or node.operator.by_position is None:
        return None
    place_of, operation_of = node.operator.by_position
    place = place_of(node.inputs, node.static)
    if place is None:
        return None
    form, first = place
    key = (node.operator, node.inputs, form)
    known = _windows.get(key)
    if known is None:
        made = _window(node, operation_of(node.inputs, form, _MOST_POSITIONS))
        known = _windows[key] = (made,)
    (window,) = known
    if window is None:
        return None
    return ByPosition(window.kind, window.positions + first // window.unit)


def _window(node: Node, found: Any) -> Window | None:
    if found is None:
        return None
    operator, static, positions, unit = found
    spec: Any = spec_of(positions.shape, positions.dtype, False)
    kind = kind_of(operator, static, (*node.inputs, spec), node.outputs)
    return None if kind is None else Window(kind, positions, unit)


def are_few(indexed: Sequence[tuple[Node, ByPosition]]) -> bool:
    """Whether it is worth while to have the indices of nodes as data."""
    return len(indexed) == 1 or (
        len(indexed) <= _MOST_NODES and sum([seen.size for _, seen in indexed]) <= _MOST_ELEMENTS
    )
