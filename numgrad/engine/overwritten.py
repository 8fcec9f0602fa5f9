"""What was overwritten as a whole: no gradient goes there, not even zeros, which an infinite
derivative would turn into NaN on their way."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from .graph import Edge, Node, Value
from .record import runtime
from .select import reachable


def zeros_behind(
    missing: Collection[Edge], order: Sequence[Node], request: Any
) -> dict[Edge, Value]:
    """Return zeros for the edges that the nodes of a pass reach through what was overwritten.

    Parameters
    ----------
    missing : collection of Edge
        Those to which no gradient came.
    order : sequence of Node
    request : Request
    """
    above = [node.parents[0] for node in order if _is_overwriting(node)] if missing else []
    roots = [node for node in above if node is not None]
    behind = set(reachable(roots, request.cut, request.ends)) if roots else set()
    return {edge: _zeros(edge) for edge in missing if edge.node in behind}


def _is_overwriting(node: Node) -> bool:
    return not node.is_accumulator and node.operator.covers(node.inputs, node.static)


def _zeros(edge: Edge) -> Value:
    assert edge.node is not None
    spec = edge.node.outputs[edge.slot]
    zero = runtime.value(np.zeros((), spec.dtype))
    return runtime.roles["copy"](runtime.roles["broadcast_to"](zero, spec.shape))


__all__ = ["zeros_behind"]
