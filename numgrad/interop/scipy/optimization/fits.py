"""Fits of curves and linear models to data, as functions of the data."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...._errors import ArgTypeError, ConvergenceError
from ...._tensor import Tensor
from ....func import jacobian
from ....func.pytree import require_function
from ....functions.array.argument_checks import numeric, pair, real_number
from ....functions.array.operands import as_tensor
from ....functions.linalg.least_squares import lstsq
from ....functions.linalg.norms import norm
from ....functions.linalg.systems import cholesky, inv
from ....functions.linalg.triangular import solve_triangular
from ....functions.products.products import matmul
from ....functions.reduction.reduction import sum as _sum
from ....functions.shape.reshaping import matrix_transpose, ravel
from ..implicit.parameters import Parameters, controls, number
from ..implicit.solver_operator import Form, in_programs, shape_of
from ..systems.linear import as_real
from .optima import least_squares

TOLERANCE = 1.49012e-08
"""The default of MINPACK's tolerances."""


def curve_fit(
    f: Callable[..., Any],
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    check_finite: bool = True,
    bounds: Any = (-np.inf, np.inf),
    method: str | None = None,
    jac: Any = None,
    *,
    full_output: bool = False,
    **options: Any,
) -> Any:
    """Fit a function to data, as `scipy.optimize.curve_fit` does, with the exact Jacobian.

    Parameters
    ----------
    f : callable
        ``f(xdata, *p)`` returns the values to compare with `ydata`.
    xdata, ydata : array_like
        Numbers or tensors.
    p0 : array_like, optional
        Where to start. By default ones, or the middle of the bounds.
    sigma : array_like, optional
        Standard deviations of the data, or their covariance matrix.
    absolute_sigma, check_finite, bounds, method
        As in SciPy.
    jac : optional
        For SciPy's sake: derivatives are exact.
    full_output : bool, optional
        As SciPy has it, is not served.
    **options
        Those of `least_squares`; ``maxfev`` is its ``max_nfev``.

    Returns
    -------
    popt : Tensor or numpy.ndarray
        The parameters: a tensor, with gradients to data, deviations and bounds, if one of these is
        a tensor, or if `f` closes over one that requires grad.
    pcov : Tensor or numpy.ndarray
        Their covariances, likewise.

    Raises
    ------
    ConvergenceError
        If no fit was found.

    See Also
    --------
    least_squares : Derivatives and errors are the same.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> t = np.array([0.0, 1.0, 2.0])
    >>> y = ng.tensor([1.0, 0.5, 0.3], requires_grad=True)
    >>> p, _ = ng.interop.scipy.curve_fit(lambda t, a, k: a * np.exp(-k * t), t, y)
    >>> ng.grad(p[1], y)[0].numpy().round(3)  # how the rate moves with each measurement
    array([ 0.736, -0.826, -1.077])
    """
    f = require_function(f, "curve_fit")
    if full_output is not False:
        raise ArgTypeError("curve_fit: full_output= is not served; least_squares has more results")
    lower, upper = pair(bounds, "bounds", "a pair of numbers or arrays")
    start = _start(f, lower, upper) if p0 is None else numeric(p0, "p0")
    if check_finite:
        for data in (xdata, ydata):
            _require_finite(data)
    is_bounded = np.isfinite(number(lower)).any() or np.isfinite(number(upper)).any()
    own = _options(options, method or ("trf" if is_bounded else "lm"))
    deviations = None if sigma is None else as_real(sigma, "curve_fit")

    def residuals(p: Any, x: Any, y: Any, deviations: Any) -> Any:
        rest = f(x, *p) - as_tensor(y)
        if deviations is None:
            return rest
        if deviations.ndim < 2:
            return rest / deviations
        return solve_triangular(cholesky(deviations), ravel(rest), lower=True)

    args = xdata, ydata, deviations
    result = least_squares(residuals, start, bounds=(lower, upper), args=args, **own)
    if not result.get("success", True):
        raise ConvergenceError(f"curve_fit: no optimal parameters were found: {result.message}")
    return result.x, _covariance(residuals, result, args, absolute_sigma)


def _start(f: Callable[..., Any], lower: Any, upper: Any) -> np.ndarray:
    """Return the start that SciPy takes: as many numbers as the function has parameters."""
    found = list(inspect.signature(f).parameters.values())[1:]
    if not found or any(p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY) for p in found):
        raise ArgTypeError(
            "curve_fit: how many parameters the function has cannot be read off it; give p0"
        )
    low, high = (np.broadcast_to(number(end), len(found)) for end in (lower, upper))
    has_low, has_high = np.isfinite(low), np.isfinite(high)
    start = np.ones(len(found))
    both = has_low & has_high
    start[both] = 0.5 * (low[both] + high[both])
    start[has_low & ~has_high] = low[has_low & ~has_high] + 1.0
    start[has_high & ~has_low] = high[has_high & ~has_low] - 1.0
    return start


def _require_finite(data: Any) -> None:
    if not isinstance(data, Tensor) and np.asarray(data).dtype.kind in "fc":
        np.asarray_chkfinite(data)


def _options(options: dict[str, Any], method: str) -> dict[str, Any]:
    """Return the options of `least_squares`; by default, of those of MINPACK."""
    own = {"method": method, **options}
    if "maxfev" in own:
        own["max_nfev"] = own.pop("maxfev")
    if method == "lm":
        least = 2.0 * np.finfo(float).eps
        own = {"ftol": TOLERANCE, "xtol": TOLERANCE, "gtol": least} | own
    return own


