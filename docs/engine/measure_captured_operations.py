"""What an operation costs while a function is captured, before anything is computed: a figure of
`programs.md`.

python docs/engine/measure_captured_operations.py
"""

import time

import numpy as np

import numgrad as ng

X = np.sin(np.arange(12.0)).reshape(3, 4)
Y = np.cos(X)
INDICES = np.array([2, 0, 1])
OPERATIONS = {
    "x + x": lambda x: x + x,
    "x * 0.5": lambda x: x * 0.5,
    "x * array": lambda x: x * Y,
    "where(x > 0, x, x)": lambda x: ng.where(x > 0, x, x),
    "clip(x, 0, 1)": lambda x: ng.clip(x, 0.0, 1.0),
    "x.sum(axis=0)": lambda x: x.sum(axis=0),
    "x.max(axis=0)": lambda x: x.max(axis=0),
    "x.mean(axis=1)": lambda x: x.mean(axis=1),
    "cumsum(x, axis=0)": lambda x: ng.cumsum(x, axis=0),
    "sort(x)": ng.sort,
    "concatenate([x, x])": lambda x: ng.concatenate([x, x]),
    "stack([x, x])": lambda x: ng.stack([x, x]),
    "x @ x.T": lambda x: x @ x.T,
    "array @ x": lambda x: Y.T @ x,
    "einsum": lambda x: ng.einsum("ij,kj->ik", x, x),
    "x[1:]": lambda x: x[1:],
    "x[indices]": lambda x: x[INDICES],
    "x[:, indices]": lambda x: x[:, INDICES],
    "take(x, indices, axis=0)": lambda x: ng.take(x, INDICES, axis=0),
    "take_along_axis(x, indices, 1)": lambda x: ng.take_along_axis(x, INDICES[:, None], 1),
}
COUNT, ROUNDS = 2000, 5


def cost(operation, with_graph):
    """Return the microseconds of processor time that an operation takes in a captured function."""
    spans = []

    def program(x):
        x = x * 1.0
        begun = time.process_time()
        for _ in range(COUNT):
            y = operation(x)
        spans.append(time.process_time() - begun)
        return y.sum()

    for _ in range(ROUNDS):
        ng.jit(ng.func.grad(program) if with_graph else program, fuse="never")(X)
    return min(spans) / COUNT * 1e6


def main():
    """Print a table: for each operation its cost without and with a graph."""
    for name, operation in OPERATIONS.items():
        costs = [f"{cost(operation, with_graph):.1f}" for with_graph in (False, True)]
        print(f"| `{name}` | {' | '.join(costs)} |", flush=True)


if __name__ == "__main__":
    main()
