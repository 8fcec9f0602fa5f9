#!/usr/bin/env bash
# The quantile of Student's t for a very small probability is plus infinity in SciPy.
#
# One would expect: t.ppf(q, df) is negative for q below 1/2, and t.isf(q, df) = -t.ppf(q, df) positive; 3 degrees of
# freedom and q = 1e-250 give -2.2e83 and 2.2e83, far from overflow.
# What happens: t.ppf(1e-250, 3) is +inf and t.isf(1e-250, 3) is -inf, without a warning; at 1e-100 both are right,
# and at 1e-200 half of what is right. An infinity of the wrong sign comes for 5 and 10 degrees of freedom at 1e-300
# as well, while 2 and 50 are right there. The distribution function is right at the right quantiles.
# scipy.special.stdtrit, of which they are made, has the same wrong sign.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6; the reference is the tail of the distribution, by mpmath 1.4.1.
#
# Why it matters: p-values down to 1e-308 are ordinary in tables of genetics and of particle physics, and are turned
# back into a statistic by t.isf(p / 2, df): the strongest of all effects is reported as the strongest of the other
# sign.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1 mpmath==1.4.1

cat > "$folder/seen.py" <<'EOF'
import math

import mpmath
from scipy import special, stats

mpmath.mp.dps = 40


def right(q, df):
    """The quantile of a tail: the distribution function there is a power, to 20 digits and more."""
    half = mpmath.mpf(df) / 2
    small = (2 * mpmath.mpf(q) * half * mpmath.beta(half, 0.5)) ** (1 / half)
    return mpmath.sqrt(df / small)


seen = {}
for df in (2.0, 3.0, 5.0, 10.0):
    for q in (1e-100, 1e-200, 1e-250, 1e-300):
        seen[df, q] = float(stats.t.isf(q, df))
        exact = right(q, df)
        back = float(stats.t.sf(float(exact), df))
        print(f"t.isf({q:g}, {df:g}) = {seen[df, q]:.6g}, right {mpmath.nstr(exact, 6)}, where t.sf is {back:.6g}")
        if abs(back / q - 1) > 1e-9 or (q == 1e-100 and abs(seen[df, q] / exact - 1) > 1e-9):
            raise SystemExit("the distribution is another one now")
print("t.ppf(1e-250, 3) =", stats.t.ppf(1e-250, 3), "and stdtrit(3, 1e-250) =", special.stdtrit(3, 1e-250))
wrong = [seen[3.0, 1e-250], seen[3.0, 1e-300], seen[5.0, 1e-300], seen[10.0, 1e-300]]
if any(value != -math.inf for value in wrong) or seen[2.0, 1e-300] < 0 or seen[3.0, 1e-200] > 3e66:
    raise SystemExit("the quantiles are others now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
