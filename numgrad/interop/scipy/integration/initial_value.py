"""Initial value problems, as functions of the start and of the arguments."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ...._autograd import no_grad
from ...._errors import CaptureError, ConvergenceError, NotDifferentiableError
from ...._tensor import Tensor, tensor
from ....functions.array.argument_checks import pair, unwanted
from ....functions.shape.reshaping import matrix_transpose, reshape
from ..implicit.derived import Captured
from ..implicit.functions import FORMS, function
from ..implicit.parameters import Parameters, controls, gathered, number
from ..implicit.solver_operator import Form, Found, converged, in_programs, refuse, shape_of
from ..systems.linear import as_real
from .continuous import IMPLICIT, ContinuousAdjoint, Problem, taken
from .dense import DenseSolution
from .flow import Slopes, Times
from .steps import ADAPTIVE, FIXED, ClosedRun, DiscreteAdjoint, Run, Step, stepped

INSTEAD = {
    "events": "t_events and y_events have none. Write ng.ode.odeint_event(f, y0, (t0, t1), "
    "event=event), where both functions take (y, t): there the time and the state of the first "
    "event have gradients. The page on SciPy in the documentation shows another way",
}


def _shapes(given: dict[str, Any]) -> list[tuple[int, ...]]:
    refuse("solve_ivp", {n: given["options"].get(n) for n in (*INSTEAD, "dense_output")})
    if given["t_eval"] is None:
        raise CaptureError(
            "solve_ivp in a captured or mapped function needs to know how many states there will "
            "be: pass the times in t_eval, such as t_eval=np.linspace(t0, t1, 100)"
        )
    return [shape_of(given["t_eval"]), (*shape_of(given["y0"]), *shape_of(given["t_eval"]))]


@in_programs(Form(converged("t", "y"), _shapes, lambda given, t, y: Found(t=t, y=y)))
def solve_ivp(
    fun: Callable[..., Any],
    t_span: Sequence[float],
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    args: Sequence[Any] = (),
    *,
    jac: Any = "dense",
    adjoint: str | None = None,
    step: float | None = None,
    adjoint_rtol: float | None = None,
    adjoint_atol: float | None = None,
    jit: bool = True,
    **options: Any,
) -> Any:
    """Solve an initial value problem by `scipy.integrate.solve_ivp`, with the exact Jacobian.

    Parameters
    ----------
    fun : callable
        ``fun(t, y, *args)`` returns the slope: an array of the shape of ``y``, or a list of
        numbers.
    t_span : pair of float
        Start and end; the states are differentiable with respect to both.
    y0 : array_like
        The start, of any shape; a list may hold tensors.
    method : {"RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA", "RK4", "Euler"}
        SciPy's, or one with fixed steps, which needs `step`.
    t_eval : array_like, optional
        Times whose states are wanted, which are differentiable with respect to them; those of the
        solver's steps by default, of which the ends alone are those of `t_span`.
    args : tuple
        Of anything; the states are differentiable with respect to the tensors in it, to `y0`, and
        to the tensors that `fun` closes over and reads at the start already.
    jac : {"dense", "sparse"} or as in SciPy
        The form of the Jacobian, for the implicit methods.
    adjoint : {"discrete", "continuous"}, optional
        The derivative of the steps that were taken, or of the problem itself. By default discrete
        for the explicit methods, continuous for the implicit ones, which have no other.
    step : float, optional
        With fixed steps, the most that one may be long.
    adjoint_rtol, adjoint_atol : float, optional
        Tolerances of the continuous adjoint; those of the solution by default.
    jit : bool
        Whether `fun` is captured, see `function`.
    **options
        SciPy's other parameters, unchanged: ``rtol``, ``atol``, ``max_step``, ``events``, ...

    Returns
    -------
    Bunch of SciPy
        ``y`` has shape ``(*y0.shape, number of times)``; it is a tensor if `y0`, one of `args` or
        of the times is. ``t`` is one if a gradient is to reach the times. ``sol`` takes tensors,
        too; where a gradient is wanted, each call of it solves the problem again. All else is what
        SciPy found, and does not move with what was given.

    Raises
    ------
    ConvergenceError
        If a gradient is wanted and the solver, or that of the adjoint, has failed.
    NotDifferentiableError
        If a gradient is wanted with ``events`` (but to times that they do not depend on, `t_eval`
        and the end), with respect to tolerances and sizes of steps, or of an
        implicit method with ``adjoint="discrete"``; at the second derivative of a continuous
        adjoint.

    Notes
    -----
    The discrete adjoint goes back step by step, from the states that were kept: memory is one state
    for each step, and the gradient is that of the numbers returned, to rounding, with the sizes of
    the steps held fixed. A state between two steps is one more step of the method from the last one
    before it. Second derivatives record all steps.

    The continuous adjoint :math:`\\dot\\lambda = -f_y^T \\lambda` is integrated backwards along the
    interpolated solution: up to 32 unknowns by collocation on the steps of the solution, which are
    divided where that is not exact enough, else by the same method. The gradient of an argument is
    :math:`\\int \\lambda^T f_p\\,dt` by Gauss' formula on the steps. Its error is that of the
    tolerances. A batch of cotangents is one integration.

    The derivative to a time is the slope at the state that is returned, to rounding, by every
    method; that to the start's is minus the slope there, carried on as the start is.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> rate = ng.tensor(0.5, requires_grad=True)
    >>> result = ng.interop.scipy.solve_ivp(
    ...     lambda t, y, rate: -rate * y, (0.0, 2.0), np.array([1.0]), t_eval=[2.0], args=(rate,),
    ...     rtol=1e-8, atol=1e-8,
    ... )
    >>> round(ng.grad(result.y[0, 0], rate)[0].item(), 5)  # -2 exp(-1)
    -0.73576
    """
    dense = options.pop("dense_output", False)
    chosen = options | {
        "args": args, "jac": jac, "adjoint": adjoint, "step": step, "jit": jit,
        "adjoint_rtol": adjoint_rtol, "adjoint_atol": adjoint_atol,
    }  # fmt: skip
    again = partial(solve_ivp, fun, t_span, y0, method, **chosen)
    options = controls(options | {"jac": jac, "step": step}, "solve_ivp")
    jac, step = options.pop("jac"), options.pop("step")
    own = controls({"rtol": adjoint_rtol, "atol": adjoint_atol}, "solve_ivp", "adjoint_")
    given = _Given(t_span, gathered(y0), gathered(t_eval), args)
    hook = given.hook(fun, jac, jit)
    kind = _kind(method, adjoint, options) if given.is_followed else None
    options |= {"dense_output": dense} if dense and kind is None else {}
    asked = _Asked(hook, given, method, kind)
    result = asked.in_steps(step) if method in FIXED else asked.by_scipy(jac, options)
    if (given.is_followed or given.times.move) and not result.success:
        raise ConvergenceError(f"solve_ivp: {result.message}")
    asked.let_solution_move(result)
    if given.has_tensors:
        asked.let_states_move(result, _tolerances(options, own))
    else:
        result.y = result.y.reshape(*given.start.shape, result.t.size)
    if dense and kind is not None:
        result.sol = DenseSolution(again, given.times.span)
    return result


def _tolerances(options: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return the tolerances of an adjoint: those of the solution, but for its own."""
    found = {name: options[name] for name in ("rtol", "atol", "max_step") if name in options}
    return found | {name: value for name, value in own.items() if value is not None}


