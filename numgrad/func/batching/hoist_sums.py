"""Replace a sum of products over samples by one product of larger matrices.

The gradient of a matrix that all samples share is such a sum, with a product for each sample. One
product of larger matrices takes no memory for each sample. The *leading axes* are the first axes of
a value, here the axes of samples.
"""

from math import prod
from typing import Any, NamedTuple

from ..._declare import registry
from .batch_expressions import applied, apply_by_name

_RANKS = {"permute_dims": "axes", "expand_dims": "axes", "squeeze": "axes", "reshape": "ncore"}


class Axes(NamedTuple):
    """The axes of a value that are summed: the last ``number`` of its ``lead`` leading axes."""

    lead: int
    number: int

    def of(self, value: Any) -> tuple[int, ...]:
        """Return the axes of a value that are summed, as negative numbers."""
        core = len(value.shape) - self.lead
        return tuple(range(-core - self.number, -core))


def hoisted_sum(value: Any, lead: int, count: int) -> Any:
    """Return the sum of a value over the last ``count`` of its ``lead`` leading axes.

    The summed axes remain, with length 1.
    """
    axes = Axes(lead, count)
    total = _total(value, axes)
    return apply_by_name("expand_dims", total, axes=axes.of(value))


def _total(value: Any, axes: Axes) -> Any:
    """Return the sum of a value over ``axes``, without these axes.

    If the value is itself a sum of terms, each term is summed alone.
    """
    total = None
    for term in _terms(value):
        part = _part(term, axes)
        total = part if total is None else apply_by_name("add", total, part)
    return total


def _terms(value: Any) -> list[Any]:
    """Return the terms that add up to a value, in order: the value alone if it is no sum.

    Operands of an addition are terms only if they have the shape of the value.
    """
    found, waiting = [], [value]
    while waiting:
        term = waiting.pop()
        operands = _operands(term, "add")
        if operands and all(x.shape == term.shape for x in operands):
            waiting += reversed(operands)
        else:
            found.append(term)
    return found


def _operands(value: Any, name: str) -> Any:
    """Return the operands of the operation that made a value, if its operator has the given name.

    Return None if it has another name, or if the value is computed.
    """
    is_it = value.array is None and value.expr.operator is registry[name]
    return value.expr.inputs if is_it else None


def _part(value: Any, axes: Axes) -> Any:
    product = _operands(value, "matmul")
    if product and all(_is_batch_of_matrices(x, value, axes.lead) for x in product):
        return _product(product[0], product[1], axes.number)
    for name, parameter in _RANKS.items():
        operands = _operands(value, name)
        if operands and _keeps_leading_axes(
            operands[0], value, value.expr.static[parameter], axes.lead
        ):
            total = _total(operands[0], axes)
            return applied(value.expr.operator, value.expr.static, [total])[0]
    return apply_by_name("sum", value, axes=axes.of(value))


def _is_batch_of_matrices(x: Any, value: Any, lead: int) -> bool:
    """Whether ``x``, a factor of the product ``value``, has a matrix for each element of the
    leading axes."""
    return len(x.shape) == lead + 2 and x.shape[:lead] == value.shape[:lead]


def _keeps_leading_axes(x: Any, value: Any, axes: Any, lead: int) -> bool:
    """Whether an operator that makes ``value`` of ``x`` leaves the ``lead`` leading axes as they
    are.

    ``axes`` has the negative numbers of the axes on which the operator works, counted where there
    are more of them; or it is an int, if the operator works on so many of the last axes of ``x``.
    """
    if x.shape[:lead] != value.shape[:lead]:
        return False
    if isinstance(axes, int):
        return lead + axes <= len(x.shape)
    reach = max([-axis for axis in axes], default=0)
    return lead + reach <= max(len(x.shape), len(value.shape))


def _product(a: Any, b: Any, count: int) -> Any:
    """Return the sum of ``a @ b`` over ``count`` leading axes, as one product of larger matrices.
    """
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    total = k * prod(b.shape[-count - 2 : -2])
    axes = (-2, *range(-count - 2, -2), -1)
    turned = apply_by_name("permute_dims", a, axes=axes)
    first = apply_by_name("reshape", turned, ncore=count + 2, shape=(m, total))
    second = apply_by_name("reshape", b, ncore=count + 2, shape=(total, n))
    return apply_by_name("matmul", first, second)
