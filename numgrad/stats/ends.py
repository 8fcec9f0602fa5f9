"""Quantiles at the probabilities 0 and 1, where their formulas have no slopes.

The slopes there are limits from inside: to the probability one over the density, infinite where the
support has no end; to a shape parameter that of the end, or of the tail.
"""

import math
from collections.abc import Callable

from .. import special as sp
from .._tensor import Tensor
from ..functions.array.operands import as_tensors
from ..functions.elementwise.exponential import exp, log, log1p
from ..functions.elementwise.powers import sqrt
from ..functions.elementwise.trigonometric import tan
from ..functions.shape.selection import clip, where
from .distribution import INF, power_of_zero
from .formulas import power_ratio

Quantile = Callable[[Tensor], Tensor]


def at_end(q: Tensor, end: float, limit: Tensor, inside: Quantile) -> Tensor:
    """Return ``limit`` where ``q`` is an end, 0 or 1, and the formula ``inside`` elsewhere."""
    is_end = q == end
    return where(is_end, limit, inside(where(is_end, 0.5, q)))


def near(p: Tensor) -> Tensor:
    """Return 0 where the share ``p`` is 0, with an infinite slope: an end without density."""
    return power_of_zero(p, as_tensors(0.5)[0])


def far(p: Tensor, factor: Tensor | float = 1.0) -> Tensor:
    """Return infinity where the share ``p`` beyond is 0, with infinite slopes: it falls with ``p``
    and grows with a positive factor."""
    return where(p == 0, INF, 1.0) * factor - near(p)


def lognorm_ppf(q: Tensor, s: Tensor) -> Tensor:
    return at_end(q, 0.0, near(q), lambda q: exp(s * sp.ndtri(q)))


def lognorm_isf(q: Tensor, s: Tensor) -> Tensor:
    return at_end(q, 1.0, near(1.0 - q), lambda q: exp(-s * sp.ndtri(q)))


def gamma_ppf(q: Tensor, a: Tensor) -> Tensor:
    return at_end(q, 1.0, far(1.0 - q, a), lambda q: sp.gammaincinv(a, q))


def gamma_isf(q: Tensor, a: Tensor) -> Tensor:
    return at_end(q, 0.0, far(q, a), lambda q: sp.gammainccinv(a, q))


def invgamma_ppf(q: Tensor, a: Tensor) -> Tensor:
    def inside(q: Tensor) -> Tensor:
        return at_end(q, 1.0, far(1.0 - q, 1.0 / a), lambda q: 1.0 / sp.gammainccinv(a, q))

    return at_end(q, 0.0, near(q), inside)


def invgamma_isf(q: Tensor, a: Tensor) -> Tensor:
    def inside(q: Tensor) -> Tensor:
        return at_end(q, 0.0, far(q, 1.0 / a), lambda q: 1.0 / sp.gammaincinv(a, q))

    return at_end(q, 1.0, near(1.0 - q), inside)


def t_ppf(q: Tensor, df: Tensor) -> Tensor:
    wide = 1.0 / clip(df, None, 1e200)

    def inside(q: Tensor) -> Tensor:
        return at_end(q, 1.0, far(1.0 - q, wide), lambda q: sp.stdtrit(df, q))

    return at_end(q, 0.0, -far(q, wide), inside)


def f_ppf(q: Tensor, n: Tensor, m: Tensor) -> Tensor:
    return at_end(q, 1.0, f_tail(1.0 - q, n, m), lambda q: sp.fdtri(n, m, q))


def f_isf(q: Tensor, n: Tensor, m: Tensor) -> Tensor:
    def inside(q: Tensor) -> Tensor:
        return at_end(q, 1.0, f_start(1.0 - q, n, m), lambda q: 1.0 / sp.fdtri(m, n, q))

    return at_end(q, 0.0, f_tail(q, n, m), inside)


def f_tail(p: Tensor, n: Tensor, m: Tensor) -> Tensor:
    """Return infinity, with the slopes of the quantile where little is beyond: ``p**(-2 / m)``
    times a factor, from the slope of which that to ``n`` has the sign."""
    drift = (sp.psi(0.5 * (n + m)) - sp.psi(0.5 * n)) / m - 1.0 / n
    return far(p, exp(drift.detach() * (n - n.detach())) / m)


def f_start(p: Tensor, n: Tensor, m: Tensor) -> Tensor:
    """Return what the quantile is like where little is below."""
    power = 2.0 / n
    return m / n * exp(power * (log(0.5 * n) + sp.betaln(0.5 * n, 0.5 * m))) * p**power


def halfcauchy_isf(q: Tensor) -> Tensor:
    low = q < 0.5
    angle = math.pi / 2 * where(low, q, 1.0 - q)  # from the nearer end, exactly
    return where(low, 1.0 / tan(where(low, angle, 1.0)), tan(angle))


def gumbel_r_ppf(q: Tensor) -> Tensor:
    return at_end(q, 0.0, -far(q), lambda q: -log(0.0 - log(q)))  # 0 is positive where q is 1


