"""Programs that write into their arrays, as NumPy's users write them: functions of one array.

Each takes the module that makes arrays, so that NumPy itself says what the value is.
"""

import numpy as np


def heat(x, xp):
    """Return the states of a heat equation with a source, in an array made before."""
    states = xp.zeros((6, x.shape[-1]))
    states[0] = x
    for t in range(5):
        u = states[t]
        states[t + 1] = u
        states[t + 1, 1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2]) - 0.1 * u[1:-1] ** 2
    return states


def heat_with_rows_subtracted(x, xp):
    states = xp.zeros((6, x.shape[-1]))
    states[0] = x
    for t in range(5):
        states[t + 1] = states[t] - 0.3 * states[t] * states[t, ::-1]
    return states


def heat_in_place(x, xp):
    u = x * 1.0
    for _ in range(5):
        u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
    return u


def lotka_volterra(x, xp):
    """Return prey and predators in one array each, element by element."""
    prey, predators = xp.zeros(8), xp.zeros(8)
    prey[0], predators[0] = x[0], x[1]
    for t in range(7):
        prey[t + 1] = prey[t] + 0.1 * prey[t] * (x[2] - predators[t])
        predators[t + 1] = predators[t] + 0.1 * predators[t] * (prey[t] - x[3])
    return prey * predators


def lotka_volterra_of_rows(x, xp):
    path = xp.zeros((8, 2))
    path[0] = x[:2]
    for t in range(7):
        a, b = path[t]
        path[t + 1, 0] = a + 0.1 * a * (x[2] - b)
        path[t + 1, 1] = b + 0.1 * b * (a - x[3])
    return path


def leapfrog(x, xp):
    """Return what three arrays come to that are advanced in place."""
    position, velocity = x * 1.0, xp.zeros(x.shape)
    force = -np.sin(position)
    for _ in range(4):
        velocity += 0.1 * force
        position += 0.2 * velocity
        force[:] = -np.sin(position) * (1 + 0.1 * velocity**2)
        velocity += 0.1 * force
    return position * velocity


def three_levels(x, xp):
    """Return the last of three levels of a wave equation that change places."""
    old, now, new = x * 1.0, x * 1.1, xp.zeros(x.shape)
    for _ in range(4):
        new[1:-1] = 2 * now[1:-1] - old[1:-1] + 0.2 * np.sin(now[2:] - now[:-2])
        old[:], now[:] = now, new
    return now


def gauss_seidel(x, xp):
    u = x * 1.0
    for _ in range(3):
        for i in range(1, u.shape[0] - 1):
            u[i] = 0.4 * (u[i - 1] + u[i + 1]) + 0.1 * u[i - 1] * u[i + 1]
    return u


def red_and_black(x, xp):
    u = x * 1.0
    for _ in range(3):
        for first in (1, 2):
            u[first:-1:2] = 0.5 * u[first - 1 : -2 : 2] * np.cos(u[first + 1 :: 2])
    return u


def softmax(x, xp):
    y = np.exp(x)
    y /= y.sum()
    return y


def softmax_step_by_step(x, xp):
    y = x * 1.0
    y -= y.mean()
    np_exp = np.exp(y)
    y[:] = np_exp
    y /= y.sum()
    y *= y
    return y


def standardised(x, xp):
    y = x * x
    y -= y.mean()
    y /= (y * y).mean() ** 0.5
    return y**3


def _matrix(x, xp):
    n = x.shape[0]
    a = xp.zeros((n, n))
    for i in range(n):
        for j in range(n):
            a[i, j] = x[i] * x[j] / (1 + i + j)
        a[i, i] += 3.0
    return a


def lu(x, xp):
    """Return the factors of Doolittle's elimination, which takes the place of the matrix."""
    a = _matrix(x, xp)
    n = a.shape[0]
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        for i in range(k + 1, n):
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a


def cholesky(x, xp):
    a = _matrix(x, xp)
    for k in range(a.shape[0]):
        a[k, k] = a[k, k] ** 0.5
        a[k + 1 :, k] /= a[k, k]
        for j in range(k + 1, a.shape[0]):
            a[j:, j] -= a[j:, k] * a[j, k]
    return a


def gauss_jordan(x, xp):
    a = _matrix(x, xp)
    b = x * 1.0
    for k in range(a.shape[0]):
        b[k] /= a[k, k]
        a[k] /= a[k, k]
        for i in range(a.shape[0]):
            if i != k:
                b[i] -= a[i, k] * b[k]
                a[i] -= a[i, k] * a[k]
    return b


def swap(x, xp):
    a = x * x
    a[0], a[1] = a[1], a[0]
    a[-1], a[0] = a[0], a[-1]
    return a * x


def rotation_of_elements(x, xp):
    a = np.sin(x)
    a[0], a[1], a[2] = a[1] * a[0], a[2], a[0]
    return a * a


def bubble_sort(x, xp):
    a = x * np.cos(3 * x)
    order = np.argsort(np.argsort(_numbers(a)))  # a network for the order that there is
    for end in range(a.shape[0] - 1, 0, -1):
        for i in range(end):
            if order[i] > order[i + 1]:
                order[i], order[i + 1] = order[i + 1], order[i]
                a[i], a[i + 1] = a[i + 1], a[i]
    return a * x


def _numbers(a):
    return np.array([0.3, 0.1, 0.5, 0.2, 0.4])[: a.shape[0]]


def compare_and_exchange(x, xp):
    a = x * np.cos(3 * x)
    for i, j in ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)):
        low, high = np.minimum(a[i], a[j]), np.maximum(a[i], a[j])
        a[i], a[j] = low, high
    return a * x


def products_in_place(x, xp):
    a = x * 1.0
    for i in range(1, a.shape[0]):
        a[i] *= a[i - 1]
    return a


def halves_multiplied(x, xp):
    a = x * 1.0
    for step in (1, 2):
        a[step:] = a[step:] * a[:-step]
    return a


def horner(x, xp):
    y = xp.zeros(x.shape)
    for c in (0.3, -0.7, 1.1, 0.2):
        y *= x
        y += c
    return y


def rows_kept_before(x, xp):
    """Return what is read through views that were made before a write."""
    table = xp.zeros((3, x.shape[0]))
    first, last = table[0], table[-1]
    table[:] = x * x
    a = first * last
    table[0] *= x
    b = first * last
    last[...] = np.exp(first)
    return a + b + last


def positions(x, xp):
    a = x * 1.0
    a[[0, 2]] = a[[2, 0]] * a[1]
    a[[1, 2]] *= np.sin(a[[0, 1]])
    return a


PROGRAMS = [
    heat, heat_with_rows_subtracted, heat_in_place, lotka_volterra, lotka_volterra_of_rows,
    leapfrog, three_levels, gauss_seidel, red_and_black, softmax, softmax_step_by_step,
    standardised, lu, cholesky, gauss_jordan, swap, rotation_of_elements, bubble_sort,
    compare_and_exchange, products_in_place, halves_multiplied, horner, rows_kept_before,
    positions,
]  # fmt: skip
