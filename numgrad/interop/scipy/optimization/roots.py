"""Roots and fixed points, as functions of the arguments."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._errors import ArgTypeError, ConvergenceError
from ...._tensor import Tensor
from ....functions.shape.reshaping import reshape
from ..implicit.factors import factorized
from ..implicit.fields import deliver
from ..implicit.functions import function
from ..implicit.parameters import controls, posed, refuse_pairs
from ..implicit.solver_operator import Form, Found, converged, in_programs, shape_of

WITH_JACOBIAN = ("hybr", "lm")
_JACOBIAN = "ng.func.jacobian(f)(r.x, *args), which is the Jacobian that the solver estimates,"
INSTEAD = dict.fromkeys(("fjac", "r", "qtf"), _JACOBIAN) | {
    "cov_x": "np.linalg.inv(J.T @ J) with J = ng.func.jacobian(f)(r.x, *args)"
}


def _root_shapes(given: dict[str, Any]) -> list[tuple[int, ...]]:
    shape = shape_of(given["x0"])
    return [shape, (math.prod(shape),)]


@in_programs(
    Form(converged("x", "fun"), _root_shapes, lambda given, x, fun: Found(x=x, fun=fun))
)
def root(
    f: Callable[..., Any],
    x0: Any,
    args: Sequence[Any] = (),
    method: str | None = None,
    jac: Any = "dense",
    tol: float | None = None,
    *,
    jit: bool = True,
    **options: Any,
) -> Any:
    """Find a root of a vector function, by `scipy.optimize.root` with the exact Jacobian.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns as many numbers as ``x`` has.
    x0 : array_like
        Where to start, of any shape; ``f`` gets that shape.
    args : tuple
        Of anything; the root is differentiable with respect to the tensors in it, also in
        containers, and to those that `f` closes over.
    method : str, optional
        One of SciPy's, or ``"newton"``: Newton's method with the Jacobian in the form `jac` and a
        line search. By default ``"hybr"`` for a dense Jacobian, else ``"newton"``.
    jac : {"dense", "sparse", "operator"} or as in SciPy
        The form of the Jacobian. It also decides how the linear system of the derivative is solved:
        by LU factorization, sparse or dense, or by GMRES.
    tol : float, optional
        As in SciPy. For ``"newton"`` the relative size of the last step.
    jit : bool
        Whether `f` is captured, see `function`.
    **options
        SciPy's other parameters: ``callback``, ``options``.

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x`` has the shape of `x0`. It and ``fun`` are tensors if there is one among `args`, or
        if `f` closes over one that requires grad, else arrays. All else is what SciPy found; where
        a gradient is wanted, the solver's estimates of the Jacobian (``fjac``, ``r``, ``qtf``,
        ``cov_x``) refuse one.

    Raises
    ------
    ConvergenceError
        If a gradient is wanted and no root was found.
    NotDifferentiableError
        If a gradient is wanted with respect to what says how the root is found, such as `tol`; at a
        backward pass through an estimate of the solver's.
    MatrixError
        At the backward pass, if the Jacobian is singular at the root.
    DetachedError
        If `f` reads another tensor that requires grad than before: pass it in `args`.
    InplaceError
        At the backward pass, if what `f` closes over has been written.

    Notes
    -----
    :math:`F(x(p), p) = 0` gives :math:`x' = -F_x^{-1} F_p`. A backward pass solves one system with
    :math:`F_x^T` for each block of cotangents; one factorization serves all passes of any order.
    The derivative is that of the exact root at `x`: its error is that of `x`. No gradient flows to
    `x0`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> a = ng.tensor(2.0, requires_grad=True)
    >>> x = ng.interop.scipy.root(lambda x, a: x * x - a, np.array([1.0]), args=(a,)).x
    >>> round(ng.grad(x.sum(), a)[0].item(), 6)  # 1 / (2 sqrt(2))
    0.353553
    """
    refuse_pairs(jac, "root")
    parameters, hook, x = posed(f, x0, args, jac, jit, "root")
    options = controls(options | {"tol": tol}, "root")
    tol = options.pop("tol")
    shape = hook.of_vector.shape
    _require_square(hook, x, "root")
    method = method or ("hybr" if hook.form == "dense" else "newton")
    if method == "newton":
        result = _newton(hook, x, 1.49012e-08 if tol is None else tol, **options)
    else:
        result = _scipy_root(hook, x, method, jac, tol, options)
    result.x = np.reshape(result.x, x.shape)
    if parameters.has_tensors:
        found, vector = result.x, hook.of_vector.vector
        solution = parameters.solution(found, vector, lambda: hook.matrix(found), result)
        deliver(result, solution, parameters, {"fun": vector}, INSTEAD)
        result.x = solution
    result.x = reshape(result.x, shape) if isinstance(result.x, Tensor) else result.x.reshape(shape)
    return result


def _require_square(hook: function, x: np.ndarray, what: str) -> None:
    found = hook.vector(x).size
    if found != x.size:
        raise ArgTypeError(
            f"{what}: {hook.what} returned {found} numbers for {x.size} unknowns; there must be as "
            f"many of one as of the other"
        )


def _scipy_root(
    hook: function, x: np.ndarray, method: str, jac: Any, tol: float | None, options: dict[str, Any]
) -> Any:
    from scipy import optimize

    if hook.form != "dense":
        raise ValueError(
            f"root: method {method!r} takes a dense Jacobian; with jac={hook.form!r} take "
            f"method='newton'"
        )
    given = {} if isinstance(jac, str) and jac == "dense" else {"jac": jac}
    if not given and method in WITH_JACOBIAN:
        given = {"jac": hook.matrix}
    solve: Any = optimize.root  # a type checker would read all of SciPy's methods for its result
    return solve(hook.vector, x, method=method, tol=tol, **given, **options)


def _newton(hook: function, x: np.ndarray, tol: float, options: Any = None, **no: Any) -> Any:
    """Return the result of Newton's method, whose steps are halved until the residual falls."""
    from scipy.optimize import OptimizeResult

    if no or set(options or {}) - {"maxiter"}:
        raise TypeError("root: method 'newton' takes options={'maxiter': ...} and nothing else")
    most = (options or {}).get("maxiter", 100)
    message, evaluations, taken = "the maximum number of steps was reached", 0, 0
    value = hook.vector(x)
    success = not x.size
    while taken < most and not success:
        taken += 1
        step = -factorized(hook.matrix(x), "root").solve(value[None], False)[0]
        x, value, is_better, tried = _line_search(hook, x, value, step)
        evaluations += tried
        if not is_better:
            message = "no step along Newton's direction makes the residual smaller"
            break
        if not value.any() or np.abs(step).max() <= tol * (np.abs(x).max() + tol):
            message, success = "the steps have become as small as asked for", True
    counts = {"nit": taken, "nfev": 1 + evaluations, "njev": taken}
    return OptimizeResult(x=x, fun=value, success=success, message=message, **counts)


