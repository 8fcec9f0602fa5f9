"""Minima and least squares, as functions of the arguments."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._errors import ArgTypeError, NotDifferentiableError
from ....func import grad, hessian
from ..implicit.functions import FORMS, function
from ..implicit.parameters import controls, number, posed, refuse_pairs
from ..implicit.solver_operator import Form, Found, converged, in_programs, shape_of
from .constraints import Limits, exact, refuse_live
from .losses import Cost
from .objective import Objective

WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
WITH_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")
WITH_HESSIAN = ("dogleg", "trust-exact")
OF_ARRAYS = ("trust-ncg", "trust-krylov")  # methods that take the Hessian as an array only
INSTEAD = {
    "hess_inv": "np.linalg.inv(ng.func.hessian(f)(r.x, *args))",
    "hess": "ng.func.hessian(f)(r.x, *args)",
}
INSTEAD_OF_FIT = {"jac": "ng.func.jacobian(f)(r.x, *args)"}


def _form(second: str) -> Form:
    return Form(
        converged("x", second),
        lambda given: [shape_of(given["x0"]), ()],
        lambda given, x, value: Found({"x": x, second: value}),
    )


@in_programs(_form("fun"))
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
        Of anything; the minimum is differentiable with respect to the tensors in it, and to those
        that `f` closes over.
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
        ``x`` has the shape of `x0`. If there is a tensor among `args` or the bounds, ``x``,
        ``fun``, ``jac`` (``grad``) and a dense ``hess`` are tensors that carry their gradients. All
        else is what SciPy found; where a gradient is wanted, what is not discrete in it refuses
        one, see the table of fields in the documentation.

    Raises
    ------
    ConvergenceError
        If a gradient is wanted and no minimum was found.
    NotDifferentiableError
        If a gradient is wanted of a minimum under ``constraints`` (bounds are fine), or with
        respect to what says how it is found, such as ``tol``; at a backward pass through a field
        that no derivative is known of, such as ``hess_inv``.
    MatrixError
        At the backward pass, if the Hessian is singular at the minimum.

    Notes
    -----
    The derivative of a minimum is that of the root of the gradient, see `root`; the Hessian is its
    matrix. Elements at a bound stay there: those whose derivative is larger than their distance to
    it; they move with the bound if that is a tensor. The minimum itself has the derivative of
    :math:`f` with :math:`x` held fixed.

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
    limits = Limits(options.pop("bounds", None), x.size, in_pairs=True)
    constraints = options.pop("constraints", ())
    refuse_live(constraints)
    given = _derivatives(hook, method, jac, hess, form) | controls(options, "minimize")
    if limits.given is not None:
        given["bounds"] = limits.given
    if np.size(constraints):
        given["constraints"] = exact(constraints, method, hook)
    fun = hook.value_and_grad if given.get("jac") is True and jac is None else _scalar(hook)
    result = optimize.minimize(fun, x, method=method, **given)
    value = hook.of_vector
    objective = Objective(lambda x, scale, *args: value(x, *args), hook, 1.0, limits, parameters)
    if objective.parameters.want_grad and np.size(constraints):
        raise NotDifferentiableError(
            "minimize: the derivative of a minimum under constraints is not known here; write the "
            "conditions of the minimum as equations for root, or detach args"
        )
    slope = grad(objective.f)
    if objective.parameters.want_grad:
        for name in {"jac", "grad"} & set(result):
            if isinstance(result[name], np.ndarray):  # the gradient of Newton-CG is one step old
                result[name] = hook.grad(result.x)
    fields = {"fun": objective.f, "jac": slope, "grad": slope, "hess": hessian(objective.f)}
    return objective.deliver(result, hook.of_vector.shape, fields, INSTEAD)


def _scalar(hook: function) -> Callable[..., Any]:
    """Return a function of the value alone, which raises for a result that is no scalar."""

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


@in_programs(_form("cost"))
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
        As in SciPy; bounds and scale may be tensors.
    args : tuple
        Of anything; the solution is differentiable with respect to the tensors in it, and to those
        that `f` closes over.
    jit : bool
        Whether `f` is captured, see `function`.
    **options
        SciPy's other parameters, unchanged: ``method``, ``xtol``, ``tr_solver``, ``x_scale``, ...

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x`` has the shape of `x0`. If there is a tensor among `args`, bounds and scale, ``x``,
        ``fun``, ``cost``, ``grad`` and a dense ``jac`` are tensors that carry their gradients. All
        else is what SciPy found, and refuses a gradient unless it is discrete.

    Raises
    ------
    ConvergenceError
        If a gradient is wanted and no solution was found.
    NotDifferentiableError
        If a gradient is wanted with a callable `loss`, or with respect to what says how the
        solution is found, such as ``xtol``; at a backward pass through a field that no derivative
        is known of, such as ``optimality``.
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
    limits = Limits(bounds, x.size, in_pairs=False)
    given: Any = hook.matrix if isinstance(jac, str) and jac in FORMS else jac
    own = controls(options, "least_squares") | {"loss": loss, "f_scale": number(f_scale)}
    result = optimize.least_squares(hook.vector, x, given, limits.given, **own)
    vector = hook.of_vector.vector
    cost = Cost(vector, loss)
    of_cost = function(cost, (number(f_scale), *parameters.numbers), jac=hook.form, jit=jit)
    of_cost.closure = parameters.closure
    objective = Objective(cost, of_cost, f_scale, limits, parameters)
    if callable(loss) and objective.parameters.want_grad:
        raise NotDifferentiableError(
            "least_squares: the derivative of the solution needs the loss as a function of "
            "tensors; take one of SciPy's by name, or minimize"
        )
    fields = {"cost": cost, "grad": grad(cost), "jac": cost.jacobian}
    fields["fun"] = lambda x, scale, *args: vector(x, *args)
    return objective.deliver(result, hook.of_vector.shape, fields, INSTEAD_OF_FIT)
