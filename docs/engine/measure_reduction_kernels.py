"""Measure how long kernels of reductions take to compile: milliseconds of processor time.

``python docs/engine/measure_reduction_kernels.py`` compiles them with an empty cache of its own.
"""

import os
import tempfile
import time

import numpy as np

import numgrad as ng

CASES = [
    (f"{name} of {what}, {dtype}", name, shape, dtype)
    for name, dtypes in (("sum", ("float64", "float32", "complex128")), ("max", ("float64",)))
    for dtype in dtypes
    for what, shape in (("elements", (50,)), ("rows", (50, 64)))
]


def main() -> None:
    ng.set_flags(threads=1)
    ng.prod(np.ones(50))  # what the first kernel takes
    print("| kernel | ms |\n|---|---|")
    for title, name, shape, dtype in CASES:
        x = ng.tensor(np.ones(shape, dtype))
        began = time.process_time()
        getattr(ng, name)(x, 0)
        print(f"| {title} | {1e3 * (time.process_time() - began):.0f} |")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMGRAD_CACHE_DIR"] = folder
        main()
