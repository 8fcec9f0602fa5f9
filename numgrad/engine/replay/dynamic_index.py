"""Dynamic indices: graphs that differ only in an index run the same program.

The key of `x[3]` is a static parameter, so each index would have a program of its own. Here a
*stand-in* takes the place of a node with a key: it reads or writes elements at positions, and the
positions are an argument of the program. Such a program is slower than one with a constant index,
but serves the next index, too.
"""

from collections.abc import Sequence
from math import prod
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ...process.bounded_dict import Bounded
from ..derivatives.region_gradients import reads_partly_written
from ..graph.kind import Kind, kind_of
from ..graph.node import NO_EDGE, Edge, Node
from ..graph.value import Value, spec_of
from ..record.apply import runtime

_MOST_NODES = 32
_MOST_POSITIONS = 1024
# Elements of all indexed arrays together: each index has a gradient of the size of its array.
_MOST_ELEMENTS = 1 << 17


class Window(NamedTuple):
    """The common data of stand-ins for nodes whose indexed parts differ only in where they begin.

    Attributes
    ----------
    kind : Kind
        The kind of the stand-ins, whose last input is the positions.
    positions : ndarray
        The positions of the elements of the part that begins at the first element of the array.
    unit : int
        The number of adjacent elements for which one position stands.
    """

    kind: Kind
    positions: np.ndarray
    unit: int


class ByPosition:
    """The stand-in for a node with an index: its last input is the positions of the indexed
    elements.

    A pass may take the stand-in for a node, as it has all attributes from which rules are made.
    """

    __slots__ = ("kind", "positions")

    def __init__(self, kind: Kind, positions: np.ndarray) -> None:
        self.kind, self.positions = kind, positions

    operator: Any = property(attrgetter("kind.operator"))
    static: Any = property(attrgetter("kind.static"))
    inputs: Any = property(attrgetter("kind.inputs"))
    outputs: Any = property(attrgetter("kind.outputs"))

    def edge(self, index: int) -> Edge:
        return NO_EDGE

    @property
    def saved(self) -> tuple[Value | None, ...]:
        return (*[None] * (len(self.inputs) - 1), runtime.value(self.positions))

    @property
    def size(self) -> int:
        return prod(self.inputs[0].shape)


_windows: dict[Any, tuple[Window | None]] = Bounded(4096)


def by_position(node: Node) -> ByPosition | None:
    """Return the stand-in for a node with an index; None if there is none.

    There is none for operators that cannot take their index as data, and where the indexed array
    was written part by part, as its gradient is kept in parts then; see `region_gradients`.
    """
    owner = node._kind
    seen = owner.by_position
    if seen is None:
        seen = owner.by_position = _made(node) or False
    return None if seen is False or reads_partly_written(node) else seen


def general_kind(node: Any) -> Kind | None:
    """Return the kind of a node's stand-in if there is one, else the node's own kind."""
    seen = by_position(node)
    return seen.kind if seen is not None else node.kind


def _made(node: Node) -> ByPosition | None:
    positions = getattr(node.operator, "by_position", None)
    if positions is None:
        return None
    place_of, operation_of = positions
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


def is_worthwhile(indexed: Sequence[tuple[Node, ByPosition]]) -> bool:
    """Whether a program that takes the indices of these nodes as data would pay.

    That is so for one node, and for few nodes with small arrays.
    """
    return len(indexed) == 1 or (
        len(indexed) <= _MOST_NODES and sum([seen.size for _, seen in indexed]) <= _MOST_ELEMENTS
    )
