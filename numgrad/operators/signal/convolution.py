"""Products of a sequence with a shorter one that slides along it."""

import numpy as np

from ..._declare import KernelOperator, constant
from ..._declare.partial import conjugate
from ..shape.joining import concat
from ..shape.reshape import flip

BLOCK = 1024  # results that stay in the cache while the shorter sequence slides over them


def sliding_products(a, v, like, out):
    """Sums of ``a[k + j] * v[j]`` for every place of the shorter ``v``; ``like`` has as many
    elements as there are places, which are not read."""
    for start in range(0, out.size, BLOCK):
        part = out[start : start + BLOCK]
        for k in range(part.size):
            part[k] = 0
        for j in range(v.size):
            factor, window = v[j], a[start + j : start + j + part.size]
            for k in range(part.size):
                part[k] += factor * window[k]


slide = KernelOperator(sliding_products, "(n),(m),(p)->(p)", name="slide")


slide.reads(lambda needs: (needs[1], needs[0], False, False))


@slide.pullback
def slide_pullback(context, g):
    a, v = (spec.shape[-1] for spec in context.input_specs[:2])
    ga = gv = None
    if context.wanted[0]:
        reverse = flip(conjugate(context.input(1)), axes=(-1,))
        ga = slide(widened(g, v - 1, v - 1), reverse, places(a))
    if context.wanted[1]:
        gv = slide(conjugate(context.input(0)), g, places(v))
    return ga, gv, None


def places(count):
    """Return what tells `slide` how many places there are."""
    return constant(np.zeros(count, np.int8))


def widened(x, left, right, axis=-1):
    """Return ``x`` with zeros at the two ends of an axis, one of the last two."""
    before, behind = (_zeros(x, n, axis) for n in (left, right))
    return concat(*[*before, x, *behind], axis=axis) if left or right else x


def _zeros(x, count, axis):
    core = (count, *x.shape[axis + 1 :]) if axis < -1 else (count,)
    shape = (*(1,) * (len(x.shape) + axis), *core)
    return [constant(np.zeros(shape, x.dtype))] if count else []