class _Given:
    """The start, the times and the arguments of a call, and which of them are followed.

    Attributes
    ----------
    start : ndarray
        The numbers of the start, in its shape.
    wanted : ndarray or None
        Those of the times whose states are wanted.
    """

    def __init__(self, t_span: Any, y0: Any, t_eval: Any, args: Sequence[Any]) -> None:
        span = pair(t_span, "t_span", "the first and the last time")
        if any(getattr(t, "ndim", 0) for t in span):
            raise TypeError(unwanted("t_span", "the first and the last time", t_span))
        self.y0, self.parameters = y0, Parameters(args, "solve_ivp")
        self.closure = self.parameters.closure
        self._inputs = Parameters((y0, args), "solve_ivp", self.closure)
        self.times = Times(span, t_eval)
        self.start = np.array(number(y0), dtype=float)
        self.wanted = None
        if t_eval is not None:
            self.wanted = _checked(np.array(number(t_eval), float), self.times.span)

    def hook(self, fun: Callable[..., Any], jac: Any, jit: bool) -> function:
        """Return the right-hand side for the solver, called once, which shows what it closes
        over."""

        def of_state(y: Any, t: Any, *args: Any) -> Any:
            return fun(t, y, *args)

        form = jac if isinstance(jac, str) and jac in FORMS else "dense"
        numbers = self.parameters.numbers
        hook = function(of_state, numbers, shape=self.start.shape, jac=form, jit=jit)
        hook.closure = self.closure
        hook.show(self.start.reshape(-1), self.times.span[0])
        self.closure.settle()
        return hook

    @property
    def is_followed(self) -> bool:
        """Whether a gradient is to reach the start, the arguments or the first time."""
        return self._inputs.want_grad or self.times.first is not None

    @property
    def has_tensors(self) -> bool:
        return self._inputs.has_tensors or self.times.has_tensors


