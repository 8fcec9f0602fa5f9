"""Integrals as functions of their limits and of parameters: derivatives under the integral sign."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._autograd import Function, no_grad
from ...._errors import ConvergenceError, InplaceError, NotDifferentiableError
from ...._tensor import Tensor, tensor
from ....engine.record.apply import grad_mode, mode
from ....functions.array.argument_checks import real_number
from ....functions.array.operands import as_tensor
from ....functions.elementwise.trigonometric import cos, sin
from ....functions.reduction.reduction import sum as _sum
from ....functions.shape.reshaping import reshape
from ..implicit.closures import Met, Scalar
from ..implicit.derived import Captured
from ..implicit.parameters import Parameters, controls
from ..implicit.solver_operator import Form, in_programs, refuse
from ..systems.linear import as_real

OSCILLATING = {"cos": cos, "sin": sin}


class Integrand:
    """A user's function of a number and of tensors, which returns a tuple of one tensor."""

    def __init__(self, f: Callable[..., Any], scalar: Scalar) -> None:
        self.f, self.scalar, self.closure = f, scalar, scalar.closure

    def __call__(self, x: Any, *params: Any) -> tuple[Tensor, ...]:
        """Return the value of the user's function at ``x``, in a tuple."""
        return (reshape(as_real(self.f(x, *params), "quad"), ()),)

    def require_same(self, params: Sequence[Tensor]) -> None:
        """Raise if the value of the function at a known point has changed."""
        if self.scalar.met is None:
            return
        x, before, with_grad = self.scalar.met
        with grad_mode(with_grad):  # SciPy's functions inside may answer otherwise than numgrad's
            now = self(x, *params)[0].detach().numpy()
        if not np.allclose(now, before, np.sqrt(np.finfo(float).eps), 0.0, equal_nan=True):
            raise InplaceError(
                f"{self.closure.what}: the function has changed since it was integrated: what it "
                "closes over has been written, or it returns other numbers at each call. Pass "
                "arrays in args, which are kept as they were, or call backward before they are "
                "written"
            )


class Pulled:
    """The integrand of a derivative: the cotangents of the parameters and closed-over tensors of
    another integrand, as functions of these parameters and of the cotangents of its values."""

    def __init__(self, integrand: "Integrand | Pulled", count: int, batched: bool) -> None:
        self.integrand, self.closure = integrand, integrand.closure
        self.count, self.batched = count, batched

    def __call__(self, x: Any, *given: Any) -> tuple[Tensor, ...]:
        """Return the cotangents at ``x``; ``given`` are the parameters, then the cotangents of the
        values."""
        params, g = given[: self.count], given[self.count :]
        moves = isinstance(x, Tensor)
        at = Met(self.integrand, (x, *params), range(not moves, 1 + self.count), self.closure)
        return tuple(at.pulled([as_tensor(w) for w in g], self.batched)[int(moves) :])

    def require_same(self, params: Sequence[Tensor]) -> None:
        """Do nothing: the function of the user has been checked."""


