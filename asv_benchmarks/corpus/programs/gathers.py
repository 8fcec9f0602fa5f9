"""Elements by index: other positions at each call, tables, sums over groups, sorting."""

from typing import Any

import numpy as np

from ..program import Family

STRIDE = 7919  # a prime: the positions of a run of calls do not repeat


def vector(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.uniform(0.1, 0.9, n), 0


one = Family("one element, another at each call", size=1500, tiny=5, inputs=vector)


def element(np: Any, x: Any, i: Any) -> Any:
    return x[i] * x[i]


one.add("a Python int", element, varying=lambda k, n: (k * STRIDE % n,))
one.add("an np.int64", element, varying=lambda k, n: (np.int64(k * STRIDE % n),))
one.add("an array of no dimension", element, varying=lambda k, n: (np.array(k * STRIDE % n),))
one.add("take", lambda np, x, i: np.take(x, i, axis=0)[0] ** 2,
        varying=lambda k, n: (np.array([k * STRIDE % n]),))  # fmt: skip

several = Family("20 elements, others at each call", size=1500, tiny=5, inputs=vector)


def together(np: Any, x: Any, i: Any) -> Any:
    return (x[i] ** 2).sum()


def one_by_one(np: Any, x: Any, i: Any) -> Any:
    total = 0.0
    for j in i:
        total = total + x[j] ** 2
    return total


def positions(k: int, n: int) -> list[int]:
    return [(k * STRIDE + 37 * j) % n for j in range(20)]


several.add("an array", together, varying=lambda k, n: (np.array(positions(k, n)),))
several.add("Python ints one by one", one_by_one,
            varying=lambda k, n: (positions(k, n),), own={"jax": together},
            without={"jax": "its best form is the array, another row"})  # fmt: skip

window = Family("a window, another at each call", size=1500, tiny=40, inputs=vector)
OTHER = {"without": {"jax": "a slice with traced ends is another function there"}}
window.add("a slice", lambda np, x, i: (x[i : i + 16] ** 2).sum(), **OTHER,
           varying=lambda k, n: (k * STRIDE % (n - 16),))  # fmt: skip
window.add("an array", together,
           varying=lambda k, n: (k * STRIDE % (n - 16) + np.arange(16),))  # fmt: skip

row = Family(
    "a row, another at each call", size=500, tiny=5,
    inputs=lambda rng, n: (rng.standard_normal((n, 16)), 0),
)  # fmt: skip
row.add("a Python int", lambda np, x, i: (x[i] ** 2).sum(),
        varying=lambda k, n: (k * STRIDE % n,))  # fmt: skip
row.add("a pair of ints", lambda np, x, i: x[i, 3] ** 2 + x[i, 4] ** 2,
        varying=lambda k, n: (k * STRIDE % n,))  # fmt: skip
row.add("an array of one", lambda np, x, i: (x[i] ** 2).sum(),
        varying=lambda k, n: (np.array([k * STRIDE % n]),))  # fmt: skip


def words(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.standard_normal((n, 32)), rng.integers(0, n, 2 * n), rng.standard_normal(32)


table = Family("2000 rows of a table", size=1000, tiny=4, inputs=words)
table.add("an index", lambda np, x, i, w: (np.tanh(x[i]) @ w).sum())
table.add("an index and an ellipsis", lambda np, x, i, w: (np.tanh(x[i, ...]) @ w).sum())
table.add("an index and a slice", lambda np, x, i, w: (np.tanh(x[i, :]) @ w).sum())
table.add("take", lambda np, x, i, w: (np.tanh(np.take(x, i, axis=0)) @ w).sum())


def grouped(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.standard_normal(n), np.arange(n) * 50 // n


groups = Family("sums of 50 groups", size=5000, tiny=50, inputs=grouped)


@groups.program
def reshaped(np, x, i):
    return (np.sin(x).reshape((50, -1)).sum(axis=1) ** 2).sum()


@groups.program(siblings=False)  # fifty times the work
def products_with_ones(np, x, i):
    belongs = (i[None] == np.arange(50)[:, None]) * 1.0
    return ((belongs @ np.sin(x)) ** 2).sum()


@groups.program
def differences_of_a_cumulative_sum(np, x, i):
    ends = np.cumsum(np.sin(x), axis=0)[len(x) // 50 - 1 :: len(x) // 50]
    return (np.concatenate([ends[:1], ends[1:] - ends[:-1]]) ** 2).sum()


@groups.program
def a_loop_over_slices(np, x, i):
    y, m = np.sin(x), len(x) // 50
    return sum(y[j * m : (j + 1) * m].sum() ** 2 for j in range(50))


def scattered(np: Any, x: Any, i: Any) -> Any:
    return (np.accumulate(np.zeros(50), i, np.sin(x)) ** 2).sum()


@groups.program(own={"jax": scattered}, without={"torch": "no derivative of its bincount"})
def counted(np, x, i):
    return (np.bincount(i, np.sin(x), 50) ** 2).sum()


orders = Family(
    "positions that the values decide", size=2000, tiny=6, siblings=False,
    inputs=lambda rng, n: (rng.standard_normal(n), rng.standard_normal(n)),
)  # fmt: skip
orders.add("sorted", lambda np, x, w: (np.sort(x) * w).sum())
orders.add("argsorted", lambda np, x, w: (x[np.argsort(x)] * w).sum())
orders.add("the best", lambda np, x, w: x[np.argmax(x)] ** 2)
orders.add("every second", lambda np, x, w: (x[::2] * w[::2]).sum())
orders.add("reversed", lambda np, x, w: (np.flip(x, (0,)) * w).sum())
orders.add("joined with itself", lambda np, x, w: (np.concatenate([x, x * w]) ** 2).sum())
orders.add("even and odd", lambda np, x, w: (
    x.reshape((-1, 2))[:, 0] * w.reshape((-1, 2))[:, 1]).sum())  # fmt: skip

FAMILIES = [one, several, window, row, table, groups, orders]
