"""Elementwise operations on short rows, captured, and eager operands that broadcast.

Run as ``python docs/engine/measure_short_rows.py``; it prints two tables in microseconds of
processor time, the least of 60 rounds, and one in nanoseconds for a row of two stencils.
"""

import operator
import time

import numpy as np

import numgrad as ng

ELEMENTS, ROUNDS, CALLS = 20_000, 60, 20
EAGER = (
    ((100, 1, 3), (1, 100, 3)), ((2000, 3), (3,)), ((2000, 3), (2000, 1)), ((500, 8), (8,)),
    ((1000, 30), (30,)), ((1000, 30), (1000, 1)),
)  # fmt: skip

PROGRAMS = {
    "exp(x - column)": lambda x, column, row: ng.exp(x - column),
    "x * column": lambda x, column, row: x * column,
    "x * row + x": lambda x, column, row: x * row + x,
}


def least(function, *args):
    """Return the least time of a call, in microseconds."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.process_time()
        for _ in range(CALLS):
            function(*args)
        best = min(best, time.process_time() - begin)
    return best / CALLS * 1e6


def spread(u):
    """Return a step of diffusion inside of a cube: ten operations of ten operands."""
    c = u[1:-1, 1:-1, 1:-1]
    x = u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1]
    y = u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
    return c + 0.1 * (x + y + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6.0 * c)


def reacted(u):
    """Return what a step of diffusion and a reaction make: some twenty operations."""
    c, z = u[1:-1, 1:-1, 1:-1], spread(u)
    w = u[2:, 1:-1, 1:-1] * u[1:-1, 2:, 1:-1] + c * z
    return c + 0.1 * z + w * 0.3 + (w * w - 0.2 * c) * u[:-2, 1:-1, 1:-1]


def print_stencils():
    """Print the table of rows of stencils, in nanoseconds."""
    print("\n| elements of a row | ten operations | twenty |\n|---|---|---|")
    for n in (8, 9, 14, 16, 18, 24, 32, 64):
        u = np.random.default_rng(0).standard_normal((18, 18, n + 2))
        times = [least(ng.jit(f, fuse="now"), u) / 256 * 1000 for f in (spread, reacted)]
        print(f"| {n} | {times[0]:.1f} | {times[1]:.1f} |")


def print_eager():
    """Print the table of differences of operands that broadcast, beside NumPy's."""
    rng = np.random.default_rng(0)
    print("\n| shapes | eager | NumPy |\n|---|---|---|")
    for shapes in EAGER:
        arrays = [rng.standard_normal(shape) for shape in shapes]
        tensors = [ng.tensor(array) for array in arrays]
        times = [least(operator.sub, *given) for given in (tensors, arrays)]
        print(f"| {shapes[0]}, {shapes[1]} | {times[0]:.1f} | {times[1]:.1f} |")


def main():
    """Print the tables."""
    ng.set_flags(threads=1)
    rng = np.random.default_rng(0)
    print("| columns |", " | ".join(PROGRAMS), "|")
    print("|" + "---|" * (len(PROGRAMS) + 1))
    for columns in (2, 3, 5, 8, 10, 16, 33, 100):
        rows = ELEMENTS // columns
        given = [rng.standard_normal(shape) for shape in ((rows, columns), (rows, 1), (1, columns))]
        times = []
        for program in PROGRAMS.values():
            captured = ng.jit(program, fuse="now")
            captured(*given)
            times.append(f"{least(captured, *given):.1f}")
        print(f"| {columns} |", " | ".join(times), "|")
    print_eager()
    print_stencils()


if __name__ == "__main__":
    main()
