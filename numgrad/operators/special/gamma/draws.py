"""Draws of gamma distributions as functions of their shape, by the implicit function theorem."""

from ...._declare import elementwise
from ...elementwise.arithmetic import multiply


@elementwise(complex=False)
def gamma_draw(a, x):
    """A draw ``x`` of the gamma distribution of shape ``a``: as ``a`` moves, the value moves so
    that its probability ``gammainc(a, x)`` stays (Figurnov, Mohamed and Mnih 2018)."""
    return x


gamma_draw.reads(lambda needs: (True, False, True))


@gamma_draw.pullback
def gamma_draw_pullback(context, g):
    from .gamma import gamma_slope  # one of many that are made when they are needed

    a, y = context.input(0), context.output()
    return multiply(g, gamma_slope(a, y)), None
