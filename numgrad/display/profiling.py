"""Profiles: the time that the programs in a block of code take, instruction by instruction."""

import threading
from collections.abc import Sequence
from os import PathLike
from time import perf_counter
from typing import Any

from .._settings import settings
from ..engine.lower.executable import watch
from ..engine.record.apply import runtime
from . import memory_plot, tables, trace
from .measured import Measured, Row


def profile() -> "Profile":
    """Measure the programs that run inside of a ``with`` block.

    Returns
    -------
    Profile
        To be entered; afterwards it is the result, and ``print`` shows it.

    Notes
    -----
    Every program, of a backward pass or of a captured function, runs as it would without: the same
    kernels, tiles and threads. A clock is read before and after each instruction on each tile,
    which adds some 15 ns to it. What an operation computes at once, while it is recorded, is not
    part of a program and is not measured; nor is Python's time outside of programs. Every pass in
    the block is a program, also one that would compute at once. Programs on other devices run, and
    are not measured.

    The profile is of the process: programs that other threads run are in it too.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> x = ng.tensor(np.linspace(0.0, 1.0, 1000), requires_grad=True)
    >>> with ng.display.profile() as profile:
    ...     _ = ng.grad(ng.sin(x).sum(), x)
    >>> len(profile.programs)
    1
    >>> sorted(row.name for row in profile.rows)
    ['multiply', 'sin_dx']
    """
    return Profile()


class Profile:
    """What `profile` measured.

    Attributes
    ----------
    programs : list of Measured
        The programs that ran, in the order of their first runs; a program that was fused meanwhile
        is there twice.
    seconds : float
        How long the block took.
    compiled : int
        Kernels compiled meanwhile.
    """

    def __init__(self) -> None:
        self.programs: list[Measured] = []
        self.seconds = 0.0
        self.compiled = 0
        self._known: dict[int, Measured] = {}
        self._lock = threading.Lock()
        self._before: Any = None
        self._began = (0.0, 0)

    def __enter__(self) -> "Profile":
        self._before = watch.current
        watch.current = self
        settings.entries += 1
        self._began = (perf_counter(), runtime.target.cache_info().compiled)
        return self

    def __exit__(self, *error: object) -> None:
        began, compiled = self._began
        self.seconds += perf_counter() - began
        self.compiled += runtime.target.cache_info().compiled - compiled
        watch.current = self._before

    @property
    def rows(self) -> list[Row]:
        """A row for each instruction of each program, the longest first."""
        rows = [row for program in self.programs for row in program.rows()]
        return sorted(rows, key=lambda row: -row.seconds)

    def table(self, by: str = "operator") -> str:
        """Return a table as text.

        Parameters
        ----------
        by : {"operator", "instruction", "program"}
            What a line is about.

        Raises
        ------
        ValueError
            For another word.
        """
        if by == "operator":
            return tables.operators(self.rows)
        if by == "instruction":
            return tables.instructions(self.rows)
        if by == "program":
            return tables.programs(self.programs)
        raise ValueError(f"table: by must be operator, instruction or program, got {by!r}")

    def __str__(self) -> str:
        return tables.report(self)

    def chrome_trace(self, path: str | PathLike[str]) -> None:
        """Write a trace that ``chrome://tracing`` and Perfetto show: which thread ran which
        instruction on which tile, and when.

        Of each thread and run the first 16384 instructions are kept, of each program 200000 in all.
        """
        trace.write(path, self.programs)

    def memory_plot(self, path: str | PathLike[str], program: int | None = None) -> None:
        """Draw the memory that a program uses over its instructions.

        Parameters
        ----------
        path : path
            Of the picture; its suffix says in which format.
        program : int, optional
            Position in `programs`; by default that of the program that takes most.

        Raises
        ------
        ValueError
            If no program ran.
        ImportError
            Without Matplotlib: ``pip install 'numgrad[viz]'``.
        """
        if not self.programs:
            raise ValueError("memory_plot: no program ran")
        largest = max(self.programs, key=lambda measured: measured.peak_bytes)
        memory_plot.draw(path, largest if program is None else self.programs[program])

    def run(self, plan: Any, bound: Any, arrays: Sequence[Any]) -> Any:
        """Run a plan, and measure it if its target is the CPU; the engine calls this method."""
        if plan.target is not runtime.target:
            return bound.run(arrays)
        with self._lock:
            known = self._known.get(id(bound))
            if known is None:
                known = self._known[id(bound)] = Measured(len(self.programs), plan, bound)
                self.programs.append(known)
        return known.run(arrays)
