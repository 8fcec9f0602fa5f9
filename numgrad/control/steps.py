"""The steps of a loop on arrays: the program of the body runs once for each step."""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from time import perf_counter
from typing import Any, NamedTuple

from ..engine.graph.value import CPU
from ..process.cached_attribute import lazy
from .body import Body
from .devices.arrays import copied, element, empty, write

Arrays = Sequence[Any]
"""Arrays of NumPy or of a device."""


class Sizes(NamedTuple):
    """How many arguments of a body are carried, and how many have elements for each step.

    The arguments come in this order, followed by those that are the same for all steps. The results
    are the carried arrays, then what each step yields.
    """

    carried: int
    per_step: int

    def split(self, arguments: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the arguments in three parts: carried, per step, and the same for all steps."""
        first, second = self.carried, self.carried + self.per_step
        return list(arguments[:first]), list(arguments[first:second]), list(arguments[second:])


class Steps:
    """The steps of a loop over a body, for arrays with a fixed number of samples or without any.

    Parameters
    ----------
    body : Body
    sizes : Sizes
    count : int, optional
        The number of samples; carried arrays and results have an axis of samples in front.
    leads : tuple of bool
        The arguments of a step that have an axis of samples.
    loop : CompiledLoop or DeviceLoop, optional
        The loop over the body as compiled code, if there is any.
    """

    def __init__(
        self, body: Body, sizes: Sizes, count: int | None, leads: tuple[bool, ...], loop: Any
    ) -> None:
        self._body = body
        self._carried, self._count, self._leads = sizes.carried, count, leads
        self._loop = loop
        lead = () if count is None else (count,)
        self.results = [((*lead, *shape), dtype) for shape, dtype in body.results]
        states = self.results[: self._carried]
        self.empty = partial(empty, device=body.device)
        self.state_bytes = sum([prod(shape) * dtype.itemsize for shape, dtype in states])

    @lazy
    def _program(self) -> "StepProgram":
        return StepProgram(self._body, self._count, self._leads)

    def prepare(self) -> None:
        """Make the program of a step now, since a thread of a running program cannot make it."""
        self._program  # noqa: B018  the attribute is computed when it is first read

    def fuse(self) -> None:
        """Fuse the program of a step now."""
        self._program.fuse()

    def yields(self, length: int) -> list[Any]:
        """Return new arrays for what ``length`` steps yield."""
        return [self.empty((length, *shape), d) for shape, d in self.results[self._carried :]]

    def history(self, length: int, new: Callable[..., Any] | None = None) -> list[Any]:
        """Return new arrays for the states before ``length`` steps; ``new(shape, dtype)`` makes
        one."""
        new = new or self.empty
        return [new((length, *shape), dtype) for shape, dtype in self.results[: self._carried]]

    def run(
        self, carries: Arrays, xs: Arrays, constants: Arrays, length: int, ys: Arrays = (),
        history: Arrays = (),
    ) -> list[Any]:  # fmt: skip
        """Run steps; return the carried arrays after the last step.

        Parameters
        ----------
        carries, xs, constants : sequence of arrays
            The state before the first step, the arrays with elements for each step, and those that
            are the same for all steps.
        length : int
        ys : sequence of arrays
            Where to write what the steps yield; nowhere by default.
        history : sequence of arrays
            Where to write the state before the first step, and that behind each step; the last
            state is written there too if there is room for one more state than steps.
        """
        for old, first in zip(history, carries, strict=False):
            write(element(old, 0), first)
        loop = self._loop
        if loop is not None and length and loop.is_ready(length * (self._count or 1)):
            return self._compiled(loop, carries, [*xs, *constants], len(xs), length, ys, history)
        began = perf_counter()
        last = self._one_by_one(carries, xs, constants, length, ys, history)
        if loop is not None:
            loop.timed(began)
        return last

    def _one_by_one(
        self, carries: Arrays, xs: Arrays, constants: Arrays, length: int, ys: Arrays,
        history: Arrays,
    ) -> list[Any]:  # fmt: skip
        """Run the steps by running the program once for each step.

        The state moves along ``history``, or two sets of arrays take turns.
        """
        spare, kept = (self._new_state(), self._new_state()), len(history[0]) if history else 0
        dropped = [] if ys else [self.empty(*spec) for spec in self.results[self._carried :]]

        def state_at(t: int) -> Sequence[Any]:
            if not t:
                return carries
            return [element(old, t) for old in history] if t < kept else spare[t % 2]

        def arrays_at(t: int) -> tuple[list[Any], list[Any]]:
            given = [*state_at(t), *[element(x, t) for x in xs], *constants]
            return given, [*state_at(t + 1), *[element(y, t) for y in ys], *dropped]

        self._program.walk(arrays_at, length, min(length, kept - 1) if kept else length)
        return list(state_at(length)) if length else [copied(c) for c in carries]

    def _compiled(
        self, loop: Any, carries: Arrays, others: Arrays, moving: int, length: int, ys: Arrays,
        history: Arrays,
    ) -> list[Any]:  # fmt: skip
        """Run the steps as one compiled loop.

        The first ``moving`` of the arguments in ``others`` have elements for each step.
        """
        last = [element(old, len(old) - 1) for old in history] or self._new_state()
        ends = [old[1:] for old in history] or last
        yielded = list(ys) or [self.empty(*spec) for spec in self.results[self._carried :]]
        carried = len(carries)
        fixed = len(others) - moving
        moves = [*[False] * carried, *[True] * moving, *[False] * fixed]
        moves += [*[bool(history)] * carried, *[bool(ys)] * len(yielded)]
        given = self._leads or [False] * (carried + len(others))
        leads = [*given, *[True] * (carried + len(yielded))]
        arrays = [*carries, *others, *ends, *yielded]
        loop.run_steps(arrays, moves, carried, length, leads, self._count)
        return last

    def _new_state(self) -> list[Any]:
        return [self.empty(*spec) for spec in self.results[: self._carried]]


class StepProgram:
    """The program of a step of a loop, which runs once for each step.

    Parameters
    ----------
    body : Body
    count : int, optional
        The number of samples.
    leads : tuple of bool
        The arguments that have an axis of samples.
    """

    def __init__(self, body: Body, count: int | None = None, leads: tuple[bool, ...] = ()) -> None:
        self._program = body.program(count, leads)
        (stage,) = self._program.stages if self._program.can_enter else (None,)
        self._stage, self._is_on_host = stage, body.device == CPU

    def fuse(self) -> None:
        """Fuse the programs now."""
        for stage in self._program.stages:
            stage.plan.fuse()

    def walk(
        self, arrays_at: Callable[[int], tuple[Sequence[Any], Sequence[Any]]], length: int,
        alike: int, goes_on: Any = None,
    ) -> int:  # fmt: skip
        """Take ``length`` steps; return how many were taken.

        Parameters
        ----------
        arrays_at : callable
            Returns the arguments and the places of the results of a step.
        length : int
        alike : int
            Before this step and behind the first one, arrays move on as `Bound.repeat` says.
        goes_on : ndarray, optional
            Eight bytes, the first of which is a result of a step: steps end where it is False.
        """
        taken = 0
        while taken < length:
            self._step(*arrays_at(taken))
            taken += 1
            if self._ends(goes_on):
                break
            if self._stage is not None and self._is_on_host and taken < alike:
                taken += self._stage.plan.repeat(self._used(arrays_at), taken, alike, goes_on)
                if self._ends(goes_on):
                    break
        return taken

    def _ends(self, goes_on: Any) -> bool:
        return goes_on is not None and not goes_on[0]

    def _used(self, arrays_at: Callable[[int], Any]) -> Callable[[int], Any]:
        """Return a function like ``arrays_at`` of the arguments of the only program."""
        sources = self._stage.sources  # type: ignore[union-attr]

        def used_at(t: int) -> tuple[list[Any], Any]:
            given, results = arrays_at(t)
            return [given[n] for n in sources], results

        return used_at

    def _step(self, given: Sequence[Any], results: Sequence[Any]) -> None:
        stage = self._stage
        if stage is not None:
            stage.plan.run_into([given[n] for n in stage.sources], results)
            return
        for place, found in zip(results, self._program(given), strict=True):
            write(place, found)


__all__ = ["Arrays", "Sizes", "StepProgram", "Steps"]
