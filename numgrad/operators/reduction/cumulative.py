"""Cumulative sums, products and extrema along one axis, the last one by default.

The derivatives of products are recurrences, never quotients, so zeros do no harm at any order: with
``h[i] = a[i] h[i-1] + b[i]`` everything here is differentiated in terms of everything here.
"""

import numpy as np

from ..._declare import constant
from ..._declare.partial import conjugate
from ..elementwise.arithmetic import add, multiply
from ..elementwise.selection import share
from ..shape.indexing import index
from ..shape.joining import concat
from ..shape.reshape import flip
from . import cumulative_columns as columns
from .scan import scan


def shifted_right(value, axis=-1, first=0.0):
    """Return ``value`` moved by one along an axis, with a number in front."""
    if not value.shape[axis]:
        return value
    return concat(_beside(value, axis, first), _part(value, axis, None, -1), axis=axis)


def shifted_left(value, axis=-1):
    """Return ``value`` moved by one along an axis, with a zero at the end."""
    if not value.shape[axis]:
        return value
    return concat(_part(value, axis, 1, None), _beside(value, axis, 0), axis=axis)


def _part(value, axis, start, stop):
    return index(value, key=((start, stop, None), *((None,),) * (-axis - 1)))


def _beside(value, axis, number):
    """Return an array of one number that can be joined to ``value`` along an axis."""
    ndim = len(value.shape)
    shape = (*(1,) * (ndim + axis + 1), *value.shape[ndim + axis + 1 :])
    return constant(np.full(shape, number, value.dtype))


def _axis(context):
    return context.static.get("axis", -1)


# Sums ---------------------------------------------------------------------------------------------


@scan(columns.cumulative_sum)
def cumulative_sum(x, out):
    """Sums of the elements so far."""
    total = out.dtype.type(0)
    for i in range(x.size):
        total += x[i]
        out[i] = total


@scan(columns.cumulative_sum_reversed)
def cumulative_sum_reversed(x, out):
    """Sums of the elements from each one on."""
    total = out.dtype.type(0)
    for i in range(x.size - 1, -1, -1):
        total += x[i]
        out[i] = total


@cumulative_sum.pullback
def cumulative_sum_pullback(context, g):
    return cumulative_sum_reversed(g, **context.static)


@cumulative_sum_reversed.pullback
def cumulative_sum_reversed_pullback(context, g):
    return cumulative_sum(g, **context.static)


# Recurrences --------------------------------------------------------------------------------------


@scan(columns.recurrence, "(n),(n)->(n)")
def recurrence(a, b, out):
    """The solution of ``h[i] = a[i] h[i-1] + b[i]``, zero before the first element."""
    h = out.dtype.type(0)
    for i in range(b.size):
        h = b[i] if i == 0 else a[i] * h + b[i]
        out[i] = h


@scan(columns.recurrence_reversed, "(n),(n)->(n)")
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
    gb = recurrence_reversed(conjugate(context.input(0)), g, **context.static)
    if not context.wanted[0]:
        return None, gb
    return multiply(gb, conjugate(shifted_right(context.output(), _axis(context)))), gb


@recurrence_reversed.pullback
def recurrence_reversed_pullback(context, g):
    gb = recurrence(conjugate(context.input(0)), g, **context.static)
    if not context.wanted[0]:
        return None, gb
    return multiply(shifted_right(gb, _axis(context)), conjugate(context.output())), gb


# Products -----------------------------------------------------------------------------------------


@scan(columns.cumulative_prod)
def cumulative_prod(x, out):
    """Products of the elements so far."""
    product = out.dtype.type(1)
    for i in range(x.size):
        product *= x[i]
        out[i] = product


@scan(columns.products_before)
def products_before(x, out):
    """Products of the elements before each one."""
    product = out.dtype.type(1)
    for i in range(x.size):
        out[i] = product
        product *= x[i]


@scan()
def exclusive_prod(x, out):
    """Products of all other elements: those before each one, times those behind it. Both are found
    in one loop, from the two ends on, as a product waits for the one before."""
    half, last = x.size // 2, x.size - 1
    before = behind = out.dtype.type(1)
    for i in range(half):
        out[i] = before
        before *= x[i]
        out[last - i] = behind
        behind *= x[last - i]
    if half + half < x.size:
        out[half] = before * behind
        before *= x[half]
        behind *= x[half]
    for i in range(x.size - half, x.size):
        out[i] = before * out[i]
        before *= x[i]
        out[last - i] *= behind
        behind *= x[last - i]


