"""Dual numbers: a value and its derivatives by all inputs, carried through plain Python code.

Dual numbers are the exact oracle for derived adjoints of kernels. The source of a kernel is run on
arrays of dual numbers, with ``math`` and ``np`` replaced by ``DualMath`` and ``DualNumpy``.
"""

import math
from typing import Any

import numpy as np


class Dual:
    """A number with its first derivatives, and its second ones along one direction.

    Parameters
    ----------
    value : float
    slopes : numpy.ndarray
        The derivatives by all inputs.
    along : float
        The derivative along the direction.
    mixed : numpy.ndarray or float
        The derivatives of ``along`` by all inputs.
    """

    __slots__ = ("along", "mixed", "slopes", "value")

    def __init__(self, value: float, slopes: Any, along: float = 0.0, mixed: Any = 0.0) -> None:
        self.value, self.slopes, self.along, self.mixed = value, slopes, along, mixed

    def mapped(self, value: float, first: float, second: float) -> "Dual":
        """Return the dual number of a function of this one.

        Given are the value of the function, and its first and second derivative, at this number.
        """
        mixed = first * self.mixed + second * self.along * self.slopes
        return Dual(value, first * self.slopes, first * self.along, mixed)

    def __add__(self, other: Any) -> "Dual":
        if isinstance(other, Dual):
            slopes, mixed = self.slopes + other.slopes, self.mixed + other.mixed
            return Dual(self.value + other.value, slopes, self.along + other.along, mixed)
        return Dual(self.value + other, self.slopes, self.along, self.mixed)

    __radd__ = __add__

    def __neg__(self) -> "Dual":
        return Dual(-self.value, -self.slopes, -self.along, -self.mixed)

    def __pos__(self) -> "Dual":
        return self

    def __sub__(self, other: Any) -> "Dual":
        return self + -other

    def __rsub__(self, other: Any) -> "Dual":
        return -self + other

    def __mul__(self, other: Any) -> "Dual":
        if not isinstance(other, Dual):
            return self.mapped(self.value * other, other, 0.0)
        a, b = self, other
        mixed = a.value * b.mixed + b.value * a.mixed + a.along * b.slopes + b.along * a.slopes
        slopes = b.value * a.slopes + a.value * b.slopes
        along = a.along * b.value + a.value * b.along
        return Dual(a.value * b.value, slopes, along, mixed)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Dual":
        if not isinstance(other, Dual):
            return self.mapped(self.value / other, 1 / other, 0.0)
        made = self * (1.0 / other)
        made.value = self.value / other.value
        return made

    def __rtruediv__(self, other: Any) -> "Dual":
        x = self.value
        return self.mapped(other / x, -other / x**2, 2 * other / x**3)

    def __pow__(self, power: Any) -> "Dual":
        x = self.value
        if power == 2:
            return self.mapped(x**2, 2 * x, 2.0)
        first, second = power * x ** (power - 1), power * (power - 1) * x ** (power - 2)
        return self.mapped(x**power, first, second)

    def __mod__(self, other: Any) -> "Dual":
        return self.mapped(self.value % other, 1.0, 0.0)

    def __floordiv__(self, other: Any) -> "Dual":
        return self.mapped(self.value // other, 0.0, 0.0)

    def __abs__(self) -> "Dual":
        return self if self.value > 0 else -self if self.value < 0 else self * 0.0

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __round__(self, digits: int) -> float:
        return round(self.value, digits)

    def _finite(self) -> float:
        """Return the value; raise an error for an infinite one, for which a loop that waits for a
        small number has no end."""
        if math.isinf(self.value):
            raise OverflowError("an infinite number is compared")
        return self.value

    def __lt__(self, other: Any) -> bool:
        return self._finite() < plain(other)

    def __le__(self, other: Any) -> bool:
        return self._finite() <= plain(other)

    def __gt__(self, other: Any) -> bool:
        return self._finite() > plain(other)

    def __ge__(self, other: Any) -> bool:
        return self._finite() >= plain(other)

    def __eq__(self, other: object) -> bool:
        return self.value == plain(other)

    def __ne__(self, other: object) -> bool:
        return self.value != plain(other)

    __hash__ = None  # type: ignore[assignment]


def plain(number: Any) -> Any:
    """Return the value of a dual number; a plain number is returned as it is."""
    return number.value if isinstance(number, Dual) else number


def _lifted(name: str, first: Any, second: Any) -> Any:
    function = getattr(math, name)

    def call(x: Any) -> Any:
        if not isinstance(x, Dual):
            return function(x)
        y = function(x.value)
        return x.mapped(y, first(x.value, y), second(x.value, y))

    return staticmethod(call)


def _elementwise(name: str) -> None:
    """Make an operator of `Dual` leave operands that are arrays to NumPy.

    NumPy then applies the operator to each element of the array.
    """
    method = getattr(Dual, name)

    def checked(self: Dual, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else method(self, other)

    setattr(Dual, name, checked)


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):
    _elementwise(f"__{_name}__")


class DualMath:
    """The stand-in for the module ``math`` with functions of dual numbers."""

    sin = _lifted("sin", lambda x, y: math.cos(x), lambda x, y: -y)
    cos = _lifted("cos", lambda x, y: -math.sin(x), lambda x, y: -y)
    exp = _lifted("exp", lambda x, y: y, lambda x, y: y)
    log = _lifted("log", lambda x, y: 1 / x, lambda x, y: -1 / x**2)
    sqrt = _lifted("sqrt", lambda x, y: 0.5 / y, lambda x, y: -0.25 / y**3)
    tanh = _lifted("tanh", lambda x, y: 1 - y * y, lambda x, y: -2 * y * (1 - y * y))
    atan = _lifted("atan", lambda x, y: 1 / (1 + x * x), lambda x, y: -2 * x / (1 + x * x) ** 2)

    @staticmethod
    def floor(x: Any) -> int:
        return math.floor(plain(x))


def larger(*numbers: Any) -> Any:
    """Return the largest of several numbers, compared one after the other.

    If the largest so far equals the next number, the slopes are the mean of both.
    """
    best = numbers[0]
    for other in numbers[1:]:
        best = _halves(best, other) if best == other else best if best > other else other
    return best


def smaller(*numbers: Any) -> Any:
    """Return the smallest of several numbers, compared one after the other.

    If the smallest so far equals the next number, the slopes are the mean of both.
    """
    best = numbers[0]
    for other in numbers[1:]:
        best = _halves(best, other) if best == other else best if best < other else other
    return best


def clipped(x: Any, low: float, high: float) -> Any:
    """Return a number clipped to bounds, with the slope 1 also at the bounds themselves."""
    return low if x < low else high if x > high else x


def _halves(one: Any, other: Any) -> Any:
    if not isinstance(one, Dual) and not isinstance(other, Dual):
        return one
    made = 0.5 * one + 0.5 * other
    made.value = plain(one)
    return made


def _shared(numbers: list[Any], extreme: Any) -> Any:
    """Return the largest or smallest of all numbers, with the mean of the slopes of equal ones.

    ``extreme`` is `max` or `min`.
    """
    best = extreme(map(plain, numbers))
    equal = [number for number in numbers if plain(number) == best]
    made = sum(equal[1:], equal[0]) * (1 / len(equal))
    if isinstance(made, Dual):
        made.value = best
    return made


class DualNumpy:
    """The stand-in for the module ``np`` with functions of arrays of dual numbers.

    Parameters
    ----------
    inputs : int
        The number of inputs: a dual number has a derivative by each.
    """

    maximum, minimum = np.frompyfunc(larger, 2, 1), np.frompyfunc(smaller, 2, 1)
    clip = np.frompyfunc(clipped, 3, 1)
    int64, float64, float32 = np.int64, float, float
    sqrt: Any

    def __init__(self, inputs: int) -> None:
        self.nothing = Dual(0.0, np.zeros(inputs))
        for name in ("sin", "cos", "exp", "log", "sqrt", "tanh"):
            setattr(self, name, _everywhere(getattr(DualMath, name)))
        self.arctan = _everywhere(DualMath.atan)
        self.linalg = self
        alike = "abs where dot outer diff roll cumsum trace prod linspace"
        for name in alike.split():
            setattr(self, name, getattr(np, name))

    def _filled(self, shape: Any, value: float) -> np.ndarray:
        made = np.empty(shape, object)
        made[...] = self.nothing + value
        return made

    def zeros(self, shape: Any, dtype: Any = None) -> np.ndarray:
        return self._filled(shape, 0.0)

    empty = zeros

    def array(self, numbers: Any) -> np.ndarray:
        return np.array(numbers, object)

    def ones(self, shape: Any, dtype: Any = None) -> np.ndarray:
        return self._filled(shape, 1.0)

    def zeros_like(self, other: np.ndarray) -> np.ndarray:
        return self._filled(other.shape, 0.0)

    empty_like = zeros_like

    def sum(self, x: np.ndarray, axis: Any = None) -> Any:
        return np.sum(x, axis) if axis is not None else self.nothing + sum(x.ravel())

    def mean(self, x: np.ndarray) -> Any:
        return self.sum(x) / x.size

    def max(self, x: np.ndarray, axis: Any = None) -> Any:
        if axis is not None:
            return np.array([self.max(column) for column in np.moveaxis(x, axis, 0).T], object)
        return _shared(list(x.ravel()), max)

    def min(self, x: np.ndarray) -> Any:
        return _shared(list(x.ravel()), min)

    def ptp(self, x: np.ndarray) -> Any:
        return self.max(x) - self.min(x)

    def sort(self, x: np.ndarray) -> np.ndarray:
        return np.array(sorted(x, key=plain), object)

    def median(self, x: np.ndarray) -> Any:
        return self.sort(x)[x.size // 2]

    def argmax(self, x: np.ndarray) -> int:
        return int(np.argmax([plain(number) for number in x]))

    def argsort(self, x: np.ndarray) -> np.ndarray:
        return np.argsort(np.array([plain(number) for number in x]))

    def norm(self, x: np.ndarray) -> Any:
        return self.sqrt(self.sum(x * x))

    def hypot(self, x: Any, y: Any) -> Any:
        return self.sqrt(x * x + y * y)

    def interp(self, x: Any, xp: np.ndarray, fp: np.ndarray) -> Any:
        value = plain(x)
        if value < xp[0] or value > xp[-1]:
            return fp[0] if value < xp[0] else fp[-1]
        i = min(int(np.searchsorted(xp, value, "right")) - 1, len(xp) - 2)
        return (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i]) * (x - xp[i]) + fp[i]


def _everywhere(function: Any) -> Any:
    def call(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return function(x)
        made = np.empty(x.shape, object)
        for index in np.ndindex(*x.shape):
            made[index] = function(x[index])
        return made

    return call
