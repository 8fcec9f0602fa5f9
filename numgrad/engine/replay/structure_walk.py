"""Graphs that are met again: a walk along a known track replaces the search for their nodes.

A `Track` leads from the roots of a pass to all other nodes; each step goes from a node that was
reached before to one of its parents. Then the structure of the graph is checked for all nodes at
once: kinds, parents, and the order in which the nodes were made, which decides the order of sums.
So a graph of known structure costs some 0.1 us a node, a tenth of the time to make its key.
"""

from array import array
from collections.abc import Collection, Sequence
from itertools import chain
from operator import attrgetter, gt, itemgetter
from typing import Any

import numpy as np

from ..graph.node import Accumulator, Call, Node, OwnSlot, restore_saved
from ..graph.traversal import has_plain_watchers, is_marked, is_seen_within
from ..record.apply import other_modes
from .dynamic_index import by_position, general_kind
from .node_streams import streams_beside

_kinds, _parents = attrgetter("_kind"), attrgetter("parents")
_numbers, _extras, _slots = attrgetter("number"), attrgetter("extras"), attrgetter("slots")


class _Start:
    """A stand-in for a node, at which a walk starts: its parents are the roots of the pass."""

    __slots__ = ("parents",)

    def __init__(self, roots: tuple[Node, ...]) -> None:
        self.parents = roots


