"""The beginning of a pass: what is compared before a plan is tried for the whole graph.

That is the options, and the kinds of the first nodes from each root on.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from ..._settings import settings
from ..graph.node import Call, Node
from ..graph.traversal import is_marked
from ..record.apply import runtime
from .dynamic_index import general_kind

Starts = tuple[Any, ...]
_MOST_FIRST = 6  # nodes from each root on that are compared before a plan is tried


def known(node: Node) -> Any:
    """Return the kind of a node if the node has looked it up already, else that of its stand-in,
    which takes the index as data.

    Finding the kind of an index that is met for the first time would be in vain as a rule: most
    indices never come again.
    """
    return node._kind if node._kind.is_settled else general(node)


def general(node: Node) -> Any:
    """Return the kind of a node's stand-in if there is one, else the node's own kind."""
    return general_kind(node) or node._kind


def own(node: Node) -> Any:
    """Return the kind of a node, which nodes like it share."""
    return node.kind or node._kind


def beginnings(nodes: Sequence[Node], starts: Starts) -> Iterator[Hashable]:
    """Give the beginnings of the passes whose plans may serve a graph with these first nodes: by
    the kinds that the nodes know, by those of stand-ins, by those that are looked up."""
    kinds = tuple(map(known, nodes))
    yield (kinds, *starts)
    for kind_of in (general, own):
        others = tuple(map(kind_of, nodes))
        if others != kinds:
            yield (others, *starts)


def cut_beginning(nodes: Sequence[Node], starts: Starts) -> Hashable:
    """Return the beginning of a pass in which Python code of the user takes part: also which of the
    first nodes have hooks or the like."""
    marks = tuple(map(is_marked, nodes))
    kinds = [node._kind if node._kind.is_settled else own(node) for node in nodes]
    return (marks, tuple(kinds), *starts)


def is_watched(nodes: Sequence[Node]) -> bool:
    """Whether one of the first nodes has hooks or the like, or is a function of the user."""
    for node in nodes:  # most passes come here: without a call for each node
        extras = node.extras
        if type(node) is Call or (extras is not None and extras.are_seen):
            return True
    return False


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


def first_starts(request: Any) -> tuple[tuple[Node, ...], Starts]:
    """Return the roots of a requested pass, and the part of its key that `starts_of` returns."""
    seeds = [(edge.slot, value.rows) for edge, value in request.seeds]
    targets = request.targets
    slots = None if targets is None else tuple([slot for _, slot in targets])
    options = request.extra_leaves, request.seeds_last, request.batch, request.create_graph
    if request.direction != "reverse":
        options = (*options, request.direction)
    return request.roots, starts_of(tuple(seeds), slots, options)


def starts_of(
    seeds: tuple[tuple[int, bool], ...], slots: tuple[int, ...] | None, options: tuple[Any, ...]
) -> Starts:
    """Return the part of a pass's key that does not depend on its graph.

    Parameters
    ----------
    seeds : tuple of (int, bool)
        For each root the number of the output that has the seed, and whether the seed has rows.
    slots : tuple of int, optional
        For each target the number of the output of its node; None if all leaves are targets.
    options : tuple
        ``extra_leaves, seeds_last, batch, create_graph`` of the request.
    """
    return seeds, slots, options, settings.version, runtime.target


__all__ = [
    "Starts", "beginnings", "cut_beginning", "first_nodes", "first_starts", "general", "is_watched",
    "own", "starts_of",
]  # fmt: skip
