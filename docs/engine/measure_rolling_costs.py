"""What a turn of a loop on few numbers takes, as instructions and as a kernel with a loop: the
figures of `engine/rolling/costs.py`, fitted to loops of several kinds and sizes.

python docs/engine/measure_rolling_costs.py
"""

import math
import time

import numpy as np
from scipy.optimize import nnls

import numgrad as ng
from numgrad.engine.rolling import costs, roll

TURNS = 300
RNG = np.random.default_rng(0)
A = RNG.normal(size=(64, 64)) * 0.2


def euler(x):
    return x + 0.01 * (1.0 - x * x) * x


def waves(x):
    return x + 0.01 * ng.sin(x)


def joined(x):
    return x + 0.01 * x * (x * x).sum()


def shares(x):
    x = x * 0.5 + ng.tanh(x)
    return x / x.sum()


def linear(x):
    return x + 0.01 * (A[: len(x), : len(x)] @ x)


def network(x):
    return ng.tanh(A[: len(x), : len(x)] @ x)


def bodies(x):
    d = x[:, None] - x[None, :]
    return x + 0.01 * (d / (1.0 + d * d)).sum(1)


def swarm(x):
    d = x[:, None] - x[None, :]
    return x + 0.01 * ng.exp(-d * d).sum(1)


def heat(x):
    return ng.concatenate([x[:1], x[1:-1] + 0.1 * (x[2:] - 2 * x[1:-1] + x[:-2]), x[-1:]])


SIZES = {
    euler: (4, 8, 16, 32, 64), waves: (2, 4, 8, 16, 32), joined: (4, 8, 16, 32),
    shares: (4, 8, 16, 32), linear: (3, 4, 6, 8, 14, 20), network: (3, 4, 6, 8, 14, 20),
    bodies: (3, 4, 6, 8), swarm: (3, 4, 6, 8), heat: (8, 16, 32),
}  # fmt: skip
NAMES = "alone", "fused", "simple", "called", "slow", "joined"


def counts(patterns):
    """Return, for the instructions of a turn, how many stand alone or are fused, and their
    elements: of simple functions, of those that call quick ones, of those that call slow ones, and
    of sums and products."""
    found = np.zeros(6)
    simple, quick = map(costs.scalar_cost, (lambda x: x, lambda x: math.exp(x)))
    for pattern in patterns:
        size = costs.width(pattern, 1)
        cost = costs.scalar_cost(getattr(pattern.spec, "function", None))
        kind = 5 if not pattern.fusible else 2 if cost == simple else 3 if cost == quick else 4
        found[int(pattern.fusible)] += 1
        found[kind] += size
    return found


def measured(step, size):
    """Return the nanoseconds of a turn, forth and back, as instructions and in a loop, and the
    counts of what a turn does; nothing for a loop that is not rolled."""

    def total(x):
        for _ in range(TURNS):
            x = step(x)
        return (x * x).sum()

    x, met, found = RNG.uniform(0.1, 0.4, size=size), [], []
    for decide in (lambda *_: False, lambda patterns, batch: met.append(counts(patterns)) or True):
        roll.is_faster_as_scalars = decide
        found.append(ng.jit(ng.func.value_and_grad(total), fuse="now"))
        found[-1](x)
    best = [float("inf")] * 2
    for _ in range(60):
        for n, function in enumerate(found):
            began = time.process_time()
            function(x)
            best[n] = min(best[n], time.process_time() - began)
    return [t / TURNS * 1e9 for t in best], sum(met), len(met)


def fitted(columns, nanoseconds):
    """Return the weights of columns that fit the times, with equal relative errors."""
    return nnls(columns / nanoseconds[:, None], np.ones(len(nanoseconds)))[0]


if __name__ == "__main__":
    rows = []
    for step, sizes in SIZES.items():
        for size in sizes:
            (apart, inside), found, loops = measured(step, size)
            if not loops:
                continue
            rows.append((*found, loops, apart, inside))
            ratio = inside / apart
            print(f"| {step.__name__} | {size} | {apart:.0f} | {inside:.0f} | {ratio:.2f} |")
    table = np.array(rows)
    for name, columns, times in (
        ("instructions", table[:, :6], table[:, 7]),
        ("a loop in a kernel", table[:, 2:7], table[:, 8]),
    ):
        weights = fitted(columns, times)
        names = NAMES if len(weights) == 6 else (*NAMES[2:], "turn")
        print(name, *[f"{n} {w:.2f}" for n, w in zip(names, weights, strict=True)])
