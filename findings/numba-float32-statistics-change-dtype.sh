#!/usr/bin/env bash
# Which of NumPy's statistics stay float32 under Numba is arbitrary: trace, median, std, var, nanmean and norms of matrices
# become float64.
#
# One would expect: functions under @njit have the dtype of NumPy, float32 for float32, as sum and mean do.
# What happens: np.trace, np.median, np.std, np.var, np.nanmean and np.linalg.norm of a float32 matrix are float64 under
# Numba, beside np.sum, np.mean and np.nansum, which are float32. Nothing says so.
#
# Seen with Numba 0.68.1 and NumPy 2.4.6.
#
# Why it matters: all that is computed from one of them is in double precision from there on: a kernel that is written in
# single precision for its speed has conversions in its loops, and arrays made like its result take twice the memory.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1 numba==0.68.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
from numba import njit

names = ["sum", "mean", "nansum", "linalg.norm", "trace", "median", "std", "var", "nanmean"]
x = np.arange(9, dtype=np.float32).reshape(3, 3)
wide = []
for name in names:
    space = {"np": np}
    exec(f"def call(x):\n    return np.asarray(np.{name}(x)).dtype.itemsize", space)
    exec(f"def made(x):\n    return np.full(2, np.{name}(x))", space)
    theirs, ours = space["call"](x), njit(space["made"])(x).dtype.itemsize
    print(f"np.{name:12} NumPy float{8 * theirs}, compiled by Numba float{8 * ours}")
    if ours != theirs:
        wide.append(name)
if wide != ["linalg.norm", "trace", "median", "std", "var", "nanmean"]:
    raise SystemExit(f"other functions change the dtype now: {wide}")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
