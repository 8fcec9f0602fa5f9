"""The structure of a pass: a key of all that decides its program.

The key has the kinds of the nodes and their connections, the roots and the targets of the pass, the
strides of saved arrays and seeds, and which of these are the same array. Their elements are
arguments of the program.
"""

from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ..._settings import settings
from ..derivatives.region_gradients import of_a_part, writes
from ..graph.node import Accumulator, Node
from ..graph.value import Value
from ..record.apply import mode, runtime, unusual
from .dynamic_index import ByPosition, are_few, by_position

_NONE: Mapping[Any, Any] = MappingProxyType({})


class Structure:
    """The structure of a pass, found before any expression is built.

    Attributes
    ----------
    key : hashable
        Equal for passes that run the same plan.
    arrays : list of ndarray
        The saved arrays and the seeds, each once, in an order that the key fixes.
    indexed : list of (Node, ByPosition)
        The nodes whose indices could be data, and the nodes that stand for them then; see
        `dynamic_index`.
    by_position : dict
        The same nodes, in a structure in which their indices are data.
    """

    __slots__ = ("arrays", "by_position", "index", "indexed", "key", "order")

    def __init__(
        self, key: Hashable, arrays: list[np.ndarray], order: Sequence[Node], index: Any,
        indexed: Sequence[tuple[Node, ByPosition]] = (),
    ):  # fmt: skip
        self.key, self.arrays = key, arrays
        self.order: Sequence[Node] = order
        self.index: dict[Node, int] = index
        self.indexed = indexed
        self.by_position: Mapping[Node, ByPosition] = _NONE

    def with_positions(self) -> "Structure | None":
        """Return the structure in which indices are data; None where this is not worth while."""
        if not are_few(self.indexed):
            return None
        # Nodes with equal indices may share an array: copies are separate arguments.
        indexed = [(node, ByPosition(x.kind, x.positions.copy())) for node, x in self.indexed]
        arrays = [*self.arrays, *[seen.positions for _, seen in indexed]]
        made = Structure((self.key[0],), arrays, self.order, self.index)  # type: ignore[index]
        made.by_position = dict(indexed)
        return made


def structure_of(request: Any, order: Sequence[Node]) -> Structure | None:
    """Return the structure of a pass, None for a pass that must be built every time.

    Passes that show numbers to Python are built every time, and so are passes in which a user's
    function takes part.
    """
    if request.is_special or (unusual and not mode.direct):
        return None
    index = {node: n for n, node in enumerate(order)}
    place_of = index.get
    arrays: list[np.ndarray] = []
    places: dict[int, int] = {}
    parts: list[Any] = []
    indexed: list[tuple[Node, ByPosition]] = []
    has_parts = False
    for node in order:
        if node.extras is not None:
            return None
        kind: Any = node._kind or node.kind
        if kind is None:
            if type(node) is not Accumulator or node.variable.hooks:
                return None
            parts.append(node.outputs)
            continue
        if request.records and kind.operator.is_replay:
            return None  # its derivative is recorded as one operation
        if kind.operator.by_position is None:
            parts.append(kind)
        else:
            has_parts = has_parts or of_a_part(node)
            seen = by_position(node)
            parts.append(kind if seen is None else seen.kind)
            if seen is not None:
                indexed.append((node, seen))
        parts.append(tuple([-1 if p is None else place_of(p) for p in node.parents]))
        if None in parts[-1]:  # parents older than the last node of the pass
            parts += [p._kind or p.kind for p in node.parents if p is not None and p not in index]
        if any(node.slots):
            parts.append(node.slots)
        saved = node.saved
        if saved is None:
            parts.append(None)
            continue
        for value in saved:
            if value is None:
                continue
            if not isinstance(value, Value) or value.array is None:
                return None
            _note(value.array, arrays, places, parts)
    for edge, value in request.seeds:
        if value.array is None:
            return None
        parts += (index.get(edge.node, -1), edge.slot, value.rows)
        _note(value.array, arrays, places, parts)
    targets = request.targets
    if targets is not None:
        targets = tuple([(index.get(node, -1), slot) for node, slot in targets])
    parts += (
        targets, request.extra_leaves, request.seeds_last, request.batch, request.create_graph,
        request.direction, settings.version, runtime.target,
    )  # fmt: skip
    key: Hashable = tuple(parts)
    if indexed:
        key = (key, *[node._kind for node, _ in indexed])
        if has_parts and any([writes(node) for node, _ in indexed]):  # noqa: C419
            indexed = []  # parts of gradients arrive at a written array, not gradients of the whole
    return Structure(key, arrays, order, index, indexed)


def _note(
    array: np.ndarray, arrays: list[np.ndarray], places: dict[int, int], parts: list[Any]
) -> None:
    """Add an array to the arguments, and its number and its strides to the key."""
    place = places.get(id(array))
    if place is not None:
        parts.append(place)
        return
    place = places[id(array)] = len(arrays)
    arrays.append(array)
    parts.append(place)  # first, so that strides are not taken for the slots of a node
    if not array.flags.c_contiguous:
        parts.append(array.strides)
