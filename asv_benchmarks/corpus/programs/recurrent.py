"""Recurrent networks, differential equations in steps, and time series."""

from typing import Any

import numpy as np

from ..program import Family

WIDTH = 14


def lstm_inputs(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    scale = 0.3
    w = scale * rng.standard_normal((2 * WIDTH, 4 * WIDTH))
    return w, scale * rng.standard_normal(4 * WIDTH), rng.standard_normal((n, WIDTH))


lstm = Family("an LSTM over 50 tokens", size=50, tiny=3, inputs=lstm_inputs, wrt=2)


def sigmoid(np: Any, x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


def network(cell: Any) -> Any:
    """Return the text of a loss over the tokens of a cell ``cell(np, h, c, x, w, b)``."""

    def text(np: Any, w: Any, b: Any, tokens: Any) -> Any:
        start = np.zeros(WIDTH), np.zeros(WIDTH)
        h, c = np.fold(lambda s, x: cell(np, *s, x, w, b), start, tokens)
        return (h * h).sum() + c.sum()

    return text


def gates_by_slices(np: Any, h: Any, c: Any, x: Any, w: Any, b: Any) -> Any:
    z = np.concatenate([h, x]) @ w + b
    i, f = sigmoid(np, z[:WIDTH]), sigmoid(np, z[WIDTH : 2 * WIDTH])
    o, g = sigmoid(np, z[2 * WIDTH : 3 * WIDTH]), np.tanh(z[3 * WIDTH :])
    c = f * c + i * g
    return o * np.tanh(c), c


def gates_by_split(np: Any, h: Any, c: Any, x: Any, w: Any, b: Any) -> Any:
    i, f, o, g = np.split(np.concatenate([h, x]) @ w + b, 4)
    c = sigmoid(np, f) * c + sigmoid(np, i) * np.tanh(g)
    return sigmoid(np, o) * np.tanh(c), c


def gates_as_rows(np: Any, h: Any, c: Any, x: Any, w: Any, b: Any) -> Any:
    z = (h @ w[:WIDTH] + x @ w[WIDTH:] + b).reshape((4, WIDTH))
    s = sigmoid(np, z[:3])
    c = s[1] * c + s[0] * np.tanh(z[3])
    return s[2] * np.tanh(c), c


def gates_one_by_one(np: Any, h: Any, c: Any, x: Any, w: Any, b: Any) -> Any:
    hx = np.concatenate([h, x])
    parts = [slice(k * WIDTH, (k + 1) * WIDTH) for k in range(4)]
    i, f, o = (sigmoid(np, hx @ w[:, p] + b[p]) for p in parts[:3])
    c = f * c + i * np.tanh(hx @ w[:, parts[3]] + b[parts[3]])
    return o * np.tanh(c), c


for cell in (gates_by_slices, gates_by_split, gates_as_rows, gates_one_by_one):
    lstm.add(cell.__name__.replace("_", " "), network(cell))

long = Family("an LSTM over 300 tokens", size=300, tiny=3, inputs=lstm_inputs, wrt=2)
long.add("gates by slices", lstm.programs[0].text)

orbit = Family(
    "Lorenz (1963), 40 Runge-Kutta steps", size=3, tiny=3,
    inputs=lambda rng, n: (np.array([1.0, 2.0, 20.0]), np.array([10.0, 28.0, 8.0 / 3.0])), wrt=2,
)  # fmt: skip


def integrated(slope: Any) -> Any:
    def step(np: Any, x: Any, p: Any) -> Any:
        k1 = slope(np, x, p)
        k2 = slope(np, x + 0.005 * k1, p)
        k3 = slope(np, x + 0.005 * k2, p)
        return x + 0.01 / 6.0 * (k1 + 2.0 * (k2 + k3) + slope(np, x + 0.01 * k3, p))

    return lambda np, x, p: (np.iterate(lambda x: step(np, x, p), x, 40) ** 2).sum()


def components_stacked(np: Any, x: Any, p: Any) -> Any:
    return np.stack([p[0] * (x[1] - x[0]), x[0] * (p[1] - x[2]) - x[1], x[0] * x[1] - p[2] * x[2]])


def components_joined(np: Any, x: Any, p: Any) -> Any:
    a, b, c = x[:1], x[1:2], x[2:]
    return np.concatenate([p[:1] * (b - a), a * (p[1:2] - c) - b, a * b - p[2:] * c])


def components_unpacked(np: Any, x: Any, p: Any) -> Any:
    (a, b, c), (s, r, q) = np.unstack(x), np.unstack(p)
    return np.stack([s * (b - a), a * (r - c) - b, a * b - q * c])


def components_written(np: Any, x: Any, p: Any) -> Any:
    d = np.put(np.zeros(3), 0, p[0] * (x[1] - x[0]))
    d = np.put(d, 1, x[0] * (p[1] - x[2]) - x[1])
    return np.put(d, 2, x[0] * x[1] - p[2] * x[2])


for slope in (components_stacked, components_joined, components_unpacked, components_written):
    orbit.add(slope.__name__.replace("_", " "), integrated(slope))


def plain(np: Any, x: Any, p: Any) -> Any:
    """Numbers that are tensors of no dimension, from the start to the end."""
    a, b, c = x[0], x[1], x[2]
    s, r, q = p[0], p[1], p[2]

    def step(state: Any) -> Any:
        a, b, c = state
        return a + 0.002 * s * (b - a), b + 0.002 * (a * (r - c) - b), c + 0.002 * (a * b - q * c)

    a, b, c = np.iterate(step, (a, b, c), 200)
    return a * a + b * b + c * c


simulations = Family(
    "simulations in steps", size=100, tiny=4, siblings=False,
    inputs=lambda rng, n: (rng.uniform(0.5, 1.5, n),),
)  # fmt: skip
simulations.add("Lorenz (1963) by Euler's rule on numbers", plain, size=3, tiny=3, wrt=2,
                inputs=orbit.programs[0].inputs)  # fmt: skip


@simulations.program
def pendulums_by_leapfrog(np, x):
    q, p = np.iterate(lambda s: leap(np, *s), (x, 0.0 * x), 40)
    return (q * q + p * p).sum()


def leap(np: Any, q: Any, p: Any) -> Any:
    p = p - 0.05 * np.sin(q)
    q = q + 0.1 * p
    return q, p - 0.05 * np.sin(q)


@simulations.program
def predators_and_prey(np, x):
    def step(s: Any) -> Any:
        a, b = s
        return a + 0.01 * a * (1.0 - b), b + 0.01 * b * (a - 1.0)

    a, b = np.iterate(step, (x, 0.5 * x), 60)
    return (a * b).sum()


@simulations.program
def a_reaction_network(np, x):
    def step(c: Any) -> Any:
        rate = 0.05 * c[:-1] * c[1:]
        none = np.zeros(1)
        return c - np.concatenate([rate, none]) + np.concatenate([none, rate])

    return (np.iterate(step, x, 30) ** 2).sum()


@simulations.program
def momentum_descent(np, x):
    def step(s: Any) -> Any:
        x, v = s
        v = 0.9 * v - 0.01 * (4.0 * x**3 - 2.0 * x)
        return x + v, v

    return np.iterate(step, (x, np.zeros(len(x))), 50)[0].sum()


FAMILIES = [lstm, long, orbit, simulations]
