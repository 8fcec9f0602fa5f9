"""Reductions along axes."""

import math

import numpy as np

from ..._declare import Blocks, elementwise, reduction
from ..._declare.partial import conjugate
from ...ir import pairwise
from ...ir.pairwise import BLOCK, LEAF, max_all, min_all, sum_all
from ..elementwise.arithmetic import divide, multiply, where
from ..elementwise.cast import cast
from ..elementwise.comparison import equal
from ..elementwise.double_double import sum_rest
from ..shape.axis_layout import axes_last, axes_restored
from ..shape.reshape import broadcast, expand_dims, squeeze
from . import integer_kernels
from .cumulative import exclusive_prod

ZERO, ONE, TWO, THREE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
FOUR, STEP = np.uint64(4), np.uint64(BLOCK)  # unsigned, which spares Python's negative indexing


def calling(core):
    """Return a core function that calls another one, for which targets have code of their own."""

    def reduce(x, out):
        core(x, out)

    return reduce


def by_halves(name):
    """Return the options of a reduction by halves, see `numgrad.ir.pairwise`: the bits depend
    on the order of the elements alone, and blocks and leaves may be reduced apart. Those of
    integers do not depend on any order."""
    return {
        "integers": integer_kernels.WHOLE[name],
        "integer_columns": integer_kernels.COLUMNS[name],
        "columns": calling(pairwise.REDUCE_ROWS[name]),
        "groups": calling(pairwise.REDUCE_ROW_GROUPS[name]),
        "matrix": calling(pairwise.REDUCE_MATRIX[name]),
        "blocks": Blocks(BLOCK, calling(pairwise.JOIN[name])),
        "column_blocks": Blocks(LEAF, calling(pairwise.JOIN_ROWS[name])),
    }


# Sums ---------------------------------------------------------------------------------------------


@reduction(numpy=np.sum, **by_halves("sum"))
def sum(x, out):
    """Sum in blocks of fixed size, so that the bits do not depend on how the work is cut."""
    sum_all(x, out)


@sum.pullback
def sum_pullback(context, g):
    axes = context.static["axes"]
    if not axes:
        return g
    shape = context.input_specs[0].shape
    return broadcast(expand_dims(g, axes=axes), sizes=shape[axes[0] :])


def sum_to(value, shape):
    """Sum over the axes along which ``shape`` was broadcast to the shape of ``value``."""
    ndim = len(value.shape)
    lead = ndim - len(shape)
    dropped = tuple(n - ndim for n in range(lead) if value.shape[n] == 1)
    axes = tuple(
        n - ndim for n in range(ndim) if value.shape[n] != 1 and (n < lead or shape[n - lead] == 1)
    )
    result = sum(value, axes=axes) if axes else value
    kept = tuple(a for a in axes if a >= -len(shape))
    result = expand_dims(result, axes=kept) if kept else result
    if not dropped:
        return result
    first = len(result.shape) - len(shape)  # what is left of the leading axes has size 1
    return squeeze(result, axes=tuple(range(-first - len(shape), -len(shape))))


# Products -----------------------------------------------------------------------------------------


def block_product(x, start, stop):
    """Multiply in four lanes, then what fills no row of lanes."""
    a = b = c = d = x.dtype.type(1)
    rest = start + (stop - start) // FOUR * FOUR
    for i in range(start, rest, FOUR):
        a *= x[i]
        b *= x[i + ONE]
        c *= x[i + TWO]
        d *= x[i + THREE]
    product = (a * b) * (c * d)
    for i in range(rest, stop):
        product *= x[i]
    return product


def join_products(parts, out):
    """Multiply the products of blocks."""
    product = out.dtype.type(1)
    for i in range(np.uint64(parts.size)):
        product *= parts[i]
    out[0] = product


def prod_row_groups(x, out):
    """Multiply the rows of all matrices of a stack; each column has the bits of `prod`."""
    rows, inner, columns = x.shape[0] * x.shape[1], x.shape[1], x.shape[2]
    out[:] = 1
    for start in range(0, rows, BLOCK):
        stop = start + BLOCK if start + BLOCK < rows else rows
        rest = start + (stop - start) // 4 * 4
        lanes = np.ones((4, columns), x.dtype)
        for i in range(start, rest):
            row, lane = x[i // inner, i % inner], lanes[(i - start) % 4]
            for j in range(columns):
                lane[j] *= row[j]
        for j in range(columns):
            lanes[0, j] = (lanes[0, j] * lanes[1, j]) * (lanes[2, j] * lanes[3, j])
        for i in range(rest, stop):
            row = x[i // inner, i % inner]
            for j in range(columns):
                lanes[0, j] *= row[j]
        for j in range(columns):
            out[j] *= lanes[0, j]


@reduction(numpy=np.prod, groups=prod_row_groups, blocks=Blocks(BLOCK, join_products))
def prod(x, out):
    """Multiply in blocks of fixed size, as `sum` adds."""
    n = np.uint64(x.size)
    product = out.dtype.type(1)
    for start in range(ZERO, n, STEP):
        stop = start + STEP
        product *= block_product(x, start, stop if stop < n else n)
    out[0] = product


prod.reads(lambda needs: (True, False))


@prod.pullback
def prod_pullback(context, g):
    axes = context.static["axes"]
    if not axes:
        return g
    x = conjugate(context.input(0))
    others = axes_restored(exclusive_prod(axes_last(x, axes)), axes, x.shape)
    return multiply(expand_dims(g, axes=axes), others)


# Extrema ------------------------------------------------------------------------------------------


@reduction(numpy=np.max, complex=False, empty=False, **by_halves("max"))
def max(x, out):
    """The largest element; NaN if there is one."""
    max_all(x, out)


@reduction(numpy=np.min, complex=False, empty=False, **by_halves("min"))
def min(x, out):
    """The smallest element; NaN if there is one."""
    min_all(x, out)


def extremum_pullback(context, g):
    """Give even parts to ties, and NaN to all where the extremum is NaN, which equals nothing."""
    axes = context.static["axes"]
    if not axes:
        return g
    x = context.input(0)
    ties = cast(equal(x, expand_dims(context.output(), axes=axes)), x.dtype)
    return multiply(expand_dims(divide(g, sum(ties, axes=axes)), axes=axes), ties)


for extremum in (max, min):
    extremum.reads(lambda needs: (True, True))
    extremum.pullback(extremum_pullback)


# Exponentials -------------------------------------------------------------------------------------


@elementwise(complex=False, register=True)
def shifted_exp(x, shift):
    """The exponential of ``x - shift``, 1 where both are the same infinity. What rounding takes
    from the difference is made good."""
    y, rest = math.exp(x - shift), sum_rest(x, -shift)
    return where(x == shift, 1.0, where((abs(rest) < 1) & (y < math.inf), y + y * rest, y))


@shifted_exp.partial("x")
def shifted_exp_dx(y):
    return y


@shifted_exp.partial("shift")
def shifted_exp_dshift(y):
    return -y
