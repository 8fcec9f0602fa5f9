"""Short kernels, one for each function of NumPy or kind of call: each is compared with differences.
"""

import numba
import numpy as np
from numba import float64, njit, vectorize

KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


@kernel
def writes_to_out(x):
    y = np.zeros_like(x)
    np.multiply(x, 3.0, y)
    np.add(x[1:], y[:-1], y[1:])
    return np.sum(np.exp(y, y))


@vectorize
def softplus(t):
    return np.log1p(np.exp(t))


@kernel
def vectorized_callee(x):
    return np.sum(softplus(x * 2.0)) + softplus(x[0])


@kernel
@njit
def types_of_numba(x):
    made = np.zeros(3, dtype=float64)
    made[1] = float64(3) * x[0]
    return made[1] * numba.int64(x[1] * 10.0) + np.sum(made)


@kernel
def list_of_conditions(x):
    kept = [v * v for v in x if v > 0.5]
    kept.append(x[0])
    pairs = [x[i] * x[j] for i in range(3) for j in range(i) if i != j]
    v = 2.0
    return sum(kept) + sum(pairs) + sum([v * x[4] for v in x if v < 0.5]) + v


@kernel
def membership(x):
    total = 0.0
    for i in range(5):
        if i in (0, 3):
            total += x[i] ** 2
        if i not in (1, 2, 3):
            total += x[i]
    return total if "a" in ("a", "b") else 0.0


@kernel
def leaves_two_loops(x):
    total = 0.0
    for i in range(5):
        for j in range(5):
            if x[i] + x[j] > 1.6:
                total += x[i] ** 2 * x[j]
                break
        else:
            total += x[i]
            continue
        if i == 2:
            break
    else:
        return 0.0
    for i in range(3):
        for j in range(2):
            if x[j] > 2.0:
                return x[j]
        else:
            if i == 1:
                break
        total *= 1.5
    return total


@kernel
def arrays_in_one_piece(x):
    square = np.outer(x, x)
    total = 0.0
    for a, b in zip(square.flat, square.T.flat):  # noqa: B905 (what Numba has)
        total += np.sin(a) * b
    return total + square.flat[3]


@kernel
def nested_lists(x):
    cube = np.array([[[x[0], 1.0], [x[1], x[2]]], [[2.0, x[3]], [x[4], 0.0]]])
    return np.sum(cube * cube[::-1, :, ::-1])


@kernel
def matrix_norms(x):
    a = np.outer(x, x[:3]) + np.eye(5, 3)
    total = np.linalg.norm(a, 2) + np.linalg.norm(a, -2) + np.linalg.norm(a, 1)
    total += np.linalg.norm(a, -1) * np.linalg.norm(a, np.inf) + np.linalg.norm(a, -np.inf)
    return total + np.linalg.cond(a[:3]) + np.linalg.matrix_rank(a) * np.linalg.norm(x, 0)


@kernel
def condition_by_sums(x):
    a = np.outer(x[:3], x[2:]) + np.eye(3)
    return np.linalg.cond(a, 1) + np.linalg.matrix_power(a, -2)[0, 1]


@kernel
def all_elements(x):
    a = np.outer(x, x[:3])
    total = np.sum(np.cumprod(a + 1.0)) + np.nanprod(a) + np.sum(np.nancumsum(a) ** 2)
    total += np.sum(np.nancumprod(a + 1.0)) + np.sum(np.ediff1d(a) ** 2)
    return total + np.take(a, 4) * np.sum(np.take(x, np.array([0, 2, 2])))


@kernel
def last_axis(x):
    a = np.outer(x, x[::2]) - 0.2
    return np.sum(np.sort(a)[:, 1] * np.diff(a)[:, 0]) + np.sum(np.diff(x, 3)) ** 2


@kernel
def three_axes_turned(x):
    cube = np.zeros((2, 2, 3))
    for i, j, k in np.ndindex(2, 2, 3):
        cube[i, j, k] = x[i + j + k] * (1.0 + i + 3.0 * j + 5.0 * k)
    turned = np.swapaxes(cube, 0, 2)
    return np.sum(np.flip(cube) * cube) + turned[2, 0, 1] * turned[0, 1, 1]


