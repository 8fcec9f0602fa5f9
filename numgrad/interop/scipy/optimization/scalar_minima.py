"""Minima of functions of one variable, as functions of the parameters of these."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._autograd import no_grad
from ...._errors import ConvergenceError
from ...._tensor import Tensor
from ....func import grad
from ....func.gradients import Evaluation
from ....functions.array.argument_checks import real_number, sequence
from ....functions.shape.reshaping import reshape
from ..implicit.parameters import controls
from ..implicit.solver_operator import Form, Found, converged, in_programs, refuse
from ..systems.linear import as_real
from .scalar_roots import Problem, require_choices

PRECISION = np.finfo(float).eps ** 0.25
"""How far from the minimum a search may end: values near it differ in their last digits only."""


class Minimum(Problem):
    """A function of one variable whose minimum is wanted; the minimum is a root of its derivative.
    """

    def _residual(self, x: Tensor, *args: Any) -> Tensor:
        return grad(self._along)(x, *args)

    def _along(self, x: Tensor, *args: Any) -> Tensor:
        return as_real(self.f(reshape(x, ()), *args), self.what).sum()

    def minimum(self, x: float, message: str, bounds: Sequence[float] | None) -> Any:
        """Return the minimum that SciPy has found; ``message`` says why it is none."""
        if not self.needs_graph:
            return self.as_result(x)
        with no_grad():
            at = Evaluation(self._residual, (self.point(x), *self.numbers), 0, self.what)
            value, bend = at.output.item(), at.pulled([self.point(1.0)])[0].item()
        ends = (-np.inf, np.inf) if bounds is None else bounds
        if bounds is not None and not ends[0] < x - value / (abs(bend) or np.nan) < ends[1]:
            return self.solution(x, lambda x_, *args: x_ - x, 1.0)  # a bound holds it
        if message or not abs(value) <= PRECISION * abs(bend) * max(abs(x), 1.0):
            raise ConvergenceError(
                f"{self.what}: only a minimum has a derivative, and {x!r} is none: "
                f"{message or 'the slope of the function is not 0 there'}"
            )
        return self.solution(x, self._residual, bend)


def _scalar_form(what: str) -> Form:
    def shapes(given: dict[str, Any]) -> list[tuple[int, ...]]:
        refuse(what, {"full_output": given["full_output"]})
        return [()]

    return Form(lambda x: [x], shapes, lambda given, x: x)


@in_programs(
    Form(
        converged("x", "fun"), lambda given: [(), ()], lambda given, x, fun: Found(x=x, fun=fun)
    )
)
def minimize_scalar(
    fun: Callable[..., Any],
    bracket: Sequence[float] | None = None,
    bounds: Sequence[float] | None = None,
    args: Any = (),
    method: str | None = None,
    tol: float | None = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """Minimise a function of one variable, by `scipy.optimize.minimize_scalar`.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)`` returns one number; ``x`` is a number, too.
    bracket, bounds, method, tol, options
        As in SciPy.
    args : tuple
        Of anything; the minimum is differentiable with respect to the tensors in it, and to those
        that `fun` closes over.

    Returns
    -------
    scipy.optimize.OptimizeResult
        Its ``x`` and ``fun`` are tensors if one of `args` is, or if `fun` returns one. No gradient
        flows to where the search starts.

    Raises
    ------
    ConvergenceError
        If a gradient is wanted and no minimum was found.
    MatrixError
        At the backward pass, if the second derivative of `fun` is zero at the minimum.

    Notes
    -----
    The derivative is that of the root of the slope, :math:`x' = -f_{xp} / f_{xx}`, at the number
    that was found; a minimum at one of the `bounds` stays there.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor(2.0, requires_grad=True)
    >>> x = ng.interop.scipy.minimize_scalar(lambda x: (x**2 - a) ** 2, bounds=(1.0, 2.0)).x
    >>> round(x.item(), 4), round(ng.grad(x, a)[0].item(), 4)
    (1.4142, 0.3536)
    """
    from scipy import optimize

    require_choices("minimize_scalar", method, options)
    problem = Minimum(fun, args, "minimize_scalar")
    own = controls({"bracket": bracket, "bounds": bounds, "options": options, "tol": tol},
                   "minimize_scalar")  # fmt: skip
    if own["bracket"] is not None:
        sequence(own["bracket"], "bracket")
    if own["tol"] is not None:
        own["tol"] = real_number(own["tol"], "tol")
    result: Any = optimize.minimize_scalar(
        problem.value, args=problem.numbers, method=method, **own
    )
    ends = None if own["bounds"] is None else [real_number(x, "bounds") for x in own["bounds"]]
    message = "" if result.success else str(result.message)
    result.x = problem.minimum(float(result.x), message, ends)
    result.fun = problem.at(result.x, result.fun)
    return result


@in_programs(_scalar_form("golden"))
def golden(
    func: Callable[..., Any],
    args: Any = (),
    brack: Sequence[float] | None = None,
    tol: float = 1.4901161193847656e-08,
    full_output: bool = False,
    maxiter: int = 5000,
) -> Any:
    """Minimise a function of one variable by golden sections, by `scipy.optimize.golden`.

    Parameters
    ----------
    func : callable
        ``func(x, *args)`` returns one number; ``x`` is a number, too.
    args : tuple
        Of anything; the minimum is differentiable with respect to the tensors in it, and to those
        that `func` closes over.
    brack, tol, full_output, maxiter
        As in SciPy.

    Returns
    -------
    xmin : Tensor or float
    fval : Tensor or float
        With `full_output`, followed by the number of evaluations.

    See Also
    --------
    minimize_scalar : Derivatives and errors are the same.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor(2.0, requires_grad=True)
    >>> x = ng.interop.scipy.golden(lambda x: (x - a) ** 2 + x**2)
    >>> round(x.item(), 4), round(ng.grad(x, a)[0].item(), 4)
    (1.0, 0.5)
    """
    own = {"tol": tol, "maxiter": maxiter}
    return _older("golden", func, args, (), brack, own, full_output)


@in_programs(_scalar_form("brent"))
def brent(
    func: Callable[..., Any],
    args: Any = (),
    brack: Sequence[float] | None = None,
    tol: float = 1.48e-08,
    full_output: bool = False,
    maxiter: int = 500,
) -> Any:
    """Minimise a function of one variable by Brent's method, by `scipy.optimize.brent`.

    Parameters
    ----------
    func : callable
        ``func(x, *args)`` returns one number; ``x`` is a number, too.
    args : tuple
        Of anything; the minimum is differentiable with respect to the tensors in it, and to those
        that `func` closes over.
    brack, tol, full_output, maxiter
        As in SciPy.

    Returns
    -------
    xmin : Tensor or float
    fval : Tensor or float
        With `full_output`, followed by the numbers of iterations and of evaluations.

    See Also
    --------
    minimize_scalar : Derivatives and errors are the same.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor(2.0, requires_grad=True)
    >>> x = ng.interop.scipy.brent(lambda x: (x - a) ** 2 + x**2)
    >>> round(x.item(), 4), round(ng.grad(x, a)[0].item(), 4)
    (1.0, 0.5)
    """
    own = {"tol": tol, "maxiter": maxiter}
    return _older("brent", func, args, (), brack, own, full_output)


@in_programs(_scalar_form("fminbound"))
def fminbound(
    func: Callable[..., Any],
    x1: float,
    x2: float,
    args: Any = (),
    xtol: float = 1e-5,
    maxfun: int = 500,
    full_output: bool = False,
    disp: int = 1,
) -> Any:
    """Minimise a function of one variable in an interval, by `scipy.optimize.fminbound`.

    Parameters
    ----------
    func : callable
        ``func(x, *args)`` returns one number; ``x`` is a number, too.
    x1, x2 : float
        The ends of the interval.
    args : tuple
        Of anything; the minimum is differentiable with respect to the tensors in it, and to those
        that `func` closes over.
    xtol, maxfun, full_output, disp
        As in SciPy.

    Returns
    -------
    xopt : Tensor or float
    fval : Tensor or float
        With `full_output`, followed by the error flag and the number of evaluations.

    See Also
    --------
    minimize_scalar : Derivatives and errors are the same.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor(2.0, requires_grad=True)
    >>> x = ng.interop.scipy.fminbound(lambda x: (x - a) ** 2 + x**2, 0.0, 3.0)
    >>> round(x.item(), 4), round(ng.grad(x, a)[0].item(), 4)
    (1.0, 0.5)
    """
    ends = real_number(x1, "x1"), real_number(x2, "x2")
    own = {"xtol": xtol, "maxfun": maxfun, "disp": disp}
    return _older("fminbound", func, args, ends, None, own, full_output)


def _older(
    method: str, func: Callable[..., Any], args: Any, ends: tuple[float, ...],
    brack: Sequence[float] | None, own: dict[str, Any], full_output: bool,
) -> Any:  # fmt: skip
    """Return the results of one of SciPy's older functions: the minimum, the value there, the rest.
    """
    from scipy import optimize

    problem = Minimum(func, args, method)
    own = controls(own if ends else own | {"brack": brack}, method)
    for name in {"tol", "xtol"} & set(own):
        own[name] = real_number(own[name], name)
    if own.get("brack") is not None:
        sequence(own["brack"], "brack")
    x, value, *rest = getattr(optimize, method)(
        problem.value, *ends, args=problem.numbers, full_output=True, **own
    )
    failed = rest[0] if ends else rest[0] >= own["maxiter"] if method == "brent" else False
    x = problem.minimum(float(x), "the search has not converged" if failed else "", ends or None)
    return (x, problem.at(x, value), *rest) if full_output else x
