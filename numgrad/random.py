"""Draws of NumPy's generators as functions of their parameters, with derivatives to these.

>>> import numpy as np
>>> import numgrad as ng
>>> scale = ng.tensor(2.0, requires_grad=True)
>>> x = ng.random.normal(np.random.default_rng(0), 1.0, scale, size=3)
>>> z = np.random.default_rng(0).normal(size=3)
>>> bool(np.isclose(ng.grad(x.sum(), scale)[0].item(), z.sum()))
True

Without a generator they are the functions of `numpy.random`, which share one.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ._errors import CaptureError
from ._tensor import ArrayLike, Tensor
from .engine.record.apply import mode
from .func.guards.random_guard import generator_of_numpy
from .functions.array.argument_checks import WordsOfNumpy, integers
from .functions.array.operands import as_tensor, as_tensors
from .functions.elementwise.exponential import exp, expm1
from .functions.elementwise.powers import sqrt
from .functions.linalg.systems import cholesky
from .functions.shape.selection import where
from .ir.broadcasting import broadcast_shapes
from .names.numpy_names import _names_of
from .operators.special.gamma.draws import gamma_draw

Formula = Callable[..., Any]
Size = int | tuple[int, ...] | None
NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD


def _declare(
    name: str, parameters: str, base: Formula, formula: Formula, is_numpy: bool = True
) -> Callable[..., Tensor]:
    """Return the function ``name``: a formula of a draw without parameters and of the parameters.

    Parameters
    ----------
    name : str
        The name of a method of `numpy.random.Generator`.
    parameters : str
        Their names, with default values after ``=``.
    base : callable
        Draws, given a generator, a shape and the parameters.
    formula : callable
        Takes the draws, then the parameters.
    is_numpy : bool
        Whether NumPy has the method, which then says which parameters are valid.
    """
    names = [inspect.Parameter("rng", NAMED), *map(_parameter, parameters.split())]
    names.append(inspect.Parameter("size", NAMED, default=None))
    signature = inspect.Signature(names, return_annotation=Tensor)

    def draw(*args: Any, **given: Any) -> Tensor:
        try:
            values = signature.bind(*args, **given)
        except TypeError as error:
            raise TypeError(f"random.{name}: {error}") from None
        values.apply_defaults()
        rng, *operands, size = values.arguments.values()
        _require_draws(rng, name)
        tensors = as_tensors(*operands)
        shape = _shape(name, tensors, size)
        if is_numpy:  # draws nothing, but looks at the parameters
            getattr(rng, name)(*(t.detach().numpy() for t in tensors), size=(0, *shape))
        return formula(*as_tensors(*base(rng, shape, *tensors), *tensors))

    text = ", ".join([*(p.name for p in names[1:]), "size"])
    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = f"Return ``rng.{name}({text})`` as a function of the parameters."
    draw.__signature__ = signature  # type: ignore[attr-defined]
    return _also_of_numpy(draw) if is_numpy else draw


def _also_of_numpy(draw: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let a function of a generator be called without one, as NumPy's function of its name is."""

    @functools.wraps(draw)
    def call(*args: Any, **given: Any) -> Tensor:
        if "rng" in given or not isinstance(args[0] if args else None, _PARAMETERS):
            return draw(*args, **given)
        rng: Any = generator_of_numpy()
        values = (*args, *given.values())
        has_graph = any(isinstance(x, Tensor) and x.requires_grad for x in values)
        if has_graph or mode.capture is not None:
            return draw(rng, *args, **given)
        name = draw.__name__
        with WordsOfNumpy(f"random.{name}"):
            return as_tensor(getattr(rng, name)(*args, **given))

    return call


_PARAMETERS = (Tensor, np.ndarray, np.generic, int, float, list, tuple, type(None))


def _parameter(text: str) -> inspect.Parameter:
    name, _, default = text.partition("=")
    value = float(default) if default else inspect.Parameter.empty
    return inspect.Parameter(name, NAMED, default=value)


def _require_draws(rng: Any, name: str) -> None:
    """Raise unless a generator draws here, at each call."""
    if not isinstance(rng, np.random.Generator | np.random.RandomState):
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
    together = broadcast_shapes(*(t.shape for t in tensors))
    if size is None:
        return together
    shape = integers(size, "size")
    try:
        fits = broadcast_shapes(shape, together) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"random.{name}: parameters of shape {together} do not fit into the size {shape}"
        )
    return shape


def _standard(method: str, *values: float) -> Formula:
    return lambda rng, shape, *parameters: (getattr(rng, method)(*values, size=shape),)


def _gammas(*shapes: Formula) -> Formula:
    """Return what draws from gamma distributions, the shapes of which depend on the parameters."""
    return lambda rng, shape, *parameters: tuple(
        _of_gamma(rng, shape_of(*parameters), shape) for shape_of in shapes
    )


def _of_gamma(rng: Any, a: Tensor, shape: tuple[int, ...]) -> Tensor:
    return gamma_draw(a, *as_tensors(rng.standard_gamma(a.detach().numpy(), size=shape)))


def _same(z: Tensor, *parameters: Tensor) -> Tensor:
    return z


