"""The structure of a pass: a key of all that decides its program.

The key has the kinds of the nodes and their connections, the roots and the targets of the pass, and
the strides of the saved arrays and seeds. It also tells which of these arrays are the same. Their
elements are not part of it, as they are arguments of the program.
"""

from collections.abc import Hashable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import numpy as np

from ..._settings import settings
from ...process.bounded_dict import Bounded
from ..derivatives.region_gradients import reads_partly_written, writes
from ..graph.node import Accumulator, Call, Node
from ..graph.traversal import has_plain_watchers, is_seen_within, watched_nodes
from ..graph.value import Value
from ..record.apply import runtime
from .dynamic_index import ByPosition, by_position, is_worthwhile
from .node_streams import streams_beside

_NONE: Mapping[Any, Any] = MappingProxyType({})
_operators = attrgetter("_kind.operator")
outlines: dict[int, int] = Bounded(1 << 12)
"""The times that outlines were met, by their hashes."""


class Structure:
    """The structure of a pass, found before any expression is built.

    Attributes
    ----------
    key : hashable
        Equal for passes that run the same plan.
    arrays : sequence of ndarray
        The saved arrays and the seeds, each once, in an order that the key fixes.
    order, index : sequence of Node, dict
        The nodes of the pass, the latest first, and the number of each in that order.
    indexed : list of (Node, ByPosition)
        The nodes whose indices could be data, each with its stand-in; see `dynamic_index`.
    by_position : dict
        The same nodes and stand-ins if their indices are data in this structure, else empty.
    is_unwritten : bool
        Whether somebody has seen that no saved value was written since it was saved.
    watched : sequence of int
        The numbers of the nodes that a pass visits with care.
    saved : sequence of tuple
        What the keepers of the plan had saved when somebody saw that nothing was written; empty if
        nobody looked.
    """

    __slots__ = (
        "arrays", "by_position", "index", "indexed", "is_unwritten", "key", "order", "saved",
        "watched",
    )  # fmt: skip

    def __init__(
        self, key: Hashable, arrays: Sequence[np.ndarray], order: Sequence[Node], index: Any,
        indexed: Sequence[tuple[Node, ByPosition]] = (), is_unwritten: bool = False,
        watched: Sequence[int] = (), saved: Sequence[Any] = (),
    ):  # fmt: skip
        self.key, self.arrays = key, arrays
        self.order: Sequence[Node] = order
        self.index: dict[Node, int] = index
        self.indexed, self.is_unwritten, self.watched = indexed, is_unwritten, watched
        self.saved = saved
        self.by_position: Mapping[Node, ByPosition] = _NONE

    def with_positions(self) -> "Structure | None":
        """Return the structure of the same pass for a program that takes indices as data; None if
        such a program would not pay."""
        if not is_worthwhile(self.indexed):
            return None
        # Nodes with equal indices may share an array: copies are separate arguments.
        indexed = [(node, ByPosition(x.kind, x.positions.copy())) for node, x in self.indexed]
        arrays = [*self.arrays, *[seen.positions for _, seen in indexed]]
        made = Structure((self.key[0],), arrays, self.order, self.index)  # type: ignore[index]
        made.by_position = dict(indexed)
        return made


def structure_of(request: Any, order: Sequence[Node]) -> Structure | None:
    """Return the structure of a pass; None if the pass cannot use plans.

    Python code of the user may take part where `serves_watched` and `has_plain_watchers` allow it.
    """
    if not request.uses_plans:
        return None
    watched = watched_nodes(order)
    if watched and not (
        serves_watched(request)
        and has_plain_watchers(order, watched)
        and streams_beside(order) is None
    ):
        return None
    key = _Key(order, watched)
    if key.add_nodes(request.records) and key.add_seeds(request.seeds):
        return key.structure(request)
    return None


def serves_watched(request: Any) -> bool:
    """Whether plans may serve a pass with such options where hooks or functions of users take part.

    No plan serves one that is recorded, batched, or a part of another pass, nor a forward pass.
    """
    if request.direction != "reverse" or request.records or request.batch is not None:
        return False
    return not (request.ends or request.silent or request.seeds_last)


def outline_of(request: Any, order: Sequence[Node]) -> int | None:
    """Return the hash of the operators and options of a pass, its *outline*; None for a pass whose
    structure is needed anyway.

    Passes of one structure have one outline, which is found sooner. The structure
    is needed where a pass is recorded, and where an index may become data.
    """
    operators = tuple(map(_operators, order))
    if request.records or not set(map(_by_position, set(operators))) <= {None}:
        return None
    ends = len(request.seeds), None if request.targets is None else len(request.targets)
    options = ends, request.batch, request.direction, settings.version
    return hash((operators, order[0].outputs if order else (), options))