def _covariance(
    residuals: Callable[..., Any], result: Any, args: tuple[Any, ...], is_absolute: bool
) -> Any:
    """Return the covariances of the parameters, as SciPy scales them."""
    x = result.x
    rows = jacobian(residuals)(x, *args)
    if not isinstance(x, Tensor):
        rows = as_tensor(rows)
    size, count = rows.shape
    unscaled = matmul(matrix_transpose(rows), rows)
    if not is_absolute and size <= count:
        from scipy.optimize import OptimizeWarning

        warnings.warn(
            "the covariance of the parameters could not be estimated", OptimizeWarning, stacklevel=3
        )
        return np.full((count, count), np.inf)
    found = inv(unscaled)
    if not is_absolute:
        found = found * (_sum(residuals(x, *args) ** 2) / (size - count))
    return found if isinstance(x, Tensor) else found.numpy()


def leastsq(
    func: Callable[..., Any],
    x0: Any,
    args: Any = (),
    Dfun: Any = None,
    full_output: bool = False,
    col_deriv: bool = False,
    ftol: float = TOLERANCE,
    xtol: float = TOLERANCE,
    gtol: float = 0.0,
    maxfev: int = 0,
    epsfcn: float | None = None,
    factor: float = 100.0,
    diag: Any = None,
) -> Any:
    """Minimise a sum of squares, with the signature of `scipy.optimize.leastsq`.

    Parameters
    ----------
    func : callable
        ``func(x, *args)`` returns the residuals.
    x0 : array_like
        Where to start.
    args : tuple
        Of anything; the solution is differentiable with respect to the tensors in it.
    Dfun, col_deriv, full_output, epsfcn, factor, diag
        For SciPy's sake: the Jacobian is exact, and the scale of variables is found from it;
        further results are those of `least_squares`.
    ftol, xtol, gtol, maxfev
        As in SciPy.

    Returns
    -------
    x : Tensor or numpy.ndarray
    ier : int
        1 if a solution was found, else 5.

    See Also
    --------
    least_squares : Derivatives and errors are the same.

    Examples
    --------
    >>> import numgrad as ng
    >>> y = ng.tensor([1.0, 3.0], requires_grad=True)
    >>> x, _ = ng.interop.scipy.leastsq(lambda x: x[0] - y, [0.0])
    >>> round(x[0].item(), 6), ng.grad(x[0], y)[0].numpy().round(6)
    (2.0, array([0.5, 0.5]))
    """
    func = require_function(func, "leastsq")
    if full_output is not False:
        raise ArgTypeError("leastsq: full_output= is not served; least_squares has more results")
    given = args if isinstance(args, tuple) else (args,)
    least = 2.0 * np.finfo(float).eps
    given_limits = {"ftol": ftol, "xtol": xtol, "gtol": gtol}
    limits = {
        name: max(real_number(value, name), least)
        for name, value in controls(given_limits, "leastsq").items()
    }
    result = least_squares(
        func, numeric(x0, "x0"), args=given, method="lm", max_nfev=maxfev or None, **limits
    )
    return result.x, 1 if result.get("success", True) else 5


def _shapes(given: dict[str, Any]) -> list[tuple[int, ...]]:
    return [shape_of(given["A"])[1:], ()]


@in_programs(Form(lambda found: found, _shapes, lambda given, *found: found))
def nnls(A: Any, b: Any, *, maxiter: int | None = None) -> Any:
    """Solve a linear least-squares problem for numbers that are not negative, by
    `scipy.optimize.nnls`.

    Parameters
    ----------
    A : array_like, shape (m, n)
    b : array_like, shape (m,)
    maxiter : int, optional
        As in SciPy.

    Returns
    -------
    x : Tensor or numpy.ndarray, shape (n,)
    rnorm : Tensor or float
        The norm of ``A @ x - b``.

    Notes
    -----
    What is 0 stays 0; the other numbers solve the least-squares problem of their columns. Where a
    number begins to leave 0, the derivative is the one-sided one of staying there.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> b = ng.tensor([2.0, -1.0, 1.0], requires_grad=True)
    >>> x, rnorm = ng.interop.scipy.nnls(np.eye(3)[:, :2], b)
    >>> x.tolist(), ng.grad(x.sum(), b)[0].tolist()
    ([2.0, 0.0], [1.0, 0.0, 0.0])
    """
    from scipy import optimize

    if len(shape_of(A)) != 2 or len(shape_of(b)) != 1:
        raise ArgTypeError(f"nnls: A is a matrix and b a vector, got {shape_of(A)}, {shape_of(b)}")
    parameters = Parameters((A, b), "nnls")
    x, rest = optimize.nnls(*parameters.numbers, maxiter=maxiter)
    if not parameters.has_tensors:
        return x, rest
    matrix, rhs = as_real(A, "nnls"), as_real(b, "nnls")
    at = np.flatnonzero(x > 0.0)
    found = as_tensor(np.zeros(x.size))
    if at.size:
        solved = lstsq(matrix[:, at], rhs)[0]
        found = matmul(as_tensor(np.eye(x.size)[:, at]), solved)
    return found, norm(matmul(matrix, found) - rhs)
