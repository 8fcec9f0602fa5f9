"""Slopes of shares of exponentials, in which nothing is taken from 1.

What `softmax` and its kin compute is one thing, how they are differentiated another: an operator
here hands a value on, and has its derivative with respect to the exponents. A share may be all but
1: what it lacks, and what goes to its exponent, is a sum over the others.
"""

import numpy as np

from ..._declare import StructuralOperator
from ..elementwise.arithmetic import divide, multiply, subtract, where
from ..elementwise.comparison import greater
from ..reduction.reductions import sum as sum_of
from ..shape.reshape import expand_dims


def _differentiated(name):
    """Return an operator of exponents, a value that was computed from them, and what its derivative
    reads; it returns the value."""
    return StructuralOperator(
        name,
        infer=lambda specs, *, axes: [(specs[1].shape, specs[1].dtype)],
        run=lambda arrays, *, axes: arrays[1],
        lower=lambda builder, inputs, specs, *, axes: [inputs[1].view(np.asarray)],
        memory_order=lambda operands, static: operands[1:2],
    )


of_shares = _differentiated("of_shares")
of_log_shares = _differentiated("of_log_shares")
of_logsumexp = _differentiated("of_logsumexp")

of_shares.reads(lambda needs: (False, False, True))
for _operator in (of_log_shares, of_logsumexp):
    _operator.reads(lambda needs: (True, False, True, True, False))


def total(value, axes):
    return expand_dims(sum_of(value, axes=axes), axes=axes)


def _shares(context, axes):
    x, powers, whole = (context.input(n) for n in (0, 2, 3))
    return of_shares(x, divide(powers, whole), axes=axes)


# At most one share is above a half. Below, what is left of 1 has digits.


@of_shares.pullback
def of_shares_pullback(context, g):
    """Cotangents count from that of the share above a half, whose own part is then the others'."""
    axes, y = context.static["axes"], context.output()
    most = total(where(greater(y, 0.5), g, 0.0), axes)
    beyond = subtract(g, most)
    return multiply(y, subtract(beyond, total(multiply(y, beyond), axes))), None


@of_log_shares.pullback
def of_log_shares_pullback(context, g):
    """The sum of the gradient is 0: so what goes to the share above a half is minus the others'."""
    axes = context.static["axes"]
    shares = _shares(context, axes)
    is_most = greater(shares, 0.5)
    others = where(is_most, 0.0, subtract(g, multiply(shares, total(g, axes))))
    return subtract(others, where(is_most, total(others, axes), 0.0)), None, None, None


@of_logsumexp.pullback
def of_logsumexp_pullback(context, g):
    axes = context.static["axes"]
    return multiply(expand_dims(g, axes=axes), _shares(context, axes)), None, None, None
