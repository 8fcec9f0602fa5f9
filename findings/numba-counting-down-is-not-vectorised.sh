#!/usr/bin/env bash
# A loop of Numba's that counts down by x[n - 1 - k] is not made one over vectors; with a descending range it is.
#
# One would expect: `for k in range(n): i = n - 1 - k` and `for i in range(n - 1, -1, -1)` visit the same elements in the
# same order, and LLVM makes the same code of both.
# What happens: Numba lets negative indices count from the end, as Python does. Of an index that is computed by a
# subtraction it does not know the sign, so each access selects between i and i + n, and LLVM gives up on vectors. Of a
# range's variable it knows. The loop takes several times as long (5 to 13 times where it was tried, 20 000 elements).
#
# Seen with Numba 0.68.1 (LLVM as in llvmlite 0.50), x86-64. What is compared is the ratio of two loops on the same
# machine; on one without vectors of float64 there would be none, and the script would say so and fail.
#
# Why it matters: backward sweeps (adjoints, recurrences in reverse, tridiagonal solves, reversed signals) are written in
# this way, and lose what the forward sweep beside them has.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 numba==0.68.1

cat > "$folder/seen.py" <<'EOF'
import time

import numpy as np
from numba import njit


@njit
def by_range(x, out):
    for i in range(x.size - 1, -1, -1):
        out[i] = 2.0 * x[i] + 1.0


@njit
def by_subtraction(x, out):
    n = x.size
    for k in range(n):
        i = n - 1 - k
        out[i] = 2.0 * x[i] + 1.0


x, out = np.ones(20_000), np.empty(20_000)


def least(function):
    function(x, out)
    best = float("inf")
    for _ in range(3000):
        began = time.perf_counter()
        function(x, out)
        best = min(best, time.perf_counter() - began)
    return 1e6 * best


times = [least(by_range), least(by_subtraction)]
print(f"range(n - 1, -1, -1): {times[0]:.1f} us, i = n - 1 - k: {times[1]:.1f} us")
if times[1] < 2 * times[0]:
    raise SystemExit("both loops take the same time now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
