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
from .schedule import Schedule, address, schedule


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
