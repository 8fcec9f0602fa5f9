"""What it costs to record one operation on small arrays, beside torch: a table in Markdown.

``python -m asv_benchmarks.peers.recording`` prints it: interleaved rounds in one process, the
minimum of each operation.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import numgrad as ng

Operation = Callable[[], Any]
CALLS = 50


class Operands:
    """The same tensors of one library: on a graph, constant, and leaves."""

    def __init__(self, library: Any) -> None:
        array = np.linspace(0.1, 0.9, 8)
        matrix = np.linspace(0.1, 0.9, 16).reshape(4, 4)
        self.library = library
        self.leaf = library.tensor(array, requires_grad=True)
        self.x, self.y = self.leaf * 1.0, self.leaf * 1.0
        self.m = library.tensor(matrix, requires_grad=True) * 1.0
        self.s = (self.x * self.x).sum()
        self.c = library.tensor(array)
        self.mask = self.c > 0.5
        self.array = array
        self.indices = library.tensor(np.array([0, 2, 5, 5]))
        self.columns = library.tensor(np.array([0, 2]))


def shared(o: Operands) -> dict[str, Operation]:
    """Return the operations that are spelled alike."""
    x, y, m, s, c, lib = o.x, o.y, o.m, o.s, o.c, o.library
    return {
        "`x * y`, no graph": lambda: c * c,
        "`x * y`": lambda: x * y,
        "`x + y`": lambda: x + y,
        "`x * 2.0`": lambda: x * 2.0,
        "`2.0 - x`": lambda: 2.0 - x,
        "`x * s`, `s` without axes": lambda: x * s,
        "`-x`": lambda: -x,
        "`sin(x)`": lambda: lib.sin(x),
        "`exp(x)`": lambda: lib.exp(x),
        "`maximum(x, y)`": lambda: lib.maximum(x, y),
        "`where(mask, x, y)`": lambda: lib.where(o.mask, x, y),
        "`x > y`": lambda: x > y,
        "`x[2]`": lambda: x[2],
        "`x[1:]`": lambda: x[1:],
        "`x[..., None]`": lambda: x[..., None],
        "`m.reshape(2, 8)`": lambda: m.reshape(2, 8),
        "`m.T`": lambda: m.T,
        "`broadcast_to(x, (4, 8))`": lambda: lib.broadcast_to(x, (4, 8)),
        "`roll(x, 1)`": lambda: lib.roll(x, 1),
        "`x.sum()`": lambda: x.sum(),
        "`m.sum(0)`": lambda: m.sum(0),
        "`x.mean()`": lambda: x.mean(),
        "`x.max()`": lambda: x.max(),
        "`cumsum(x, 0)`": lambda: lib.cumsum(x, 0),
        "`x[[0, 2, 5]]`": lambda: x[[0, 2, 5]],
        "`x[indices]`": lambda: x[o.indices],
        "`m[:, indices]`": lambda: m[:, o.columns],
        "`concat([x, y])`": lambda: lib.concat([x, y]),
        "`stack([x, y])`": lambda: lib.stack([x, y]),
        "`m @ m`, 4 x 4": lambda: m @ m,
        "`x.detach()`": lambda: x.detach(),
        "`s.item()`": lambda: s.item(),
        "`tensor(array, requires_grad=True)`": lambda: lib.tensor(o.array, requires_grad=True),
    }


def passes(o: Operands) -> dict[str, Operation]:
    """Return small graphs and their passes."""
    grad, base = (
        (ng.grad, ng.Function)
        if o.library is ng
        else (torch.autograd.grad, torch.autograd.Function)
    )

    class Squares(base):  # type: ignore[misc, valid-type]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2.0 * x * g

    def backward() -> None:
        o.leaf.grad = None
        (o.leaf * o.leaf).sum().backward()

    hooked, own = o.library.sin(o.leaf), Squares.apply(o.leaf)
    hooked.register_hook(lambda g: None)
    again = {"retain_graph": True}
    return {
        "`grad(x * x, x, g)`, both": lambda: grad(o.leaf * o.leaf, o.leaf, o.c),
        "`(x * x).sum().backward()`, both": backward,
        "`grad(y, x, g)`, `y = sin(x)` has a hook": lambda: grad(hooked, o.leaf, o.c, **again),
        "a `Function`, `apply(x)`": lambda: Squares.apply(o.leaf),
        "its pass, `grad(y, x, g)`": lambda: grad(own, o.leaf, o.c, **again),
    }


def seconds(operation: Operation) -> float:
    began = time.perf_counter()
    for _ in range(CALLS):
        operation()
    return (time.perf_counter() - began) / CALLS


def measured(rounds: int) -> dict[str, list[float]]:
    """Return the minimum of all rounds of each operation, in seconds: ours, then torch's."""
    systems = []
    for library in (ng, torch):
        operands = Operands(library)
        systems.append(shared(operands) | passes(operands))
    best = {name: [np.inf, np.inf] for name in systems[0]}
    for _ in range(rounds + 3):  # the first of them learn
        for name, times in best.items():
            for n, system in enumerate(systems):
                times[n] = min(times[n], seconds(system[name]))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print("| operation | numgrad | torch | ratio |\n|---|---|---|---|")
    for name, (ours, theirs) in measured(rounds).items():
        print(f"| {name} | {ours * 1e9:.0f} | {theirs * 1e9:.0f} | {ours / theirs:.2f} |")


if __name__ == "__main__":
    main()