@kernel
def kronecker_of_vectors(x):
    row = np.kron(x[:2], x[2:])
    return np.sum(row * row[::-1]) + np.sum(np.kron(np.eye(2), x) ** 2)


@kernel
def modes_of_convolutions(x):
    same, valid = np.convolve(x, x[:3], "same"), np.convolve(x[1:4], x, mode="valid")
    full = np.correlate(x, x[:3], "full")
    return same[0] * valid[1] + full[1] * same[4] + np.correlate(x[:2], x)[1] ** 2


@kernel
def places_of_extremes(x):
    a = np.outer(x, x[::-1])
    place = np.argmax(a)
    rows = np.argmin(a, axis=1)
    total = a[place // 5, place % 5] + x[rows[2]] * np.argwhere(x > 0.5).sum()
    return total + np.sum(np.rot90(a)[0])


@kernel
def what_is_not_a_number(x):
    z = x**2
    z[0], z[1] = np.nan, np.inf
    total = np.sum(np.nan_to_num(z)) * 1e-308 + np.sum(np.fmax(z, 0.5)[2:] * np.fmin(z, 0.4)[2:])
    return total + np.isclose(x[0], x[1]) + np.allclose(x, x + 1e-12) * x[2]


@kernel
def ends_and_places(x):
    grid = np.sort(x)
    places = np.searchsorted(grid, x[1:4], side="right")
    total = np.sum(np.clip(x, 0.3, None) ** 2) + np.sum(np.clip(x, a_max=0.5, a_min=None) ** 3)
    total += np.sum(x.clip(0.3, 0.6)) * x[np.searchsorted(grid, 0.6)] + x[places[0]] * places[1]
    total += np.array_equal(x, grid) + np.sum(np.sinc(x))
    return total + np.sum(np.extract(x > 0.5, x) ** 2)


@kernel
def bins(x):
    found = np.digitize(x, np.array([0.3, 0.6]))
    counts = np.bincount(found, weights=x, minlength=5)
    return np.sum(counts**2) + counts.size * x[0] + np.bincount(found, minlength=4)[3]


@kernel
def parts_of_real_numbers(x):
    rows = np.atleast_2d(x)
    total = np.sum(np.real(x) * x.real) + np.sum(np.imag(x)) + x[0] * np.angle(-x[1])
    return total + rows[0, 1] ** 2


@kernel
@njit
def floats_as_integers(x):
    places = (x * 5.0).astype(np.int64)
    total = np.sum(x[places % 5] ** 2) + np.sum(places) * x[0]
    return total + np.shape(x)[0] * np.size(x) * x[1] * (1.0 + np.finfo(np.float64).eps)


@kernel
def list_of_arrays(x):
    states = [x]
    for i in range(3):
        new = np.empty(5)
        for j in range(5):
            new[j] = states[-1][j] * states[i][0]
        states.append(new)
    total = 0.0
    for state in states:
        total += np.sum(state**2)
    rows = [x[:2] * i for i in range(3)]
    return total * len(states) + rows[1] @ rows[2]


@kernel
def arrays_that_remain_to_be_done(x):
    todo, total = [np.outer(x[:2], x[:2])], 0.0
    while len(todo) > 0:
        part = todo.pop()
        if np.sum(part) < 1.0:
            total += part[0, 0] * part[1, 1]
        else:
            todo.append(part * 0.6)
            todo.append(part * x[4])
    return total


@kernel
def one_element_less(x):
    return np.sum(np.delete(x, 1) ** 2) + np.delete(x, -1)[3]


@njit
def rotation(angle):
    return np.array([[np.cos(angle), -1j * np.sin(angle)], [-1j * np.sin(angle), np.cos(angle)]])


@kernel
def complex_matrices(x):
    gate = np.kron(rotation(x[0]), np.eye(2, dtype=np.complex128))
    state = np.full(4, 0.5 + 0.5j)
    term = np.eye(4) + 0j
    for k in range(1, 4):
        term = term @ (1j * x[1] * gate) / k
        state = gate @ state + term[0]
    joined = np.concatenate((state, np.append(x, 2j * x[2]))) * 1.0
    both = np.vstack((state, x[:4]))
    return np.sum(np.abs(joined) ** 2) + both[1, 2].real * both[0, 1].imag
