"""Executables: programs that are bound to a target, ready to run any number of times.

Threads may share an executable, as each run has its own memory. `policy` decides when a program is
fused.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import thread_time
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from ..._settings import accelerator, settings
from ...ir.program import Program
from ...ir.target import Bound, Failure
from ...process.fork_locks import fork_safe_lock
from ...process.gc_pause import paused
from ..fusion.policy import Fusion, forecast, fusion_of
from ..graph.integrity import require_unchanged
from ..graph.value import Shape
from ..rolling.roll import rolled
from .fallback import attempt
from .output_pool import allocator_of

_fusing = fork_safe_lock()

_UNTIMED = 1000
"""Calls in a row that an entry answers without timing them, while a program may be fused."""


class Watcher(Protocol):
    """A watcher runs programs in place of `Bound.run`, as the profiler does."""

    def run(self, plan: Any, bound: Any, arrays: Sequence[np.ndarray]) -> Failure | None:
        """Do what ``bound.run(arrays)`` does."""
        ...


class Watch:
    """Holds the watcher of this process as ``current``, None without one.

    While there is a watcher, all runs go through `Executable.run_into`.
    """

    current: Watcher | None = None


watch = Watch()


class Executable:
    """A program bound to a target: call it with the arrays of its arguments.

    Parameters
    ----------
    program : Program
    target
        The target that runs the program.
    mode : {"auto", "now", "never"}, optional
        When the program is fused; by default as the settings say.

    Attributes
    ----------
    program : Program
        The program as it was given, before fusion.
    bound : Bound
        The program as it runs now.
    seconds : float
        The processor time, in seconds, of all runs before the program is fused.
    fusion : Fusion or None
        The fusion in progress; None for a program that is fused, or never will be.
    meters : dict
        For each entry in use its meter, as the runs of an entry are not timed. The meter is a
        function that returns how often the entry has run since the meter was last called.
    specs : list of (tuple of int, dtype)
        The shapes and dtypes of the results.
    empty : callable
        Allocates the array of a result, for its shape and dtype.
    """

    __slots__ = (
        "_entry", "_runs",
        "bound", "empty", "fusion", "meters", "mode", "program", "seconds", "specs", "target",
    )  # fmt: skip

    def __init__(self, program: Program, target: Any, mode: str | None = None) -> None:
        self.program = program
        self.target = target
        self.mode = settings.fusion(mode)
        self.seconds = 0.0
        self.meters: WeakKeyDictionary[Any, Callable[[], int]] = WeakKeyDictionary()
        self._entry: Any = None, None  # the bound program, and its entry
        self._runs = 0
        self.fusion: Fusion | None = fusion_of(program, target, self.mode, _rolled)
        self.bound: Bound = None  # type: ignore[assignment]
        if self.mode == "now":
            self.fuse()
        elif self.fusion is not None:
            self._advance_before_run(forecast(program), self.fusion.spared)
        if self.bound is None:
            self.bound = _bound(self.fusion.present if self.fusion else program, target)
        self.specs = _result_specs(program)
        self.empty = getattr(target, "empty", None) or allocator_of(self.specs)

    def __call__(self, arrays: Sequence[np.ndarray] = ()) -> list[np.ndarray]:
        """Run the program on ``arrays``; return its results in new arrays.

        The arrays have to be in C order, with the shapes and dtypes that the program takes.
        """
        results = [self.empty(shape, dtype) for shape, dtype in self.specs]
        self.run_into(arrays, results)
        return results

    def run_into(
        self,
        arrays: Sequence[np.ndarray],
        results: Sequence[np.ndarray],
        bound: Bound | None = None,
    ) -> None:
        """Run the program on ``arrays`` and write its results into arrays in C order.

        If ``bound`` is given, that form of the program is run instead of the present one.
        """
        bound = bound or self.bound
        used = [arrays[position] for position in bound.arguments]
        of, entry = self._entry
        is_quick = of is bound and watch.current is None
        if is_quick and entry is not None and entry(*used, *results) is None:
            return
        require_unchanged(used, bound.shapes, bound.dtypes)
        run = bound.run if watch.current is None else partial(watch.current.run, self, bound)
        fusion = self.fusion
        if fusion is None:
            failure = run([*used, *results])
        else:
            began = thread_time()  # a busy machine is not the program's time
            failure = run([*used, *results])
            seconds = thread_time() - began
            self.seconds += seconds * (1 + self._untimed()) if self.meters else seconds
            if self.seconds > fusion.patience:
                self.advance()
        if failure is not None:
            from .errors import raise_failure  # it needs this module's parts

            raise_failure(self.target, failure)
        self._runs += 1
        if of is not self.bound and self._runs >= self.bound.often:
            self._leave_python()
            bound = self.bound
            entry = self._short_entry(bound)
            # Another thread may have fused the program meanwhile, with another order of arguments.
            self._entry = bound, entry if self.bound is bound else None

    def repeat(
        self, arrays_at: Callable[[int], tuple[Sequence[Any], Sequence[Any]]], start: int,
        stop: int, goes_on: Any = None,
    ) -> int:  # fmt: skip
        """Run the program from run ``start`` on, at most to before run ``stop``; return how many
        runs are complete.

        ``arrays_at`` returns the arrays of the arguments and of the results of a run. A run that is
        left is one of `run_into`. See `Bound.repeat`.
        """
        bound, fusion = self.bound, self.fusion
        if watch.current is not None:
            return 0

        def used_at(run: int) -> list[Any]:
            arrays, results = arrays_at(run)
            return [*[arrays[position] for position in bound.arguments], *results]

        if self._entry[0] is not bound:
            stop = min(stop, start + bound.often)  # the run after these may leave Python
        began = 0.0 if fusion is None else thread_time()
        done = bound.repeat(used_at, start, stop, goes_on)
        self._runs += done
        if fusion is not None:
            self.seconds += thread_time() - began
            if self.seconds > fusion.patience:
                self.advance()
        return done

    @accelerator
    def _leave_python(self) -> None:
        """Have what the program calls in Python called without it from now on, where it can be."""
        name = f"{len(self.program.instructions)} instructions"
        bound = self.bound
        if attempt("leave Python", name, bound.leave_python):
            self.bound = _bound(bound.program, self.target, bound)

    def _untimed(self) -> int:
        """Return how often entries have run the program, untimed, since the previous call."""
        return sum([meter() for meter in list(self.meters.values())])

    @accelerator
    def _short_entry(self, bound: Bound) -> Any:
        """Return an entry (a builtin function that runs the program), None for a long program.

        The time that an entry saves does not matter for a long program.
        """
        kinds = bound.short_arguments()
        if kinds is None:
            return None
        positions = {position: n for n, position in enumerate(bound.arguments)}
        return self.entry(kinds, positions, [shape for shape, _ in self.specs])

    def entry(
        self,
        arguments: Sequence[tuple[Any, Any]],
        positions: Sequence[int] | Mapping[int, int],
        shapes: Sequence[Shape],
    ) -> Any:
        """Return a builtin function that runs the program without Python; None if there is none.

        The parameters, and what the function takes and returns, are those of `Bound.entry`.
        """
        bound, calls = self.bound, None if self.fusion is None else _UNTIMED
        name = f"{len(self.program.instructions)} instructions"
        entry, meter = attempt(
            "enter a program directly", name,
            lambda: bound.entry(arguments, positions, shapes, calls),
        ) or (None, None)  # fmt: skip
        if meter is not None:
            self.meters[entry] = meter
        return entry

    @accelerator
    def maker(self) -> Any:
        """Return a function of the used arguments that returns the only result; see `Bound.maker`.
        """
        name = f"{len(self.program.instructions)} instructions"
        return attempt("launch a program directly", name, self.bound.maker)

    def _advance_before_run(self, seconds: float, spared: float) -> None:
        """Take steps of the fusion before the first run, if they cost little beside that run.

        The first step is taken if the step is expected to take less time than the first run, which
        is expected to take ``seconds``. For a program with loops, ``spared`` is the time by which
        loops make binding faster: further steps are taken as long as all of them together take less
        than ``seconds`` plus ``spared``.
        """
        while self.fusion is not None and seconds + spared > self.fusion.patience:
            self.advance()
            if not spared:
                break

    def advance(self) -> None:
        """Take the next step of the fusion; from the last step on, the fused program is run."""
        self._step_fusion(Fusion.advance)

    def fuse(self) -> None:
        """Fuse the program now; the next run is that of the fused program.

        Programs that functions of this program run are fused, too.
        """
        self._step_fusion(Fusion.finish)
        for pattern in dict.fromkeys(self.program.patterns()):
            inner = getattr(pattern.spec, "fuse", None)
            if inner is not None:
                inner()

    def _step_fusion(self, step: Callable[[Fusion], Program | None]) -> None:
        """Apply ``step``, which takes one or all steps of the fusion, and bind what they make.

        If a step fails, the program stays as it is, and a warning says why.
        """
        with _fusing:
            fusion = self.fusion
            if fusion is None:
                return

            def made() -> bool:
                program = step(fusion)
                bound = self.bound
                present = fusion.present if program is None else program
                is_due = bound is not None or program is not None
                if is_due and (bound is None or present is not bound.program):
                    self.bound = _bound(present, self.target, bound)
                    if present is not self.program and fusion.unrolled is not None:
                        self.program.instructions = fusion.unrolled  # which no longer run
                    self._entry, self._runs = (None, None), 0
                    self.meters.clear()
                return program is None

            name = f"{len(self.program.instructions)} instructions"
            if not attempt("fuse a program", name, made):
                self.fusion = None


def _rolled(program: Program, target: Any) -> Program | None:
    name = f"{len(program.instructions)} instructions"
    with paused():  # rolling makes no cycles
        return attempt("roll a program", name, lambda: rolled(program, target))


def _bound(program: Program, target: Any, before: Bound | None = None) -> Bound:
    if settings.debug:
        from .verify import check_program

        check_program(program)
    with paused():  # binding makes many objects and no reference cycles
        return target.bind(program, before)


def _result_specs(program: Program) -> list[tuple[Shape, np.dtype]]:
    specs = []
    for ref in program.results:
        lead = (program.batch,) if ref.layout.rows else ()
        specs.append(((*lead, *ref.layout.shape), ref.layout.dtype))
    return specs


def execute(program: Program, target: Any) -> list[np.ndarray]:
    """Run a program without arguments once; return its results."""
    return Executable(program, target, "never" if settings.fuse == "auto" else None)()
