"""Loops, drawn at random, that read and write windows, columns and strided parts of arrays."""


import numgrad as ng


class RandomWindows:
    """A loop over a matrix of forces, which keeps its states in another matrix.

    A turn reads a window of the forces and one of earlier states, and writes a state.
    """

    def __init__(self, rng, turns):
        self.turns, self.rows = turns, int(rng.choice([1, 2, 3]))
        self.width, self.step = int(rng.choice([1, 2, 3, 5])), int(rng.choice([1, 1, 2, 3, -1, -2]))
        self.stride = int(rng.choice([0, 1, 1, 2, 3]))
        self.back, self.lead = int(rng.choice([1, 2, 4])), int(rng.choice([1, 3]))
        self.first = int(rng.integers(self.rows))
        flags = rng.random(6) < (0.5, 0.4, 0.5, 0.3, 0.3, 0.3)
        self.by_rows, self.one_row, self.keeps, self.twice, self.negates, self.wraps = flags
        self.reach = self.width * abs(self.step)

    @property
    def count(self):
        """The positions that all turns read."""
        return self.turns * max(self.stride, 1) + self.reach + 1

    def window(self, t):
        """Return the slice of the forces that turn ``t`` reads."""
        begin = t * self.stride % (self.count - self.reach if not self.wraps else 17)
        if self.step > 0:
            return slice(begin, begin + self.reach, self.step)
        return slice(begin + self.reach, begin, self.step)

    def __call__(self, u):
        u = u[: self.rows * self.count].reshape(self.rows, self.count)
        states = ng.zeros((self.rows, self.turns + self.lead))
        states[:, : self.lead] = u[:, : self.lead] * 0.5
        u, rows = u * 1.0, slice(None)
        if self.one_row:
            rows = self.first
        total = 0.0
        for t in range(self.turns):
            force = u[rows, self.window(t)]
            force = -0.0 * force if self.negates else force * 0.3
            at, low = t + self.lead, max(t + self.lead - self.back, 0)
            before = states[:, low:at].sum(axis=1)
            new = 0.4 * before + force.sum()
            if self.twice:
                new = new + 0.1 * states[:, at - 1]
            states[:, at] = new
            if self.by_rows:
                total = total + (force * force).sum()
        return total + (states * states).sum() if self.keeps else total + states[0, -1]


def random_windows(rng, turns):
    """Return a function of one array, and the array."""
    made = RandomWindows(rng, turns)
    u = rng.standard_normal(made.rows * made.count)
    u[rng.random(len(u)) < 0.1] = rng.choice([0.0, -0.0])
    return made, u
