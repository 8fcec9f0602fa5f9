#!/usr/bin/env bash
# np.fmod of negative integers under Numba is computed as if they had no sign.
#
# One would expect: np.fmod(-5, 3) is -2, the remainder with the sign of the first operand, as C and NumPy have it, and
# as Numba itself has it for floats.
# What happens: compiled by Numba, np.fmod(-5, 3) is 2, np.fmod(5, -3) is 5 and np.fmod(-6, 3), which divides evenly, is
# 1: the remainder is that of 2**64 - 5. The % operator and np.remainder are right. Nothing is raised.
#
# Seen with Numba 0.68.1 and NumPy 2.4.6.
#
# Why it matters: fmod is what one takes to fold signed indices, phases in counts and times before an epoch towards 0;
# the compiled program has other numbers than the one that was tested without the decorator.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 numba==0.68.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
from numba import njit


def remainder(x, y):
    return np.fmod(x, y)


compiled, wrong = njit(remainder), 0
for x, y in ((5, 3), (-5, 3), (5, -3), (-5, -3), (-6, 3)):
    print(f"fmod({x}, {y}): NumPy {np.fmod(x, y)}, compiled {compiled(x, y)}, of floats {compiled(float(x), float(y))}")
    assert compiled(float(x), float(y)) == np.fmod(x, y)
    wrong += compiled(x, y) != np.fmod(x, y)
arrays = compiled(np.array([-5, 5, -6]), 3)
print("of an array [-5, 5, -6] and 3:", arrays.tolist(), "NumPy", np.fmod(np.array([-5, 5, -6]), 3).tolist())
if wrong != 4 or arrays.tolist() != [2, 2, 1]:
    raise SystemExit("fmod of integers has other values now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
