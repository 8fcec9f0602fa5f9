"""A kernel for the examples of docstrings: their own text is in no file."""

from numba import njit


@njit
def energy(x, k):
    """Return the energy of springs between neighbours."""
    total = 0.0
    for i in range(1, len(x)):
        total += 0.5 * k * (x[i] - x[i - 1]) ** 2
    return total
