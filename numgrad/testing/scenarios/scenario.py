"""Scenarios: the calls that tests, benchmarks and documentation run over."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Point = tuple[np.ndarray, ...]
Domain = tuple[float, float]

REAL = ("float32", "float64")
ALL = ("float32", "float64", "complex64", "complex128")
COMPLEX = ("complex64", "complex128")

GOLDEN = (math.sqrt(5) - 1) / 2  # its multiples fill a domain evenly, without round numbers


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A function of tensors, and the points where the function is called.

    Attributes
    ----------
    name : str
        A unique name, for the ids of tests and the keys of stored numbers.
    function : callable
        Takes tensors, and returns a tensor or a tuple of tensors.
    operators : tuple of str
        The registered operators that this scenario tests: they are applied by a call, by its
        gradient, or by the gradient of that.
    points : tuple of tuples of arrays
        Ordinary arguments, at which both derivatives are smooth. Most checks use the first point;
        others have no elements, no axes, or shapes that broadcast.
    reference : callable, optional
        The same function by NumPy or SciPy.
    special : tuple of tuples of arrays
        Arguments at ties, ends of domains and infinities, at which value and gradient are compared
        with stored numbers.
    domains : tuple of pairs
        The bounds between which each argument is defined or tried.
    dtypes : tuple of str
        The dtypes in which the function is defined.
    order : int
        How often the function can be differentiated.
    exact : bool
        Whether results have the same bits in all ways to compute them. With BLAS and LAPACK they
        agree to rounding only.
    half : bool
        Whether half precision goes in and comes out.
    broadcast : bool
        Whether the function is defined for arguments whose elements are repeated, as an inverse is
        not.
    oracle : bool
        Whether there are stored numbers of another library to compare with.
    tolerance : float
        How many units in the last place of the largest element a value may differ from the
        reference.
    """

    name: str
    function: Callable[..., Any]
    operators: tuple[str, ...]
    points: tuple[Point, ...]
    reference: Callable[..., Any] | None = None
    special: tuple[Point, ...] = ()
    domains: tuple[Domain, ...] = ()
    dtypes: tuple[str, ...] = REAL
    order: int = 2
    exact: bool = True
    half: bool = True
    broadcast: bool = True
    oracle: bool = True
    tolerance: float = 32

    def at(self, point: Point, dtype: str) -> Point:
        """Return a point with its floating arrays in a dtype.

        In a complex dtype imaginary parts are added.
        """
        return tuple(_converted(a, np.dtype(dtype)) for a in point)


def _converted(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if array.dtype.kind != "f":
        return array
    if dtype.kind == "c":
        turns = np.arange(1, array.size + 1).reshape(array.shape) * GOLDEN
        return np.asarray(array + 1j * (0.1 + 0.4 * (turns % 1))).astype(dtype)
    return array.astype(dtype)


def numbers(
    shape: Sequence[int] | int, low: float = -2.0, high: float = 2.0, phase: float = 0.0
) -> np.ndarray:
    """Return an array of different numbers, spread evenly between two bounds.

    Another phase gives other numbers.
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    turns = (np.arange(1, math.prod(shape) + 1) * GOLDEN + phase) % 1
    return np.asarray(low + (high - low) * turns).reshape(shape)


def spread(domains: Sequence[Domain]) -> tuple[Point, ...]:
    """Return points for an elementwise function of arguments with the given domains.

    The shapes of the arguments are equal, or broadcast, or have no axes or no elements.
    """

    def point(*shapes: tuple[int, ...]) -> Point:
        chosen = (shapes[min(n, len(shapes) - 1)] for n in range(len(domains)))
        return tuple(
            numbers(shape, *domain, 0.31 * n)
            for n, (shape, domain) in enumerate(zip(chosen, domains, strict=True))
        )

    points = [point((2, 3)), point(()), point((0, 3))]
    if len(domains) > 1:
        points.insert(1, point((2, 1), (3,)))
    return tuple(points)


def floats(*values: float) -> np.ndarray:
    """Return numbers as an array in double precision."""
    return np.array(values, dtype=np.float64)


def smooth_points(scenario: Scenario) -> Iterator[tuple[int, Point]]:
    """Yield the ordinary points of a scenario that have elements, each behind its number."""
    for number, point in enumerate(scenario.points):
        if all(a.size for a in point):
            yield number, point
