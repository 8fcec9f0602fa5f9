"""Functions of loops, as users write them, for the tests of how they go together with the rest."""

import math
from typing import NamedTuple

import numba
import numpy as np

import numgrad as ng


@ng.njit
def heat(u0, k, steps):
    u, v = u0.copy(), u0.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            v[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u, v = v, u
    return np.sum(u * u * u)


@ng.njit
def spring(x, k=0.5):
    total = 0.0
    for i in range(1, len(x)):
        total += k * (x[i] - x[i - 1]) ** 4
    return total


@ng.njit
def cubes(x, k):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = k * x[i] ** 3
    return y


@ng.njit
def squared_into(x, out):
    for i in range(len(x)):
        out[i] = out[i] * x[i] * x[i]


@ng.njit
def padded(x, n):
    y = np.zeros(2 * n + len(x))
    for i in range(len(x)):
        y[n + i] = x[i] * x[i]
    return y


@ng.njit
def positives(x):
    n = 0
    for i in range(len(x)):
        if x[i] > 0.0:
            n += 1
    y = np.zeros(n)
    return y


@ng.njit
def counted(x):
    n = 0
    total = 0.0
    for i in range(len(x)):
        if x[i] > 1.5:
            n += 1
            total += x[i] ** 2
    return total, n


@ng.njit
def positive(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0.0:
            raise ValueError("a negative mass")
        total += x[i] ** 2
    return total


@ng.njit
def mentioned(x, what):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2 if what == "square" else x[i] ** 3
    return total


@ng.njit
def silent(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i]


@ng.njit
def nested(x):
    return x[0] ** 2, (x[1] ** 3, x * x)


class Motion(NamedTuple):
    energy: float
    force: np.ndarray


@ng.njit
def motion(x):
    force = np.empty(len(x))
    energy = 0.0
    for i in range(len(x)):
        energy += x[i] ** 2
        force[i] = -2.0 * x[i]
    return Motion(energy, force)


@ng.njit
def work(state, dx):
    total = state.energy
    for i in range(len(dx)):
        total += state.force[i] * dx[i]
    return total


@numba.njit
def product(x):
    return x[0] * x[1]


@ng.njit
def outer(x):
    return 2.0 * spring(x, 0.5) + product(x)


def scaled(c):
    @ng.njit
    def inner(x):
        return c * x[0] ** 2

    return inner


@ng.njit
def looked_up(x):
    table = {0: x[0]}
    table[1] = x[1]
    return table[0] * table[1]


@ng.njit
def imaginary_part_of_root(x, z):
    return x[0] * np.sqrt(z).imag


@ng.njit
def single_total(x):
    total = np.float32(0.0)
    for element in x.astype(np.float32):
        total += element * element
    return float(total)  # Numba's float() of a float32 is a float32


@ng.njit
def squared(x):
    return math.pow(x, 2)  # of a float32, a float64


@ng.njit
def doubled(x):
    return 2 * x
