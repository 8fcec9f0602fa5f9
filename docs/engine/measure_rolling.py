"""What plain loops in captured functions take, unrolled and rolled, beside `ng.scan`: the figures
of `programs.md`.

python docs/engine/measure_rolling.py
python docs/engine/measure_rolling.py parts
"""

import sys
import time

import numpy as np

import numgrad as ng

P = np.array([1.1, 0.7, 0.9])


def logistic(state, _, p):
    (x,) = state
    return (x + 1e-3 * (p[1] * x * (1 - x / p[2])),)


def lorenz(state, _, p):
    """Take a step of the rule of Runge and Kutta."""

    def slope(x, y, z):
        return p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z

    def ahead(k, h):
        return [a + h * b for a, b in zip(state, k, strict=True)]

    a = slope(*state)
    b = slope(*ahead(a, 0.005))
    c = slope(*ahead(b, 0.005))
    d = slope(*ahead(c, 0.01))
    slopes = zip(state, a, b, c, d, strict=True)
    return tuple([x + 0.01 / 6 * (k + 2 * m + 2 * n + o) for x, k, m, n, o in slopes])


def kalman(state, seen, p):
    """Take a step of a filter of one number, and add to the likelihood."""
    mean, variance, total = state
    mean, variance = p[2] * mean, p[2] * p[2] * variance + p[0]
    spread = variance + p[1]
    gain, away = variance / spread, seen - mean
    total = total - 0.5 * (ng.log(spread) + away * away / spread)
    return mean + gain * away, (1 - gain) * variance, total


def neuron(state, _, p):
    """Take a step of Euler's rule for the equations of Hodgkin and Huxley."""
    v, m, h, n = state
    am, bm = 0.1 * (v + 40) / (1 - ng.exp(-(v + 40) / 10)), 4 * ng.exp(-(v + 65) / 18)
    ah, bh = 0.07 * ng.exp(-(v + 65) / 20), 1 / (1 + ng.exp(-(v + 35) / 10))
    an, bn = 0.01 * (v + 55) / (1 - ng.exp(-(v + 55) / 10)), 0.125 * ng.exp(-(v + 65) / 80)
    flow = 120 * p[0] * m**3 * h * (v - 50) + 36 * p[1] * n**4 * (v + 77) + 0.3 * p[2] * (v + 54.4)
    return (
        v + 0.01 * (10 - flow), m + 0.01 * (am * (1 - m) - bm * m),
        h + 0.01 * (ah * (1 - h) - bh * h), n + 0.01 * (an * (1 - n) - bn * n),
    )  # fmt: skip


PROGRAMS = {
    "Euler's rule, 1 number": (logistic, [1.0], 1500),
    "Lorenz, Runge and Kutta": (lorenz, [1.0, 1.0, 1.0], 2000),
    "filter of 1 number": (kalman, [0.0, 1.0, 0.0], 1000),
    "Hodgkin and Huxley": (neuron, [-65.0, 0.05, 0.6, 0.32], 500),
}


def ways(step, start, count):
    """Return a loop of Python and a scan."""
    seen = np.sin(0.1 * np.arange(count))

    def begun(p):
        return tuple([p[0] * 0 + x for x in start])

    def loop(p):
        state = begun(p)
        for x in seen:
            state = step(state, x, p)
        return state[-1]

    def scan(p):
        return ng.scan(lambda state, x: (step(state, x, p), None), begun(p), seen)[0][-1]

    return loop, scan


def measured(f, x=P, calls=200):
    """Return the seconds of the processor that the first call takes, and the fastest later one."""
    spans = []
    for _ in range(calls):
        begun = time.process_time()
        f(x)
        spans.append(time.process_time() - begun)
    return spans[0], min(spans)


def stored(p, count):
    """Keep the numbers of the logistic map in an array."""
    x = ng.zeros(count)
    x[0] = p[0] * 0.1
    for t in range(1, count):
        x[t] = 3 * p[1] * x[t - 1] * (1 - x[t - 1])
    return (x * x).sum()


def driven(u, count):
    """Push an oscillator with another element of an array at each step."""
    x, v, cost = 1.0, 0.0, 0.0
    for t in range(count):
        v = v + 0.01 * (u[t] - x)
        x = x + 0.01 * v
        cost = cost + x * x + 0.1 * u[t] ** 2
    return cost


def smoothed(u, count):
    """Add up the squares of an element and its two neighbours, averaged over time."""
    x, cost = u[:3], 0.0
    for t in range(1, count - 1):
        x = 0.5 * x + u[t - 1 : t + 2]
        cost = cost + (x * x).sum()
    return cost


def by_columns(u, count):
    """Do so with the columns of a matrix."""
    m = u * np.ones((4, 1))
    x, cost = m[:, 0], 0.0
    for t in range(1, count):
        x = 0.5 * x + m[:, t]
        cost = cost + (x * x).sum()
    return cost


def recursive(p, count):
    """Keep the numbers of a recursion that reads the last three of them."""
    x = ng.zeros(count)
    x[:3] = p
    for t in range(3, count):
        x[t] = (x[t - 3 : t] * p).sum() * 0.3
    return (x * x).sum()


PARTS = {
    "series in an array": stored, "force at each step": driven, "window of three": smoothed,
    "column of four": by_columns, "recursion over three": recursive,
}  # fmt: skip


def parts():
    """Print what loops take that write or read another part of an array at each turn."""
    for name, f in PARTS.items():
        for count in (500, 1000, 2000):
            x = P if f in (stored, recursive) else np.cos(np.arange(float(count)))
            function = lambda x, f=f, n=count: f(x, n)  # noqa: E731
            cells = []
            for transform in (lambda f: f, ng.func.value_and_grad):
                ng.jit(transform(function), fuse="now")(x)  # so that the kernels are on disk
                first, best = measured(ng.jit(transform(function)), x, 60)
                cells.append(f"{first:.2f} | {best * 1e6:.0f}")
            print(f"| {name}, {count} turns | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__" and sys.argv[1:] == ["parts"]:
    parts()
elif __name__ == "__main__":
    for name, (step, start, count) in PROGRAMS.items():
        for what, transform in (("value", lambda f: f), ("and gradient", ng.func.value_and_grad)):
            loop, scan = ways(step, start, count)
            for f in (loop, scan):
                ng.jit(transform(f), fuse="now")(P)  # so that the kernels are on disk
            made = [ng.jit(transform(loop), fuse="never"), ng.jit(transform(loop))]
            row = [measured(f) for f in (*made, ng.jit(transform(scan)))]
            cells = " | ".join([f"{first:.2f} | {best * 1e6:.0f}" for first, best in row])
            print(f"| {name}, {count} turns, {what} | {cells} |", flush=True)