class Rule:
    """The options with which SciPy integrates, and whether derivatives are captured."""

    def __init__(self, options: dict[str, Any], jit: bool) -> None:
        self.options, self.jit = options, jit

    def integrals(
        self, integrand: Pulled, limits: Sequence[float], given: Sequence[Tensor], shapes: Any
    ) -> list[np.ndarray]:
        """Return the integrals of all elements of an integrand, which is evaluated once at each
        point."""
        known: dict[float, np.ndarray] = {}
        f = Captured(integrand, self.jit, "quad")
        params = [p.detach().numpy() for p in given]

        def at(x: float) -> np.ndarray:
            if x not in known:
                known[x] = np.concatenate([np.ravel(part) for part in f(x, *params)])
            return known[x]

        sizes = [int(np.prod(shape)) for shape in shapes]
        found = [self._integral(at, n, limits) for n in range(sum(sizes))]
        self._require_converged(found)
        parts = np.split(np.array([value for value, *_ in found]), np.cumsum(sizes)[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def _integral(self, at: Callable[[float], np.ndarray], n: int, limits: Any) -> Any:
        from scipy.integrate import quad

        return quad(lambda x: at(x)[n], *limits, **(self.options | {"full_output": 1}))

    def _require_converged(self, found: Sequence[Any]) -> None:
        """Raise for the integral of a derivative that has not converged and is not good to half of
        the digits."""
        most = np.sqrt(np.finfo(float).eps) * max([abs(value) for value, *_ in found], default=0.0)
        for _, error, _, *message in found:
            if message and not error <= most:
                raise ConvergenceError(
                    f"quad: the integral of the derivative has not converged, its error is about "
                    f"{error:.1e}: {message[0]}"
                )

    def weight(self, x: Tensor) -> Any:
        """Return the weight at a limit that is differentiated by."""
        kind = self.options.get("weight")
        if kind is None:
            return 1.0
        if kind not in OSCILLATING:
            raise NotDifferentiableError(
                f"quad: with weight={kind!r} no gradient flows to the limits, where the weight may "
                f"be infinite; detach them, or substitute so that they are numbers"
            )
        return OSCILLATING[kind](self.options["wvar"] * x)


class Integral(Function):
    """Known integrals, as functions of the limits, of parameters, and of tensors that the integrand
    closes over."""

    takes_batch = True

    @staticmethod
    def forward(
        ctx: Any, rule: Rule, f: Any, values: Any, count: int, a: Tensor, b: Tensor, *given: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.rule, ctx.f, ctx.count = rule, f, count
        ctx.ndims = [value.ndim for value in values]
        ctx.save_for_backward(a, b, *given[:count])
        return tuple(tensor(value) for value in values)

    @staticmethod
    def backward(ctx: Any, *g: Tensor) -> Any:
        a, b, *params = ctx.saved_tensors
        rule, f, limits = ctx.rule, ctx.f, [x.detach().item() for x in (a, b)]
        f.require_same(params)
        needs = ctx.needs_input_grad
        ends = [
            _boundary(rule, f, x, params, g, ctx.ndims) if need and np.isfinite(at) else None
            for x, at, need in zip((a, b), limits, needs[4:6], strict=True)
        ]
        ends[0] = None if ends[0] is None else -ends[0]
        if not any(needs[6:]):
            return None, None, None, None, *ends, *[None] * len(needs[6:])
        batch = g[0].shape[: g[0].ndim - ctx.ndims[0]]
        derived = Pulled(f, ctx.count, bool(batch))
        sources = [*params, *f.closure.tensors]
        shapes = [(*batch, *source.shape) for source in sources]
        given = [*params, *g]
        with no_grad():
            values = rule.integrals(derived, limits, given, shapes)
        values = [v.astype(s.dtype, copy=False) for v, s in zip(values, sources, strict=True)]
        found = Integral.apply(rule, derived, values, len(given), a, b, *given, *f.closure.tensors)
        return None, None, None, None, *ends, *found


def _boundary(
    rule: Rule, f: Any, x: Tensor, params: Sequence[Tensor], g: Sequence[Tensor], ndims: list[int]
) -> Tensor:
    """Return the products of cotangents, which may have an axis for a batch, with the integrand at
    a limit."""
    parts = [
        _sum(w * value, axis=tuple(range(-ndim, 0))) if ndim else w * value
        for w, value, ndim in zip(g, f(x, *params), ndims, strict=True)
    ]
    return rule.weight(x) * sum(parts[1:], parts[0])


def _shapes(given: dict[str, Any]) -> list[tuple[int, ...]]:
    refuse("quad", {name: given[name] for name in ("full_output", "complex_func")})
    return [(), ()]


@in_programs(Form(lambda found: found, _shapes, lambda given, value, error: (value, error)))
def quad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    full_output: int = 0,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
    weight: str | None = None,
    wvar: Any = None,
    wopts: Any = None,
    maxp1: int = 50,
    limlst: int = 50,
    complex_func: bool = False,
    *,
    jit: bool = True,
) -> Any:
    """Integrate a function of one variable, by `scipy.integrate.quad`.

    Parameters
    ----------
    func : callable
        ``func(x, *args)`` returns one number; ``x`` is a number, too.
    a, b : number or Tensor
        The limits. The integral is differentiable with respect to finite ones.
    args : tuple
        Of anything; the integral is differentiable with respect to the tensors in it, and to those
        that `func` closes over.
    full_output, epsabs, epsrel, limit, points, weight, wvar, wopts, maxp1, limlst, complex_func
        As in SciPy. They hold for the integrals of derivatives, too.
    jit : bool
        Whether the derivative of `func` is captured by `numgrad.jit` where it can be.

    Returns
    -------
    value : Tensor or float
        A tensor if a limit or one of `args` is, or if `func` returns one.
    abserr : float
        SciPy's estimate of the error.
    infodict, ... : dict and more
        With `full_output`, what SciPy returns besides.

    Raises
    ------
    ConvergenceError
        At the backward pass, if the integral of a derivative does not converge.
    NotDifferentiableError
        If a gradient is wanted with ``complex_func``; at the backward pass, of a limit with the
        weights ``"alg"``, ``"alg-loga"``, ``"alg-logb"``, ``"alg-log"``, ``"cauchy"``.
    InplaceError
        At the backward pass, if what `func` closes over has been written.
    CaptureError
        In a captured or mapped function, for tensors of other dtypes than float64, and for what is
        known only when the solver has run.

    Notes
    -----
    .. math::

        \\frac{d}{dp} \\int_a^b f(x, p)\\,dx
            = \\int_a^b f_p(x, p)\\,dx + f(b, p)\\,b_p - f(a, p)\\,a_p

    The integral on the right is found by the same rule, element by element, with one evaluation of
    the gradient at each point, and to the same tolerances: its error is theirs. It is a function of
    the same kind, so derivatives of any order are.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> rate = ng.tensor(2.0, requires_grad=True)
    >>> value, _ = ng.interop.scipy.quad(lambda x: np.exp(-rate * x), 0.0, np.inf)
    >>> round(value.item(), 6), round(ng.grad(value, rate)[0].item(), 6)  # 1/rate, -1/rate**2
    (0.5, -0.25)
    """
    parameters = Parameters(args, "quad")
    options = controls(
        {"epsabs": epsabs, "epsrel": epsrel, "limit": limit, "points": points, "weight": weight,
         "wvar": wvar, "wopts": wopts, "maxp1": maxp1, "limlst": limlst},
        "quad",
    )  # fmt: skip
    scalar = Scalar(func, parameters.closure)
    kinds = {"full_output": full_output, "complex_func": complex_func}
    value, *others = _integrated(scalar, a, b, parameters, **kinds, **options)
    ends = [x for x in (a, b) if isinstance(x, Tensor)]
    if not (ends or parameters.has_tensors or scalar.returns_tensors):
        return value, *others
    if not (parameters.want_grad or (mode.grad and any(x.requires_grad for x in ends))):
        return tensor(value), *others
    if complex_func:
        raise NotDifferentiableError(
            "quad: with complex_func=True no gradient flows; integrate real and imaginary part by "
            "themselves"
        )
    integrand = Integrand(parameters.over(func), scalar)
    (found,) = Integral.apply(
        Rule(options, jit), integrand, [np.array(value)], len(parameters.tensors),
        as_real(a, "quad"), as_real(b, "quad"), *parameters.sources,
    )  # fmt: skip
    return found, *others


def _integrated(
    scalar: Scalar, a: Any, b: Any, parameters: Parameters, **options: Any
) -> tuple[Any, ...]:
    """Return what SciPy finds for numbers."""
    from scipy import integrate

    numbers = parameters.args([leaf.detach() for leaf in parameters.tensors])
    return integrate.quad(scalar, real_number(a, "a"), real_number(b, "b"), numbers, **options)
