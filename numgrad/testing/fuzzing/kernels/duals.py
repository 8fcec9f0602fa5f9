"""Dual numbers: a value and its derivatives in all inputs, through plain Python code.

They are the exact oracle for derived adjoints of kernels: the kernel's source is run on arrays of
dual numbers, with ``math`` and ``np`` replaced by ``DualMath`` and ``DualNumpy``.
"""

import math
from typing import Any

import numpy as np


class Dual:
    """A number and its derivatives.

    Parameters
    ----------
    value : float
    slopes : numpy.ndarray
    """

    __slots__ = ("slopes", "value")

    def __init__(self, value: float, slopes: Any) -> None:
        self.value, self.slopes = value, slopes

    def __add__(self, other: Any) -> "Dual":
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.slopes + other.slopes)
        return Dual(self.value + other, self.slopes)

    __radd__ = __add__

    def __neg__(self) -> "Dual":
        return Dual(-self.value, -self.slopes)

    def __pos__(self) -> "Dual":
        return self

    def __sub__(self, other: Any) -> "Dual":
        return self + -other

    def __rsub__(self, other: Any) -> "Dual":
        return -self + other

    def __mul__(self, other: Any) -> "Dual":
        if isinstance(other, Dual):
            slopes = self.slopes * other.value + self.value * other.slopes
            return Dual(self.value * other.value, slopes)
        return Dual(self.value * other, self.slopes * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Dual":
        if isinstance(other, Dual):
            result = self.value / other.value
            return Dual(result, (self.slopes - result * other.slopes) / other.value)
        return Dual(self.value / other, self.slopes / other)

    def __rtruediv__(self, other: Any) -> "Dual":
        result = other / self.value
        return Dual(result, -result / self.value * self.slopes)

    def __pow__(self, power: Any) -> "Dual":
        if isinstance(power, Dual):
            result = self.value**power.value
            slopes = result * math.log(self.value) * power.slopes
            return Dual(
                result, slopes + power.value * self.value ** (power.value - 1) * self.slopes
            )
        return Dual(self.value**power, power * self.value ** (power - 1) * self.slopes)

    def __mod__(self, other: Any) -> "Dual":
        return Dual(self.value % other, self.slopes)

    def __floordiv__(self, other: Any) -> "Dual":
        return Dual(self.value // other, 0 * self.slopes)

    def __abs__(self) -> "Dual":
        return self if self.value > 0 else -self if self.value < 0 else self * 0.0

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __lt__(self, other: Any) -> bool:
        return self.value < plain(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= plain(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > plain(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= plain(other)

    def __eq__(self, other: object) -> bool:
        return self.value == plain(other)

    def __ne__(self, other: object) -> bool:
        return self.value != plain(other)

    __hash__ = None  # type: ignore[assignment]


def plain(number: Any) -> Any:
    """Return the value of a number."""
    return number.value if isinstance(number, Dual) else number


def _lifted(name: str, slope: Any) -> Any:
    function = getattr(math, name)

    def call(x: Any) -> Any:
        if not isinstance(x, Dual):
            return function(x)
        result = function(x.value)
        return Dual(result, slope(x.value, result) * x.slopes)

    return staticmethod(call)


def _elementwise(name: str) -> None:
    """Let an operator of `Dual` leave arrays to NumPy, which applies it to each element."""
    method = getattr(Dual, name)

    def checked(self: Dual, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else method(self, other)

    setattr(Dual, name, checked)


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):
    _elementwise(f"__{_name}__")


class DualMath:
    """``math`` for dual numbers."""

    sin = _lifted("sin", lambda x, y: math.cos(x))
    cos = _lifted("cos", lambda x, y: -math.sin(x))
    exp = _lifted("exp", lambda x, y: y)
    log = _lifted("log", lambda x, y: 1 / x)
    sqrt = _lifted("sqrt", lambda x, y: 0.5 / y)
    tanh = _lifted("tanh", lambda x, y: 1 - y * y)
    atan = _lifted("atan", lambda x, y: 1 / (1 + x * x))

    @staticmethod
    def floor(x: Any) -> int:
        return math.floor(plain(x))


class DualNumpy:
    """``np`` for arrays of dual numbers.

    Parameters
    ----------
    inputs : int
        How many derivatives a number has.
    """

    def __init__(self, inputs: int) -> None:
        self.nothing = Dual(0.0, np.zeros(inputs))
        for name in ("sin", "cos", "exp", "log", "sqrt", "tanh"):
            setattr(self, name, _everywhere(getattr(DualMath, name)))
        self.arctan = _everywhere(DualMath.atan)
        self.maximum, self.minimum, self.abs = np.maximum, np.minimum, np.abs
        self.int64, self.float64 = np.int64, float

    def _filled(self, shape: Any, value: float) -> np.ndarray:
        made = np.empty(shape, object)
        made[...] = self.nothing + value
        return made

    def zeros(self, shape: Any, dtype: Any = None) -> np.ndarray:
        return self._filled(shape, 0.0)

    empty = zeros

    def ones(self, shape: Any) -> np.ndarray:
        return self._filled(shape, 1.0)

    def zeros_like(self, other: np.ndarray) -> np.ndarray:
        return self._filled(other.shape, 0.0)

    empty_like = zeros_like

    def sum(self, x: np.ndarray) -> Any:
        return self.nothing + sum(x.ravel())

    def mean(self, x: np.ndarray) -> Any:
        return self.sum(x) / x.size

    def max(self, x: np.ndarray) -> Any:
        return max(x.ravel())

    def min(self, x: np.ndarray) -> Any:
        return min(x.ravel())

    def dot(self, x: np.ndarray, y: np.ndarray) -> Any:
        return np.dot(x, y)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return np.where(condition, x, y)


def _everywhere(function: Any) -> Any:
    def call(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return function(x)
        made = np.empty(x.shape, object)
        for index in np.ndindex(*x.shape):
            made[index] = function(x[index])
        return made

    return call
