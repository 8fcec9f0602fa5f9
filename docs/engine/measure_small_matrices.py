"""Functions of 2000 small matrices, captured: values and gradients, beside NumPy and JAX.

Run as ``python docs/engine/measure_small_matrices.py``; it prints a table of nanoseconds of
processor time for each matrix, the least of 40 rounds, on one thread. The columns of JAX are left
out where JAX is not installed.
"""

import importlib
import os
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import numpy as np

import numgrad as ng

COUNT, ROUNDS, CALLS = 2000, 40, 10
FUNCTIONS = {
    "a @ b": lambda np, a, b: a @ b,
    "a @ x": lambda np, a, b: a @ b[:, :, :1],
    "solve": lambda np, a, b: np.linalg.solve(a, b[:, :, :1]),
    "inv": lambda np, a, b: np.linalg.inv(a),
    "det": lambda np, a, b: np.linalg.det(a),
    "cholesky": lambda np, a, b: np.linalg.cholesky(a),
}


def least(function, *args):
    """Return the least time of a call, in nanoseconds for each matrix."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.process_time()
        for _ in range(CALLS):
            function(*args)
        best = min(best, time.process_time() - begin)
    return best / CALLS / COUNT * 1e9


def of_jax(function, given):
    """Return the time of the gradient in JAX, or None without JAX."""
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    gradient = jax.jit(jax.grad(lambda a, b: function(jnp, a, b).sum()))
    arrays = [jnp.asarray(a) for a in given]
    return least(lambda: gradient(*arrays).block_until_ready())


def row(size, name, function):
    """Return a row of the table."""
    rng = np.random.default_rng(0)
    root, b = (rng.standard_normal((COUNT, size, size)) for _ in range(2))
    given = root @ root.swapaxes(1, 2) + np.eye(size), b
    value = ng.jit(lambda a, b: function(np, a, b), fuse="now")
    gradient = ng.jit(ng.func.grad(lambda a, b: function(np, a, b).sum()), fuse="now")
    times = [
        least(value, *given), least(lambda a, b: function(np, a, b), *given),
        least(gradient, *given), of_jax(function, given),
    ]  # fmt: skip
    cells = ["-" if t is None else f"{t:.0f}" for t in times]
    return f"| {name} | {size} | {' | '.join(cells)} |"


def main():
    """Print the table."""
    ng.set_flags(threads=1)
    print("| function | size | value | NumPy | gradient | JAX |\n|---|---|---|---|---|---|")
    for name, function in FUNCTIONS.items():
        for size in (2, 3, 4, 6):
            print(row(size, name, function), flush=True)


if __name__ == "__main__":
    main()
