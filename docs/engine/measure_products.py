"""Measure how fast products of matrices are beside those of NumPy's BLAS, both on one thread.

``python docs/engine/measure_products.py`` prints a table of `products.md`: GFLOP/s of the fastest
call of interleaved rounds in one process, for a left factor of some rows and a right one of 256
rows and columns that lies by rows or by columns.
"""

import time

import numpy as np
from threadpoolctl import threadpool_limits

from numgrad.ir.kernel_spec import ProductSpec
from numgrad.targets.cpu.kernels.kernel import kernel

SIZE = 256
ROWS = (1, 4, 16, 64, 128, 256)
ROUNDS = 300


def fastest(rows: int, dtype: type[np.floating]) -> list[float]:
    """Return the seconds of: ours, BLAS by rows; ours, BLAS by columns."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((rows, SIZE)).astype(dtype), rng.standard_normal((SIZE, SIZE))
    b, out = b.astype(dtype), np.empty((rows, SIZE), dtype)
    ours = kernel(ProductSpec(np.dtype(dtype))).ufunc
    rights = (b, np.asfortranarray(b))
    calls = [(function, right) for right in rights for function in (ours, np.matmul)]
    best = [np.inf] * len(calls)
    for _ in range(ROUNDS):
        for n, (function, right) in enumerate(calls):
            began = time.perf_counter()
            function(a, right, out=out)
            best[n] = min(best[n], time.perf_counter() - began)
    return best


def main() -> None:
    print("| rows | dtype | by rows | BLAS | by columns | BLAS |\n|---|---|---|---|---|---|")
    with threadpool_limits(1):
        for dtype in (np.float64, np.float32):
            for rows in ROWS:
                work = 2e-9 * rows * SIZE * SIZE
                speeds = [f"{work / seconds:.0f}" for seconds in fastest(rows, dtype)]
                print(f"| {rows} | {np.dtype(dtype)} | {' | '.join(speeds)} |")


if __name__ == "__main__":
    main()
