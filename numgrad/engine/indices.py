"""Indices as data: graphs that differ in an index alone run one program.

The key of `x[3]` is a static parameter, so each index would have a program of its own. Here a node
with such a key is seen as one that reads elements at positions, which are an argument of the
program. It is slower than a program that knows the index, but there at once for the next one.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from .graph import NO_EDGE, Node
from .kinds import Kind, kind_of
from .parts import writes
from .record import runtime
from .values import Value, spec_of

_MOST_NODES = 32
_MOST_POSITIONS = 1024
# Of all arrays of which parts are read: each part has a gradient of the size of its array.
_MOST_ELEMENTS = 1 << 17


class ByPosition:
    """A kind of nodes with an index, as one whose last input are the positions.

    A pass takes it for a node: it has what the rule of one is made of.
    """

    __slots__ = (
        "edges", "inputs", "kind", "operator", "outputs", "positions", "saved", "size", "static",
    )  # fmt: skip

    def __init__(self, kind: Kind, positions: np.ndarray) -> None:
        self.kind, self.positions = kind, positions
        self.operator, self.static = kind.operator, kind.static
        self.inputs, self.outputs = kind.inputs, kind.outputs
        self.edges = (NO_EDGE,) * len(self.inputs)
        value: Value = runtime.value(positions)
        self.saved = (*[None] * (len(self.inputs) - 1), value)
        self.size = prod(self.inputs[0].shape)


def by_position(node: Node, kind: Kind) -> ByPosition | None:
    """Return what a node of a kind is where its index is data; None where it cannot be, nor where
    it reads of an array that was written part by part, see `parts`."""
    if kind.operator.by_position is None:
        return None
    parent = node.parents[0]
    if parent is not None and writes(parent):
        return None
    seen = kind.by_position
    if seen is None:
        seen = kind.by_position = _made(kind) or False
    return seen or None


def general(node: Any) -> Kind | None:
    """Return the kind of a node, as it is where indices are data."""
    kind = node._kind or node.kind
    seen = None if kind is None else by_position(node, kind)
    return kind if seen is None else seen.kind


def _made(kind: Kind) -> ByPosition | None:
    found = kind.operator.by_position(kind.inputs, kind.static, _MOST_POSITIONS)
    if found is None:
        return None
    operator, static, positions = found
    spec: Any = spec_of(positions.shape, positions.dtype, False)
    other = kind_of(operator, static, (*kind.inputs, spec), kind.outputs)
    return None if other is None else ByPosition(other, positions)


def are_few(indexed: Sequence[tuple[Node, ByPosition]]) -> bool:
    """Whether it is worth while to have the indices of nodes as data."""
    return len(indexed) == 1 or (
        len(indexed) <= _MOST_NODES and sum([seen.size for _, seen in indexed]) <= _MOST_ELEMENTS
    )
