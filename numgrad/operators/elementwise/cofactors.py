"""Cotangents that are multiples of a value with a kink at 0, such as that of ``y`` in ``y**2``.

Such a function may be smooth where ``y`` is not: the square of a norm is a sum of squares. Its
derivative is the other factor times what ``y`` times its slope is, which is smooth too. So where
a pass is recorded, the graph of the cotangent is looked at for the factor ``y``.
"""

from typing import Any

import numpy as np

from ..._declare import constant, registry
from .arithmetic import add, multiply, reciprocal, subtract, where
from .kinks import at_kink

MOST = 64
"""Operations that are looked at."""


def smooth(context: Any, x: Any, g: Any, product: Any, usual: Any) -> Any:
    """Return the gradient of a value with a kink whose cotangent is a multiple of the value; None
    if it is not known to be.

    Parameters
    ----------
    x, g : value
        What is 0 at the kink, and the cotangent.
    product : callable
        Returns the gradient for the other factor.
    usual : callable
        Returns it away from the kink, for ``x`` with 1 in the place of 0.
    """
    if not context.create_graph:
        return None
    found = _Search(context).cofactor(g)
    if found is None:
        return None
    is_kink = registry["equal"](x, 0)
    return where(is_kink, product(found), usual(where(is_kink, 1.0, x)))


class _Search:
    """The walk through the graph of a cotangent, from its end."""

    def __init__(self, context: Any) -> None:
        self.context, self.left = type(context), MOST
        self.edge, self.size = (context.node, 0), int(np.prod(context.output_specs[0].shape))

    def cofactor(self, value: Any) -> Any:
        """Return what ``y``, with axes of size 1 perhaps, is multiplied with; None if it is no
        factor. Elements stay in their order, so that it is the same place of both."""
        edge = value.edge
        self.left -= 1
        if edge.node is None or self.left < 0 or int(np.prod(value.shape)) != self.size:
            return None
        if edge == self.edge:
            return constant(np.ones(value.shape, value.dtype))
        node = edge.node
        if node.is_accumulator or node.number < self.edge[0].number or node.saved is None:
            return None
        rule = _RULES.get(node.operator.name)
        if rule is None or node.operator is not registry.get(node.operator.name):
            return None
        return rule(self, self.context(node, node.unpack(), (True,) * len(node.inputs), True))

    def of(self, at: Any, n: int) -> Any:
        """Return it of an operand of an operation."""
        return self.cofactor(_Operand(at, n))


class _Operand:
    """The place of an operand in the graph; its numbers need not have been kept."""

    def __init__(self, at: Any, n: int) -> None:
        self.edge, spec = at.node.edge(n), at.node.inputs[n]
        self.shape, self.dtype = spec.shape, spec.dtype


def _product(search: _Search, at: Any) -> Any:
    for n in (1, 0):
        found = search.of(at, n)
        if found is not None:
            return multiply(at.input(1 - n), found)
    return None


def _quotient(search: _Search, at: Any) -> Any:
    found = search.of(at, 0)
    return None if found is None else multiply(found, reciprocal(at.input(1)))


def _both(operator: Any) -> Any:
    def rule(search: _Search, at: Any) -> Any:
        first, second = search.of(at, 0), search.of(at, 1)
        return None if first is None or second is None else operator(first, second)

    return rule


def _alike(search: _Search, at: Any) -> Any:
    found = search.of(at, 0)
    return None if found is None else at.node.operator(found, **at.static)


def _square(search: _Search, at: Any) -> Any:
    found = search.of(at, 0)
    return None if found is None else multiply(at.input(0), found)


def _cube(search: _Search, at: Any) -> Any:
    found = search.of(at, 0)
    return None if found is None else multiply(registry["square"](at.input(0)), found)


def _power(search: _Search, at: Any) -> Any:
    """Return it of a power."""
    return _lower(search, at, 1.0)


def _power_slope(search: _Search, at: Any) -> Any:
    """Return it of the slope of a power, which is a lower power times the exponent."""
    found = _lower(search, at, 2.0)
    return None if found is None else multiply(at.input(1), found)


def _lower_power(search: _Search, at: Any) -> Any:
    """Return it of a power whose exponent is a difference."""
    return _lower(search, at, add(at.input(2), 1.0))


def _lower(search: _Search, at: Any, k: Any) -> Any:
    """Return it of a power that is the first input times ``input(0) ** (input(1) - k)``; that has a
    kink itself where the exponent is below 0."""
    found = search.of(at, 0)
    if found is None:
        return None
    exponent = subtract(at.input(1), k)
    is_below = registry["less"](exponent, 0.0)
    power = registry["pow"](at.input(0), where(is_below, 1.0, exponent))
    return at_kink(is_below, multiply(power, found))


_RULES: dict[str, Any] = {
    "multiply": _product,
    "divide": _quotient,
    "negative": _alike,
    "add": _both(add),
    "subtract": _both(subtract),
    "expand_dims": _alike,
    "squeeze": _alike,
    "copy": _alike,
    "square": _square,
    "cube": _cube,
    "pow": _power,
    "base_slope": _power_slope,
    "lower_power": _lower_power,
}
