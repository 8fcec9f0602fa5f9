"""Elementwise operators without derivative: comparisons, logic, tests of numbers, and bits."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._declare import Elementwise
from ..._errors import DtypeError
from .arithmetic import builtin, where

# Comparisons


class Comparison(Elementwise):
    """An operator of two arguments that compares with Python's integers of any size, as NumPy."""

    def __call__(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        """Apply the operator; beyond the integers of a dtype every number is like infinity."""
        try:
            return super().__call__(x, y)
        except OverflowError:
            far = [math.copysign(math.inf, v) if type(v) is int else v for v in (x, y)]
            return super().__call__(*far)


def comparison(numpy: np.ufunc, **options: Any) -> Any:
    """Declare a comparison from a scalar function."""
    return lambda function: Comparison(
        function, numpy=numpy, result="bool", register=True, **options
    )


@comparison(np.equal)
def equal(x1, x2):
    return x1 == x2


@comparison(np.not_equal)
def not_equal(x1, x2):
    return x1 != x2


@comparison(np.less, complex=False)
def less(x1, x2):
    return x1 < x2


@comparison(np.less_equal, complex=False)
def less_equal(x1, x2):
    return x1 <= x2


@comparison(np.greater, complex=False)
def greater(x1, x2):
    return x1 > x2


@comparison(np.greater_equal, complex=False)
def greater_equal(x1, x2):
    return x1 >= x2


# Logic


@builtin(result="bool", numpy=np.logical_and)
def logical_and(x1, x2):
    return (x1 != 0) & (x2 != 0)


@builtin(result="bool", numpy=np.logical_or)
def logical_or(x1, x2):
    return (x1 != 0) | (x2 != 0)


@builtin(result="bool", numpy=np.logical_xor)
def logical_xor(x1, x2):
    return (x1 != 0) != (x2 != 0)


@builtin(result="bool", numpy=np.logical_not)
def logical_not(x):
    return x == 0


# Tests of numbers


@builtin(result="bool", numpy=np.isnan)
def isnan(x):
    return math.isnan(x)


@builtin(result="bool", numpy=np.isinf)
def isinf(x):
    return math.isinf(x)


@builtin(result="bool", numpy=np.isfinite)
def isfinite(x):
    return math.isfinite(x)


@builtin(result="bool", numpy=np.signbit, complex=False)
def signbit(x):
    return math.copysign(1.0, x) < 0


# Bits


class Bitwise(Elementwise):
    """An operator on integers and booleans only."""

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        """Promote, and refuse floats."""
        values = super().prepare(args, static)
        if values[0].dtype.kind in "fc":
            raise DtypeError(
                f"{self.name} is defined for integers and booleans, not for {values[0].dtype}"
            )
        return values


def bitwise(numpy: np.ufunc) -> Any:
    """Declare an operator on bits from a scalar function."""
    return lambda function: Bitwise(function, numpy=numpy, differentiable=False, register=True)


@bitwise(np.bitwise_and)
def bitwise_and(x1, x2):
    return x1 & x2


@bitwise(np.bitwise_or)
def bitwise_or(x1, x2):
    return x1 | x2


@bitwise(np.bitwise_xor)
def bitwise_xor(x1, x2):
    return x1 ^ x2


@bitwise(np.bitwise_invert)
def bitwise_invert(x):
    return ~x


# Kernels compute in 64 bits. Nothing says what a processor does when it is to shift by more.


@bitwise(np.bitwise_left_shift)
def bitwise_left_shift(x1, x2):
    return where((x2 >= 0) & (x2 < 64), x1 << x2, x1 ^ x1)


@bitwise(np.bitwise_right_shift)
def bitwise_right_shift(x1, x2):
    none = x1 ^ x1
    return where((x2 >= 0) & (x2 < 64), x1 >> x2, where(x1 < 0, ~none, none))
