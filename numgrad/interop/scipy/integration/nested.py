"""Integrals over several variables."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._autograd import no_grad
from ...._errors import NotDifferentiableError
from ...._tensor import Tensor, tensor
from ....engine.record.apply import mode
from ....functions.array.argument_checks import integer, real_number, sequence
from ....functions.creation.constants import zeros
from ....functions.shape.reshaping import reshape
from ..implicit.closures import Closure, Scalar
from ..implicit.derived import Captured
from ..implicit.parameters import Parameters, controls
from ..implicit.solver_operator import Form, in_programs, refuse
from ..systems.linear import as_real
from .integrals import Integral, Integrand, Pulled, Rule

FINITE, ABOVE, BELOW, WHOLE = "finite", "above", "below", "whole"
UNIT = {FINITE: (0.0, 1.0), ABOVE: (0.0, np.inf), BELOW: (0.0, np.inf), WHOLE: (-np.inf, np.inf)}


class Range:
    """The limits of a variable, as numbers for SciPy; closed-over tensors are noted."""

    def __init__(self, given: Any, closure: Closure) -> None:
        self.given, self.closure = given, closure
        self.kind = ""
        self.returns_tensors = False

    def __call__(self, *at: Any) -> tuple[Any, Any]:
        """Return the limits for given values of the other variables and the arguments."""
        ends = limits_of(self.given, at)
        tensors = [end for end in ends if isinstance(end, Tensor)]
        self.returns_tensors = self.returns_tensors or bool(tensors)
        if mode.grad and tensors:
            self.closure.look(tensors)
        low, high = (real_number(end, "ranges") for end in ends)
        kinds = {(True, True): FINITE, (True, False): ABOVE, (False, True): BELOW}
        kind = kinds.get((np.isfinite(low), np.isfinite(high)), WHOLE)
        self.kind = kind if self.kind in ("", kind) else "mixed"
        return low, high


def limits_of(given: Any, at: Sequence[Any]) -> tuple[Any, Any]:
    """Return a pair of limits, which may be a function of other variables."""
    ends: Any = given(*at) if callable(given) else given
    try:
        low, high = ends
    except (TypeError, ValueError):
        raise ValueError(f"nquad: ranges must be pairs of limits, got {ends!r:.80}") from None
    return low, high


class OnUnitBox(Integrand):
    """The function of a user and the limits, as a function on a box that does not depend on them.
    """

    def __init__(self, f: Any, scalar: Scalar, ranges: Sequence[Range], args: Any) -> None:
        super().__init__(f, scalar)
        self.ranges, self.args = ranges, args

    def remember(self, params: Sequence[Tensor]) -> None:
        """Note the value in the middle of the box, which must not change before a backward pass."""
        middle = np.full(len(self.ranges), 0.5)
        with no_grad():
            self.scalar.met = middle, self(middle, *params)[0].numpy(), False

    def __call__(self, u: Any, *params: Any) -> tuple[Tensor, ...]:
        """Return the value at a point of the box, times the volume that it stands for."""
        at: tuple[Any, ...] = ()
        args, volume = self.args(params), 1.0
        for n in range(len(self.ranges) - 1, -1, -1):
            span = self.ranges[n]
            low, high = limits_of(span.given, (*at, *args))
            if span.kind == FINITE:
                x, volume = low + (high - low) * u[n], volume * (high - low)
            else:
                x = {ABOVE: lambda t, a=low: a + t, BELOW: lambda t, b=high: b - t}.get(
                    span.kind, lambda t: t
                )(u[n])
            at = (x, *at)
        return (reshape(as_real(volume * self.f(*at, *args), "nquad"), ()),)


class BoxRule(Rule):
    """The options with which SciPy integrates over boxes."""

    def __init__(self, options: Sequence[Any], jit: bool, kinds: Sequence[str]) -> None:
        super().__init__({}, jit)
        self.opts, self.kinds = options, kinds

    def integrals(
        self, integrand: Pulled, limits: Sequence[float], given: Sequence[Tensor], shapes: Any
    ) -> list[np.ndarray]:
        """Return the integrals of all elements of an integrand, which is evaluated once at each
        point."""
        from scipy.integrate import nquad as of_scipy

        known: dict[tuple[float, ...], np.ndarray] = {}
        f = Captured(integrand, self.jit, "nquad")
        params = [p.detach().numpy() for p in given]

        def at(u: tuple[float, ...]) -> np.ndarray:
            if u not in known:
                known[u] = np.concatenate([np.ravel(part) for part in f(np.array(u), *params)])
            return known[u]

        box = [UNIT[kind] for kind in self.kinds]
        sizes = [int(np.prod(shape)) for shape in shapes]
        found = [
            of_scipy(lambda *u, n=n: at(u)[n], box, opts=self.opts)[0] for n in range(sum(sizes))
        ]
        parts = np.split(np.array(found), np.cumsum(sizes)[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def _shapes(given: dict[str, Any]) -> list[tuple[int, ...]]:
    refuse("nquad", {"full_output": given["full_output"]})
    return [(), ()]


@in_programs(Form(lambda found: found, _shapes, lambda given, value, error: (value, error)))
def nquad(
    func: Callable[..., Any],
    ranges: Sequence[Any],
    args: Any = None,
    opts: Any = None,
    full_output: bool = False,
    *,
    jit: bool = True,
) -> Any:
    """Integrate over several variables, by `scipy.integrate.nquad`.

    Parameters
    ----------
    func : callable
        ``func(x0, ..., xn, *args)`` returns a number.
    ranges : sequence
        A pair of limits for each variable, or a function of the variables after it and of ``args``
        that returns one. The integral is differentiable with respect to finite limits, also those
        that a function returns.
    args : tuple, optional
        The integral is differentiable with respect to the tensors in it, and to those that ``func``
        and ``ranges`` close over.
    opts, full_output
        As in SciPy; tolerances hold for the integrals of derivatives, too.
    jit : bool
        Whether the derivative of ``func`` is captured by `numgrad.jit` where it can be.

    Returns
    -------
    value : Tensor or float
    abserr : float
        The largest of the estimates of the error.
    info : dict
        With ``full_output``.

    Raises
    ------
    NotDifferentiableError
        If a gradient is wanted with an option ``weight``, or where a limit is finite for some
        values of other variables only.

    Notes
    -----
    Variables are scaled to the unit box, where derivatives are those of the integrand alone: they
    are integrated by the same rule and to the same tolerances, and so are those of any order.

    Examples
    --------
    >>> import numgrad as ng
    >>> p = ng.tensor(2.0, requires_grad=True)
    >>> value, _ = ng.interop.scipy.nquad(lambda x, y: p * x * y, [(0.0, 1.0), (0.0, p)])
    >>> round(value.item(), 6), round(ng.grad(value, p)[0].item(), 6)  # p**3 / 4
    (2.0, 3.0)
    """
    from scipy import integrate

    parameters = Parameters(() if args is None else args, "nquad")
    scalar = Scalar(func, parameters.closure)
    spans = [Range(given, parameters.closure) for given in sequence(ranges, "ranges")]
    if not spans:
        raise ValueError("nquad: ranges has no items")
    options, is_full = _for_each(opts, len(spans)), bool(integer(full_output, "full_output"))
    numbers = parameters.args([leaf.detach() for leaf in parameters.tensors])
    value, *others = integrate.nquad(scalar, spans, numbers, options, is_full)
    returns_tensors = scalar.returns_tensors or any(span.returns_tensors for span in spans)
    if not (parameters.has_tensors or returns_tensors):
        return value, *others
    if not parameters.want_grad:
        return tensor(value), *others
    kinds = [span.kind for span in spans]
    if "mixed" in kinds or any("weight" in option for option in options if type(option) is dict):
        raise NotDifferentiableError(
            "nquad: no gradient flows with an option weight, or where a limit is infinite for some "
            "values of the other variables only; write the weight into the function, or divide the "
            "integral"
        )
    rule = BoxRule([_tolerances(option) for option in options], jit, kinds)
    integrand = OnUnitBox(func, scalar, spans, parameters.args)
    integrand.remember([leaf.detach() for leaf in parameters.tensors])
    none = zeros(())
    (found,) = Integral.apply(
        rule, integrand, [np.array(value)], len(parameters.tensors), none, none, *parameters.sources
    )
    return found, *others


def dblquad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    args: Any = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> Any:
    """Integrate over two variables, as `scipy.integrate.dblquad` does: see `nquad`.

    Parameters
    ----------
    func : callable
        ``func(y, x, *args)`` returns a number.
    a, b : number or Tensor
        The limits of ``x``.
    gfun, hfun : callable, number or Tensor
        The limits of ``y``, functions of ``x`` or numbers.
    args : tuple
    epsabs, epsrel : float

    Examples
    --------
    >>> import numgrad as ng
    >>> r = ng.tensor(2.0, requires_grad=True)
    >>> area, _ = ng.interop.scipy.dblquad(lambda y, x: 1.0, 0.0, r, 0.0, lambda x: r - x)
    >>> round(area.item(), 6), round(ng.grad(area, r)[0].item(), 6)  # r**2 / 2
    (2.0, 2.0)
    """
    inner = _between(gfun, hfun, 1)
    return nquad(func, [inner, (a, b)], args, {"epsabs": epsabs, "epsrel": epsrel})


def tplquad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: Any = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> Any:
    """Integrate over three variables, as `scipy.integrate.tplquad` does: see `dblquad`.

    ``func(z, y, x, *args)`` returns a number; ``qfun`` and ``rfun`` are the limits of ``z``,
    functions of ``x`` and ``y`` or numbers.

    Examples
    --------
    >>> import numgrad as ng
    >>> h = ng.tensor(2.0, requires_grad=True)
    >>> f = lambda z, y, x: z
    >>> value, _ = ng.interop.scipy.tplquad(f, 0.0, 1.0, 0.0, 1.0, 0.0, h)
    >>> round(ng.grad(value, h)[0].item(), 6)
    2.0
    """
    innermost, inner = _between(qfun, rfun, 2), _between(gfun, hfun, 1)
    return nquad(func, [innermost, inner, (a, b)], args, {"epsabs": epsabs, "epsrel": epsrel})


def _between(low: Any, high: Any, count: int) -> Callable[..., Any]:
    """Return the range between two limits, which are functions of ``count`` variables, the
    outermost first, or numbers."""

    def limits(*variables: Any) -> tuple[Any, Any]:
        at = variables[:count][::-1]
        return tuple([end(*at) if callable(end) else end for end in (low, high)])  # type: ignore[return-value]

    return limits


def _for_each(opts: Any, count: int) -> list[Any]:
    if opts is None or isinstance(opts, dict):
        options = [opts or {}] * count
    else:
        options = list(sequence(opts, "opts"))
    if len(options) != count:
        raise ValueError(f"nquad: opts has {len(options)} items for {count} variables")
    return [controls(o, "nquad", f"opts[{n}].") if isinstance(o, dict) else o
            for n, o in enumerate(options)]


def _tolerances(option: Any) -> dict[str, Any]:
    """Return the options that hold for derivatives on the unit box, too."""
    known = option if isinstance(option, dict) else {}
    return {name: known[name] for name in ("epsabs", "epsrel", "limit") if name in known}
