"""Plans: programs that are scheduled, encoded and ready to run any number of times.

Threads may share a plan: the memory of a run belongs to the run. A plan that has run for longer
than fusing its program is expected to take is fused, so that nobody waits for a compiler longer
than they have waited already.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from .._collector import paused
from .._locks import fork_safe_lock
from .._settings import settings
from .attempts import attempt
from .encode import encode
from .fuse import fuse
from .graph import Shape
from .program import Program
from .results import maker
from .schedule import Schedule, schedule
from .unchanged import require_unchanged
from .uses import is_fusible
from .watching import watch

# Seconds that fusing is expected to take: for finding out what to fuse and for compiling it.
_FUSE_PROGRAM = 0.02
_FUSE_INSTRUCTION = 0.00015

_fusing = fork_safe_lock()


class Bound:
    """A program as a target runs it."""

    __slots__ = ("program", "run", "schedule")

    def __init__(self, program: Program, target: Any) -> None:
        self.program = program
        with paused():
            self.schedule = plan = schedule(program, target)
            code, starts = encode(plan, program)
        if settings.debug:
            from . import verify  # it needs the modules above

            verify.check_program(program)
            verify.check_schedule(plan, program)
        self.run = target.bind(
            code, starts, _parts(plan), len(plan.outside) + 3, plan.block_bytes, program.uses_blas
        )


class Plan:
    """A program bound to a target: call it with the arrays of its arguments.

    Parameters
    ----------
    program : Program
    target
        What runs it.
    mode : {"auto", "now", "never"}, optional
        When the program is fused; by default as the settings say.

    Attributes
    ----------
    program : Program
        As it was given.
    bound : Bound
        As it runs now.
    seconds : float
        How long it has run, until it is fused.
    patience : float or None
        How long it runs before it is fused; None once it is, or never will be.
    meter : callable or None
        Says how often it ran without being timed since it was last asked.
    """

    __slots__ = (
        "bound", "empty", "meter", "mode", "patience", "program", "seconds", "specs", "target",
    )  # fmt: skip

    def __init__(self, program: Program, target: Any, mode: str | None = None) -> None:
        self.program = program
        self.target = target
        self.mode = settings.fuse if mode in (None, "auto") else mode
        if settings.path == "reference":
            self.mode = "never"
        self.seconds = 0.0
        self.meter: Callable[[], int] | None = None
        count = _fusible(program)
        self.patience: float | None = None
        if self.mode != "never" and count > 1:
            self.patience = _FUSE_PROGRAM + count * _FUSE_INSTRUCTION
        fused = None
        if self.mode == "now" and self.patience is not None:
            self.patience, fused = None, _fused(program, target)
        self.bound = fused or Bound(program, target)
        self.specs = _result_specs(program)
        self.empty = maker(self.specs)

    def __call__(self, arrays: Sequence[np.ndarray] = ()) -> list[np.ndarray]:
        """Run the program on ``arrays``, in C order and of the recorded specs; return its results
        in new arrays."""
        results = [self.empty(shape, dtype) for shape, dtype in self.specs]
        self.into(arrays, results)
        return results

    def into(
        self,
        arrays: Sequence[np.ndarray],
        results: Sequence[np.ndarray],
        bound: Bound | None = None,
    ) -> None:
        """Run the program on ``arrays`` and write its results to arrays in C order; with ``bound``
        in that way."""
        bound = bound or self.bound
        used = [arrays[position] for position in bound.schedule.arguments]
        require_unchanged(used, bound.schedule.shapes, bound.schedule.dtypes)
        addresses = self.target.addresses([*used, *results])
        run = bound.run if watch.current is None else watch.current.runner(self, bound)
        patience = self.patience
        if patience is None:
            failure = run(addresses)
        else:
            began = perf_counter()
            failure = run(addresses)
            seconds = perf_counter() - began
            self.seconds += seconds if self.meter is None else seconds * (1 + self.meter())
            if self.seconds > patience:
                self.fuse()
        if failure is not None:
            from .failure import raise_failure  # it needs this module's parts

            raise_failure(self.target, bound, addresses, failure)

    def fuse(self) -> None:
        """Fuse the program now; the next run is the first one of what that makes."""
        with _fusing:
            if self.patience is not None:
                self.patience = None
                self.bound = _fused(self.program, self.target) or self.bound


def _fused(program: Program, target: Any) -> Bound | None:
    """Return a program that is fused and bound; None if that fails, of which a warning tells."""

    def make() -> Bound:
        with paused():  # what fusing takes holds no cycles
            fused = fuse(program, target)
        return Bound(fused, target)

    return attempt("fuse a program", f"{len(program.instructions)} instructions", make)


def _fusible(program: Program) -> int:
    """Return the number of instructions that can be fused; few patterns have many of them."""
    examples = {i.pattern: i for i in program.instructions}
    counts = Counter([i.pattern for i in program.instructions])
    return sum(count for pattern, count in counts.items() if is_fusible(examples[pattern]))


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
    return Plan(program, target, "never" if settings.fuse == "auto" else None)()
