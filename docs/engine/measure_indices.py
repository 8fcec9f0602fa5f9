"""Measure gathers and scatters beside NumPy and torch, which must be installed, on one thread.

``python docs/engine/measure_indices.py`` prints the table of `indices.md`: milliseconds of
processor time, the least of rounds that take turns in one process.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import numgrad as ng

Call = Callable[[], Any]
CASES = {  # rows of the table, elements of a row, indices
    "10^3 of 10^3": (1_000, 1, 1_000),
    "10^5 of 10^5": (100_000, 1, 100_000),
    "10^6 of 10^5": (100_000, 1, 1_000_000),
    "10^6 of 10^6": (1_000_000, 1, 1_000_000),
    "10^5 rows of 16": (100_000, 16, 100_000),
    "10^6 of a 10^3 x 10^3 matrix": (1_000, 1_000, 1_000_000),
}


def gathers(table: np.ndarray, index: Any) -> dict[str, Call]:
    """Return what gathers, by the name of the system."""
    leaf, t_leaf = ng.tensor(table, requires_grad=True), torch.tensor(table, requires_grad=True)
    at = [torch.tensor(i) for i in index]
    late = ng.jit(lambda x, *index: x[index])
    return {
        "NumPy": lambda: table[index],
        "torch": lambda: t_leaf[tuple(at)],
        "eager": lambda: leaf[index],
        "captured": lambda: late(table, *index),
    }


def scatters(table: np.ndarray, index: Any) -> dict[str, Call]:
    """Return what computes the gradient of a gather for given cotangents."""
    g = np.random.default_rng(1).standard_normal(table[index].shape)
    leaf, t_leaf = ng.tensor(table, requires_grad=True), torch.tensor(table, requires_grad=True)
    at, tg = [torch.tensor(i) for i in index], torch.tensor(g)
    y, ty = leaf[index], t_leaf[tuple(at)]

    def with_numpy() -> np.ndarray:
        out = np.zeros_like(table)
        np.add.at(out, index, g)
        return out

    def slope(x: Any, g: Any, *index: Any) -> Any:
        return ng.func.vjp(lambda x: x[index], x)[1](g)[0]

    late = ng.jit(slope)
    calls = {
        "NumPy": with_numpy,
        "torch": lambda: torch.autograd.grad(ty, t_leaf, tg, retain_graph=True),
        "eager": lambda: ng.grad(y, leaf, g, retain_graph=True),
        "captured": lambda: late(table, g, *index),
    }
    if len(index) == 1:
        calls["torch index_add"] = lambda: torch.zeros_like(t_leaf).index_add(0, at[0], tg)
    return calls


def measured(calls: dict[str, Call], rounds: int) -> dict[str, float]:
    """Return the least time of each call in milliseconds."""
    least = dict.fromkeys(calls, np.inf)
    times = dict.fromkeys(calls, 200)  # at first: what is learned of an operation takes many calls
    for _ in range(rounds + 1):
        for name, call in calls.items():
            began = time.thread_time()
            done = 0
            while done < times[name]:
                call()
                done += 1
                if time.thread_time() - began > 0.1:
                    break
            least[name] = min(least[name], 1e3 * (time.thread_time() - began) / done)
            times[name] = max(1, int(1 / least[name]))  # then for a millisecond at least
    return least


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    ng.set_flags(threads=1)
    names = ("NumPy", "torch", "torch index_add", "eager", "captured")
    print("| | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    rng = np.random.default_rng(0)
    for case, (rows, columns, count) in CASES.items():
        is_matrix = "matrix" in case
        table = rng.standard_normal((rows, columns) if columns > 1 else rows)
        shape = table.shape if is_matrix else table.shape[:1]
        index = tuple(rng.integers(0, size, count) for size in shape)
        for what, make in (("gather", gathers), ("gradient", scatters)):
            found = measured(make(table, index), rounds)
            cells = [f"{found[name]:.3g}" if name in found else "" for name in names]
            print(f"| {what} {case} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
