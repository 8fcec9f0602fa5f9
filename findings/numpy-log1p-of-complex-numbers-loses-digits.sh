#!/usr/bin/env bash
# NumPy's log1p of a complex number has not the digits for which log1p is there.
#
# One would expect: log1p(z) is accurate near 0, where 1 + z has lost the digits of z: that is its only use, and so it
# is for real numbers. np.expm1 of complex numbers is accurate near 0 too.
# What happens: the real part is the logarithm of the absolute value of 1 + z, with the sum computed first: 1e-10 +
# 1e-10j gives 1.00000008e-10, and 1e-17 + 0j gives 0. scipy.special.log1p of the same numbers is right to the last
# digit.
#
# Seen with NumPy 2.4.6 and SciPy 1.17.1; reference values by mpmath 1.4.1.
#
# Why it matters: characteristic functions, reflection coefficients, propagation constants and the complex-step
# derivative of a real function with log1p (z = x + 1e-20j) go through here; a real program made complex loses half its
# digits.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1 mpmath==1.4.1

cat > "$folder/seen.py" <<'EOF'
import mpmath
import numpy as np
from scipy import special

mpmath.mp.dps = 40
errors = []
for z in (1e-5 + 1e-5j, 1e-10 + 1e-10j, 1e-17 + 0j):
    exact = complex(mpmath.log1p(mpmath.mpc(z)))
    found, theirs = complex(np.log1p(z)), complex(special.log1p(z))
    errors.append((abs(found.real / exact.real - 1), abs(theirs.real / exact.real - 1)))
    print(f"log1p({z}): NumPy {found.real:.17g}, SciPy {theirs.real:.17g}, right {exact.real:.17g} (real parts)")
assert np.log1p(1e-17) == 1e-17
if errors[0][0] < 1e-13 or errors[1][0] < 1e-9 or errors[2][0] != 1.0 or max(error for _, error in errors) > 1e-15:
    raise SystemExit("log1p has other digits now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
