"""Streams of a device in a pass over a graph that was recorded on several.

The gradients of a node are computed on the node's own stream, the sums at leaves on the caller's
stream, where the pass begins and ends. Programs know the streams of their instructions. `Streams`
orders what the pass itself does in between, which is to run hooks and to compute values for hooks.
"""

from collections.abc import Sequence
from typing import Any

from ...process.interruptible import Block
from ..graph.node import Node
from ..record.apply import changing, chosen_stream, mode, runtime
from ..replay.node_streams import stream_of, streams_beside


class Streams:
    """The streams of a pass.

    Attributes
    ----------
    caller : Stream or None
        The current stream where the pass begins; None for the default stream.
    """

    def __init__(self) -> None:
        self.caller = mode.stream
        self._is_chosen = chosen_stream() is not None
        self._entered: dict[Any, None] = {}  # the streams on which nodes were visited

    def of(self, node: Node) -> Block:
        """Return a block in which the stream of a node is the current one.

        What the block makes at once, such as an array of zeros or the result of a hook, is an input
        of the program that computes the rest.
        """
        stream = stream_of(node, self.caller, self._is_chosen)
        if stream is not None:
            self._entered[stream] = None
        return changing(stream=stream)

    def computing(self) -> Block:
        """Return a block that computes values, to be shown to Python or to be returned, on the
        caller's stream.

        The caller's stream waits for the streams on which nodes were visited; `show` makes the
        current stream wait for the caller's.
        """
        for stream in self._entered:
            self._caller_on(stream.device).wait_stream(stream)
        return changing(stream=self.caller)

    def show(self) -> None:
        """Let the current stream wait for the values that the caller's stream computes."""
        if mode.stream is not None:
            mode.stream.wait_stream(self._caller_on(mode.stream.device))

    def _caller_on(self, device: str) -> Any:
        if self.caller is not None and self.caller.device == device:
            return self.caller
        return runtime.targets[device].default_stream


def streams_of(order: Sequence[Node]) -> Streams | None:
    """Return the streams of a pass over nodes; None where all are the current stream."""
    return None if streams_beside(order) is None else Streams()
