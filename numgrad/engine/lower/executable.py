"""Executables: programs that are bound to a target, ready to run any number of times.

Threads may share one: the memory of a run belongs to the run. When it is fused is for `policy` to
say.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from ..._settings import settings
from ...ir.program import Program
from ...ir.target import Bound, Failure
from ...process.fork_locks import fork_safe_lock
from ...process.gc_pause import paused
from ..fusion.policy import Fusion, forecast, fusion_of
from ..graph.integrity import require_unchanged
from ..graph.value import Shape
from .fallback import attempt
from .output_pool import maker

_fusing = fork_safe_lock()

_OFTEN = 100
"""Runs after which a short program gets an entry, which takes a run less than 1 us instead of 8."""

_UNTIMED = 1000
"""Calls in a row that an entry does not time, of a program that may still be fused."""


class Watcher(Protocol):
    """Runs programs in place of `Bound.run`."""

    def run(self, plan: Any, bound: Any, arrays: Sequence[np.ndarray]) -> Failure | None:
        """Do what ``bound.run(arrays)`` does."""
        ...


class Watch:
    """The watcher of this process; while there is one, nothing goes past `Executable.into`."""

    current: Watcher | None = None


watch = Watch()


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
            self.bound = _bound(program, target)
        self.specs = _result_specs(program)
        self.empty = getattr(target, "empty", None) or maker(self.specs)

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
            began = perf_counter()
            failure = run([*used, *results])
            seconds = perf_counter() - began
            self.seconds += seconds * (1 + self._untimed()) if self.meters else seconds
            if self.seconds > fusion.patience:
                self.advance()
        if failure is not None:
            from .errors import raise_failure  # it needs this module's parts

            raise_failure(self.target, failure)
        self._runs += 1
        if self._runs >= _OFTEN and of is not self.bound:
            bound = self.bound
            entry = self._short_entry(bound)
            # Another thread may have fused it meanwhile, with its arguments in another order.
            self._entry = bound, entry if self.bound is bound else None

    def _untimed(self) -> int:
        """Return how often entries ran it without being timed since this was last asked."""
        return sum([meter() for meter in list(self.meters.values())])

    def _short_entry(self, bound: Bound) -> Any:
        """Return an entry for a short program, None for another."""
        kinds = None if settings.path == "reference" else bound.short_arguments()
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
        """Return a builtin function that runs the program at once, as `Bound.entry` says; None
        where there is none."""
        bound, calls = self.bound, None if self.fusion is None else _UNTIMED
        name = f"{len(self.program.instructions)} instructions"
        entry, meter = attempt(
            "enter a program directly", name,
            lambda: bound.entry(arguments, positions, shapes, calls),
        ) or (None, None)  # fmt: skip
        if meter is not None:
            self.meters[entry] = meter
        return entry

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
                    self.bound = _bound(program, self.target)
                    self._entry, self._runs = (None, None), 0
                    self.meters.clear()
                return program is None

            name = f"{len(self.program.instructions)} instructions"
            if not attempt("fuse a program", name, made):
                self.fusion = None


def _bound(program: Program, target: Any) -> Bound:
    if settings.debug:
        from .verify import check_program

        check_program(program)
    with paused():  # what binding takes holds no cycles
        return target.bind(program)


def _result_specs(program: Program) -> list[tuple[Shape, np.dtype]]:
    specs = []
    for ref in program.results:
        lead = (program.batch,) if ref.layout.rows else ()
        specs.append(((*lead, *ref.layout.shape), ref.layout.dtype))
    return specs


def execute(program: Program, target: Any) -> list[np.ndarray]:
    """Run a program without arguments once; return its results."""
    return Executable(program, target, "never" if settings.fuse == "auto" else None)()
