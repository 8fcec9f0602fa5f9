"""``ng.ode.odeint_event``: the first time at which a function of the solution is zero."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._errors import ArgTypeError
from .._tensor import Tensor
from ..control.body import Body
from ..control.containers import Tree
from ..control.loop import loop_over
from ..control.steps import Sizes
from ..engine.record.apply import mode
from ..func.pytree import require_function
from ..functions.shape.selection import where
from ..process.cached_attribute import lazy
from .attempts import Attempts, Found, Tolerances
from .problem import FLOAT, Problem, require_steps, times_of
from .rows import LaterRows
from .slopes import Slope, tangent_of
from .solver import ADAPTIVE, Solver, arrays_of, filled_up, solver_of

_CORRECTIONS = 2  # of the time by Newton's method; derivatives up to the third are exact then
_TIME = 2  # the place of the size of the last step among the arguments of a body


class Event(NamedTuple):
    """The time and the state at which a solution ended, and whether it ended by the event."""

    t: Any
    y: Any
    happened: Any


def odeint_event(
    f: Callable[..., Any],
    y0: Any,
    t: Any,
    *params: Any,
    event: Callable[..., Any],
    args: Any = (),
    direction: int = 0,
    method: str = "dopri5",
    rtol: float = 1e-8,
    atol: Any = 1e-8,
    first_step: float | None = None,
    max_steps: int = 100_000,
) -> Event:
    """Solve an initial value problem until an event, with derivatives of its time and its state.

    Parameters
    ----------
    f, y0, *params, args
        As for `odeint`.
    t : array_like
        The time of ``y0``, and the time at which the solution ends without an event.
    event : callable
        ``event(y, t, *params)`` returns a number. The event is the first change of its sign from
        the end of one step to the end of the next one.
    direction : {0, 1, -1}
        Which changes count: all, those from minus to plus, or those from plus to minus.
    method : {"dopri5", "tsit5", "rodas5p"}
        A method that chooses its steps, as for `odeint`.
    rtol, atol, first_step, max_steps
        As for `odeint`.

    Returns
    -------
    Event
        A named tuple: ``t``, the time of the event; ``y``, the state there, as ``y0``; and
        ``happened``, a boolean. Without an event they are the last of ``t``, the state there, and
        False.

    Raises
    ------
    ConvergenceError
        If the steps become too small or too many, or ``f`` returns what is not finite.
    ArgTypeError
        If ``event`` does not return one real number.

    See Also
    --------
    odeint : The states at given times.
    interop.scipy.solve_ivp : SciPy's methods.

    Notes
    -----
    With ``e(y, t)`` for the event, the derivative of its time is that of the implicit function:
    ``dt = -(e_y dy) / (e_y f + e_t)``, where ``dy`` is the change of the state at a fixed time.
    First, second and third derivatives are exact for the steps that were taken. A zero at which the
    sign does not change is no event, nor are two changes within one step: ask for a smaller error
    to have smaller steps. The time is where the event is zero on the last step, to rounding. A
    value of at most ``atol`` at the beginning counts as zero and not as a sign, so that a solution
    may start where an earlier one has ended.

    In a mapped function each sample has its own event.

    Examples
    --------
    The speed with which a ball hits the ground, and the derivative of the time of the fall to the
    height, which is ``1 / sqrt(2 g h)``:

    >>> import numgrad as ng
    >>> def fall(y, t, g):
    ...     height, speed = y
    ...     return ng.stack([speed, -g])
    >>> def landing(height):
    ...     return ng.ode.odeint_event(
    ...         fall, ng.stack([height, 0.0]), [0.0, 10.0], 9.81, event=lambda y, t, g: y[0]
    ...     )
    >>> landing(5.0).y[1].round(6)
    tensor(-9.904544)
    >>> ng.func.grad(lambda height: landing(height).t)(5.0).round(6)
    np.float64(0.100964)
    """
    name = "odeint_event"
    function, watched = require_function(f, name), require_function(event, name)
    _require_options(method, direction, max_steps, first_step)
    given = (*params, *(args if isinstance(args, tuple) else (args,)))
    first, parameters = Tree(y0, f"{name}: y0"), Tree(given, f"{name}: args")
    problem = Problem(name, function, first, parameters, watched)
    times = times_of(name, t)
    if times.shape != (2,):
        raise ArgTypeError(f"{name}: t must be two times, got {times.shape[0]}")
    solver = _until(problem.body, method, direction)
    values = [problem.start(), times, *parameters.tensors(), *problem.closed_over]
    asked = Tolerances(float(rtol), np.asarray(atol, float), first_step, int(max_steps))
    time, state, happened = _event(solver, values, asked)
    return Event(time, problem.parted(state), happened)


def _event(solver: "_Until", values: Sequence[Any], asked: Tolerances) -> Sequence[Any]:
    """Return the event; where there are no values yet, an operation that finds it later."""

    def found(y: Any, t: Any, *params: Any) -> Sequence[Any]:
        return solver(y, t, params, asked)

    if mode.deferring or mode.capture is not None or any(v.array is None for v in values):
        specs = [(v.shape, v.dtype) for v in values]
        outputs = [((), FLOAT), (values[0].shape, FLOAT), ((), np.dtype(bool))]
        return LaterRows("ng.ode.odeint_event", found, specs, outputs)(*values)
    if not np.isfinite(values[1].array).all():
        raise ValueError("odeint_event: t must be finite")
    return found(*values)


class _AttemptsUntil(Attempts):
    """The accepted steps up to that in which the sign of the event changes."""

    further = (((), FLOAT), ((), np.dtype(bool)))

    def __init__(self, slope: Slope, step: Any, power: int, direction: int) -> None:
        self._direction = direction
        super().__init__(slope, step, power)

    def begun(self, y: np.ndarray, t: float, params: Any, atol: np.ndarray) -> list[np.ndarray]:
        level = self._value([y, np.array(t), *params])[1]
        return [np.where(np.abs(level) <= np.max(atol), 0.0, level), np.array(False)]

    def is_done(self, state: Sequence[Any], end: float) -> bool:
        return bool(state[4]) or super().is_done(state, end)

    def tried(self, *given: Any) -> list[Any]:
        y, t, h, level, _, *fixed = given
        following, reached, size, *yields, goes_on = super().tried(y, t, h, *fixed)
        fits = yields[-1]
        now = where(fits, self._slope.body(following, reached, *fixed[3:])[1], level)
        rises, falls = (level < 0.0) & (now >= 0.0), (level > 0.0) & (now <= 0.0)
        changes = {0: rises | falls, 1: rises, -1: falls}[self._direction]
        return [following, reached, size, now, changes, *yields, goes_on & ~changes]


class _Until:
    """A method for a system with an event: the time and the state of the event, as functions of the
    start, the times and further tensors."""

    def __init__(self, solver: Solver, direction: int) -> None:
        self._solver, self._slope, self._direction = solver, solver.slope, direction
        state, one, *params = self._slope.specs
        self._specs = [state, one, one, *params]

    def __call__(
        self, y: Any, t: Any, params: Sequence[Any], asked: Tolerances
    ) -> tuple[Any, Any, Any]:
        """Return the time and the state of the event, and whether there is one, with axes of
        samples in front where all arguments have them."""
        lead, (ys, ts, ps) = y.shape[:-1], arrays_of(y, t, params)
        found = [
            self._attempts.found(
                ys[n, ...], float(ts[n, 0]), float(ts[n, 1]), [p[n, ...] for p in ps], asked
            )
            for n in range(len(ys))
        ]
        happened = np.array([bool(steps.carried[1]) if steps.carried else False for steps in found])
        last = np.array([[steps.times.size - 1] for steps in found]).reshape(*lead, 1)
        before, since = self._solver.at_steps(y, t, params, *filled_up(found, ts[:, 1]), last)
        sizes = self._sizes(before, since, ps, found, happened).reshape(*lead, 1)
        flags = Tensor(happened.reshape(*lead, 1))
        loop = loop_over(self._landing, Sizes(0, 5), 1, False)
        rest = t[..., 1:] - since
        size, state = loop.apply(before, since, rest, Tensor(sizes), flags, *params)
        return (since + size)[..., 0], state[..., 0, :], flags[..., 0]

    def _sizes(
        self, before: Any, since: Any, params: Sequence[np.ndarray], found: Sequence[Found],
        happened: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """Return for each sample the size of the last step, at whose end the event is zero."""
        from scipy.optimize import brentq  # slow to import

        ys = before.detach().numpy().reshape(len(found), -1)
        ts = since.detach().numpy().reshape(len(found))
        level = self._level.program()

        def size_of(n: int) -> float:
            size, fixed = float(found[n].sizes[-1]), [p[n, ...] for p in params]

            def value(s: float) -> float:
                return float(level([ys[n], ts[n : n + 1].reshape(()), np.array(s), *fixed])[0])

            ends = value(0.0), value(size)
            if not happened[n] or ends[0] * ends[1] >= 0.0:
                return size
            zero: Any = brentq(value, 0.0, size, xtol=1e-300, rtol=4 * np.finfo(float).eps)
            return float(zero)

        return np.array([size_of(n) for n in range(len(found))])

    # Bodies

    @lazy
    def _attempts(self) -> _AttemptsUntil:
        solver = self._solver
        return _AttemptsUntil(solver.slope, solver.step, solver.tableau.controlled, self._direction)

    @lazy
    def _level(self) -> Body:
        """The event at the end of a step of a given size."""

        def level(y: Any, t: Any, size: Any, *params: Any) -> list[Any]:
            reached = self._solver.step(y, t, size, *params)[0]
            return [self._slope.body(reached, t + size, *params)[1]]

        return Body.of(self._slope.body.name, level, self._specs)

    @lazy
    def _landing(self) -> Body:
        """The size of the last step, corrected by Newton's method, and the state at its end."""

        def landing(y: Any, t: Any, rest: Any, size: Any, happened: Any, *params: Any) -> list[Any]:
            for _ in range(_CORRECTIONS):
                given = y, t, size, *params
                slope = tangent_of(self._level, 0, _TIME, given, Tensor(np.ones(())))
                if slope is not None:
                    size = size - self._level(*given)[0] / where(happened, slope, 1.0)
            size = where(happened, size, rest)
            return [size, self._solver.step(y, t, size, *params)[0]]

        state, one, _, *params = self._specs
        specs = [state, one, one, one, ((), np.dtype(bool)), *params]
        return Body.of(self._slope.body.name, landing, specs)


def _until(body: Body, method: str, direction: int) -> _Until:
    """Return the solver of a system with an event, made once."""
    key: Any = "event", method, direction
    found = body.loops.get(key)
    if found is None:
        found = body.loops[key] = _Until(solver_of(body, method), direction)
    return found


def _require_options(method: Any, direction: Any, max_steps: Any, first_step: Any) -> None:
    if method not in ADAPTIVE:
        names = ", ".join(map(repr, ADAPTIVE))
        raise ValueError(f"odeint_event: method must be one of {names}, got {method!r}")
    if direction not in (0, 1, -1):
        raise ValueError(f"odeint_event: direction must be 0, 1 or -1, got {direction!r}")
    require_steps("odeint_event", first_step, max_steps=max_steps)


__all__ = ["Event", "odeint_event"]
