#!/usr/bin/env bash
# scipy.special.hyperu has four digits at ordinary arguments, without a warning.
#
# One would expect: Tricomi's function U(a, b, x) in double precision, or NaN where the algorithm fails, as for other
# functions of SciPy.
# What happens: for a = 3.356, b = 93.836, x = 97.198 the relative error is 2.4e-4; for a = 1.5, b = x = 30 it is 5e-9, for
# a = 20.5, b = x = 1 it is 9e-9. The result is no NaN, and scipy.special.errstate has nothing to say of lost digits ("loss",
# "no_result"); of the second it mentions an underflow on the way.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6; reference values by mpmath 1.4.1 with 60 digits.
#
# Why it matters: U is the second solution of the confluent hypergeometric equation: states of the Coulomb problem,
# densities of ratios, incomplete gamma functions of negative order are written with it.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1 mpmath==1.4.1

cat > "$folder/seen.py" <<'EOF'
import warnings

import mpmath
from scipy import special

mpmath.mp.dps = 60
warnings.simplefilter("error")
special.seterr(all="raise", underflow="ignore")
errors = []
for a, b, x in ((3.356, 93.836, 97.198), (1.5, 30.0, 30.0), (20.5, 1.0, 1.0), (3.0, 40.0, 45.0)):
    exact = mpmath.hyperu(a, b, x)
    found = special.hyperu(a, b, x)
    errors.append(float(abs((mpmath.mpf(float(found)) - exact) / exact)))
    print(f"hyperu({a}, {b}, {x}) = {found:.15g}, right {mpmath.nstr(exact, 16)}: error {errors[-1]:.1e}")
if errors[0] < 1e-6 or errors[1] < 1e-10:
    raise SystemExit("hyperu keeps its digits now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
