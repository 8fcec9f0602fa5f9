"""Elementwise operations on 20 000 elements in short rows, beside a column or a repeated row.

Run as ``python docs/engine/measure_short_rows.py``; it prints a table in microseconds of processor
time, the least of 60 rounds.
"""

import time

import numpy as np

import numgrad as ng

ELEMENTS, ROUNDS, CALLS = 20_000, 60, 20

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


def main():
    """Print the table."""
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


if __name__ == "__main__":
    main()
