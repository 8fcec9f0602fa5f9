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

from ..graph.node import Accumulator, Node
from .dynamic_index import by_position, general_kind

_kinds, _parents = attrgetter("_kind"), attrgetter("parents")
_numbers, _extras, _slots = attrgetter("number"), attrgetter("extras"), attrgetter("slots")


_MOST_FIRST = 6  # nodes from each root on that are compared before a plan is tried


def known_kind(node: Node) -> Any:
    """Return the kind of a node if the node has looked it up already, else that of its stand-in,
    which takes the index as data.

    Finding the kind of an index that is met for the first time would be in vain as a rule: most
    indices never come again.
    """
    return node.kind if node._kind.is_settled else general_kind(node)


def own_kind(node: Node) -> Any:
    """Return the kind of a node, which is looked up at the first time."""
    return node.kind


def first_nodes(roots: tuple[Node, ...]) -> list[Node]:
    """Return the first nodes of a pass: each root, its first parent, the first parent of that, and
    so on.

    At most `_MOST_FIRST` nodes are returned for a root. The kinds of these nodes tell most graphs
    apart, so that few tracks are tried in vain.
    """
    nodes = []
    for root in roots:
        node: Node | None = root
        for _ in range(_MOST_FIRST):
            if node is None:
                break
            nodes.append(node)
            parents = node.parents
            node = parents[0] if parents else None
    return nodes


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
    """

    __slots__ = ("_above", "_leaves", "indexed", "keepers", "kinds", "route", "slots")

    def __init__(
        self, roots: tuple[Node, ...], order: Sequence[Node], by_position: Collection[Node]
    ) -> None:
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
            if node.saved
        ]
        self.indexed = [n for n, node in enumerate(order) if node in by_position]
        self.kinds = self._general(order)
        several = any([len(node.outputs) > 1 for node in order])  # noqa: C419
        self.slots = list(map(_slots, order)) if several else None
        self._leaves = [(n, x.outputs[0]) for n, x in enumerate(order) if type(x) is Accumulator]
        parents = chain(roots, *map(_parents, order))  # an output given twice is one node
        above = [-1 if p is None else index[p] for p in parents]
        self._above = itemgetter(*above, -1, -1)  # two more, so that it returns a tuple

    def leaves(self) -> set[int]:
        """Return the numbers of the nodes that are accumulators."""
        return {n for n, _ in self._leaves}

    def walk(self, roots: tuple[Node, ...]) -> list[Any] | None:
        """Return the nodes of a graph, in the order of the track; None if the graph has another
        structure."""
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
        if any(map(_extras, nodes)):
            return None
        numbers = list(map(_numbers, nodes))
        if not all(map(gt, numbers, numbers[1:])):
            return None
        if self.slots is not None and list(map(_slots, nodes)) != self.slots:
            return None
        above = (*chain(roots, *map(_parents, nodes)), None, None)
        if above != self._above((*nodes, None)) or not self._has_its_leaves(nodes):
            return None
        return nodes

    def _general(self, nodes: Sequence[Any]) -> list[Any]:
        """Return the kinds of nodes: of each node whose index is data, the kind of its
        stand-in."""
        kinds: list[Any] = list(map(_kinds, nodes))
        for n in self.indexed:
            kinds[n] = general_kind(nodes[n])
        return kinds

    def look_up_kinds(self, nodes: Sequence[Any]) -> None:
        """Look up the kinds of nodes that the walk has reached, as a new node may have one of its
        own, and the stand-ins of the nodes whose indices are data."""
        indexed = set(self.indexed)
        for n, node in enumerate(nodes):
            if n in indexed:
                by_position(node)
            elif not node._kind.is_settled:
                node.kind  # noqa: B018  puts the shared kind in place of the own one

    def _has_its_leaves(self, nodes: list[Any]) -> bool:
        for n, spec in self._leaves:
            leaf = nodes[n]
            if type(leaf) is not Accumulator or leaf.outputs[0] != spec or leaf.variable.hooks:
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


def identity_numbers(arrays: Sequence[np.ndarray]) -> list[int]:
    """Return a number for each array, in order of first appearance: the same number for the same
    object."""
    seen: dict[int, int] = {}
    return [seen.setdefault(i, len(seen)) for i in map(id, arrays)]


def layouts(arrays: Sequence[np.ndarray]) -> list[Any]:
    """Return the layout of each array: True for C order, else its strides."""
    return [item.flags.c_contiguous or item.strides for item in arrays]


__all__ = ["Track", "first_nodes", "identity_numbers", "known_kind", "layouts", "own_kind"]
