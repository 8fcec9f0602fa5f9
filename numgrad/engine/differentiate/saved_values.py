"""The saved values of a pass are taken at once, and freed unless the graph is kept."""

from collections.abc import Collection
from operator import attrgetter
from typing import Any

from ..graph.node import Node, are_unwritten
from ..graph.saved import freeing

_saved, _versions = attrgetter("saved"), attrgetter("versions")


def take_saved(backward_pass: Any, nodes: Collection[Node]) -> None:
    """Take the saved values of nodes under a lock: of two passes that free one graph, one gets all
    values, and the other an error.
    """
    saved = backward_pass.saved
    with freeing:
        kept = list(map(_saved, nodes))
        if None not in kept and all(map(are_unwritten, kept, map(_versions, nodes))):
            saved.update(zip(nodes, kept, strict=True))
        else:
            for node in nodes:
                saved[node] = node.unpack()
        if not backward_pass.request.retain_graph:
            backward_pass.has_freed = True
            for node in nodes:
                if node.saved:
                    node.saved = None


__all__ = ["take_saved"]
