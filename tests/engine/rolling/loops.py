"""Loops as users write them: each function takes an array of parameters."""

import numpy as np

import numgrad as ng


def _slope(x, y, z, p):
    return p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z


def lorenz(p, turns=24, dt=0.01):
    """Three numbers by the rule of Runge and Kutta."""
    state = (p[0] * 0.1, p[1] * 0.04, p[2] * 0.3)

    def moved(k, h):
        return tuple(s + h * v for s, v in zip(state, k, strict=True))

    for _ in range(turns):
        k1 = _slope(*state, p)
        k2 = _slope(*moved(k1, dt / 2), p)
        k3 = _slope(*moved(k2, dt / 2), p)
        k4 = _slope(*moved(k3, dt), p)
        slopes = zip(state, k1, k2, k3, k4, strict=True)
        state = tuple(s + dt / 6 * (a + 2 * b + 2 * c + d) for s, a, b, c, d in slopes)
    return state[0] + state[1] * state[2]


def lorenz_array(p, turns=24, dt=0.01):
    """The same by Euler's rule, for an array."""
    state = p * 0.1
    for _ in range(turns):
        state = state + dt * ng.stack(_slope(*state, p))
    return state.sum()


def logistic(p, turns=100):
    x = p[0]
    for _ in range(turns):
        x = x + 0.01 * (p[1] * x * (1 - x / p[2]))
    return x


def kalman(p, turns=24):
    """Observations are numbers of an array, another one at each turn."""
    seen = np.sin(0.3 * np.arange(turns))
    mean, variance, total = p[0] * 0, p[1] * 0 + 1, p[2] * 0
    for t in range(turns):
        mean, variance = p[2] * mean, p[2] * p[2] * variance + p[0]
        spread = variance + p[1]
        gain, away = variance / spread, seen[t] - mean
        total = total - 0.5 * (ng.log(spread) + away * away / spread)
        mean, variance = mean + gain * away, (1 - gain) * variance
    return total


def choices(p, turns=24):
    """Observations are Python numbers, of which there are two."""
    value, total = p[0] * 0.5, p[0] * 0
    for won in [float(t % 3 == 0) for t in range(turns)]:
        chance = 1 / (1 + ng.exp(-p[1] * value))
        total = total + won * ng.log(chance) + (1 - won) * ng.log(1 - chance)
        value = value + 0.3 * p[2] * (won - value)
    return total


def three_steps_back(p, turns=24):
    """The rule of Adams and Bashforth, which reads slopes of earlier turns."""
    x, old, older = p[0], p[1] * 0.1, p[2] * 0.1
    for _ in range(turns):
        slope = ng.sin(x) - 0.1 * p[1] * x
        x = x + 0.05 * (23 / 12 * slope - 16 / 12 * old + 5 / 12 * older)
        old, older = slope, old
    return x


def all_states(p, turns=24):
    """All states are read after the loop."""
    x, kept = p[0], []
    for _ in range(turns):
        x = x + 0.1 * ng.sin(p[1] * x)
        kept.append(x * p[2])
    return (ng.stack(kept) ** 2).sum() + kept[3] * kept[-1]


def two_loops(p, turns=24):
    """The second loop reads what the first one has left, in order and in reverse."""
    x, y, kept = p[0], p[1], []
    for _ in range(turns):
        x = x * 0.9 + ng.cos(p[2] * x)
        kept.append(x)
    for t in range(turns):
        y = y * kept[t] + 0.2 * ng.tanh(kept[-1 - t]) * y * p[2]
    return y


def nested(p, turns=24):
    x, y = p[0], p[1]
    for _ in range(turns):
        for _ in range(3):
            y = y - 0.1 * (y * y * x - p[2])
        x = x * 0.5 + ng.sin(y)
    return x * y


def first_turn_differs(p, turns=24):
    x = p[0]
    for t in range(turns):
        x = ng.exp(-x) * p[1] if t == 0 else x * 0.9 + 0.1 * ng.sin(x * p[2]) * p[1]
    return x


def matrix_steps(p, turns=24):
    """A product of a matrix and a vector, and a sum, at each turn."""
    w = ng.stack([p, p[::-1], p * 0.5])
    x, total = p * 0.1, p[0] * 0
    for _ in range(turns):
        x = ng.tanh(w @ x * 0.1) + 0.1 * x
        total = total + (x * x).sum()
    return total


def several_results(p, turns=24):
    """Some states in the middle are results of their own, and one is read as well."""
    x, kept = p[0], []
    for _ in range(turns):
        x = x + 0.1 * ng.sin(p[1] * x)
        kept.append(x)
    return kept[4], kept[10] * p[2], kept[10], kept[-1]


FIRST = {
    f.__name__: f
    for f in (
        lorenz, lorenz_array, logistic, kalman, choices, three_steps_back, all_states, two_loops,
        nested, first_turn_differs, matrix_steps,
    )
}  # fmt: skip
P = np.array([1.1, 0.7, 0.9])
