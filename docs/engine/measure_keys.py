"""Keys that differ from call to call, beside torch: ``python docs/engine/measure_keys.py``.

Microseconds of processor time on one thread for a value and its gradient, the least of some rounds
that take turns in one process: for keys that were never met, and for keys that come back.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[2]))
import numgrad as ng

STRIDE, VECTOR, ROWS = 7919, 1500, 500  # a prime: the keys of a run of calls do not repeat


def squares(y: Any) -> Any:
    return (y**2).sum()


def written(y: Any, key: Any, value: Any) -> Any:
    y[key] = value
    return squares(y)


PROGRAMS: dict[str, Callable[[Any, Any, int, int], Any]] = {
    "`x[i]`": lambda x, m, i, j: x[i] * 2.0,
    "`x[np.int64(i)]`": lambda x, m, i, j: x[np.int64(i)] * 2.0,
    "`x[i : i + 16]`": lambda x, m, i, j: squares(x[i : i + 16]),
    "`x[i : i + 16, None]`": lambda x, m, i, j: squares(x[i : i + 16, None]),
    "`x[i : i + 32][4:12]`": lambda x, m, i, j: squares(x[i : i + 32][4:12]),
    "`m[j]`": lambda x, m, i, j: squares(m[j]),
    "`m[j, i % 16]`": lambda x, m, i, j: m[j, i % 16] * 2.0,
    "`m[j, 3]` and `m[j, 4]`": lambda x, m, i, j: m[j, 3] ** 2 + m[j, 4] ** 2,
    "`m[j, 3:9]`": lambda x, m, i, j: squares(m[j, 3:9]),
    "`y[i] = v`": lambda x, m, i, j: written(x * 1.0, i, x[0]),
    "`y[i : i + 16] = v`": lambda x, m, i, j: written(x * 1.0, slice(i, i + 16), x[:16]),
}


def call_of(library: Any, program: Any, arrays: Any) -> Callable[[int], Any]:
    """Return a function of the number of a call that computes a value and its gradient."""
    x, m = [library.tensor(array, requires_grad=True) for array in arrays]
    grad = ng.grad if library is ng else torch.autograd.grad

    def call(k: int) -> Any:
        place = k * STRIDE
        y = program(x, m, place % (VECTOR - 32), place % ROWS)
        return grad(y, [x, m], allow_unused=True)

    return call


def measure(calls: list[Callable[[int], Any]], before: int, rounds: int) -> list[float]:
    """Return microseconds of each function, after as many calls."""
    least = [float("inf")] * len(calls)
    for call in calls:
        for k in range(before):
            call(k)
    for first in range(before, before + 20 * rounds, 20):
        for n, call in enumerate(calls):
            began = process_time()
            for k in range(first, first + 20):
                call(k)
            least[n] = min(least[n], (process_time() - began) / 20 * 1e6)
    return least


def main() -> None:
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    arrays = rng.uniform(0.1, 0.9, VECTOR), rng.uniform(0.1, 0.9, (ROWS, 16))
    print("| | new | torch | come back | torch |\n|---|---|---|---|---|")
    for name, program in PROGRAMS.items():
        ng.set_flags()  # which forgets what was learned
        calls = [call_of(library, program, arrays) for library in (ng, torch)]
        found = [*measure(calls, 120, 18), *measure(calls, 4500, 30)]
        print(f"| {name} | " + " | ".join(f"{time:.3g}" for time in found) + " |")


if __name__ == "__main__":
    main()
