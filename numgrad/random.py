"""Draws of NumPy's generators as functions of their parameters, with derivatives to these.

>>> import numpy as np
>>> import numgrad as ng
>>> scale = ng.tensor(2.0, requires_grad=True)
>>> x = ng.random.normal(np.random.default_rng(0), 1.0, scale, size=3)
>>> ng.grad(x.sum(), scale)[0].item() == np.random.default_rng(0).normal(size=3).sum()
True
"""

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ._errors import CaptureError
from ._tensor import ArrayLike, Tensor
from .engine.record import mode
from .functions.exponential import exp, expm1
from .functions.operands import as_tensors
from .functions.powers import sqrt
from .functions.selection import where
from .functions.systems import cholesky

Size = int | tuple[int, ...] | None


def _declare(
    name: str,
    parameters: str,
    base: Callable[..., Any],
    formula: Callable[..., Any],
    doc: str,
    is_numpy: bool = True,
) -> Callable[..., Tensor]:
    """Return the function ``name``: a formula of a draw without parameters and of the parameters.

    Parameters
    ----------
    name : str
        The name of a method of `numpy.random.Generator`.
    parameters : str
        Their names, with default values after ``=``.
    base : callable
        Draws, given a generator and a shape.
    formula : callable
        Takes the draw, then the parameters.
    doc : str
        The formula as text.
    is_numpy : bool
        Whether NumPy has the method, which then says which parameters are valid.
    """
    signature = _signature(parameters)

    def draw(*args: Any, **given: Any) -> Tensor:
        try:
            values = signature.bind(*args, **given)
        except TypeError as error:
            raise TypeError(f"random.{name}: {error}") from None
        values.apply_defaults()
        rng, *operands, size = values.arguments.values()
        _require_generator(rng, name)
        tensors = as_tensors(*operands)
        shape = _shape(name, tensors, size)
        if is_numpy:  # draws nothing, but looks at the parameters
            getattr(rng, name)(*(t.detach().numpy() for t in tensors), size=(0, *shape))
        return formula(*as_tensors(base(rng, shape), *tensors))

    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = f"Return {doc}"
    draw.__signature__ = signature  # type: ignore[attr-defined]
    return draw


def _signature(parameters: str) -> inspect.Signature:
    made = [inspect.Parameter("rng", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for word in [*parameters.split(), "size=None"]:
        name, _, default = word.partition("=")
        value = inspect.Parameter.empty if not default else None
        if default not in ("", "None"):
            value = float(default)
        made.append(
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value)
        )
    return inspect.Signature(made)


def _require_generator(rng: Any, name: str) -> None:
    if not isinstance(rng, np.random.Generator):
        raise TypeError(
            f"random.{name} draws from a numpy.random.Generator, its first argument, such as "
            f"numpy.random.default_rng(seed); got {type(rng).__name__}"
        )
    if mode.capture is not None:
        raise CaptureError(
            f"random.{name}: {mode.capture.what}; the draws would be the same at every call, "
            "or for every sample. Draw outside, at each call, from a standard distribution, pass "
            "what is drawn as an argument, and write the formula, such as loc + scale * z, inside"
        )


def _shape(name: str, tensors: list[Tensor], size: Size) -> tuple[int, ...]:
    """Return the shape of the result: the given one, or that of the parameters together."""
    together = np.broadcast_shapes(*(t.shape for t in tensors))
    if size is None:
        return together
    shape = tuple(size) if np.iterable(size) else (operator.index(size),)
    try:
        fits = np.broadcast_shapes(shape, together) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"random.{name}: parameters of shape {together} do not fit into the size {shape}"
        )
    return shape


def _standard(method: str, *parameters: float) -> Callable[..., Any]:
    return lambda rng, shape: getattr(rng, method)(*parameters, size=shape)


