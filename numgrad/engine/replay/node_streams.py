"""Streams of the nodes of a pass, beside the stream on which the pass begins and ends.

The derivative of an operation is computed on the stream of the operation. A pass all of whose nodes
have the stream of its caller is like one on the default stream: its program names no stream, and so
serves passes on any other one.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from ..graph.callsite import Site
from ..graph.node import Node
from ..graph.value import CPU
from ..record.apply import chosen_stream, mode, on_stream, other_modes, runtime

_extras = attrgetter("extras")


def stream_of(node: Node, caller: Any, is_chosen: bool) -> Any:
    """Return the stream on which the derivative of a node is computed; None for the default stream.

    Parameters
    ----------
    caller : Stream or None
        The stream that was current where the pass began.
    is_chosen : bool
        Whether the user has chosen that stream. Else, as in a captured function, nodes without a
        stream have that of the caller.
    """
    stream = node.stream
    if stream is None and not is_chosen:
        return caller
    device = node.outputs[0].device
    if node.is_accumulator or device == CPU:
        return caller
    return stream or runtime.targets[device].default_stream


def streams_beside(nodes: Sequence[Node]) -> tuple[Any, ...] | None:
    """Return for each node of a pass that begins now the stream of its derivative, None in place of
    the current stream; None alone if there is no other stream."""
    is_chosen = bool(other_modes) and chosen_stream() is not None
    if not is_chosen and not any(map(_extras, nodes)):
        return None
    caller = mode.stream
    found = [stream_of(node, caller, is_chosen) for node in nodes]
    beside = tuple([None if _are_same(stream, caller) else stream for stream in found])
    return beside if any(beside) else None


def site_of(node: Node, structure: Any) -> Site | None:
    """Return the line of a node, with the stream of its derivative: without one if that is the
    stream on which a pass with a structure runs."""
    site = on_stream(node.site)
    if structure is None or site is None:
        return site
    stream = chosen_stream()
    return site if site.stream is stream else site._replace(stream=stream)


def _are_same(stream: Any, caller: Any) -> bool:
    """Whether two streams are the same; None stands for the default stream of any device."""
    if caller is not None or stream is None:
        return stream is caller
    return stream is runtime.targets[stream.device].default_stream


__all__ = ["site_of", "stream_of", "streams_beside"]
