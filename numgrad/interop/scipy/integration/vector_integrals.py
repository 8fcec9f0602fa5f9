"""Integrals of functions with many results: adaptively, and by Gauss's rule."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._errors import ConvergenceError
from ...._tensor import Tensor, tensor
from ....engine.record.apply import mode
from ....functions.array.argument_checks import integer, numeric, real_number
from ....functions.array.operands import as_tensor
from ....functions.reduction.reduction import sum as _sum
from ..implicit.closures import Closure, Scalar
from ..implicit.derived import Captured
from ..implicit.parameters import Parameters, controls
from ..implicit.solver_operator import Form, in_programs, refuse
from ..interpolate.data import answer, known
from ..systems.linear import as_real
from .integrals import Integral, Integrand, Pulled, Rule


class Several(Scalar):
    """A function whose results are an array, called with numbers; its closed-over tensors are
    noted."""

    def __init__(self, f: Callable[..., Any], closure: Closure) -> None:
        super().__init__(f, closure)
        self.shape: tuple[int, ...] = ()

    def __call__(self, x: Any, *args: Any) -> np.ndarray:
        """Return the results as an array."""
        found = self.f(x, *args)
        if isinstance(found, (list, tuple)):
            found = as_tensor(found)
        if isinstance(found, Tensor):
            self.returns_tensors = True
            if mode.grad:
                self.closure.look([found])
            found = found.detach().numpy()
        self.met = self.met or (x, np.array(found), mode.grad)
        return found


class Values(Integrand):
    """The function of a user, of a number and of tensors, with results of any shape."""

    def __call__(self, x: Any, *params: Any) -> tuple[Tensor, ...]:
        """Return the values."""
        return (as_real(self.f(x, *params), "quad_vec"),)


class VectorRule(Rule):
    """The options with which SciPy integrates all elements together."""

    def integrals(
        self, integrand: Pulled, limits: Sequence[float], given: Sequence[Tensor], shapes: Any
    ) -> list[np.ndarray]:
        """Return the integrals of all elements of an integrand."""
        from scipy.integrate import quad_vec as of_scipy

        f = Captured(integrand, self.jit, "quad_vec")
        params = [p.detach().numpy() for p in given]

        def at(x: float) -> np.ndarray:
            return np.concatenate([np.ravel(part) for part in f(x, *params)])

        options: dict[str, Any] = self.options | {"full_output": True, "workers": 1}
        low, high = limits
        value, error, info = of_scipy(at, low, high, **options)
        if not info.success and not error <= np.sqrt(np.finfo(float).eps) * abs(value).max():
            raise ConvergenceError(
                f"quad_vec: the integral of the derivative has not converged, its error is about "
                f"{error:.1e}: {info.message}"
            )
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
        parts = np.split(value, ends)
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def _shapes(given: dict[str, Any]) -> list[tuple[int, ...]]:
    refuse("quad_vec", {"full_output": given["full_output"]})
    ends = [x for x in (given["a"], given["b"]) if isinstance(x, Tensor) or np.isfinite(x)]
    args = given["args"] if isinstance(given["args"], tuple) else (given["args"],)
    return [np.shape(as_tensor(given["f"](*ends[:1] or [0.0], *args))), ()]


@in_programs(Form(lambda found: found, _shapes, lambda given, value, error: (value, error)))
def quad_vec(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    epsabs: float = 1e-200,
    epsrel: float = 1e-8,
    norm: str = "2",
    cache_size: float = 100e6,
    limit: float = 10000,
    workers: Any = 1,
    points: Any = None,
    quadrature: str | None = None,
    full_output: bool = False,
    *,
    args: Any = (),
    jit: bool = True,
) -> Any:
    """Integrate a function with results of any shape, by `scipy.integrate.quad_vec`.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns an array, always of the same shape; ``x`` is a number.
    a, b : number or Tensor
        The limits. The integral is differentiable with respect to finite ones.
    epsabs, epsrel, norm, cache_size, limit, workers, points, quadrature, full_output
        As in SciPy. They hold for the integrals of derivatives, too.
    args : tuple
        Of anything; the integral is differentiable with respect to the tensors in it, and to those
        that ``f`` closes over.
    jit : bool
        Whether the derivative of ``f`` is captured by `numgrad.jit` where it can be.

    Returns
    -------
    value : Tensor or numpy.ndarray
        A tensor if a limit or one of ``args`` is, or if ``f`` returns one.
    error : float
        SciPy's estimate of the error.
    info : object
        With ``full_output``, what SciPy returns besides.

    Raises
    ------
    ConvergenceError
        At the backward pass, if the integral of a derivative does not converge.
    InplaceError
        At the backward pass, if what ``f`` closes over has been written.

    Notes
    -----
    The derivative is that of `quad`, of all elements with one evaluation at each point.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> rates = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> value, _ = ng.interop.scipy.quad_vec(lambda x: np.exp(-rates * x), 0.0, np.inf)
    >>> value.detach().numpy().round(6), ng.grad(value.sum(), rates)[0].numpy().round(6)
    (array([1. , 0.5]), array([-1.  , -0.25]))
    """
    from scipy import integrate

    parameters = Parameters(args, "quad_vec")
    options = controls(
        {"epsabs": epsabs, "epsrel": epsrel, "norm": norm, "cache_size": cache_size,
         "limit": limit, "points": points, "quadrature": quadrature, "workers": workers},
        "quad_vec",
    )  # fmt: skip
    values = Several(f, parameters.closure)
    numbers = parameters.args([leaf.detach() for leaf in parameters.tensors])
    low, high = real_number(a, "a"), real_number(b, "b")
    value, *others = integrate.quad_vec(
        lambda x: values(x, *numbers), low, high, full_output=full_output, **options
    )
    ends = [x for x in (a, b) if isinstance(x, Tensor)]
    if not (ends or parameters.has_tensors or values.returns_tensors):
        return value, *others
    if not (parameters.want_grad or (mode.grad and any(x.requires_grad for x in ends))):
        return tensor(value), *others
    integrand = Values(parameters.over(f), values)
    (found,) = Integral.apply(
        VectorRule(options, jit), integrand, [np.asarray(value)], len(parameters.tensors),
        as_real(a, "quad_vec"), as_real(b, "quad_vec"), *parameters.sources,
    )  # fmt: skip
    return found, *others


def fixed_quad(func: Callable[..., Any], a: Any, b: Any, args: Any = (), n: int = 5) -> Any:
    """Integrate a function by Gauss's rule with ``n`` points, as `scipy.integrate.fixed_quad` does.

    Parameters
    ----------
    func : callable
        ``func(x, *args)`` takes a vector of points, and returns values along the last axis.
    a, b : array_like
        The limits, finite numbers.
    args : tuple
    n : int

    Returns
    -------
    value : Tensor or numpy.ndarray
        With gradients to the limits, to ``args`` and to what ``func`` closes over: those of the sum
        that is the rule, to rounding.
    None

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> b = ng.tensor(2.0, requires_grad=True)
    >>> value, _ = ng.interop.scipy.fixed_quad(lambda x: x**3, 0.0, b)
    >>> round(value.item(), 12), round(ng.grad(value, b)[0].item(), 12)
    (4.0, 8.0)
    """
    count = integer(n, "n")
    if count < 1:
        raise ValueError(f"fixed_quad: n must be positive, got {count}")
    points, weights = np.polynomial.legendre.leggauss(count)
    for end, name in ((a, "a"), (b, "b")):
        at = as_tensor(numeric(end, name))
        values = known(at)
        if at.ndim or (values is not None and not np.isfinite(values)):
            raise ValueError(f"fixed_quad: {name} must be a finite number, got {end!r:.80}")
    half = 0.5 * (b - a)
    y = func(half * (points + 1.0) + a, *(args if isinstance(args, tuple) else (args,)))
    value = half * _sum(as_tensor(y) * weights, axis=-1)
    return answer(value, a, b, args, y), None
