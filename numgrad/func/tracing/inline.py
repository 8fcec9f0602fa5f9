"""The graph of a captured function, node by node, where one node stands for all of it.

A replay is one operation of a graph. That is enough for gradients, and for derivatives of gradients
that are computed one by one. A batched pass that is recorded itself needs the operations that the
function is made of: each of them works on any number of leading axes, a replay does not.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..._errors import NotDifferentiableError
from ...engine.differentiate.backward import Pass
from ...engine.differentiate.forward import ForwardPass
from ...engine.graph.node import NO_EDGE, Edge, Node, Value, new_node
from ...engine.graph.traversal import reachable
from ...engine.record.apply import runtime

if TYPE_CHECKING:
    from .trace import Recording


def pull(
    backward_pass: Pass,
    node: Node,
    recording: "Recording",
    inputs: Sequence[Any],
    seeds: Sequence[Value],
    past: Mapping[int, Value],
) -> list[Value | None]:
    """Return the gradients of a replay, built from the operations of its function.

    Parameters
    ----------
    node
        That of the replay.
    inputs
        What the function was called with.
    seeds
        The cotangents of the outputs that require grad.
    past
        What the call has read in place of arrays that have changed since, by their ids.
    """
    outputs, doors = _graph(node, recording, inputs, past)
    ends = [door for door in doors if door.node is not None]
    found = backward_pass.gradients_through(list(zip(outputs, seeds, strict=True)), ends)
    return [found.get(door) for door in doors]


def push(
    forward_pass: ForwardPass,
    node: Node,
    recording: "Recording",
    inputs: Sequence[Any],
    tangents: Sequence[Value | None],
    past: Mapping[int, Value],
) -> list[Value | None]:
    """Return the tangents of the outputs of a replay, built from the operations of its function.

    Parameters
    ----------
    node, inputs, past
        As of `pull`.
    tangents
        Those of the inputs, None where there is none.
    """
    if recording.has_passages:
        raise NotDifferentiableError(
            f"{recording.name} computes a batched derivative inside, and uses an operator whose "
            f"derivative has none: there is no forward mode through it. Call the function without "
            f"ng.jit, declare the derivative of the backward kernel, or use reverse mode"
        )
    outputs, doors = _graph(node, recording, inputs, past)
    pairs = zip(doors, tangents, strict=True)
    seeds = [(door, t) for door, t in pairs if door.node is not None and t is not None]
    found = forward_pass.tangents_through(seeds, outputs)
    made: list[Value | None] = [None] * len(node.outputs)
    for n, edge in zip(recording.live, outputs, strict=True):
        made[n] = found.get(edge)
    return made


def _graph(
    node: Node, recording: "Recording", inputs: Sequence[Any], past: Mapping[int, Value]
) -> tuple[list[Edge], list[Edge]]:
    """Return the edges of the outputs and of the inputs of a copy of the graph of a function."""
    doors = [_door(edge, spec) for edge, spec in zip(node.edges, node.inputs, strict=True)]
    outputs = [recording.outputs[n].edge for n in recording.live]
    present = {e: d for e, d in zip(recording.edges, doors, strict=True) if e is not NO_EDGE}
    copies = _copied(outputs, present, recording.inline(inputs, past))
    return [copies(edge) for edge in outputs], doors


def _door(edge: Edge, spec: Any) -> Edge:
    """Return an edge of its own for an input, behind which the graph of the caller begins."""
    if edge.node is None:
        return NO_EDGE
    return Edge(new_node(runtime.roles["copy"], {}, [edge], [spec], [spec]), 0)


def _copied(
    outputs: Sequence[Edge], present: dict[Edge, Edge], replaced: Callable[[Value], Value]
) -> Callable[[Edge], Edge]:
    """Copy the nodes between outputs and the edges that are present already; return what says
    which edge of the copy stands for one of the original."""
    copies: dict[Node, Node] = {}

    def copied(edge: Edge) -> Edge:
        if edge in present or edge.node is None:
            return present.get(edge, NO_EDGE)
        return Edge(copies[edge.node], edge.slot)

    roots = [edge.node for edge in outputs if edge not in present and edge.node is not None]
    for node in reversed(reachable(roots, present)):
        if node.is_accumulator:  # of a leaf that the function has made
            copies[node] = node
            continue
        copy = new_node(
            node.operator, node.static, list(map(copied, node.edges)), node.inputs, node.outputs
        )
        if node.saved:
            copy.save([replaced(v) if isinstance(v, Value) else v for v in node.saved])
        copy.code, copy.instruction, copy.extras = node.code, node.instruction, node.extras
        copies[node] = copy
    return copied
