"""Operators as users declare them, for random programs; and what they compute, in NumPy's words."""

import math
from typing import Any

import numpy as np

from ..._declare import elementwise


@elementwise
def softplus(x: Any, beta: Any) -> Any:
    return math.log1p(math.exp(beta * x)) / beta


@softplus.partial("x")
def softplus_dx(x: Any, beta: Any) -> Any:
    return 1.0 / (1.0 + math.exp(-beta * x))


@softplus.partial("beta")
def softplus_dbeta(x: Any, beta: Any, y: Any) -> Any:
    return (x / (1.0 + math.exp(-beta * x)) - y) / beta


def plain_softplus(x: Any, beta: Any) -> Any:
    """Return the same for arrays."""
    return np.log1p(np.exp(beta * x)) / beta
