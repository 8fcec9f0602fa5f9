"""Tables of a few columns: values and gradients, captured and fused, and by JAX if it is installed.

Run as ``python docs/engine/measure_tables.py``; it prints a table in microseconds of processor
time, the least of 30 rounds in turns on one thread.
"""

import os
import time

import numpy as np

import numgrad as ng

NUMBERS, ROUNDS = 600_000, 30
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def norms_of_columns(np, x):
    """Return the sum of the lengths of the rows, each column read on its own."""
    total = x[:, 0] ** 2
    for k in range(1, x.shape[1]):
        total = total + x[:, k] ** 2
    return np.sqrt(total).sum()


def norms_along_rows(np, x):
    """Return the sum of the lengths of the rows."""
    return np.sqrt((x * x).sum(axis=1)).sum()


def softmax_of_rows(np, x):
    """Return the sum of the squares of the softmax of each row."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return ((e / e.sum(axis=1, keepdims=True)) ** 2).sum()


def largest_of_columns(np, x):
    """Return the sum of the squares of the largest elements of columns."""
    return (x.max(axis=0) ** 2).sum()


PROGRAMS = (norms_of_columns, norms_along_rows, softmax_of_rows, largest_of_columns)


def by_numgrad(program, x):
    """Return a call of the value and the gradient, captured and fused."""
    call = ng.jit(ng.func.value_and_grad(lambda x: program(ng, x)), fuse="now")
    return lambda: call(x)


def by_jax(program, x):
    """Return a call of the value and the gradient in JAX; None where JAX is not installed."""
    os.environ["XLA_FLAGS"] = ONE_THREAD
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    call = jax.jit(jax.value_and_grad(lambda x: program(jax.numpy, x)))
    given = jax.numpy.asarray(x)
    return lambda: jax.block_until_ready(call(given))


def least(calls):
    """Return the least time of each call, in microseconds."""
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for n, call in enumerate(calls):
            call()
            begin = time.process_time()
            call()
            best[n] = min(best[n], time.process_time() - begin)
    return [seconds * 1e6 for seconds in best]


def main():
    """Print the table."""
    ng.set_flags(threads=1)
    rng = np.random.default_rng(0)
    names = [program.__name__.replace("_", " ") for program in PROGRAMS]
    print("| width |", " | | ".join(names), "| |")
    print("|---" * (1 + 2 * len(PROGRAMS)) + "|")
    for width in (2, 3, 4, 5, 6, 8, 12, 16):
        x = rng.uniform(0.5, 1.5, (NUMBERS // width, width))
        cells = []
        for program in PROGRAMS:
            made = [by_numgrad(program, x), by_jax(program, x)]
            times = least([call for call in made if call is not None])
            cells += [*(f"{t:.0f}" for t in times), *[""] * (2 - len(times))]
        print(f"| {width} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
