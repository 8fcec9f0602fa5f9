#!/usr/bin/env bash
# Summing the columns of a tall, thin array takes NumPy ten times as long as a product with ones.
#
# One would expect: x.sum(axis=0) of 100 000 x 3 numbers is a matter of reading 2.4 MB: some 100 us.
# What happens: NumPy calls the inner loop of the addition once for each row, for three elements, which takes 1 to 2 ms;
# np.ones(n) @ x takes a tenth of that, np.einsum("ij->j", x) and the sum of a transposed copy a fourth. With max it is
# worse: 2 to 8 ms.
#
# Seen with NumPy 2.4.6; the times are of one x86-64 machine, what is asserted is a ratio of 2.
#
# Why it matters: means and norms of point clouds, forces summed over particles, gradients of a shared shift, totals of
# channels of images: many rows of 2 to 16 columns.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6

cat > "$folder/seen.py" <<'EOF'
import time

import numpy as np

x = np.ones((100_000, 3))
ones = np.ones(len(x))


def least(function):
    best = float("inf")
    for _ in range(100):
        began = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - began)
    return 1e6 * best


ways = {
    "x.sum(axis=0)": lambda: x.sum(axis=0),
    "np.einsum('ij->j', x)": lambda: np.einsum("ij->j", x),
    "np.ascontiguousarray(x.T).sum(axis=1)": lambda: np.ascontiguousarray(x.T).sum(axis=1),
    "np.ones(n) @ x": lambda: ones @ x,
}
times = {name: least(way) for name, way in ways.items()}
for name, time_ in times.items():
    print(f"{name:40} {time_:7.0f} us")
if times["x.sum(axis=0)"] < 2 * min(times.values()):
    raise SystemExit("sums over thin columns are as fast as other ways now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
