"""The saved values of a pass are taken at once, and freed unless the graph is kept."""

from collections.abc import Collection
from typing import Any

from ...process.fork_locks import fork_safe_lock
from ..graph.node import Node, are_unwritten

freeing = fork_safe_lock()  # held while saved values are taken: two passes may free one graph


def take_saved(backward_pass: Any, nodes: Collection[Node]) -> None:
    """Take the saved values of nodes under a lock: of two passes that free one graph, one gets all
    values, and the other an error.

    The pass becomes stale where another value stands for one that was written; nothing is freed
    then.
    """
    saved = backward_pass.saved
    with freeing:
        for node in nodes:
            before = node.saved
            if before is not None and (not before or are_unwritten(before, node.versions)):
                saved[node] = before
            else:
                saved[node] = node.unpack()
                backward_pass.is_stale = backward_pass.is_stale or node.saved is not before
        if not backward_pass.is_stale and not backward_pass.request.retain_graph:
            backward_pass.has_freed = True
            for node in nodes:
                if node.saved:
                    node.free()


__all__ = ["freeing", "take_saved"]
