"""What first calls of captured loops of 100 000 operations take: the figures of `programs.md`.

python docs/engine/measure_first_calls.py
"""

import time

import numpy as np

import numgrad as ng

P = np.array([1.1, 0.7, 0.9])


def sines(x, turns):
    y = x[0] * 1.0
    for _ in range(turns):
        y = ng.sin(y) * 1.01
    return y


def slope(p, x, y, z):
    return p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z


def lorenz(p, turns):
    h, state = 0.001, (p[0] * 1.0, p[1] * 1.0, p[2] * 1.0)
    for _ in range(turns):
        a = slope(p, *state)
        b = slope(p, *[u + h / 2 * k for u, k in zip(state, a, strict=True)])
        c = slope(p, *[u + h / 2 * k for u, k in zip(state, b, strict=True)])
        d = slope(p, *[u + h * k for u, k in zip(state, c, strict=True)])
        steps = zip(state, a, b, c, d, strict=True)
        state = tuple([u + h / 6 * (k + 2 * m + 2 * n + o) for u, k, m, n, o in steps])
    return state[0] + state[1] + state[2]


def lorenz_in_an_array(p, turns):
    h, state = 0.001, p * 1.0
    for _ in range(turns):
        a = ng.stack(slope(p, *[state[n] for n in range(3)]))
        b = ng.stack(slope(p, *[(state + h / 2 * a)[n] for n in range(3)]))
        c = ng.stack(slope(p, *[(state + h / 2 * b)[n] for n in range(3)]))
        d = ng.stack(slope(p, *[(state + h * c)[n] for n in range(3)]))
        state = state + h / 6 * (a + 2 * b + 2 * c + d)
    return state.sum()


def forced(x, turns):
    u, v = x[0] * 1.0, x[1] * 1.0
    for t in range(turns):
        v = v + 0.01 * (x[t] - u)
        u = u + 0.01 * v
    return u * u


def matrices(a, turns):
    m = a * 1.0
    for _ in range(turns):
        m = ng.tanh(a @ m) * 0.9 + 0.1
    return m.sum()


def heat(u, turns):
    for _ in range(turns):
        left, right = ng.concatenate([u[1:], u[:1]]), ng.concatenate([u[-1:], u[:-1]])
        u = u + 0.1 * (left - 2 * u + right)
    return (u * u).sum()


FORCE, MATRIX = np.sin(np.arange(16_669) * 0.1), np.eye(3) + 0.01 * np.arange(9.0).reshape(3, 3)
PROGRAMS = (
    (sines, P, 50_000), (lorenz, P, 1_053), (lorenz_in_an_array, P, 1_190),
    (forced, FORCE, 16_667), (matrices, MATRIX, 25_000), (heat, np.sin(np.arange(1000.0)), 9_091),
)  # fmt: skip


def main():
    """Print seconds of processor time: a first call, once kernels are on disk."""
    for f, x, turns in PROGRAMS:
        spans = []
        for _ in range(2):
            captured = ng.jit(ng.func.value_and_grad(lambda x, f=f, n=turns: f(x, n)))
            begun = time.process_time()
            captured(x)
            spans.append(time.process_time() - begun)
        print(f"{f.__name__}: {spans[1]:.2f}", flush=True)


if __name__ == "__main__":
    main()