def _line_search(
    hook: function, x: np.ndarray, value: np.ndarray, step: np.ndarray
) -> tuple[np.ndarray, np.ndarray, bool, int]:
    """Halve a step until the residual falls (Armijo's rule), or the step is as small as rounding
    errors."""
    size, most = np.abs(value).max(initial=0.0), 30
    floor = np.finfo(float).eps * (np.abs(x).max(initial=0.0) + 1.0)
    for tried in range(1, most + 1):
        t = 0.5 ** (tried - 1)
        there = x + t * step
        found = hook.vector(there)
        if (
            np.abs(found).max(initial=0.0) <= (1.0 - 1e-4 * t) * size
            or np.abs(t * step).max() <= floor
        ):
            return there, found, True, tried
    return x, value, False, most


@in_programs(
    Form(lambda x: [x], lambda given: [shape_of(given["x0"])], lambda given, found: found)
)
def fixed_point(
    g: Callable[..., Any],
    x0: Any,
    args: Sequence[Any] = (),
    xtol: float = 1e-10,
    maxiter: int = 500,
    method: str = "del2",
    *,
    jac: str = "dense",
    jit: bool = True,
) -> Any:
    """Find a fixed point ``x = g(x, *args)``, by `scipy.optimize.fixed_point`.

    Parameters
    ----------
    g : callable
        Returns an array of the shape of ``x``.
    x0 : array_like
        Where to start, of any shape.
    args : tuple
        Of anything; the fixed point is differentiable with respect to the tensors in it, and to
        those that `g` closes over.
    xtol : float
        Relative tolerance of the iteration.
    maxiter : int
        The most iterations.
    method : {"del2", "iteration"}
        With Steffensen's acceleration, or without.
    jac : {"dense", "sparse", "operator"}
        How the linear system of the derivative is solved: by LU factorization, or by GMRES, which
        needs products with the Jacobian of `g` only.
    jit : bool
        Whether `g` is captured, see `function`.

    Returns
    -------
    Tensor or numpy.ndarray
        Of the shape of `x0`; a tensor if there is one among `args`.

    Raises
    ------
    ConvergenceError
        If the iteration, or GMRES for the derivative, does not converge.

    Notes
    -----
    The cotangent :math:`w` of the equation solves :math:`(I - g_x^T) w = \\bar x`. The iteration
    is not recorded: memory does not grow with its length. Second derivatives are those of the fixed
    point.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> a = ng.tensor(0.5, requires_grad=True)
    >>> x = ng.interop.scipy.fixed_point(lambda x, a: np.cos(a * x), np.array([1.0]), args=(a,))
    >>> round(ng.grad(x.sum(), a)[0].item(), 6)  # -x sin(a x) / (1 + a sin(a x))
    -0.321771
    """
    from scipy import optimize

    parameters, hook, x = posed(g, x0, args, jac, jit, "fixed_point")
    own = controls({"xtol": xtol, "maxiter": maxiter}, "fixed_point")
    shape, vector = hook.of_vector.shape, hook.of_vector.vector
    _require_square(hook, x, "fixed_point")
    iterate: Any = optimize.fixed_point
    try:
        x = iterate(hook.vector, x, method=method, **own)
    except RuntimeError as error:
        if "converge" not in str(error):
            raise
        raise ConvergenceError(f"fixed_point: {error}") from error
    x = np.asarray(x)
    if not parameters.has_tensors:
        return x.reshape(shape)

    def residual(x: Tensor, *args: Any) -> Tensor:
        return x - vector(x, *args)

    solution = parameters.solution(x, residual, lambda: _identity_minus(hook.matrix(x)))
    return reshape(solution, shape)


def _identity_minus(matrix: Any) -> Any:
    """Return the identity minus a Jacobian in any form."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import aslinearoperator

    if isinstance(matrix, np.ndarray):
        return np.eye(len(matrix)) - matrix
    identity = eye_array(matrix.shape[0])
    return (aslinearoperator(identity) if hasattr(matrix, "matvec") else identity) - matrix
