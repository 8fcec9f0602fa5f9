"""The steps of a loop on arrays: the program of the body runs once for each step."""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from time import perf_counter
from typing import Any, NamedTuple

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
    def _program(self) -> Any:
        return self._body.program(self._count, self._leads)

    def prepare(self) -> None:
        """Make the program of a step now, since a thread of a running program cannot make it."""
        self._program  # noqa: B018  the attribute is computed when it is first read

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
            Where to write the state before the first step, and that behind each step.
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
        """Run the steps by running the program once for each step."""
        spare = self._new_state(), self._new_state()
        yields = self.results[self._carried :]
        dropped = [] if ys else [self.empty(*spec) for spec in yields]
        present = list(carries)
        for t in range(length):
            following = [element(old, t + 1) for old in history] if history else spare[t & 1]
            given = [*present, *[element(x, t) for x in xs], *constants]
            self._step(given, [*following, *([element(y, t) for y in ys] if ys else dropped)])
            present = following
        return present if length else [copied(c) for c in carries]

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

    def _step(self, given: list[Any], results: list[Any]) -> None:
        program = self._program
        if program.can_enter:
            (stage,) = program.stages
            stage.plan.run_into([given[n] for n in stage.sources], results)
            return
        for place, found in zip(results, program(given), strict=True):
            write(place, found)