def times_outlined(request: Any, order: Sequence[Node]) -> int | None:
    """Return how many earlier passes had the outline of this one, and count this pass; None where
    only the structure tells whether a pass was met before.

    Most graphs whose outline is new never come again, so their structure is not looked for.
    """
    outline = outline_of(request, order)
    if outline is None:
        return None
    count: int = outlines.get(outline, 0)
    outlines[outline] = count + 1
    return count


def _by_position(operator: Any) -> Any:
    return getattr(operator, "by_position", None)  # functions of users have none


class _Key:
    """The key of a pass while it is being put together, and the arrays that are arguments of its
    program."""

    __slots__ = ("arrays", "has_parts", "index", "indexed", "order", "parts", "places", "watched")

    def __init__(self, order: Sequence[Node], watched: Sequence[int]) -> None:
        self.order, self.watched = order, watched
        self.index = {node: n for n, node in enumerate(order)}
        self.arrays: list[np.ndarray] = []
        self.places: dict[int, int] = {}
        self.parts: list[Any] = []
        self.indexed: list[tuple[Node, ByPosition]] = []
        self.has_parts = False

    def add_nodes(self, records: bool) -> bool:
        """Add the kinds, connections and saved values of the nodes; return False if the pass cannot
        use plans."""
        index, parts = self.index, self.parts
        place_of = index.get
        for node in self.order:
            kind: Any = node.kind
            if kind is None:
                if type(node) is Call:
                    self._add_call(node)
                    continue
                if type(node) is not Accumulator:
                    return False
                parts.append(node.outputs)
                continue
            if records and kind.operator.is_replay:
                return False  # its derivative is recorded as one operation
            parts.append(kind if kind.operator.by_position is None else self._dynamic(node, kind))
            parts.append(tuple([-1 if p is None else place_of(p) for p in node.parents]))
            if None in parts[-1]:  # parents older than the last node of the pass
                older = [p for p in node.parents if p is not None and p not in index]
                parts += [p.kind for p in older]
            if any(node.slots):
                parts.append(node.slots)
            if not self._add_saved(node.saved):
                return False
        return True

    def _add_call(self, node: Node) -> None:
        """Add a call of a function of the user, whose saved values are that function's affair."""
        parents = [-1 if p is None else self.index.get(p) for p in node.parents]
        self.parts += (node._kind, tuple(parents), node.slots)

    def _dynamic(self, node: Node, kind: Any) -> Any:
        """Return the kind of a node's stand-in, which takes the index as data, and note the
        stand-in.

        For a node without a stand-in the node's own ``kind`` is returned.
        """
        self.has_parts = self.has_parts or reads_partly_written(node)
        seen = by_position(node)
        if seen is None:
            return kind
        self.indexed.append((node, seen))
        return seen.kind

    def _add_saved(self, saved: Sequence[Any] | None) -> bool:
        """Add the arrays of saved values; return False if a value has no array, as it is still to
        be computed or a hook has packed it."""
        if saved is None:
            self.parts.append(None)
            return True
        for value in saved:
            if value is None:
                continue
            if not isinstance(value, Value) or value.array is None:
                return False
            self._add_array(value.array)
        return True

    def add_seeds(self, seeds: Sequence[Any]) -> bool:
        """Add the seeds and the edges where they arrive; return False if a seed is still to be
        computed."""
        for edge, value in seeds:
            if value.array is None:
                return False
            self.parts += (self.index.get(edge.node, -1), edge.slot, value.rows)
            self._add_array(value.array)
        return True

    def _add_array(self, array: np.ndarray) -> None:
        """Add an array to the arguments of the program, and its number and strides to the key."""
        place = self.places.get(id(array))
        if place is not None:
            self.parts.append(place)
            return
        place = self.places[id(array)] = len(self.arrays)
        self.arrays.append(array)
        self.parts.append(place)  # first, so that strides are not taken for the slots of a node
        if not array.flags.c_contiguous:
            self.parts.append(array.strides)

    def structure(self, request: Any) -> Structure:
        """Add the options of the requested pass, and return its structure."""
        targets = request.targets
        if targets is not None:
            targets = tuple([(self.index.get(node, -1), slot) for node, slot in targets])
        self.parts += (
            targets, request.extra_leaves, request.seeds_last, request.batch, request.create_graph,
            request.direction, settings.version, runtime.target, streams_beside(self.order),
        )  # fmt: skip
        if self.watched:
            self.parts.append(tuple([(n, is_seen_within(self.order[n])) for n in self.watched]))
        key: Hashable = tuple(self.parts)
        indexed = self.indexed
        if indexed:
            key = (key, *[node._kind for node, _ in indexed])
            if self.has_parts and any([writes(node) for node, _ in indexed]):  # noqa: C419
                indexed = []  # a written array receives parts of gradients, not whole ones
        if self.watched:
            indexed = []
        return Structure(
            key, self.arrays, self.order, self.index, indexed, watched=self.watched
        )  # fmt: skip
