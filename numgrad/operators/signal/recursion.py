"""Filters that feed back what they gave, along the last axis.

With them and `slide` every rational filter is made; the adjoint of one is the same filter, run
backwards in time.
"""

from typing import Any

from ..._declare import KeepsOrder, KernelOperator
from ..._declare.partial import conjugate
from ..elementwise.arithmetic import add, negative, subtract
from ..shape.indexing import index
from ..shape.reshape import flip
from .convolution import places, slide, widened


class Recursion(KeepsOrder, KernelOperator):
    """The operator of equations of differences; the first coefficient must not be 0."""


def _all_pole(u, a, y):
    """Solve ``a[0] y[k] + a[1] y[k-1] + ... = u[k]``, with zeros before the first element."""
    is_monic = a[0] == 1
    for k in range(u.size):
        total = u[k]
        for i in range(min(a.size - 1, k), 0, -1):  # what is known for longest comes first
            total -= a[i] * y[k - i]
        y[k] = total if is_monic else total / a[0]


all_pole = Recursion(_all_pole, "(n),(p)->(n)", name="all_pole")

all_pole.reads(lambda needs: (False, any(needs), needs[1]))


@all_pole.pullback
def all_pole_pullback(context: Any, g: Any) -> tuple[Any, Any]:
    """Solve backwards in time; a coefficient gets the products with the outputs that it met."""
    a = conjugate(context.input(1))
    gu = flip(all_pole(flip(g, axes=(-1,)), a), axes=(-1,))
    if not context.wanted[1]:
        return gu, None
    p = a.shape[-1]
    before = widened(conjugate(context.output()), p - 1, 0)
    return gu, negative(flip(slide(before, gu, places(p)), axes=(-1,)))


def convolved(x: Any, b: Any, behind: int) -> Any:
    """Return the first sums of products of a sequence with a shorter one, ``behind`` more than it
    has elements."""
    p, n = b.shape[-1], x.shape[-1]
    return slide(widened(x, p - 1, behind), flip(b, axes=(-1,)), places(n + behind))


def last(x: Any, count: int) -> Any:
    """Return the last elements of a sequence, after zeros where it is too short."""
    missing = max(count - x.shape[-1], 0)
    if missing:
        return widened(x, missing, 0)
    return index(x, key=((x.shape[-1] - count, None, None),))


def filtered(b: Any, a: Any, x: Any, state: Any) -> tuple[Any, Any]:
    """Filter sequences by as many coefficients of both kinds, from a state that is one shorter.

    The state is what products with earlier elements give to the next outputs, before the division
    by ``a[0]``; without one it is None, and so is that which is returned.
    """
    n, order = x.shape[-1], b.shape[-1] - 1
    u = convolved(x, b, 0)
    if state is None or not order:
        return all_pole(u, a), state
    begin = widened(state, 0, max(n - order, 0))
    y = all_pole(add(u, index(begin, key=((None, n, None),))), a)
    coming = [convolved(last(s, order), c, order) for s, c in ((x, b), (y, a))]
    rest = [index(s, key=((order, None, None),)) for s in coming]
    final = subtract(rest[0], rest[1])
    if n < order:
        kept = widened(index(state, key=((n, None, None),)), 0, n)
        final = add(final, kept)
    return y, final