class Track:
    """The way of a walk through graphs of one structure, and what the walk has to find there.

    Parameters
    ----------
    roots : tuple of Node
        The nodes where the pass starts.
    order : sequence of Node
        All nodes, the latest first.
    by_position : dict
        The nodes whose indices are data; see `dynamic_index`.
    watched : sequence of int
        The numbers of the nodes that have hooks or the like, or are functions of users.

    Attributes
    ----------
    route : array of int, array of int
        How the walk reaches each node, as one of the parents of a node that was reached before. The
        first array has the numbers of those earlier nodes in the walk, where 0 is the start; the
        second one has the positions among their parents. Arrays are compact, which saves time: by
        the next pass no cache of the processor has them any more.
    keepers : list of (int, tuple of int)
        The number of each node that saved values, and the positions of these values in
        ``Node.saved``.
    indexed : list of int
        The numbers of the nodes whose indices are data.
    kinds : list of Kind
        The kind of each node, or of the stand-in of a node whose index is data.
    slots : list of tuple of int, optional
        The slots of each node; None if all are 0, as no node has several outputs.
    is_cut : bool
        Whether Python code of the user takes part in a pass.
    marked, hooked : list of int
        The nodes that have more `Extras` than a stream, and the leaves with hooks.
    within : list of bool
        For each marked node whether its hooks are called by its own visit; see `is_seen_within`.
    """

    __slots__ = (
        "_above", "_leaves", "_streams", "hooked", "indexed", "is_cut", "keepers", "kinds",
        "marked", "route", "slots", "within",
    )  # fmt: skip

    def __init__(
        self,
        roots: tuple[Node, ...],
        order: Sequence[Node],
        by_position: Collection[Node],
        watched: Sequence[int] = (),
    ) -> None:
        self.is_cut = bool(watched)
        self.marked = [n for n in watched if is_marked(order[n])]
        self.within = [is_seen_within(order[n]) for n in self.marked]
        self.hooked = [n for n in watched if _has_hooks(order[n])]
        index = {node: n for n, node in enumerate(order)}
        found: dict[Node, tuple[int, int]] = {}
        for n, node in enumerate((_Start(roots), *order)):
            for position, parent in enumerate(node.parents):
                if parent is not None:
                    found.setdefault(parent, (n, position))
        self.route = (
            array("i", [found[node][0] for node in order]),
            array("i", [found[node][1] for node in order]),
        )
        self.keepers = [
            (n, tuple([k for k, value in enumerate(node.saved) if value is not None]))
            for n, node in enumerate(order)
            if node.saved and type(node) is not Call
        ]
        self.indexed = [n for n, node in enumerate(order) if node in by_position]
        self.kinds = self._general(order)
        several = any([len(node.outputs) > 1 for node in order])  # noqa: C419
        self.slots = list(map(_slots, order)) if several else None
        self._leaves = [(n, x.outputs[0]) for n, x in enumerate(order) if type(x) is Accumulator]
        parents = chain(roots, *map(_parents, order))  # an output given twice is one node
        above = [-1 if p is None else index[p] for p in parents]
        self._streams = streams_beside(order)
        self._above = itemgetter(*above, -1, -1)  # two more, so that it returns a tuple

    def leaves(self) -> set[int]:
        """Return the numbers of the nodes that are accumulators."""
        return {n for n, _ in self._leaves}

    def walk(self, roots: tuple[Node, ...]) -> list[Any] | None:
        """Return the nodes of a graph, in the order of the track; None if the graph has another
        structure. What the nodes have saved, and was written since, is restored."""
        nodes: list[Any] = [_Start(roots)]
        add = nodes.append
        try:
            for n, position in zip(*self.route, strict=True):
                add(nodes[n].parents[position])
            del nodes[0]
            kinds = self._general(nodes)
        except (AttributeError, IndexError):  # no such parent
            return None
        if kinds != self.kinds:
            loose = [node for node in nodes if not node._kind.is_settled]
            for node in loose:
                node.kind  # noqa: B018  looks for a shared one
            if not loose or self._general(nodes) != self.kinds:
                return None
        has_extras = any(map(_extras, nodes))
        if (_marked(nodes) if has_extras else []) != self.marked:
            return None
        if (streams_beside(nodes) if has_extras or other_modes else None) != self._streams:
            return None
        numbers = list(map(_numbers, nodes))
        if not all(map(gt, numbers, numbers[1:])):
            return None
        if self.slots is not None and list(map(_slots, nodes)) != self.slots:
            return None
        above = (*chain(roots, *map(_parents, nodes)), None, None)
        if above != self._above((*nodes, None)) or not self._has_its_leaves(nodes):
            return None
        if self.is_cut and not self.are_watched_alike(nodes):
            return None
        restore_saved(nodes)
        return nodes

    def are_watched_alike(self, nodes: Sequence[Any]) -> bool:
        """Whether the marked nodes and hooked leaves of another graph are watched alike, and a pass
        may visit them alone with care; see `has_plain_watchers`."""
        seen = [*self.marked, *self.hooked]
        if not seen:
            return True
        if [is_seen_within(nodes[n]) for n in self.marked] != self.within:
            return False
        if not all([_has_hooks(nodes[n]) for n in self.hooked]):  # noqa: C419  a list is faster
            return False
        if OwnSlot in set(map(type, chain.from_iterable(map(_slots, nodes)))):
            return has_plain_watchers(nodes, seen)
        return not any([nodes[n].stream for n in self.marked])  # noqa: C419

    def _general(self, nodes: Sequence[Any]) -> list[Any]:
        """Return the kinds of nodes: of each node whose index is data, the kind of its
        stand-in."""
        kinds: list[Any] = list(map(_kinds, nodes))
        for n in self.indexed:
            kinds[n] = general_kind(nodes[n])
        return kinds

    def settle(self, nodes: Sequence[Any]) -> None:
        """Restore what nodes that the walk has reached have saved, and look up their kinds, as a
        new node may have one of its own, and the stand-ins of the nodes whose indices are data."""
        restore_saved(nodes)
        indexed = set(self.indexed)
        for n, node in enumerate(nodes):
            if n in indexed:
                by_position(node)
            elif not node._kind.is_settled:
                node.kind  # noqa: B018  puts the shared kind in place of the own one

    def _has_its_leaves(self, nodes: list[Any]) -> bool:
        for n, spec in self._leaves:
            leaf = nodes[n]
            if type(leaf) is not Accumulator or leaf.outputs[0] != spec:
                return False
            if leaf.variable.hooks and n not in self.hooked:
                return False
        return True

    def arrays(self, nodes: list[Any], last: Sequence[Any]) -> list[np.ndarray] | None:
        """Return the arrays of the saved values of ``nodes``, followed by ``last``, the arrays of
        the seeds.

        The result is None if an array is still to be computed, or if saved values were freed or
        packed.
        """
        found = []
        try:
            for n, places in self.keepers:
                saved = nodes[n].saved
                for place in places:
                    found.append(saved[place].array)
        except (AttributeError, TypeError):  # packed by a hook, or freed
            return None
        found += last
        for item in found:
            if item is None:
                return None
        return found

    def positions(self, nodes: list[Any]) -> list[np.ndarray]:
        """Return the positions of the indexed elements, for each node whose index is data."""
        found: list[Any] = [by_position(nodes[n]) for n in self.indexed]
        return [seen.positions for seen in found]


def _has_hooks(node: Node) -> bool:
    """Whether a node is the accumulator of a leaf that has hooks."""
    return isinstance(node, Accumulator) and bool(node.variable.hooks)


def _marked(nodes: Sequence[Any]) -> list[int]:
    return [n for n, node in enumerate(nodes) if is_marked(node)]


def identity_numbers(arrays: Sequence[np.ndarray]) -> list[int]:
    """Return a number for each array, in order of first appearance: the same number for the same
    object."""
    seen: dict[int, int] = {}
    return [seen.setdefault(i, len(seen)) for i in map(id, arrays)]


def layouts(arrays: Sequence[np.ndarray]) -> list[Any]:
    """Return the layout of each array: True for C order, else its strides."""
    return [item.flags.c_contiguous or item.strides for item in arrays]


__all__ = ["Track", "identity_numbers", "layouts"]
