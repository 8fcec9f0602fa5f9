"""Plans: programs that are scheduled, encoded and ready to run any number of times.

A plan is constant: the memory of a run belongs to the run, so threads may share a plan.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._settings import settings
from .encode import encode
from .graph import Shape
from .program import Program
from .schedule import ELEMENTS, OUTSIDE, Schedule, address, schedule

# The work of a call, and the most work for which Python's lock is kept: about 0.1 ms.
CALL_WORK = 32
ENTRY_WORK = 100_000


class Plan:
    """A program bound to a target: call it with the arrays of its arguments.

    Parameters
    ----------
    program : Program
    target
        What runs it.
    """

    __slots__ = ("layout", "program", "run", "schedule", "specs", "target")

    def __init__(self, program: Program, target: Any) -> None:
        self.program = program
        self.target = target
        self.schedule = plan = schedule(program, target)
        if settings.debug:
            from . import verify  # it needs the modules above

            verify.check_program(program)
            verify.check_schedule(plan, program)
        code, starts = encode(plan, program)
        self.run = target.bind(
            code, starts, _parts(plan), len(plan.outside) + 3, plan.block_bytes, program.uses_blas
        )
        self.specs = _result_specs(program)

    def __call__(self, arrays: Sequence[np.ndarray] = ()) -> list[np.ndarray]:
        """Run the program on ``arrays``, in C order and of the recorded specs; return its results
        in new arrays."""
        results = [np.empty(shape, dtype) for shape, dtype in self.specs]
        self.into(arrays, results)
        return results

    def entry(
        self,
        arguments: Sequence[tuple[Any, Shape]],
        positions: Sequence[int],
        shapes: Sequence[Shape],
    ) -> Any:
        """Return a builtin function that runs the program at once; None for long programs, because
        it keeps Python's lock.

        It takes arguments and arrays for the results. It returns None when it has run, and anything
        else when the caller has to call the plan.

        Parameters
        ----------
        arguments : sequence of (dtype, shape)
            What it takes: an array, a Python float where the dtype is the type ``float``, and that
            very object where it is something else.
        positions : sequence of int
            Which of them is each argument of the program.
        shapes : sequence of tuple
            The results in the shapes that the caller gives them.
        """
        if self.work() > ENTRY_WORK or not hasattr(self.target, "entry"):
            return None
        slots: list[list[int]] = [[] for _ in arguments]
        for slot, position in enumerate(self.schedule.arguments, OUTSIDE):
            slots[positions[position]].append(slot)
        first = OUTSIDE + len(self.schedule.arguments)
        given = [(*kind, at, False) for kind, at in zip(arguments, slots, strict=True)]
        made = [
            (dtype, shape, [first + n], True)
            for n, (shape, (_, dtype)) in enumerate(zip(shapes, self.specs, strict=True))
        ]
        return self.target.entry(self.run, [*given, *made], self)

    def work(self) -> int:
        """Return an estimate of the operations of a run; one takes about a nanosecond."""
        total = 0
        for segment in self.schedule.segments:
            rows = 1 if segment.kind == ELEMENTS else segment.rows
            total += sum(CALL_WORK + i.pattern.work * rows for i in segment.instructions)
        return total

    def into(self, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
        """Run the program on ``arrays`` and write its results to arrays in C order."""
        used = [arrays[position] for position in self.schedule.arguments]
        addresses = [address(array) for array in (*used, *results)]
        failure = self.run(addresses)
        if failure is not None:
            from .failure import raise_failure  # it needs this module's parts

            raise_failure(self, addresses, failure)


def _result_specs(program: Program) -> list[tuple[Shape, np.dtype]]:
    specs = []
    for ref in program.results:
        lead = (program.batch,) if ref.layout.rows else ()
        specs.append(((*lead, *ref.layout.shape), ref.layout.dtype))
    return specs


def _parts(plan: Schedule) -> list[tuple[int, int, int, int, int, bool]]:
    parts = []
    first = 0
    for segment in plan.segments:
        last = first + len(segment.instructions)
        parts.append(
            (first, last, segment.rows, segment.tile, segment.arena_bytes, segment.parallel)
        )
        first = last
    return parts


def execute(program: Program, target: Any) -> list[np.ndarray]:
    """Run a program without arguments once; return its results."""
    return Plan(program, target)()
