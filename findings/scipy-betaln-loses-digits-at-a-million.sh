#!/usr/bin/env bash
# The logarithm of the beta function loses half a dozen digits where one argument is large, and gets them back later.
#
# One would expect: scipy.special.betaln(a, b) exists so that nobody subtracts gammaln from gammaln: the digits that this
# would lose, of numbers as large as a log(a), should be there.
# What happens: at (1e6, 0.5) the relative error is 1.5e-10, as the difference of logarithms has, and at (905.466, 0.21)
# 1.3e-11. Beyond a = 1e6 another formula is used and all digits are there: 1e7 is right to the last bit.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6; reference values by mpmath 1.4.1 with 60 digits.
#
# Why it matters: densities of Beta, Student and binomial variables with many observations are differences of betaln; a
# likelihood that should be smooth in the sample size has noise of 1e-9 below a million and a step there.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1 mpmath==1.4.1

cat > "$folder/seen.py" <<'EOF'
import mpmath
from scipy import special

mpmath.mp.dps = 60
errors = {}
for a, b in ((905.466, 0.21), (1e5, 2.0), (1e6, 0.5), (1e7, 0.5)):
    x, y = mpmath.mpf(a), mpmath.mpf(b)
    exact = mpmath.loggamma(x) + mpmath.loggamma(y) - mpmath.loggamma(x + y)
    errors[a] = float(abs((mpmath.mpf(float(special.betaln(a, b))) - exact) / exact))
    print(f"betaln({a:g}, {b:g}) = {special.betaln(a, b):.17g}, right {mpmath.nstr(exact, 18)}: error {errors[a]:.1e}")
if errors[1e6] < 1e-12 or errors[1e7] > 1e-14:
    raise SystemExit("betaln has other errors now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
