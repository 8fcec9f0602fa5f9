"""Elementwise operators: selection, arithmetic, absolute value and sign."""

import functools

import numpy as np

from ..._declare import elementwise
from ..._declare.partial import conjugate

builtin = functools.partial(elementwise, register=True)


# A scalar function may call ``where``, a select without a branch, if its module has the name.


@builtin(conditions=(0,), numpy=np.where)
def where(condition, x1, x2):
    return where(condition, x1, x2)


where.gives_scalars = False  # as in NumPy, an array without axes


where.reads(lambda needs: (True, False, False, False))


@where.pullback
def where_pullback(context, g):
    # Selected, not multiplied with 0 or 1: 0 times an infinite cotangent would be NaN.
    condition = context.input(0)
    _, want1, want2 = context.wanted
    return (
        None,
        where(condition, g, 0.0) if want1 else None,
        where(condition, 0.0, g) if want2 else None,
    )


@builtin(numpy=np.copy)
def copy(x):
    return x


copy.gives_scalars = False  # as in NumPy, an array without axes


@copy.partial("x")
def copy_dx():
    return 1


@builtin(numpy=np.add)
def add(x1, x2):
    return x1 + x2


@add.partial("x1")
@add.partial("x2")
def add_slope():
    return 1


@builtin(numpy=np.subtract)
def subtract(x1, x2):
    return x1 - x2


@subtract.partial("x1")
def subtract_dx1():
    return 1


@subtract.partial("x2")
def subtract_dx2():
    return -1


@builtin(numpy=np.multiply)
def multiply(x1, x2):
    return x1 * x2


@multiply.partial("x1")
def multiply_dx1(x2):
    return x2


@multiply.partial("x2")
def multiply_dx2(x1):
    return x1


@builtin(numpy=np.negative)
def negative(x):
    return -x


@negative.partial("x")
def negative_dx():
    return -1


@builtin
def divide(x1, x2):
    return x1 / x2


divide.reads(lambda needs: (False, True, needs[1]))


@divide.pullback
def divide_pullback(context, g):
    # Made of the reciprocal, which is computed once for both and for all quotients by x2. Nothing
    # but the cotangent depends on the rows of a batch: one multiplication per row for each.
    want1, want2 = context.wanted
    r = reciprocal(context.input(1))
    return (
        multiply(g, conjugate(r)) if want1 else None,
        multiply(g, conjugate(quotient_slope(context.output(), r))) if want2 else None,
    )


@builtin
def quotient_slope(y, r):
    """The slope of a quotient ``y`` in its denominator, the reciprocal of which is ``r``."""
    return where(y == 0, 0.0, y * -r)  # 0 also where the reciprocal of a tiny number is infinite


@quotient_slope.partial("y")
def quotient_slope_dy(r):
    return -r


@quotient_slope.partial("r")
def quotient_slope_dr(y):
    return -y


def complex_reciprocal(x):
    return complex(1.0, -0.0) / x  # the zero's sign is such that the result's is NumPy's


@builtin(complex=complex_reciprocal)
def reciprocal(x):
    return 1 / x


@reciprocal.partial("x")
def reciprocal_dx(y):
    return -y * y


# ``absolute``, because a global ``abs`` would hide the builtin from the scalar functions below.


@builtin(name="abs", numpy=np.abs, result="real")
def absolute(x):
    return abs(x)


@builtin(numpy=np.sign, complex=False)
def sign(x):
    return where(x > 0, 1.0, where(x < 0, -1.0, where(x == 0, 0.0, x)))


@sign.partial("x")
def sign_dx():
    return 0
