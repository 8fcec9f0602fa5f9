"""Loops that end when a step says so; the steps are counted while they run."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..process.cached_attribute import lazy
from .body import Body, Spec
from .compiled import Operands
from .steps import Arrays, StepProgram

_AT_ONCE = 1 << 12  # steps between two looks at whether compiling pays, and at Ctrl-C


class CountedSteps:
    """The steps of a loop that ends when a step returns False as its last result.

    Parameters
    ----------
    name : str
    function : callable
        Takes tensors, those that are carried and those that are the same for all steps. Returns the
        carried tensors, what the step yields, and a boolean, whether the loop goes on.
    specs : sequence of (shape, dtype)
        Those of the arguments.
    carried : int
        How many of the arguments are carried.
    """

    def __init__(
        self, name: str, function: Callable[..., Sequence[Any]], specs: Sequence[Spec], carried: int
    ) -> None:
        def step(count: Tensor, *arguments: Tensor) -> list[Any]:
            return [count + 1, *function(*arguments)]

        self._body = Body.of(name, step, [((), np.dtype(np.int64)), *specs])
        self._carried = carried + 1
        self._loop = self._body.compiled((self._carried, 0, True))

    @lazy
    def _program(self) -> StepProgram:
        return StepProgram(self._body)

    def yields(self, length: int) -> list[np.ndarray]:
        """Return new arrays for what ``length`` steps yield."""
        specs = self._body.results[self._carried : -1]
        return [np.empty((length, *shape), dtype) for shape, dtype in specs]

    def run(
        self, carries: Arrays, constants: Arrays, most: int | None = None, ys: Arrays = ()
    ) -> tuple[int, list[np.ndarray], bool]:
        """Take at least one step, until a step ends the loop or ``most`` steps are taken.

        Parameters
        ----------
        carries, constants : sequence of ndarray
            The carried arrays before the first step, and the arrays that all steps read.
        most : int, optional
            The most steps to take; no limit by default.
        ys : sequence of ndarray
            Where to write what the steps yield; nowhere by default.

        Returns
        -------
        taken, carries, goes_on
            The number of steps taken, the carried arrays after the last one, and whether that step
            said that the loop goes on.
        """
        taken, goes_on, state = 0, True, [np.zeros((), np.int64), *carries]
        while goes_on and (most is None or taken < most):
            count = _AT_ONCE if most is None else min(most - taken, _AT_ONCE)
            some = [y[taken:] for y in ys]
            is_compiled = self._loop is not None and self._loop.is_ready(1)
            steps = self._compiled if is_compiled else self._one_by_one
            state, goes_on = steps(state, constants, count, some)
            taken = int(state[0])
        return taken, state[1:], goes_on

    def _one_by_one(
        self, state: Arrays, constants: Arrays, count: int, ys: Arrays
    ) -> tuple[list[np.ndarray], bool]:
        began, results, carried = perf_counter(), self._body.results, self._carried
        spare = [[np.empty(*spec) for spec in results[:carried]] for _ in range(2)]
        dropped = [] if ys else [np.empty(*spec) for spec in results[carried:-1]]
        flag = np.zeros(8, bool)  # a word, which is 0 if its first byte is

        def state_at(t: int) -> Arrays:
            return spare[t % 2] if t else state

        def arrays_at(t: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
            yielded = [y[t, ...] for y in ys] or dropped
            return [*state_at(t), *constants], [*state_at(t + 1), *yielded, flag[0, ...]]

        taken = self._program.walk(arrays_at, count, count, flag)
        if self._loop is not None:
            self._loop.timed(began)
        return list(state_at(taken)), bool(flag[0])

    def _compiled(
        self, state: Arrays, constants: Arrays, count: int, ys: Arrays
    ) -> tuple[list[np.ndarray], bool]:
        carried, results = self._carried, self._body.results
        last = [np.empty(*spec) for spec in results[:carried]]
        yielded = list(ys) or [np.empty(*spec) for spec in results[carried:-1]]
        flag = np.empty((), bool)
        given = [np.asarray(a, order="C") for a in (*state, *constants)]
        moves = [*[False] * (len(given) + carried), *[bool(ys)] * len(yielded), False]
        operands = Operands([*given, *last, *yielded, flag], moves)
        self._loop.run(operands, carried, count)
        return last, bool(flag)


__all__ = ["CountedSteps"]
