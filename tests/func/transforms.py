"""Each transform of ``ng.func`` as a function from a scalar function and a point to one number, and
the same for polynomials."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import numgrad as ng
from tests.func.polynomials import Polynomial

F = ng.func
C = np.array([0.5, -1.25])
V = np.array([1.5, 0.75])
M = np.array([[0.5, 2.0], [-1.0, 0.25]])


class Reduction(NamedTuple):
    """A transform, brought down to one number.

    Attributes
    ----------
    program
        Takes a scalar function of a vector of two, and the vector.
    formula
        Takes a polynomial, and the numbers of the two variables.
    """

    program: Callable[[Callable[[Any], Any], Any], Any]
    formula: Callable[[Polynomial, list[int]], Polynomial]


def _pair(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function of two outputs, ``(f(x), x0 f(x))``."""

    def pair(x: Any) -> Any:
        value = f(x)
        return ng.stack([value, x[0] * value])

    return pair


def _pair_formula(p: Polynomial, x: list[int]) -> list[Polynomial]:
    return [p, Polynomial.variable(x[0]) * p]


def _dot(p: Polynomial, x: list[int], weights: Any) -> Polynomial:
    return sum(
        (p.derivative(n) * float(c) for n, c in zip(x, weights, strict=True)), Polynomial({})
    )


def _jacobian_formula(p: Polynomial, x: list[int]) -> Polynomial:
    rows = zip(_pair_formula(p, x), M, strict=True)
    return sum((_dot(row, x, weights) for row, weights in rows), Polynomial({}))


def _hessian_formula(p: Polynomial, x: list[int]) -> Polynomial:
    return sum(
        (_dot(p.derivative(n), x, weights) for n, weights in zip(x, M, strict=True)),
        Polynomial({}),
    )


def _value_and_grad(f: Callable[[Any], Any], x: Any) -> Any:
    value, gradient = F.value_and_grad(f)(x)
    return value * (C * gradient).sum()


def _grad_and_value(f: Callable[[Any], Any], x: Any) -> Any:
    gradient, value = F.grad_and_value(f)(x)
    return value * (C * gradient).sum()


def _vjp(f: Callable[[Any], Any], x: Any) -> Any:
    values, pull = F.vjp(_pair(f), x)
    (gradient,) = pull(V)
    return values[0] * (C * gradient).sum()


def _vjp_formula(p: Polynomial, x: list[int]) -> Polynomial:
    first, second = _pair_formula(p, x)
    return p * _dot(first * V[0] + second * V[1], x, C)


def _jvp(f: Callable[[Any], Any], x: Any) -> Any:
    value, tangent = F.jvp(f, (x,), (V,))
    return value * tangent


def _hvp(f: Callable[[Any], Any], x: Any) -> Any:
    value, (product,) = F.hvp(f, (x,), (V,))
    return value * (C * product).sum()


def _inner(x: Any) -> Any:
    """Return a value in the graph of a tensor, or a leaf for an array."""
    return x * 1.0 if isinstance(x, ng.Tensor) else ng.tensor(x, requires_grad=True)


def _tape(f: Callable[[Any], Any], x: Any) -> Any:
    inner = _inner(x)
    (gradient,) = ng.grad(f(inner), inner, create_graph=True)
    return (C * gradient).sum()


def _backward(f: Callable[[Any], Any], x: Any) -> Any:
    inner = _inner(x)
    if not inner.is_leaf:  # whose .grad a batched pass further out would have to batch
        return _tape(f, inner)
    ng.backward(f(inner), inputs=[inner], create_graph=True)
    return (C * inner.grad).sum()


def _aux(transform: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reduction that uses the auxiliary value alone: the output does not depend on
    anything but the argument."""

    def reduced(f: Callable[[Any], Any], x: Any) -> Any:
        def with_aux(x: Any) -> Any:
            return (x * x).sum(), {"value": f(x), "name": "aux"}

        return transform(with_aux, x)["value"]

    return reduced


def _itself(p: Polynomial, x: list[int]) -> Polynomial:
    return p


REDUCTIONS = {
    "grad": Reduction(lambda f, x: (C * F.grad(f)(x)).sum(), lambda p, x: _dot(p, x, C)),
    "value_and_grad": Reduction(_value_and_grad, lambda p, x: p * _dot(p, x, C)),
    "grad_and_value": Reduction(_grad_and_value, lambda p, x: p * _dot(p, x, C)),
    "vjp": Reduction(_vjp, _vjp_formula),
    "jvp": Reduction(_jvp, lambda p, x: p * _dot(p, x, V)),
    "jacrev": Reduction(lambda f, x: (M * F.jacrev(_pair(f))(x)).sum(), _jacobian_formula),
    "jacfwd": Reduction(lambda f, x: (M * F.jacfwd(_pair(f))(x)).sum(), _jacobian_formula),
    "jacobian": Reduction(lambda f, x: (M * F.jacobian(_pair(f))(x)).sum(), _jacobian_formula),
    "hessian": Reduction(lambda f, x: (M * F.hessian(f)(x)).sum(), _hessian_formula),
    "hvp": Reduction(_hvp, lambda p, x: p * _dot(_dot(p, x, V), x, C)),
}

TAPES = {
    "tape": Reduction(_tape, lambda p, x: _dot(p, x, C)),
    "backward": Reduction(_backward, lambda p, x: _dot(p, x, C)),
}

AUX = {
    "grad": Reduction(_aux(lambda f, x: F.grad(f, has_aux=True)(x)[1]), _itself),
    "value_and_grad": Reduction(
        _aux(lambda f, x: F.value_and_grad(f, has_aux=True)(x)[0][1]), _itself
    ),
    "vjp": Reduction(_aux(lambda f, x: F.vjp(f, x, has_aux=True)[2]), _itself),
    "jvp": Reduction(_aux(lambda f, x: F.jvp(f, (x,), (V,), has_aux=True)[2]), _itself),
    "jacrev": Reduction(_aux(lambda f, x: F.jacrev(f, has_aux=True)(x)[1]), _itself),
    "jacfwd": Reduction(_aux(lambda f, x: F.jacfwd(f, has_aux=True)(x)[1]), _itself),
}
