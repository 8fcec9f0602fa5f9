"""Loops drawn at random."""


import numgrad as ng

OPERATIONS = [
    lambda a, b: a + b * 0.1,
    lambda a, b: a * 0.5 - b * 0.25,
    lambda a, b: ng.sin(a) + b * 0.1,
    lambda a, b: ng.tanh(a * b),
    lambda a, b: a / (1.5 + b * b),
    lambda a, b: ng.exp(-a * a) * b,
    lambda a, b: ng.where(a > b, a, b * 0.5),
    lambda a, b: ng.sqrt(1 + a * a) - b * 0.1,
    lambda a, b: ng.maximum(a, b) * 0.9,
    lambda a, b: -a * 0.7 + b * 0.2,
]


class RandomLoop:
    """A loop over a few numbers or short arrays: what a turn does, and what is read afterwards."""

    def __init__(self, rng):
        self.turns = int(rng.choice([0, 1, 2, 3, 12, 20, 41, 100]))
        self.width = int(rng.choice([0, 0, 3]))
        count, steps = rng.integers(1, 4), rng.integers(2, 7)
        self.states = int(count)
        self.steps = [tuple(map(int, rng.integers(0, 1000, 3))) for _ in range(steps)]
        self.following = rng.integers(0, steps, count).tolist()
        self.data = rng.standard_normal(100) if rng.random() < 0.4 else None
        self.moves = int(rng.choice([0, 0, 1, -1]))
        flags = rng.random(6) < (0.5, 0.4, 0.25, 0.25, 0.3, 0.3)
        self.keeps, self.stacks, self.nests, self.looks_back, self.begins, self.again = flags

    def turn(self, x, t, state, before):
        values = list(state)
        if self.moves:
            values.append(x[105 + self.moves * t])
        if self.data is not None:
            values.append(self.data[t])
        if self.looks_back:
            values.append(before)
        if self.begins and t == 0:
            values[0] = values[0] * 2
        first = len(values)
        for which, i, j in self.steps:
            operation = OPERATIONS[which % len(OPERATIONS)]
            values.append(operation(values[i % len(values)], values[j % len(values)]))
        for _ in range(3 if self.nests else 0):
            values[-1] = values[-1] * 0.5 + values[0] * 0.1
        made = zip(self.following, state, strict=True)
        return [values[first + n] * 0.5 + old * 0.3 for n, old in made], values[first] * 1.0

    def __call__(self, x):
        w = self.width
        state = [(x[w * n : w * n + w] if w else x[n]) * 1.0 for n in range(self.states)]
        kept, before = [], state[0]
        for t in range(self.turns):
            following, part = self.turn(x, t, state, before)
            before, state = state[0], following
            if self.keeps:
                kept.append(part)
        last = state[0]
        for t in range(self.turns if self.again else 0):
            last = last * 0.9 + ng.sin(kept[t] if kept else last)
        total = sum([ng.asarray(value).sum() for value in (last, *state)])
        if kept and self.stacks:
            return total + (ng.stack(kept) ** 2).sum()
        return total + kept[len(kept) // 2].sum() + kept[0].sum() if kept else total


def random_loop(rng):
    """Return a function of one array, and the array."""
    return RandomLoop(rng), rng.standard_normal(210) * 0.5
