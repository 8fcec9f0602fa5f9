"""Loops, drawn at random, that read and write parts of arrays."""

import numpy as np

import numgrad as ng

SLOTS = [
    lambda t, n: t % n,
    lambda t, n: n - 1 - t % n,
    lambda t, n: 2 * t % n,
    lambda t, n: 0,
    lambda t, n: t * t % n,
    lambda t, n: -1 - t % n,
]


class RandomWrites:
    """A loop that writes parts of an array, each of them computed from others.

    A part is an element, a row, or a few of them.
    """

    def __init__(self, rng):
        self.turns = int(rng.choice([3, 9, 10, 11, 25, 40]))
        self.count = int(rng.choice([7, 25, 40]))
        self.width = int(rng.choice([0, 0, 2]))
        self.slots = [int(n) for n in rng.integers(0, len(SLOTS), 4)]
        self.span = int(rng.choice([0, 0, 0, 1, 3]))
        self.read_span = int(rng.choice([0, 0, 1, 2]))
        self.whole_at = rng.choice([-1, -1, 5, 12, 20], 2).tolist()
        flags = rng.random(8) < (0.5, 0.3, 0.3, 0.4, 0.3, 0.3, 0.2, 0.5)
        self.given, self.twice, self.adds, self.reads_old, self.branches = flags[:5]
        self.constant, self.negates, self.sums = flags[5:]

    def key(self, t, which, span):
        """Return the key of a part of the arrays."""
        place = SLOTS[self.slots[which]](t, self.count)
        if not span:
            return place
        place = min(place % self.count, self.count - span)
        return slice(place, place + span)

    def __call__(self, u):
        shape = (self.count, self.width) if self.width else (self.count,)
        u = u[: 2 * self.count].reshape(2, self.count)[:, :, None] * np.ones(self.width or 1)
        u = u.reshape(2, *shape)
        u, x = u[0], (u[1] * 1.0 if self.given else ng.zeros(shape))
        total, y = 0.0, u[0] * 0.5
        for t in range(self.turns):
            force = u[self.key(t, 0, self.read_span)]
            force = force.sum(axis=0) if self.read_span else force
            y = y * 0.5 + (-0.0 * force if self.negates else ng.sin(force))
            if self.reads_old:
                y = y + 0.1 * x[self.key(t, 1, 0)]
            self.write(x, t, y)
            if t in self.whole_at:
                total = total + (x * x).sum()
                if self.branches:
                    x = x * 1.0
        total = total + (y * y).sum()
        return total + (x * x).sum() if self.sums else total + ng.asarray(x[0]).sum()

    def write(self, x, t, y):
        key = self.key(t, 2, self.span)
        if self.adds:
            x[key] += y
        else:
            x[key] = 1.5 if self.constant and t % 3 == 0 else y
        if self.twice:
            x[self.key(t, 3, 0)] = y * 0.5


def random_writes(rng):
    """Return a function of one array, and the array."""
    u = rng.standard_normal(80)
    u[rng.random(80) < 0.1] = rng.choice([0.0, -0.0])
    return RandomWrites(rng), u
