"""Distributions: the parameters and the support that are declared, and the functions derived from
these declarations."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import special as sp
from .._errors import DtypeError, NotDifferentiableError
from .._tensor import ArrayLike, Tensor
from ..engine.record.composition import composed
from ..functions.array.operands import as_tensors
from ..functions.elementwise.comparison import isinf
from ..functions.elementwise.exponential import exp, log, log1p
from ..functions.elementwise.powers import sqrt
from ..functions.elementwise.rounding import floor
from ..functions.shape.selection import clip, where
from ..operators.special.formulas import TABLE
from .family import Family, Frozen
from .inversion import Inverted, with_limits

INF = np.inf
MINUS_INF = -np.inf

Formula = Callable[..., Any]

PLAIN = frozenset({"pdf", "pmf"})
DENSITIES = PLAIN | {"logpdf", "logpmf"}
"""The functions made of the log density, which is what is declared."""

OUTSIDE = {
    **dict.fromkeys(DENSITIES - PLAIN, (-INF, -INF)),
    **dict.fromkeys(PLAIN, (0.0, 0.0)),
    "cdf": (0.0, 1.0),
    "sf": (1.0, 0.0),
    "logcdf": (-INF, 0.0),
    "logsf": (0.0, -INF),
}
"""The values of each function below and above the support."""

ENDED = frozenset(OUTSIDE) - (DENSITIES - PLAIN)
"""The functions that have these values at infinite arguments, too, where their formulas have slopes
that are NaN. A likelihood of minus infinity is not worth the time that it would take."""

NEWTON = 3
QUANTILES = ("ppf", "isf")
OF_PARAMETERS = ("mean", "var", "std", "entropy", "median", "stats")


def all_positive(*parameters: Tensor) -> Tensor:
    """Whether parameters are valid that have to be positive."""
    valid = parameters[0] > 0
    for p in parameters[1:]:
        valid = valid & (p > 0)
    return valid


class Powers:
    """The logarithms of powers, and exponents, in the formula of a density, for its logarithm."""

    def log(self, x: Tensor) -> Tensor:
        """Return ``log(x)``."""
        return log(x)

    def xlogy(self, power: Tensor, x: Tensor) -> Tensor:
        """Return the logarithm of ``x**power``."""
        return sp.xlogy(power, x)

    def xlog1py(self, power: Tensor, x: Tensor) -> Tensor:
        """Return the logarithm of ``(1 + x)**power``."""
        return sp.xlog1py(power, x)

    def exponent(self, x: Tensor) -> Tensor:
        """Return ``x``, whose exponential is subtracted."""
        return x


POWERS = Powers()


class PowersOfZero(Powers):
    """The logarithms of powers in the formula of a density, for the density itself: powers of 0,
    whose logarithms have no finite slopes, are left out, and are factors of the density."""

    def __init__(self) -> None:
        self.is_zero: Any = False
        self.factors: list[Tensor] = []

    def log(self, x: Tensor) -> Tensor:
        return log(self._without_zeros(x, x, as_tensors(1.0)[0], 1.0))

    def xlogy(self, power: Tensor, x: Tensor) -> Tensor:
        return sp.xlogy(power, self._without_zeros(x, x, power, 1.0))

    def xlog1py(self, power: Tensor, x: Tensor) -> Tensor:
        return sp.xlog1py(power, self._without_zeros(x, 1.0 + x, power, 0.0))

    def exponent(self, x: Tensor) -> Tensor:
        """Return ``x``, bounded: beyond, the density is 0, and 0 times an infinite slope NaN."""
        return clip(x, None, MOST)

    def times_exp(self, y: Tensor) -> Tensor:
        """Return the product of ``exp(y)``, bounded where a factor may be 0, and the factors."""
        y = exp(where(self.is_zero, clip(y, None, MOST), y))
        for factor in self.factors:
            y = y * factor
        return y

    def _without_zeros(self, x: Tensor, base: Tensor, power: Tensor, one: float) -> Tensor:
        """Note the power of a base, and return ``x`` with another number where the base is 0."""
        is_zero = base == 0
        self.is_zero = self.is_zero | is_zero
        self.factors.append(power_of_zero(base, power))
        return where(is_zero, one, x)


MOST = 700.0
"""What is less than the logarithm of the largest number."""


def power_of_zero(x: Tensor, power: Tensor) -> Tensor:
    """Return ``x**power`` where ``x`` is 0, with its slopes, and 1 elsewhere.

    From infinity below the power 0 to 0 above, its slope is minus infinity.
    """
    return TABLE["power_of_zero"](x, power)


class Distribution(Family):
    """A family of distributions of a number, declared by its functions in standard form.

    Parameters
    ----------
    name : str
        The name in `scipy.stats`.
    shapes : str
        The names of the parameters besides location and scale.
    support : tuple or None
        The ends of the support, numbers or functions of the shape parameters; a circle has none.
    edges : str
        Which ends belong to it, as in ``"[]"`` or ``"(]"``.
    inside : float or callable
        A place in the support, or a function of the shape parameters. Formulas are computed there
        for arguments outside, so they have to have finite slopes.
    valid : callable
        Says of the shape parameters which are valid.
    symmetric : bool
        Whether ``-x`` has the distribution of ``x``.
    powers : bool
        Whether the density is a product with powers of what may be 0, or with an exponential of an
        exponential. Its formula gets `POWERS` as another argument, ``of``, and has the logarithms
        of the powers and the exponents from there.
    limits : pair of callable
        Functions of a share that is 0 and the shape parameters: the ends of the support, with the
        slopes of quantiles. For distributions whose quantiles have no formula.
    **formulas : callable
        Functions of the argument and the shape parameters: ``logpdf`` or ``logpmf``, and those of
        ``cdf``, ``sf``, ``logcdf``, ``logsf``, ``ppf`` and ``isf`` that others do not give without
        loss; functions of the shape parameters: ``mean``, ``var`` and ``entropy``.
    """

    density = "logpdf"
    about = "x"
    own = ("loc", "scale")

    def __init__(
        self,
        name: str,
        shapes: str = "",
        *,
        support: tuple[Any, Any] | None = (MINUS_INF, INF),
        edges: str = "[]",
        inside: Any = 0.5,
        valid: Formula = all_positive,
        symmetric: bool = False,
        powers: bool = False,
        limits: tuple[Formula, Formula] | None = None,
        **formulas: Formula,
    ) -> None:
        self.shapes = tuple(shapes.split())
        self._support, self._edges, self._inside = support, edges, inside
        self._valid, self._powers, self._limits = valid, powers, limits or (None, None)
        self._formulas = {**_derived(formulas, symmetric), **formulas}
        if powers:
            self._formulas[self.density] = partial(formulas[self.density], of=POWERS)
        self._computed = composed(self._formula)
        signature = ", ".join(["x", *self.shapes, *(f"{p}={int(p == 'scale')}" for p in self.own)])
        super().__init__(
            name, f"``{name}`` of `scipy.stats`: ``{self.density}({signature})`` and others."
        )

    def __call__(self, *args: ArrayLike, **parameters: ArrayLike) -> "Frozen":
        """Return the distribution with these parameters."""
        self._named("__call__", args, parameters)
        return super().__call__(*args, **parameters)

    def cdf(self, x: ArrayLike, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the probability of at most ``x``."""
        return self._value("cdf", x, args, parameters)

    def sf(self, x: ArrayLike, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the probability of more than ``x``, ``1 - cdf(x)`` where that is precise."""
        return self._value("sf", x, args, parameters)

    def logcdf(self, x: ArrayLike, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the logarithm of the probability of at most ``x``."""
        return self._value("logcdf", x, args, parameters)

    def logsf(self, x: ArrayLike, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the logarithm of the probability of more than ``x``."""
        return self._value("logsf", x, args, parameters)

    def mean(self, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the mean; it is infinite or NaN where there is none."""
        y, loc, scale = self._of_parameters("mean", args, parameters)
        y = y if scale is None else y * scale
        return y if loc is None else y + loc

    def var(self, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the variance; it is infinite or NaN where there is none."""
        y, _, scale = self._of_parameters("var", args, parameters)
        return y if scale is None else y * scale * scale

    def std(self, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the standard deviation; it is infinite or NaN where there is none."""
        return sqrt(self.var(*args, **parameters))

    def entropy(self, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the mean of ``-log(p)`` of the density or the probability ``p``."""
        y, _, scale = self._of_parameters("entropy", args, parameters)
        return y if scale is None else y + log(scale)

    def _places(self, function: str) -> list[str]:
        first = [] if function in OF_PARAMETERS else ["q" if function in QUANTILES else self.about]
        return [*first, *self.shapes, *self.own]

    def _of_parameters(
        self, function: str, args: tuple[Any, ...], parameters: dict[str, Any]
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Return what depends on the parameters only, in standard form; location and scale."""
        formula = self._formulas.get(function)
        if formula is None:
            return self._without_formula(function, *args, **parameters), None, None
        zero, shapes, loc, scale = self._operands(function, 0.0, args, parameters)
        valid = self._validity(shapes, scale)
        y = zero + formula(*shapes)
        return y if valid is None else where(valid, y, np.nan), loc, scale

    def _named(
        self, function: str, args: tuple[Any, ...], parameters: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the given parameters by name."""
        names = (*self.shapes, *self.own)
        named = dict(zip(names, args, strict=False))
        wrong = [name for name in parameters if name not in names or name in named]
        missing = [name for name in self.shapes if name not in {*named, *parameters}]
        if wrong or missing or len(args) > len(names):
            raise TypeError(
                f"{self._called(function)} takes the parameters {', '.join(names)}, each once, and "
                f"needs {', '.join(self.shapes) or 'none of them'}; got {len(args)} by position "
                f"and {', '.join(parameters) or 'none'} by name"
            )
        return {**named, **parameters}

    def _value(
        self, function: str, x: ArrayLike, args: tuple[Any, ...], parameters: dict[str, Any]
    ) -> Tensor:
        """Return a function of the argument."""
        return self._computed(function, x, *args, **parameters)

    def _formula(
        self, function: str, x: ArrayLike, /, *args: ArrayLike, **parameters: ArrayLike
    ) -> Tensor:
        """Return the formula inside of the support, else a constant."""
        formula = self._formulas.get(self.density if function in DENSITIES else function)
        if formula is None:
            return self._without_formula(function, x, *args, **parameters)
        z, shapes, scale = self._standard(function, x, args, parameters)
        below, above = self._outside(z, shapes, function in ENDED)
        outside = below if above is None else above if below is None else below | above
        if outside is not None:
            inside = self._inside
            # A constant: what is computed there is not the result.
            inside = inside(*(p.detach() for p in shapes)) if callable(inside) else inside
            z = where(outside, inside, z)
        powers = PowersOfZero() if self._powers and function in PLAIN else None
        y = formula(z, *shapes) if powers is None else formula(z, *shapes, of=powers)
        if function in DENSITIES and scale is not None:
            y = y - log(scale)
        if function in PLAIN:
            y = exp(y) if powers is None else powers.times_exp(y)
        low, high = OUTSIDE[function]
        y = y if above is None else where(above, high, y)
        return y if below is None else where(below, low, y)

    def _standard(
        self, function: str, x: ArrayLike, args: tuple[Any, ...], parameters: dict[str, Any]
    ) -> tuple[Tensor, list[Tensor], Tensor | None]:
        """Return the argument in standard form, the shape parameters and the scale if it is given.
        The first is NaN where a parameter is not valid."""
        x, shapes, loc, scale = self._operands(function, x, args, parameters)
        z = _standardized(x, loc, scale, function in ENDED)
        valid = self._validity(shapes, scale)
        return z if valid is None else where(valid, z, np.nan), shapes, scale

    def _operands(
        self, function: str, x: ArrayLike, args: tuple[Any, ...], parameters: dict[str, Any]
    ) -> tuple[Tensor, list[Tensor], Tensor | None, Tensor | None]:
        """Return argument, shape parameters, location and scale, all of the dtype of SciPy's."""
        named = self._named(function, args, parameters)
        tensors = as_tensors(x, *named.values())
        if any(t.dtype.kind == "c" for t in tensors):
            raise DtypeError(f"{self._called(function)} takes real numbers only, got complex ones")
        z, *values = (t.astype(np.float64, copy=False) for t in tensors)
        found = dict(zip(named, values, strict=True))
        shapes = [found[name] for name in self.shapes]
        return z, shapes, found.get("loc"), found.get("scale")

    def _validity(self, shapes: list[Tensor], scale: Tensor | None) -> Tensor | None:
        valid = self._valid(*shapes) if shapes else None
        if scale is None:
            return valid
        return scale > 0 if valid is None else valid & (scale > 0)

    def _outside(
        self, z: Tensor, shapes: list[Tensor], is_ended: bool
    ) -> tuple[Tensor | None, Tensor | None]:
        """Return which arguments are below the support and which above, None where none can be.
        Infinite ones are, if ``is_ended``."""
        if self._support is None:
            return None, None
        low, high = (end(*shapes) if callable(end) else end for end in self._support)
        below = z <= low if self._edges[0] == "(" else None if low is MINUS_INF else z < low
        above = z >= high if self._edges[1] == ")" else None if high is INF else z > high
        if is_ended and (low is MINUS_INF or isinstance(low, Tensor)):
            below = z == -INF if below is None else below | (z == -INF)
        if is_ended and (high is INF or isinstance(high, Tensor)):
            above = z == INF if above is None else above | (z == INF)
        return below, above


class Continuous(Distribution):
    """A distribution with a density."""

    def logpdf(self, x: ArrayLike, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the logarithm of the density at ``x``."""
        return self._value("logpdf", x, args, parameters)

    def pdf(self, x: ArrayLike, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the density at ``x``."""
        return self._value("pdf", x, args, parameters)

    def ppf(self, q: ArrayLike, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the number below which the probability is ``q``; NaN if that is none."""
        return self._quantile("ppf", q, args, parameters)

    def isf(self, q: ArrayLike, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the number above which the probability is ``q``; NaN if that is none."""
        return self._quantile("isf", q, args, parameters)

    def median(self, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the number that is exceeded with probability 1/2."""
        return self._quantile("ppf", 0.5, args, parameters)

    def interval(
        self, confidence: ArrayLike, *args: ArrayLike, **parameters: ArrayLike
    ) -> tuple[Tensor, Tensor]:
        """Return the ends of the interval of this probability with equal ones on both sides."""
        tail = 0.5 * (1.0 - as_tensors(confidence)[0])
        return self.ppf(tail, *args, **parameters), self.isf(tail, *args, **parameters)

    def _quantile(
        self, function: str, q: ArrayLike, args: tuple[Any, ...], parameters: dict[str, Any]
    ) -> Tensor:
        formula = self._formulas.get(function) or self._inverse(function)
        if formula is None:
            return self._without_formula(function, q, *args, **parameters)
        q, shapes, loc, scale = self._operands(function, q, args, parameters)
        valid = self._validity(shapes, scale)
        within = (q >= 0) & (q <= 1)
        y = formula(where(within if valid is None else within & valid, q, np.nan), *shapes)
        y = y if scale is None else y * scale
        return y if loc is None else y + loc

    def _inverse(self, function: str) -> Formula | None:
        """Return the inverse of the distribution function where that has a formula: SciPy's
        numbers, corrected, after steps of Newton's method if there is a gradient. Each step doubles
        the number of derivatives that are right: there are seven."""
        forward = self._formulas.get({"ppf": "cdf", "isf": "sf"}[function])
        if forward is None or self.density not in self._formulas:
            return None

        def inside(q: Tensor, *shapes: Tensor) -> Tensor:
            numbers = [t.detach() for t in (q, *shapes)]
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                found = np.asarray(self._function_of_scipy(function)(*numbers))
            low = self._support[0] if self._support else MINUS_INF
            inverted = Inverted(forward, self._formulas[self.density], low, function == "ppf")
            x = as_tensors(inverted.corrected(found, *[t.numpy() for t in numbers]))[0]
            if not any(t.requires_grad for t in (q, *shapes)):
                return x
            for _ in range(NEWTON):
                lack = (forward(x, *shapes) - q) / exp(self._formulas[self.density](x, *shapes))
                x = x - lack if function == "ppf" else x + lack
            return x

        return with_limits(inside, *self._limits[:: 1 if function == "ppf" else -1])


class Discrete(Distribution):
    """A distribution of an integer: its argument has no derivative."""

    density = "logpmf"
    about = "k"
    own = ("loc",)

    def logpmf(self, k: ArrayLike, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the logarithm of the probability of ``k``."""
        return self._value("logpmf", k, args, parameters)

    def pmf(self, k: ArrayLike, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the probability of ``k``."""
        return self._value("pmf", k, args, parameters)

    def _standard(
        self, function: str, x: ArrayLike, args: tuple[Any, ...], parameters: dict[str, Any]
    ) -> tuple[Tensor, list[Tensor], Tensor | None]:
        loc = self._named(function, args, parameters).get("loc")
        for given, what in ((x, "its first argument, which is an integer"), (loc, "loc, a shift")):
            if isinstance(given, Tensor) and given.requires_grad:
                raise NotDifferentiableError(
                    f"{self._called(function)} has no derivative with respect to {what}"
                    f"{'' if given is x else ' of an integer'}; give it without one, as x.detach()"
                )
        z, shapes, scale = super()._standard(function, x, args, parameters)
        whole = floor(z)
        if function in DENSITIES:  # what is no integer lies outside of the support
            return where((whole == z) | (z != z), z, -INF), shapes, scale
        return whole, shapes, scale


def _standardized(x: Tensor, loc: Tensor | None, scale: Tensor | None, is_ended: bool) -> Tensor:
    """Return ``(x - loc) / scale``; with ``is_ended`` what does not depend on the scale is left out
    of the quotient: infinite numbers, and 0 if that is fixed. Their slopes would be NaN where those
    at the end of a support are infinite."""
    d = x if loc is None else x - loc
    if scale is None or not is_ended:
        return d if scale is None else d / scale
    is_apart = isinf(d) if d.requires_grad else isinf(d) | (d == 0)
    return where(is_apart, d, where(is_apart, 1.0, d) / scale)


def _derived(own: dict[str, Formula], symmetric: bool) -> dict[str, Formula]:
    """Return the functions of a distribution that follow from the functions in ``own``."""
    if "cdf" not in own:
        return {}
    cdf, ppf = own["cdf"], own.get("ppf")
    sf = own.get("sf") or (
        (lambda x, *shapes: cdf(-x, *shapes)) if symmetric else lambda *given: 1.0 - cdf(*given)
    )
    found = {
        "sf": sf,
        "logcdf": lambda *given: _log_of_part(cdf(*given), sf(*given)),
        "logsf": lambda *given: _log_of_part(sf(*given), cdf(*given)),
    }
    if symmetric and "logcdf" in own:
        found["logsf"] = lambda x, *shapes: own["logcdf"](-x, *shapes)
    if ppf is not None:
        found["isf"] = (
            (lambda *given: -ppf(*given)) if symmetric else lambda q, *shapes: ppf(1.0 - q, *shapes)
        )
    return found


def _log_of_part(p: Tensor, q: Tensor) -> Tensor:
    """Return ``log(p)`` of two parts of 1, from the smaller one, which has more digits."""
    small = p < 0.5
    return where(small, log(where(small, p, 0.5)), log1p(-where(small, 0.5, q)))
