"""Numerical derivatives along a direction: by central differences, or by a complex step.

A complex step loses no digits to cancellation.
"""

from collections.abc import Callable, Sequence

import numpy as np

from .._errors import ArgTypeError, NumgradError
from .subject import Arrays, Subject

COMPLEX_STEP = 1e-30  # its square is negligible
ANALYTIC = 1e-2  # a function is analytic if both methods agree up to this

Slope = Callable[[Subject, Arrays], list[np.ndarray]]


def central(eps: float) -> Slope:
    """Return the function that computes derivatives by central differences with the step ``eps``.
    """

    def slope(subject: Subject, direction: Arrays) -> list[np.ndarray]:
        ahead = subject.values(_moved(subject.arrays, direction, eps))
        behind = subject.values(_moved(subject.arrays, direction, -eps))
        return [(_wide(a) - _wide(b)) / (2 * eps) for a, b in zip(ahead, behind, strict=True)]

    return slope


def complex_step(eps: float) -> Slope:
    """Return the function that computes derivatives as ``imag(f(x + ih)) / h``.

    That is right for analytic functions of real variables; others raise an error, as they are
    compared with central differences of the step ``eps``.
    """
    differences = central(eps)

    def slope(subject: Subject, direction: Arrays) -> list[np.ndarray]:
        exact = _imaginary_slope(subject, direction)
        for n, (a, b) in enumerate(zip(exact, differences(subject, direction), strict=True)):
            size = np.max(np.abs(b), initial=0.0)
            if not np.allclose(a, b, ANALYTIC, ANALYTIC * max(1.0, size)):
                raise ArgTypeError(
                    f"{subject.what}: complex_step=True, but output {n} is no analytic "
                    f"function of the inputs (abs, max, conj, comparisons are not); "
                    f"leave complex_step out"
                )
        return exact

    return slope


def _imaginary_slope(subject: Subject, direction: Arrays) -> list[np.ndarray]:
    if any(a.dtype.kind == "c" for a in subject.arrays):
        raise ArgTypeError(f"{subject.what}: complex_step=True needs real inputs")
    moved = [a + COMPLEX_STEP * 1j * d for a, d in zip(subject.arrays, direction, strict=True)]
    try:
        outputs = subject.values(moved)
    except (NumgradError, TypeError) as error:
        raise ArgTypeError(
            f"{subject.what}: complex_step=True, but the function does not take "
            f"complex arguments ({error})"
        ) from error
    return [np.imag(o) / COMPLEX_STEP for o in outputs]


def _moved(arrays: Arrays, direction: Arrays, step: float) -> list[np.ndarray]:
    return [
        np.asarray(a + step * d).astype(a.dtype) for a, d in zip(arrays, direction, strict=True)
    ]


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.result_type(array.dtype, np.float64))


def unit_directions(arrays: Arrays) -> Sequence[tuple[int, tuple[int, ...], str, list[np.ndarray]]]:
    """Return a unit direction for each element of each variable, two for complex elements.

    Each comes with the number of the variable, the position of the element, and a label that says
    which part of a complex element is meant.
    """
    directions = []
    for n, array in enumerate(arrays):
        parts = (
            [("", 1.0)]
            if array.dtype.kind == "f"
            else [(" (real part)", 1.0), (" (imaginary part)", 1j)]
        )
        for position in np.ndindex(array.shape):
            for label, unit in parts:
                direction = [np.zeros(a.shape, a.dtype) for a in arrays]
                direction[n][position] = unit
                directions.append((n, position, label, direction))
    return directions
