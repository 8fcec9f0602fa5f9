"""Operators for random programs, declared as users do, and the same functions in NumPy."""

import math
from typing import Any

import numpy as np

from ..._declare import elementwise


@elementwise
def softplus(x: Any, beta: Any) -> Any:
    z = beta * x  # may be large: the result is finite wherever that in NumPy's wide numbers is
    return (max(z, 0.0) + math.log1p(math.exp(-abs(z)))) / beta


@softplus.partial("x")
def softplus_dx(x: Any, beta: Any) -> Any:
    return 1.0 / (1.0 + math.exp(-beta * x))


@softplus.partial("beta")
def softplus_dbeta(x: Any, beta: Any, y: Any) -> Any:
    return (x / (1.0 + math.exp(-beta * x)) - y) / beta


def plain_softplus(x: Any, beta: Any) -> Any:
    """Return the softplus function of arrays, by NumPy alone."""
    return np.log1p(np.exp(beta * x)) / beta
