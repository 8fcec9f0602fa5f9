"""The steps of an adaptive method: tried, and tried again with smaller ones, until the error fits.

What is found are the times and sizes of steps, numbers without a derivative. Each attempt is a step
of a loop that becomes one kernel.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._errors import ConvergenceError
from ..control.body import Spec
from ..control.counted import CountedSteps
from ..functions.elementwise.arithmetic import abs as absolute
from ..functions.elementwise.powers import sqrt
from ..functions.reduction.reduction import sum as total
from ..functions.shape.selection import maximum, minimum, where
from .methods import Step
from .slopes import Slope

SAFETY, LEAST, MOST = 0.9, 0.2, 6.0  # of the change of a step's size
_SPACINGS = 16.0 * np.finfo(float).eps
_TINY = 1e-10  # an error as small as that asks for the largest change anyway
_BLOCK = 512  # attempts, whose times and sizes are written at a time


class Tolerances(NamedTuple):
    """What is asked of the error of a step, and how many steps there may be."""

    rtol: float
    atol: Any
    first_step: float | None
    max_steps: int

    @property
    def key(self) -> tuple[Any, ...]:
        """The tolerances as a key."""
        return self.rtol, self.atol.tobytes(), self.first_step, self.max_steps


class Found(NamedTuple):
    """The accepted steps of a solution: the times before them, their sizes, and what else was
    carried, after the last of them."""

    times: np.ndarray
    sizes: np.ndarray
    carried: Sequence[np.ndarray]


class Attempts:
    """The accepted steps of a method, as arrays.

    Parameters
    ----------
    slope : Slope
    step : callable
    power : int
        That of the size of a step with which its error falls.
    """

    def __init__(self, slope: Slope, step: Step, power: int) -> None:
        self._slope, self._step, self._power = slope, step, power
        self._name = slope.body.name.rpartition(".")[2]
        one, state = ((), np.dtype(float)), slope.specs[0]
        specs = [*[state, one, one, *self.further], one, one, state, *slope.specs[2:]]
        carried = 3 + len(self.further)
        self._steps = CountedSteps(slope.body.name, self.tried, specs, carried)
        self._value = slope.body.program()

    further: Sequence[Spec] = ()
    """The specs of what is carried beside the state, the time and the size of the next step."""

    def begun(self, y: np.ndarray, t: float, params: Any, atol: np.ndarray) -> list[np.ndarray]:
        """Return what is carried beside the state, at the beginning."""
        return []

    def is_done(self, state: Sequence[Any], end: float) -> bool:
        """Whether a last state is one at which the steps may end."""
        return float(state[1]) == end

    def tried(self, *given: Any) -> list[Any]:
        """Return what follows an attempt, given what is carried and what all attempts read."""
        return self._attempt(*given)

    def _attempt(
        self, y: Any, t: Any, h: Any, end: Any, rtol: Any, atol: Any, *params: Any
    ) -> list[Any]:
        is_last = absolute(end - t) <= absolute(h) * (1.0 + _TINY)
        size = where(is_last, end - t, h)
        following, error = self._step(y, t, size, *params)
        scale = atol + rtol * maximum(absolute(y), absolute(following))
        share = error / scale
        norm = sqrt(total(share * share) / self._slope.size)
        fits = (norm <= 1.0) & (total(following - following) == 0.0)  # no infinity, no NaN
        change = SAFETY * maximum(norm, _TINY) ** (-1.0 / self._power)
        change = where(norm == norm, maximum(LEAST, minimum(MOST, change)), LEAST)
        change = where(fits, change, minimum(change, SAFETY))
        following_t = where(fits, where(is_last, end, t + size), t)
        is_possible = fits | (absolute(size * change) > _SPACINGS * absolute(t))
        return [
            where(fits, following, y), following_t, size * change, t, size, fits,
            is_possible & (following_t != end),
        ]  # fmt: skip

    def found(
        self, y: np.ndarray, start: float, end: float, params: Sequence[np.ndarray],
        asked: Tolerances,
    ) -> Found:  # fmt: skip
        """Return the accepted steps from one time to another one."""
        if start == end:
            return Found(np.array([start]), np.zeros(1), ())
        atol = np.array(np.broadcast_to(asked.atol, y.shape))
        first = self._first(y, start, end, params, asked.rtol, atol)
        first = first if asked.first_step is None else np.copysign(asked.first_step, first)
        state: list[Any] = [y, np.array(start), np.array(first)]
        state += self.begun(y, start, params, atol)
        fixed = [np.array(end), np.array(asked.rtol), atol, *params]
        times, sizes, count, goes_on = [], [], 0, True
        while goes_on:
            ys = self._steps.yields(_BLOCK)
            taken, state, goes_on = self._steps.run(state, fixed, _BLOCK, ys)
            t, h, fits = [part[:taken] for part in ys]
            times.append(t[fits])
            sizes.append(h[fits])
            count += times[-1].size
            if count > asked.max_steps or (goes_on and count == asked.max_steps):
                raise ConvergenceError(
                    f"{self._name}: {asked.max_steps} steps led to t = {float(state[1]):.6g}, not "
                    f"to {end:.6g}; allow more of them by max_steps=, a larger error by rtol= and "
                    f"atol=, or take a method for stiff systems, method='rodas5p'"
                )
        if not self.is_done(state, end):
            raise self._failed(state, params)
        return Found(np.concatenate(times), np.concatenate(sizes), state[3:])

    def _first(
        self, y: np.ndarray, t: float, end: float, params: Any, rtol: float, atol: Any
    ) -> float:
        """Return the size of the first step (Hairer, Norsett and Wanner 1993, II.4)."""
        slope = self._value([y, np.array(t), *params])[0]
        if not np.isfinite(slope).all():
            raise self._failed([y, t], params)
        scale = atol + rtol * np.abs(y)
        with np.errstate(all="ignore"):
            size, speed = _norm(y / scale), _norm(slope / scale)
            span = abs(end - t)
            h = min(0.01 * size / speed if size > 1e-5 and 1e-5 < speed < np.inf else 1e-6, span)
            h = np.copysign(h, end - t)
            further = self._value([y + h * slope, np.array(t + h), *params])[0]
            bend = _norm((further - slope) / scale) / abs(h)
            largest = max(speed, bend)
            h2 = (0.01 / largest) ** (1.0 / self._power) if largest > 1e-15 else max(1e-6, 1e-3 * h)
        h2 = h2 if np.isfinite(h2) else abs(h)
        return float(np.copysign(min(100.0 * abs(h), h2, span), end - t))

    def _failed(self, state: Sequence[Any], params: Any) -> ConvergenceError:
        name, y, t = self._name, state[0], float(state[1])
        slope = self._value([y, np.array(t), *params])[0]
        if not np.isfinite(slope).all():
            return ConvergenceError(
                f"{name}: the function returns {np.array2string(slope, threshold=8, precision=6)} "
                f"at t = {t:.6g}, y = {np.array2string(y, threshold=8, precision=6)}"
            )
        return ConvergenceError(
            f"{name}: at t = {t:.6g} a step as small as the spacing of numbers still has too large "
            f"an error: the solution may end there, or the function may be no smooth one; allow a "
            f"larger error by rtol= and atol="
        )


def _norm(x: np.ndarray) -> float:
    """Return the root of the mean of squares."""
    return float(np.sqrt(np.dot(x, x) / x.size))


__all__ = ["Attempts", "Found", "Tolerances"]
