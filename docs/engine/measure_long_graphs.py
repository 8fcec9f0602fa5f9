"""What an operation of a long eager loop takes, recorded, differentiated and freed: the figures of
`recording.md`.

python docs/engine/measure_long_graphs.py
python docs/engine/measure_long_graphs.py torch
"""

import sys
import time

import numpy as np


def tools(name):
    """Return a leaf, a sine and `grad` of a library."""
    if name == "torch":
        import torch

        torch.set_num_threads(1)
        leaf = torch.ones(1, dtype=torch.float64, requires_grad=True)
        return leaf, torch.sin, torch.autograd.grad
    import numgrad as ng

    return ng.tensor(np.ones(1), requires_grad=True), ng.sin, ng.grad


def linear(x, count, _):
    y = x
    for _ in range(count // 2):
        y = y * 0.999 + x
    return y


def with_sines(x, count, sin):
    y = x
    for _ in range(count // 3):
        y = y + 0.001 * sin(y)
    return y


def main():
    """Print microseconds of processor time for an operation, in the mean and at best."""
    name = (sys.argv[1:] or ["numgrad"])[0]
    x, sin, grad = tools(name)
    for f in (linear, with_sines):
        for count, rounds in ((1000, 300), (100_000, 12)):
            spans = []
            for _ in range(5 + rounds):
                begun = time.process_time()
                y = f(x, count, sin)
                grad(y.sum(), [x])
                del y
                spans.append((time.process_time() - begun) / count * 1e6)
            mean, best = np.mean(spans[5:]), min(spans[5:])
            print(f"{name} {f.__name__} {count}: {mean:.2f} {best:.2f}", flush=True)


if __name__ == "__main__":
    main()