def _kind(method: str, adjoint: str | None, options: dict[str, Any]) -> str:
    """Return the kind of adjoint for a gradient, if there is one."""
    kind = adjoint or ("continuous" if method in IMPLICIT else "discrete")
    if kind not in ("discrete", "continuous"):
        raise ValueError(f"solve_ivp: adjoint must be discrete or continuous, got {adjoint!r}")
    for name, instead in INSTEAD.items():
        if options.get(name):
            raise NotDifferentiableError(
                f"solve_ivp: with {name} part of the result would be without its gradient: "
                f"{instead}. Where no gradient is wanted, detach y0, args and t_span."
            )
    if kind == "discrete" and method not in (*FIXED, *ADAPTIVE):
        raise NotDifferentiableError(
            f"solve_ivp: the steps of {method!r} have no discrete adjoint here; take "
            f"adjoint='continuous', or one of {', '.join((*FIXED, *ADAPTIVE))}"
        )
    if kind == "continuous" and method in FIXED:
        raise NotDifferentiableError(
            f"solve_ivp: with fixed steps ({method!r}) the adjoint is discrete; take "
            f"adjoint='discrete'"
        )
    return kind


def _checked(wanted: np.ndarray, span: tuple[float, float]) -> np.ndarray:
    """Return the wanted times; raise unless they are in order and within the interval."""
    if wanted.ndim != 1:
        raise ValueError(f"solve_ivp: t_eval must have one axis, got shape {wanted.shape}")
    if (wanted < min(span)).any() or (wanted > max(span)).any():
        raise ValueError("solve_ivp: values in t_eval are not within t_span")
    if (np.diff(wanted) * np.sign(span[1] - span[0]) <= 0).any():
        raise ValueError("solve_ivp: values in t_eval are not properly sorted")
    return wanted


def _with(jac: Any, hook: function) -> Any:
    """Return the user's Jacobian for SciPy, called with the arguments of the right-hand side; a
    matrix as it is."""
    return (lambda t, y: jac(t, y, *hook.args)) if callable(jac) else jac


