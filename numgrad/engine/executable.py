"""Executables: programs that are scheduled, encoded and ready to run any number of times.

Threads may share one: the memory of a run belongs to the run. When it is fused is for `fusion` to
say.
"""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from .._collector import paused
from .._locks import fork_safe_lock
from .._settings import settings
from .._specs import Strided
from .attempts import attempt
from .encode import encode
from .entries import entry_of
from .fusion import Fusion, forecast, fusion_of
from .graph import Shape
from .program import Program
from .results import maker
from .schedule import Schedule, schedule
from .unchanged import require_unchanged

_fusing = fork_safe_lock()

_OFTEN = 100
"""Runs after which a short program gets an entry, which takes a run less than 1 us instead of 8."""

_SHORT, _SMALL = 100_000, 1 << 16
"""Nanoseconds of work, and bytes of memory, which an entry keeps, up to which it is worth while."""


class Watcher(Protocol):
    """Asked before each run of a program how to run it."""

    def runner(self, plan: Any, bound: Any) -> Callable[[Sequence[int]], Any]:
        """Return what is called with the addresses in place of ``bound.run``."""
        ...


class Watch:
    """The watcher of this process; while there is one, nothing goes past `Executable.into`."""

    current: Watcher | None = None


watch = Watch()


class Bound:
    """A program as a target runs it."""

    __slots__ = ("program", "run", "schedule")

    def __init__(self, program: Program, target: Any) -> None:
        self.program = program
        with paused():
            self.schedule = plan = schedule(program, target)
            code, starts = encode(plan, program, target)
        if settings.debug:
            from . import verify  # it needs the modules above

            verify.check_program(program)
            verify.check_schedule(plan, program)
        self.run = target.bind(
            code, starts, _parts(plan), len(plan.outside) + 3, plan.block_bytes, program.uses_blas
        )


class Executable:
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
    fusion : Fusion or None
        How it comes to be fused; None once it is, or never will be.
    meters : dict
        By entry, as long as that lives, what says how often it ran the program without being timed
        since it was last asked.
    """

    __slots__ = (
        "_entry", "_runs",
        "bound", "empty", "fusion", "meters", "mode", "program", "seconds", "specs", "target",
    )  # fmt: skip

    def __init__(self, program: Program, target: Any, mode: str | None = None) -> None:
        self.program = program
        self.target = target
        self.mode = settings.fuse if mode in (None, "auto") else mode
        if settings.path == "reference":
            self.mode = "never"
        self.seconds = 0.0
        self.meters: WeakKeyDictionary[Any, Callable[[], int]] = WeakKeyDictionary()
        self._entry: Any = None, None  # with what it is an entry of
        self._runs = 0
        self.fusion: Fusion | None = fusion_of(program, target, self.mode)
        self.bound: Bound = None  # type: ignore[assignment]
        if self.mode == "now":
            self.fuse()
        elif self.fusion is not None and forecast(program) > self.fusion.patience:
            self.advance()
        if self.bound is None:
            self.bound = Bound(program, target)
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
        of, entry = self._entry
        is_quick = of is bound and watch.current is None
        if is_quick and entry is not None and entry(*used, *results) is None:
            return
        require_unchanged(used, bound.schedule.shapes, bound.schedule.dtypes)
        addresses = self.target.addresses([*used, *results])
        run = bound.run if watch.current is None else watch.current.runner(self, bound)
        fusion = self.fusion
        if fusion is None:
            failure = run(addresses)
        else:
            began = perf_counter()
            failure = run(addresses)
            seconds = perf_counter() - began
            self.seconds += seconds * (1 + self._untimed()) if self.meters else seconds
            if self.seconds > fusion.patience:
                self.advance()
        if failure is not None:
            from .failure import raise_failure  # it needs this module's parts

            raise_failure(self.target, bound, addresses, failure)
        self._runs += 1
        if self._runs >= _OFTEN and of is not self.bound:
            bound = self.bound
            entry = self._short_entry(bound.schedule)
            # Another thread may have fused it meanwhile, with its arguments in another order.
            self._entry = bound, entry if self.bound is bound else None

    def _untimed(self) -> int:
        """Return how often entries ran it without being timed since this was last asked."""
        return sum([meter() for meter in list(self.meters.values())])

    def _short_entry(self, plan: Schedule) -> Any:
        """Return an entry for a short program, None for another."""
        work = sum([segment.work for segment in plan.segments])
        memory = plan.block_bytes + sum([segment.arena_bytes for segment in plan.segments])
        if work > _SHORT or memory > _SMALL or settings.path == "reference":
            return None
        if any([min(strides, default=0) < 0 for strides in plan.strides if strides]):  # noqa: C419
            return None  # it goes by where the elements begin
        positions = {position: n for n, position in enumerate(plan.arguments)}
        kinds = [
            (dtype, shape if strides is None else Strided(shape, strides))
            for dtype, shape, strides in zip(plan.dtypes, plan.shapes, plan.strides, strict=True)
        ]
        return entry_of(self, kinds, positions, [shape for shape, _ in self.specs])

    def advance(self) -> None:
        """Take the next step towards the fused program; if it was the last one, the next run is
        the first of the program that was made."""
        self._go_on(Fusion.advance)

    def fuse(self) -> None:
        """Fuse the program now; the next run is the first one of what that makes."""
        self._go_on(Fusion.finish)

    def _go_on(self, step: Callable[[Fusion], Program | None]) -> None:
        """Take steps; where one fails the program goes on unfused, and a warning says why."""
        with _fusing:
            fusion = self.fusion
            if fusion is None:
                return

            def made() -> bool:
                program = step(fusion)
                if program is not None:
                    self.bound = Bound(program, self.target)
                    self._entry, self._runs = (None, None), 0
                    self.meters.clear()
                return program is None

            name = f"{len(self.program.instructions)} instructions"
            if not attempt("fuse a program", name, made):
                self.fusion = None


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
    return Executable(program, target, "never" if settings.fuse == "auto" else None)()
