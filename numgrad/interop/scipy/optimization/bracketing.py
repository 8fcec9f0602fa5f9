"""Roots of functions of one variable in a given interval."""

from collections.abc import Callable
from typing import Any

from ....functions.array.argument_checks import real_number
from ..implicit.parameters import controls
from ..implicit.solver_operator import Form, in_programs, refuse
from .scalar_roots import Problem


def _form(what: str) -> Form:
    def shapes(given: dict[str, Any]) -> list[tuple[int, ...]]:
        refuse(what, {"full_output": given["full_output"]})
        return [()]

    return Form(lambda found: [found], shapes, lambda given, found: found)


@in_programs(_form("brentq"))
def brentq(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root in an interval, by `scipy.optimize.brentq`.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns one number; ``x`` is a number, too.
    a, b : float
        Where the signs of `f` differ.
    args : tuple
        Of anything; the root is differentiable with respect to the tensors in it, and to those that
        `f` closes over.
    xtol, rtol, maxiter, full_output, disp
        As in SciPy.

    Returns
    -------
    root : Tensor or float
        A tensor if one of `args` is, or if `f` returns one. No gradient flows to the interval,
        which the root does not depend on.
    r : scipy.optimize.RootResults
        With `full_output`. Its ``root`` is the same as the first result.

    Raises
    ------
    ConvergenceError
        If a gradient is wanted and there is no root, but a pole or a jump, or none was found.
    MatrixError
        At the backward pass, if the derivative of `f` is zero at the root.
    InplaceError
        At the backward pass, if what `f` closes over has been written.
    CaptureError
        In a captured or mapped function, for tensors of other dtypes than float64, and for what is
        known only when the solver has run.

    Notes
    -----
    :math:`x' = -f_p / f_x`, and derivatives of any order of that, with the derivatives at the root
    that was found.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor(2.0, requires_grad=True)
    >>> x = ng.interop.scipy.brentq(lambda x: x**2 - a, 0.0, 2.0)
    >>> round(x.item(), 6), round(ng.grad(x, a)[0].item(), 6)  # 1 / (2 sqrt(2))
    (1.414214, 0.353553)
    """
    return _bracketed("brentq", f, a, b, args, xtol, rtol, maxiter, full_output, disp)


@in_programs(_form("brenth"))
def brenth(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root in an interval by Brent's method with hyperbolic extrapolation, by
    `scipy.optimize.brenth`.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns one number; ``x`` is a number, too.
    a, b : float
        Where the signs of `f` differ.
    args : tuple
        Of anything; the root is differentiable with respect to the tensors in it, and to those that
        `f` closes over.
    xtol, rtol, maxiter, full_output, disp
        As in SciPy.

    Returns
    -------
    root : Tensor or float
    r : scipy.optimize.RootResults
        With `full_output`.

    See Also
    --------
    brentq : Derivatives and errors are the same.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor(2.0, requires_grad=True)
    >>> x = ng.interop.scipy.brenth(lambda x: x**2 - a, 0.0, 2.0)
    >>> round(x.item(), 6), round(ng.grad(x, a)[0].item(), 6)
    (1.414214, 0.353553)
    """
    return _bracketed("brenth", f, a, b, args, xtol, rtol, maxiter, full_output, disp)


@in_programs(_form("bisect"))
def bisect(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root in an interval by bisection, by `scipy.optimize.bisect`.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns one number; ``x`` is a number, too.
    a, b : float
        Where the signs of `f` differ.
    args : tuple
        Of anything; the root is differentiable with respect to the tensors in it, and to those that
        `f` closes over.
    xtol, rtol, maxiter, full_output, disp
        As in SciPy.

    Returns
    -------
    root : Tensor or float
    r : scipy.optimize.RootResults
        With `full_output`.

    See Also
    --------
    brentq : Derivatives and errors are the same.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor(2.0, requires_grad=True)
    >>> x = ng.interop.scipy.bisect(lambda x: a * x - 3.0, 0.0, 2.0)
    >>> round(x.item(), 6), round(ng.grad(x, a)[0].item(), 6)
    (1.5, -0.75)
    """
    return _bracketed("bisect", f, a, b, args, xtol, rtol, maxiter, full_output, disp)


@in_programs(_form("ridder"))
def ridder(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root in an interval by Ridders' method, by `scipy.optimize.ridder`.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns one number; ``x`` is a number, too.
    a, b : float
        Where the signs of `f` differ.
    args : tuple
        Of anything; the root is differentiable with respect to the tensors in it, and to those that
        `f` closes over.
    xtol, rtol, maxiter, full_output, disp
        As in SciPy.

    Returns
    -------
    root : Tensor or float
    r : scipy.optimize.RootResults
        With `full_output`.

    See Also
    --------
    brentq : Derivatives and errors are the same.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor(2.0, requires_grad=True)
    >>> x = ng.interop.scipy.ridder(lambda x: x**3 - a, 0.0, 2.0)
    >>> round(x.item(), 6), round(ng.grad(x, a)[0].item(), 6)
    (1.259921, 0.209987)
    """
    return _bracketed("ridder", f, a, b, args, xtol, rtol, maxiter, full_output, disp)


@in_programs(_form("toms748"))
def toms748(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    k: int = 1,
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root in an interval by Algorithm 748 of Alefeld, Potra and Shi, by
    `scipy.optimize.toms748`.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns one number; ``x`` is a number, too.
    a, b : float
        Where the signs of `f` differ.
    args : tuple
        Of anything; the root is differentiable with respect to the tensors in it, and to those that
        `f` closes over.
    k : int
        How many steps of Newton's method on the interpolating quadratic each step takes.
    xtol, rtol, maxiter, full_output, disp
        As in SciPy.

    Returns
    -------
    root : Tensor or float
    r : scipy.optimize.RootResults
        With `full_output`.

    See Also
    --------
    brentq : Derivatives and errors are the same.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor(2.0, requires_grad=True)
    >>> x = ng.interop.scipy.toms748(lambda x: x**2 - a, 0.0, 2.0)
    >>> round(x.item(), 6), round(ng.grad(x, a)[0].item(), 6)
    (1.414214, 0.353553)
    """
    return _bracketed("toms748", f, a, b, args, xtol, rtol, maxiter, full_output, disp, k=k)


def _bracketed(
    method: str, f: Callable[..., Any], a: Any, b: Any, args: Any, xtol: float, rtol: float,
    maxiter: int, full_output: bool, disp: bool, **more: Any,
) -> Any:  # fmt: skip
    """Return the root that a method of SciPy finds, as a function of the parameters."""
    from scipy import optimize

    problem = Problem(f, args, method)
    own = controls({"xtol": xtol, "rtol": rtol, "maxiter": maxiter} | more, method)
    ends = real_number(a, "a"), real_number(b, "b")
    found, result = getattr(optimize, method)(
        problem.value, *ends, problem.numbers, full_output=True, disp=disp, **own
    )
    result.root = found = problem.root(found, result, ends)
    return (found, result) if full_output else found
