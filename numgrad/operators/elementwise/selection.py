"""Elementwise operators that choose one of their arguments: maximum, minimum, clip."""

import math

import numpy as np

from .arithmetic import builtin, where
from .comparison import greater, isnan, less, less_equal, logical_and, logical_not, logical_or


@builtin(complex=False)
def share(g, x1, x2):
    """The part of a cotangent ``g`` of ``maximum(x1, x2)`` that ``x1`` receives: half at a tie."""
    return where(x1 < x2, 0.0, where(x1 == x2, 0.5 * g, g))


share.reads(lambda needs: (False, True, True, False))


@share.pullback
def share_pullback(context, g):
    return share(g, context.input(1), context.input(2)), None, None


@builtin(numpy=np.maximum, complex=False)
def maximum(x1, x2):
    return max(x1, x2)


@builtin(numpy=np.minimum, complex=False)
def minimum(x1, x2):
    return min(x1, x2)


@builtin(numpy=np.fmax, complex=False)
def fmax(x1, x2):
    return where(x1 == x1, where(x2 == x2, max(x1, x2), x1), x2)  # x == x: not NaN


@builtin(numpy=np.fmin, complex=False)
def fmin(x1, x2):
    return where(x1 == x1, where(x2 == x2, min(x1, x2), x1), x2)


@maximum.reads
@minimum.reads
@fmax.reads
@fmin.reads
def choice_reads(needs):
    return True, True, False


@maximum.pullback
def maximum_pullback(context, g):
    x1, x2 = context.input(0), context.input(1)
    want1, want2 = context.wanted
    return share(g, x1, x2) if want1 else None, share(g, x2, x1) if want2 else None


@minimum.pullback
def minimum_pullback(context, g):
    x1, x2 = context.input(0), context.input(1)
    want1, want2 = context.wanted
    return share(g, x2, x1) if want1 else None, share(g, x1, x2) if want2 else None


@fmax.pullback
def fmax_pullback(context, g):
    return present_share(context, *maximum_pullback(context, g))


@fmin.pullback
def fmin_pullback(context, g):
    return present_share(context, *minimum_pullback(context, g))


def present_share(context, g1, g2):
    """Cotangents of the arguments, zero for a NaN beside a number."""
    nan1, nan2 = isnan(context.input(0)), isnan(context.input(1))
    return (
        None if g1 is None else where(logical_and(nan1, logical_not(nan2)), 0.0, g1),
        None if g2 is None else where(nan2, 0.0, g2),
    )


@builtin(numpy=np.clip, complex=False)
def clip(x, low, high):
    return min(max(x, low), high)


clip.reads(lambda needs: (True, True, True, False))


@clip.pullback
def clip_pullback(context, g):
    x, low, high = (context.input(n) for n in range(3))
    want, want_low, want_high = context.wanted
    inside = logical_and(less_equal(low, x), less_equal(x, high))
    below = logical_and(less(x, low), less(low, high))
    above = logical_or(greater(x, high), greater(low, high))
    return (
        where(inside, g, 0.0) if want else None,
        where(below, g, 0.0) if want_low else None,
        where(above, g, 0.0) if want_high else None,
    )


@builtin(complex=False)
def copysign(x1, x2):
    return math.copysign(x1, x2)


@copysign.partial("x1")
def copysign_dx1(x1, x2):
    return where(x1 == 0, 0.0, math.copysign(1.0, x1) * math.copysign(1.0, x2))


@copysign.partial("x2")
def copysign_dx2():
    return 0
