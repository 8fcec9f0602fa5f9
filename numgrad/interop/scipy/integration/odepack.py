"""SciPy's older names for roots and initial value problems, with its order of arguments."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.array.argument_checks import real_number
from ....functions.array.operands import as_tensor
from ....functions.shape.reshaping import matrix_transpose, ravel, reshape
from ..implicit.parameters import controls, number
from ..implicit.solver_operator import Form, in_programs, refuse, shape_of
from ..optimization.roots import root
from ..systems.linear import as_real
from .initial_value import solve_ivp

_KEPT = ("nfev", "njev", "fjac", "r", "qtf")


def _size(given: dict[str, Any]) -> list[tuple[int, ...]]:
    refuse("fsolve", {"full_output": given["full_output"]})
    return [(math.prod(shape_of(given["x0"])),)]


def _states(given: dict[str, Any]) -> list[tuple[int, ...]]:
    return [(*shape_of(given["t"]), math.prod(shape_of(given["y0"])))]


@in_programs(Form(lambda found: [found], _size, lambda given, found: found))
def fsolve(
    func: Callable[..., Any],
    x0: Any,
    args: Any = (),
    fprime: Any = None,
    full_output: bool = False,
    col_deriv: bool = False,
    xtol: float = 1.49012e-8,
    maxfev: int = 0,
    band: Any = None,
    epsfcn: float | None = None,
    factor: float = 100,
    diag: Any = None,
) -> Any:
    """Find a root of a vector function, with the signature of `scipy.optimize.fsolve`.

    Parameters
    ----------
    func : callable
        ``func(x, *args)`` returns as many numbers as ``x``, a vector, has.
    x0 : array_like
        Where to start.
    args : tuple
        Of anything; the root is differentiable with respect to the tensors in it, and to those that
        `func` closes over.
    fprime : callable, optional
        The Jacobian, for the solver. By default the exact one.
    full_output, col_deriv, xtol, maxfev, band, epsfcn, factor, diag
        As in SciPy; `band` and `epsfcn` say how it estimates a Jacobian, which it does not here.

    Returns
    -------
    x : Tensor or numpy.ndarray
        A vector; a tensor if there is one among `args`.
    infodict, ier, mesg
        With `full_output`, as in SciPy. ``infodict["fvec"]`` carries its gradient.

    Raises
    ------
    ConvergenceError
        If a gradient is wanted and no root was found.

    See Also
    --------
    root : It is this with the method ``"hybr"``; what it says of derivatives holds here.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor(2.0, requires_grad=True)
    >>> x = ng.interop.scipy.fsolve(lambda x, a: x * x - a, 1.0, args=(a,))
    >>> x.shape, round(ng.grad(x[0], a)[0].item(), 6)  # 1 / (2 sqrt(2))
    ((1,), 0.353553)
    """
    args = args if isinstance(args, tuple) else (args,)
    options: dict[str, Any] = {
        "xtol": xtol, "maxfev": maxfev, "factor": factor, "diag": diag, "col_deriv": col_deriv,
        "band": band, "eps": epsfcn,
    }  # fmt: skip
    options = controls(options, "fsolve")
    jac = "dense" if fprime is None else fprime
    result = root(func, ravel(as_tensor(x0)).detach(), args, "hybr", jac, options=options)
    if full_output:
        info = {name: result[name] for name in _KEPT if name in result} | {"fvec": result.fun}
        return result.x, info, result.status, result.message
    if not result.success:
        warnings.warn(result.message, RuntimeWarning, stacklevel=2)
    return result.x


@in_programs(Form(lambda found: [found], _states, lambda given, found: found))
def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    args: Any = (),
    Dfun: Any = None,
    col_deriv: bool = False,
    full_output: bool = False,
    ml: int | None = None,
    mu: int | None = None,
    rtol: Any = None,
    atol: Any = None,
    tcrit: Any = None,
    h0: float = 0.0,
    hmax: float = 0.0,
    hmin: float = 0.0,
    ixpr: bool = False,
    mxstep: int = 0,
    mxhnil: int = 0,
    mxordn: int = 12,
    mxords: int = 5,
    printmessg: bool = False,
    tfirst: bool = False,
) -> Any:
    """Solve an initial value problem, with the signature of `scipy.integrate.odeint`.

    Parameters
    ----------
    func : callable
        ``func(y, t, *args)``, or with `tfirst` ``func(t, y, *args)``, returns the slope: an array
        or a list of numbers.
    y0 : array_like
        The start, a vector.
    t : array_like
        Times whose states are wanted; the first is that of the start.
    args : tuple
        Of anything; the states are differentiable with respect to the tensors in it, to `y0`, to
        `t`, and to the tensors that `func` closes over.
    Dfun : callable, optional
        The Jacobian, for the solver. By default the exact one.
    col_deriv, rtol, atol, h0, hmax, hmin, tfirst
        As in SciPy.
    ml, mu, ixpr, mxstep, mxhnil, printmessg
        For SciPy's sake: the Jacobian is not estimated, nothing is printed, and the number of steps
        is not bounded.
    full_output, tcrit, mxordn, mxords
        Refused, where they are given.

    Returns
    -------
    Tensor or numpy.ndarray, shape (len(t), len(y0))
        A tensor if `y0`, `t` or one of `args` is.

    Raises
    ------
    ConvergenceError
        If a gradient is wanted and the solver, or that of the adjoint, has failed.
    NotImplementedError
        For what is refused.

    See Also
    --------
    solve_ivp : It is this with the method ``"LSODA"``; what it says of the continuous adjoint holds
        here.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> rate = ng.tensor(0.5, requires_grad=True)
    >>> y = ng.interop.scipy.odeint(lambda y, t, rate: -rate * y, 1.0, [0.0, 2.0], args=(rate,))
    >>> y.shape, round(ng.grad(y[-1, 0], rate)[0].item(), 5)  # -2 exp(-1)
    ((2, 1), -0.73576)
    """
    _require_served(full_output=full_output, tcrit=tcrit, mxordn=mxordn, mxords=mxords)
    args = args if isinstance(args, tuple) else (args,)
    options = _solver_options(rtol, atol, h0, hmax, hmin)
    options["jac"] = "dense" if Dfun is None else _jacobian(Dfun, args, tfirst, col_deriv)
    start, (times, places) = reshape(as_real(y0, "odeint"), -1), _distinct(t)
    start = start if isinstance(y0, Tensor) or start.requires_grad else start.numpy()
    y = start[None]  # at a single time, that of the start
    if len(times) > 1:
        span = times[0], times[-1]
        found = solve_ivp(_slope(func, tfirst), span, start, "LSODA", times, args, **options)
        if not found.success:
            warnings.warn(f"odeint: {found.message}", RuntimeWarning, stacklevel=2)
        y = matrix_transpose(found.y) if isinstance(found.y, Tensor) else found.y.T
    return y if places is None else y[places]


_REFUSED = {
    "full_output": (False, "ask solve_ivp for nfev and njev"),
    "tcrit": (None, "integrate from one critical time to the next"),
    "mxordn": (12, "leave it out"),
    "mxords": (5, "leave it out"),
}
"""The default of each option that is not served, and what to do instead."""


def _require_served(**given: Any) -> None:
    for name, (default, instead) in _REFUSED.items():
        value = given[name]
        if np.ndim(value) or value != default:
            raise NotImplementedError(f"odeint: {name}={value!r} is not served; {instead}")


def _solver_options(rtol: Any, atol: Any, h0: Any, hmax: Any, hmin: Any) -> dict[str, Any]:
    """Return the options of `solve_ivp` for tolerances and sizes of steps; 0 is no bound."""
    return {
        "rtol": 1.49012e-8 if rtol is None else rtol,
        "atol": 1.49012e-8 if atol is None else atol,
        "first_step": real_number(h0, "h0") or None,
        "max_step": real_number(hmax, "hmax") or np.inf,
        "min_step": hmin,
    }


def _slope(func: Callable[..., Any], tfirst: bool) -> Callable[..., Any]:
    """Return the user's function as one of time and state."""

    def slope(t: Any, y: Any, *args: Any) -> Any:
        return func(t, y, *args) if tfirst else func(y, t, *args)

    return slope


def _jacobian(
    Dfun: Callable[..., Any], args: tuple[Any, ...], tfirst: bool, col_deriv: bool
) -> Callable[[Any, Any], np.ndarray]:
    """Return the user's Jacobian as a function of time and state."""

    def jacobian(t: Any, y: Any) -> np.ndarray:
        given = [number(leaf) for leaf in args]
        found = np.asarray(Dfun(t, y, *given) if tfirst else Dfun(y, t, *given), float)
        return found.T if col_deriv else found

    return jacobian


def _distinct(t: Any) -> tuple[Any, Any]:
    """Return times without repetitions, and the place of each given time among them if there are
    any."""
    numbers = np.asarray(number(as_tensor(t)), float)
    if numbers.ndim != 1 or not numbers.size:
        raise ValueError(f"odeint: t must be a vector of times, got shape {numbers.shape}")
    is_new = np.append(True, np.diff(numbers) != 0.0)
    if is_new.all():
        return (t if isinstance(t, Tensor) else numbers), None
    if isinstance(t, Tensor) and t.requires_grad:
        raise ValueError("odeint: times that require grad must not repeat each other")
    return numbers[is_new], np.cumsum(is_new) - 1
