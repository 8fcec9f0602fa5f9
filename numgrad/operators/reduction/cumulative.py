"""Cumulative sums and products along the last axis.

The derivatives of products are recurrences, never quotients, so zeros do no harm at any order: with
``h[i] = a[i] h[i-1] + b[i]`` everything here is differentiated in terms of everything here.
"""

import numpy as np

from ..._declare import KeepsOrder, KernelOperator, constant
from ..._declare.partial import conjugate
from ...ir.dtypes import FLOATING
from ...ir.memory_order import laid_like
from ..elementwise.arithmetic import add, multiply
from ..shape.indexing import index
from ..shape.joining import concat
from ..shape.reshape import flip


class Scan(KeepsOrder, KernelOperator):
    """A kernel operator along the last axis; results have the dtype of its first input."""

    def result_dtypes(self, dtypes):
        return [dtypes[0]] * self.nout

    def computation(self, target, inputs, static):
        if any(x.dtype not in FLOATING for x in inputs):
            return None  # they are converted before
        ufunc = target.kernel(self.spec(tuple(x.dtype for x in inputs))).ufunc

        def compute(*arrays):
            return laid_like(ufunc(*map(np.ascontiguousarray, arrays)), arrays[0])

        return compute, ufunc


def scan(signature="(n)->(n)"):
    """Declare a `Scan` from a core function."""
    return lambda function: Scan(function, signature)


def shifted_right(value):
    """Return ``value`` moved by one along the last axis, with a zero in front."""
    if not value.shape[-1]:
        return value
    return concat(_zero(value), index(value, key=((None, -1, None),)), axis=-1)


def shifted_left(value):
    """Return ``value`` moved by one along the last axis, with a zero at the end."""
    if not value.shape[-1]:
        return value
    return concat(index(value, key=((1, None, None),)), _zero(value), axis=-1)


def _zero(value):
    return constant(np.zeros((1,) * len(value.shape), value.dtype))


# Sums ---------------------------------------------------------------------------------------------


@scan()
def cumulative_sum(x, out):
    """Sums of the elements so far."""
    total = out.dtype.type(0)
    for i in range(x.size):
        total += x[i]
        out[i] = total


@scan()
def cumulative_sum_reversed(x, out):
    """Sums of the elements from each one on."""
    total = out.dtype.type(0)
    for i in range(x.size - 1, -1, -1):
        total += x[i]
        out[i] = total


@cumulative_sum.pullback
def cumulative_sum_pullback(context, g):
    return cumulative_sum_reversed(g)


@cumulative_sum_reversed.pullback
def cumulative_sum_reversed_pullback(context, g):
    return cumulative_sum(g)


# Recurrences --------------------------------------------------------------------------------------


@scan("(n),(n)->(n)")
def recurrence(a, b, out):
    """The solution of ``h[i] = a[i] h[i-1] + b[i]``, zero before the first element."""
    h = out.dtype.type(0)
    for i in range(b.size):
        h = b[i] if i == 0 else a[i] * h + b[i]
        out[i] = h


@scan("(n),(n)->(n)")
def recurrence_reversed(a, b, out):
    """The solution of ``h[i] = a[i+1] h[i+1] + b[i]``, zero behind the last element."""
    last = b.size - 1
    h = out.dtype.type(0)
    for i in range(last, -1, -1):
        h = b[i] if i == last else a[i + 1] * h + b[i]
        out[i] = h


@recurrence.reads
@recurrence_reversed.reads
def recurrence_reads(needs):
    return any(needs), False, needs[0]


@recurrence.pullback
def recurrence_pullback(context, g):
    gb = recurrence_reversed(conjugate(context.input(0)), g)
    if not context.wanted[0]:
        return None, gb
    return multiply(gb, conjugate(shifted_right(context.output()))), gb


@recurrence_reversed.pullback
def recurrence_reversed_pullback(context, g):
    gb = recurrence(conjugate(context.input(0)), g)
    if not context.wanted[0]:
        return None, gb
    return multiply(shifted_right(gb), conjugate(context.output())), gb


# Products -----------------------------------------------------------------------------------------


@scan()
def cumulative_prod(x, out):
    """Products of the elements so far."""
    product = out.dtype.type(1)
    for i in range(x.size):
        product *= x[i]
        out[i] = product


@scan()
def products_before(x, out):
    """Products of the elements before each one."""
    product = out.dtype.type(1)
    for i in range(x.size):
        out[i] = product
        product *= x[i]


@scan()
def exclusive_prod(x, out):
    """Products of all other elements."""
    product = out.dtype.type(1)
    for i in range(x.size):
        out[i] = product
        product *= x[i]
    product = out.dtype.type(1)
    for i in range(x.size - 1, -1, -1):
        out[i] *= product
        product *= x[i]


@cumulative_prod.reads
@products_before.reads
@exclusive_prod.reads
def product_reads(needs):
    return True, False


@cumulative_prod.pullback
def cumulative_prod_pullback(context, g):
    x = conjugate(context.input(0))
    return multiply(recurrence_reversed(x, g), products_before(x))


@products_before.pullback
def products_before_pullback(context, g):
    return _before_gradient(conjugate(context.input(0)), g)


def _before_gradient(x, g):
    return multiply(recurrence_reversed(x, shifted_left(g)), products_before(x))


@exclusive_prod.pullback
def exclusive_prod_pullback(context, g):
    """Differentiate the products before each element times those behind it."""
    x = conjugate(context.input(0))
    mirrored = flip(x, axes=(-1,))
    behind = flip(products_before(mirrored), axes=(-1,))
    gx = _before_gradient(x, multiply(g, behind))
    other = _before_gradient(mirrored, flip(multiply(g, products_before(x)), axes=(-1,)))
    return add(gx, flip(other, axes=(-1,)))
