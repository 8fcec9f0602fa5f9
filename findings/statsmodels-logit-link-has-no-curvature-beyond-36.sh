#!/usr/bin/env bash
# The second derivative of the logistic function is 8e39 at -100 in statsmodels, and minus infinity at 37.
#
# One would expect: Logit().inverse_deriv2(z), the second derivative of 1 / (1 + exp(-z)), is 3.7e-44 at -100 and
# -8.5e-17 at 37; inverse(z) and inverse_deriv(z) are right there. The documentation says that the general
# implementation is inefficient but gives the correct result.
# What happens: it goes through the probability p = inverse(z), as -deriv2(p) / deriv(p)**3. deriv clips p to the
# interval from 2.2e-16 to 1 - 2.2e-16 and deriv2 does not, so the quotient is that of two places; near 1 the
# probability has lost the digits before. At 30 three digits are left, at 36.5 none, from 37 it is minus infinity;
# below -36 it grows without end.
#
# Seen with statsmodels 0.15.0, SciPy 1.17.1 and NumPy 2.4.6.
#
# Why it matters: linear predictors of this size are ordinary where classes are well separated, or for one outlying
# row. The gradient of quadratic inference functions (QIF) takes this derivative, and one such row makes all of it
# infinite.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 pandas==3.1.1 scipy==1.17.1 statsmodels==0.15.0

cat > "$folder/seen.py" <<'EOF'
import warnings

import numpy as np
from statsmodels.genmod.families.links import Logit

warnings.simplefilter("ignore")
link, seen = Logit(), {}
for z in (-100.0, -40.0, -30.0, -3.0, 3.0, 30.0, 36.5, 37.0, 100.0):
    small = np.exp(-abs(z))
    slope = small / (1 + small) ** 2
    right = -slope * np.tanh(z / 2)
    at = np.array([z])
    seen[z] = link.inverse_deriv2(at)[0], right
    first = link.inverse_deriv(at)[0]
    print(f"z = {z:g}: inverse_deriv2 {seen[z][0]:.6g}, right {right:.6g}; inverse_deriv {first:.6g}, right {slope:.6g}")
    if not np.isclose(first, slope, rtol=1e-6, atol=0):
        raise SystemExit("the first derivative is another one now")
is_right = all(np.isclose(*seen[z], rtol=1e-9, atol=0) for z in (-30.0, -3.0, 3.0))
if not is_right or seen[-100.0][0] < 1e30 or seen[37.0][0] != -np.inf or abs(seen[36.5][0] / seen[36.5][1] - 1) < 0.1:
    raise SystemExit("the second derivative is another one now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
