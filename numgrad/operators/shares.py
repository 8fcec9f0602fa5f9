"""Slopes of shares of exponentials, in which nothing is taken from 1.

What `softmax` and its kin compute is one thing, how they are differentiated another: an operator
here hands a value on, and has its derivative with respect to the exponents. The share of the largest
exponent may be all but 1; what it lacks, and all that stands in for it, is a sum over the others.
"""

import numpy as np

from .._declare import Structural
from .comparison import equal
from .elementwise import add, divide, multiply, subtract, where
from .reduction import max as largest_of
from .reduction import sum as sum_of
from .shape import expand_dims


def _differentiated(name):
    """Return an operator of exponents, a value that was computed from them, and what its derivative
    reads; it returns the value."""
    return Structural(
        name,
        infer=lambda specs, *, axes: [(specs[1].shape, specs[1].dtype)],
        run=lambda arrays, *, axes: arrays[1],
        lower=lambda builder, inputs, specs, *, axes: [inputs[1].view(np.asarray)],
        memory_order=lambda operands, static: operands[1:2],
    )


of_shares = _differentiated("of_shares")
of_log_shares = _differentiated("of_log_shares")
of_logsumexp = _differentiated("of_logsumexp")

of_shares.reads(lambda needs: (True, False, True))
for _operator in (of_log_shares, of_logsumexp):
    _operator.reads(lambda needs: (True, False, True, True, False))


def total(value, axes):
    return expand_dims(sum_of(value, axes=axes), axes=axes)


def _ties(x, axes):
    """Return where the largest exponents are, and how many of them."""
    is_largest = equal(x, expand_dims(largest_of(x, axes=axes), axes=axes))
    return is_largest, total(where(is_largest, np.ones((), x.dtype), 0.0), axes)


def _shares(context, axes):
    x, powers, whole = (context.input(n) for n in (0, 2, 3))
    return of_shares(x, divide(powers, whole), axes=axes)


@of_shares.pullback
def of_shares_pullback(context, g):
    """Cotangents count from that of the largest share, whose own part then is the others'."""
    axes = context.static["axes"]
    y = context.output()
    is_largest, count = _ties(context.input(0), axes)
    beyond = subtract(g, divide(total(where(is_largest, g, 0.0), axes), count))
    return multiply(y, subtract(beyond, total(multiply(y, beyond), axes))), None


@of_log_shares.pullback
def of_log_shares_pullback(context, g):
    axes = context.static["axes"]
    shares = _shares(context, axes)
    is_largest, count = _ties(context.input(0), axes)
    largest, others = where(is_largest, g, 0.0), where(is_largest, 0.0, g)
    of_largest, of_others = total(largest, axes), total(others, axes)
    rest = total(where(is_largest, 0.0, shares), axes)
    whole = total(where(is_largest, shares, 0.0), axes)
    moved = subtract(multiply(rest, of_largest), multiply(whole, of_others))
    at_largest = add(subtract(g, divide(of_largest, count)), divide(moved, count))
    elsewhere = subtract(g, multiply(shares, add(of_largest, of_others)))
    return where(is_largest, at_largest, elsewhere), None, None, None


@of_logsumexp.pullback
def of_logsumexp_pullback(context, g):
    axes = context.static["axes"]
    return multiply(expand_dims(g, axes=axes), _shares(context, axes)), None, None, None
