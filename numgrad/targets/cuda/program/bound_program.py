"""Programs on a device: a list of steps, mostly launches, over places in memory.

Instructions without a batch axis are launched first. The launches of all other instructions go over
all rows at once. Intermediate buffers lie in one block of memory; buffers that are never live at
the same time may share bytes there.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....ir.device_array import DeviceArray
from ....ir.kernel_spec import Strided
from ....ir.program import Instruction, Program, Shape
from ....ir.target import Bound, Failure
from ...liveness import assign
from ..kernels.gathering import cleared
from ..launch.entry import (  # fmt: skip
    ALIGNMENT,
    Launches,
    OtherStreams,
    can_enter,
    entry_of,
    maker_of,
)
from ..launch.graphs import OFTEN, GraphExecutable, Span, is_worth_while
from ..launch.lanes import LaneAssignment, assign_lanes, streams_of
from ..launch.python_entry import EntryWithNumbers, PythonEntry
from ..launch.steps import Blocks, Launch, Place
from .copies import Copy, grouped, launch_of
from .lowering import Step, lowered

_FLAG = np.dtype(np.int64)


class BoundProgram(Bound):
    """A program as a device runs it.

    Slot 0 is the block of intermediate buffers, allocated at each run; the slots of constants,
    arguments and results follow. If ``before``, an earlier form of the program, is given, the
    copies of constants that it has on the device are used again.
    """

    often = 2  # an entry is a table of words, and no code

    __slots__ = (
        "_begun", "_copies", "_flag", "_has_own", "_kept", "_lanes", "_nbytes", "_quick", "_ready",
        "_replay", "_runs", "_streams", "_target", "steps",
    )  # fmt: skip

    def __init__(
        self, program: Program, target: Any, before: "BoundProgram | None" = None
    ) -> None:
        super().__init__(program)
        self._target = target
        self._kept: list[Any] = []
        self._begun = target.runtime.current()  # the stream on which constants are copied
        self._copies: dict[int, DeviceArray] = {}
        if before is not None and before._ready is not None:
            self._copies.update(before._copies)
            self._begun.wait_event(before._ready)
        instructions = [i for i in program.instructions if not i.rows]
        instructions += [i for i in program.instructions if i.rows and program.batch]
        places, self._nbytes = self._places(instructions)
        flag = Place(0, -(-self._nbytes // ALIGNMENT) * ALIGNMENT)
        self._streams = streams_of(instructions, target.name)
        self.steps = self._lowered(instructions, [*places, flag])
        self._flag: Launch | None = None
        if any(getattr(step, "host", None) for step in self.steps):
            self._flag, self._nbytes = cleared(flag, target), flag.offset + _FLAG.itemsize
        own = {buffer for i in instructions for buffer in i.buffers if places[buffer].slot == 0}
        self._has_own = bool(own) or self._flag is not None
        self._ready = self._begun.record_event() if self._kept else None
        self._runs, self._replay = 0, None
        self._quick = OtherStreams(target, False)
        self._lanes: list[LaneAssignment] = []
        if self._streams:
            self._lanes = assign_lanes(
                instructions, self.steps, program, [*places, flag], self._streams
            )

    def _lowered(self, instructions: Sequence[Instruction], places: Sequence[Place]) -> list[Step]:
        return [self._step_of(part, places) for part in self._parts(instructions, places)]

    def _parts(
        self, instructions: Sequence[Instruction], places: Sequence[Place]
    ) -> list[Instruction | list[Copy]]:
        """Return what each step does: an instruction, or several copies.

        With streams there is a step for each instruction, as each has its own stream.
        """
        if self._streams:
            return list(instructions)
        driver = self._target.runtime.driver
        return list(grouped(instructions, self.program, places, driver))

    def _step_of(self, part: Instruction | list[Copy], places: Sequence[Place]) -> Step:
        if isinstance(part, list):
            return launch_of(part, self._target)
        return lowered(part, self.program, places, self._target)

    def _places(self, instructions: Sequence[Instruction]) -> tuple[list[Place], int]:
        program = self.program
        outside = [*program.arguments, *(ref.buffer for ref in program.results)]
        sizes = [
            nbytes * (program.batch or 0) if rows else nbytes
            for nbytes, rows in zip(program.nbytes, program.rows, strict=True)
        ]
        offsets = [-1] * len(sizes)
        for buffer in (*outside, *program.arrays):
            offsets[buffer] = 0
        top = assign(instructions, sizes, offsets, ALIGNMENT)
        places = [Place(0, offset) for offset in offsets]
        for slot, buffer in enumerate(outside, 1 + len(program.arrays)):
            places[buffer] = Place(slot, 0)
        for slot, (buffer, array) in enumerate(program.arrays.items(), 1):
            if not isinstance(array, DeviceArray):
                if buffer not in self._copies:
                    self._copies[buffer] = self._target.to_device(array)
                array = self._copies[buffer]
            self._kept.append(array.memory)
            places[buffer] = Place(slot, array.offset)
        return places, top

    def run(self, arrays: Sequence[DeviceArray]) -> Failure | None:
        """Run the program, as one operation of the current stream.

        ``arrays`` are the arguments, followed by the arrays for the results. The result is the
        failure of a step, or None.
        """
        runtime = self._target.runtime
        if self._quick.function(self._entry_on)(*arrays) is None:
            return None
        stream = runtime.current()
        if self._ready is not None and stream is not self._begun:
            stream.wait_event(self._ready)
        self._runs += 1
        if self._runs == OFTEN:
            self._replay = self._as_graph()
        if self._replay is not None:
            constant = self._target.constant
            arrays = [x if type(x) is DeviceArray else constant(x) for x in arrays]
            self._replay.run(arrays, stream)
            return None
        memory = runtime.allocate(self._nbytes, stream) if self._has_own else None
        blocks: list[Any] = [(memory, 0), *[(block, 0) for block in self._kept]]
        try:
            for array in arrays:
                if type(array) is not DeviceArray:
                    array = self._target.constant(array)
                blocks.append((array.memory, array.offset))
            if self._flag is not None:
                self._flag.run(runtime, blocks, stream)
            if self._streams:
                failure = self._run_on_streams(blocks, [stream, *self._streams])
            else:
                failure = self._launch(blocks, stream)
            if self._flag is not None and self._is_set(memory, stream):
                return self._launch(blocks, stream, on_host=True)
            return failure
        finally:
            if memory is not None:
                memory.give_back()

    def _is_set(self, memory: Any, stream: Any) -> bool:
        """Wait for a stream, and return whether a check on the device has set the program's flag.

        ``memory`` is the block of slot 0, at whose end the flag lies.
        """
        offset = self._nbytes - _FLAG.itemsize
        return bool(self._target.runtime.read(memory, offset, _FLAG, (), (), stream))

    def _launch(self, blocks: Blocks, stream: Any, on_host: bool = False) -> Failure | None:
        """Run the steps in order, and return the failure of the first one that fails, or None.

        With ``on_host`` the steps with a check on the device run on the host instead, as only the
        host can say what failed.
        """
        for step in self.steps:
            host = getattr(step, "host", None)
            if on_host and host is not None:
                step = host()
            failure = step.run(self._target.runtime, blocks, stream)
            if failure is not None:
                return failure
        return None

    def _spans(self) -> list[Span]:
        """Return the spans of arguments and results in the memory of a graph."""
        results = [ref.layout for ref in self.program.results]
        lead = [(self.program.batch or 0,) if layout.rows else () for layout in results]
        lies = [
            *zip(self.shapes, self.dtypes, self.strides, strict=True),
            *[((*b, *x.shape), x.dtype, None) for b, x in zip(lead, results, strict=True)],
        ]
        return [Span(shape, dtype.itemsize, strides) for shape, dtype, strides in lies]

    def _is_graph(self) -> bool:
        """Whether the program takes less time as one CUDA graph."""
        if self._streams or self._flag is not None:
            return False
        return is_worth_while(self.steps, self._spans(), self._nbytes)

    def _as_graph(self) -> GraphExecutable | None:
        """Return the program as one CUDA graph if that takes less time, else None."""
        if not self._is_graph():
            return None
        own = self._target.runtime, self.steps, self._nbytes, self._kept
        return GraphExecutable(*own, self._spans(), len(self.program.results))

    def _entry_on(self, stream: Any) -> Any:
        """Return a function that does what `run` does on a stream without Python, if it can; None
        if there is no such function."""
        arguments = self.short_arguments()
        if arguments is None:
            return None
        results = self._declared_results(None)
        launches = self._launches(range(len(arguments) + len(results)))
        alive = self.steps, self._kept  # and not the program, which has the function
        return entry_of(self._target, launches, arguments, results, alive, None, stream)[0]

    # Entries ------------------------------------------------------------------------------------

    def short_arguments(self) -> list[tuple[Any, Any]] | None:
        if not self._is_of_launches():
            return None
        return [
            (dtype, shape if strides is None else Strided(shape, strides))
            for dtype, shape, strides in zip(self.dtypes, self.shapes, self.strides, strict=True)
        ]

    def entry(
        self,
        arguments: Sequence[tuple[Any, Any]],
        positions: Sequence[int] | Mapping[int, int],
        shapes: Sequence[Shape],
        calls: int | None = None,
    ) -> tuple[Any, Callable[[], int] | None]:
        """Return an entry and a counter of its calls, or None for both; see `Bound.entry`.

        An entry takes arrays of the device, numbers, and certain objects. The entry of a program
        that does not consist of launches alone, or that is faster as a CUDA graph, is Python code,
        and then there is no counter.
        """
        dtypes = {positions[n]: d for n, d in zip(self.arguments, self.dtypes, strict=True)}
        numbers = {
            n: (kind, limits, dtypes.get(n, np.dtype(kind)))
            for n, (kind, limits) in enumerate(arguments)
            if isinstance(kind, type)
        }
        given = [
            (numbers[n][2], ()) if n in numbers else item for n, item in enumerate(arguments)
        ]
        found, meter = self._array_entry(given, positions, shapes, calls)
        if numbers and found is not None:
            found = EntryWithNumbers(found, self._target, numbers)
        return found, meter

    def _array_entry(
        self,
        arguments: Sequence[tuple[Any, Any]],
        positions: Sequence[int] | Mapping[int, int],
        shapes: Sequence[Shape],
        calls: int | None,
    ) -> tuple[Any, Callable[[], int] | None]:
        """Return an entry that takes arrays of the device and certain objects, and a counter."""
        results = self._declared_results(shapes)
        slots = [positions[position] for position in self.arguments]
        slots += range(len(arguments), len(arguments) + len(results))
        if self._is_of_launches():
            found = entry_of(
                self._target, self._launches(slots), arguments, results, self, calls
            )
            if found[0] is not None:
                return found
        if calls is not None:
            return None, None
        return PythonEntry(self.run, self._target, [*arguments, *results], slots), None

    def maker(self) -> Callable[..., Any] | None:
        """Return a function of the arrays of the arguments that returns the array of the result.

        The function returns None where the caller has to run the program. None if there are several
        results, or if the program cannot be launched without Python.
        """
        arguments, results = self.short_arguments(), self._declared_results(None)
        if arguments is None or len(results) != 1:
            return None
        launches = self._launches(range(len(arguments) + 1))
        return maker_of(self._target, launches, arguments, results[0], self)

    def _declared_results(self, shapes: Sequence[Shape] | None) -> list[tuple[Any, Shape]]:
        """Return the dtypes and shapes of the results, in their own shapes if ``shapes`` is None.
        """
        layouts = [ref.layout for ref in self.program.results]
        lead = [(self.program.batch or 0,) if layout.rows else () for layout in layouts]
        own = [(*b, *layout.shape) for b, layout in zip(lead, layouts, strict=True)]
        given = own if shapes is None else shapes
        return [(layout.dtype, shape) for layout, shape in zip(layouts, given, strict=True)]

    def _is_of_launches(self) -> bool:
        """Whether the program is a list of launches on one stream."""
        is_plain = not self._streams and self._flag is None
        return is_plain and can_enter(self.steps) and not self._is_graph()

    def _launches(self, slots: Sequence[int]) -> Launches:
        """Return the launches; ``slots`` has for each used argument and result its number in a
        call."""
        first = 1 + len(self._kept)
        numbers = dict(enumerate(slots, first))
        nbytes = self._nbytes if self._has_own else 0
        return Launches(self.steps, self._kept, nbytes, numbers, self._begun, self._ready)

    def _run_on_streams(self, blocks: Blocks, streams: Sequence[Any]) -> Failure | None:
        """Run each step on the stream of its lane, after the steps for which it waits.

        ``streams`` has the current stream first. The result is the failure of a step, or None.
        """
        first, *others = streams
        for other in others:
            other.wait_stream(first)
        done: dict[int, Any] = {}
        try:
            for n, (step, turn) in enumerate(zip(self.steps, self._lanes, strict=True)):
                stream = streams[turn.lane]
                for earlier in turn.waits:
                    stream.wait_event(done[earlier])
                failure = step.run(self._target.runtime, blocks, stream)
                if failure is not None:
                    return failure
                if turn.is_awaited:
                    done[n] = stream.record_event()
        finally:
            for other in others:
                first.wait_stream(other)
        return None
