"""What sparse Jacobians and Hessians cost, beside loops written by hand for one of them."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from scipy.optimize._numdiff import group_columns
from scipy.sparse import csr_array, diags_array, kronsum

import numgrad as ng

ROUNDS = 200


def bratu(u: Any) -> Any:
    """Return the residual of Bratu's equation on a square."""
    n = round(u.size**0.5)
    u = u.reshape(n, n)
    p = ng.pad(u, 1)
    around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    return (around - 4 * u + ng.exp(u) / (n + 1) ** 2).reshape(-1)


@njit
def fill(u: Any, data: Any) -> None:
    """Write the entries of its Jacobian, row after row."""
    n = int(u.size**0.5 + 0.5)
    k = 0
    for i in range(n):
        for j in range(n):
            if i > 0:
                data[k] = 1.0
                k += 1
            if j > 0:
                data[k] = 1.0
                k += 1
            data[k] = -4 + np.exp(u[i * n + j]) / (n + 1) ** 2
            k += 1
            if j < n - 1:
                data[k] = 1.0
                k += 1
            if i < n - 1:
                data[k] = 1.0
                k += 1


def bidiagonal(x: Any) -> Any:
    """Return a function whose Jacobian has two diagonals."""
    y = x**2
    return ng.concatenate([y[:1], y[1:] - x[:-1]])


def banded(x: Any) -> Any:
    """Return a scalar whose Hessian has five diagonals."""
    return ((x[1:] - x[:-1] ** 2) ** 2).sum() + ng.sin(x[2:] * x[:-2]).sum()


def in_turns(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the median seconds of each call, all of them called in every round."""
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.process_time()
            call()
            spent[name].append(time.process_time() - start)
    return {name: float(np.median(times)) for name, times in spent.items()}


def once(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and the seconds that it took."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def evaluations() -> None:
    """Print what prepared matrices cost at each point."""
    u = np.random.default_rng(0).random(256 * 256)
    ways = {way: ng.sparse.prepare(bratu, u, coloring=way) for way in ("row", "column")}
    pattern = ways["row"].pattern

    def by_hand() -> Any:
        data = np.empty(pattern.nnz)
        fill(u, data)
        return csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)

    assert np.allclose(by_hand().data, ways["row"](u).data)
    x, z = np.linspace(0, 1, 36_000), np.linspace(0, 1, 10_000)
    two = ng.sparse.prepare(bidiagonal, x)
    hessians = {way: ng.sparse.prepare_hessian(banded, z, coloring=way) for way in
                ("star", "acyclic")}  # fmt: skip
    calls: dict[str, Callable[[], Any]] = {"Bratu 256 x 256, by hand": by_hand}
    calls |= {f"Bratu 256 x 256, {p}": lambda p=p: p(u) for p in ways.values()}
    calls |= {f"two diagonals, {two}": lambda: two(x)}
    calls |= {f"banded objective, {p}": lambda p=p: p(z) for p in hessians.values()}
    for name, seconds in in_turns(calls).items():
        print(f"{name}: {1e3 * seconds:.3f} ms")


def preparations() -> None:
    """Print what it takes to prepare a large one, and to find colours."""
    ng.sparse.prepare(bratu, np.zeros(16))  # the kernels are loaded
    for n in (256, 1000):
        prepared, seconds = once(lambda n=n: ng.sparse.prepare(bratu, np.zeros(n * n)))
        print(f"{prepared} prepared in {seconds:.3f} s")
    line = diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(256, 256))
    groups, seconds = once(lambda: group_columns(csr_array(kronsum(line, line))))
    print(f"scipy's group_columns on it: {groups.max() + 1} groups in {seconds:.4f} s")


if __name__ == "__main__":
    evaluations()
    preparations()
