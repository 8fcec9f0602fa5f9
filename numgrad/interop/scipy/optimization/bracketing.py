"""Roots of functions of one variable in a given interval."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...._autograd import no_grad
from ...._errors import ConvergenceError
from ...._tensor import Tensor, tensor
from ....func.gradients import Evaluation
from ....functions.array.argument_checks import real_number
from ....functions.shape.reshaping import reshape
from ..implicit.closures import Scalar, require_real
from ..implicit.parameters import Parameters, controls
from ..implicit.solver_operator import Form, in_programs, refuse
from ..systems.linear import as_real


def _shapes(given: dict[str, Any]) -> list[tuple[int, ...]]:
    refuse("brentq", {"full_output": given["full_output"]})
    return [()]


@in_programs(Form(lambda found: [found], _shapes, lambda given, found: found))
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
    from scipy import optimize

    parameters = Parameters(args, "brentq")
    scalar = Scalar(f, parameters.closure)
    own = controls({"xtol": xtol, "rtol": rtol, "maxiter": maxiter}, "brentq")
    low, high = real_number(a, "a"), real_number(b, "b")
    numbers = parameters.args([leaf.detach() for leaf in parameters.tensors])

    def real(x: float, *args: Any) -> float:
        return require_real(scalar(x, *args), "brentq")

    found, result = optimize.brentq(real, low, high, numbers, full_output=True, disp=disp, **own)
    if parameters.has_tensors or scalar.returns_tensors:
        result.root = found = _followed(f, found, result, parameters, (low, high))
    return (found, result) if full_output else found


def _followed(
    f: Callable[..., Any],
    found: float,
    result: Any,
    parameters: Parameters,
    ends: tuple[float, float],
) -> Tensor:
    """Return a root as a function of the parameters and of closed-over tensors."""
    if not parameters.want_grad:
        return tensor(found)

    def residual(x: Tensor, *args: Any) -> Tensor:
        return reshape(as_real(f(reshape(x, ()), *args), "brentq"), 1)

    with no_grad():
        args = parameters.args([leaf.detach() for leaf in parameters.tensors])
        at_ends = [abs(residual(tensor([x]), *args).item()) for x in ends]
        at = Evaluation(residual, (tensor([found]), *args), 0, "brentq")
        value, slope = abs(at.output.item()), at.pulled([tensor([1.0])])[0].item()
    if not result.converged or not value <= max(at_ends):
        what = "the function has a pole or a jump there" if result.converged else result.flag
        raise ConvergenceError(
            f"brentq: only a root has a derivative, and {found!r} is none: {what}"
        )
    matrix = np.array([[slope]])
    return reshape(parameters.solution(np.array([found]), residual, lambda: matrix), ())
