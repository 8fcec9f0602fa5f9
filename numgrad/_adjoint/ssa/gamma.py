"""The logarithmic derivatives of the gamma function, in loops that Numba compiles."""

import math
from typing import Any

from numba.extending import register_jitable

# The Bernoulli numbers B(2), B(4), ... of the series for large arguments.
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
)  # fmt: skip
_LARGE = 16.0


@register_jitable
def polygamma(n: int, x: Any) -> float:
    """Return the derivative of order ``n + 1`` of ``lgamma``."""
    if n == 0:
        return _digamma(x)
    factorial = math.gamma(n + 1.0)
    sign = 1.0 if n % 2 else -1.0
    total = 0.0
    shift = n + math.fabs(_LARGE)
    while x < shift:
        total += factorial / x ** (n + 1)
        x += 1.0
    total += factorial / n / x**n + 0.5 * factorial / x ** (n + 1)
    term = factorial * (n + 1) / 2 / x ** (n + 2)  # (2k + n - 1)! / (2k)! / x**(2k + n)
    for k in range(len(_BERNOULLI)):
        total += _BERNOULLI[k] * term
        m = 2 * k + 2
        term *= (m + n) * (m + n + 1) / (m + 1) / (m + 2) / (x * x)
    return sign * total


@register_jitable
def _digamma(x: Any) -> float:
    total = 0.0
    while x < _LARGE:
        total -= 1.0 / x
        x += 1.0
    power = 1.0 / (x * x)
    term = power
    for k in range(len(_BERNOULLI)):
        total -= _BERNOULLI[k] * term / (2 * k + 2)
        term *= power
    return total + math.log(x) - 0.5 / x
