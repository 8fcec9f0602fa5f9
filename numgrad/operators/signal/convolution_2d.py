"""Products of an array with a smaller one that slides over its last two axes."""

from ..._declare import KernelOperator
from ..._declare.partial import conjugate
from ..shape.reshape import flip
from .convolution import places, widened


def plane_products(a, v, like, out):
    """Sums of ``a[k + i, m + j] * v[i, j]`` for every place of the smaller ``v``; ``like`` has as
    many elements as there are places, which are not read."""
    height, width = out.shape
    for k in range(height):
        row = out[k]
        for m in range(width):
            row[m] = 0
        for i in range(v.shape[0]):
            for j in range(v.shape[1]):
                factor, window = v[i, j], a[k + i, j : j + width]
                for m in range(width):
                    row[m] += factor * window[m]


slide_plane = KernelOperator(plane_products, "(n,m),(p,q),(r,s)->(r,s)", name="slide_plane")


slide_plane.reads(lambda needs: (needs[1], needs[0], False, False))


@slide_plane.pullback
def slide_plane_pullback(context, g):
    a, v = (spec.shape[-2:] for spec in context.input_specs[:2])
    ga = gv = None
    if context.wanted[0]:
        reverse = flip(conjugate(context.input(1)), axes=(-2, -1))
        around = widened(widened(g, v[0] - 1, v[0] - 1, -2), v[1] - 1, v[1] - 1)
        ga = slide_plane(around, reverse, places(a))
    if context.wanted[1]:
        gv = slide_plane(conjugate(context.input(0)), g, places(v))
    return ga, gv, None
