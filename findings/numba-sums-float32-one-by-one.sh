#!/usr/bin/env bash
# Numba's sum, mean and variance of float32 add one number after the other in float32.
#
# One would expect: np.sum(x) inside of @njit is NumPy's, which adds pairwise, so that ten million float32 numbers have a
# sum that is right to some digits.
# What happens: the sum of 10^7 times 0.1 is 1087937 instead of 1000000, the mean 0.1088, and the variance of a constant
# array 8e-5 instead of 0. No option is needed for this, and nothing warns.
#
# Seen with Numba 0.68.1 and NumPy 2.4.6.
#
# Why it matters: the same line of code is wrong in the second digit once it is compiled, for losses, means of images and
# normalisations in single precision.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 numba==0.68.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
from numba import njit

x = np.full(10**7, 0.1, np.float32)


@njit
def compiled(x):
    return np.sum(x), np.mean(x), np.var(x)


found, right = compiled(x), (x.sum(), x.mean(), x.var())
for name, ours, theirs in zip(("sum", "mean", "variance"), found, right):
    print(f"{name:9} NumPy {theirs:<14.8g} compiled by Numba {ours:.8g}")
if abs(found[0] - 1e6) < 1e4 or found[2] < 1e-6:
    raise SystemExit("sums in single precision keep their digits now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
