"""CUDA graphs: programs of many short launches, which the device replays as one launch.

The addresses in a graph are fixed. So a graph has memory of its own: arguments are copied there
before a run, and results from there afterwards. A graph is worth while if there are many more
launches than arguments and results, and few bytes to copy.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

from ....ir.device_array import DeviceArray
from ....ir.program import contiguous_strides, extent
from ....ir.streams import Stream
from ....process.fork_locks import fork_safe_lock
from ..device.memory import Memory
from .steps import Launch

OFTEN = 8
"""A program is made a graph, if that is worth while, at the run of this number."""

_FEW = 4
"""The number of launches that take as long as the launch of a graph, without its copies."""

_BYTES_OF_A_LAUNCH = 1 << 20
"""The bytes that a device copies in the time of one launch, about a microsecond. A kernel on more
bytes takes longer than the launch of the next one, so that a graph would save no time."""

_one_at_a_time = fork_safe_lock()  # all runs of a graph use the same copies of arguments


class Span:
    """The bytes that an argument or a result of a program spans in the memory of its graph.

    Attributes
    ----------
    first : int
        The bytes in front of the element at index 0, which negative strides make necessary.
    nbytes : int
        The bytes from the first to the last element, both included.
    """

    __slots__ = ("first", "nbytes")

    def __init__(
        self, shape: tuple[int, ...], itemsize: int, strides: tuple[int, ...] | None
    ) -> None:
        low, high = extent(shape, strides or contiguous_strides(shape, itemsize))
        self.first, self.nbytes = -low, high - low + itemsize if prod(shape) else 0


def is_worth_while(steps: Sequence[Any], spans: Sequence[Span], own: int) -> bool:
    """Whether one launch of a graph, with its copies, takes less time than the steps one by one.

    ``spans`` are those of arguments and results. A graph keeps its memory between runs; so the
    ``own`` bytes of intermediate buffers count as if they were copied.
    """
    saved = len(steps) - 2 * len(spans) - _FEW
    nbytes = own + sum([span.nbytes for span in spans])
    return saved > nbytes / _BYTES_OF_A_LAUNCH and all(isinstance(step, Launch) for step in steps)


class GraphExecutable:
    """A program as one CUDA graph, with memory for copies of its arguments and results.

    Parameters
    ----------
    runtime
    steps : sequence of Launch
        All steps of the program, which must be launches; see `is_worth_while`.
    nbytes : int
        The bytes of intermediate buffers.
    kept : sequence of Memory
        The constants of the program.
    spans : sequence of Span
        The spans of arguments, then of results.
    outputs : int
        The number of results: so many of the last spans.
    """

    def __init__(
        self, runtime: Any, steps: Sequence[Any], nbytes: int, kept: Sequence[Memory],
        spans: Sequence[Span], outputs: int,
    ) -> None:  # fmt: skip
        self._runtime, self._spans, self._outputs = runtime, spans, outputs
        self._last: Stream = runtime.current()
        self._own = [runtime.allocate(span.nbytes) for span in spans]
        between = runtime.allocate(nbytes)
        self._memories = [between, *kept, *self._own]
        blocks = [(memory, 0) for memory in (between, *kept)]
        blocks += [(m, span.first) for m, span in zip(self._own, spans, strict=True)]
        launches = [
            (step.kernel, step.elements, step.given(blocks, self._last))
            for step in steps
            if step.elements
        ]
        self._graph = runtime.driver.captured(launches)

    def run(self, arrays: Sequence[DeviceArray], stream: Stream) -> None:
        """Run the program on a stream, after the latest run, as all runs share the graph's memory.

        ``arrays`` are the arguments, followed by the arrays for the results.
        """
        with _one_at_a_time:
            stream.wait_stream(self._last)
            self._last = stream
            for memory in self._memories:
                memory.used_by(stream)
            inputs = len(arrays) - self._outputs
            for n in range(inputs):
                self._copy(n, arrays[n], stream, is_result=False)
            self._runtime.driver.launch_graph(self._graph, stream.handle)
            for n in range(inputs, len(arrays)):
                self._copy(n, arrays[n], stream, is_result=True)

    def _copy(self, n: int, array: DeviceArray, stream: Stream, is_result: bool) -> None:
        span = self._spans[n]
        there = array.memory.used_by(stream), array.offset - span.first
        here = self._own[n].block, 0
        to, source = (there, here) if is_result else (here, there)
        self._runtime.driver.copy(*to, *source, span.nbytes, stream.handle)
