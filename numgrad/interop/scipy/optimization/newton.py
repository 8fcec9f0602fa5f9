"""Roots of functions of one number by Newton's method, one or many at once."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...._autograd import no_grad
from ...._errors import ConvergenceError
from ...._tensor import tensor
from ....func.gradients import Evaluation
from ....functions.shape.reshaping import reshape
from ..implicit.functions import function
from ..implicit.parameters import Parameters, controls, number, posed
from ..implicit.solver_operator import Form, in_programs, refuse, shape_of


def _shapes(given: dict[str, Any]) -> list[tuple[int, ...]]:
    refuse("newton", {"full_output": given["full_output"]})
    return [shape_of(given["x0"])]


@in_programs(Form(lambda found: [found], _shapes, lambda given, found: found))
def newton(
    func: Callable[..., Any],
    x0: Any,
    fprime: Callable[..., Any] | None = None,
    args: Any = (),
    tol: float = 1.48e-8,
    maxiter: int = 50,
    fprime2: Callable[..., Any] | None = None,
    x1: Any = None,
    rtol: float = 0.0,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root near a number by Newton's method or one of its kin, by `scipy.optimize.newton`.

    Parameters
    ----------
    func : callable
        ``func(x, *args)`` returns one number for each in ``x``, which has the shape of `x0`.
    x0 : array_like
        Where to start; of an array each element starts a search of its own.
    fprime, fprime2 : callable, optional
        First and second derivative. Without the first SciPy takes the secant method, with the
        second Halley's.
    args : tuple
        Of anything; the root is differentiable with respect to the tensors in it, and to those that
        `func` closes over.
    tol, maxiter, x1, rtol, full_output, disp
        As in SciPy.

    Returns
    -------
    root : Tensor, numpy.ndarray or float
        Of the shape of `x0`; a tensor if a tensor is among `args` or closed over. No gradient flows
        to where the search starts, which the root does not depend on.
    r : scipy.optimize.RootResults
        With `full_output`, if `x0` is one number. The ``root`` of `r` is the same as the first
        result.
    converged, zero_der : numpy.ndarray
        With `full_output`, if `x0` has many.

    Raises
    ------
    ConvergenceError
        If a root was not found.
    MatrixError
        At the backward pass, if the derivative of `func` is zero at a root.

    See Also
    --------
    brentq : Derivatives are the same.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> M, e = np.array([0.5, 1.0]), ng.tensor(0.3, requires_grad=True)
    >>> E = ng.interop.scipy.newton(lambda E: E - e * np.sin(E) - M, M)  # Kepler's equation
    >>> ng.grad(E.sum(), e)[0].item() - (np.sin(E) / (1 - e * np.cos(E))).sum().item() < 1e-12
    True
    """
    parameters, hook, start = posed(func, x0, args, "dense", True, "newton")
    own = controls({"tol": tol, "maxiter": maxiter, "rtol": rtol}, "newton")
    own |= {"x1": None if x1 is None else _as_given(np.asarray(number(x1), float))}
    shape: Any = hook.of_vector.shape
    for name, slope in {"fprime": fprime, "fprime2": fprime2}.items():
        own[name] = None if slope is None else _of_numbers(slope, shape, parameters.numbers)
    found, *more = _found(hook, start, disp, own)
    root = _root(parameters, hook, np.atleast_1d(found), shape)
    if more and isinstance(more[0], np.ndarray):
        more = [part.reshape(shape) for part in more]
    elif more:
        more[0].root = root
    return (root, *more) if full_output else root


def _as_given(x: np.ndarray) -> Any:
    """Return the numbers of an array as SciPy takes them: one by itself, many as a vector."""
    return x.ravel() if x.size > 1 else x.item()


def _of_numbers(slope: Callable[..., Any], shape: tuple[int, ...], args: Any) -> Any:
    """Return a derivative as a function that takes and returns numbers, as `_as_given` does."""

    def of_numbers(x: Any) -> Any:
        with no_grad():
            found = slope(np.reshape(x, shape), *args)
        return _as_given(np.asarray(number(found), float))

    return of_numbers


def _found(hook: function, start: np.ndarray, disp: bool, own: dict[str, Any]) -> tuple[Any, ...]:
    """Return what SciPy finds, with all it says about it."""
    from scipy import optimize

    def value(x: Any) -> Any:
        return _as_given(hook.vector(np.atleast_1d(x)))

    newton: Any = optimize.newton  # what it returns depends on its options
    try:
        return newton(value, _as_given(start), full_output=True, disp=disp, **own)
    except RuntimeError as error:
        if type(error) is not RuntimeError:
            raise
        raise ConvergenceError(f"newton: {error}") from error


def _root(parameters: Parameters, hook: function, x: np.ndarray, shape: tuple[int, ...]) -> Any:
    """Return numbers that SciPy has found as a function of the tensors, if there are any."""
    if not parameters.has_tensors:
        return x.reshape(shape)[()]
    slopes = _slopes(hook, parameters, x) if parameters.want_grad else None
    return reshape(parameters.solution(x, hook.of_vector.vector, lambda: slopes), shape)


def _slopes(hook: function, parameters: Parameters, x: np.ndarray) -> Any:
    """Return the Jacobian of a function of each number by itself; raise if one is no root."""
    from scipy.sparse import diags_array

    with no_grad():
        at = Evaluation(hook.of_vector.vector, (tensor(x), *parameters.numbers), 0, "newton")
        value, slopes = at.output.numpy(), at.pulled([tensor(np.ones(x.size))])[0].numpy()
    most = np.sqrt(np.finfo(float).eps) * abs(slopes) * np.maximum(abs(x), 1.0)
    if not (abs(value) <= most).all():
        worst = float(x[np.argmax(~(abs(value) <= most))])
        raise ConvergenceError(f"newton: only a root has a derivative, and {worst!r} is none")
    return diags_array(slopes).tocsc()
