#!/usr/bin/env bash
# Division of complex numbers raises in Numba, whatever the error model.
#
# One would expect: @njit(error_model="numpy") divides as NumPy does, real and complex numbers alike, so that a division by
# zero gives infinities and NaN and the loop over an array goes on.
# What happens: the real quotient 1.0 / 0.0 is inf; the complex quotient 1j / 0j raises ZeroDivisionError.
#
# Seen with Numba 0.68.1 and NumPy 2.4.6.
#
# Why it matters: one zero among a million denominators of a compiled spectrum, transfer function or impedance ends the
# whole loop, though the author has asked for NumPy's rules, and real data of the same code never did.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 numba==0.68.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
from numba import njit


@njit(error_model="numpy")
def quotient(a, b):
    return a / b


with np.errstate(all="ignore"):
    print("NumPy:", np.complex128(1j) / np.complex128(0))
print("Numba, real:", quotient(1.0, 0.0))
assert quotient(1.0, 0.0) == np.inf
try:
    print("Numba, complex:", quotient(1j, 0j))
except ZeroDivisionError as error:
    print("Numba, complex: ZeroDivisionError:", error)
else:
    raise SystemExit("complex division no longer raises")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