def _shifted(z: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
    return loc + scale * z


def _scaled(z: Tensor, scale: Tensor) -> Tensor:
    return scale * z


def _triangular(u: Tensor, left: Tensor, peak: Tensor, right: Tensor) -> Tensor:
    width = right - left
    rising = left + sqrt(u * width * (peak - left))
    return where(
        u <= (peak - left) / width, rising, right - sqrt((1.0 - u) * width * (right - peak))
    )


_normal, _exponential = _standard("standard_normal"), _standard("standard_exponential")
_uniform, _cauchy = _standard("random"), _standard("standard_cauchy")
_LOC = "loc=0 scale=1"

standard_normal = _declare("standard_normal", "", _normal, _same)
standard_exponential = _declare("standard_exponential", "", _exponential, _same)
standard_cauchy = _declare("standard_cauchy", "", _cauchy, _same)
random = _declare("random", "", _uniform, _same)
normal = _declare("normal", _LOC, _normal, _shifted)
laplace = _declare("laplace", _LOC, _standard("laplace", 0.0, 1.0), _shifted)
logistic = _declare("logistic", _LOC, _standard("logistic", 0.0, 1.0), _shifted)
gumbel = _declare("gumbel", _LOC, _standard("gumbel", 0.0, 1.0), _shifted)
cauchy = _declare("cauchy", _LOC, _cauchy, _shifted, is_numpy=False)
exponential = _declare("exponential", "scale=1", _exponential, _scaled)
rayleigh = _declare("rayleigh", "scale=1", _standard("rayleigh", 1.0), _scaled)
uniform = _declare(
    "uniform", "low=0 high=1", _uniform, lambda u, low, high: low + (high - low) * u
)
lognormal = _declare(
    "lognormal", "mean=0 sigma=1", _normal, lambda z, mean, sigma: exp(mean + sigma * z)
)
weibull = _declare("weibull", "a", _exponential, lambda e, a: e ** (1.0 / a))
pareto = _declare("pareto", "a", _exponential, lambda e, a: expm1(e / a))
power = _declare("power", "a", _exponential, lambda e, a: (-expm1(-e)) ** (1.0 / a))
triangular = _declare("triangular", "left mode right", _uniform, _triangular)


standard_gamma = _declare("standard_gamma", "shape", _gammas(lambda a: a), _same)
gamma = _declare(
    "gamma", "shape scale=1", _gammas(lambda a, scale: a), lambda x, a, scale: scale * x
)
chisquare = _declare(
    "chisquare", "df", _gammas(lambda df: 0.5 * df), lambda x, df: 2.0 * x
)
standard_t = _declare(
    "standard_t",
    "df",
    lambda *given: _normal(*given) + _gammas(lambda df: 0.5 * df)(*given),
    lambda z, x, df: sqrt(0.5 * df) * z / sqrt(x),
)
beta = _declare(
    "beta", "a b", _gammas(lambda a, b: a, lambda a, b: b), lambda x, y, a, b: x / (x + y)
)
f = _declare(
    "f",
    "dfnum dfden",
    _gammas(lambda n, m: 0.5 * n, lambda n, m: 0.5 * m),
    lambda x, y, n, m: (x / n) / (y / m),
)


@_also_of_numpy
def dirichlet(rng: Any, alpha: ArrayLike, size: Size = None) -> Tensor:
    """Return ``rng.dirichlet(alpha, size)`` as a function of the vector ``alpha``."""
    _require_draws(rng, "dirichlet")
    (alpha,) = as_tensors(alpha)
    rng.dirichlet(alpha.detach().numpy(), size=0)  # draws nothing, but looks at the parameters
    outer = () if size is None else _shape("dirichlet", [], size)
    x = _of_gamma(rng, alpha, (*outer, *alpha.shape))
    return x / x.sum(axis=-1, keepdims=True)


@_also_of_numpy
def multivariate_normal(rng: Any, mean: ArrayLike, cov: ArrayLike, size: Size = None) -> Tensor:
    """Return ``mean + L z`` of normal draws ``z``, with the Cholesky factor ``L`` of ``cov``.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the same as its ``multivariate_normal(..., method="cholesky")``.
    mean : array_like
        A vector.
    cov : array_like
        A positive definite matrix; for others there is a ``LinAlgError``.
    size : int or tuple of int, optional
        How many vectors.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> mean = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> draws = ng.random.multivariate_normal(np.random.default_rng(0), mean, np.eye(2), 4)
    >>> ng.grad(draws.sum(), mean)[0]
    tensor([4., 4.])
    """
    _require_draws(rng, "multivariate_normal")
    mean, cov = as_tensors(mean, cov)
    if mean.ndim != 1 or cov.shape != 2 * mean.shape:
        raise ValueError(
            f"random.multivariate_normal: shapes {mean.shape} and {cov.shape} of mean and cov; "
            "they need (n,) and (n, n)"
        )
    outer = () if size is None else _shape("multivariate_normal", [], size)
    return mean + rng.standard_normal((*outer, *mean.shape)) @ cholesky(cov).T


__all__ = [
    "beta", "cauchy", "chisquare", "dirichlet", "exponential", "f", "gamma", "gumbel", "laplace",
    "logistic", "lognormal", "multivariate_normal", "normal", "pareto", "power", "random",
    "rayleigh", "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal",
    "standard_t", "triangular", "uniform", "weibull",
]  # fmt: skip

__getattr__ = _names_of("numpy.random", __name__)


def __dir__() -> list[str]:
    return __all__