def _shifted(z: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
    return loc + scale * z


_normal = _standard("standard_normal")
_exponential = _standard("standard_exponential")
_uniform = _standard("random")


def _triangular(u: Tensor, left: Tensor, peak: Tensor, right: Tensor) -> Tensor:
    width = right - left
    split = (peak - left) / width
    rising = left + sqrt(u * width * (peak - left))
    return where(u <= split, rising, right - sqrt((1.0 - u) * width * (right - peak)))


normal = _declare(
    "normal", "loc=0 scale=1", _normal, _shifted, "``loc + scale * z`` of normal draws ``z``."
)
lognormal = _declare(
    "lognormal",
    "mean=0 sigma=1",
    _normal,
    lambda z, mean, sigma: exp(mean + sigma * z),
    "``exp(mean + sigma * z)`` of normal draws ``z``.",
)
uniform = _declare(
    "uniform",
    "low=0 high=1",
    _uniform,
    lambda u, low, high: low + (high - low) * u,
    "``low + (high - low) * u`` of uniform draws ``u``.",
)
exponential = _declare(
    "exponential",
    "scale=1",
    _exponential,
    lambda e, scale: scale * e,
    "``scale * e`` of exponential draws ``e``.",
)
laplace = _declare(
    "laplace",
    "loc=0 scale=1",
    _standard("laplace", 0.0, 1.0),
    _shifted,
    "``loc + scale * z`` of draws ``z`` of a standard Laplace distribution.",
)
logistic = _declare(
    "logistic",
    "loc=0 scale=1",
    _standard("logistic", 0.0, 1.0),
    _shifted,
    "``loc + scale * z`` of draws ``z`` of a standard logistic distribution.",
)
gumbel = _declare(
    "gumbel",
    "loc=0 scale=1",
    _standard("gumbel", 0.0, 1.0),
    _shifted,
    "``loc + scale * z`` of draws ``z`` of a standard Gumbel distribution.",
)
cauchy = _declare(
    "cauchy",
    "loc=0 scale=1",
    _standard("standard_cauchy"),
    _shifted,
    "``loc + scale * z`` of Cauchy draws ``z``.",
    is_numpy=False,
)
rayleigh = _declare(
    "rayleigh",
    "scale=1",
    _standard("rayleigh", 1.0),
    lambda z, scale: scale * z,
    "``scale * z`` of draws ``z`` of a standard Rayleigh distribution.",
)
weibull = _declare(
    "weibull",
    "a",
    _exponential,
    lambda e, a: e ** (1.0 / a),
    "``e**(1 / a)`` of exponential draws ``e``.",
)
pareto = _declare(
    "pareto",
    "a",
    _exponential,
    lambda e, a: expm1(e / a),
    "``exp(e / a) - 1`` of exponential draws ``e``.",
)
power = _declare(
    "power",
    "a",
    _exponential,
    lambda e, a: (-expm1(-e)) ** (1.0 / a),
    "``(1 - exp(-e))**(1 / a)`` of exponential draws ``e``.",
)
triangular = _declare(
    "triangular",
    "left mode right",
    _uniform,
    _triangular,
    "draws of a triangular distribution, the inverse of its distribution function.",
)
standard_normal = _declare("standard_normal", "", _normal, lambda z: z, "normal draws.")
standard_exponential = _declare(
    "standard_exponential", "", _exponential, lambda e: e, "exponential draws."
)
standard_cauchy = _declare(
    "standard_cauchy", "", _standard("standard_cauchy"), lambda z: z, "Cauchy draws."
)
random = _declare("random", "", _uniform, lambda u: u, "uniform draws from [0, 1).")


def multivariate_normal(
    rng: np.random.Generator, mean: ArrayLike, cov: ArrayLike, size: Size = None
) -> Tensor:
    """Return ``mean + L z`` of normal draws ``z``, with the Cholesky factor ``L`` of ``cov``.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the same as its ``multivariate_normal(..., method="cholesky")``.
    mean : array_like
        A vector.
    cov : array_like
        A positive definite matrix.
    size : int or tuple of int, optional
        How many vectors.

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``cov`` is not positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> mean = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> draws = ng.random.multivariate_normal(np.random.default_rng(0), mean, np.eye(2), 4)
    >>> ng.grad(draws.sum(), mean)[0]
    tensor([4., 4.])
    """
    _require_generator(rng, "multivariate_normal")
    mean, cov = as_tensors(mean, cov)
    n = mean.shape[-1] if mean.ndim == 1 else None
    if cov.shape != (n, n):
        raise ValueError(
            f"random.multivariate_normal: shapes {mean.shape} and {cov.shape} of mean and cov; "
            "they need (n,) and (n, n)"
        )
    z = rng.standard_normal((*(() if size is None else _shape("", [], size)), n))
    return mean + z @ cholesky(cov).T


__all__ = [
    "cauchy",
    "exponential",
    "gumbel",
    "laplace",
    "logistic",
    "lognormal",
    "multivariate_normal",
    "normal",
    "pareto",
    "power",
    "random",
    "rayleigh",
    "standard_cauchy",
    "standard_exponential",
    "standard_normal",
    "triangular",
    "uniform",
    "weibull",
]
