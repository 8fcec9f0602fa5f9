#!/usr/bin/env bash
# np.tanh of a complex number is NaN under Numba where the real part is above 355; it is 1.
#
# One would expect: tanh saturates: np.tanh(400 + 1j) is 1 in NumPy, and cmath.tanh(400 + 1j) is 1 also when Numba
# compiles it.
# What happens: np.tanh compiled is a quotient of exponentials: infinity over infinity from 356 on, and already at 60 in
# single precision. np.expm1 and np.log1p of complex numbers have no digits below 1e-16 and eight at 1e-10, where
# NumPy's expm1 has all.
#
# Seen with Numba 0.68.1 and NumPy 2.4.6.
#
# Why it matters: tanh of a complex argument is an impedance of a lossy line, a layer of ground or a fin: long lines are
# the easy case, and give NaN. The interpreter's result, with which one compares, is right.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 numba==0.68.1

cat > "$folder/seen.py" <<'EOF'
import cmath

import numpy as np
from numba import njit


@njit
def numpy_tanh(z):
    return np.tanh(z)


@njit
def numpy_expm1(z):
    return np.expm1(z)


@njit
def python_tanh(z):
    return cmath.tanh(z)


found = {}
for z in (300 + 1j, 400 + 1j, np.complex64(60 + 1j)):
    found[complex(z)] = numpy_tanh(z)
    print(f"tanh({z}): compiled {found[complex(z)]}, NumPy {np.tanh(z)}, cmath compiled {python_tanh(complex(z))}")
    assert abs(np.tanh(z) - 1) < 1e-6 and abs(python_tanh(complex(z)) - 1) < 1e-12
small = numpy_expm1(1e-10 + 1e-10j), np.expm1(1e-10 + 1e-10j)
print("expm1(1e-10 + 1e-10j): compiled", small[0], "NumPy", small[1])
if np.isnan(list(found.values())).tolist() != [False, True, True] or abs(small[0] / small[1] - 1) < 1e-9:
    raise SystemExit("tanh is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
