#!/usr/bin/env bash
# jax.scipy.special.spence is right everywhere, and its gradient is NaN for arguments between 1 and 2 and 0 at 1.
#
# One would expect: the derivative of Spence's function is log(x) / (1 - x), smooth through 1, where it is -1.
# What happens: on (1, 2] the gradient is NaN and at 1 it is 0; below 1 and from 3 on it is right to the last digit. The
# value comes from several formulas, of which a selection takes one; the derivative of one that is not taken is NaN, and
# spoils the sum.
#
# Seen with JAX 0.10.2 in double precision.
#
# Why it matters: the dilogarithm is in entropies of Bose and Fermi gases, radiative corrections and Debye functions.
# The value is tested, the gradient of a fit is NaN for a third of the range.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile jax==0.10.2 numpy==2.4.6

cat > "$folder/seen.py" <<'EOF'
import math

import jax

jax.config.update("jax_enable_x64", True)
value, slope = jax.scipy.special.spence, jax.grad(jax.scipy.special.spence)
step, lost = 1e-6, []
for x in (0.5, 0.9, 1.0, 1.1, 1.5, 2.0, 3.0, 5.0):
    difference = (float(value(x + step)) - float(value(x - step))) / (2 * step)
    right = -1.0 if x == 1 else math.log(x) / (1 - x)
    assert math.isclose(difference, right, rel_tol=1e-6)
    found = float(slope(x))
    print(f"x = {x}: gradient {found:.9g}, right {right:.9g}, difference quotient {difference:.7g}")
    if not math.isclose(found, right, rel_tol=1e-9):
        lost.append((x, found))
if [x for x, _ in lost] != [1.0, 1.1, 1.5, 2.0] or lost[0][1] != 0.0 or not all(math.isnan(g) for _, g in lost[1:]):
    raise SystemExit("spence has other gradients now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
