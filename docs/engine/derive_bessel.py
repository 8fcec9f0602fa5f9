"""Polynomials of the modified Bessel functions of order 0, 1 and 2 for large arguments.

Run as ``python docs/engine/derive_bessel.py``; it prints the coefficients, highest power first. The
polynomials approximate ``sqrt(x) * exp(-x) * iv(order, x)`` from 8 to infinity, as functions of
``16 / x - 1``, by interpolation in Chebyshev's points.
"""

import mpmath as mp

DEGREE, LEAST = 23, 8


def scaled(order, s):
    """Return the function at ``16 / x - 1 = s``; at -1 it is the limit."""
    if s <= -1:
        return 1 / mp.sqrt(2 * mp.pi)
    x = 2 * LEAST / (1 + s)
    return mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x)


def interpolated(order):
    """Return the coefficients of the polynomial, highest power first."""
    count = DEGREE + 1
    points = [mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    matrix = mp.matrix(count, count)
    for row, s in enumerate(points):
        for column in range(count):
            matrix[row, column] = s ** (DEGREE - column)
    values = mp.matrix([scaled(order, s) for s in points])
    return [*mp.lu_solve(matrix, values)]


def largest_error(order, coefficients):
    """Return the largest relative error at points in between."""
    points = [mp.mpf(k) / 500 for k in range(-500, 501)]
    errors = [mp.polyval(coefficients, s) / scaled(order, s) - 1 for s in points]
    return max(abs(error) for error in errors)


def main():
    """Print the tables."""
    mp.mp.dps = 60
    for order in (0, 1, 2):
        found = [float(c) for c in interpolated(order)]
        print(order, mp.nstr(largest_error(order, [mp.mpf(c) for c in found]), 3))
        print(", ".join(map(repr, found)))


if __name__ == "__main__":
    main()
