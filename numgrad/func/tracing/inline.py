"""Passes through the nodes of a captured function, in place of the one node of a call.

One node is enough for gradients, and for derivatives of gradients that are computed one by one. A
batched pass that is recorded itself needs the operators of the function: each of them works on any
number of leading axes, while a trace does not.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from ..._errors import NotDifferentiableError
from ...engine.differentiate.backward import BackwardPass
from ...engine.differentiate.forward import ForwardPass
from ...engine.graph.node import NO_EDGE, Edge, Extras, Node, Value, new_node
from ...engine.graph.traversal import reachable
from ...engine.record.apply import runtime

if TYPE_CHECKING:
    from .trace import Trace


def pull(
    backward_pass: BackwardPass,
    node: Node,
    trace: "Trace",
    inputs: Sequence[Any],
    seeds: Sequence[Value],
    past: Mapping[int, Value],
) -> list[Value | None]:
    """Return the gradients of a call, by a backward pass through the nodes of its function.

    Parameters
    ----------
    node
        The node of the call.
    inputs
        The arguments of the call.
    seeds
        The cotangents of the outputs that require grad.
    past
        The values that the call has read from arrays that have changed since, by the ids of the
        arrays.
    """
    outputs, input_edges = _graph(node, trace, inputs, past)
    ends = [edge for edge in input_edges if edge.node is not None]
    found = backward_pass.gradients_through(list(zip(outputs, seeds, strict=True)), ends)
    return [found.get(edge) for edge in input_edges]


def push(
    forward_pass: ForwardPass,
    node: Node,
    trace: "Trace",
    inputs: Sequence[Any],
    tangents: Sequence[Value | None],
    past: Mapping[int, Value],
) -> list[Value | None]:
    """Return the tangents of the outputs of a call, by a forward pass through the nodes of its
    function.

    Parameters
    ----------
    node, inputs, past
        As for `pull`.
    tangents
        The tangents of the inputs, None for an input without a tangent.
    """
    if trace.has_passages:
        raise NotDifferentiableError(
            f"{trace.name} computes a batched derivative inside, and uses an operator whose "
            f"derivative has none: there is no forward mode through it. Call the function without "
            f"ng.jit, declare the derivative of the backward kernel, or use reverse mode"
        )
    outputs, input_edges = _graph(node, trace, inputs, past)
    pairs = zip(input_edges, tangents, strict=True)
    seeds = [(edge, t) for edge, t in pairs if edge.node is not None and t is not None]
    found = forward_pass.tangents_through(seeds, outputs)
    made: list[Value | None] = [None] * len(node.outputs)
    for n, edge in zip(trace.live, outputs, strict=True):
        made[n] = found.get(edge)
    return made


def _graph(
    node: Node, trace: "Trace", inputs: Sequence[Any], past: Mapping[int, Value]
) -> tuple[list[Edge], list[Edge]]:
    """Copy the nodes of the function of a call, for a pass through them.

    Return the edges of the copied outputs, and for each input the edge where the copy reads it.
    """
    pairs = zip(node.edges, node.inputs, strict=True)
    input_edges = [_input_edge(edge, spec) for edge, spec in pairs]
    outputs = [trace.outputs[n].edge for n in trace.live]
    present = {e: d for e, d in zip(trace.edges, input_edges, strict=True) if e is not NO_EDGE}
    copies = _copied(outputs, present, trace.inline(inputs, past), node.stream)
    return [copies(edge) for edge in outputs], input_edges


def _input_edge(edge: Edge, spec: Any) -> Edge:
    """Make a node that copies an input of the call; return the edge of the copy.

    Passes through the nodes of the function start or stop at this edge. The input of the new node
    is ``edge``, which belongs to the graph of the caller. Return `NO_EDGE` for an input without a
    graph.
    """
    if edge.node is None:
        return NO_EDGE
    return Edge(new_node(runtime.roles.copy, {}, [edge], [spec], [spec]), 0)


def _on(stream: Any, extras: Extras | None) -> Extras:
    """Return a copy of the extras of a node, with a device stream."""
    made = Extras() if extras is None else copy(extras)
    made.stream = stream
    return made


def _copied(
    outputs: Sequence[Edge],
    present: dict[Edge, Edge],
    replaced: Callable[[Value], Value],
    stream: Any,
) -> Callable[[Edge], Edge]:
    """Copy a graph: the nodes from the outputs towards the inputs, up to the edges in ``present``.

    A copied node saves ``replaced(value)`` in place of each value that the original node has saved.
    A node without a device stream of its own gets ``stream``, that of the call, on which the saved
    values were computed.
    Return a function that takes an edge of the original graph, and returns the edge of the copy; an
    edge in ``present`` stands for the item there.
    """
    copies: dict[Node, Node] = {}

    def copied(edge: Edge) -> Edge:
        if edge in present or edge.node is None:
            return present.get(edge, NO_EDGE)
        return Edge(copies[edge.node], edge.slot)

    roots = [edge.node for edge in outputs if edge not in present and edge.node is not None]
    for node in reversed(reachable(roots, present)):
        if node.is_accumulator:  # its leaf was made by the function
            copies[node] = node
            continue
        made = new_node(
            node.operator, node.static, list(map(copied, node.edges)), node.inputs, node.outputs
        )
        if node.saved:
            made.save([replaced(v) if isinstance(v, Value) else v for v in node.saved])
        made.code, made.instruction = node.code, node.instruction
        made.extras = node.extras if stream is None or node.stream else _on(stream, node.extras)
        copies[node] = made
    return copied