@cumulative_prod.reads
@products_before.reads
@exclusive_prod.reads
def product_reads(needs):
    return True, False


@cumulative_prod.pullback
def cumulative_prod_pullback(context, g):
    x = conjugate(context.input(0))
    static = context.static
    return multiply(recurrence_reversed(x, g, **static), products_before(x, **static))


@products_before.pullback
def products_before_pullback(context, g):
    return _before_gradient(conjugate(context.input(0)), g, context.static)


def _before_gradient(x, g, static):
    later = shifted_left(g, static.get("axis", -1))
    return multiply(recurrence_reversed(x, later, **static), products_before(x, **static))


@exclusive_prod.pullback
def exclusive_prod_pullback(context, g):
    """Differentiate the products before each element times those behind it."""
    x = conjugate(context.input(0))
    static, axes = context.static, (_axis(context),)
    mirrored = flip(x, axes=axes)
    behind = flip(products_before(mirrored, **static), axes=axes)
    gx = _before_gradient(x, multiply(g, behind), static)
    before = products_before(x, **static)
    other = _before_gradient(mirrored, flip(multiply(g, before), axes=axes), static)
    return add(gx, flip(other, axes=axes))


# Extrema ------------------------------------------------------------------------------------------


@scan(columns.running_max)
def running_max(x, out):
    """The largest of the elements so far; NaN from the first NaN on."""
    top = out.dtype.type(0)
    for i in range(x.size):
        if i == 0 or x[i] > top or x[i] != x[i]:
            top = x[i]
        out[i] = top


@scan(columns.running_min)
def running_min(x, out):
    """The smallest of the elements so far; NaN from the first NaN on."""
    top = out.dtype.type(0)
    for i in range(x.size):
        if i == 0 or x[i] < top or x[i] != x[i]:
            top = x[i]
        out[i] = top


running_max.reads(lambda needs: (True, True))
running_min.reads(lambda needs: (True, True))


@running_max.pullback
def running_max_pullback(context, g):
    """Share each cotangent between the element and the result before, as `maximum` does."""
    x, before, one = _beside_results(context)
    total = restarting_sum_reversed(share(one, before, x), g, **context.static)
    return share(total, x, before)


@running_min.pullback
def running_min_pullback(context, g):
    """Share each cotangent between the element and the result before, as `minimum` does."""
    x, before, one = _beside_results(context)
    total = restarting_sum_reversed(share(one, x, before), g, **context.static)
    return share(total, before, x)


def _beside_results(context):
    """Return the elements, the result before each, and the number 1. Beside a NaN the first element
    keeps its whole cotangent."""
    x = context.input(0)
    one = constant(np.ones((1,) * len(x.shape), x.dtype))
    return x, shifted_right(context.output(), _axis(context), np.nan), one


@scan(columns.restarting_sum, "(n),(n)->(n)")
def restarting_sum(a, b, out):
    """The solution of ``h[i] = a[i] h[i-1] + b[i]``, where a factor 0 begins a new sum, even after
    an infinite one."""
    h = out.dtype.type(0)
    for i in range(b.size):
        h = b[i] if i == 0 or a[i] == 0 else a[i] * h + b[i]
        out[i] = h


@scan(columns.restarting_sum_reversed, "(n),(n)->(n)")
def restarting_sum_reversed(a, b, out):
    """The solution of ``h[i] = a[i+1] h[i+1] + b[i]``, where a factor 0 begins a new sum, even
    after an infinite one."""
    last = b.size - 1
    h = out.dtype.type(0)
    for i in range(last, -1, -1):
        h = b[i] if i == last or a[i + 1] == 0 else a[i + 1] * h + b[i]
        out[i] = h


@restarting_sum.reads
@restarting_sum_reversed.reads
def restarting_sum_reads(needs):
    return True, False, False


@restarting_sum.pullback
def restarting_sum_pullback(context, g):
    """Return the derivative by the terms: the factors are chosen, and have none."""
    return None, restarting_sum_reversed(context.input(0), g, **context.static)


@restarting_sum_reversed.pullback
def restarting_sum_reversed_pullback(context, g):
    """Return the derivative by the terms: the factors are chosen, and have none."""
    return None, restarting_sum(context.input(0), g, **context.static)