class _Asked:
    """The problem and the wanted states: at all steps if these are to be differentiated."""

    def __init__(self, hook: function, given: _Given, method: Any, kind: str | None) -> None:
        self.hook, self.given, self.method, self.kind = hook, given, method, kind
        self.start, self.wanted = given.start.reshape(-1), given.wanted
        self.span, self.closure = given.times.span, given.closure
        self._slope = given.parameters.over(hook.of_vector.vector)
        self._field = Slopes(self._slope, hook, self.closure)

    def let_solution_move(self, result: Any) -> None:
        """Let the interpolated solution take times with gradients."""
        if self.kind is None and result.sol is not None:
            from .interpolant import Interpolant

            result.sol = Interpolant(result.sol, self._field, self.given.parameters.sources)

    def let_states_move(self, result: Any, tolerances: dict[str, Any]) -> None:
        """Let the states be functions of the start, the arguments and the times."""
        given, tensors = self.given, self.given.parameters.sources
        y, y0 = tensor(np.ascontiguousarray(result.y.T)), as_real(given.y0, "solve_ivp")
        y0 = reshape(y0, -1)
        begin = given.times.begin(self._field, y0, tensors)
        if self.kind == "discrete":
            y = self._discrete(result, y, begin)
        elif self.kind == "continuous":
            y = self._continuous(result, y, begin, tolerances)
        wanted = result.t if self.wanted is None else self.wanted
        result.t, y = given.times.states(self._field, y, wanted, y0, tensors)
        result.y = reshape(matrix_transpose(y), (*given.start.shape, result.t.size))

    def _discrete(self, result: Any, y: Tensor, begin: Tensor) -> Tensor:
        """Return the states by the steps taken."""
        times = result.t if self.wanted is None else self.wanted
        step = Step(self._slope, self.method, self.closure)
        run = Run(step, result.t, y.numpy(), times, self.hook.jit)
        adjoint = DiscreteAdjoint if self.closure.places else ClosedRun
        return adjoint.apply(run, begin, *self.given.parameters.sources)

    def _continuous(
        self, result: Any, y: Tensor, begin: Tensor, tolerances: dict[str, Any]
    ) -> Tensor:
        """Return the states by the problem's adjoint."""
        parameters = self.given.parameters
        problem = Problem(
            self.hook, self._slope, len(parameters.tensors), self.closure, result.sol,
            self.span[0], result.t, method=self.method, **tolerances,
        )  # fmt: skip
        result.sol = None
        return ContinuousAdjoint.apply(problem, y.numpy(), begin, *parameters.sources)

    def by_scipy(self, jac: Any, options: dict[str, Any]) -> Any:
        """Return the result of SciPy."""
        from scipy import integrate

        hook, method, given = self.hook, self.method, dict(options)
        if method in IMPLICIT:
            exact = isinstance(jac, str)
            given["jac"] = _with(jac, hook)
            if exact:
                given["jac"] = lambda t, y: taken(hook.matrix(y, t), method)
        if self.kind == "continuous":
            given["dense_output"] = True
        times = None if self.kind == "discrete" else self.wanted
        found = integrate.solve_ivp(
            lambda t, y: hook.vector(y, t), self.span, self.start, method, times, **given
        )
        found.t = np.asarray(found.t, float)  # an empty list where no time is wanted
        found.y = np.reshape(found.y, (self.start.size, found.t.size))
        return found

    def in_steps(self, step: float | None) -> Any:
        """Return the result of equal steps between the wanted times, in SciPy's form."""
        from scipy.optimize import OptimizeResult

        t = self._times(step)
        run, count = Step(self.hook.of_vector.vector, self.method, self.closure), t.size - 1
        go = Captured(run, self.hook.jit, "solve_ivp")
        with no_grad():
            states = np.array(stepped(go, self.start, t, self.hook.args))
        if self.kind is None and self.wanted is not None:
            kept = np.isin(t, self.wanted)
            t, states = t[kept], states[kept]
        return OptimizeResult(
            t=t, y=states.T, sol=None, t_events=None, y_events=None, njev=0, nlu=0, status=0,
            nfev=run.nodes.size * count, message="all steps were taken", success=True,
        )  # fmt: skip

    def _times(self, step: float | None) -> np.ndarray:
        if step is None or not step > 0.0:
            raise ValueError(
                f"solve_ivp: {self.method!r} needs a length of steps, step=..., got {step!r}"
            )
        (first, last), inner = self.span, () if self.wanted is None else self.wanted
        marks = np.unique([first, *inner, last])[:: 1 if last >= first else -1]
        times = [marks[:1]]
        for left, right in pairwise(marks):
            times.append(np.linspace(left, right, int(np.ceil(abs(right - left) / step)) + 1)[1:])
        return np.concatenate(times)
