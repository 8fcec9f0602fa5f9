"""Kinks: points at which a slope is a convention, and so has no derivative of its own."""

import numpy as np

from .arithmetic import builtin, multiply, where


@builtin(conditions=(0,))
def at_kink(condition, slope):
    """A slope, and 0 at a kink. There its derivative does not exist: it is NaN, in both modes and
    at any order, as 0 times infinity would be."""
    return where(condition, 0.0, slope)


at_kink.reads(lambda needs: (True, False, False))


@at_kink.pullback
def at_kink_pullback(context, g):
    # A product, whose derivatives are NaN as well: `where` would choose the other side.
    return None, multiply(g, where(context.input(0), np.asarray(np.nan, g.dtype), 1.0))


@builtin(conditions=(0,))
def creased(condition, x):
    """A value, unchanged, with its slope; where it has a crease, no further derivatives exist."""
    return x


@creased.partial("x")
def creased_dx(condition, x):
    return 1 + at_kink(condition, where(condition, x, 0.0))
