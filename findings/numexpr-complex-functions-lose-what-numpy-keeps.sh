#!/usr/bin/env bash
# Complex functions of numexpr lose half their digits, or all, where NumPy's functions of the same name have them.
#
# One would expect: numexpr evaluates arcsinh, arctanh, log1p and division as NumPy does, only faster.
# What happens: it has formulas of its own for complex numbers: arcsinh(z) is log(z + sqrt(z**2 + 1)) and the like.
# arcsinh(1e-12 + 0j) is 1.0000889e-12, arctanh of it 0.99998e-12, arcsinh(-1e9 + 0j) is -inf instead of -21.4, and z /
# z is NaN for 1e200 + 1e200j. Real numbers are right.
#
# Seen with numexpr 2.14.2 and NumPy 2.4.6.
#
# Why it matters: impedances, refractive indices and conformal maps are evaluated over large grids, which is what
# numexpr is for. A fine grid near 0 has noise of 1e-4 without a warning.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 numexpr==2.14.2

cat > "$folder/seen.py" <<'EOF'
import numexpr
import numpy as np


def compare(text, z):
    values = {"z": np.array([z])}
    found = numexpr.evaluate(text, values)[0]
    space = {name: getattr(np, name) for name in ("arcsinh", "arctanh")}
    right = eval(text, space, values)[0]
    print(f"{text} at {z}: numexpr {found:.9g}, NumPy {right:.9g}")
    return abs(found - right) / abs(right)


small = [compare(text, 1e-12 + 0j) for text in ("arcsinh(z)", "arctanh(z)")]
large = compare("arcsinh(z)", -1e9 + 0j)
quotient = compare("z / z", 1e200 + 1e200j)
real = numexpr.evaluate("arcsinh(x)", {"x": np.array([1e-12, -1e9])})
assert np.allclose(real, np.arcsinh([1e-12, -1e9]), rtol=1e-12)
if min(small) < 1e-6 or not np.isinf(large) or not np.isnan(quotient):
    raise SystemExit("complex functions are others now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
