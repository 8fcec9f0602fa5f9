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
    """A function of tensors, and the points where it is called.

    Attributes
    ----------
    name : str
        Unique; test ids and keys of stored numbers.
    function : callable
        Tensors in, a tensor or a tuple of tensors out.
    operators : tuple of str
        The registered operators that a call, its gradient or the gradient of that is made of and
        for which this is the scenario.
    points : tuple of tuples of arrays
        Ordinary arguments, where both derivatives are smooth: the first is the one that most checks
        use, others have no elements, no axes, or shapes that broadcast.
    reference : callable, optional
        The function of NumPy or SciPy.
    special : tuple of tuples of arrays
        Arguments at ties, ends of domains and infinities: value and gradient are compared with
        stored numbers.
    domains : tuple of pairs
        From where to where each argument is defined or tried.
    dtypes : tuple of str
        The dtypes in which it is defined.
    order : int
        How often it can be differentiated.
    exact : bool
        Whether all ways to compute it have the same bits; else, through BLAS and LAPACK, equal to
        rounding.
    half : bool
        Whether half precision goes in and comes out.
    broadcast : bool
        Whether it is defined for arguments whose elements are repeated; an inverse is not.
    oracle : bool
        Whether there are stored numbers of another library.
    tolerance : float
        How many units in the last place the value may differ from the reference, relative to the
        largest.
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
        """Return a point in another dtype; for complex ones imaginary parts are added."""
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
    """Return different numbers spread over a domain; another phase gives other numbers."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    turns = (np.arange(1, math.prod(shape) + 1) * GOLDEN + phase) % 1
    return np.asarray(low + (high - low) * turns).reshape(shape)


def spread(domains: Sequence[Domain]) -> tuple[Point, ...]:
    """Return points of an elementwise function: same shapes, broadcast, no axes, no elements."""

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
    """Return special values as an array."""
    return np.array(values, dtype=np.float64)


def smooth_points(scenario: Scenario) -> Iterator[tuple[int, Point]]:
    """Yield the points that have elements, with their numbers."""
    for number, point in enumerate(scenario.points):
        if all(a.size for a in point):
            yield number, point
