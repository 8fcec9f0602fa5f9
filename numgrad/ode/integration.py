"""``ng.ode.odeint``: initial value problems in one compiled loop, with derivatives of the steps."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._errors import ConvergenceError
from ..control.containers import Tree
from ..engine.record.apply import mode
from ..func.pytree import require_function
from .attempts import Tolerances
from .problem import FLOAT, Problem, require_steps, times_of
from .rows import LaterRows
from .solver import ADAPTIVE, FIXED, Solver, solver_of


def odeint(
    f: Callable[..., Any],
    y0: Any,
    t: Any,
    *params: Any,
    args: Any = (),
    method: str = "dopri5",
    rtol: float = 1e-8,
    atol: Any = 1e-8,
    first_step: float | None = None,
    max_steps: int = 100_000,
    substeps: int = 1,
) -> Any:
    """Solve an initial value problem in one compiled loop; its derivatives are those of its steps.

    Parameters
    ----------
    f : callable
        ``f(y, t, *params)`` returns the slope, in the structure and shapes of ``y0``. It is called
        once, with placeholders; its operations must be those of tensors, as for `jit`. It may close
        over tensors, which get gradients.
    y0 : array_like or container of them
        The state at ``t[0]``.
    t : array_like
        The times whose states are wanted, rising or falling.
    *params : array_like or containers of them
        Handed to ``f``.
    args : tuple, optional
        More of them, as SciPy's ``odeint`` takes them; ``args=k`` is ``args=(k,)``.
    method : {"dopri5", "tsit5", "rodas5p", "rk4", "implicit_midpoint"}
        Explicit Runge-Kutta methods of order 5 that choose their steps; a Rosenbrock method of
        order 5 for stiff systems, which chooses them too; and methods of order 4 and 2 with equal
        steps, of which the last one is symplectic.
    rtol, atol : float
        The error of a step may be ``atol + rtol * abs(y)``, as the root of the mean of squares;
        ``atol`` may have an element for each number of the state.
    first_step : float, optional
        The size of the first step that is tried.
    max_steps : int
        The most steps of one solution.
    substeps : int
        With equal steps, how many there are between two times.

    Returns
    -------
    container of tensors
        As ``y0``, with an axis of times in front.

    Raises
    ------
    ConvergenceError
        If the steps become too small or too many, or ``f`` returns what is not finite.
    ArgTypeError
        If ``f`` does not return what ``y0`` looks like.

    See Also
    --------
    interop.scipy.solve_ivp : SciPy's methods; events; adjoints that are integrated.
    scan : Loops with a step of one's own.

    Notes
    -----
    Derivatives, of any order and mode, are those of the steps that were taken, to rounding, with
    the sizes of the steps held fixed: to ``y0``, ``t``, the parameters, and tensors that ``f``
    closes over. A state between two steps is one more step from the last state before it. In a
    mapped function each sample takes its own steps, and its result has the bits of a call of its
    own.
    States are float64 within; those of float32 come back as float32. The states at all steps are
    kept.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> def decay(y, t, rate):
    ...     return -rate * y
    >>> ng.ode.odeint(decay, 1.0, np.array([0.0, 1.0, 2.0]), 0.5)
    tensor([1.        , 0.60653066, 0.36787944])
    >>> slope = ng.func.grad(lambda rate: ng.ode.odeint(decay, 1.0, [0.0, 2.0], rate)[1])(0.5)
    >>> round(float(slope), 6)  # -2 exp(-1)
    -0.735759
    """
    function: Any = require_function(f, "odeint")
    _require_method(method, substeps, max_steps, first_step)
    given = (*params, *(args if isinstance(args, tuple) else (args,)))
    first, parameters = Tree(y0, "odeint: y0"), Tree(given, "odeint: args")
    problem = Problem("odeint", function, first, parameters)
    times = times_of("odeint", t)
    solver = solver_of(problem.body, method)
    values = [problem.start(), times, *parameters.tensors(), *problem.closed_over]
    if method in FIXED:
        found = solver.fixed(values[0], times, values[2:], int(substeps))
        if found.array is not None and not np.isfinite(found.array).all():
            raise ConvergenceError(
                f"odeint: the states of {method!r} are not finite: take smaller steps, by "
                f"substeps= or more times"
            )
        return problem.parted(found)
    asked = Tolerances(float(rtol), np.asarray(atol, float), first_step, int(max_steps))
    return problem.parted(_adaptive(solver, values, asked))


def _adaptive(solver: Solver, values: Sequence[Any], asked: Tolerances) -> Any:
    """Return the states; where there are no values yet, an operation that finds them later."""

    def states(y: Any, t: Any, *params: Any) -> Sequence[Any]:
        return [solver.adaptive(y, t, params, asked)]

    if mode.deferring or mode.capture is not None or any(v.array is None for v in values):
        specs = [(v.shape, v.dtype) for v in values]
        out = (*values[1].shape, *values[0].shape), FLOAT
        return LaterRows("ng.ode.odeint", states, specs, [out])(*values)
    _require_order(values[1].array)
    return states(*values)[0]


def _require_order(t: np.ndarray) -> None:
    apart = np.diff(t)
    if not np.isfinite(t).all() or not ((apart >= 0).all() or (apart <= 0).all()):
        raise ValueError("odeint: t must be finite, and rise or fall from each time to the next")


def _require_method(method: Any, substeps: Any, max_steps: Any, first_step: Any) -> None:
    if method not in ADAPTIVE and method not in FIXED:
        names = ", ".join(map(repr, (*ADAPTIVE, *FIXED)))
        raise ValueError(f"odeint: there is no method {method!r}; take one of {names}")
    require_steps("odeint", first_step, substeps=substeps, max_steps=max_steps)


__all__ = ["odeint"]
