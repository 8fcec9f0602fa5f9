"""Programs as the CPU runs them: scheduled, encoded, and handed to the machine."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ...._settings import settings
from ....ir.kernel_spec import Strided
from ....ir.program import Pattern, Program, Shape
from ....ir.target import Bound, Failure
from ..kernels.python_kernel import HostKernel
from ..machine import entry, machine
from ..machine.repeat import SAMPLE, places_of, repeat
from ..python.array_addresses import addresses
from ..ufunc.numpy_loops import may_release_lock
from .buffer_reuse import reused_arguments
from .encode import encode
from .failing_row import inputs_in_row
from .schedule import OUTSIDE, Schedule, Segment, schedule

# The most work of a short program, in nanoseconds, for which an entry keeps the GIL: a millisecond.
# Python itself lets other threads in every 5 ms.
_MOST = 1_000_000
# The most work of repeated runs, in nanoseconds, between which Python handles no signals.
_MOST_REPEATED = 50_000_000


class BoundProgram(Bound):
    """A program that is bound to the CPU, ready to run.

    Parameters
    ----------
    program : Program
    target
        Supplies kernels, the number of threads and the size of the L2 cache.

    Attributes
    ----------
    schedule : Schedule
    runner : Runner
        Runs the encoded program; takes the addresses of the arrays of `run`.
    """

    __slots__ = ("_is_long", "_target", "_work", "runner", "schedule")

    def __init__(self, program: Program, target: Any) -> None:
        super().__init__(program)
        self._target = target
        self.schedule = plan = schedule(program, target)
        self._work = sum([segment.work for segment in plan.segments])
        is_spread = any([segment.parallel for segment in plan.segments])  # noqa: C419  a list is faster
        self._is_long = is_spread or self._work > _MOST
        code, starts = encode(plan, program, target)
        if settings.debug:
            from .verify import check_schedule

            check_schedule(plan, program)
        self.runner = machine.Runner(
            code, starts, _parts(plan), len(plan.outside) + OUTSIDE, plan.block_bytes,
            program.uses_blas,
        )  # fmt: skip

    def run(
        self, arrays: Sequence[np.ndarray], runner: Callable[..., Any] | None = None
    ) -> Failure | None:
        """Run the program once; return the failure, if a kernel raised.

        ``runner`` runs the program in place of the usual runner, to measure the run.
        """
        places = addresses(arrays)
        stopped = (runner or self.runner)(places)
        return None if stopped is None else self._failure(stopped, places)

    def repeat(
        self, arrays_at: Callable[[int], Sequence[Any]], start: int, stop: int, goes_on: Any = None
    ) -> int:
        if self._is_long or stop - start < SAMPLE:
            return 0  # runs from Python cost little beside the work
        rows = [addresses(arrays_at(run)) for run in range(start, start + SAMPLE)]
        places = places_of(rows, start, 0 if goes_on is None else addresses([goes_on])[0])
        most = SAMPLE + int(_MOST_REPEATED / (self._work + 1))
        return repeat(self.runner, places, start, min(stop, start + most))

    def _failure(self, stopped: machine.Stopped, places: Sequence[int]) -> Failure:
        """Return where a kernel raised, and a function that recomputes the kernel's inputs."""
        instructions = [i for segment in self.schedule.segments for i in segment.instructions]
        before, instruction = instructions[: stopped.instruction], instructions[stopped.instruction]
        pattern, row, index = instruction.pattern, stopped.row, stopped.loop_index
        if not pattern.rows:  # rows of a tiled run are parts of the loop
            index += row * (prod(pattern.loop) // self._segment_of(stopped.instruction).rows)
        inputs = partial(
            inputs_in_row, self.program, self.schedule, self._target, places, before, instruction,
            row,
        )  # fmt: skip
        return Failure(instruction, row, index, inputs)

    def _segment_of(self, number: int) -> Segment:
        """Return the segment of the instruction with a number in the whole program."""
        for segment in self.schedule.segments:
            if number < len(segment.instructions):
                return segment
            number -= len(segment.instructions)
        raise IndexError(number)

    def reused_arguments(self, donated: Mapping[int, np.dtype]) -> dict[int, int]:
        return reused_arguments(self.program, self.schedule, donated)

    def leave_python(self) -> bool:
        if self.program.batch:
            return False  # rows are no calls of their own
        left = [i.pattern for i in self.program.instructions if _leaves_python(i.pattern)]
        for pattern in left:
            pattern.codes.clear()  # they have the address of the kernel
        return bool(left)

    # Entries ------------------------------------------------------------------------------------

    def short_arguments(self) -> list[tuple[Any, Any]] | None:
        if self._is_long:
            return None
        if any([min(strides, default=0) < 0 for strides in self.strides if strides]):  # noqa: C419
            return None  # an entry takes the address of the first element for the lowest one
        return [
            (dtype, shape if strides is None else Strided(shape, strides))
            for dtype, shape, strides in zip(self.dtypes, self.shapes, self.strides, strict=True)
        ]

    def _may_release_lock(self) -> bool:
        rows = self.program.batch or 1
        return any([may_release_lock(i.pattern, rows) for i in self.program.instructions])  # noqa: C419

    def entry(
        self,
        arguments: Sequence[tuple[Any, Any]],
        positions: Sequence[int] | Mapping[int, int],
        shapes: Sequence[Shape],
        calls: int | None = None,
    ) -> tuple[Any, Callable[[], int] | None]:
        """Return an entry and a counter of its calls, or None for both; see `Bound.entry`.

        There is no entry for a long program whose calls are counted or that uses BLAS. There is
        none either for a program that calls Python on several threads, as one of them has to wait
        for the GIL, nor for a program that may still leave Python (`leave_python`), as runs from
        Python have to be counted for that. An entry that calls Python on one thread releases the
        GIL before, as another thread may call the entry meanwhile, and refuses a call while another
        one runs.
        """
        spread = [segment.parallel for segment in self.schedule.segments]
        is_long, may_call = any(spread) or self._work > _MOST, self._may_release_lock()
        if is_long and (calls is not None or self.program.uses_blas):
            return None, None
        if may_call and (any(spread) or any(map(_may_leave_python, self.program.patterns()))):
            return None, None
        slots: list[list[int]] = [[] for _ in arguments]
        for slot, position in enumerate(self.arguments, OUTSIDE):
            slots[positions[position]].append(slot)
        first = OUTSIDE + len(self.arguments)
        given = [(*kind, at, False) for kind, at in zip(arguments, slots, strict=True)]
        made = [
            (ref.layout.dtype, shape, [first + n], True)
            for n, (shape, ref) in enumerate(zip(shapes, self.program.results, strict=True))
        ]
        constants = list(self.program.arrays.values())
        threads = spread if is_long or may_call else None
        return entry.entry_of(self.runner, [*given, *made], constants, self, calls, threads)


def _may_leave_python(pattern: Pattern) -> bool:
    """Whether a kernel in Python may be replaced by one without, which has not been asked for."""
    kernel = pattern.kernel
    return isinstance(kernel, HostKernel) and bool(kernel.spec.native) and kernel.is_native is None


def _leaves_python(pattern: Pattern) -> bool:
    """Whether the code of an instruction has the address of a kernel in Python, in place of which
    there is another one now."""
    kernel = pattern.kernel
    is_native = isinstance(kernel, HostKernel) and kernel.leave_python()
    return is_native and any(words[0] != kernel.address for words in pattern.codes.values())


def _parts(plan: Schedule) -> list[tuple[int, int, int, int, int, bool]]:
    """Return the parts of a program for `machine.Runner`: one for each segment."""
    parts = []
    first = 0
    for segment in plan.segments:
        last = first + len(segment.instructions)
        parts.append(
            (first, last, segment.rows, segment.tile, segment.arena_bytes, segment.parallel)
        )
        first = last
    return parts
