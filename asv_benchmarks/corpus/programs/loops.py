"""Loops over elements and rows, lists of results, and arrays that are filled in place."""

from typing import Any

import numpy as np

from ..program import Family


def vector(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (rng.uniform(0.1, 0.9, n),)


scalars = Family("a recurrence over 200 elements", size=200, tiny=5, inputs=vector)


def smoothed(np: Any, s: Any, v: Any) -> Any:
    return 0.9 * s + 0.1 * v * v


@scalars.program
def by_index(np, x):
    return np.fold(lambda s, v: smoothed(np, s, v), 0.0, x)


@scalars.program
def by_iteration(np, x):
    return np.fold_items(lambda s, v: smoothed(np, s, v), 0.0, x)


@scalars.program(own={"jax": by_index})
def by_unstacking(np, x):
    s = 0.0
    for v in np.unstack(x):
        s = smoothed(np, s, v)
    return s


@scalars.program(own={"jax": by_index})
def by_slices_of_one(np, x):
    s = np.zeros(1)
    for i in range(len(x)):
        s = smoothed(np, s, x[i : i + 1])
    return s.sum()


longer = scalars.derived("a recurrence over 1500 elements", size=1500)

rows = Family(
    "a recurrence over 100 rows", size=100, tiny=4,
    inputs=lambda rng, n: (rng.standard_normal((n, 8)), rng.standard_normal(8)),
)  # fmt: skip


def turned(np: Any, s: Any, row: Any) -> Any:
    return np.tanh(0.5 * s + row)


@rows.program
def row_by_index(np, x, s):
    return np.fold(lambda s, row: turned(np, s, row), s, x).sum()


@rows.program
def row_by_iteration(np, x, s):
    return np.fold_items(lambda s, row: turned(np, s, row), s, x).sum()


@rows.program(own={"jax": row_by_index})
def row_by_a_full_key(np, x, s):
    for i in range(len(x)):
        s = turned(np, s, x[i, :])
    return s.sum()


@rows.program(own={"jax": row_by_index})
def row_by_unstacking(np, x, s):
    for row in np.unstack(x):
        s = turned(np, s, row)
    return s.sum()


@rows.program(own={"jax": row_by_index})
def columns_of_the_transpose(np, x, s):
    y = x.T
    for i in range(len(x)):
        s = turned(np, s, y[:, i])
    return s.sum()


fills = Family("an array made of 100 scalars", size=100, tiny=4, inputs=vector)


def squares(np: Any, x: Any) -> Any:
    return ((x * x + 1.0) * np.arange(len(x))).sum()


OWN = {"own": {"jax": squares}}  # as nobody would write a loop there


@fills.program(**OWN)
def written_one_by_one(np, x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] * x[i] + 1.0
    return (out * np.arange(len(x))).sum()


@fills.program(**OWN)
def added_one_by_one(np, x):
    out = np.ones(len(x))
    for i in range(len(x)):
        out[i] += x[i] * x[i]
    return (out * np.arange(len(x))).sum()


@fills.program(**OWN)
def a_list_that_is_stacked(np, x):
    out = [x[i] * x[i] + 1.0 for i in range(len(x))]
    return (np.stack(out) * np.arange(len(x))).sum()


@fills.program(**OWN)
def slices_that_are_joined(np, x):
    out = [x[i : i + 1] * x[i : i + 1] + 1.0 for i in range(len(x))]
    return (np.concatenate(out) * np.arange(len(x))).sum()


blocks = Family(
    "a matrix made of 32 rows", size=32, tiny=3,
    inputs=lambda rng, n: (rng.standard_normal((n, 32)), rng.standard_normal(32)),
)  # fmt: skip


def by_rows(np: Any, x: Any, w: Any) -> Any:
    return (np.sin(x) * w).sum()


@blocks.program(own={"jax": by_rows})
def rows_written(np, x, w):
    out = np.zeros((len(x), 32))
    for i in range(len(x)):
        out[i] = np.sin(x[i]) * w
    return out.sum()


@blocks.program(own={"jax": by_rows})
def rows_added(np, x, w):
    out = np.zeros((len(x), 32))
    for i in range(len(x)):
        out[i] += np.sin(x[i]) * w
    return out.sum()


@blocks.program(own={"jax": by_rows})
def rows_scaled_in_place(np, x, w):
    out = np.sin(x)
    for i in range(len(x)):
        out[i] *= w
    return out.sum()


@blocks.program(own={"jax": by_rows})
def rows_written_by_a_full_key(np, x, w):
    out = np.zeros((len(x), 32))
    for i in range(len(x)):
        out[i, :] = np.sin(x[i, :]) * w
    return out.sum()


@blocks.program(own={"jax": by_rows})
def rows_stacked(np, x, w):
    return np.stack([np.sin(row) * w for row in x]).sum()


edits = Family("a few writes to 10 000 elements", size=10**4, tiny=8, inputs=vector)


@edits.program
def ends_written(np, x):
    y = np.copy(x)
    y = np.put(y, 0, 0.0)
    y = np.put(y, -1, x[0] * x[1])
    return (y * y).sum()


@edits.program
def half_scaled(np, x):
    y = np.accumulate(np.sin(x), slice(None, None, 2), 1.0)
    return (y * y).sum()


@edits.program
def ends_joined(np, x):
    y = np.concatenate([np.zeros(1), x[1:-1], x[:1] * x[1:2]])
    return (y * y).sum()


@edits.program
def ends_chosen(np, x):
    i = np.arange(len(x))
    y = np.where(i == 0, 0.0, np.where(i == len(x) - 1, x[0] * x[1], x))
    return (y * y).sum()


parts = Family(
    "a part of 100 elements is written", size=100, tiny=9, wrt=2, siblings=False,
    inputs=lambda rng, n: (
        rng.uniform(0.1, 0.9, n), rng.uniform(0.1, 0.9, n // 3), np.arange(0, n - 2, 3),
    ),
)  # fmt: skip


@parts.program
def a_slice_scaled(np, x, v, i):
    return np.sin(np.scale(1.0 * x, slice(1, len(v) + 1), v)).sum()


@parts.program
def every_third_scaled(np, x, v, i):
    return np.sin(np.scale(1.0 * x, slice(0, 3 * len(v), 3), v)).sum()


@parts.program
def all_scaled_twice(np, x, v, i):
    y = np.scale(1.0 * x, slice(None), x)
    return (np.scale(y, slice(None), v[0]) * x).sum()


@parts.program
def positions_set(np, x, v, i):
    return np.sin(np.put(1.0 * x, i, v)).sum()


@parts.program(without={"jax": "it multiplies at positions that are known to differ alone"})
def positions_scaled(np, x, v, i):
    return np.sin(np.scale(1.0 * x, i, v)).sum()


count = Family(
    "8 to 24 steps, another number at each call", size=10, tiny=3, siblings=False,
    inputs=lambda rng, n: (rng.uniform(0.1, 0.9, n), 5), varying=lambda k, n: (8 + k % 5 * 4,),
)  # fmt: skip


def masked(np: Any, x: Any, steps: Any) -> Any:
    """Return the last state by as many steps as there may be: the number may be traced."""
    after = np.fold(lambda s, i: np.where(i < steps, s - 0.1 * np.sin(s), s), x, np.arange(24))
    return (after * after).sum()


@count.program(own={"jax": masked})
def a_loop(np, x, steps):
    for _ in range(steps):
        x = x - 0.1 * np.sin(x)
    return (x * x).sum()


FAMILIES = [scalars, longer, rows, fills, blocks, edits, parts, count]
