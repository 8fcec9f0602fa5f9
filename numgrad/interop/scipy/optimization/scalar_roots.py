"""Roots of functions of one variable, as functions of what the root depends on."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._autograd import no_grad
from ...._errors import ConvergenceError
from ...._tensor import Tensor, tensor
from ....func.gradients import Evaluation
from ....func.pytree import require_function
from ....functions.array.argument_checks import real_number
from ....functions.shape.reshaping import reshape
from ..implicit.closures import Scalar, require_real
from ..implicit.parameters import Parameters, controls
from ..implicit.solver_operator import Form, Found, in_programs, refuse
from ..systems.linear import as_real


class Problem:
    """A function of one variable, a root of which is wanted.

    Attributes
    ----------
    numbers : tuple
        The arguments beside the variable, without gradients.
    """

    def __init__(self, f: Callable[..., Any], args: Any, what: str) -> None:
        self.f, self.what = require_function(f, what), what
        self.parameters = Parameters(args, what)
        self.scalar = Scalar(f, self.parameters.closure)
        self.numbers = self.parameters.args([t.detach() for t in self.parameters.tensors])

    def value(self, x: Any, *args: Any) -> float:
        """Return the value as a number, for SciPy."""
        return require_real(self.scalar(x, *args), self.what)

    @property
    def needs_graph(self) -> bool:
        """Whether the root must be a function of tensors that require grad."""
        return self.parameters.want_grad

    @staticmethod
    def point(x: float) -> Tensor:
        """Return a number as a vector."""
        return tensor([x])

    def as_result(self, found: float) -> Any:
        """Return a number as a tensor, if one of the arguments or of the function's results is."""
        is_tensor = self.parameters.has_tensors or self.scalar.returns_tensors
        return tensor(found) if is_tensor else found

    def at(self, x: Any, value: Any) -> Any:
        """Return the function's value at the root; a tensor if the root is a tensor."""
        if not isinstance(x, Tensor):
            return value
        parameters = self.parameters
        return as_real(self.f(x, *parameters.args(parameters.tensors)), self.what)

    def solution(self, found: float, residual: Callable[..., Any], slope: float) -> Tensor:
        """Return the root of an equation as a function of the tensors."""
        matrix = np.array([[slope]])
        return reshape(self.parameters.solution(np.array([found]), residual, lambda: matrix), ())

    def root(self, found: float, result: Any, ends: Sequence[float] | None) -> Any:
        """Return the root that SciPy has found; in an interval with these ends, if there is one."""
        if not self.needs_graph:
            return self.as_result(found)
        return self.solution(found, self._residual, self._slope(found, result, ends))

    def _residual(self, x: Tensor, *args: Any) -> Tensor:
        return reshape(as_real(self.f(reshape(x, ()), *args), self.what), 1)

    def _slope(self, found: float, result: Any, ends: Sequence[float] | None) -> float:
        """Return the derivative at the root; raise if there is none."""
        with no_grad():
            at = Evaluation(self._residual, (self.point(found), *self.numbers), 0, self.what)
            value, slope = abs(at.output.item()), at.pulled([self.point(1.0)])[0].item()
            if ends is None:  # half of the digits are right
                most = np.sqrt(np.finfo(float).eps) * abs(slope) * max(abs(found), 1.0)
            else:
                values = [self._residual(self.point(x), *self.numbers).item() for x in ends]
                most = max(map(abs, values))
        if not result.converged or not value <= most:
            what = "the function has a pole or a jump there" if result.converged else result.flag
            raise ConvergenceError(
                f"{self.what}: only a root has a derivative, and {found!r} is none: {what}"
            )
        return slope


def _shapes(given: dict[str, Any]) -> list[tuple[int, ...]]:
    refuse("root_scalar", {})
    return [()]


@in_programs(
    Form(lambda found: [found.root], _shapes, lambda given, root: Found(root=root))
)
def root_scalar(
    f: Callable[..., Any],
    args: Any = (),
    method: str | None = None,
    bracket: Sequence[float] | None = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: float | None = None,
    x1: float | None = None,
    xtol: float | None = None,
    rtol: float | None = None,
    maxiter: int | None = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """Find a root of a function of one variable, by `scipy.optimize.root_scalar`.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns one number; ``x`` is a number, too.
    args : tuple
        Of anything; the root is differentiable with respect to the tensors in it, and to those that
        `f` closes over.
    method, bracket, fprime, fprime2, x0, x1, xtol, rtol, maxiter, options
        As in SciPy. ``fprime`` and ``fprime2`` are functions: numgrad takes no pair of value and
        derivative.

    Returns
    -------
    scipy.optimize.RootResults
        Its ``root`` is a tensor if one of `args` is, or if `f` returns one. No gradient flows to
        where the search starts, which the root does not depend on.

    Raises
    ------
    ConvergenceError
        If a gradient is wanted and no root was found.
    MatrixError
        At the backward pass, if the derivative of `f` is zero at the root.

    See Also
    --------
    brentq : Derivatives and errors are the same.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor(2.0, requires_grad=True)
    >>> x = ng.interop.scipy.root_scalar(lambda x: x**2 - a, x0=1.0, x1=2.0).root
    >>> round(x.item(), 6), round(ng.grad(x, a)[0].item(), 6)
    (1.414214, 0.353553)
    """
    from scipy import optimize

    require_choices("root_scalar", method, options)
    problem = Problem(f, args, "root_scalar")
    slopes = {"fprime": fprime, "fprime2": fprime2}
    starts = {"bracket": bracket, "x0": x0, "x1": x1}
    own = controls(
        {"xtol": xtol, "rtol": rtol, "maxiter": maxiter, "options": options} | starts, "root_scalar"
    )
    for name, given in slopes.items():
        own[name] = _of_numbers(given, name)
    result = optimize.root_scalar(problem.value, problem.numbers, method, **own)
    ends = own["bracket"]
    ends = None if ends is None else [real_number(x, "bracket") for x in ends[:2]]
    result.root = problem.root(float(result.root), result, ends)
    return result


def require_choices(what: str, method: Any, options: Any) -> None:
    """Raise unless a method is a name, or a function, and options are in a dictionary."""
    if not (method is None or isinstance(method, str) or callable(method)):
        raise TypeError(f"{what}: method must be a name, got {method!r:.80}")
    if not (options is None or isinstance(options, dict)):
        raise TypeError(f"{what}: options must be a dictionary, got {options!r:.80}")


def _of_numbers(f: Any, name: str) -> Callable[..., float] | None:
    """Return a derivative as a function that returns numbers."""
    if f is None or f is False:
        return None
    if not callable(f):
        raise TypeError(
            f"root_scalar: {name}={f!r} says that the function returns its derivative, too; return "
            f"the value alone, and give the derivative as {name}=ng.func.grad(f)"
        )

    def slope(x: Any, *args: Any) -> float:
        with no_grad():
            found: Any = f(x, *args)
        return float(found.detach() if isinstance(found, Tensor) else found)

    return slope