def gumbel_r_isf(q: Tensor) -> Tensor:
    return at_end(q, 1.0, -far(1.0 - q), lambda q: -log(-log1p(-q)))


def weibull_min_ppf(q: Tensor, c: Tensor) -> Tensor:
    return at_end(q, 1.0, far(1.0 - q, 1.0 / c), lambda q: (-log1p(-q)) ** (1.0 / c))


def weibull_min_isf(q: Tensor, c: Tensor) -> Tensor:
    return at_end(q, 0.0, far(q, 1.0 / c), lambda q: (-log(q)) ** (1.0 / c))


def triang_ppf(q: Tensor, c: Tensor) -> Tensor:
    rising = (q < c) | (c == 1)
    share, side = where(rising, q, 1.0 - q), where(rising, c, 1.0 - c)
    is_end = share == 0
    root = sqrt(where(is_end, 0.5, side * share))
    root = where(is_end, sqrt(where(is_end, side, 0.5)) * near(share), root)
    return where(rising, root, 1.0 - root)


def rayleigh_ppf(q: Tensor) -> Tensor:
    return at_end(q, 1.0, far(1.0 - q), lambda q: sqrt(-2.0 * log1p(-q)))


def rayleigh_isf(q: Tensor) -> Tensor:
    return at_end(q, 0.0, far(q), lambda q: sqrt(2.0 * (0.0 - log(q))))


def skewnorm_high(p: Tensor, a: Tensor) -> Tensor:
    """Return infinity: a tail that is not thin does not change with ``a``; where ``a`` is 0, it
    begins to."""
    thin = 1.0 / (1.0 - where(a < 0, a, 0.0))
    return far(p, thin) + math.sqrt(2 / math.pi) * where(a == 0, a, 0.0)


def gumbel_l_ppf(q: Tensor) -> Tensor:
    return at_end(q, 1.0, far(1.0 - q), lambda q: log(-log1p(-q)))


def gumbel_l_isf(q: Tensor) -> Tensor:
    return at_end(q, 0.0, far(q), lambda q: log(0.0 - log(q)))  # 0 is positive where q is 1


def genextreme_ppf(q: Tensor, c: Tensor) -> Tensor:
    def inside(q: Tensor) -> Tensor:
        high = genextreme_high(1.0 - q, 0.0 - log(q), c)
        return at_end(q, 1.0, high, lambda q: power_ratio(-log(-log(q)), -c))

    return at_end(q, 0.0, genextreme_low(q, c), inside)


def genextreme_isf(q: Tensor, c: Tensor) -> Tensor:
    def inside(q: Tensor) -> Tensor:
        high = genextreme_high(q, 0.0 - log1p(-q), c)
        return at_end(q, 0.0, high, lambda q: power_ratio(-log(-log1p(-q)), -c))

    return at_end(q, 1.0, genextreme_low(1.0 - q, c), inside)


def genextreme_high(p: Tensor, w: Tensor, c: Tensor) -> Tensor:
    """Return the upper end; ``p`` is the share beyond, ``w`` is ``-log(1 - p)``."""
    ends = c > 0
    power, beyond = where(ends, c, 1.0), where(ends, 1.0, p)
    return where(ends, (1.0 - w**power) / power, far(beyond, 1.0 - where(ends, 0.0, c)))


def genextreme_low(p: Tensor, c: Tensor) -> Tensor:
    """Return the lower end; ``p`` is the share below."""
    ends = c < 0
    far_out = where((p == 0) & ~ends, INF, 1.0) * (1.0 + where(ends, 0.0, c))
    return where(ends, 1.0 / where(ends, c, 1.0), -far_out) + near(p)


def genpareto_ppf(q: Tensor, c: Tensor) -> Tensor:
    return at_end(q, 1.0, genpareto_high(1.0 - q, c), lambda q: power_ratio(-log1p(-q), c))


def genpareto_isf(q: Tensor, c: Tensor) -> Tensor:
    return at_end(q, 0.0, genpareto_high(q, c), lambda q: power_ratio(-log(q), c))


def genpareto_high(p: Tensor, c: Tensor) -> Tensor:
    """Return the upper end; ``p`` is the share beyond."""
    ends = c < 0
    power, beyond = where(ends, -c, 1.0), where(ends, 1.0, p)
    return where(ends, (1.0 - p**power) / power, far(beyond, 1.0 + where(ends, 0.0, c)))


def fisk_ppf(q: Tensor, c: Tensor) -> Tensor:
    return at_end(q, 0.0, q ** (1.0 / c), lambda q: exp(sp.logit(q) / c))


def fisk_isf(q: Tensor, c: Tensor) -> Tensor:
    return at_end(q, 1.0, (1.0 - q) ** (1.0 / c), lambda q: exp(-sp.logit(q) / c))


def gompertz_ppf(q: Tensor, c: Tensor) -> Tensor:
    return at_end(q, 1.0, far(1.0 - q) - log(c), lambda q: log1p(-log1p(-q) / c))


def gompertz_isf(q: Tensor, c: Tensor) -> Tensor:
    return at_end(q, 0.0, far(q) - log(c), lambda q: log1p(-log(q) / c))
