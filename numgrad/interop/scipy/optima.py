"""Minima and least squares, as functions of the arguments."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._errors import ArgTypeError, NotDifferentiableError
from ..._tensor import Tensor
from ...func import grad
from ...functions.exponential import log1p
from ...functions.powers import sqrt
from ...functions.reduction import sum as _sum
from ...functions.reshaping import reshape
from ...functions.selection import where
from ...functions.trigonometric import arctan
from .constraints import exact, free_elements
from .functions import FORMS, function
from .parameters import Parameters, posed, refuse_pairs

WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
WITH_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")
WITH_HESSIAN = ("dogleg", "trust-exact")
OF_ARRAYS = ("trust-ncg", "trust-krylov")  # which take no other form of a Hessian than these


def minimize(
    f: Callable[..., Any],
    x0: Any,
    args: Sequence[Any] = (),
    method: str | None = None,
    jac: Any = None,
    hess: Any = None,
    *,
    jit: bool = True,
    **options: Any,
) -> Any:
    """Minimise a scalar function by `scipy.optimize.minimize`, with exact derivatives.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns a real scalar.
    x0 : array_like
        Where to start, of any shape; ``f`` gets that shape.
    args : tuple
        Of anything; the minimum is differentiable with respect to the tensors in it.
    method : str, optional
        As in SciPy.
    jac : optional
        As in SciPy; by default value and gradient come from one pass.
    hess : {"dense", "sparse", "operator"} or as in SciPy
        The form of the Hessian; it also decides how the linear system of the derivative is solved.
        By default methods that take products of the Hessian with vectors get these; so do
        "trust-ncg" and "trust-krylov" unless it is "dense", as they know no other matrices.
    jit : bool
        Whether `f` is captured, see `function`.
    **options
        SciPy's other parameters, unchanged: ``bounds``, ``tol``, ``callback``, ``options``, ...
        Of ``constraints``, those without a Jacobian get an exact one.

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x`` has the shape of `x0`. If there is a tensor among `args`, ``x`` and ``fun`` are
        tensors; all else is what SciPy found.

    Raises
    ------
    ConvergenceError
        If a gradient is wanted and no minimum was found.
    NotDifferentiableError
        If a gradient is wanted of a minimum under ``constraints``; bounds are fine.
    MatrixError
        At the backward pass, if the Hessian is singular at the minimum.

    Notes
    -----
    The derivative of a minimum is that of the root of the gradient, see `root`; the Hessian is its
    matrix. Elements at a bound stay there: those whose derivative is larger than their distance to
    it. The minimum itself has the derivative of :math:`f` with :math:`x` held fixed.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> a = ng.tensor([1.0, 3.0], requires_grad=True)
    >>> result = ng.interop.scipy.minimize(
    ...     lambda x, a: ((x - a) ** 2).sum() + (x**4).sum(), np.zeros(2), args=(a,), tol=1e-10
    ... )
    >>> ng.grad(result.x.sum(), a)[0].numpy().round(4)  # 2 / (2 + 12 x**2)
    array([0.324 , 0.1429])
    """
    from scipy import optimize

    refuse_pairs(jac, "minimize")
    parameters, hook, x = posed(f, x0, args, hess, jit, "minimize")
    form = hess if isinstance(hess, str) and hess in FORMS else None
    given = _derivatives(hook, method, jac, hess, form) | options
    if "constraints" in options:
        given["constraints"] = exact(options["constraints"], method, hook)
    fun = hook.value_and_grad if given.get("jac") is True and jac is None else _scalar(hook)
    result = optimize.minimize(fun, x, method=method, **given)
    if parameters.want_grad and np.size(options.get("constraints", ())):
        raise NotDifferentiableError(
            "minimize: the derivative of a minimum under constraints is not known here; write the "
            "conditions of the minimum as equations for root, or detach args"
        )
    return _delivered(result, hook, hook, parameters, options.get("bounds"))


def _scalar(hook: function) -> Callable[..., Any]:
    """Return the value alone, refused like a gradient for what is no scalar."""

    def fun(x: Any, *more: Any) -> Any:
        value = hook.fun(x, *more)
        return value if isinstance(value, float) else hook.grad(x, *more)

    return fun


def _derivatives(
    hook: function, method: str | None, jac: Any, hess: Any, form: str | None
) -> dict[str, Any]:
    """Return the derivatives that a method takes, unless they were given."""
    name = (method or "").lower() if not callable(method) else ""
    given: dict[str, Any] = {}
    is_taken = form == "dense" or (form is not None and name not in OF_ARRAYS)
    if name not in WITHOUT_GRADIENT:
        given["jac"] = True if jac is None else jac
    if hess is not None and form is None:
        given["hess"] = hess
    elif name in WITH_HESSIAN and form not in (None, "dense"):
        raise ArgTypeError(
            f"minimize: method={method!r} takes the Hessian as an array, not {form}; leave out "
            f"hess=, or take 'trust-ncg', which needs only products with it"
        )
    elif name in WITH_HESSIAN or (name in WITH_PRODUCTS and is_taken):
        given["hess"] = hook.hess
    elif name in WITH_PRODUCTS:
        given["hessp"] = hook.hessp
    return given


class Cost:
    """Half the sum of the losses of squared residuals, as `scipy.optimize.least_squares` has it."""

    def __init__(self, f: Callable[..., Any], loss: str, scale: float) -> None:
        self.f, self.loss, self.scale = f, LOSSES[loss], scale

    def __call__(self, x: Any, *args: Any) -> Tensor:
        z = (self.f(x, *args) / self.scale) ** 2
        return 0.5 * self.scale**2 * _sum(self.loss(z))


LOSSES: dict[str, Callable[..., Any]] = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2.0 * (sqrt(1.0 + z) - 1.0),
    "huber": lambda z: where(z <= 1.0, z, 2.0 * sqrt(where(z <= 1.0, 1.0, z)) - 1.0),
    "cauchy": lambda z: log1p(z),
    "arctan": lambda z: arctan(z),
}
"""Of a squared residual."""


def least_squares(
    f: Callable[..., Any],
    x0: Any,
    jac: Any = "dense",
    bounds: Any = (-np.inf, np.inf),
    args: Sequence[Any] = (),
    *,
    loss: Any = "linear",
    f_scale: float = 1.0,
    jit: bool = True,
    **options: Any,
) -> Any:
    """Minimise a sum of squares by `scipy.optimize.least_squares`, with the exact Jacobian.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns the residuals: an array of any shape, or a container of arrays.
    x0 : array_like
        Where to start, of any shape; ``f`` gets that shape.
    jac : {"dense", "sparse", "operator"} or as in SciPy
        The form of the Jacobian; it also decides how the linear system of the derivative is solved.
    bounds, loss, f_scale
        As in SciPy.
    args : tuple
        Of anything; the solution is differentiable with respect to the tensors in it.
    jit : bool
        Whether `f` is captured, see `function`.
    **options
        SciPy's other parameters, unchanged: ``method``, ``xtol``, ``tr_solver``, ``x_scale``, ...

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x`` has the shape of `x0`. If there is a tensor among `args`, ``x``, ``fun`` and ``cost``
        are tensors; all else is what SciPy found.

    Raises
    ------
    ConvergenceError
        If a gradient is wanted and no solution was found.
    NotDifferentiableError
        If a gradient is wanted with a callable `loss`.
    MatrixError
        At the backward pass, if the Hessian of the cost is singular at the solution.

    Notes
    -----
    The derivative of the solution is that of the root of the gradient of the cost. Its matrix is
    the exact Hessian :math:`J^T J + \\sum_i r_i \\nabla^2 r_i`, not that of Gauss and Newton.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> t = np.array([0.0, 1.0, 2.0])
    >>> y = ng.tensor([1.0, 0.5, 0.3], requires_grad=True)
    >>> fit = ng.interop.scipy.least_squares(
    ...     lambda x, y: x[0] * np.exp(-x[1] * t) - y, [1.0, 1.0], args=(y,)
    ... )
    >>> ng.grad(fit.x[1], y)[0].numpy().round(3)  # how the rate moves with each measurement
    array([ 0.736, -0.826, -1.077])
    """
    from scipy import optimize

    parameters, hook, x = posed(f, x0, args, jac, jit, "least_squares")
    given: Any = hook.matrix if isinstance(jac, str) and jac in FORMS else jac
    result = optimize.least_squares(
        hook.vector, x, given, bounds, loss=loss, f_scale=f_scale, **options
    )
    if not parameters.want_grad:
        cost = hook
    elif callable(loss):
        raise NotDifferentiableError(
            "least_squares: the derivative of the solution needs the loss as a function of "
            "tensors; take one of SciPy's by name, or minimize"
        )
    else:
        of_vector = Cost(hook.of_vector.vector, loss, f_scale)
        cost = function(of_vector, parameters.numbers, jac=hook.form, jit=jit)
    if not isinstance(bounds, optimize.Bounds):
        bounds = optimize.Bounds(*bounds)
    return _delivered(result, hook, cost, parameters, bounds)


def _delivered(
    result: Any, hook: function, cost: function, parameters: Parameters, bounds: Any
) -> Any:
    """Return what SciPy found, with what depends on tensors as tensors."""
    found, shape = np.reshape(result.x, -1), hook.of_vector.shape
    result.x = found.reshape(shape)
    if not parameters.has_tensors:
        return result
    free = None
    if parameters.want_grad and bounds is not None:
        free = free_elements(found, bounds, cost.grad(found), parameters.what)
    gradient = _stationary(cost.of_vector, found, free)
    x = parameters.solution(found, gradient, lambda: _reduced(cost.hess(found), free), result)
    args = parameters.args(parameters.tensors)
    result.x = reshape(x, shape)
    if parameters.want_grad:
        result.fun = hook.of_vector(x, *args)
        if cost is not hook:
            result.cost = cost.of_vector(x, *args)
    return result


def _stationary(f: Any, found: np.ndarray, free: np.ndarray | None) -> Callable[..., Tensor]:
    """Return the equations of a minimum: no slope, and no change of what is at a bound."""

    def equations(x: Tensor, *args: Any) -> Tensor:
        slope = grad(f)(x, *args)
        return slope if free is None or free.all() else where(free, slope, x - found)

    return equations


def _reduced(matrix: Any, free: np.ndarray | None) -> Any:
    """Return the Jacobian of the equations of a minimum, given the Hessian in any form."""
    if free is None or free.all():
        return matrix
    if isinstance(matrix, np.ndarray):
        return free[:, None] * matrix + np.diag(~free)
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import aslinearoperator

    kept, fixed = diags_array(free.astype(float)), diags_array((~free).astype(float))
    if hasattr(matrix, "matvec"):
        return aslinearoperator(kept) @ matrix + aslinearoperator(fixed)
    return kept @ matrix + fixed
