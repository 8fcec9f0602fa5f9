"""Derive the polynomials of `numgrad/targets/cpu/platform/avx512.py`; takes no arguments.

Remez' exchange in 60 digits (mpmath must be installed): what the polynomial's error makes of the
result has the same size and alternating signs at as many points as there are coefficients and one
more, so no other polynomial of the degree is better. Printed are the coefficients, rounded to the
dtype, and that error in units of the result.
"""

from collections.abc import Callable

import mpmath
import numpy as np

mpmath.mp.dps = 60


def atanh_rest(z):
    """``(log(m) - 2 s) / s**3`` as a function of ``z = s**2``, where ``s = (m-1) / (m+1)``."""
    if z < 1e-12:
        return mpmath.mpf(2) / 3 + 2 * z / 5
    s = mpmath.sqrt(z)
    return 2 * (mpmath.atanh(s) - s) / s**3


def exp_rest(r):
    """``(exp(r) - 1 - r) / r**2``."""
    if abs(r) < 1e-12:
        return mpmath.mpf(1) / 2 + r / 6 + r**2 / 24
    return (mpmath.exp(r) - 1 - r) / r**2


def remez(function: Callable, weight: Callable, low, high, count: int, rounds: int = 12):
    """The ``count`` coefficients of the best polynomial, and its largest weighted error."""
    low, high = mpmath.mpf(low), mpmath.mpf(high)
    middle, half = (low + high) / 2, (high - low) / 2
    points = [middle - half * mpmath.cos(mpmath.pi * k / count) for k in range(count + 1)]
    for _ in range(rounds):
        rows = [
            [*(x**j for j in range(count)), (-1) ** i / weight(x)] for i, x in enumerate(points)
        ]
        solution = mpmath.lu_solve(mpmath.matrix(rows), mpmath.matrix([*map(function, points)]))
        coefficients = [solution[j] for j in range(count)]
        points, error = extrema(coefficients, function, weight, low, high, count + 1)
    return coefficients, error


def extrema(coefficients: list, function: Callable, weight: Callable, low, high, count: int):
    """Where the error is largest between its zeros, ``count`` points, and the largest there."""
    middle, half = (low + high) / 2, (high - low) / 2
    grid = [middle - half * mpmath.cos(mpmath.pi * k / 1500) for k in range(1501)]
    errors = [(mpmath.polyval(coefficients[::-1], x) - function(x)) * weight(x) for x in grid]
    found: list[int] = []
    for k, error in enumerate(errors):
        if found and mpmath.sign(errors[found[-1]]) == mpmath.sign(error):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = k
        else:
            found.append(k)
    assert len(found) == count, "the grid is too coarse"
    return [grid[k] for k in found], max(abs(errors[k]) for k in found)


def main() -> None:
    """Print the coefficients of each function and dtype."""
    half = mpmath.log(2) / 2 * (1 + mpmath.mpf(2) ** -20)
    ranges = {
        "log": (atanh_rest, lambda z: z / 2, mpmath.mpf(10) ** -6, mpmath.mpf(1) / 25),
        "exp": (exp_rest, lambda r: (r**2 + mpmath.mpf(10) ** -6) / mpmath.exp(r), -half, half),
    }
    for name, dtype, count in (
        ("log", "f8", 7), ("log", "f4", 3), ("exp", "f8", 10), ("exp", "f4", 5),
    ):  # fmt: skip
        coefficients, error = remez(*ranges[name], count)
        numbers = [float(np.dtype(dtype).type(float(c))) for c in coefficients]
        print(name, dtype, f"error {float(error):.2g}", *map(repr, numbers), sep="\n  ")


if __name__ == "__main__":
    main()
