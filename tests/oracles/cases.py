"""At which arguments and along which directions another library was asked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from numgrad.testing.scenarios import Scenario
from numgrad.testing.scenarios.scenario import Point, numbers, smooth_points

FOLDER = Path(__file__).parent
DTYPES = ("float64", "complex128")


class Case(NamedTuple):
    """One call: its key, its arguments, and whether it has a second derivative worth comparing."""

    key: str
    point: Point
    smooth: bool


def cases(scenario: Scenario) -> Iterator[Case]:
    """Yield the calls of a scenario."""
    for dtype in DTYPES:
        if dtype in scenario.dtypes:
            for number, point in smooth_points(scenario):
                yield Case(f"{dtype} {number}", scenario.at(point, dtype), True)
    for number, point in enumerate(scenario.special):
        yield Case(f"special {number}", point, False)


def direction(array: Any, number: int, phase: float = 0.17) -> np.ndarray:
    """Return the seed of output ``number``, or with another phase the direction of an input."""
    shape, dtype = tuple(array.shape), np.dtype(str(array.dtype).removeprefix("torch."))
    real = numbers(shape, -1.0, 1.0, phase + 0.29 * number)
    if dtype.kind != "c":
        return real
    return np.asarray(real + 1j * numbers(shape, -1.0, 1.0, phase + 0.41))


def fingerprint(point: Point) -> float:
    """Return a number that tells whether arguments have changed since numbers were stored."""
    return float(sum(np.sum(np.abs(np.nan_to_num(a, posinf=9.0, neginf=8.0))) for a in point))


def encode(array: np.ndarray) -> list[float]:
    """Return the elements as numbers, real and imaginary parts in turn."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return (flat.view(np.float64) if flat.dtype.kind == "c" else flat.astype(np.float64)).tolist()


def decode(numbers: list[float], like: np.ndarray) -> np.ndarray:
    """Return stored elements as an array of the shape and kind of another one."""
    flat = np.array(numbers, np.float64)
    return (flat.view(np.complex128) if like.dtype.kind == "c" else flat).reshape(like.shape)
